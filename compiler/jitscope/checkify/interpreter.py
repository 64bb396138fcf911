"""The interpreter behind `checkify`: it runs a program's equations and, beside each that can go wrong, whether it did."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..control.bodies import lift_constants, name_of
from ..control.call import call, jit_p
from ..control.cond import cond_p
from ..control.custom_jvp import custom_jvp_call_p
from ..control.custom_vjp import custom_vjp_call_p
from ..control.custom_vmap import custom_vmap_call_p
from ..control.discharge import run_on_values, uses_refs
from ..control.remat import checkpoint_p
from ..control.rule_values import called_like
from ..control.scan import scan_p
from ..control.shard_map import saved_in_rows, shard_map_p
from ..control.while_loop import while_p
from ..core import call_sites, dtypes
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr, DebugInfo, JaxprEqn, Literal, rearranged, subjaxprs
from ..core.part_types import laid_of
from ..core.resharding import reshard_p
from ..core.shardings import NamedSharding, PartitionSpec
from ..core.staging import eval_jaxpr, literal_value, trace_to_jaxpr
from ..core.trace import current_trace
from ..core.varying import inside, vary_over
from ..core.wrapping import wraps
from ..core.zeros import Zero, zero_of
from ..ops.elementwise import and_p, div_p, eq_p, ge_p, lt_p, ne_p, not_p, or_p
from ..ops.indexing import dynamic_slice_p
from ..ops.linear import convert, instantiate, reshape, select_n_p
from ..ops.reduce import argmax_p, reduce_or_p
from .bounds import first_outside
from .checks import (
    Check,
    DivisionByZeroError,
    Error,
    ErrorCategory,
    Failure,
    Kinds,
    NaNError,
    OOBError,
    check_effect,
    check_p,
    error_of,
    user_checks,
    written_at,
)


_NONE = tree.structure(((), {}))
_INT = np.dtype(np.int32)
_MOVING = frozenset(
    "broadcast_in_dim reshape transpose slice squeeze rev concatenate select_n gather dynamic_slice dynamic_update_slice copy "
    "copy_p convert_element_type reduce_precision stop_gradient real imag complex conj neg abs sign max min clamp reduce_max "
    "reduce_min sort top_k optimization_barrier".split()
)
"""Operations that pass NaNs on and make none."""


def checkify(
    f: Callable[..., Any], errors: Collection[ErrorCategory] = user_checks
) -> Callable[..., tuple[Error, Any]]:
    """The function that gives (error, f(...)): what failed first, as a value that compiled code can carry.

    `errors` are the kinds of checks: `user_checks` (calls of `check`), `nan_checks`, `div_checks` (division by zero),
    `index_checks`, and unions of those (`float_checks`, `automatic_checks`, `all_checks`). `error.get()` is None or
    says what failed and where, `error.throw()` raises it. Arguments that are not arrays reach `f` as they are. Works
    under jit, vmap and grad, and through jit, cond, scan, while_loop, checkpoint, shard_map and functions with derivative rules of
    their own, which they keep.

    Raises TypeError where `f` is no function, and for `errors` that are no kinds of checks.
    """
    if not callable(f):
        raise TypeError(f"checkify wraps functions, not {type(f).__name__}")
    kinds = frozenset(errors) if not isinstance(errors, str) else None
    if kinds is None or not all(isinstance(kind, type) and issubclass(kind, Failure) for kind in kinds):
        raise TypeError(f"checkify: errors is a set of categories, such as checkify.all_checks, not {errors!r}")

    @wraps(f)
    def checked_f(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        trees: list[Any] = []

        def flat() -> list[Any]:
            outs, out_tree = tree.flatten(f(*args, **kwargs))
            trees.append(out_tree)
            return outs

        states: list[_State] = []

        def run(closed: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
            state, outs = _run(closed, args, kinds)
            states.append(state)
            return outs

        closed = trace_to_jaxpr(flat, [], DebugInfo(name_of(f)))
        outs = run_on_values(closed, run) if uses_refs(closed.jaxpr) else run(closed, ())
        state = states[0]
        error = Error(state.code, state.values, tuple(state.checks))
        return error, trees[0].unflatten(outs)

    return checked_f


class _State:
    """What failed first, so far."""

    def __init__(self):
        self.code: Any = convert(np.int32(-1), _INT)
        self.values: list[Sequence[Any]] = []
        self.checks: list[Check] = []

    def add(self, check: Check, failed: Any, values: Sequence[Any] = ()) -> None:
        """A check that may have `failed` (a boolean scalar), and what it tells then."""
        number = np.int32(len(self.checks))
        first = and_p(lt_p(self.code, np.int32(0)), failed)
        self.code = select_n_p(first, self.code, number)
        self.checks.append(check)
        self.values.append(list(values))

    def absorb(self, found: Sequence[Any], checks: Sequence[Check]) -> list[Any]:
        """The state of a program that ran in between, the first of `found`; its results, the rest."""
        code, offset = found[0], np.int32(len(self.checks))
        first = and_p(lt_p(self.code, np.int32(0)), not_p(lt_p(code, np.int32(0))))
        self.code = select_n_p(first, self.code, code + offset)
        start = 1
        for check in checks:
            count = len(check.avals)
            self.checks.append(check)
            self.values.append(list(found[start : start + count]))
            start += count
        return list(found[start:])

    def flat(self) -> list[Any]:
        return [self.code, *[v for row in self.values for v in row]]


def _avals(checks: Sequence[Check]) -> list[ShapedArray]:
    return [ShapedArray((), _INT), *[a.strong() for c in checks for a in c.avals]]


def checked_program(closed: ClosedJaxpr, kinds: Kinds) -> tuple[ClosedJaxpr, tuple[Check, ...]]:
    """The program that gives its state (code, values), then its results; and its checks. Made once."""
    key = ("checkify", kinds)
    if key not in closed.derived:
        checks: list[Check] = []

        def fun(*args: Any) -> list[Any]:
            state, outs = _run(closed, args, kinds)
            checks.extend(state.checks)
            return [*state.flat(), *outs]

        closed.derived[key] = trace_to_jaxpr(fun, closed.in_avals, closed.jaxpr.debug), tuple(checks)
    return closed.derived[key]


def _concerned(closeds: Sequence[ClosedJaxpr], kinds: Kinds) -> bool:
    """Whether something in programs is checked, or has a check that is to be left out."""
    return any(checked_program(c, kinds)[1] or check_effect in c.effects for c in closeds)


def _run(closed: ClosedJaxpr, args: Sequence[Any], kinds: Kinds) -> tuple[_State, list[Any]]:
    """Run the equations under the current trace, and their checks."""
    env: dict[Any, Any] = dict(zip(closed.jaxpr.constvars, closed.consts))
    env.update(zip(closed.jaxpr.invars, args))
    state = _State()

    def read(atom: Any) -> Any:
        return literal_value(atom) if isinstance(atom, Literal) else env[atom]

    for eqn in closed.eqns:  # those that nobody reads, too: a check is a reader
        operands = [read(a) for a in eqn.invars]
        with call_sites.written_at(eqn.traceback):
            outs = _apply(state, eqn, operands, kinds)
        env.update(zip(eqn.outvars, outs))
    return state, [read(a) for a in closed.jaxpr.outvars]


def _apply(state: _State, eqn: JaxprEqn, operands: list[Any], kinds: Kinds) -> list[Any]:
    if eqn.primitive is check_p:
        _users_checks(state, eqn, operands, kinds)
        return []
    if eqn.primitive is shard_map_p:
        return _through_shard_map(state, eqn, operands, kinds)
    enter = _THROUGH.get(eqn.primitive)
    if enter is not None and _concerned([inner for _, inner in subjaxprs(eqn.params)], kinds):
        return enter(state, eqn, operands, kinds)
    if DivisionByZeroError in kinds and eqn.primitive is div_p:
        _division_check(state, operands[1])
    if OOBError in kinds:
        _index_check(state, eqn, operands)
    out = current_trace().process(eqn.primitive, tuple(operands), eqn.params)
    outs = list(out) if eqn.primitive.multiple_results else [out]
    if NaNError in kinds and enter is None and eqn.primitive.name not in _MOVING:
        _nan_check(state, eqn, outs)
    return outs


# Single checks -------------------------------------------------------------------------------------------------------


def _any(x: Any) -> Any:
    return reduce_or_p(x, axes=tuple(range(aval_of(x).ndim))) if aval_of(x).ndim else x


def _users_checks(state: _State, eqn: JaxprEqn, operands: list[Any], kinds: Kinds) -> None:
    """What is asked for of the checks of an equation. Of mapped ones, those of the first example in which one failed."""
    error, mapped = error_of(eqn.params["checks"], operands), eqn.params["mapped"]
    if mapped:
        count = aval_of(error.code).size
        codes = reshape(error.code, (count,))
        at = argmax_p(convert(ge_p(codes, np.int32(0)), _INT), axes=(0,), index_dtype=_INT)
        values = [[_row(reshape(v, (count, *aval_of(v).shape[mapped:])), at) for v in row] for row in error.values]
        error = Error(_row(codes, at), values, error.checks)
    for number, (check, values) in enumerate(zip(error.checks, error.values)):
        if check.category in kinds:
            state.add(check, eq_p(error.code, np.int32(number)), values)


def _row(x: Any, at: Any) -> Any:
    shape = aval_of(x).shape
    piece = dynamic_slice_p(x, at, *[np.int32(0)] * (len(shape) - 1), slice_sizes=(1, *shape[1:]))
    return reshape(piece, shape[1:])


def _division_check(state: _State, divisor: Any) -> None:
    zero = eq_p(divisor, aval_of(divisor).dtype.type(0))
    state.add(Check(DivisionByZeroError, "division by zero", _NONE, (), written_at(call_sites.here())), _any(zero))


def _nan_check(state: _State, eqn: JaxprEqn, outs: Sequence[Any]) -> None:
    failed = None
    for x in outs:
        if dtypes.is_inexact(aval_of(x).dtype):
            found = _any(ne_p(x, x))
            failed = found if failed is None else or_p(failed, found)
    if failed is not None:
        message = f"nan generated by primitive: {eqn.primitive.name}"
        state.add(Check(NaNError, message, _NONE, (), written_at(call_sites.here())), failed)


_INDEX = tree.structure(((), {"axis": 0, "index": 0, "size": 0}))


def _index_check(state: _State, eqn: JaxprEqn, operands: list[Any]) -> None:
    found = first_outside(eqn, operands)
    if found is None:
        return
    failed, index, axis, size = found
    shape = eqn.invars[0].aval.shape
    message = f"out-of-bounds indexing for array of shape {shape}: index {{index}} is out of bounds for axis {{axis}} with size {{size}}"
    scalar = ShapedArray((), _INT)
    state.add(
        Check(OOBError, message, _INDEX, (scalar,) * 3, written_at(call_sites.here())), failed, [axis, index, size]
    )


# Programs that equations hold ----------------------------------------------------------------------------------------


def _through_call(state: _State, eqn: JaxprEqn, operands: list[Any], kinds: Kinds) -> list[Any]:
    inner, checks = checked_program(eqn.params["jaxpr"], kinds)
    if eqn.primitive is jit_p:
        return state.absorb(call(inner, operands, eqn.params["name"]), checks)
    consts, (lifted,) = lift_constants([inner])
    return state.absorb(eqn.primitive.bind(*consts, *operands, **{**eqn.params, "jaxpr": lifted}), checks)


def _through_custom_jvp(state: _State, eqn: JaxprEqn, operands: list[Any], kinds: Kinds) -> list[Any]:
    params, (consts, inner, checks) = eqn.params, _checked_function(eqn, kinds)
    n, m, rule = len(_avals(checks)), len(consts) + eqn.params["num_consts"], eqn.params["jvp"]

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        found = eval_jaxpr(inner.jaxpr, inner.consts, *consts, *operands[: m - len(consts)], *primals)[:n]
        outs, ts = rule(primals, tangents)
        return [*found, *outs], [*map(zero_of, found), *ts]

    more = {**params, "fun": inner, "jvp": called_like(jvp, rule), "num_consts": m}
    return state.absorb(eqn.primitive.bind(*consts, *operands, **more), checks)


def _through_custom_vjp(state: _State, eqn: JaxprEqn, operands: list[Any], kinds: Kinds) -> list[Any]:
    params, (consts, inner, checks) = eqn.params, _checked_function(eqn, kinds)
    n, m, rule = len(_avals(checks)), len(consts) + eqn.params["num_consts"], eqn.params["fwd"]

    def fwd(primals: Sequence[Any], nonzero: Sequence[bool]) -> tuple[list[Any], list[Any], Any]:
        found = eval_jaxpr(inner.jaxpr, inner.consts, *consts, *operands[: m - len(consts)], *primals)[:n]
        outs, residuals, pullback = rule(primals, nonzero)
        return [*found, *outs], residuals, _of_results(pullback, params["fun"].out_avals)

    more = {**params, "fun": inner, "fwd": called_like(fwd, rule), "num_consts": m}
    return state.absorb(eqn.primitive.bind(*consts, *operands, **more), checks)


def _of_results(pullback: Any, avals: Sequence[ShapedArray]) -> Any:
    """A pullback that leaves out the cotangents of the state, which come first."""
    return lambda residuals, cts: pullback(residuals, cts[len(cts) - len(avals) :])


def _checked_function(eqn: JaxprEqn, kinds: Kinds) -> tuple[list[Any], ClosedJaxpr, tuple[Check, ...]]:
    """The function of a call with rules: what it captures now, with its checks, and those."""
    closed, checks = checked_program(eqn.params["fun"], kinds)
    consts, (lifted,) = lift_constants([closed])
    return consts, lifted, checks


def _through_function(state: _State, eqn: JaxprEqn, operands: list[Any], kinds: Kinds) -> list[Any]:
    """A function with a rule for vmap: it loses that."""
    inner, checks = checked_program(eqn.params["fun"], kinds)
    return state.absorb(eval_jaxpr(inner.jaxpr, inner.consts, *operands), checks)


def _through_cond(state: _State, eqn: JaxprEqn, operands: list[Any], kinds: Kinds) -> list[Any]:
    found = [checked_program(b, kinds) for b in eqn.params["branches"]]
    everything = [c for _, checks in found for c in checks]
    branches, offset = [], 0
    for inner, checks in found:
        branches.append(_with_all_slots(inner, checks, everything, offset))
        offset += len(checks)
    params = {k: v for k, v in eqn.params.items() if k != "branches"}
    outs = cond_p._bind(branches, operands[0], operands[1:], **params)
    return state.absorb(outs, everything)


def _with_all_slots(
    inner: ClosedJaxpr, checks: Sequence[Check], everything: Sequence[Check], offset: int
) -> ClosedJaxpr:
    """A branch whose state has the slots of all branches; its own begin at number `offset`."""

    def fun(*args: Any) -> list[Any]:
        outs = eval_jaxpr(inner.jaxpr, inner.consts, *args)
        state = _State()
        for check in everything[:offset]:
            state.checks.append(check)
            state.values.append(_nothing(check))
        results = state.absorb(outs, checks)
        for check in everything[offset + len(checks) :]:
            state.checks.append(check)
            state.values.append(_nothing(check))
        return [*state.flat(), *results]

    return trace_to_jaxpr(fun, inner.in_avals, inner.jaxpr.debug)


def _nothing(check: Check) -> list[Any]:
    return [instantiate(Zero(a.strong())) for a in check.avals]


def _merged(before: Sequence[Any], after: Sequence[Any]) -> list[Any]:
    """The state of a loop after one more iteration: that of the first iteration in which something failed."""
    failed = not_p(lt_p(before[0], np.int32(0)))
    return [select_n_p(failed, new, old) for old, new in zip(before, after)]


def _start(checks: Sequence[Check]) -> list[Any]:
    return [convert(np.int32(-1), _INT), *[v for c in checks for v in _nothing(c)]]


def _through_scan(state: _State, eqn: JaxprEqn, operands: list[Any], kinds: Kinds) -> list[Any]:
    params = eqn.params
    inner, checks = checked_program(params["jaxpr"], kinds)
    c, m = params["num_consts"], params["num_carry"]
    avals, n = inner.in_avals, len(_avals(checks))

    def body(*args: Any) -> list[Any]:
        consts, before, rest = args[:c], args[c : c + n], args[c + n :]
        outs = eval_jaxpr(inner.jaxpr, inner.consts, *consts, *rest)
        return [*_merged(before, outs[:n]), *outs[n:]]

    closed = trace_to_jaxpr(body, [*avals[:c], *_avals(checks), *avals[c:]], inner.jaxpr.debug)
    more = {k: params[k] for k in ("length", "reverse", "unroll")}
    outs = scan_p._bind(closed, [*operands[:c], *_start(checks), *operands[c:]], c, n + m, **more)
    return state.absorb(outs, checks)


def _through_while(state: _State, eqn: JaxprEqn, operands: list[Any], kinds: Kinds) -> list[Any]:
    """What the condition checks is looked at before the loop, and in each iteration after the body."""
    params = eqn.params
    c, b = params["cond_nconsts"], params["body_nconsts"]
    condition, cond_checks = checked_program(params["cond_jaxpr"], kinds)
    inner, body_checks = checked_program(params["body_jaxpr"], kinds)
    checks = [*body_checks, *cond_checks]
    n, k = len(_avals(checks)), len(_avals(cond_checks))
    conds, consts, carry = operands[:c], operands[c : c + b], operands[c + b :]

    def looked_at(conds: Sequence[Any], body_state: Sequence[Any], carry: Sequence[Any]) -> list[Any]:
        """The state after the condition was evaluated on a carry, given that of the body."""
        found = _State()
        found.absorb(body_state, body_checks)
        found.absorb(eval_jaxpr(condition.jaxpr, condition.consts, *conds, *carry)[:k], cond_checks)
        return found.flat()

    def body(*args: Any) -> list[Any]:
        own, rest, before, now = args[:c], args[c : c + b], args[c + b : c + b + n], args[c + b + n :]
        outs = eval_jaxpr(inner.jaxpr, inner.consts, *rest, *now)
        m = len(_avals(body_checks))
        after = looked_at(own, outs[:m], outs[m:])
        return [*_merged(before, after), *outs[m:]]

    avals = [*condition.in_avals[:c], *inner.in_avals[:b], *_avals(checks), *inner.in_avals[b:]]
    closed = trace_to_jaxpr(body, avals, inner.jaxpr.debug)
    plain = rearranged(condition, [*range(c), *_avals(checks), *range(c, len(condition.in_avals))], [k])
    start = looked_at(conds, _start(body_checks), carry)
    outs = while_p._bind(plain, conds, closed, [*conds, *consts], [*start, *carry])
    return state.absorb(outs, checks)


def _through_shard_map(state: _State, eqn: JaxprEqn, operands: list[Any], kinds: Kinds) -> list[Any]:
    """Each device gives its state in a row; it is that of the first one on which something failed."""
    params, inner = eqn.params, eqn.params["jaxpr"]
    same = {name: params[name] for name in ("mesh", "axes", "check")}
    checks: tuple[Check, ...] = ()
    specs: list[Any] = []
    count = len(inner.out_avals)
    with inside(**same):
        if _concerned([inner], kinds):
            checked, checks = checked_program(inner, kinds)
            n = len(_avals(checks))

            def fun(*args: Any) -> list[Any]:
                outs = eval_jaxpr(checked.jaxpr, checked.consts, *args)
                own = [vary_over(x, params["axes"]) for x in outs[:n]] if params["check"] else outs[:n]
                return [*outs[n:], *own]

            inner, specs = saved_in_rows(trace_to_jaxpr(fun, inner.in_avals, inner.jaxpr.debug), count, **same)
    outs = shard_map_p.apply(inner, operands, params["in_specs"], out_specs=(*params["out_specs"], *specs), **same)
    if not specs:
        return outs
    rows = [_whole(x) for x in outs[count:]]
    at = argmax_p(convert(ge_p(rows[0], np.int32(0)), _INT), axes=(0,), index_dtype=_INT)
    return state.absorb([*[_row(x, at) for x in rows], *outs[:count]], checks)


def _whole(rows: Any) -> Any:
    """Rows of all devices on each of them, where a type says how they lie."""
    laid = laid_of(aval_of(rows))
    return rows if laid is None else reshard_p(rows, sharding=NamedSharding(laid.mesh, PartitionSpec()))


_THROUGH = {
    jit_p: _through_call,
    checkpoint_p: _through_call,
    cond_p: _through_cond,
    scan_p: _through_scan,
    while_p: _through_while,
    custom_jvp_call_p: _through_custom_jvp,
    custom_vjp_call_p: _through_custom_vjp,
    custom_vmap_call_p: _through_function,
}
