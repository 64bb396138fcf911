"""cond and switch: one of several functions runs, chosen by a value. `platform_dependent` chooses by the device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from .. import tree
from ..core import dtypes, notices, source, users_source
from ..core.annotations import ArrayLike, PyTree
from ..core.avals import ShapedArray, aval_of, is_python_scalar, tangent_aval
from ..core.config import NOT_GIVEN, settings
from ..core.effects import moved, no_effects
from ..core.errors import stepped_on
from ..core.jaxpr import ClosedJaxpr, JaxprEqn, Literal, rearranged
from ..core.messages import with_advice
from ..core.part_types import laid_of, nothing, sums_of, varying, with_mark, with_varying, without_sums
from ..core.primitive import Discharge, HigherOrder, NewValue, Primitive
from ..core.staging import eval_jaxpr, trace_to_jaxpr
from ..core.trace import Tracer, using
from ..core.varying import lie_alike, vary_alike
from ..core.zeros import Zero, is_linear, is_zero
from ..ops.elementwise import clamp_p, eq_p, ne_p, stop_gradient_p
from ..ops.families import pure
from ..ops.indexing import dynamic_slice_p
from ..ops.linear import broadcast_in_dim, convert, select_n_p, zeros
from ..ops.reduce import argmax_p, reduce_or_p
from ..transforms.dce import dce_jaxpr
from ..transforms.jvp import jvp_jaxpr
from ..transforms.linearize import partial_eval_jaxpr
from ..transforms.transpose import transposed_fun
from ..transforms.vmap import vmap_jaxpr
from .bodies import Body, check_leaves, lift_constants, name_of, short, shown, trace_body
from .call import call
from .carry import made_in, place_made, with_result_avals
from .effects import example_by_example, has_effects


S = TypeVar("S")


__all__ = ["cond", "platform_dependent", "switch"]


class Cond(HigherOrder):
    """Runs the branch of number `index` (an i32 scalar, the first operand) on the other operands.

    `branches_platforms`: the index is that of the platform compiled for, one tuple of names (or None: any other) for each branch.
    """

    def abstract(self, index, /, *avals, branches, **params):
        effects = no_effects.union(*[b.effects for b in branches])
        return branches[0].out_avals, moved(effects, lambda i: i + 1) if effects else effects

    def lower(self, ctx, index, /, *values, branches, branches_platforms=None):
        if branches_platforms is not None and ctx.module.platform:
            number = platform_number(ctx.module.platform, branches_platforms)
            return ctx.inner_jaxpr(branches[number], values, _segment(branches, number))
        if len(branches) == 1:
            return ctx.inner_jaxpr(branches[0], values)
        avals = ctx.avals_out
        return ctx.case(
            index, avals, [lambda i=i, b=b: ctx.inner_jaxpr(b, values, f"branches{i}") for i, b in enumerate(branches)]
        )

    def jvp(self, primals, tangents, /, *, branches, **params):
        nonzero = [not is_zero(t) for t in tangents[1:]]
        out_nonzero = _any(jvp_jaxpr(b, nonzero)[1] for b in branches)
        both = [jvp_jaxpr(b, nonzero, out_nonzero)[0] for b in branches]
        outs = self._bind(
            both, primals[0], [*primals[1:], *[t for t, nz in zip(tangents[1:], nonzero) if nz]], **params
        )
        n = len(out_nonzero)
        given = iter(outs[n:])
        return outs[:n], [next(given) if m else Zero(tangent_aval(aval_of(o))) for m, o in zip(out_nonzero, outs)]

    def transpose(self, cts, /, index, *args, branches, **params):
        linear = [is_linear(x) for x in args]
        operands = [x for x, lin in zip(args, linear) if not lin] + [ct for ct in cts if not is_zero(ct)]
        avals = [aval_of(x) for x in operands]
        key = ("cond transpose", tuple(linear), tuple(is_zero(ct) for ct in cts), tuple(avals))
        for branch in branches:
            if key not in branch.derived:
                fun = transposed_fun(branch, linear, cts)
                branch.derived[key] = trace_to_jaxpr(fun, avals, branch.jaxpr.debug)
        outs = iter(self._bind([b.derived[key] for b in branches], index, operands, **params))
        return [None, *[next(outs) if lin else None for lin in linear]]

    def batch(self, axis, args, dims, /, *, branches, **params):
        if dims[0] is not None and has_effects(*branches):
            return example_by_example(self, axis, args, dims, {"branches": branches, **params})
        if dims[0] is not None:
            return self._batch_choice(axis, args, dims, branches)
        mapped = _any([d is not None for d in vmap_jaxpr(b, axis, dims[1:])[1]] for b in branches)
        batched = [vmap_jaxpr(b, axis, dims[1:], mapped)[0] for b in branches]
        return self._bind(batched, args[0], list(args[1:]), **params), [0 if m else None for m in mapped]

    def _batch_choice(self, axis: Any, args: Any, dims: Any, branches: Sequence[ClosedJaxpr]) -> Any:
        """Examples choose differently: all branches run, each example takes its own's results. What all branches hand
        on of the operands that are the same for all examples stays so."""
        if notices.listeners:
            notices.tell(
                "cond-runs-both",
                f"under vmap every branch of this {'cond' if len(branches) == 2 else 'switch'} is computed for all {axis.size} rows, "
                "since they choose differently.",
                "Where a branch is costly or must not run: jax.lax.map in place of vmap.",
            )
        index, operands = axis.move(args[0], dims[0], 0), args[1:]
        handed = [at if at is not None and dims[1 + at] is None else None for at in map(_place, *_handed_on(branches))]
        differ = [at is None for at in handed]
        found = [
            call(vmap_jaxpr(b, axis, own_dims, differ)[0], own, b.jaxpr.debug.name)
            for b, (own, own_dims) in zip(branches, own_operands(axis, index, operands, dims[1:], len(branches)))
        ]
        which = ne_p(index, np.int32(0)) if len(branches) == 2 else index
        outs = []
        for at, cases in zip(handed, zip(*found)):
            if at is not None:
                outs.append(
                    broadcast_in_dim(operands[at], aval_of(operands[at]).shape, ())
                    if is_python_scalar(operands[at])
                    else operands[at]
                )
            else:
                outs.append(cases[0] if len(cases) == 1 else select_n_p(beside(which, cases[0]), *cases))
        return outs, [0 if d else None for d in differ]

    def partial_eval(self, trace, args, /, *, branches, **params):
        if not trace.is_known(args[0]):
            return trace.record(self, args, {"branches": branches, **params})
        known = [trace.is_known(x) for x in args[1:]]
        unknown = _any([not k for k in partial_eval_jaxpr(b, known).out_known] for b in branches)
        splits = [partial_eval_jaxpr(b, known, unknown) for b in branches]
        known_args = [x for x, k in zip(args[1:], known) if k]
        slots, plans = _residual_slots(splits)
        count = len(unknown) - sum(unknown)
        first = [with_slots(s.known, count, slots, plan) for s, plan in zip(splits, plans)]
        done: list[Any] = []
        if count or slots or any(b.effects for b in first):
            with using(trace.parent):
                done = self._bind(first, args[0], known_args, **params)
        unknown_args = [x for x, k in zip(args[1:], known) if not k]
        second = [_from_slots(s, plan, known_args, count, slots, unknown_args) for s, plan in zip(splits, plans)]
        with using(trace.parent):
            captured, lifted = lift_constants(second)
        operands = [args[0], *captured, *known_args, *done, *unknown_args]
        staged = iter(trace.record(self, operands, {"branches": tuple(lifted), **params}))
        given = iter(done)
        return [next(staged if u else given) for u in unknown]

    def dce(self, used, eqn, /):
        branches = eqn.params["branches"]
        if not any(used) and not eqn.effects:
            return [False] * len(eqn.invars), None
        kept = _any(dce_jaxpr(b, used)[1] for b in branches)
        smaller = tuple(dce_jaxpr(b, used, kept)[0] for b in branches)
        keep = [True, *kept]
        invars = [a for a, k in zip(eqn.invars, keep) if k]
        outvars = [v for v, u in zip(eqn.outvars, used) if u]
        params = {**eqn.params, "branches": smaller}
        return keep, JaxprEqn(invars, outvars, self, params, eqn.effects, eqn.traceback)

    def discharge(self, refs, pure, /, *, branches, **params):
        found = [pure(b) for b in branches]
        changed = sorted({i for _, numbers in found for i in numbers})
        n, outs = len(branches[0].in_avals), len(branches[0].out_avals)
        made = []
        for closed, own in found:
            at = {i: outs + j for j, i in enumerate(own)}
            values: list[Any] = [at.get(i, closed.jaxpr.invars[i]) for i in changed]
            made.append(rearranged(closed, range(n), [*range(outs), *values]))
        results = [*range(outs), *[NewValue(i + 1) for i in changed]]
        return Discharge(range(n + 1), {"branches": tuple(made), **params}, results)

    def _bind(self, branches: Sequence[ClosedJaxpr], index: Any, args: Sequence[Any], **params: Any) -> list[Any]:
        """Bind with what the branches captured as further operands."""
        captured, lifted = lift_constants(branches)
        return self.bind(index, *captured, *args, branches=tuple(lifted), **params)

    def shown_params(self, params):
        return {name: params[name] for name in ("branches", "branches_platforms") if params.get(name) is not None}


def _any(rows: Any) -> list[bool]:
    return [any(column) for column in zip(*rows)]


def _segment(branches: Sequence[Any], number: int) -> str:
    return f"branches{number}" if len(branches) > 1 else ""


def beside(which: Any, x: Any) -> Any:
    """What examples choose, repeated over the axes of one example."""
    return broadcast_in_dim(which, aval_of(x).shape, (0,))


def _handed_on(branches: Sequence[ClosedJaxpr]) -> list[list[int | None]]:
    """For each branch, which operand each of its results is, if it is one."""
    rows = []
    for branch in branches:
        number = {v: i for i, v in enumerate(branch.jaxpr.invars)}
        rows.append([None if isinstance(a, Literal) else number.get(a) for a in branch.jaxpr.outvars])
    return rows


def _place(*places: int | None) -> int | None:
    return places[0] if len(set(places)) == 1 else None


def own_operands(
    axis: Any, index: Any, args: Sequence[Any], dims: Sequence[int | None], count: int
) -> list[tuple[list[Any], list[int | None]]]:
    """The operands of each of `count` branches that run for all examples, and where the mapped axis lies in them.

    In a branch that an example does not take derivatives may be infinite or NaN, and zero times that is NaN. So no
    derivative flows back from there. An operand that is the same for all examples gets the derivatives of all of them
    together, so examples that do not take the branch compute there what one that does take it computes.
    """
    differentiated = [isinstance(x, Tracer) and dtypes.is_inexact(aval_of(x).dtype) for x in args]
    if not any(differentiated) or count == 1:
        return [(list(args), list(dims))] * count
    shared = any(m and d is None for m, d in zip(differentiated, dims))
    guarded = [d is not None and (m or shared) for m, d in zip(differentiated, dims)]
    args = [axis.move(x, d, 0) if g else x for x, d, g in zip(args, dims, guarded)]
    dims = [0 if g else d for d, g in zip(dims, guarded)]
    found = []
    for number in range(count):
        taken = eq_p(index, np.int32(number))
        one = argmax_p(taken, axes=(0,), index_dtype=dtypes.int32) if shared else None
        some = reduce_or_p(taken, axes=(0,)) if shared else None
        own = [
            _guarded(x, taken, one) if g else select_n_p(some, stop_gradient_p(x), x) if m and d is None else x
            for x, d, m, g in zip(args, dims, differentiated, guarded)
        ]
        found.append((own, list(dims)))
    return found


def _guarded(x: Any, taken: Any, one: Any) -> Any:
    """`x`, all examples' along axis 0, with no derivative for those that are not `taken`, which have the value of the
    example number `one` if that is given."""
    other, shape = stop_gradient_p(x), aval_of(x).shape
    if one is not None:
        starts = [one, *[np.int32(0)] * (len(shape) - 1)]
        row = dynamic_slice_p(other, *starts, slice_sizes=(1, *shape[1:]))
        other = broadcast_in_dim(row, shape, tuple(range(len(shape))))
    return select_n_p(beside(taken, x), other, x)


# Residuals of partial evaluation: branches give different ones, so slots of one aval are shared, zeros fill the others'.


def _residual_slots(splits: Sequence[Any]) -> tuple[list[ShapedArray], list[dict[int, int]]]:
    """The avals of the slots, and for each branch the slot of each fresh residual (by its index among the results)."""
    counts = [sum(split.out_known) for split in splits]
    slots, rows = shared_slots([split.known.out_avals[count:] for split, count in zip(splits, counts)])
    return slots, [dict(enumerate(row, count)) for row, count in zip(rows, counts)]


def shared_slots(rows: Sequence[Sequence[ShapedArray]]) -> tuple[list[ShapedArray], list[list[int]]]:
    """The avals of as few slots as hold the values of each branch in turn, and for each branch the slots of its values."""
    slots: list[ShapedArray] = []
    numbers = []
    for row in rows:
        used: Counter[ShapedArray] = Counter()
        mine = []
        for aval in row:
            same = [n for n, s in enumerate(slots) if s is aval]
            if used[aval] == len(same):
                same.append(len(slots))
                slots.append(aval)
            mine.append(same[used[aval]])
            used[aval] += 1
        numbers.append(mine)
    return slots, numbers


def with_slots(known: ClosedJaxpr, count: int, slots: list[ShapedArray], plan: dict[int, int]) -> ClosedJaxpr:
    """The known part of a branch, giving its first `count` results and all slots; `plan` has the slots of further results."""
    at = {slot: i for i, slot in plan.items()}
    if len(at) == len(slots):
        return rearranged(known, range(len(known.in_avals)), [*range(count), *[at[n] for n in range(len(slots))]])
    key = ("slots", tuple(slots), tuple(plan.items()))
    if key not in known.derived:

        def fun(*args):
            outs = eval_jaxpr(known.jaxpr, known.consts, *args)
            return [*outs[:count], *[outs[at[n]] if n in at else zeros(s) for n, s in enumerate(slots)]]

        known.derived[key] = trace_to_jaxpr(fun, known.in_avals, known.jaxpr.debug)
    return known.derived[key]


def _from_slots(
    split: Any,
    plan: dict[int, int],
    known_args: Sequence[Any],
    count: int,
    slots: list[ShapedArray],
    unknown: Sequence[Any],
) -> ClosedJaxpr:
    """The unknown part of a branch as a program of the known arguments, the results of the known part, and the unknown
    arguments."""
    n = len(known_args)
    given = [aval_of(x) for x in known_args] + split.known.out_avals[:count] + slots
    places = {}
    for number, (kind, i) in enumerate(split.residuals):
        place = i if kind == "argument" else n + (i if i < count else count + plan[i])
        places.setdefault(place, number)
    arguments = [places.get(i, aval) for i, aval in enumerate(given)]
    first = len(split.residuals)
    return rearranged(split.unknown, [*arguments, *range(first, first + len(unknown))])


cond_p = Cond("cond")


class PlatformIndex(Primitive):
    """Which of `platforms` (tuples of names; None: any other) the program is compiled for."""

    def abstract(self, /, *, platforms):
        return pure(ShapedArray((), dtypes.int32))

    def lower(self, ctx, /, *, platforms):
        return ctx.by_platform(lambda platform: platform_number(platform, platforms))


platform_index_p = PlatformIndex("platform_index")


def platform_number(platform: str, platforms: Sequence[Any]) -> int:
    """The index of the first entry that names the platform, or is None. Raises NotImplementedError if there is none."""
    for i, names in enumerate(platforms):
        if names is None or platform in names:
            return i
    raise NotImplementedError(f"platform_dependent has no branch for {platform!r} and no default")


# What users call -----------------------------------------------------------------------------------------------------


@overload
def cond(
    pred: ArrayLike,
    true_fun: Callable[..., S],
    false_fun: Callable[..., S],
    *operands: PyTree,
    operand: PyTree = NOT_GIVEN,
) -> S: ...
@overload
def cond(
    pred: ArrayLike,
    true_operand: PyTree,
    true_fun: Callable[[Any], S],
    false_operand: PyTree,
    false_fun: Callable[[Any], S],
    /,
) -> S: ...
def cond(
    pred: ArrayLike,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: PyTree,
    operand: PyTree = NOT_GIVEN,
) -> PyTree:
    """`true_fun(*operands) if pred else false_fun(*operands)` for a computed `pred`, a scalar. Only one of them runs, but
    under vmap with a `pred` that differs between examples: then both do.

    Both give the same structure, shapes and dtypes. Raises TypeError where they do not (the message names the leaf and the
    line), or `pred` is not a scalar.

    >>> lax.cond(True, lambda x: x + 1, lambda x: x - 1, 10)
    Array(11, dtype=int32, weak_type=True)
    """
    operands = operands if operand is NOT_GIVEN else (*operands, operand)
    if not callable(true_fun) and len(operands) == 2 and callable(false_fun) and callable(operands[1]):
        return _cond_of_two_operands(pred, true_fun, false_fun, *operands)
    _check_functions("cond", {"true_fun": true_fun, "false_fun": false_fun})
    aval = _choice(pred, "cond", "pred", "a boolean or a number")
    if dtypes.is_complex(aval.dtype):
        raise TypeError(f"cond: pred must be a boolean or a real number, not {aval.short()}")
    if settings().disable_jit and not isinstance(pred, Tracer):
        return true_fun(*operands) if pred else false_fun(*operands)
    if aval.dtype != dtypes.bool_:
        pred = ne_p(pred, aval.dtype.type(0))
    named = {"true_fun": true_fun, "false_fun": false_fun}
    return _choose("cond", convert(pred, dtypes.int32), named, operands, order=-1)


def _cond_of_two_operands(pred: Any, true_operand: Any, true_fun: Any, false_operand: Any, false_fun: Any) -> Any:
    """The older form, with an operand for each branch."""
    return cond(pred, lambda x, _: true_fun(x), lambda _, x: false_fun(x), true_operand, false_operand)


def switch(index: ArrayLike, branches: Sequence[Callable[..., S]], *operands: PyTree, operand: PyTree = NOT_GIVEN) -> S:
    """`branches[index](*operands)`; `index`, an integer scalar, is moved into range. Only that branch runs, but under vmap
    with an index that differs between examples: then all do.

    All branches give the same structure, shapes and dtypes. Raises TypeError where they do not (the message names the leaf
    and the line), or the index is not an integer scalar; ValueError without branches.

    >>> lax.switch(2, [jnp.sin, jnp.cos, lambda x: x * 2], 3.0)
    Array(6., dtype=float32, weak_type=True)
    """
    operands = operands if operand is NOT_GIVEN else (*operands, operand)
    named = {f"branches[{i}]": b for i, b in enumerate(branches)}
    if not named:
        raise ValueError("switch needs at least one branch")
    _check_functions("switch", named)
    aval = _choice(index, "switch", "index", "an integer")
    if not dtypes.is_integer(aval.dtype):
        raise TypeError(f"switch: the index must be an integer scalar, not {aval.short()}")
    if notices.listeners and type(index) is int and not 0 <= index < len(named):
        message = f"there are {len(named)} branches, and the index is {index}: the nearest one runs."
        notices.tell("oob-index", message, "Correct the index, or clip it where that is meant.")
    if len(named) == 1:
        return next(iter(named.values()))(*operands)
    last = len(named) - 1
    if settings().disable_jit and not isinstance(index, Tracer):
        return list(named.values())[min(max(int(index), 0), last)](*operands)  # pyright: ignore[reportArgumentType]
    number = clamp_p(np.int32(0), convert(index, dtypes.int32), np.int32(last))
    return _choose("switch", number, named, operands)


def platform_dependent(
    *args: PyTree, default: Callable[..., Any] | None = None, **per_platform: Callable[..., Any]
) -> PyTree:
    """`per_platform[platform](*args)` for the platform the program is compiled for (`cpu`, `cuda`, `tpu`, …), `default` for
    all others. All give the same structure, shapes and dtypes.

    Raises ValueError without any function, NotImplementedError when compiled for a platform that none is for.
    """
    platforms: list[Any] = [(name,) for name in per_platform]
    named = dict(per_platform)
    if default is not None:
        platforms.append(None)
        named["default"] = default
    if not named:
        raise ValueError("platform_dependent needs a function for at least one platform, or a default")
    _check_functions("platform_dependent", named)
    choices = tuple(platforms)
    if len(named) == 1 and default is not None:
        return default(*args)
    index = platform_index_p(platforms=choices)
    return _choose("platform_dependent", index, named, args, branches_platforms=choices)


def _check_functions(what: str, named: dict[str, Any]) -> None:
    for name, f in named.items():
        if not callable(f):
            raise TypeError(f"{what}: {name} must be a function; it is of type {type(f).__name__}")


def _choice(x: Any, what: str, name: str, wanted: str) -> ShapedArray:
    """The aval of what chooses, a scalar."""
    try:
        aval = aval_of(x)
    except TypeError:
        raise TypeError(f"{what}: {name} must be {wanted}, not {type(x).__name__}") from None
    if aval.shape:
        raise TypeError(
            f"{what}: {name} must be a scalar, not {aval.short()}. To choose element by element, use jnp.where; to choose for "
            f"each example, vmap a function with {what}"
        )
    return aval


def _choose(
    what: str, index: Any, named: dict[str, Callable[..., Any]], operands: Sequence[Any], order: int = 1, **params: Any
) -> Any:
    """Bind `cond_p`; `order` -1: branch 0 is the last function."""
    leaves, in_tree = tree.flatten(tuple(operands))
    avals = check_leaves(leaves, tuple(operands), f"{what}: the operands have, at operands")
    bodies = {name: trace_body(f, in_tree, avals) for name, f in named.items()}
    closeds = _same_results(what, named, bodies, order, varying(aval_of(index)))[::order]
    outs = cond_p._bind(closeds, index, leaves, **params)
    return next(iter(bodies.values())).out_tree.unflatten(outs)


def _same_results(
    what: str, named: dict[str, Any], bodies: dict[str, Body], order: int, along: frozenset
) -> list[ClosedJaxpr]:
    """The branches, with results of the same avals: a result is weak if it is in branch 0, as in JAX."""
    (first, body), *others = bodies.items()
    for name, other in others:
        if other.out_tree != body.out_tree:
            error = TypeError(
                with_advice(
                    f"{what}: all branches must return the same structure\n"
                    f"  {_called(first, named)} returns {_shown(body)}\n  {_called(name, named)} returns {_shown(other)}",
                    "return the same containers with the same keys; where a branch has nothing for a leaf, zeros of its shape and dtype",
                )
            )
            raise stepped_on(error, "cond-branch-mismatch", users_source.position_of_result(named[name]))
        rows = _differing(named, first, body, name, other)
        if rows:
            listed = "\n".join(rows)
            error = TypeError(
                with_advice(
                    f"{what}: all branches must return the same shapes and dtypes\n{listed}",
                    _advice(named, first, body, name, other)
                    or "convert one of the results (.astype, jnp.broadcast_to), so that they agree",
                )
            )
            raise stepped_on(
                error, "cond-branch-mismatch", _guilty(body, other) or users_source.position_of_result(named[name])
            )
    avals = [
        with_varying(
            ShapedArray(column[0].shape, column[0].dtype, column[::order][0].weak_type, _said(column)),
            frozenset().union(along, *map(varying, column)),
        )
        for column in zip(*[b.closed.out_avals for b in bodies.values()])
    ]
    return [with_result_avals(b.closed, avals) for b in bodies.values()]


def _said(column: Sequence[ShapedArray]) -> Any:
    """What the types of one result in each branch say of several devices, but for what it varies over."""
    like = next((a for a in column if laid_of(a) is not None), column[0])
    return with_mark(like, nothing, sums_of(like), without_sums(laid_of(like))).mark


def _guilty(body: Body, other: Body) -> source.Position | None:
    """Where the first result was made that differs."""
    for a, b in zip(body.closed.jaxpr.outvars, other.closed.jaxpr.outvars):
        if (a.aval.shape, a.aval.dtype) != (b.aval.shape, b.aval.dtype):
            return place_made(other.closed, b) or place_made(body.closed, a)
    return None


def _called(name: str, named: dict[str, Any]) -> str:
    return f"{name} ({name_of(named[name])})"


def _shown(body: Body) -> str:
    return shown(body.out_tree, short(body.closed.out_avals))


def _unlike(a: ShapedArray, b: ShapedArray) -> bool:
    return (a.shape, a.dtype) != (b.shape, b.dtype) or not lie_alike(a, b)


def _advice(named: dict[str, Any], first: str, body: Body, name: str, other: Body) -> str | None:
    """What to do where results differ in nothing but the mesh axes over which they vary."""
    pairs = list(zip(body.closed.out_avals, other.closed.out_avals))
    if any(_unlike(a, b) for a, b in pairs):
        return None
    a, b = next((a, b) for a, b in pairs if varying(a) != varying(b))
    return vary_alike(f"what {_called(first, named)} returns", a, f"what {_called(name, named)} returns", b)


def _differing(named: dict[str, Any], first: str, body: Body, name: str, other: Body) -> list[str]:
    rows, strict = [], any(source.position_of_function(f) is not None for f in named.values())
    paths = tree.paths_in(body.out_tree)
    for path, a, b in zip(paths, body.closed.jaxpr.outvars, other.closed.jaxpr.outvars):
        if _unlike(a.aval, b.aval) or (strict and varying(a.aval) != varying(b.aval)):
            where = f" at result{path}" if path else ""
            rows.append(f"  {_called(first, named)} gives{where} {a.aval.short()}{made_in(body.closed, a)}")
            rows.append(f"  {_called(name, named)} gives{where} {b.aval.short()}{made_in(other.closed, b)}")
    return rows
