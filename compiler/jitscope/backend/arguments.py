"""The arguments of one call: the static ones set apart, the others as the leaves of a tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .. import tree
from ..core.errors import stepped_on
from .signature import Static, is_hashable
from .static import StaticSpec, is_static_kind


class Statics:
    """The static arguments of one call, by position and by name; `key` says which values they have."""

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


class Arguments:
    """The arguments of one call: `dynamic` (positional, by name) with its `leaves` and `in_tree`, and the `statics`: those
    that `spec` declares, with `auto` also those whose kind says so (`is_static_kind`).

    Raises ValueError for a static argument without a hash, unless no key is made of it (`keyed`).
    """

    __slots__ = ("dynamic", "in_tree", "leaves", "spec", "statics")

    def __init__(self, spec: StaticSpec, args: tuple, kwargs: dict[str, Any], auto: bool = False, keyed: bool = True):
        self.spec, self.dynamic, self.statics = spec, (args, kwargs), _NONE
        if spec.statics or auto:
            self._set_apart(args, kwargs, auto)
            if keyed:
                self._check_hashes()
        self.leaves, self.in_tree = tree.flatten_leaves(self.dynamic)

    def _set_apart(self, args: tuple, kwargs: dict[str, Any], auto: bool) -> None:
        positions = {i: args[i] for i in sorted(self.spec.static_positions(len(args)))}
        names = {n: kwargs[n] for n in self.spec.names if n in kwargs}
        if auto:
            positions.update((i, x) for i, x in enumerate(args) if is_static_kind(x))
            names.update((n, x) for n, x in kwargs.items() if is_static_kind(x))
        self.statics = Statics(positions, names)
        self.dynamic = (
            tuple([x for i, x in enumerate(args) if i not in positions]),
            {n: x for n, x in kwargs.items() if n not in names} if names else kwargs,
        )

    def _check_hashes(self) -> None:
        try:
            hash(self.statics.key)
        except TypeError:
            raise self._unhashable() from None

    def _unhashable(self) -> ValueError:
        name, value = next((name, value) for name, value in self._named_statics() if not is_hashable(value))
        error = ValueError(
            f"static argument {name} of {self.spec.called} is of type {type(value).__name__}, which cannot be hashed: a program is "
            "found by the values of its static arguments. Pass something immutable (a tuple for a list, a frozen "
            "dataclass for an object), or do not make it static"
        )
        return stepped_on(error, "static-unhashable")

    def _named_statics(self) -> list[tuple[str, Any]]:
        name, statics = self.spec.parameters.name, self.statics
        return [(name(i), v) for i, v in sorted(statics.positions.items())] + sorted(statics.names.items())

    def shown_statics(self) -> tuple[Static, ...]:
        """The static arguments as plain data."""
        return tuple(Static.of(name, value) for name, value in self._named_statics())

    def _parts(self) -> Iterator[tuple[int | str, Any]]:
        """The dynamic arguments in the order of their leaves, each behind its position or name."""
        positional, named = self.dynamic
        count = len(positional) + len(self.statics.positions)
        yield from zip([i for i in range(count) if i not in self.statics.positions], positional)
        yield from ((name, named[name]) for name in sorted(named))

    def names(self) -> list[str]:
        """The path of each leaf as it reads in the function: `params['w']`."""
        called = self.spec.parameters.name
        roots = [(called(where) if isinstance(where, int) else where, x) for where, x in self._parts()]
        return [root + path for root, x in roots for path in tree.leaf_paths(x)]

    def donated(self) -> tuple[int, ...]:
        """The numbers of the leaves whose memory the program may take."""
        if not self.spec.donated:
            return ()
        where_donated = self.spec.donated_at(len(self.dynamic[0]) + len(self.statics.positions))
        numbers, start = [], 0
        for where, x in self._parts():
            end = start + len(tree.leaves(x))
            numbers += range(start, end) if where in where_donated else ()
            start = end
        return tuple(numbers)

    def places(self) -> list[int]:
        """Where each leaf stands among those of the call as it was written: arguments by name come in any order there."""
        positional, named = self.dynamic
        start = len(tree.leaves(positional))
        places, by_name = list(range(start)), {}
        for name, x in named.items():
            by_name[name] = range(start, start := start + len(tree.leaves(x)))
        return places + [i for name in sorted(by_name) for i in by_name[name]]

    def filled(self, leaves: Sequence[Any]) -> tuple[list[Any], dict[str, Any]]:
        """The call with other leaves in the place of these."""
        return self.statics.merge(self.in_tree.unflatten(leaves))
