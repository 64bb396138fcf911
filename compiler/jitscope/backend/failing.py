"""The error of a program that could not be run."""

from __future__ import annotations

from ..core.annotations import Program
from ..core.messages import message_here
from ..core.words import size
from ..xla.errors import XlaError


_PARTS = "compute it in parts (lax.map with batch_size=..., lax.scan), with smaller arrays or with a smaller dtype"


def run_error(program: Program, error: RuntimeError) -> RuntimeError:
    """The error of a run; where memory is short, one that says for what."""
    if not isinstance(error, XlaError) or error.status != "RESOURCE_EXHAUSTED":
        return error
    sizes = program.executable.memory_stats()
    largest = max(program.out_avals, key=lambda aval: aval.size * aval.dtype.itemsize, default=None)
    result = f" (the largest is {largest.short()})" if largest is not None and len(program.out_avals) > 1 else ""
    needs = (
        f"{size(sizes['output'])} for what it returns{result} and {size(sizes['temp'])} for what it computes in between"
    )
    name = program.debug.name or "the program"
    said = str(error).removeprefix("RESOURCE_EXHAUSTED: ")
    return XlaError(
        message_here(f"RESOURCE_EXHAUSTED: there is not enough memory to run {name}: it needs {needs}. {said}", _PARTS)
    )
