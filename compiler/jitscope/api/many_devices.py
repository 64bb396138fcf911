"""Several devices: meshes of them, and arrays made of what each of them has."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from .. import tree
from ..backend.array import Array
from ..backend.constraint import check_claim, constrained, resharded
from ..backend.input_layouts import in_order
from ..backend.spreading import NoMeshError, layout_for, moved_to, put_pieces_of, requested_sharding, typed
from ..control.layout_constraint import layout_constraint_p
from ..core.annotations import Array as AnyArray, Device, DTypeLike, PyTree
from ..core.avals import ShapedArray, aval_of, physical
from ..core.dtypes import canonicalize, is_extended
from ..core.formats import AUTO, Format
from ..core.meshes import AxisType, Mesh, get_abstract_mesh, use_abstract_mesh
from ..core.part_types import laid_of
from ..core.resharding import with_auto_layout
from ..core.shardings import (
    NamedSharding,
    PartitionSpec,
    Sharding,
    SingleDeviceSharding,
    mentioned,
    padded,
)
from ..core.trace import Tracer, evaluating
from ..core.wrapping import wraps
from ..ops.rng import random_unwrap_p, random_wrap_p
from ..xla import client
from ..xla.parts import assembled
from ..xla.spread import Layout
from .devices import devices as all_devices


T = TypeVar("T")
S = TypeVar("S")


__all__ = ["auto_axes", "device_put_replicated", "device_put_sharded", "explicit_axes", "make_array_from_callback", "make_array_from_process_local_data",
           "make_array_from_single_device_arrays", "make_mesh", "reshard", "with_sharding_constraint"]  # fmt: skip


def make_mesh(
    axis_sizes: Sequence[int],
    axis_names: Sequence[Any],
    axis_types: Sequence[AxisType] | None = None,
    *,
    devices: Sequence[Device] | None = None,
) -> Mesh:
    """A mesh of the first devices there are (or of `devices`): `make_mesh((4, 2), ("data", "model"))`.

    Its axes are Explicit (types say how arrays lie) unless `axis_types` says otherwise; `Mesh(...)` has Auto ones. Raises
    ValueError where there are too few devices.
    """
    try:
        sizes = tuple(int(n) for n in axis_sizes)
    except (TypeError, ValueError):
        raise ValueError(f"axis_sizes of make_mesh is a sequence of ints, not {axis_sizes!r}") from None
    names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
    given = list(all_devices() if devices is None else devices)
    count = math.prod(sizes)
    if count > len(given):
        raise ValueError(
            f"a mesh of shape {sizes} needs {count} devices, and there are {len(given)}: see the option num_cpu_devices"
        )
    types = (AxisType.Explicit,) * len(names) if axis_types is None else axis_types
    grid = np.empty(count, object)
    grid[:] = given[:count]
    return Mesh(grid.reshape(sizes), names, types)


def with_sharding_constraint(x: T, shardings: PyTree) -> T:
    """A tree whose arrays the compiler lays out as `shardings` say (a sharding, a Format, a PartitionSpec for the mesh in force, or a
    tree of those that is a prefix of `x`); outside of compiled functions they are moved. Differentiable.

    Where all axes of the mesh in force are Explicit it is a claim: AssertionError where it is false. Else specs name Auto axes alone.

    Raises RuntimeError for a PartitionSpec without a mesh in force, ValueError for other axes and for shapes that do not fit.
    """
    here = get_abstract_mesh()
    claims = here.explicit_axes and here.are_all_axes_explicit
    return _each(check_claim if claims else _left_to_compiler, "with_sharding_constraint", x, shardings)


def _types_here(mesh: Any) -> dict[Any, AxisType]:
    """The type of each axis of a mesh, for the code at hand."""
    manual = get_abstract_mesh().manual_axes
    return dict(zip(mesh.axis_names, mesh.axis_types)) | dict.fromkeys(manual, AxisType.Manual)


def _left_to_compiler(x: Any, sharding: NamedSharding | SingleDeviceSharding) -> Any:
    if isinstance(sharding, SingleDeviceSharding):
        return constrained(x, sharding)
    mesh, types = sharding.mesh, _types_here(sharding.mesh)
    if other := [n for n in mentioned(sharding.spec) if types[n] is not AxisType.Auto]:
        kind = types[other[0]]
        raise ValueError(
            f"with_sharding_constraint to {sharding.spec}: along {other} of {mesh} the compiler does not decide how values lie, they are "
            f"{kind}. What to do: "
            + ("use jitscope.sharding.reshard" if kind is AxisType.Explicit else "name the other axes alone")
        )
    return constrained(x, sharding)


def reshard(xs: T, out_shardings: PyTree) -> T:
    """A tree of arrays in other layouts (NamedShardings, or PartitionSpecs for the mesh in force), which their types say: the specs
    name Explicit axes alone. Raises ValueError for other axes, a PartitionSpec without a mesh in force, None, and for shapes that do not
    fit; TypeError for what is no layout."""
    leaves, treedef = tree.flatten(xs)
    flat = map(_explicit, tree.broadcast_prefix(out_shardings, treedef, "reshard: the shardings"))
    return treedef.unflatten([resharded(x, s.with_spec(padded(s.spec, np.ndim(x)))) for x, s in zip(leaves, flat)])


def _explicit(given: Any) -> NamedSharding:
    if given is None:
        raise ValueError("reshard: None says no layout; P() gives all devices the whole")
    if not isinstance(given, (NamedSharding, PartitionSpec)):
        raise TypeError(
            f"reshard takes NamedShardings, PartitionSpecs, or trees of those, not {type(given).__name__}: {given!r}"
        )
    try:
        found = requested_sharding(given)
    except NoMeshError as error:
        raise ValueError(str(error)) from None
    types = _types_here(found.mesh)
    if other := [n for n in mentioned(found.spec) if types[n] is not AxisType.Explicit]:
        raise ValueError(
            f"reshard to {found.spec}: {other} of {found.mesh} is not Explicit, so types cannot say how a value lies along it. What to do: "
            "use lax.with_sharding_constraint (or device_put), or make the mesh with Explicit axes"
        )
    return found


@overload
def auto_axes(
    f: Callable[..., S], /, *, axes: str | Sequence[str] | None = None, out_sharding: PyTree = None
) -> Callable[..., S]: ...
@overload
def auto_axes(
    f: None = None, /, *, axes: str | Sequence[str] | None = None, out_sharding: PyTree = None
) -> Callable[[Callable[..., S]], Callable[..., S]]: ...
def auto_axes(
    f: Callable[..., Any] | None = None, /, *, axes: str | Sequence[str] | None = None, out_sharding: PyTree = None
) -> Any:
    """`f`, in which the compiler decides how values lie along `axes` of the mesh in force (one, several, or None: all); its result
    lies as `out_sharding` says (a sharding, a PartitionSpec, or a tree of those that is a prefix of it). Without `out_sharding`, it is
    given at each call, by name. Also a decorator without `f`. Raises TypeError where it is not given."""
    if f is None:
        return functools.partial(auto_axes, axes=axes, out_sharding=out_sharding)

    @wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        asked = _asked("auto_axes", "out_sharding", out_sharding, kwargs)
        before, names = _switched("auto_axes", axes, tree.leaves(asked))
        if before is None or not set(names) & set(before.explicit_axes):
            return f(*args, **kwargs)
        plain = tree.map(lambda x: _left_open(x, names) if hasattr(x, "aval") else x, args)
        with use_abstract_mesh(before.update_axis_types(dict.fromkeys(names, AxisType.Auto))):
            out = f(*plain, **kwargs)
        return reshard(out, asked)

    return run


@overload
def explicit_axes(
    f: Callable[..., S], /, *, axes: str | Sequence[str] | None = None, in_sharding: PyTree = None
) -> Callable[..., S]: ...
@overload
def explicit_axes(
    f: None = None, /, *, axes: str | Sequence[str] | None = None, in_sharding: PyTree = None
) -> Callable[[Callable[..., S]], Callable[..., S]]: ...
def explicit_axes(
    f: Callable[..., Any] | None = None, /, *, axes: str | Sequence[str] | None = None, in_sharding: PyTree = None
) -> Any:
    """`f`, in which types say how values lie along `axes` of the mesh in force (one, several, or None: all): its arguments are laid
    out as `in_sharding` says, as in `reshard`. Without `in_sharding`, it is given at each call, by name. Also a decorator without `f`.
    Raises TypeError where it is not given, ValueError where no mesh is in force."""
    if f is None:
        return functools.partial(explicit_axes, axes=axes, in_sharding=in_sharding)

    @wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        asked = _asked("explicit_axes", "in_sharding", in_sharding, kwargs)
        before, names = _switched("explicit_axes", axes, ())
        if before is None:
            raise ValueError("explicit_axes needs a mesh in force: use jitscope.set_mesh(mesh)")
        with use_abstract_mesh(before.update_axis_types(dict.fromkeys(names, AxisType.Explicit))):
            out = f(*reshard(args, asked), **kwargs)
        return tree.map(lambda x: _left_open(x, [n for n in names if n not in before.explicit_axes]), out)

    return run


def _left_open(x: Any, names: Sequence[Any]) -> Any:
    """`x`, whose type says no longer how it lies along these axes; of an array, neither does the mesh that it names."""
    laid = laid_of(aval_of(x))
    if laid is None or laid.spec.unreduced or isinstance(x, Tracer) or not evaluating():
        return with_auto_layout(x, names)
    types = laid.mesh.update_axis_types(dict.fromkeys(names, AxisType.Auto)).axis_types
    return moved_to(x, NamedSharding(x.sharding.mesh.update(axis_types=types), PartitionSpec(*laid.spec.partitions)))


def _asked(name: str, option: str, given: Any, kwargs: dict[str, Any]) -> Any:
    """What the decorator was given, else the call, whose arguments are without it then."""
    asked = kwargs.pop(option, None) if given is None else given
    if asked is None:
        raise TypeError(f"{name} needs {option}=, in the decorator or in the call")
    return asked


def _switched(name: str, axes: Any, shardings: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    """The mesh in force (else the one that a sharding names), and the axes whose type is to change."""
    mesh: Any = get_abstract_mesh()
    if mesh.empty:
        mesh = next((s.mesh.abstract_mesh for s in shardings if isinstance(s, NamedSharding)), None)
    if mesh is None:
        return None, ()
    names = mesh.axis_names if axes is None else axes if isinstance(axes, (tuple, list, set, frozenset)) else (axes,)
    if unknown := [n for n in names if n not in mesh.axis_names or n in mesh.manual_axes]:
        raise ValueError(f"{name}: the mesh {mesh} has no axes {unknown} whose type could change")
    return mesh, tuple(names)


def _each(move: Callable[..., Any], name: str, x: Any, shardings: Any) -> Any:
    leaves, treedef = tree.flatten(x)
    flat = [_sharding(name, s) for s in tree.broadcast_prefix(shardings, treedef, f"{name}: the shardings")]
    return treedef.unflatten([_laid_out(move, leaf, s) for leaf, s in zip(leaves, flat)])


def _laid_out(move: Callable[..., Any], leaf: Any, asked: Any) -> Any:
    where, order = (asked.sharding, asked.layout) if isinstance(asked, Format) else (asked, None)
    moved = leaf if where is None else move(leaf, where)
    if order is None:
        return moved
    order.check(np.shape(leaf), "the value of with_sharding_constraint")
    return layout_constraint_p.bind(moved, layout=order, move=in_order)


def _sharding(name: str, given: Any) -> Any:
    s = requested_sharding(given)
    if client.is_device(s):
        s = SingleDeviceSharding(s)
    if isinstance(s, Format):
        if s.layout is AUTO:
            raise ValueError(f"{name}: a value inside of a program lies as a Layout says, not as {s.layout}")
    elif s is not None and not isinstance(s, (NamedSharding, SingleDeviceSharding)):
        raise ValueError(f"{name} takes shardings, PartitionSpecs, or trees of those, not {given!r}")
    return s


# Arrays made of parts ------------------------------------------------------------------------------------------------


def _whole(name: str, shape: Any, sharding: Any) -> tuple[tuple[int, ...], Any]:
    if not isinstance(sharding, Sharding):
        raise TypeError(f"{name} takes a sharding, not {type(sharding).__name__}")
    return tuple(int(n) for n in shape), sharding


def make_array_from_callback(
    shape: Sequence[int],
    sharding: Sharding | Format,
    data_callback: Callable[[Any], Any],
    dtype: DTypeLike | None = None,
) -> AnyArray:
    """An array of `shape` in a layout, whose parts `data_callback(index)` gives: `index` are slices of the whole. It is asked
    once for each different part on this process's devices. `dtype` is what they give, if left out.

    Raises ValueError for parts of other shapes or dtypes, TypeError for parts that are no arrays.
    """
    shape, layout = _whole("make_array_from_callback", shape, sharding)
    known: dict[Any, np.ndarray] = {}
    parts: list[np.ndarray] = []
    expected, keys = layout.shard_shape(shape), None
    for index in layout.addressable_devices_indices_map(shape).values():
        key = tuple((s.start, s.stop) for s in index)
        if key not in known:
            value = data_callback(index)
            if isinstance(value, Array) and is_extended(value.aval.dtype):
                keys = value.aval.dtype
                value = Array(value.buf, physical(value.aval))
            if value is None or isinstance(value, (list, tuple)):
                raise TypeError(f"data_callback gives arrays; for {index} it gave a {type(value).__name__}")
            known[key] = value = np.asarray(value)
            wanted = expected if keys is None else (*expected, *keys.element_shape)
            if value.shape != wanted:
                raise ValueError(f"data_callback gave an array of shape {value.shape} for {index}, not {wanted}")
        parts.append(known[key])
    kinds = {canonicalize(p.dtype) for p in parts}
    asked = kinds if dtype is None or keys is not None else {*kinds, canonicalize(np.dtype(dtype))}
    if len(asked) > 1:
        said = "" if dtype is None else f", and dtype= says {np.dtype(dtype)}"
        raise ValueError(
            f"data_callback gave parts of dtype {' and '.join(sorted(map(str, kinds)))}{said}: give all parts one dtype (.astype)"
        )
    aval = ShapedArray(shape, keys or asked.pop())
    below = physical(aval)
    values = [np.asarray(p, below.dtype) for p in parts]
    return Array(put_pieces_of(layout_for(sharding, aval), below, values), typed(aval, sharding))  # pyright: ignore[reportReturnType]


def make_array_from_single_device_arrays(
    shape: Sequence[int], sharding: Sharding, arrays: Sequence[Any], *, dtype: DTypeLike | None = None
) -> AnyArray:
    """An array of `shape` made of arrays that are on one device each, all of this process's devices in the layout; no copy.

    Raises ValueError for parts of wrong shapes or another `dtype`, on wrong devices, too few, or not known while tracing, TypeError
    for parts that are no arrays.
    """
    shape, sharding = _whole("make_array_from_single_device_arrays", shape, sharding)
    if other := [x for x in arrays if not isinstance(x, Array)]:
        raise (ValueError if isinstance(other[0], Tracer) else TypeError)(
            f"make_array_from_single_device_arrays takes arrays on devices (device_put makes one), not {type(other[0]).__name__}"
        )
    given = list(arrays)
    if not given:
        raise ValueError("make_array_from_single_device_arrays: this process needs at least one array")
    aval = ShapedArray(shape, given[0].aval.dtype, given[0].aval.weak_type)
    at = layout_for(sharding, aval)
    part, wanted = sharding.shard_shape(shape), aval.dtype if dtype is None else canonicalize(dtype)
    by_device = {a.place: a for a in given}
    mine = at._device.local if isinstance(at, Layout) else [at._device]
    if set(by_device) != set(mine) or len(given) != len(mine):
        raise ValueError(
            f"make_array_from_single_device_arrays needs one array on each of {mine}, and got some on {[a.place for a in given]}"
        )
    for a in given:
        if a.shape != part or a.aval.dtype != wanted:
            raise ValueError(
                f"a part is {a.aval.short()}; {sharding} of shape {shape} needs parts of shape {part}, all of dtype {wanted}"
            )
    if not isinstance(at, Layout):
        return moved_to(given[0], sharding)  # pyright: ignore[reportReturnType]
    bufs = [by_device[d].buf for d in mine]
    below = physical(aval)
    return Array(assembled(below.shape, below.dtype, at, bufs), typed(aval, sharding))  # pyright: ignore[reportReturnType]


def make_array_from_process_local_data(sharding: PyTree, local_data: PyTree, global_shape: PyTree = None) -> PyTree:
    """A tree of arrays of which each process gives its own part: `local_data`, the rows (or other block) that its devices hold.

    `sharding` is a sharding, a PartitionSpec for the mesh in force, or a tree of those that is a prefix of the data's. `global_shape` is
    the whole's, or such a tree of shapes; left out, or None for an axis, it follows from the layout. Raises ValueError for data that is
    neither the whole nor this process's block, and for trees that do not fit.
    """
    leaves, treedef = tree.flatten(local_data)
    name = "make_array_from_process_local_data"
    shardings = map(requested_sharding, tree.broadcast_prefix(sharding, treedef, f"{name}: the shardings"))
    shapes = tree.broadcast_prefix(tree.map(_Whole, global_shape, is_leaf=_is_shape), treedef, f"{name}: the shapes")
    made = [_from_local(s, np.asarray(x), whole and whole.shape) for s, x, whole in zip(shardings, leaves, shapes)]
    return treedef.unflatten(made)


class _Whole:
    """A shape as a leaf of a tree, which a tuple is not."""

    def __init__(self, shape: Any):
        self.shape = shape


def _is_shape(x: Any) -> bool:
    return x is None or (isinstance(x, (tuple, list)) and all(n is None or isinstance(n, (int, np.integer)) for n in x))


def _from_local(sharding: Any, local: np.ndarray, global_shape: Any) -> AnyArray:
    given = (None,) * local.ndim if global_shape is None else tuple(global_shape)
    shape = tuple(
        n * _processes(sharding, i, local.ndim) if g is None else g for i, (n, g) in enumerate(zip(local.shape, given))
    )
    indices = sharding.addressable_devices_indices_map(shape)
    begins, ends = [], []
    for i, n in enumerate(shape):
        spans = [s[i].indices(n) for s in indices.values()]
        begins.append(min(s[0] for s in spans))
        ends.append(max(s[1] for s in spans))
    block = tuple(e - b for b, e in zip(begins, ends))
    if local.shape not in (block, shape):
        raise ValueError(f"this process holds a block of shape {block} of {shape}; the data has shape {local.shape}")
    shift = begins if local.shape == block else [0] * len(shape)

    def part(index: Any) -> np.ndarray:
        own = [s.indices(n) for s, n in zip(index, shape)]
        return local[tuple(slice(a - b, e - b) for (a, e, _), b in zip(own, shift))]

    return make_array_from_callback(shape, sharding, part, local.dtype)


def _processes(sharding: Any, axis: int, ndim: int) -> int:
    """How many different blocks the processes hold along an axis."""
    count = sharding.factors(ndim)[axis] if isinstance(sharding, NamedSharding) else 1
    if count == 1:
        return 1
    sizes = tuple(sharding.factors(ndim))
    mine = {s[axis].indices(sizes[axis])[0] for s in sharding.addressable_devices_indices_map(sizes).values()}
    return count // len(mine)


def device_put_sharded(shards: Sequence[Any], devices: Sequence[Any]) -> PyTree:
    """Trees, one for each device, as one tree of arrays with a new first axis that lies along the devices. Raises ValueError for
    another number of them."""
    if len(shards) != len(devices):
        raise ValueError(
            f"device_put_sharded needs one value for each device: there are {len(shards)} and {len(devices)}"
        )
    sharding = _along(devices)

    def together(*values: Any) -> AnyArray:
        dtype = aval_of(values[0]).dtype if values and hasattr(values[0], "aval") else None
        if is_extended(dtype):  # keys go as their words
            words = together(*[random_unwrap_p(v) for v in values])
            return random_wrap_p(words, impl=dtype)
        stacked = np.stack([np.asarray(v) for v in values])
        return moved_to(stacked, sharding)  # pyright: ignore[reportReturnType]

    return tree.map(together, *shards)


def device_put_replicated(x: PyTree, devices: Sequence[Any]) -> PyTree:
    """A tree with its arrays repeated along a new first axis that lies along the devices."""
    return device_put_sharded([x] * len(devices), devices)


def _along(devices: Sequence[Any]) -> NamedSharding:
    grid = np.empty(len(devices), object)
    grid[:] = list(devices)
    return NamedSharding(Mesh(grid, ("_device_put_sharded",)), PartitionSpec("_device_put_sharded"))
