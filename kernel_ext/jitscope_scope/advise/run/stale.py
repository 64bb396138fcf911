"""Errors about shapes and dtypes whose true cause is a tracer that was kept beyond its trace: the operand that did not fit."""

from __future__ import annotations

from typing import Any, NamedTuple

from jitscope.core import call_sites, stale_operands, unfinished_traces
from jitscope.core.source import Position
from jitscope.core.trace import Tracer

from ... import jaxwatch


class StaleOperand(NamedTuple):
    """The tracer, and the user's lines in which it was made, the innermost first."""

    tracer: Any
    made: list[Position]

    @property
    def where(self) -> Position | None:
        """The line that made it."""
        return self.made[0] if self.made else None

    def said(self) -> str:
        """What is wrong with it, where nobody knows what keeps it."""
        return (
            f"A traced value, {described(self.tracer)}, was made in this line and kept outside of its traced function (in a cache, a dict, an "
            "attribute, a global). That trace has ended, so that it has no value; and where it was used again it does not fit."
        )


def stale_operand(error: BaseException) -> StaleOperand | None:
    """What an error's operation was given of a trace that has ended; None of errors that are about something else."""
    if hasattr(error, "sharp_bit"):
        return None
    if not unfinished_traces.unfinished(error):  # what a trace that failed was given was looked at before that ended
        stale_operands.remember_stale_operand(error, unfinished_traces.operands(error))
    tracer = stale_operands.stale_operand(error)
    if tracer is not None:
        return StaleOperand(tracer, _frames(tracer))
    tracer = jaxwatch.stale_operand(error) if jaxwatch.there() else None
    return StaleOperand(tracer, jaxwatch.frames_made_at(tracer)) if tracer is not None else None


def described(tracer: Any) -> str:
    """`float32[3]`"""
    return f"{tracer.aval.dtype}[{','.join(map(str, tracer.aval.shape))}]"


def _frames(tracer: Tracer) -> list[Position]:
    atom, recorded = getattr(tracer, "atom", None), getattr(tracer.tracing, "eqns", ())
    made = next((eqn for eqn in recorded if atom in eqn.outvars), None)
    at = call_sites.user_frames(made.traceback) if made is not None else []
    return at or [one for one in (tracer.made_at(),) if one is not None]
