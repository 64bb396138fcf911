"""The ledger's row of a program, whatever other tests compiled before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jitscope as jx
from jitscope_scope import observe


def row_of(function: Callable[..., Any], *args: Any) -> observe.Row:
    """The row of a function's program, run with these arguments; `function` is jitted if it is not. A program that is known
    already gets no new row, so the last one may be another's."""
    jitted = function if hasattr(function, "trace") else jx.jit(function)
    jaxpr = jitted.trace(*args).jaxpr.jaxpr  # first: the call may take what is donated
    jx.block_until_ready(jitted(*args))
    return next(row for row in reversed(list(observe.ledger())) if row.jaxpr is jaxpr and row.entry is not None)
