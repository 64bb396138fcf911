"""Static arguments: which arguments of a call are part of the key instead of data."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from enum import Enum
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from .. import tree
from ..core.avals import aval_of
from ..core.config import settings
from ..core.dtypes import is_inexact, is_supported
from .array import Array, array_from_numpy
from .signature import Static


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def as_tuple(value: Any) -> tuple:
    """An int, a name, or a sequence of them, as a tuple."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)


class Statics:
    """The static arguments of one call, by position and by name: `key` is hashable, `merge` puts them back. `defaults` are
    the arguments that were left out and are traced with their defaults."""

    __slots__ = ("defaults", "key", "names", "positions")

    def __init__(self, positions: dict[int, Any], names: dict[str, Any], defaults: tuple[str, ...] = ()):
        self.positions, self.names, self.defaults = positions, names, defaults
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


class Plan:
    """How calls of one form are written down: arguments that follow the positional ones, as (name, whether it is given),
    and defaults that go by name. `statics` serves calls without static arguments."""

    __slots__ = ("by_name", "following", "moved", "statics")

    def __init__(self, following: list[tuple[str, bool]], by_name: list[str], dynamic: set[str]):
        self.following, self.by_name = following, by_name
        self.moved = frozenset(name for name, given in following if given)
        defaults = [name for name, given in following if not given] + by_name
        self.statics = Statics({}, {}, tuple(name for name in defaults if name in dynamic))

    @property
    def idle(self) -> bool:
        return not self.following and not self.by_name


_AS_GIVEN = Plan([], [], set())


