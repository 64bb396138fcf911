"""Static arguments: which arguments of a call are part of the key instead of data."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import Enum
from typing import Any

from .. import tree
from .signature import short_repr

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@functools.lru_cache(4096)
def _signature(fun: Any) -> inspect.Signature | None:
    try:
        return inspect.signature(fun)
    except (ValueError, TypeError):
        return None


def signature_of(fun: Any) -> inspect.Signature | None:
    """The signature, or None for callables that have none."""
    try:
        return _signature(fun)
    except TypeError:  # unhashable callables
        return None


def as_tuple(value: Any) -> tuple:
    """An int, a name, or a sequence of them, as a tuple."""
    if value is None:
        return ()
    return (value,) if isinstance(value, (int, str)) else tuple(value)


class Statics:
    """The static arguments of one call: `key` is hashable, `shown` are (name, type, repr), `merge` puts them back."""

    __slots__ = ("positions", "names", "key", "shown")

    def __init__(self, positions: dict[int, Any], names: dict[str, Any], shown: tuple[tuple[str, str, str], ...]):
        self.positions, self.names, self.shown = positions, names, shown
        self.key = (tuple((i, type(v), v) for i, v in positions.items()),
                    tuple((n, type(v), v) for n, v in sorted(names.items())))

    def merge(self, dynamic: tuple[tuple, dict[str, Any]]) -> tuple[list[Any], dict[str, Any]]:
        """All arguments, from the dynamic ones and these."""
        args, kwargs = list(dynamic[0]), dict(dynamic[1])
        for i, value in sorted(self.positions.items()):
            args.insert(i, value)
        return args, {**kwargs, **self.names}


_NONE = Statics({}, {}, ())


class StaticSpec:
    """Which arguments are static or donated, by position and by name; each follows from the other where the function's
    signature tells."""

    def __init__(self, fun: Callable[..., Any], static_argnums: Any = None, static_argnames: Any = None,
                 donate_argnums: Any = None, donate_argnames: Any = None):
        self.positions, self.names = _complete(fun, static_argnums, static_argnames, "static")
        donated = _complete(fun, donate_argnums, donate_argnames, "donate")
        self.donated = tuple(sorted(map(str, donated[1])) or sorted(map(str, donated[0])))
        self._donated_positions, self._donated_names = donated
        both = self.names & donated[1] or {str(i) for i in self.positions & donated[0]}
        if both:
            raise ValueError(f"argument {', '.join(sorted(both))} cannot be both static and donated")
        self.statics = bool(self.positions or self.names)
        self.key = (frozenset(self.positions), frozenset(self.names), frozenset(donated[0]), frozenset(donated[1]))
        self._plans: dict[Any, tuple[str, ...]] = {}

    def bind(self, fun: Any, args: tuple, kwargs: dict[str, Any], auto: bool) -> tuple[tuple[tuple, dict], Statics]:
        """The dynamic arguments (positional, by name) and the static ones.

        Arguments given by name that could stand in a position are moved there, so both ways of calling share a program.
        Raises TypeError for a call that does not fit the signature, ValueError for an unhashable static argument.
        """
        if kwargs:
            args, kwargs = self._positional(fun, args, kwargs)
        if not self.statics and not auto:
            return (args, kwargs), _NONE
        positions = {i: args[i] for i in sorted(self.positions) if -len(args) <= i < len(args)}
        positions = {i % len(args): v for i, v in positions.items()} if positions else positions
        names = {n: kwargs[n] for n in self.names if n in kwargs}
        if auto:
            positions.update((i, x) for i, x in enumerate(args) if is_static_kind(x))
            names.update((n, x) for n, x in kwargs.items() if is_static_kind(x))
        shown = tuple(self._shown(fun, positions, names))
        for (name, _, _), value in zip(shown, [*positions.values(), *names.values()]):
            _check_hashable(fun, name, value)
        dynamic = tuple([x for i, x in enumerate(args) if i not in positions])
        return (dynamic, {n: x for n, x in kwargs.items() if n not in names}), Statics(positions, names, shown)

    def _shown(self, fun: Any, positions: dict[int, Any], names: dict[str, Any]):
        known = _positional_names(fun)
        for i, value in positions.items():
            yield (known[i] if i < len(known) else f"argument {i}"), type(value).__name__, short_repr(value)
        for name, value in names.items():
            yield name, type(value).__name__, short_repr(value)

    def _positional(self, fun: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        key = (len(args), *kwargs)
        names = self._plans.get(key)
        if names is None:
            names = self._plans[key] = self._plan(fun, args, kwargs)
        if not names:
            return args, kwargs
        rest = {n: v for n, v in kwargs.items() if n not in names}
        return (*args, *[kwargs[n] for n in names]), rest

    @staticmethod
    def _plan(fun: Any, args: tuple, kwargs: dict[str, Any]) -> tuple[str, ...]:
        signature = signature_of(fun)
        if signature is None:
            return ()
        signature.bind(*args, **kwargs)
        names = []
        for parameter in list(signature.parameters.values())[len(args):]:
            if parameter.kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD or parameter.name not in kwargs:
                break
            names.append(parameter.name)
        return tuple(names)

    def leaf_names(self, fun: Any, dynamic: tuple[tuple, dict[str, Any]]) -> list[str]:
        """The path of each leaf as it reads in the function: `params['w']`."""
        args, kwargs = dynamic
        known = [n for i, n in enumerate(_positional_names(fun)) if i not in self.positions]
        names = []
        for i, value in enumerate(args):
            root = known[i] if i < len(known) else f"args[{i}]"
            names += [root + path for path in tree.leaf_paths(value)]
        for name in sorted(kwargs):
            names += [name + path for path in tree.leaf_paths(kwargs[name])]
        return names

    def donated_leaves(self, fun: Any, dynamic: tuple[tuple, dict[str, Any]]) -> tuple[int, ...]:
        """Indices of the leaves whose memory the program may take."""
        if not self._donated_positions and not self._donated_names:
            return ()
        indices, start = [], 0
        original = [i for i in range(len(dynamic[0]) + len(self.positions)) if i not in self.positions]
        parts = [(original[i] in self._donated_positions, v) for i, v in enumerate(dynamic[0])]
        parts += [(n in self._donated_names, dynamic[1][n]) for n in sorted(dynamic[1])]
        for donated, value in parts:
            n = len(tree.leaves(value))
            indices += range(start, start + n) if donated else ()
            start += n
        return tuple(indices)


def _positional_names(fun: Any) -> list[str]:
    signature = signature_of(fun)
    return [p.name for p in signature.parameters.values() if p.kind in _POSITIONAL] if signature else []


def _complete(fun: Any, argnums: Any, argnames: Any, what: str) -> tuple[set[int], set[str]]:
    """Positions and names of the arguments meant, each completed from the other. Raises ValueError for unknown ones."""
    numbers, names = set(as_tuple(argnums)), set(as_tuple(argnames))
    if not all(isinstance(i, int) for i in numbers) or not all(isinstance(n, str) for n in names):
        raise TypeError(f"{what}_argnums are ints and {what}_argnames are strings; got {argnums!r} and {argnames!r}")
    signature = signature_of(fun)
    if signature is None:
        return numbers, names
    known = _positional_names(fun)
    kinds = {p.kind for p in signature.parameters.values()}
    if inspect.Parameter.VAR_POSITIONAL not in kinds:
        wrong = [i for i in numbers if not -len(known) <= i < len(known)]
        if wrong:
            raise ValueError(f"{what}_argnums={argnums!r}: {getattr(fun, '__name__', fun)} takes {len(known)} "
                             f"positional arguments, there is no argument {wrong[0]}")
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        wrong_names = sorted(names - set(signature.parameters))
        if wrong_names:
            raise ValueError(f"{what}_argnames={argnames!r}: {getattr(fun, '__name__', fun)} has no argument "
                             f"{wrong_names[0]!r}; it has {', '.join(signature.parameters)}")
    numbers = {i % len(known) if known and i < 0 else i for i in numbers}
    completed = numbers | {known.index(n) for n in names if n in known}
    return completed, names | {known[i] for i in numbers if i < len(known)}


def _check_hashable(fun: Any, name: str, value: Any) -> None:
    try:
        hash(value)
    except TypeError:
        raise ValueError(
            f"static argument {name} of {getattr(fun, '__name__', fun)} is a {type(value).__name__}, which cannot be "
            "hashed: a program is found by the values of its static arguments. Pass something immutable (a tuple for a "
            "list, a frozen dataclass for an object), or do not make it static") from None


def is_static_kind(x: Any) -> bool:
    """Whether `%%jit` takes a directly passed value as static: text, None, callables, types, enums."""
    if isinstance(x, (str, bytes, type, Enum)) or x is None:
        return True
    return callable(x) and not hasattr(x, "aval") and not hasattr(x, "__array__")

