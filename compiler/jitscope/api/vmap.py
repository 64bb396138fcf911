"""`vmap`, as users call it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from .. import tree
from ..core.avals import aval_of
from ..transforms.vmap import BatchAxis, vmap_flat
from ._flat import Flat, as_values, check_array, name_of


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable = None,
    axis_size: int | None = None,
) -> Callable[..., Any]:
    """`fun` mapped over an axis of its arguments, as one operation on all examples instead of a loop.

    `in_axes`: which axis of each positional argument is mapped (an int, None for none, or a tree of those that is a
    prefix of the argument's); keyword arguments are mapped along axis 0. `out_axes`: where the axis goes in the results.
    `axis_name` names the axis for collectives such as `lax.psum`. Raises ValueError for axes that do not exist, sizes
    that disagree (it names the arguments), or when nothing is mapped and `axis_size` is not given.
    """
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)

    @functools.wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.flatten((args, kwargs))
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ValueError(
                f"vmap of {name_of(fun)}: in_axes has {len(in_axes)} entries, but it was called with "
                f"{len(args)} positional arguments"
            )
        dims = tree.broadcast_prefix((in_axes, 0), in_tree, "vmap in_axes")
        names = [_argument_name(path) for path, _ in tree.leaves_with_path((args, kwargs))]
        dims = [_checked_dim(fun, x, d, n) for x, d, n in zip(leaves, dims, names)]
        size = _mapped_size(fun, leaves, dims, names, axis_size)
        flat = Flat(fun, in_tree, named=True)
        axis = BatchAxis(axis_name, size)
        outs, out_dims = vmap_flat(flat, axis, as_values(leaves), dims)
        wanted = tree.broadcast_prefix(out_axes, flat.out_tree, "vmap out_axes")
        return flat.out_tree.unflatten([_place(fun, axis, x, d, w) for x, d, w in zip(outs, out_dims, wanted)])

    return mapped


def _argument_name(path: Sequence[Any]) -> str:
    kind, where, *rest = path
    root = f"argument {where.idx}" if kind.idx == 0 else f"argument {where.key}"
    return root + tree.keystr(rest)


def _checked_dim(fun: Any, x: Any, dim: Any, name: str) -> int | None:
    aval = check_array(x, f"vmap of {name_of(fun)}: {name} is")
    if dim is None:
        return None
    if not isinstance(dim, int) or not -aval.ndim <= dim < aval.ndim:
        raise ValueError(f"vmap of {name_of(fun)}: {name} is {aval.short()} and has no axis {dim!r} to map over")
    return dim % aval.ndim


def _mapped_size(fun: Any, leaves: list, dims: list, names: list[str], given: int | None) -> int:
    sizes = {n: aval_of(x).shape[d] for x, d, n in zip(leaves, dims, names) if d is not None}
    if given is not None:
        sizes["axis_size"] = given
    if not sizes:
        raise ValueError(f"vmap of {name_of(fun)}: nothing is mapped (all in_axes are None); give axis_size")
    if len(set(sizes.values())) > 1:
        rows = ", ".join(f"{n} has {s}" for n, s in sizes.items())
        raise ValueError(f"vmap of {name_of(fun)}: the mapped axes differ in size: {rows}")
    return next(iter(sizes.values()))


def _place(fun: Any, axis: BatchAxis, x: Any, dim: int | None, wanted: int | None) -> Any:
    if wanted is None:
        if dim is not None:
            raise ValueError(f"vmap of {name_of(fun)}: out_axes is None for a result that differs between examples")
        return x
    rank = aval_of(x).ndim + (dim is None)
    if not -rank <= wanted < rank:
        raise ValueError(f"vmap of {name_of(fun)}: out_axes is {wanted}, but the result has {rank} axes")
    return axis.move(x, dim, wanted % rank)
