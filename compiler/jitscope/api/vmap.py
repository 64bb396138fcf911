"""`vmap`, as users call it."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .. import tree
from ..control.bodies import name_of
from ..control.ref_errors import aliasing_error, repeats_reference
from ..core.annotations import PyTree
from ..core.avals import aval_of, marked
from ..core.folding import folding
from ..core.messages import message_here
from ..core.parameters import Parameters
from ..core.wrapping import wraps
from ..ops.linear import reduce_sum_p
from ..transforms.steps import vmap_step
from ..transforms.vmap import BatchAxis, vmap_flat
from ..transforms.vmappable import is_spec, kinds
from ._flat import Flat, as_values, check_array, check_callable
from .vmappable import has_vmappable, map_parts


P = ParamSpec("P")
R = TypeVar("R")


def vmap(
    fun: Callable[P, R],
    in_axes: PyTree = 0,
    out_axes: PyTree = 0,
    axis_name: Hashable = None,
    axis_size: int | None = None,
    spmd_axis_name: Hashable | None = None,
    sum_match: bool = False,
) -> Callable[P, R]:
    """`fun` mapped over an axis of its arguments, as one operation on all examples instead of a loop.

    `in_axes`: which axis of each positional argument is mapped (an int, None for none, or a tuple of those or of trees of
    those that are prefixes of the arguments; what is not mapped may be any object); keyword arguments are mapped along axis 0. `out_axes`: where the axis goes in
    the results; None for results that are the same for all examples (with `sum_match`, others are summed). `axis_name`
    names the axis for collectives such as `lax.psum`; `spmd_axis_name` says over which axis of a mesh of devices (or several) it is
    spread, where a `shard_map` or a sharding constraint inside asks; on one device it means nothing. Raises TypeError for axes that are not ints, ValueError for axes that do not
    exist, sizes that disagree (it names the arguments), or when nothing is mapped and `axis_size` is not given.

    >>> dot = lambda a, b: (a * b).sum()
    >>> jx.vmap(dot, in_axes=(0, None))(jnp.arange(6.0).reshape(3, 2), jnp.ones(2))
    Array([1., 5., 9.], dtype=float32)
    """
    check_callable(fun, "vmap")
    in_axes = _checked_axes(in_axes, "in_axes")
    _checked_axes(out_axes, "out_axes", anything=True)

    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        if kinds and has_vmappable((args, kwargs)):
            named = {
                "axis_name": axis_name,
                "axis_size": axis_size,
                "spmd_axis_name": spmd_axis_name,
                "sum_match": sum_match,
            }
            return map_parts(vmap, fun, in_axes, out_axes, named, (args, kwargs))
        with folding:
            return _vmap(fun, in_axes, out_axes, axis_name, axis_size, spmd_axis_name, sum_match, args, kwargs)

    return mapped


def _vmap(
    fun: Any,
    in_axes: Any,
    out_axes: Any,
    axis_name: Hashable,
    axis_size: int | None,
    spmd_axis_name: Any,
    sum_match: bool,
    args: tuple,
    kwargs: dict[str, Any],
) -> Any:
    leaves, in_tree = tree.flatten((args, kwargs))
    if isinstance(in_axes, tuple) and len(in_axes) != len(args):
        raise ValueError(
            f"vmap of {name_of(fun)}: in_axes has {len(in_axes)} entries, but it was called with "
            f"{len(args)} positional arguments"
        )
    dims = tree.broadcast_prefix((in_axes, 0), in_tree, "vmap in_axes")
    names = [_argument_name(path) for path, _ in tree.leaves_with_path((args, kwargs))]
    dims = [_checked_dim(fun, x, d, n) for x, d, n in zip(leaves, dims, names)]
    if repeats_reference(leaves):
        raise aliasing_error(f"{name_of(fun)} (vmap)", names, leaves, ())
    size = _mapped_size(fun, leaves, dims, names, axis_size)
    flat = Flat(fun, in_tree, named=True)
    axis = BatchAxis(axis_name, size)
    if spmd_axis_name is not None or marked:
        _lay_along(fun, axis, spmd_axis_name, leaves, dims)
    values = _values(leaves, dims)
    outs, out_dims = vmap_flat(vmap_step(flat, name_of(fun), axis, values, dims), axis, values, dims)
    wanted = tree.broadcast_prefix(out_axes, flat.out_tree, "vmap out_axes")
    placed = [_place(fun, axis, x, d, w, sum_match) for x, d, w in zip(outs, out_dims, wanted)]
    return flat.out_tree.unflatten(placed)


def _lay_along(fun: Any, axis: BatchAxis, spmd_axis_name: Any, leaves: Sequence[Any], dims: Sequence[Any]) -> None:
    """Say along which axes of a mesh the mapped axis lies: as the user does, or the types of the arguments."""
    if spmd_axis_name is not None:
        axis.names = spmd_axis_name if isinstance(spmd_axis_name, tuple) else (spmd_axis_name,)
        return
    from ..core.explicit import entries_of, mesh_of

    mapped = [(aval_of(x), d) for x, d in zip(leaves, dims) if d is not None]
    found = [(mesh, entries_of(aval)[d]) for aval, d in mapped if (mesh := mesh_of(aval)) is not None]
    if len({names for _, names in found}) > 1:
        said = " and ".join(str(names or None) for names in dict.fromkeys(names for _, names in found))
        raise ValueError(
            f"vmap of {name_of(fun)}: the mapped axes lie differently, along {said}. What to do: move an argument with "
            "jitscope.sharding.reshard(x, spec)"
        )
    if found:
        axis.mesh, axis.names = found[0]


def _values(leaves: list[Any], dims: list[int | None]) -> list[Any]:
    """What the function sees: what is not mapped may be anything, and stays as it is."""
    if None not in dims:
        return as_values(leaves)
    arrays = [d is not None or hasattr(x, "aval") or isinstance(x, np.ndarray) for x, d in zip(leaves, dims)]
    given = iter(as_values([x for x, a in zip(leaves, arrays) if a]))
    return [next(given) if a else x for x, a in zip(leaves, arrays)]


def _checked_axes(axes: Any, what: str, anything: bool = False) -> Any:
    """Axes as given, a list as a tuple. Raises TypeError where they are not ints, None, or trees of those."""
    if isinstance(axes, list) and not anything:
        axes = tuple(axes)
    if not anything and not (axes is None or _is_axis(axes) or isinstance(axes, tuple)):
        raise TypeError(
            f"vmap's in_axes must be an int, None, or a tuple with an entry for each positional argument, not {axes!r}"
        )
    wrong = [x for x in tree.leaves(axes) if not _is_axis(x)]
    if wrong:
        raise TypeError(f"vmap's {what} may only have ints and None as leaves, not {wrong[0]!r}")
    return axes


def _is_axis(x: Any) -> bool:
    return (isinstance(x, int) and not isinstance(x, bool)) or is_spec(x)


def _argument_name(path: Sequence[Any]) -> str:
    kind, where, *rest = path
    root = f"argument {where.idx}" if kind.idx == 0 else f"argument {where.key}"
    return root + tree.keystr(rest)


def _checked_dim(fun: Any, x: Any, dim: Any, name: str) -> int | None:
    if dim is None:
        return None
    aval = check_array(x, f"vmap of {name_of(fun)}: {name} is")
    if not -aval.ndim <= dim < aval.ndim:
        hint = ": in_axes=None for it takes the same value for all examples" if not aval.shape else ""
        raise ValueError(f"vmap of {name_of(fun)}: {name} is {aval.short()} and has no axis {dim} to map over{hint}")
    return dim % aval.ndim


def _mapped_size(fun: Any, leaves: list, dims: list, names: list[str], given: int | None) -> int:
    sizes = {n: aval_of(x).shape[d] for x, d, n in zip(leaves, dims, names) if d is not None}
    if given is not None:
        sizes["axis_size"] = given
    if not sizes:
        nothing = "it was called without arrays" if not leaves else "all in_axes are None"
        raise ValueError(f"vmap of {name_of(fun)}: nothing is mapped ({nothing}); give axis_size")
    if len(set(sizes.values())) > 1:
        raise ValueError(_sizes_that_differ(fun, leaves, dims, names, sizes))
    return next(iter(sizes.values()))


def _sizes_that_differ(fun: Any, leaves: list, dims: list, names: list[str], sizes: dict[str, int]) -> str:
    """One argument of each size, as the function calls it, with its type and axis, and how many more have that size."""
    told = {
        n: f"{_called(fun, n)} ({aval_of(x).short()}, axis {d})"
        for x, d, n in zip(leaves, dims, names)
        if d is not None
    }
    rows = []
    for size in dict.fromkeys(sizes.values()):
        first, *more = [told.get(name, name) for name, one in sizes.items() if one == size]
        rows.append(f"{first}{(more and f' and {len(more)} more') or ''} {'have' if more else 'has'} {size}")
    advice = "map axes of one size; an argument that is the same for all examples has None in in_axes, as in in_axes=(0, None)"
    return message_here(f"vmap of {name_of(fun)}: the mapped axes differ in size: {', '.join(rows)}.", advice)


def _called(fun: Any, name: str) -> str:
    """An argument's name in the function, in place of its number where that is known."""
    number = re.match(r"argument (\d+)", name)
    own = Parameters(fun).name(int(number[1])) if number and Parameters(fun).names else ""
    return f"argument {own}{name[number.end() :]}" if number and own else name


def _place(fun: Any, axis: BatchAxis, x: Any, dim: int | None, wanted: int | None, sum_match: bool) -> Any:
    if wanted is None:
        if dim is None:
            return x
        if sum_match:
            return reduce_sum_p(x, axes=(dim,))
        raise ValueError(f"vmap of {name_of(fun)}: out_axes is None for a result that differs between examples")
    rank = aval_of(x).ndim + (dim is None)
    if not -rank <= wanted < rank:
        raise ValueError(f"vmap of {name_of(fun)}: out_axes is {wanted}, but the result has {rank} axes")
    return axis.move(x, dim, wanted % rank)
