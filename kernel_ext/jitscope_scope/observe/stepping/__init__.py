"""A trace, line by line: what Python's frames hold and what stands on the tape after each line, as a document.

`frames` follows the user's functions while they are traced, `tapes` knows what a trace records (`jaxwatch.tapes` of
jax's), `branches` says which lines a call left out, `document` puts it together.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from jitscope.core import records

from ...annotations import TraceDocument
from ..ledger import ledger
from .document import document
from .frames import Follower
from .tapes import OwnTapes, Tapes


__all__ = ["trace_document"]


def trace_document(name: str, trace: Callable[[], Any], tapes: Tapes | None = None) -> TraceDocument:
    """What happens while `trace` runs, a function without arguments that traces the function called `name`; `tapes` are those of the
    library that it is for, by default the compiler's own. Nothing of it is filed; no cache answers for functions of the compiler's own. An error of the traced function is part of the
    document, and not raised."""
    follower = Follower(tapes or OwnTapes())
    token = records.trying.set(True)
    try:
        with contextlib.redirect_stdout(follower.printed):
            error = follower.run(trace)
    finally:
        records.trying.reset(token)
    return document(name, follower, error, ledger().cell_of)