class StaticSpec:
    """Which arguments of `fun` are static or donated, by position and by name; each follows from the other where the
    function's signature tells.

    Calls are written down in one form, whatever way the arguments were passed: `f(x)`, `f(x, 2.0)` and `f(x, a=2.0)` share
    a program. A default that was left out counts as passed if it is a float, a complex number or an array of those, or if
    its argument is static. Other defaults stay Python values, which code uses for sizes, counts and choices; and so do all
    of them (`keep_defaults`) once code turned out to need the value of one.
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
        self.key = (frozenset(self.positions), frozenset(self.names), frozenset(donated[0]), frozenset(donated[1]))
        self._plans: dict[Any, Plan] = {}
        self._arrays: dict[Any, Array] = {}
        self._keeps_defaults = False

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
        numbers, names = set(as_tuple(argnums)), set(as_tuple(argnames))
        if not all(isinstance(i, int) for i in numbers) or not all(isinstance(n, str) for n in names):
            raise TypeError(
                f"{what}_argnums are ints and {what}_argnames are strings; got {argnums!r} and {argnames!r}"
            )
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

    def bind(
        self, args: tuple, kwargs: dict[str, Any], auto: bool, arrays: bool = False
    ) -> tuple[tuple[tuple, dict[str, Any]], Statics]:
        """The dynamic arguments (positional, by name) and the static ones, in the call's one form. With `arrays`, defaults
        come as arrays.

        Raises TypeError for a call that does not fit the signature, ValueError for an unhashable static argument.
        """
        bound = _NONE
        if kwargs or self._has_defaults:
            plan = self._plan_of(args, kwargs, auto)
            if not plan.idle:
                args, kwargs = self._completed(plan, args, kwargs, arrays)
            bound = plan.statics
        if not self.statics and not auto:
            return (args, kwargs), bound
        return self._split(args, kwargs, auto, bound.defaults)

    def split(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple[tuple, dict[str, Any]], Statics]:
        """The dynamic and the static arguments of a call as it is."""
        return self._split(args, kwargs, False, ()) if self.statics else ((args, kwargs), _NONE)

    def _split(
        self, args: tuple, kwargs: dict[str, Any], auto: bool, defaults: tuple[str, ...]
    ) -> tuple[tuple[tuple, dict[str, Any]], Statics]:
        count = len(args)
        positions = {i % count: args[i] for i in sorted(self.positions) if -count <= i < count}
        names = {n: kwargs[n] for n in self.names if n in kwargs} if kwargs else {}
        if auto:
            positions.update((i, x) for i, x in enumerate(args) if is_static_kind(x))
            names.update((n, x) for n, x in kwargs.items() if is_static_kind(x))
        statics = Statics(positions, names, defaults)
        try:
            hash(statics.key)
        except TypeError:
            raise self._unhashable(statics) from None
        dynamic = tuple([x for i, x in enumerate(args) if i not in positions])
        return (dynamic, {n: x for n, x in kwargs.items() if n not in names} if names else kwargs), statics

    def _unhashable(self, statics: Statics) -> ValueError:
        name, value = next((name, value) for name, value in self._named(statics) if not _is_hashable(value))
        return ValueError(
            f"static argument {name} of {self._called} is a {type(value).__name__}, which cannot be hashed: a program is "
            "found by the values of its static arguments. Pass something immutable (a tuple for a list, a frozen "
            "dataclass for an object), or do not make it static"
        )

    def _named(self, statics: Statics) -> list[tuple[str, Any]]:
        return [(self._name(i), v) for i, v in sorted(statics.positions.items())] + sorted(statics.names.items())

    def shown(self, statics: Statics) -> tuple[Static, ...]:
        """The static arguments of a call as plain data."""
        return tuple(Static.of(name, value) for name, value in self._named(statics))

    # Forms of calls

    @functools.cached_property
    def _wraps(self) -> bool:
        """Whether the function is a wrapper: the signature that it shows is another function's."""
        return hasattr(self._fun, "__wrapped__")

    @functools.cached_property
    def _has_defaults(self) -> bool:
        """Whether the function's arguments have defaults (asked at every call, so without its whole signature)."""
        fun = self._fun.func if isinstance(self._fun, functools.partial) else self._fun
        called = fun if isinstance(fun, (FunctionType, MethodType)) else _calling(type(fun))
        code = getattr(called, "__func__", called)
        return not self._wraps and isinstance(code, FunctionType) and bool(code.__defaults__ or code.__kwdefaults__)

    @functools.cached_property
    def _defaults(self) -> dict[str, Any]:
        """The defaults that may count as passed."""
        bound = self._fun.keywords if isinstance(self._fun, functools.partial) else {}
        parameters = self._signature.parameters.values() if self._signature and self._has_defaults else ()
        return {p.name: p.default for p in parameters if p.default is not p.empty and p.name not in bound}

    def keep_defaults(self) -> None:
        """From now on defaults that are left out stay Python values."""
        self._keeps_defaults = True
        self._plans.clear()

    def _plan_of(self, args: tuple, kwargs: dict[str, Any], auto: bool) -> Plan:
        python = auto and self._has_defaults and not _any_data(args, kwargs)
        key = (len(args), python, *kwargs)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._plan(args, kwargs, auto, python)
        return plan

    def _plan(self, args: tuple, kwargs: dict[str, Any], auto: bool, python: bool) -> Plan:
        signature = self._signature
        if signature is None or self._wraps:
            return _AS_GIVEN
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self._called}: {error}") from None
        known, dynamic = self._countable(auto, python)
        following: list[tuple[str, bool]] = []
        by_name: list[str] = []
        in_order = True
        for parameter in list(signature.parameters.values())[len(args) :]:
            name, kind = parameter.name, parameter.kind
            given = name in kwargs and kind is not inspect.Parameter.POSITIONAL_ONLY
            if in_order and kind in _POSITIONAL and (given or name in known):
                following.append((name, given))
                continue
            in_order = False
            if not given and name in known and kind in _BY_NAME:
                by_name.append(name)
        return Plan(following, by_name, dynamic)

    def _countable(self, auto: bool, python: bool) -> tuple[set[str], set[str]]:
        """The defaults that count as passed, and those of them that are traced."""
        positional = self._positional_names
        static = self.names | {positional[i] for i in self.positions if 0 <= i < len(positional)}
        donated = self._donated_names | {positional[i] for i in self._donated_positions if 0 <= i < len(positional)}
        known, dynamic = set(), set()
        for name, default in self._defaults.items():
            if name in static or (auto and is_static_kind(default)):
                known |= {name} if _is_hashable(default) else set()
            elif _is_data(default) and not (self._keeps_defaults or python or name in donated):
                dynamic.add(name)
        return known | dynamic, dynamic

    def _completed(self, plan: Plan, args: tuple, kwargs: dict[str, Any], arrays: bool) -> tuple[tuple, dict[str, Any]]:
        default = self._default if arrays else self._defaults.__getitem__
        following = [kwargs[name] if given else default(name) for name, given in plan.following]
        rest = {n: v for n, v in kwargs.items() if n not in plan.moved}
        for name in plan.by_name:
            rest[name] = default(name)
        return (*args, *following), rest

    def _default(self, name: str) -> Any:
        """A default; one that is traced as an array of its own, whose memory no donation of an equal number takes."""
        value = self._defaults[name]
        if name in self.names or type(value) is Array or not _is_data(value):
            return value
        key = (name, settings())
        array = self._arrays.get(key)
        if array is None:
            aval = aval_of(value)
            array = self._arrays[key] = array_from_numpy(np.asarray(value, aval.dtype), aval.weak_type)
        return array

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


def _calling(kind: type) -> Any:
    """What runs when an object of a class is called."""
    return next((vars(base)["__call__"] for base in kind.__mro__ if "__call__" in vars(base)), None)


def _any_data(args: tuple, kwargs: dict[str, Any]) -> bool:
    return any(not is_static_kind(x) for x in tree.leaves((args, kwargs)))


def _is_data(default: Any) -> bool:
    """Whether a default is a number or an array that is better traced than written into the program."""
    if isinstance(default, (float, complex)):
        return True
    dtype = getattr(default, "dtype", None) if isinstance(default, (Array, np.ndarray, np.generic)) else None
    return dtype is not None and is_supported(dtype) and is_inexact(dtype)


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
