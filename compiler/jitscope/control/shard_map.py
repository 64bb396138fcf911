"""`shard_map`: a function run on each device's part of its arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, cotangent_aval, tangent_aval
from ..core.jaxpr import ClosedJaxpr
from ..core.meshes import ordered
from ..core.part_types import NO_SUMS, Sums, laid_of, nothing, sums_of, varying, with_mark
from ..core.primitive import HigherOrder
from ..core.shardings import NamedSharding, PartitionSpec, mentioned, names_of, padded
from ..core.staging import jaxpr_as_fun, trace_to_jaxpr
from ..core.varying import inside, manual_axes
from ..core.zeros import Zero, is_linear, is_zero
from ..ops.collective import psum_p
from ..ops.cotangents import as_cotangent
from ..ops.elementwise import div_p
from ..ops.families import scalar_like
from ..ops.linear import reshape
from ..transforms.dce import dce_jaxpr
from ..transforms.jvp import jvp_jaxpr
from ..transforms.linearize import partial_eval_jaxpr
from ..transforms.transpose import transposed_fun
from ..transforms.vmap import BatchAxis, vmap_jaxpr
from .bodies import lift_constants


Specs = tuple[PartitionSpec, ...]


def part_aval(mesh: Any, spec: PartitionSpec, aval: ShapedArray, axes: Sequence[Any], check: bool) -> ShapedArray:
    """The aval of one device's part of a value, where the function sees one device along `axes`."""
    shape = tuple(n // c for n, c in zip(aval.shape, _cuts(mesh, spec, aval.ndim)))
    part = ShapedArray(shape, aval.dtype, aval.weak_type)
    within, left = ordered(mesh, (*manual_axes(), *axes)), None
    if _explicit(mesh, within):
        own = laid_of(aval) or NamedSharding(mesh.abstract_mesh, PartitionSpec(*[None] * aval.ndim))
        left = own.within(within)
    if not check:
        return with_mark(part, nothing, NO_SUMS, left)
    unreduced, reduced = sums_of(aval)
    sums = Sums(unreduced | spec.unreduced, reduced | spec.reduced)
    return with_mark(part, mentioned(spec) | varying(aval), sums, left)


def whole_aval(mesh: Any, spec: PartitionSpec, aval: ShapedArray, axes: Sequence[Any]) -> ShapedArray:
    """The aval of the value whose parts are like this."""
    shape = tuple(n * c for n, c in zip(aval.shape, _cuts(mesh, spec, aval.ndim)))
    unreduced, reduced = sums_of(aval)
    sums = Sums(unreduced - frozenset(axes), reduced - frozenset(axes))
    laid, explicit = None, _explicit(mesh, manual_axes())
    if explicit:
        own = laid_of(aval)
        inner = [()] * aval.ndim if own is None else map(names_of, padded(own.spec, aval.ndim))
        outer = [tuple(n for n in names_of(e) if n in explicit) for e in padded(spec, aval.ndim)]
        entries = [(*a, *b) for a, b in zip(outer, inner)]
        laid = NamedSharding(mesh.abstract_mesh, PartitionSpec(*entries)).within(manual_axes())
        sums = Sums(sums.unreduced | spec.unreduced, sums.reduced | spec.reduced)
    return with_mark(ShapedArray(shape, aval.dtype, aval.weak_type), varying(aval) - frozenset(axes), sums, laid)


def _cuts(mesh: Any, spec: PartitionSpec, ndim: int) -> list[int]:
    return [math.prod(mesh.shape[n] for n in names_of(e)) for e in padded(spec, ndim)]


def _explicit(mesh: Any, within: Sequence[Any]) -> tuple[Any, ...]:
    """The Explicit axes of a mesh that are left in a function that sees one device along those `within`."""
    return tuple(n for n in mesh.explicit_axes if n not in within)


def _swapped(specs: Specs) -> Specs:
    """The specs of cotangents."""
    return tuple(s.update(unreduced=s.reduced, reduced=s.unreduced) for s in specs)


class ShardMap(HigherOrder):
    """Runs the program in `jaxpr` (which captures nothing) on each device's parts of the operands: `in_specs` say along which axes
    of the `mesh` each is cut, `out_specs` how results are put together; along `axes` the program sees one device. `check`: avals
    inside say over which axes values vary."""

    def abstract(self, /, *avals, jaxpr, mesh, in_specs, out_specs, axes, check):
        return [whole_aval(mesh, s, a, axes) for s, a in zip(out_specs, jaxpr.out_avals)], jaxpr.effects

    def named_axes(self, *, jaxpr, axes, **params):
        return tuple(name for name in super().named_axes(jaxpr=jaxpr) if name not in axes)

    def lower(self, ctx, /, *values, jaxpr, mesh, in_specs, out_specs, axes, check):
        with inside(mesh, axes, check):
            return ctx.manual_computation(values, jaxpr, mesh, in_specs, out_specs, axes)

    def jvp(self, primals, tangents, /, *, jaxpr, mesh, in_specs, out_specs, axes, check):
        nonzero = [not is_zero(t) for t in tangents]
        with inside(mesh, axes, check):
            both, out_nonzero = jvp_jaxpr(jaxpr, nonzero)
        n = len(out_nonzero)
        outs = self.apply(
            both,
            [*primals, *[t for t in tangents if not is_zero(t)]],
            in_specs=(*in_specs, *[s for s, m in zip(in_specs, nonzero) if m]),
            out_specs=(*out_specs, *[s for s, m in zip(out_specs, out_nonzero) if m]),
            mesh=mesh, axes=axes, check=check,
        )  # fmt: skip
        given = iter(outs[n:])
        ts = [next(given) if m else Zero(tangent_aval(aval_of(o))) for m, o in zip(out_nonzero, outs)]
        return outs[:n], ts

    def transpose(self, cts, /, *args, jaxpr, mesh, in_specs, out_specs, axes, check):
        linear = [is_linear(x) for x in args]
        given = [ct for ct in cts if not is_zero(ct)]
        others = [x for x, lin in zip(args, linear) if not lin]
        specs = [s for s, lin in zip(in_specs, linear) if not lin]
        specs += [s for s, ct in zip(_swapped(out_specs), cts) if not is_zero(ct)]
        wanted = [s for s, lin in zip(_swapped(in_specs), linear) if lin]
        if not check:
            # Each device is given all of the cotangent of a result that is the same on several of them: an equal share.
            copies = [_copies(mesh, axes, s) for s, ct in zip(out_specs, cts) if not is_zero(ct)]
            given = [ct if n == 1 or aval_of(ct).dtype == dtypes.float0 else div_p(ct, scalar_like(ct, n)) for ct, n in zip(given, copies)]  # fmt: skip
        key = ("shard_map transpose", tuple(linear), tuple(map(is_zero, cts)), in_specs, out_specs, mesh, axes, check)
        if key not in jaxpr.derived:
            jaxpr.derived[key] = self._transposed(jaxpr, linear, cts, mesh, in_specs, out_specs, axes, check)
        outs = iter(
            self.apply(jaxpr.derived[key], [*others, *given], in_specs=tuple(specs), out_specs=tuple(wanted), mesh=mesh, axes=axes, check=check)
        )  # fmt: skip
        return [next(outs) if lin else None for lin in linear]

    def _transposed(self, jaxpr, linear, cts, mesh, in_specs, out_specs, axes, check):
        backward = transposed_fun(jaxpr, linear, cts)
        wanted = [(s, a) for s, a, lin in zip(in_specs, jaxpr.in_avals, linear) if lin]

        def fun(*flat):
            outs = backward(*flat)
            if check:
                return [as_cotangent(x, cotangent_aval(a)) for x, (_, a) in zip(outs, wanted)]
            return [_summed(x, _unmentioned(mesh, axes, s)) for x, (s, _) in zip(outs, wanted)]

        avals = [a for a, lin in zip(jaxpr.in_avals, linear) if not lin]
        avals += [cotangent_aval(a) for a, ct in zip(jaxpr.out_avals, cts) if not is_zero(ct)]
        with inside(mesh, axes, check):
            return trace_to_jaxpr(fun, avals, jaxpr.jaxpr.debug)

    def batch(self, axis, args, dims, /, *, jaxpr, mesh, in_specs, out_specs, axes, check):
        names = self._along(axis, jaxpr, mesh, (*in_specs, *out_specs), axes)
        size = axis.size // math.prod(mesh.shape[n] for n in names)
        with inside(mesh, axes, check):
            batched, out_dims = vmap_jaxpr(jaxpr, BatchAxis(axis.name, size, names), dims)
        ins = tuple(_with_axis(s, d, names) for s, d in zip(in_specs, dims))
        outs = tuple(_with_axis(s, d, names) for s, d in zip(out_specs, out_dims))
        return self.apply(batched, args, in_specs=ins, out_specs=outs, mesh=mesh, axes=axes, check=check), out_dims

    def _along(self, axis, jaxpr, mesh, specs, axes):
        """The mesh axes along which the mapped axis is cut. Raises ValueError where the user names some that cut it already."""
        names = tuple(n for n in axis.names if n in axes)
        used = [n for n in names if any(n in mentioned(s) for s in specs)]
        if used and axis.mesh is None:
            raise ValueError(
                f"vmap's spmd_axis_name {axis.names} names {used}, which the specs of the shard_map inside name, too"
            )
        if (
            used
            or axis.size % math.prod(mesh.shape[n] for n in names)
            or axis.name in self.named_axes(jaxpr=jaxpr, axes=())
        ):
            return ()
        return names

    def partial_eval(self, trace, args, /, *, jaxpr, mesh, in_specs, out_specs, axes, check):
        known = [trace.is_known(x) for x in args]
        same = {"mesh": mesh, "axes": axes, "check": check}
        with inside(mesh, axes, check):
            split = partial_eval_jaxpr(jaxpr, known)
            count = sum(split.out_known)
            first, saved_specs = saved_in_rows(split.known, count, mesh, axes, check)
            places = [_residual_spec(at, count, [s for s, k in zip(in_specs, known) if k],
                                     [s for s, k in zip(out_specs, split.out_known) if k], saved_specs) for at in split.residuals]  # fmt: skip
            rows = [kind == "result" and i >= count for kind, i in split.residuals]
            second = _taking_rows(split.unknown, rows)
        arguments = [x for x, k in zip(args, known) if k]
        consts, (first,) = lift_constants([first])
        specs = (*[PartitionSpec()] * len(consts), *[s for s, k in zip(in_specs, known) if k])
        outs = tuple(s for s, k in zip(out_specs, split.out_known) if k) + tuple(saved_specs)
        done = trace.parent.process(
            self, (*consts, *arguments), {"jaxpr": first, "in_specs": specs, "out_specs": outs, **same}
        )
        residuals = split.gather(arguments, done)
        later = [x for x, k in zip(args, known) if not k]
        consts, (second,) = lift_constants([second])
        specs = (*[PartitionSpec()] * len(consts), *places, *[s for s, k in zip(in_specs, known) if not k])
        outs = tuple(s for s, k in zip(out_specs, split.out_known) if not k)
        staged = trace.record(
            self, (*consts, *residuals, *later), {"jaxpr": second, "in_specs": specs, "out_specs": outs, **same}
        )
        sources = iter(done), iter(staged)
        return [next(sources[0] if k else sources[1]) for k in split.out_known]

    def dce(self, used, eqn, /):
        smaller, kept = dce_jaxpr(eqn.params["jaxpr"], used)
        if not any(used) and not smaller.effects:
            return [False] * len(eqn.invars), None
        params = {**eqn.params, "jaxpr": smaller}
        params["in_specs"] = tuple(s for s, k in zip(params["in_specs"], kept) if k)
        params["out_specs"] = tuple(s for s, u in zip(params["out_specs"], used) if u)
        invars = [a for a, k in zip(eqn.invars, kept) if k]
        outvars = [v for v, u in zip(eqn.outvars, used) if u]
        return kept, eqn.replace(invars=invars, outvars=outvars, params=params)

    def apply(self, closed: ClosedJaxpr, args: Sequence[Any], in_specs: Specs, **params: Any) -> list[Any]:
        """The results of a program for flat arguments, as one equation; all devices see all of what it captured."""
        consts, (jaxpr,) = lift_constants([closed])
        return self.bind(*consts, *args, jaxpr=jaxpr, in_specs=(*[PartitionSpec()] * len(consts), *in_specs), **params)

    def shown_params(self, params):
        return {
            "check_vma": params["check"], "in_specs": params["in_specs"], "jaxpr": params["jaxpr"], "mesh": params["mesh"],
            "newly_manual_axes": frozenset(params["axes"]), "out_specs": params["out_specs"],
        }  # fmt: skip

    def program_params(self, params):
        mesh = params["mesh"]
        said = tuple(map(repr, (*params["in_specs"], *params["out_specs"])))
        return {"jaxpr": params["jaxpr"], "specs": said, "mesh": repr(mesh.shape_tuple), "axes": repr(params["axes"])}


shard_map_p = ShardMap("shard_map")


def _unmentioned(mesh: Any, axes: Sequence[Any], spec: PartitionSpec) -> tuple[Any, ...]:
    used = mentioned(spec) | spec.unreduced | spec.reduced
    return tuple(name for name in ordered(mesh, axes) if name not in used)


def _copies(mesh: Any, axes: Sequence[Any], spec: PartitionSpec) -> int:
    return math.prod(mesh.shape[name] for name in _unmentioned(mesh, axes, spec))


def _summed(x: Any, axes: tuple[Any, ...]) -> Any:
    return psum_p(x, axes=axes, axis_index_groups=None) if axes and aval_of(x).dtype != dtypes.float0 else x


def _with_axis(spec: PartitionSpec, dim: int | None, names: tuple[Any, ...]) -> PartitionSpec:
    if dim is None:
        return spec
    entries = [*spec.partitions, *[None] * (dim - len(spec))]
    return spec.update(partitions=(*entries[:dim], names, *entries[dim:]))


# What the forward pass keeps for the backward pass: each device's own, in rows -----------------------------------------


def saved_in_rows(
    known: ClosedJaxpr, results: int, mesh: Any, axes: Sequence[Any], check: bool
) -> tuple[ClosedJaxpr, list[PartitionSpec]]:
    """The known part with each value it keeps as one row, and how these rows are put together: those of all devices between
    which it differs."""
    avals = known.out_avals[results:]
    specs = [_of_rows(mesh, a, frozenset(axes), check) for a in avals]
    if not avals:
        return known, []

    def fun(*args):
        outs = jaxpr_as_fun(known)(*args)
        return [*outs[:results], *[reshape(x, (1, *aval_of(x).shape)) for x in outs[results:]]]

    return trace_to_jaxpr(fun, known.in_avals, known.jaxpr.debug), specs


def _of_rows(mesh: Any, aval: ShapedArray, axes: frozenset, check: bool) -> PartitionSpec:
    if not check:
        return PartitionSpec(ordered(mesh, axes))
    unreduced, reduced = sums_of(aval)
    return PartitionSpec(ordered(mesh, varying(aval) & axes), unreduced=unreduced & axes, reduced=reduced & axes)


def _taking_rows(unknown: ClosedJaxpr, rows: Sequence[bool]) -> ClosedJaxpr:
    """The unknown part, which takes these of its residuals as rows."""
    if not any(rows):
        return unknown
    avals = unknown.in_avals
    given = [_in_row(a) if row else a for a, row in zip(avals, [*rows, *[False] * len(avals)])]

    def fun(*args):
        plain = [reshape(x, a.shape) if x_aval is not a else x for x, a, x_aval in zip(args, avals, given)]
        return jaxpr_as_fun(unknown)(*plain)

    return trace_to_jaxpr(fun, given, unknown.jaxpr.debug)


def _in_row(aval: ShapedArray) -> ShapedArray:
    mark = None if aval.mark is None else aval.mark.beside(0)
    return aval.update(shape=(1, *aval.shape), sharding=mark)


def _residual_spec(
    at: tuple[str, int],
    count: int,
    ins: Sequence[PartitionSpec],
    outs: Sequence[PartitionSpec],
    saved: Sequence[PartitionSpec],
) -> PartitionSpec:
    kind, i = at
    if kind == "argument":
        return ins[i]
    return outs[i] if i < count else saved[i - count]
