"""The programs a hunt runs: with a flag for each value, up to some values, or a loop that says since when its carry has been bad.

All are jaxprs made from the one that is looked at, and compiled as that was: what they compute beside it are a few reductions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...control.while_loop import while_loop
from ...core import config, dtypes
from ...core.avals import ShapedArray, aval_of
from ...core.jaxpr import Atom, ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var, backward_slice
from ...core.staging import eval_jaxpr, literal_value, trace_to_jaxpr
from ...core.trace import current_trace, evaluation, using
from ...core.varying import summed
from ...named_tuple import NamedTuple
from ...ops.elementwise import and_p, eq_p, imag_p, is_finite_p, ne_p, not_p, or_p, real_p
from ...ops.indexing import dynamic_slice_p
from ...ops.linear import broadcast_in_dim_p, concatenate_p, reshape_p, select_n_p
from ...ops.reduce import reduce_or_p
from ..array import Array, array_on, device_for, one_device, to_array
from ..compile import compile_jaxpr
from ..watching import Test, infinities, nans
from .flat import Flat


# Running -----------------------------------------------------------------------------------------------------------------------


def run(closed: ClosedJaxpr, args: Sequence[Any]) -> list[Array]:
    """The results of a program, compiled with the options of jit where its arguments lie; no argument is donated."""
    options = {"debug_nans": False, "debug_infs": False, "sharp_bits": False, "debug_key_reuse": False}
    with using(evaluation()), config.override(**options):
        device = None if one_device() else device_for(args)
        arrays = [to_array(x) if device is None else array_on(x, device) for x in args]
        layouts = [] if device is None else [x.buf._sharding for x in arrays]
        key = "program", device, *layouts
        if key not in closed.derived:  # nobody else holds it
            if device is not None:
                from ..spreading import spread_for  # of several devices

                device = spread_for(closed, layouts, device)
            closed.derived[key] = compile_jaxpr(closed, device=device)
        return closed.derived[key].run([x.buf for x in arrays])


# Which elements are bad, as operations -------------------------------------------------------------------------------------------


def _bad(x: Any, test: Test) -> Any:
    dtype = aval_of(x).dtype
    if np.issubdtype(dtype, np.complexfloating):
        return or_p(_bad(real_p(x), test), _bad(imag_p(x), test))
    if test is nans:
        return ne_p(x, x)
    outside = not_p(is_finite_p(x))
    return and_p(outside, eq_p(x, x)) if test is infinities else outside


def any_bad(x: Any, test: Test) -> Any:
    """Whether an array has a bad element, as a traced boolean."""
    return reduce_or_p(_bad(summed(x), test), axes=tuple(range(len(aval_of(x).shape))))


def can_be_bad(aval: ShapedArray) -> bool:
    """Whether values of an aval can hold a NaN or an infinity."""
    return not dtypes.is_extended(aval.dtype) and dtypes.is_inexact(aval.dtype) and bool(aval.size)


_TOGETHER = 64


def _stacked(scalars: Sequence[Any]) -> Any:
    """One vector of scalars, joined in groups (one operation with thousands of operands compiles slowly)."""
    parts = [reshape_p(x, new_sizes=(1,)) for x in scalars]
    while len(parts) > 1:
        parts = [concatenate_p(*parts[i : i + _TOGETHER], dimension=0) for i in range(0, len(parts), _TOGETHER)]
    return parts[0]


# Flags -----------------------------------------------------------------------------------------------------------------------------


class Choice(NamedTuple):
    """Stands for the elements of the operand `operand` that the equation `index`, a choice, took."""

    index: int
    operand: int


def flags(flat: Flat, asked: Sequence[Var | Choice], test: Test, shown: Sequence[Var] = ()) -> ClosedJaxpr:
    """A program of what is needed to know of each value asked for whether it has a bad element: it gives a vector of flags, and the
    values `shown`. Made once."""
    key = "flags", test, tuple(asked), tuple(shown)
    if key not in flat.closed.derived:
        flat.closed.derived[key] = _flags(flat, asked, test, shown)
    return flat.closed.derived[key]


def _flags(flat: Flat, asked: Sequence[Var | Choice], test: Test, shown: Sequence[Var]) -> ClosedJaxpr:
    wanted = set(asked)
    needed = needed_for(flat, {*wanted, *shown})

    def program(*args: Any) -> list[Any]:
        found: dict[Any, Any] = {}
        env: dict[Any, Any] = dict(zip(flat.inputs, [*flat.closed.consts, *args]))
        for var, value in list(env.items()):
            if var in wanted:
                found[var] = any_bad(value, test)
        for i in needed:
            eqn = flat.eqns[i]
            for var, value in zip(eqn.outvars, _apply(eqn, env)):
                if var in wanted:
                    found[var] = any_bad(value, test)
            for k in range(1, len(eqn.invars)) if eqn.primitive.name == "select_n" else ():
                if Choice(i, k) in wanted:
                    found[Choice(i, k)] = _chosen(eqn, k, env, test)
        return [_stacked([found[one] for one in asked]), *[env[v] for v in shown]]

    return trace_to_jaxpr(program, flat.closed.in_avals, _named(flat, "with flags"))


def needed_for(flat: Flat, wanted: set[Any]) -> list[int]:
    """The equations that the wanted values come from."""
    makers = (one.index if isinstance(one, Choice) else flat.makers.get(one) for one in wanted)
    return backward_slice(flat.closed.jaxpr, {i for i in makers if i is not None})


_PROPAGATE = {
    "abs", "acos", "acosh", "add", "add_any", "asin", "asinh", "atan", "atan2", "atanh", "broadcast_in_dim", "cbrt", "ceil",
    "checkpoint_name", "concatenate", "copy", "copy_p", "cos", "cosh", "cumsum", "cumprod", "cumlogsumexp", "digamma", "div",
    "dot_general", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "expand_dims", "floor", "lgamma", "log", "log1p", "log2",
    "logistic", "max",
    "min", "mul", "neg", "nextafter", "one_minus_square", "optimization_barrier", "reduce_max", "reduce_min", "reduce_precision", "reduce_prod",
    "reduce_sum", "rem", "reshape", "rev", "round", "rsqrt", "sign", "sin", "sinh", "sqrt", "square", "squeeze", "stop_gradient",
    "sub", "tan", "tanh", "transpose",
}  # fmt: skip


def propagates(eqn: JaxprEqn, test: Test) -> bool:
    """Whether a NaN in an operand is sure to be in the result."""
    if test is not nans or len(eqn.outvars) != 1 or not can_be_bad(eqn.outvars[0].aval):
        return False
    return eqn.primitive.name in _PROPAGATE or eqn.primitive.name == "convert_element_type"


def _chosen(eqn: JaxprEqn, operand: int, env: dict[Any, Any], test: Test) -> Any:
    which, k = _read(eqn.invars[0], env), operand - 1
    shape, given = eqn.outvars[0].aval.shape, eqn.invars[0].aval
    if given.dtype == np.bool_:
        taken = which if k else not_p(which)
    else:
        number = broadcast_in_dim_p(np.asarray(k, given.dtype), shape=given.shape, broadcast_dimensions=())
        taken = eq_p(which, number)
    if given.shape != shape:
        taken = broadcast_in_dim_p(taken, shape=shape, broadcast_dimensions=())
    both = and_p(_bad(_read(eqn.invars[operand], env), test), taken)
    return reduce_or_p(both, axes=tuple(range(len(shape))))


def _apply(eqn: JaxprEqn, env: dict[Any, Any]) -> list[Any]:
    out = current_trace().process(eqn.primitive, tuple(_read(a, env) for a in eqn.invars), eqn.params)
    values = list(out) if eqn.primitive.multiple_results else [out]
    env.update(zip(eqn.outvars, values))
    return values


def _read(atom: Atom, env: dict[Any, Any]) -> Any:
    return literal_value(atom) if isinstance(atom, Literal) else env[atom]


def _named(flat: Flat, what: str) -> DebugInfo:
    return DebugInfo(f"{flat.closed.jaxpr.debug.name} {what}")


# Values ------------------------------------------------------------------------------------------------------------------------------


def values(flat: Flat, args: Sequence[Any], atoms: Sequence[Atom]) -> list[Any]:
    """What the atoms hold: arguments and literals as they are, the rest by a program of the equations they need."""
    given: dict[Any, Any] = dict(zip(flat.inputs, [*flat.closed.consts, *args]))
    wanted = list(dict.fromkeys(a for a in atoms if isinstance(a, Var) and a not in given))
    if wanted:
        old = flat.closed.jaxpr
        key = "values", tuple(wanted)
        if key not in flat.closed.derived:
            smaller = Jaxpr(old.constvars, old.invars, list(wanted), old.eqns, old.effects, _named(flat, "in part"))
            flat.closed.derived[key] = ClosedJaxpr(smaller, flat.closed.consts)
        given.update(zip(wanted, run(flat.closed.derived[key], args)))
    return [literal_value(a) if isinstance(a, Literal) else given[a] for a in atoms]


# Loops -------------------------------------------------------------------------------------------------------------------------------

CLEAN, FROM_THE_START = -2, -1
"""In place of an iteration: not bad, bad before the first one."""


def stopping_loop(eqn: JaxprEqn, test: Test) -> tuple[ClosedJaxpr, list[int]]:
    """A loop that stops before the iteration `stop` (its first argument; operands follow) at the latest. It gives the number of
    iterations, the carry, and, for those parts of the carry whose numbers come second here, since which iteration each has been bad
    without a break; last, since which iteration any of them that was not so before the first one."""
    body = eqn.params["jaxpr" if eqn.primitive.name == "scan" else "body_jaxpr"]
    key = "tracked", eqn.primitive.name, eqn.params.get("length"), eqn.params.get("reverse"), test
    if key not in body.derived:
        body.derived[key] = _tracked(eqn, test)
    return body.derived[key]


def _tracked(eqn: JaxprEqn, test: Test) -> tuple[ClosedJaxpr, list[int]]:
    going, step, init, avals = (_scan if eqn.primitive.name == "scan" else _while)(eqn)
    looked = [k for k, a in enumerate(avals) if can_be_bad(a)]

    def bad(carry: Sequence[Any]) -> Any:
        return _stacked([any_bad(carry[k], test) for k in looked])

    def program(stop: Any, *operands: Any) -> list[Any]:
        carry = init(operands)
        if not looked:
            count, carry = while_loop(
                lambda s: going(operands, s[0], s[1], stop),
                lambda s: (s[0] + np.int32(1), tuple(step(operands, s[0], s[1]))),
                (np.int32(0), tuple(carry)),
            )
            return [count, *carry, np.zeros(0, np.int32), np.int32(CLEAN)]
        first = bad(carry)
        start = select_n_p(first, np.full(len(looked), CLEAN, np.int32), np.full(len(looked), FROM_THE_START, np.int32))

        def one(state: Any) -> Any:
            i, carry, since, together = state
            carry = tuple(step(operands, i, carry))
            now = bad(carry)
            number = broadcast_in_dim_p(i, shape=(len(looked),), broadcast_dimensions=())
            clean = np.full(len(looked), CLEAN, np.int32)
            since = select_n_p(now, clean, select_n_p(since == np.int32(CLEAN), since, number))
            later = reduce_or_p(and_p(now, not_p(first)), axes=(0,))
            started = select_n_p(together == np.int32(CLEAN), together, i)
            together = select_n_p(later, np.int32(CLEAN), started)
            return i + np.int32(1), carry, since, together

        count, carry, since, together = while_loop(
            lambda s: going(operands, s[0], s[1], stop), one, (np.int32(0), tuple(carry), start, np.int32(CLEAN))
        )
        return [count, *carry, since, together]

    stop_aval = aval_of(np.int32(0))
    made = trace_to_jaxpr(
        program, [stop_aval, *[a.aval for a in eqn.invars]], DebugInfo(f"{eqn.primitive.name} watched")
    )
    return made, looked


Going = Callable[[Sequence[Any], Any, Any, Any], Any]
Stepping = Callable[[Sequence[Any], Any, Any], Sequence[Any]]


def _scan(eqn: JaxprEqn) -> tuple[Going, Stepping, Callable[[Sequence[Any]], Sequence[Any]], Sequence[ShapedArray]]:
    params, body = eqn.params, eqn.params["jaxpr"]
    c, m = params["num_consts"], params["num_carry"]
    length = params["length"]

    def going(operands: Sequence[Any], i: Any, carry: Any, stop: Any) -> Any:
        return and_p(i < np.int32(length), i < stop)

    def step(operands: Sequence[Any], i: Any, carry: Sequence[Any]) -> Sequence[Any]:
        at = np.int32(length - 1) - i if params["reverse"] else i
        xs = [_element(x, at) for x in operands[c + m :]]
        return eval_jaxpr(body.jaxpr, body.consts, *operands[:c], *carry, *xs)[:m]

    return going, step, lambda operands: operands[c : c + m], body.out_avals[:m]


def _while(eqn: JaxprEqn) -> tuple[Going, Stepping, Callable[[Sequence[Any]], Sequence[Any]], Sequence[ShapedArray]]:
    params, body, condition = eqn.params, eqn.params["body_jaxpr"], eqn.params["cond_jaxpr"]
    c, b = params["cond_nconsts"], params["body_nconsts"]

    def going(operands: Sequence[Any], i: Any, carry: Any, stop: Any) -> Any:
        (more,) = eval_jaxpr(condition.jaxpr, condition.consts, *operands[:c], *carry)
        return and_p(more, i < stop)

    def step(operands: Sequence[Any], i: Any, carry: Sequence[Any]) -> Sequence[Any]:
        return eval_jaxpr(body.jaxpr, body.consts, *operands[c : c + b], *carry)

    return going, step, lambda operands: operands[c + b :], body.out_avals


def _element(x: Any, i: Any) -> Any:
    aval = aval_of(x)
    starts = [i, *[np.int32(0)] * (len(aval.shape) - 1)]
    one = dynamic_slice_p(x, *starts, slice_sizes=(1, *aval.shape[1:]))
    return reshape_p(one, new_sizes=aval.shape[1:])
