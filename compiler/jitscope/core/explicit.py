"""How results lie along the Explicit axes of a mesh: for each operation, it follows from how its operands lie.

The rules are JAX's. Where more than one layout would do, or data would have to move, the operation is refused, and the user says what
is meant: by `out_sharding`, by `reshard`, or by `auto_axes`, which leaves it to the compiler.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..named_tuple import NamedTuple
from .annotations import Primitive
from .avals import ShapedArray, aval_of, physical
from .errors import ShardingTypeError
from .meshes_in_force import abstract
from .messages import with_advice
from .part_types import laid_of, sums_of
from .shardings import NamedSharding, PartitionSpec, names_of


Names = tuple[Any, ...]
"""The mesh axes along which one axis of an array is cut."""
Entries = tuple[Names, ...]


class Operation(NamedTuple):
    """An operation at hand: its name, the avals of its operands and results, its parameters, the mesh, and how each operand lies."""

    name: str
    avals: Sequence[Any]
    outs: Sequence[Any]
    params: dict[str, Any]
    mesh: Any
    specs: Sequence[Entries]

    def refuse(self, why: str, advice: str) -> ShardingTypeError:
        operands = " and ".join(a.short() for a in self.avals)
        return ShardingTypeError(with_advice(f"{self.name} of {operands}: {why}.", advice))

    def parts(self, names: Iterable[Any]) -> int:
        return math.prod(self.mesh.shape[n] for n in names)


RESHARD = (
    "move an operand with jitscope.sharding.reshard(x, spec), or compute this part under jitscope.sharding.auto_axes"
)
OUT = "say how the result is to lie with out_sharding=, or move an operand with jitscope.sharding.reshard(x, spec)"
INDEXED = "say how the result is to lie: x.at[...].get(out_sharding=spec), or .set(..., out_sharding=spec) and its kin; or reshard x first"


def explicit_in_force() -> Any:
    """The abstract mesh in force, if it has Explicit axes; else None."""
    mesh = abstract.get()
    return mesh if mesh is not None and mesh.explicit_axes else None


def mesh_of(aval: Any) -> Any:
    """The mesh that a type speaks of, or None."""
    laid = laid_of(aval)
    return None if laid is None else laid.mesh


def entries_of(aval: Any) -> Entries:
    """How a value lies; one that says nothing is whole."""
    laid = laid_of(aval)
    if laid is None:
        return ((),) * aval.ndim
    entries = tuple(names_of(e) for e in laid.spec.partitions)
    return entries + ((),) * (aval.ndim - len(entries))


def with_entries(aval: Any, mesh: Any, entries: Sequence[Names]) -> Any:
    """The aval of a value that lies so."""
    return aval.update(sharding=NamedSharding(mesh, PartitionSpec(*entries)))


def laid_out(primitive: Primitive, avals: Sequence[Any], outs: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """The avals of an operation's results, which say how they lie. Raises ShardingTypeError where that is not clear."""
    if outs and all(laid_of(out) is not None for out in outs):
        return list(outs)  # an exported function's
    mesh = _mesh(primitive.name, avals)
    name = primitive.name
    operation = Operation(name, avals, outs, params, mesh, [entries_of(a) for a in avals])
    if not any(any(spec) for spec in operation.specs):
        return [_whole(out, mesh) for out in outs]
    rule = RULES.get(name) or (_elementwise if _is_elementwise(operation) else _leading)
    found = rule(operation)
    several = found if isinstance(found, list) else [found] * len(outs)
    for spec in several:
        _check_once(operation, spec)
    return [with_entries(out, mesh, spec) if type(out) is ShapedArray else out for out, spec in zip(outs, several)]


def check_whole(name: str, aval: Any, axes: Iterable[int] | None = None) -> None:
    """Raises ShardingTypeError where Explicit axes of a mesh cut a value along one of its axes (None: along any)."""
    cut = [i for i, names in enumerate(entries_of(aval)) if names and (axes is None or i in axes)]
    if cut:
        mesh = mesh_of(aval)
        raise Operation(name, [aval], [], {}, mesh, []).refuse(
            f"axis {cut[0]} is cut along {PartitionSpec(*entries_of(aval))[cut[0]]}, so that data would move",
            INDEXED if name == "getitem" else RESHARD,
        )


