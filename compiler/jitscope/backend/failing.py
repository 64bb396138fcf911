"""The error of a program that could not be run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..core.messages import message_here
from ..core.words import size
from ..xla.errors import XlaError
from ..xla.program import translate


if TYPE_CHECKING:
    from .compile import Program

_PARTS = "compute it in parts (lax.map with batch_size=..., lax.scan), with smaller arrays or with a smaller dtype"


def failure(program: Program, error: BaseException, bufs: Sequence[Any]) -> RuntimeError:
    """jaxlib's error for a run on some buffers as a `DeletedBufferError` or an `XlaError`; where memory is short, it says for what."""
    found = translate(error, bufs)
    if not isinstance(found, XlaError) or found.status != "RESOURCE_EXHAUSTED":
        return found
    sizes = program.executable.memory_stats()
    largest = max(program.out_avals, key=lambda aval: aval.size * aval.dtype.itemsize, default=None)
    result = f" (the largest is {largest.short()})" if largest is not None and len(program.out_avals) > 1 else ""
    needs = (
        f"{size(sizes['output'])} for what it returns{result} and {size(sizes['temp'])} for what it computes in between"
    )
    name = program.debug.name or "the program"
    said = str(found).removeprefix("RESOURCE_EXHAUSTED: ")
    return XlaError(
        message_here(f"RESOURCE_EXHAUSTED: there is not enough memory to run {name}: it needs {needs}. {said}", _PARTS)
    )
