"""The backward pass: a linear jaxpr run in reverse, from cotangents of its results to cotangents of its arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core import call_sites, source
from ..core.avals import cotangent_aval, marked
from ..core.errors import ShardingTypeError
from ..core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from ..core.staging import literal_value, recording
from ..core.trace import current_trace
from ..core.zeros import UndefinedPrimal, Zero, is_zero
from ..ops.cotangents import as_cotangent
from ..ops.families import Bilinear, add_tangents
from ..ops.linear import instantiate


def backward_pass(jaxpr: Jaxpr, consts: Sequence[Any], args: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
    """Cotangents of the arguments, given those of the results.

    `args` are `UndefinedPrimal(aval)` where a cotangent is wanted, else values, whose cotangent is None. The program must be
    linear in the former. Equations on values alone are run forward first. Cotangents may be `Zero`.
    """
    values: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    values.update((v, x) for v, x in zip(jaxpr.invars, args) if type(x) is not UndefinedPrimal)
    linear = _run_values(jaxpr, values)
    totals: dict[Var, Any] = {}
    for atom, ct in zip(jaxpr.outvars, cts):
        _accumulate(totals, values, atom, ct)
    for eqn in reversed(linear):
        _transpose_equation(eqn, values, totals)
    return [totals.get(v, _zero(v)) if type(x) is UndefinedPrimal else None for v, x in zip(jaxpr.invars, args)]


def reduced(jaxpr: Jaxpr, wanted: Sequence[bool]) -> Jaxpr:
    """A linear program without the equations that no argument marked in `wanted` needs for its cotangent."""
    needed = {v for v, w in zip(jaxpr.invars, wanted) if w}
    linear = set(jaxpr.invars)
    eqns = []
    for eqn in jaxpr.eqns:
        read = [a for a in eqn.invars if isinstance(a, Var)]
        if any(a in linear for a in read):
            linear.update(eqn.outvars)
            if not any(a in needed for a in read):
                continue
            needed.update(eqn.outvars)
        eqns.append(eqn)
    return Jaxpr(jaxpr.constvars, jaxpr.invars, jaxpr.outvars, eqns, jaxpr.effects, jaxpr.debug)


def _run_values(jaxpr: Jaxpr, values: dict[Var, Any]) -> list[JaxprEqn]:
    """Run the equations that depend on values alone; the others, in order."""
    linear = []
    for eqn in jaxpr.eqns:
        if all([isinstance(a, Literal) or a in values for a in eqn.invars]):
            with call_sites.written_at(eqn.traceback):
                out = current_trace().process(eqn.primitive, tuple([_read(values, a) for a in eqn.invars]), eqn.params)
            values.update(zip(eqn.outvars, out) if eqn.primitive.multiple_results else [(eqn.outvars[0], out)])
        else:
            linear.append(eqn)
    return linear


def _zero(var: Var) -> Zero:
    """The cotangent of a variable that nothing depends on."""
    mark = getattr(var.aval, "mark", None)
    return Zero(var.aval if mark is None else var.aval.update(sharding=mark.swapped()))


def _read(values: dict[Var, Any], atom: Atom) -> Any:
    if isinstance(atom, Literal):
        return literal_value(atom)
    return values[atom] if atom in values else UndefinedPrimal(atom.aval)


def _accumulate(totals: dict[Var, Any], values: dict[Var, Any], atom: Atom, ct: Any) -> None:
    if ct is None or type(ct) is Zero or isinstance(atom, Literal) or atom in values:
        return
    totals[atom] = add_tangents(totals[atom], ct) if atom in totals else ct


def _transpose_equation(eqn: JaxprEqn, values: dict[Var, Any], totals: dict[Var, Any]) -> None:
    cts = [totals.pop(v, None) for v in eqn.outvars]
    if all([ct is None for ct in cts]):
        return
    cts = [_zero(v) if ct is None else ct for v, ct in zip(eqn.outvars, cts)]
    args = [_read(values, a) for a in eqn.invars]
    if isinstance(eqn.primitive, Bilinear) and all([type(x) is UndefinedPrimal for x in args]):
        raise _not_linear(eqn)
    with call_sites.written_at(call_sites.made_by("transpose", eqn.traceback)):
        found = (_transposed_along_mesh if marked else _transposed)(eqn, cts, args)
        for atom, ct in zip(eqn.invars, found):
            _accumulate(totals, values, atom, ct)


def _transposed(eqn: JaxprEqn, cts: Sequence[Any], args: Sequence[Any]) -> Sequence[Any]:
    return eqn.primitive.transpose(cts if eqn.primitive.multiple_results else cts[0], *args, **eqn.params)


def _transposed_along_mesh(eqn: JaxprEqn, cts: Sequence[Any], args: Sequence[Any]) -> Sequence[Any]:
    """Cotangents that lie as the operands do. Where it is not clear how the operations of the rule are to lie, the compiler
    decides."""
    if all(getattr(a.aval, "mark", None) is None for a in (*eqn.invars, *eqn.outvars)):
        return _transposed(eqn, cts, args)
    from ..core.resharding import as_typed, with_auto_layout  # of several devices

    recorder = recording(current_trace())
    start = 0 if recorder is None else len(recorder.eqns)
    try:
        found = _transposed(eqn, cts, args)
    except (ShardingTypeError, NotImplementedError):
        if recorder is not None:
            del recorder.eqns[start:]
        cts = [ct if is_zero(ct) else with_auto_layout(ct) for ct in cts]
        args = [x if type(x) is UndefinedPrimal else with_auto_layout(x) for x in args]
        found = _transposed(eqn, cts, args)
    wanted = [cotangent_aval(a.aval) for a in eqn.invars]
    return [ct if ct is None or is_zero(ct) else as_cotangent(as_typed(ct, a), a) for ct, a in zip(found, wanted)]


def _not_linear(eqn: JaxprEqn) -> TypeError:
    line = source.position_text(call_sites.user_position(eqn.traceback), " (", ")")
    return TypeError(
        f"the backward pass met {eqn.primitive.name} of two values that both depend on what is differentiated or transposed"
        f"{line}. That is not linear: a derivative rule must be linear in the tangents, and linear_transpose takes a linear "
        "function"
    )


def transposed_fun(closed: ClosedJaxpr, linear: Sequence[bool], cts: Sequence[Any]) -> Callable[..., list[Any]]:
    """The backward pass as a function of flat values: the program's arguments that are not `linear`, then the
    cotangents that are not Zero. It gives the cotangents of the linear arguments, zeros written out."""
    nonzero = [not is_zero(ct) for ct in cts]
    others = sum(not lin for lin in linear)

    def fun(*flat):
        known, given = iter(flat[:others]), iter(flat[others:])
        args = [UndefinedPrimal(aval) if lin else next(known) for aval, lin in zip(closed.in_avals, linear)]
        full = [next(given) if nz else ct for ct, nz in zip(cts, nonzero)]
        outs = backward_pass(closed.jaxpr, closed.consts, args, full)
        return [instantiate(ct) for ct, lin in zip(outs, linear) if lin]

    return fun