def merged(name: str, values: Sequence[Any]) -> list[Any]:
    """Values of one shape (and scalars), laid out as all of them together say. Raises ShardingTypeError where they contradict each other."""
    from .resharding import reshard_p

    avals = [aval_of(x) for x in values]
    mesh = _mesh(name, avals)
    if len({sums_of(a) for a in avals if a.ndim}) > 1 or any(sums_of(a).unreduced for a in avals):
        raise Operation(name, avals, [], {}, mesh, []).refuse("sums over devices are open", RESHARD)
    spec = _elementwise(Operation(name, avals, avals, {}, mesh, [entries_of(a) for a in avals]))
    at = NamedSharding(mesh, PartitionSpec(*spec, reduced=next(sums_of(a).reduced for a in avals if a.ndim)))
    return [x if not a.ndim or laid_of(a) is at else reshard_p(x, sharding=at) for x, a in zip(values, avals)]


def whole_results(outs: Sequence[Any], mesh: Any) -> list[Any]:
    """The avals of results that all devices of a mesh have."""
    return [_whole(out, mesh) for out in outs]


def _whole(out: Any, mesh: Any) -> Any:
    return with_entries(out, mesh, ((),) * out.ndim) if type(out) is ShapedArray and out.mark is None else out


def _mesh(name: str, avals: Sequence[Any]) -> Any:
    meshes = list(dict.fromkeys(laid.mesh for a in avals if (laid := laid_of(a)) is not None))
    grids = {(m.shape_tuple, m.axis_types) for m in meshes}
    if len(grids) > 1:
        raise ShardingTypeError(
            with_advice(
                f"{name}: operands lie on different meshes, {meshes[0]} and {meshes[1]}.",
                "move one with device_put",
            )
        )
    return meshes[0]


def _check_once(o: Operation, spec: Entries) -> None:
    names = [n for entry in spec for n in entry]
    if len(set(names)) != len(names):
        text = PartitionSpec(*spec)
        raise o.refuse(f"the result would be cut twice along one axis of the mesh, {text}", OUT)


# Rules ---------------------------------------------------------------------------------------------------------------


