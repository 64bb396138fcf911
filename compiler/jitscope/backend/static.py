"""Static arguments: which arguments of a call are part of the key instead of data."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from .. import tree
from ..core.errors import stepped_on
from .signature import Static


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def as_tuple(value: Any) -> tuple:
    """An int, a name, or a sequence of them, as a tuple."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)


class Statics:
    """The static arguments of one call, by position and by name: `key` is hashable, `merge` puts them back."""

    __slots__ = ("key", "names", "positions")

    def __init__(self, positions: dict[int, Any], names: dict[str, Any]):
        self.positions, self.names = positions, names
        self.key = (
            tuple([(i, type(v), v) for i, v in positions.items()]),
            tuple([(n, type(v), v) for n, v in sorted(names.items())]) if names else (),
        )

    def merge(self, dynamic: tuple[tuple, dict[str, Any]]) -> tuple[list[Any], dict[str, Any]]:
        """All arguments, from the dynamic ones and these."""
        args, kwargs = list(dynamic[0]), dict(dynamic[1])
        for i, value in sorted(self.positions.items()):
            args.insert(i, value)
        return args, {**kwargs, **self.names}


_NONE = Statics({}, {})


class StaticSpec:
    """Which arguments of `fun` are static or donated, by position and by name; each follows from the other where the
    function's signature tells.

    Defaults of arguments that are left out stay Python values of the function: they are no part of the call.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        static_argnums: Any = None,
        static_argnames: Any = None,
        donate_argnums: Any = None,
        donate_argnames: Any = None,
    ):
        self._fun = fun
        self.positions, self.names = self._complete(static_argnums, static_argnames, "static")
        donated = self._complete(donate_argnums, donate_argnames, "donate")
        self.donated = tuple(sorted(map(str, donated[1])) or sorted(map(str, donated[0])))
        self._donated_positions, self._donated_names = donated
        both = self.names & donated[1] or {str(i) for i in self.positions & donated[0]}
        if both:
            raise ValueError(f"argument {', '.join(sorted(both))} cannot be both static and donated")
        self.statics = bool(self.positions or self.names)
        self.from_the_end = any(i < 0 for i in self.positions)
        self.key = (frozenset(self.positions), frozenset(self.names), frozenset(donated[0]), frozenset(donated[1]))

    @property
    def declared(self) -> tuple[str, ...]:
        """The arguments declared static."""
        return tuple(sorted({*map(self._name, self.positions), *self.names}))

    @functools.cached_property
    def _signature(self) -> inspect.Signature | None:
        """The function's signature, or None for callables that have none."""
        try:
            return inspect.signature(self._fun)
        except (ValueError, TypeError):
            return None

    @functools.cached_property
    def _positional_names(self) -> list[str]:
        signature = self._signature
        return [p.name for p in signature.parameters.values() if p.kind in _POSITIONAL] if signature else []

    @functools.cached_property
    def _rest(self) -> str:
        """The name of `*args`."""
        parameters = self._signature.parameters.values() if self._signature else ()
        return next((p.name for p in parameters if p.kind is inspect.Parameter.VAR_POSITIONAL), "args")

    def _name(self, i: int) -> str:
        """What the argument in position `i` is called in the function."""
        known = self._positional_names
        return known[i] if 0 <= i < len(known) else f"{self._rest}[{i - len(known) if i > 0 else i}]"

    @property
    def _called(self) -> str:
        return getattr(self._fun, "__name__", None) or repr(self._fun)

    def _complete(self, argnums: Any, argnames: Any, what: str) -> tuple[set[int], set[str]]:
        """Positions and names of the arguments meant, each completed from the other. Raises ValueError for unknown
        ones."""
        wrong_kind = TypeError(
            f"{what}_argnums are ints and {what}_argnames are strings; got {argnums!r} and {argnames!r}"
        )
        try:
            numbers, names = {operator.index(i) for i in as_tuple(argnums)}, set(as_tuple(argnames))
        except TypeError:
            raise wrong_kind from None
        if not all(isinstance(n, str) for n in names):
            raise wrong_kind
        if (not numbers and not names) or self._signature is None:
            return numbers, names
        parameters, known = self._signature.parameters, self._positional_names
        kinds = {p.kind for p in parameters.values()}
        if inspect.Parameter.VAR_POSITIONAL not in kinds:
            wrong = [i for i in numbers if not -len(known) <= i < len(known)]
            if wrong:
                raise ValueError(
                    f"{what}_argnums={argnums!r}: {self._called} takes {len(known)} positional arguments, "
                    f"there is no argument {wrong[0]}"
                )
            numbers = {i % len(known) for i in numbers}
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            wrong_names = sorted(names - set(parameters))
            if wrong_names:
                raise ValueError(
                    f"{what}_argnames={argnames!r}: {self._called} has no argument {wrong_names[0]!r}; it "
                    f"has {', '.join(parameters)}"
                )
        completed = numbers | {known.index(n) for n in names if n in known}
        return completed, names | {known[i] for i in numbers if 0 <= i < len(known)}

    def split(
        self, args: tuple, kwargs: dict[str, Any], auto: bool = False
    ) -> tuple[tuple[tuple, dict[str, Any]], Statics]:
        """The dynamic arguments of a call (positional, by name), and the static ones; with `auto`, those whose kind says that
        they are static (`is_static_kind`), too.

        Raises ValueError for an unhashable static argument.
        """
        if not self.statics and not auto:
            return (args, kwargs), _NONE
        count = len(args)
        positions = {i % count: args[i] for i in sorted(self.positions) if -count <= i < count}
        names = {n: kwargs[n] for n in self.names if n in kwargs} if kwargs else {}
        if auto:
            positions.update((i, x) for i, x in enumerate(args) if is_static_kind(x))
            names.update((n, x) for n, x in kwargs.items() if is_static_kind(x))
        statics = Statics(positions, names)
        try:
            hash(statics.key)
        except TypeError:
            raise self._unhashable(statics) from None
        dynamic = tuple([x for i, x in enumerate(args) if i not in positions])
        return (dynamic, {n: x for n, x in kwargs.items() if n not in names} if names else kwargs), statics

    def _unhashable(self, statics: Statics) -> ValueError:
        name, value = next((name, value) for name, value in self._named(statics) if not _is_hashable(value))
        error = ValueError(
            f"static argument {name} of {self._called} is a {type(value).__name__}, which cannot be hashed: a program is "
            "found by the values of its static arguments. Pass something immutable (a tuple for a list, a frozen "
            "dataclass for an object), or do not make it static"
        )
        return stepped_on(error, "static-unhashable")

    def _named(self, statics: Statics) -> list[tuple[str, Any]]:
        return [(self._name(i), v) for i, v in sorted(statics.positions.items())] + sorted(statics.names.items())

    def shown(self, statics: Statics) -> tuple[Static, ...]:
        """The static arguments of a call as plain data."""
        return tuple(Static.of(name, value) for name, value in self._named(statics))

    def leaf_names(self, dynamic: tuple[tuple, dict[str, Any]], statics: Statics) -> list[str]:
        """The path of each leaf as it reads in the function: `params['w']`."""
        names = []
        for root, value in self._dynamic(dynamic, statics):
            names += [root + path for path in tree.leaf_paths(value)]
        return names

    def _dynamic(self, dynamic: tuple[tuple, dict[str, Any]], statics: Statics) -> list[tuple[Any, Any]]:
        """The dynamic arguments with their names, in the order of their leaves."""
        return [
            *[(self._name(i), x) for i, x in zip(_places(dynamic, statics), dynamic[0])],
            *[(n, dynamic[1][n]) for n in sorted(dynamic[1])],
        ]

    def donated_leaves(self, dynamic: tuple[tuple, dict[str, Any]], statics: Statics) -> tuple[int, ...]:
        """Indices of the leaves whose memory the program may take."""
        if not self._donated_positions and not self._donated_names:
            return ()
        count = len(dynamic[0]) + len(statics.positions)
        positions = {i % count for i in self._donated_positions if -count <= i < count}
        indices, start = [], 0
        parts = [(i in positions, x) for i, x in zip(_places(dynamic, statics), dynamic[0])]
        parts += [(n in self._donated_names, dynamic[1][n]) for n in sorted(dynamic[1])]
        for donated, value in parts:
            n = len(tree.leaves(value))
            indices += range(start, start + n) if donated else ()
            start += n
        return tuple(indices)


def _places(dynamic: tuple[tuple, dict[str, Any]], statics: Statics) -> list[int]:
    """Where the dynamic positional arguments stand among all."""
    return [i for i in range(len(dynamic[0]) + len(statics.positions)) if i not in statics.positions]


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_static_kind(x: Any) -> bool:
    """Whether `%%jit` takes a directly passed value as static: text, None, callables, types, enums."""
    if isinstance(x, (str, bytes, type, Enum)) or x is None:
        return True
    return callable(x) and not hasattr(x, "aval") and not hasattr(x, "__array__")
