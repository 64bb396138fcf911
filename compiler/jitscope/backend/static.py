"""Which arguments of a jitted function are static (part of the key instead of data), and which are donated."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any

from ..core.parameters import Parameters
from ..core.wrapping import own_name
from ..tree import is_tree_node


def as_tuple(value: Any) -> tuple:
    """An int, a name, or a sequence of them, as a tuple."""
    if value is None:
        return ()
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, str) else (value,)


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL)


class StaticSpec:
    """Which arguments of `fun` are static or donated, by position and by name; each follows from the other where the
    function's signature tells and only one is given.

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
        self.parameters = Parameters(fun)
        self.called = own_name(fun) or type(fun).__name__
        self.positions, self.names = self._complete(static_argnums, static_argnames, "static")
        donated = self._complete(donate_argnums, donate_argnames, "donate")
        self.donated = tuple(sorted(map(str, donated[1])) or sorted(map(str, donated[0])))
        self._donated_positions, self._donated_names = donated
        both = self.names & donated[1] or {str(i) for i in self.positions & donated[0]}
        if both:
            raise ValueError(f"argument {', '.join(sorted(both))} cannot be both static and donated")
        self.statics = bool(self.positions or self.names)
        self.static: frozenset[int | str] = frozenset(self.positions | self.names)
        self.from_the_end = any(i < 0 for i in self.positions)
        self.key = (frozenset(self.positions), frozenset(self.names), frozenset(donated[0]), frozenset(donated[1]))

    @property
    def declaration(self) -> tuple[tuple, tuple, tuple, tuple]:
        """What it was made of beside the function: positions and names of the static arguments, of the donated ones."""
        donated = tuple(self._donated_positions), tuple(self._donated_names)
        return tuple(self.positions), tuple(self.names), *donated

    def without(self, traced: Iterable[str]) -> StaticSpec:
        """The same, with the arguments of these names no longer static."""
        positions = {i for i in self.positions if self.parameters.name(i) not in traced}
        return StaticSpec(self.parameters.fun, positions, self.names - {*traced}, *self.declaration[2:])

    @property
    def declared(self) -> tuple[str, ...]:
        """The arguments declared static."""
        return tuple(sorted({*map(self.parameters.name, self.positions), *self.names}))

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
        if names and what == "donate" and self.parameters.signature is None:
            raise ValueError(
                f"donate_argnames={argnames!r}: {self.called} has no signature to look them up in; give donate_argnums"
            )
        if (not numbers and not names) or self.parameters.signature is None:
            return numbers, names
        by_position = {p.name for p in self.parameters.signature.parameters.values() if p.kind in _BY_POSITION}
        if wrong_names := sorted(names & by_position):
            raise ValueError(
                f"{what}_argnames={argnames!r}: {self.called} takes {wrong_names[0]!r} by position only; give {what}_argnums"
            )
        known = self.parameters.positional
        if self.parameters.rest is None:
            wrong = [i for i in numbers if not -len(known) <= i < len(known)]
            if wrong:
                raise ValueError(
                    f"{what}_argnums={argnums!r}: {self.called} takes {len(known)} positional arguments, "
                    f"there is no argument {wrong[0]}"
                )
            numbers = {i % len(known) for i in numbers}
        if not self.parameters.any_name:
            wrong_names = sorted(names - set(self.parameters.names))
            if wrong_names:
                raise ValueError(
                    f"{what}_argnames={argnames!r}: {self.called} has no argument {wrong_names[0]!r}; it "
                    f"has {', '.join(self.parameters.names)}"
                )
        if argnums is not None and argnames is not None:
            return numbers, names  # both are said: neither follows from the other
        completed = numbers | {known.index(n) for n in names if n in known}
        return completed, names | ({known[i] for i in numbers if 0 <= i < len(known)} - by_position)

    def static_positions(self, count: int) -> set[int]:
        """The static ones among `count` arguments by position."""
        return _within(self.positions, count)

    def static_among(self, count: int) -> set[int | str]:
        """The positions, of `count`, and the names of static arguments."""
        return self.static_positions(count) | self.names

    def donated_at(self, count: int) -> set[int | str]:
        """The positions, of `count`, and the names of donated arguments."""
        return {*_within(self._donated_positions, count), *self._donated_names}


def _within(positions: set[int], count: int) -> set[int]:
    return {i % count for i in positions if -count <= i < count}


def is_static_kind(x: Any) -> bool:
    """Whether `%%jit` takes a directly passed value as static: text, None, types, enums, and callables that are no trees, such as a
    model with arrays in it is."""
    if isinstance(x, (str, bytes, type, Enum)) or x is None:
        return True
    return callable(x) and not is_tree_node(type(x)) and not hasattr(x, "aval") and not hasattr(x, "__array__")