Rule = Callable[[Operation], Any]
RULES: dict[str, Rule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Decorator: the rule of the operations of these names. It takes an `Operation` and gives how its result lies, or a list for several."""

    def add(fun: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, fun))
        return fun

    return add


def _is_elementwise(o: Operation) -> bool:
    shape = o.outs[0].shape
    return all(out.shape == shape for out in o.outs) and all(a.shape in ((), shape) for a in o.avals)


def _elementwise(o: Operation) -> Any:
    specs = [s for s, a in zip(o.specs, o.avals) if a.shape]
    found = []
    for column in zip(*specs):
        named = list(dict.fromkeys(names for names in column if names))
        if len(named) > 1:
            said = " and ".join(str(PartitionSpec(*s)) for s in specs)
            raise o.refuse(f"the operands lie differently, {said}", RESHARD)
        found.append(named[0] if named else ())
    return tuple(found)


def _leading(o: Operation) -> Any:
    """Of operations without a rule: what is cut along leading axes, which the results have as well, stays so."""
    depth = max((i + 1 for s in o.specs for i, names in enumerate(s) if names), default=0)
    cut = [a for a, s in zip(o.avals, o.specs) if any(s)]
    heads = {a.shape[:depth] for a in cut} | {out.shape[:depth] for out in o.outs}
    shared = {s[:depth] for s in o.specs if any(s)}
    inner = 2 if o.name in _OF_MATRICES else 1 if o.name in _OF_ROWS else 0
    if len(heads) > 1 or len(shared) > 1 or any(a.ndim - inner < depth for a in cut):
        raise o.refuse("it is not known how the result lies", RESHARD)
    head = next(iter(shared))
    return [head + ((),) * (out.ndim - depth) for out in o.outs]


_OF_MATRICES = frozenset(
    ("cholesky", "cholesky_update", "eig", "eigh", "geqp3", "geqrf", "hessenberg", "householder_product", "lu", "ormqr", "qr",
     "schur", "svd", "triangular_solve", "tridiagonal")
)  # fmt: skip
_OF_ROWS = frozenset(("lu_pivots_to_permutation", "tridiagonal_solve"))
RULES.update(dict.fromkeys((*_OF_MATRICES, *_OF_ROWS), _leading))


@rule("fft")
def _transformed(o: Operation) -> Any:
    return _of_another_size(o, o.outs[0])


@rule("copy", "convert_element_type", "reduce_precision", "name", "stop_gradient", "clamp")
def _as_it_was(o: Operation) -> Any:
    return o.specs[1] if o.name == "clamp" else o.specs[0]


@rule("optimization_barrier")
def _each_as_it_was(o: Operation) -> Any:
    return list(o.specs)


@rule("bitcast_convert_type")
def _same_bits(o: Operation) -> Any:
    (spec,), out = o.specs, o.outs[0]
    if out.ndim < len(spec) and spec[-1]:
        raise o.refuse("its last axis, which goes, is cut", RESHARD)
    return spec[: out.ndim] + ((),) * (out.ndim - len(spec))


@rule("select_n")
def _chosen(o: Operation) -> Any:
    which, *cases = o.specs
    said = list(dict.fromkeys(s for s, a in zip(cases, o.avals[1:]) if type(a.mark) is NamedSharding and a.shape))
    first = said[0] if said else which
    if len(said) > 1 or (o.avals[0].shape and any(names and names != own for names, own in zip(which, first))):
        raise o.refuse("the cases, and what chooses between them, must lie alike", RESHARD)
    return first


@rule("broadcast_in_dim")
def _broadcast(o: Operation) -> Any:
    found: list[Names] = [()] * o.outs[0].ndim
    for names, n, d in zip(o.specs[0], o.avals[0].shape, o.params["broadcast_dimensions"]):
        found[d] = names if n == o.outs[0].shape[d] else ()
    return tuple(found)


@rule(
    "squeeze",
    "reduce_sum",
    "reduce_max",
    "reduce_min",
    "reduce_prod",
    "reduce_and",
    "reduce_or",
    "reduce_xor",
    "argmax",
    "argmin",
)
def _without_axes(o: Operation) -> Any:
    gone = o.params.get("axes", o.params.get("dimensions", ()))
    return tuple(names for i, names in enumerate(o.specs[0]) if i not in gone)


@rule("transpose")
def _transposed(o: Operation) -> Any:
    return tuple(o.specs[0][i] for i in o.params["permutation"])


@rule("rev")
def _reversed(o: Operation) -> Any:
    return o.specs[0]


@rule("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp")
def _along_whole_axis(o: Operation) -> Any:
    if o.specs[0][o.params["axis"]]:
        raise o.refuse(f"axis {o.params['axis']}, along which it runs, is cut", RESHARD)
    return o.specs[0]


@rule("sort")
def _sorted(o: Operation) -> Any:
    spec = _elementwise(o._replace(outs=o.outs[:1]))
    if spec[o.params["dimension"]]:
        raise o.refuse(f"axis {o.params['dimension']}, along which it sorts, is cut", RESHARD)
    return spec


@rule("top_k", "approx_top_k")
def _best(o: Operation) -> Any:
    axis = o.params.get("axis", o.params.get("reduction_dimension", -1)) % o.avals[0].ndim
    if o.specs[0][axis]:
        raise o.refuse(f"axis {axis}, along which it chooses, is cut", RESHARD)
    return o.specs[0]


def _of_another_size(o: Operation, out: Any) -> Entries:
    spec = o.specs[0]
    for axis, (names, before, after) in enumerate(zip(spec, o.avals[0].shape, out.shape)):
        if names and before != after and after % o.parts(names):
            raise o.refuse(
                f"axis {axis} has size {after} in the result, which the {o.parts(names)} devices along {names} do not divide",
                RESHARD,
            )
    return spec


@rule("slice", "dynamic_slice", "pad", "split", "reduce_window_sum", "reduce_window_max", "reduce_window_min")
def _resized(o: Operation) -> Any:
    return [_of_another_size(o, out) for out in o.outs]


@rule("dynamic_update_slice")
def _updated(o: Operation) -> Any:
    whole, part = o.specs[0], o.specs[1]
    full = [m == n or not names for m, n, names in zip(o.avals[1].shape, o.avals[0].shape, whole)]
    if part != whole and not (all(full) and all(not names or names == own for names, own in zip(part, whole))):
        raise o.refuse("the update must lie as what it is written into", RESHARD)
    return whole


def _alike(o: Operation) -> Entries:
    said = list(dict.fromkeys(s for s, a in zip(o.specs, o.avals) if laid_of(a) is not None))
    if len(said) > 1:
        raise o.refuse("the operands must lie alike", RESHARD)
    return said[0]


@rule("concatenate")
def _joined(o: Operation) -> Any:
    return _alike(o)


@rule("stack")
def _stacked(o: Operation) -> Any:
    spec, axis = _alike(o), o.params["axis"]
    return (*spec[:axis], (), *spec[axis:])


@rule("unstack")
def _unstacked(o: Operation) -> Any:
    axis = o.params["axis"]
    if o.specs[0][axis]:
        raise o.refuse(f"axis {axis}, which goes, is cut", RESHARD)
    return o.specs[0][:axis] + o.specs[0][axis + 1 :]


@rule("tile")
def _tiled(o: Operation) -> Any:
    reps, spec = o.params["reps"], o.specs[0]
    if any(names and n != 1 for names, n in zip(spec, reps)):
        raise o.refuse("an axis that is repeated is cut", RESHARD)
    return spec


@rule("dot_general")
def _dot(o: Operation) -> Any:
    (x, y), ((x_in, y_in), (x_batch, y_batch)) = o.specs, o.params["dimension_numbers"]
    open_over = set(o.params.get("unreduced", ()))
    for i, j in zip(x_in, y_in):
        if x[i] and y[j] and not (x[i] == y[j] and open_over.issuperset(x[i])):
            raise o.refuse(f"axes that are summed over are cut, along {x[i]} and {y[j]}: the result could lie in several ways", OUT)  # fmt: skip
    batch = []
    for i, j in zip(x_batch, y_batch):
        if x[i] and y[j] and x[i] != y[j]:
            raise o.refuse("the batch axes of the operands lie differently", OUT)
        batch.append(x[i] or y[j])
    free = [names for i, names in enumerate(x) if i not in (*x_in, *x_batch)]
    free += [names for i, names in enumerate(y) if i not in (*y_in, *y_batch)]
    return (*batch, *free)


def cut_alike(x: Any, y: Any, contracted: Any, among: frozenset) -> Names:
    """The mesh axes, of those `among`, along which both factors of a product are cut where it sums."""
    one, other = entries_of(x), entries_of(y)
    pairs = ((one[i], other[j]) for i, j in zip(*contracted))
    return tuple(sorted((n for a, b in pairs if a and a == b and among.issuperset(a) for n in a), key=str))


@rule("conv_general_dilated")
def _convolved(o: Operation) -> Any:
    numbers = o.params["dimension_numbers"]
    lhs, out = numbers.lhs_spec, numbers.out_spec
    if any(o.specs[1]) or o.specs[0][lhs[1]]:
        raise o.refuse("the kernel, or the axis of the features, is cut", OUT)
    found: list[Names] = [()] * len(out)
    for i, j in zip(lhs, out):
        names = o.specs[0][i]
        if names and o.outs[0].shape[j] != o.avals[0].shape[i] and o.outs[0].shape[j] % o.parts(names):
            raise o.refuse(f"axis {j} of the result has a size that the devices along {names} do not divide", OUT)
        found[j] = names
    return tuple(found)


@rule("gather")
def _gathered(o: Operation) -> Any:
    numbers, sizes = o.params["dimension_numbers"], o.params["slice_sizes"]
    x, at = o.specs[0], list(o.specs[1])
    batching = list(zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims))
    clear = all(sizes[i] == o.avals[0].shape[i] or not x[i] for i in numbers.start_index_map)
    clear = clear and all(not x[i] or not at[j] or x[i] == at[j] for i, j in batching)
    clear = clear and not any(names for j, names in enumerate(at) if j not in numbers.start_indices_batching_dims)
    if not clear:
        raise o.refuse("it picks along an axis that is cut, so that data would move", INDEXED)
    for i, j in batching:
        at[j] = at[j] or x[i]
    gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    windows = iter([names for i, names in enumerate(x) if i not in gone])
    rest = iter(at[:-1])
    return tuple(next(windows) if i in numbers.offset_dims else next(rest) for i in range(o.outs[0].ndim))


@rule("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min", "scatter-max", "scatter_apply")
def _scattered(o: Operation) -> Any:
    numbers = o.params["dimension_numbers"]
    x, at, new = list(o.specs[0]), o.specs[1], o.specs[2]
    windows = [i for i in range(len(x)) if i not in (*numbers.inserted_window_dims, *numbers.operand_batching_dims)]
    told = dict(zip(windows, numbers.update_window_dims))
    clear = True
    for i, j in told.items():
        if o.avals[2].shape[j] == o.avals[0].shape[i]:
            clear = clear and (not x[i] or not new[j] or x[i] == new[j])
            x[i] = x[i] or new[j]
        else:
            clear = clear and not x[i] and not new[j]
    clear = clear and not any(x[i] for i in numbers.inserted_window_dims)
    rows = [j for j in range(len(new)) if j not in numbers.update_window_dims]
    for k, j in enumerate(rows):
        if k in numbers.scatter_indices_batching_dims:
            i = numbers.operand_batching_dims[numbers.scatter_indices_batching_dims.index(k)]
            named = {names for names in (x[i], at[k], new[j]) if names}
            clear = clear and len(named) <= 1
            x[i] = next(iter(named), ())
        else:
            clear = clear and not at[k] and not new[j]
    if not clear or at[-1]:
        raise o.refuse("it writes along an axis that is cut, so that data would move", INDEXED)
    return tuple(x)


@rule("reshape")
def _reshaped(o: Operation) -> Any:
    before, after = o.avals[0].shape, o.outs[0].shape
    found: list[Names] = []
    for old, new in _groups(before, after):
        names = [o.specs[0][i] for i in old]
        ones = [after[i] for i in new]
        if not any(names):
            found += [()] * len(new)
        elif [before[i] for i in old if before[i] != 1] == [n for n in ones if n != 1]:
            kept = iter([s for i, s in zip(old, names) if before[i] != 1])
            found += [() if n == 1 else next(kept) for n in ones]
        else:
            found += _divided(o, [before[i] for i in old], names, ones)
    return tuple(found)


def _groups(before: Sequence[int], after: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Axes of two shapes of one size, in runs that hold the same elements."""
    found, i, j = [], 0, 0
    while i < len(before) or j < len(after):
        old, new, one, other = [], [], 1, 1
        while (not old and not new) or one != other:
            if (one <= other and i < len(before)) or j == len(after):
                old, one, i = [*old, i], one * before[i], i + 1
            else:
                new, other, j = [*new, j], other * after[j], j + 1
        while i < len(before) and before[i] == 1 and new:
            old, i = [*old, i], i + 1
        while j < len(after) and after[j] == 1:
            new, j = [*new, j], j + 1
        found.append((old, new))
    return found


def _divided(o: Operation, sizes: Sequence[int], names: Sequence[Names], wanted: Sequence[int]) -> list[Names]:
    """Axes cut into others, or put together: the first ones in order take the axes of the mesh."""
    why = f"it is not clear how a result of shape {o.outs[0].shape} lies"
    if sum(n != 1 for n in sizes) > 1 and sum(n != 1 for n in wanted) > 1:
        raise o.refuse(why, OUT)
    names = [entry for entry, n in zip(names, sizes) if n != 1]
    while names and not names[-1]:
        names = names[:-1]
    if not all(names):
        raise o.refuse(why, OUT)
    flat = [name for entry in names for name in entry]
    return _dealt(o, why, flat, wanted)


def _dealt(o: Operation, why: str, names: Sequence[Any], sizes: Sequence[int]) -> list[Names]:
    left = list(names)
    found = []
    for n in sizes:
        own: list[Any] = []
        while left and n > 1:
            if n % o.mesh.shape[left[0]]:
                raise o.refuse(why, OUT)
            n //= o.mesh.shape[left[0]]
            own.append(left.pop(0))
        found.append(tuple(own))
    if left:
        raise o.refuse(why, OUT)
    return found


@rule("random_bits", "random_split")
def _of_each_key(o: Operation) -> Any:
    return o.specs[0] + ((),) * (o.outs[0].ndim - len(o.specs[0]))


@rule("random_wrap", "random_unwrap", "random_seed")
def _below(o: Operation) -> Any:
    below = physical(o.avals[0]).ndim
    spec = o.specs[0] + ((),) * (below - len(o.specs[0]))
    if any(spec[o.outs[0].ndim :]):
        raise o.refuse("the words of keys are cut", RESHARD)
    return spec[: o.outs[0].ndim] + ((),) * (o.outs[0].ndim - len(spec))
