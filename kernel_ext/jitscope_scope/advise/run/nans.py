"""What the results of a run show: the first NaN, and derivatives that are not finite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jitscope.backend.hunt import HasCallbacks
from jitscope.backend.hunt.flat import is_of_library
from jitscope.core import call_sites, notices
from jitscope.core.jaxpr import ClosedJaxpr

from ...source_code.edits import Span
from ..diagnostic import Diagnostic, Fix
from ..nans import Report, hunt
from ..nans.report import Answer, is_hidden, where_around


_FILLING = {"gather"}
"""Operations that give NaN on purpose, for indices out of bounds."""
_OVERFLOWING = {"div", "exp", "exp2", "expm1", "sinh", "cosh", "integer_pow", "square"}
"""Operations whose infinities nobody asks for; log(0) says of what cannot be how likely it is."""
FIXES = {
    "silent-nan": "Keep the operands where the operation has a value: jnp.where(ok, x, 1.0) before it.",
    "where-grad-nan": "Make the input of the branch that is not taken harmless, too: safe = jnp.where(ok, x, 1.0); "
    "jnp.where(ok, f(safe), other).",
    "grad-singular-point": "Stay away from the point: sqrt(x + 1e-12), or jnp.where with a harmless value; for norm(x)**2, jnp.sum(x**2).",
}


def tell_nans(closed: ClosedJaxpr, name: str, args: list[Any], outs: list[Any]) -> None:
    """Tell of the first NaN in the results of a run, or of the first infinity in a derivative."""
    try:
        report = hunt(closed, args, name, results=outs)
    except HasCallbacks:
        return
    if report.finding is None and report.found:
        _tell_residual(closed, args)
        _tell_hidden(closed)
    tell_report(report, is_of_library(closed), outs)


def tell_report(report: Answer, of_library: bool, outs: Sequence[Any]) -> None:
    """Tell what a hunt found in a program of the user's, or of the library, that gave these results."""
    finding, cause = report.finding, report.source
    if finding is None or cause is None or finding.primitive in _FILLING:
        return
    if not (report.nan or report.derivative or (not of_library and _is_lost(finding, outs))):
        return
    where = cause.position or (call_sites.here() if of_library else None)
    if where is not None and of_library and not report.derivative and is_hidden(where):
        _hidden.append(notices.Notice(report.sharp_bit, message_of(report), where, _fix(report)))
        del _hidden[:-_MOST_HIDDEN]
    elif where is not None:
        notices.tell(report.sharp_bit, message_of(report), _fix(report), cause.position)


_MOST_HIDDEN = 20
_hidden: list[notices.Notice] = []
"""Of operations that run by themselves: what only a `where` is given, which may not take it."""


def _tell_hidden(closed: ClosedJaxpr) -> None:
    """If the program is a `where`, which gave a NaN that it was given: tell what made it."""
    where = call_sites.here()
    if where is None or where_around(where) is None or call_sites.transforms_of(call_sites.capture()):
        return
    if not is_of_library(closed) or closed.eqns[-1].primitive.name != "select_n":
        return
    for one in list(_hidden):
        if one.where is not None and (one.where.file, one.where.function) == (where.file, where.function):
            _hidden.remove(one)
            with notices.placed(one.where):
                notices.tell(one.sharp_bit, one.message, one.fix)


def _fix(report: Answer) -> str:
    if report.sharp_bit == "silent-nan":
        for cause, fix in _OF_OVERFLOWS.items():
            if cause in report.why:
                return fix
    return FIXES[report.sharp_bit]


_OF_OVERFLOWS = {
    "a softmax of numbers too large": "Subtract the maximum before exp, as jax.nn.softmax and jax.nn.logsumexp do.",
    "is exp of": "Work with the logarithms (jax.nn.logsumexp), or clip what exp is given.",
    "beyond the largest f16": "Compute this in float32, x.astype(jnp.float32), or scale the numbers down first.",
}


def _is_lost(finding: Any, outs: Sequence[Any]) -> bool:
    """Whether an infinity is hardly meant: a number of the user's own program that was divided by zero, or grew too large."""
    numbers = all(out.size == 1 for out, bad in zip(outs, map(_is_infinite, outs)) if bad)
    return finding.primitive in _OVERFLOWING and numbers


def _is_infinite(x: Any) -> bool:
    return x.dtype.kind == "f" and bool(np.isinf(np.asarray(x)).any())


def _tell_residual(closed: ClosedJaxpr, args: list[Any]) -> None:
    """Tell of a backward pass that was given a factor that is not finite: the slope of an operation at this point."""
    bad = {var for var, x in zip(closed.jaxpr.invars, args) if x.dtype.kind == "f" and not np.isfinite(x).all()}
    now = call_sites.capture() if is_of_library(closed) else None
    for eqn in closed.jaxpr.eqns:
        handle = now if "transpose" in call_sites.transforms_of(now) else eqn.traceback
        where = call_sites.user_position(handle)
        if where is not None and "transpose" in call_sites.transforms_of(handle) and bad & {*eqn.invars}:
            around = where_around(where)
            id, message = "grad-singular-point", "for these values the slope of this line is infinite, or NaN."
            if around is not None:
                id = "where-grad-nan"
                message = f"the where in line {around.line} computes both of its branches, and for these values the slope of one of them is infinite, or NaN."
            notices.tell(id, f"the derivative is not finite here: {message}", FIXES[id], where)
            return


def told_of_failure(error: BaseException) -> Diagnostic | None:
    """What an error of `debug_nans` or `debug_infs` tells of, at the line that made the first bad value; None if that is not known."""
    hunted = getattr(error, "hunted", None)
    if hunted is None:
        return None
    (found, handle), report = hunted, Report("", hunted[0])
    if report.finding is None or report.source is None:
        return None
    of_library, line = is_of_library(found.closed), call_sites.user_position(handle)
    where = line if of_library else report.source.position or line
    if where is None:
        return None
    id, message, fix = report.sharp_bit, message_of(report), _fix(report)
    if of_library and "transpose" in call_sites.transforms_of(handle):
        id = "where-grad-nan" if where_around(where) is not None else "grad-singular-point"
        message, fix = SLOPES.format(what="NaN" if report.nan else "infinite"), FIXES[id]
    evidence = tuple(line.strip() for line in str(error).splitlines()[1:])
    return Diagnostic(id, where.file, Span.of(where), message, Fix(fix), evidence, "run")


SLOPES = "the derivative is {what} here though the value is not: the slope of this line is infinite, or has no value, for these numbers."


def message_of(report: Answer) -> str:
    """The message of the diagnostic."""
    finding = report.finding
    iteration = f", in iteration {finding.iterations[-1].number:,}" if finding and finding.iterations else ""
    if report.sharp_bit == "silent-nan":
        return f"the first {'NaN' if report.nan else 'infinity'} appears here{iteration}: {report.why}."
    if report.where is None:
        return f"the derivative is not finite here{iteration}: {report.why}."
    return (
        f"the derivative is {report.what} here{iteration} though the value is not: the where in line {report.where.line} does not take "
        f"this value, but its derivative is computed: {report.why}."
    )
