"""vmap of values whose types say themselves what one example is (`transforms.vmappable`): the map of their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..control.bodies import name_of
from ..transforms.vmappable import is_vmappable, kinds, make_iota


def has_vmappable(values: Any) -> bool:
    """Whether such values are among those of a tree."""
    return any(map(is_vmappable, tree.leaves(values, is_vmappable)))


def map_parts(
    vmap: Callable[..., Any], fun: Callable[..., Any], in_axes: Any, out_axes: Any, named: dict[str, Any], given: Any
) -> Any:
    """`vmap(fun, in_axes, out_axes, **named)(*args, **kwargs)`, of `given = (args, kwargs)`."""
    leaves, in_tree = tree.flatten(given, is_vmappable)
    specs = tree.broadcast_prefix((in_axes, 0), in_tree, "vmap in_axes")
    parts: list[tuple[Any, Any]] = []
    asked: list[Any] = []
    for x, spec in zip(leaves, specs):
        _example_of(x, spec, lambda part, axis: parts.append((part, axis)) or part, lambda: asked.append(None))
    sizes = [np.shape(x)[axis] for x, axis in parts if axis is not None]
    size = named["axis_size"] if named["axis_size"] is not None else next(iter(sizes), 0)
    if asked:
        parts.append((make_iota.get(type(size), np.arange)(size), 0))
    results = _Results(out_axes, size)

    def of_parts(*examples: Any) -> list[Any]:
        rest = iter(examples)
        built = [
            _example_of(x, spec, lambda part, axis: next(rest), lambda: examples[-1]) for x, spec in zip(leaves, specs)
        ]
        args, kwargs = in_tree.unflatten(built)
        return results.take_apart(fun(*args, **kwargs))

    of_parts.__name__ = name_of(fun)
    run = vmap(of_parts, tuple(axis for _, axis in parts), results.axes, **named)
    return results.put_together(run(*[x for x, _ in parts]))


def _example_of(x: Any, spec: Any, part_of: Callable[[Any, Any], Any], get_idx: Callable[[], Any]) -> Any:
    """One example of `x`, of which `part_of` gives those of the parts."""
    if not is_vmappable(x):
        return part_of(x, spec)
    return kinds[type(x)].to_elt(lambda part, axis: _example_of(part, axis, part_of, get_idx), get_idx, x, spec)


class _Results:
    """The results of a function: their parts, which are mapped, and what is made of these."""

    def __init__(self, out_axes: Any, size: Any):
        self.out_axes, self.size = out_axes, size
        self.axes: list[Any] = []
        """Where the axis goes in the parts: known when the function has run, and read after that."""

    def take_apart(self, out: Any) -> list[Any]:
        self.leaves, self.tree = tree.flatten(out, is_vmappable)
        self.specs = tree.broadcast_prefix(self.out_axes, self.tree, "vmap out_axes")
        parts: list[Any] = []

        def keep(part: Any, axis: Any) -> Any:
            parts.append(part)
            self.axes.append(axis)
            return part

        self._whole(keep)
        return parts

    def put_together(self, parts: Sequence[Any]) -> Any:
        rest = iter(parts)
        return self.tree.unflatten(self._whole(lambda part, axis: next(rest)))

    def _whole(self, part_of: Callable[[Any, Any], Any]) -> list[Any]:
        def whole(x: Any, spec: Any) -> Any:
            if not is_vmappable(x):
                return part_of(x, spec)
            return kinds[type(x)].from_elt(lambda _, part, axis: whole(part, axis), self.size, x, spec)

        return [whole(x, spec) for x, spec in zip(self.leaves, self.specs)]
