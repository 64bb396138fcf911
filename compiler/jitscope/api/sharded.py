"""`shard_map` and `pmap`: functions that see what one device has."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Sequence, Set
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from .. import tree
from ..backend.array import Array, is_put
from ..backend.spreading import moved_to
from ..control.bodies import name_of, trace_body
from ..control.shard_map import part_aval, shard_map_p
from ..core.annotations import PyTree
from ..core.avals import aval_of
from ..core.explicit import entries_of
from ..core.folding import folding
from ..core.meshes import AbstractMesh, AxisType, Mesh, ordered
from ..core.meshes_in_force import abstract, current_mesh
from ..core.part_types import laid_of, sums_of, varying
from ..core.shardings import NamedSharding, PartitionSpec, mentioned, names_of, padded
from ..core.trace import Tracer, evaluating
from ..core.varying import as_term, inside, manual, vary_over
from ..core.wrapping import stand_for, wraps
from ..ops.linear import reshape
from ..xla import client
from ._flat import check_callable
from .jit import jit


P = ParamSpec("P")
S = TypeVar("S")


__all__ = ["pmap", "shard_map", "smap"]


class _Infer:
    def __repr__(self) -> str:
        return "Infer"


Infer = _Infer()


@overload
def shard_map(
    f: Callable[P, S],
    /,
    *,
    out_specs: PyTree,
    in_specs: PyTree = Infer,
    mesh: Mesh | AbstractMesh | None = None,
    axis_names: Set[Hashable] = frozenset(),
    check_vma: bool = True,
) -> Callable[P, S]: ...
@overload
def shard_map(
    f: None = None,
    /,
    *,
    out_specs: PyTree,
    in_specs: PyTree = Infer,
    mesh: Mesh | AbstractMesh | None = None,
    axis_names: Set[Hashable] = frozenset(),
    check_vma: bool = True,
) -> Callable[[Callable[P, S]], Callable[P, S]]: ...
def shard_map(
    f: Callable[..., Any] | None = None,
    /,
    *,
    out_specs: PyTree,
    in_specs: PyTree = Infer,
    mesh: Mesh | AbstractMesh | None = None,
    axis_names: Set[Hashable] = frozenset(),
    check_vma: bool = True,
) -> Any:
    """`f` run on each device with its part of the arguments; collectives (`lax.psum`, …) work along the axes of the mesh.

    `in_specs` (a PartitionSpec, or a tree of those that is a prefix of the arguments) say along which mesh axes each argument is
    cut; what they do not name, each device gets whole. An argument whose spec is None is given to `f` as it is. `out_specs` say how the
    results are put together: along a named axis side by side; a result that does not name an axis is the same on the devices along it. `mesh`: a Mesh (else the one in force);
    `axis_names`: over which of its axes `f` sees one device (all, if empty). With `check_vma`, types inside say over which axes values
    vary, and derivatives of values used on all devices are summed. Also a decorator without `f`.

    Raises ValueError for sizes that devices do not divide, for specs of too many axes or that contradict the types of arguments (over
    Explicit axes), and for a result that may differ between
    devices along an axis that its spec does not name; TypeError for specs that are none.
    """
    if f is None:
        return functools.partial(shard_map, out_specs=out_specs, in_specs=in_specs, mesh=mesh, axis_names=axis_names, check_vma=check_vma)  # fmt: skip
    check_callable(f, "shard_map")

    @wraps(f)
    def mapped(*args: Any) -> Any:
        with folding:
            return _shard_map(f, args, mesh, in_specs, out_specs, axis_names, bool(check_vma))

    return mapped


@overload
def smap(f: Callable[P, S], /, *, in_axes: PyTree = Infer, out_axes: PyTree, axis_name: Hashable) -> Callable[P, S]: ...
@overload
def smap(
    f: None = None, /, *, in_axes: PyTree = Infer, out_axes: PyTree, axis_name: Hashable
) -> Callable[[Callable[P, S]], Callable[P, S]]: ...
def smap(
    f: Callable[..., Any] | None = None, /, *, in_axes: PyTree = Infer, out_axes: PyTree, axis_name: Hashable
) -> Any:
    """`shard_map` over one axis of the mesh in force, with axes as in `vmap`: `in_axes` and `out_axes` are ints, None, or trees
    of those that are prefixes."""
    if f is None:
        return functools.partial(smap, in_axes=in_axes, out_axes=out_axes, axis_name=axis_name)
    spec = lambda axis: PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, axis_name)
    specs = lambda axes: tree.map(spec, axes, is_leaf=lambda x: x is None)
    ins = Infer if in_axes is Infer else specs(in_axes)
    return shard_map(f, in_specs=ins, out_specs=specs(out_axes), axis_names={axis_name})


def _mesh(mesh: Any) -> Any:
    here = manual()
    if mesh is not None and not isinstance(mesh, (Mesh, AbstractMesh)):
        raise TypeError(f"shard_map: mesh is a jitscope.sharding.Mesh, not {type(mesh).__name__}")
    if isinstance(mesh, Mesh):
        found = mesh
    else:
        found = here.mesh if here is not None else current_mesh() or mesh or abstract.get()
        if found is None:
            raise ValueError("shard_map needs a mesh: pass mesh=, or put one in force with jitscope.set_mesh(mesh)")
        if mesh is not None and mesh.shape_tuple != found.shape_tuple:
            raise ValueError(f"shard_map was given {mesh}, and the mesh in force is {found}")
    if found.empty:
        raise ValueError("shard_map: the mesh is empty")
    return found


def _check_not_inside(mesh: Any) -> None:
    here = manual()
    if here is not None and here.mesh.shape_tuple != mesh.shape_tuple:
        raise ValueError(
            f"shard_map over {mesh} inside one over {here.mesh}: both run over one mesh. What to do: give the mesh all axes, and each of "
            "them its own with axis_names="
        )


def _axes(mesh: Any, axis_names: Any) -> tuple[Hashable, ...]:
    if not isinstance(axis_names, (set, frozenset)):
        raise TypeError(f"shard_map: axis_names is a set of names, not {type(axis_names).__name__}")
    here = manual()
    free = [name for name in mesh.axis_names if here is None or name not in here.axes]
    if not set(axis_names) <= set(free):
        raise ValueError(
            f"shard_map: axis_names {set(axis_names)} are not all among the axes {tuple(free)} of the mesh"
        )
    return ordered(mesh, axis_names or free)


def _check_specs(specs: Any, mesh: Any, axes: Sequence[Any], what: str) -> None:
    for spec in tree.leaves(specs):
        if not isinstance(spec, PartitionSpec):
            raise TypeError(f"shard_map: {what} is a tree of PartitionSpecs, not of {type(spec).__name__}: {spec!r}")
        NamedSharding(mesh, spec)
        if (spec.unreduced or spec.reduced) and len(axes) < len(mesh.axis_names):
            raise NotImplementedError(
                f"shard_map: {spec} in {what}: sums may be open where the function sees one device along all axes of the mesh, {mesh.axis_names}, "
                f"and this one does along {tuple(axes)}"
            )
        if other := mentioned(spec) - frozenset(axes):
            raise ValueError(
                f"shard_map: {spec} in {what} names {set(other)}, which is not among its axes {tuple(axes)}"
            )


def _shard_map(f: Any, args: tuple, mesh: Any, in_specs: Any, out_specs: Any, axis_names: Any, check: bool) -> Any:
    leaves, in_tree = tree.flatten(args)
    if in_specs is not Infer and None in tree.leaves(in_specs, is_leaf=_is_none):
        f, leaves, in_specs = _with_given(f, leaves, in_tree, in_specs)
        in_tree = tree.structure(tuple(leaves))
        args = tuple(leaves)
    mesh = _mesh(mesh)
    _check_not_inside(mesh)
    axes = _axes(mesh, axis_names)
    avals = [aval_of(x) for x in leaves]
    if in_specs is Infer:
        specs = _inferred(mesh, axes, avals)
        _check_specs(specs, mesh, axes, "in_specs")
    else:
        given = tuple(in_specs) if isinstance(in_specs, list) else in_specs
        _check_specs(given, mesh, axes, "in_specs")
        specs = tree.broadcast_prefix(given, in_tree, "shard_map: in_specs")
    _check_specs(out_specs, mesh, axes, "out_specs")
    _check_sizes(f, mesh, specs, avals, tree.leaf_paths(args))
    if mesh.are_all_axes_explicit and axes == mesh.axis_names:
        _check_types(f, specs, avals, tree.leaf_paths(args))
    parts = [part_aval(mesh, s, a, axes, check) for s, a in zip(specs, avals)]

    def body(*shards: Any) -> Any:
        out, out_tree = tree.flatten(f(*shards))
        wanted = tree.broadcast_prefix(out_specs, out_tree, "shard_map: out_specs")
        if any(s is None for s in wanted):
            raise ValueError("shard_map: out_specs has None for an array; P() says that it is the same on all devices")
        if check:
            out = [as_term(vary_over(x, mentioned(s)), s.unreduced) for x, s in zip(out, wanted)]
        return out_tree.unflatten(out)

    body.__name__ = name_of(f)
    asked = tuple(tree.leaves(out_specs)), str(tree.structure(out_specs))
    body.__dict__["traced_as"] = (f, ("shard_map", mesh, axes, check, *asked))
    with inside(mesh, axes, check):
        traced = trace_body(body, in_tree, parts)
    outs = tree.broadcast_prefix(out_specs, traced.out_tree, "shard_map: out_specs")
    _check_results(f, mesh, axes, outs, traced, check)
    flat = shard_map_p.apply(
        traced.closed, leaves, in_specs=tuple(specs), out_specs=tuple(outs), mesh=mesh, axes=axes, check=check
    )
    return traced.out_tree.unflatten(flat)


def _is_none(x: Any) -> bool:
    return x is None


def _with_given(f: Any, leaves: Sequence[Any], in_tree: Any, in_specs: Any) -> tuple[Any, list[Any], tuple[Any, ...]]:
    """The function, its arguments and their specs without those arguments whose spec is None: the function is given these as they are."""
    specs = tree.broadcast_prefix(in_specs, in_tree, "shard_map: in_specs")

    @wraps(f)
    def rest(*parts: Any) -> Any:
        own = iter(parts)
        return f(*in_tree.unflatten([x if s is None else next(own) for x, s in zip(leaves, specs)]))

    return rest, [x for x, s in zip(leaves, specs) if s is not None], tuple(s for s in specs if s is not None)


def _inferred(mesh: Any, axes: Sequence[Any], avals: Sequence[Any]) -> list[PartitionSpec]:
    types = dict(zip(mesh.axis_names, mesh.axis_types))
    if not all(types[name] is AxisType.Explicit for name in axes):
        raise TypeError(
            "shard_map needs in_specs, a tree of PartitionSpecs: they follow from the arguments for Explicit axes alone"
        )
    specs = [PartitionSpec() if (laid := laid_of(a)) is None else laid.spec for a in avals]
    return [s.update(partitions=[tuple(n for n in names_of(e) if n in axes) for e in s.partitions]) for s in specs]


def _check_sizes(f: Any, mesh: Any, specs: Sequence[Any], avals: Sequence[Any], paths: Sequence[str]) -> None:
    for spec, aval, path in zip(specs, avals, paths):
        if len(spec) > aval.ndim:
            raise ValueError(
                f"shard_map of {name_of(f)}: args{path} is {aval.short()}, and its spec {spec} has {len(spec)} axes"
            )
        for axis, entry in enumerate(spec.partitions):
            count = math.prod(mesh.shape[n] for n in names_of(entry))
            if aval.shape[axis] % count:
                raise ValueError(
                    f"shard_map of {name_of(f)}: axis {axis} of args{path}, {aval.short()}, is cut by {spec} into {count} parts, "
                    f"which do not divide its size evenly. What to do: pad it, or use another mesh {dict(mesh.shape)}"
                )


def _check_types(f: Any, specs: Sequence[Any], avals: Sequence[Any], paths: Sequence[str]) -> None:
    """Over Explicit axes types say how arguments lie; raises ValueError for specs that say otherwise."""
    for spec, aval, path in zip(specs, avals, paths):
        sums = (spec.unreduced, spec.reduced)
        if tuple(map(names_of, padded(spec, aval.ndim))) != entries_of(aval) or sums != sums_of(aval):
            raise ValueError(
                f"shard_map of {name_of(f)}: args{path} is {aval.short()}, and does not lie as its spec {spec} says. What to do: leave in_specs "
                "out, they follow from the arguments over Explicit axes; or move it with jitscope.sharding.reshard(x, spec)"
            )


def _check_results(f: Any, mesh: Any, axes: Sequence[Any], specs: Sequence[Any], traced: Any, check: bool) -> None:
    for spec, aval, path in zip(
        specs, traced.closed.out_avals, traced.closed.jaxpr.debug.result_names or [""] * len(specs)
    ):
        if len(spec) > aval.ndim:
            hint = ": give it an axis of size one, x[None]" if not aval.ndim else ""
            raise ValueError(
                f"shard_map of {name_of(f)}: result{path} is {aval.short()}, and its spec {spec} has {len(spec)} axes{hint}"
            )
        if not check:
            continue
        for word, said, found in zip(("unreduced", "reduced"), (spec.unreduced, spec.reduced), sums_of(aval)):
            if said != found & frozenset(axes):
                raise ValueError(
                    f"shard_map of {name_of(f)}: result{path} is {aval.short()}, and its spec {spec} says that it is {word} over "
                    f"{ordered(mesh, said) or 'no axes'}. What to do: out_specs with P(..., {word}={set(found) or '{}'}), or lax.pcast and "
                    "lax.psum inside"
                )
        left = ordered(mesh, (varying(aval) - mentioned(spec)) & frozenset(axes))
        if left:
            raise ValueError(
                f"shard_map of {name_of(f)}: result{path} is {aval.short()}, which may differ between the devices along {left}, and its "
                f"spec {spec} says that it is the same. What to do: reduce it (lax.psum, lax.pmean, lax.pmax), name the axis in "
                "out_specs, or, if it is the same, pass check_vma=False"
            )


# pmap ----------------------------------------------------------------------------------------------------------------


def pmap(
    fun: Callable[P, S],
    axis_name: Hashable = None,
    *,
    in_axes: PyTree = 0,
    out_axes: PyTree = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Any] | None = None,
    backend: str | None = None,
    axis_size: int | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Callable[P, S]:
    """`fun` mapped over an axis of its arguments, one example on each device: a compiled `shard_map` over a mesh of one axis.

    `in_axes`, `out_axes`: as for `vmap` (None: the same on all devices). `axis_name` names the axis for collectives.
    `static_broadcasted_argnums` are part of the program, `donate_argnums` give their memory away. It runs on the first
    devices of `devices` (all, if left out). Raises ValueError for sizes that disagree and for more
    examples than devices, TypeError for axes that are no ints.
    """
    check_callable(fun, "pmap")
    if wrong := [x for x in tree.leaves(in_axes) if isinstance(x, bool)]:
        raise TypeError(f"pmap's in_axes are ints, None, or trees of those; {wrong[0]!r} must be an int")
    name = "_internal_pmap_axis_name" if axis_name is None else axis_name
    statics = (
        (static_broadcasted_argnums,)
        if isinstance(static_broadcasted_argnums, int)
        else tuple(static_broadcasted_argnums)
    )

    def program(*args: Any, **kwargs: Any) -> Any:
        return _pmapped(fun, name, in_axes, out_axes, statics, devices, axis_size, args, kwargs)

    stand_for(program, fun)
    compiled = jit(program, static_argnums=statics or None, donate_argnums=donate_argnums)

    @wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _spread_out(fun, name, in_axes, statics, devices, axis_size, args, kwargs)
        return compiled(*args, **kwargs)

    mapped.lower = lambda *args, **kwargs: compiled.lower(*_spread_out(fun, name, in_axes, statics, devices, axis_size, args, kwargs)[0], **kwargs)  # pyright: ignore # fmt: skip
    mapped.trace = compiled.trace  # pyright: ignore
    mapped.clear_cache = compiled.clear_cache  # pyright: ignore
    return mapped


def _per_leaf(in_axes: Any, statics: Sequence[int], args: tuple, kwargs: dict) -> tuple[list[Any], Any, list[Any]]:
    """The leaves of the arguments that are not static, their structure, and the mapped axis of each."""
    dynamic = tuple(x for i, x in enumerate(args) if i not in statics)
    axes = in_axes
    if isinstance(in_axes, (tuple, list)):
        axes = tuple(a for i, a in enumerate(in_axes) if i not in statics)
    leaves, structure = tree.flatten((dynamic, kwargs))
    per = tree.broadcast_prefix(axes, tree.structure(dynamic), "pmap: in_axes")
    return leaves, structure, [*per, *[0] * (len(leaves) - len(per))]


def _size(fun: Any, leaves: Sequence[Any], axes: Sequence[Any], axis_size: int | None) -> int:
    sizes = {} if axis_size is None else {axis_size: "axis_size"}
    for x, axis in zip(leaves, axes):
        if axis is None:
            continue
        aval = aval_of(x)
        if not -aval.ndim <= axis < aval.ndim:
            raise ValueError(f"pmap of {name_of(fun)}: {aval.short()} has no axis {axis} to map over")
        sizes.setdefault(aval.shape[axis], aval.short())
    if all(axis is None for axis in axes):
        raise ValueError(f"pmap of {name_of(fun)}: in_axes maps none of its arguments; at least one must be mapped")
    if len(sizes) != 1:
        raise ValueError(f"pmap of {name_of(fun)}: the mapped axes must have one size, and have {list(sizes)}")
    return next(iter(sizes))


def _line(name: Any, count: int, devices: Any) -> Mesh:
    given = list(client.all_devices() if devices is None else devices)
    if count > len(given):
        raise ValueError(
            f"pmap over {count} examples needs {count} devices, and there are {len(given)}: see num_cpu_devices"
        )
    grid = np.empty(count, object)
    grid[:] = given[:count]
    return Mesh(grid, (name,))


def _spec(name: Any, axis: Any, ndim: int) -> PartitionSpec:
    return PartitionSpec() if axis is None else PartitionSpec(*[None] * (axis % ndim), name)


def _spread_out(
    fun: Any, name: Any, in_axes: Any, statics: Any, devices: Any, axis_size: Any, args: tuple, kwargs: dict
) -> Any:
    """The arguments with their arrays laid out over the devices."""
    leaves, structure, axes = _per_leaf(in_axes, statics, args, kwargs)
    mesh = _line(name, _size(fun, leaves, axes, axis_size), devices)
    if not evaluating() or any(isinstance(x, Tracer) for x in leaves):
        return args, kwargs
    wanted = [NamedSharding(mesh, _spec(name, a, aval_of(x).ndim)) for x, a in zip(leaves, axes)]
    for x, axis, sharding in zip(leaves, axes, wanted):
        stays = axis is not None and isinstance(x, Array) and is_put(x.buf)
        elsewhere = stays and client.is_spread(x.buf) and x.sharding.device_set != sharding.device_set
        if stays and not elsewhere and x.sharding.shard_shape(x.shape) != sharding.shard_shape(x.shape):
            raise ValueError(
                f"pmap of {name_of(fun)}: an argument was put where its examples do not run: {x.sharding}, not {sharding}. What to do: pass "
                "it as it was before device_put, or move it with device_put(x, sharding)"
            )
    placed = list(map(moved_to, leaves, wanted))
    dynamic, kwargs = structure.unflatten(placed)
    rest = iter(dynamic)
    return tuple(x if i in statics else next(rest) for i, x in enumerate(args)), kwargs


def _pmapped(fun: Any, name: Any, in_axes: Any, out_axes: Any, statics: Any, devices: Any, axis_size: Any, args: tuple, kwargs: dict) -> Any:  # fmt: skip
    leaves, structure, axes = _per_leaf(in_axes, statics, args, kwargs)
    mesh = _line(name, _size(fun, leaves, axes, axis_size), devices)
    found: list[Any] = []

    def one(*parts: Any) -> tuple[Any, ...]:
        own = [x if a is None else reshape(x, _without(x, a)) for x, a in zip(parts, axes)]
        dynamic, named = structure.unflatten(own)
        rest = iter(dynamic)
        out, out_tree = tree.flatten(fun(*[x if i in statics else next(rest) for i, x in enumerate(args)], **named))
        at = tree.broadcast_prefix(out_axes, out_tree, "pmap: out_axes")
        for x, a in zip(out, at):
            if a is not None and not -aval_of(x).ndim - 1 <= a <= aval_of(x).ndim:
                raise ValueError(f"pmap of {name_of(fun)}: out_axes says {a}, and a result of {aval_of(x).ndim + 1} axes has none of that number")  # fmt: skip
        found[:] = [out_tree, at, [aval_of(x).ndim + 1 for x in out]]
        return tuple(x if a is None else reshape(x, _with_one(x, a)) for x, a in zip(out, at))

    if manual() is not None:
        raise ValueError(
            f"pmap of {name_of(fun)} inside a function that runs on one device's part already (pmap or shard_map). What to do: "
            "map the outer function over a mesh of two axes, with shard_map"
        )
    parts = [part_aval(mesh, _spec(name, a, aval_of(x).ndim), aval_of(x), (name,), False) for x, a in zip(leaves, axes)]
    with inside(mesh, (name,), False):
        traced = trace_body(one, tree.structure(tuple(leaves)), parts)
    out_tree, at, ranks = found
    flat = shard_map_p.apply(
        traced.closed,
        leaves,
        in_specs=tuple(_spec(name, a, aval_of(x).ndim) for x, a in zip(leaves, axes)),
        out_specs=tuple(_spec(name, a, n) for a, n in zip(at, ranks)),
        mesh=mesh,
        axes=(name,),
        check=False,
    )
    return out_tree.unflatten(flat)


def _without(x: Any, axis: int) -> tuple[int, ...]:
    shape = list(aval_of(x).shape)
    del shape[axis]
    return tuple(shape)


def _with_one(x: Any, axis: int) -> tuple[int, ...]:
    shape = list(aval_of(x).shape)
    shape.insert(axis % (len(shape) + 1), 1)
    return tuple(shape)
