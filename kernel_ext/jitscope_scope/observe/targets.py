"""What a program would be given to the compiler as for a platform that is not here."""

from __future__ import annotations

import re

from jitscope.backend.lowering import lower_jaxpr
from jitscope.control.callbacks import calls_python
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import ClosedJaxpr
from jitscope.xla import mlir, portable
from jitscope.xla.spread import Spread

from .ledger import Row


_TARGET = re.compile(r"(cuda)(?::sm_\d+a?)?")


def target_text(row: Row, target: str) -> str:
    """The StableHLO of a row's program for GPUs (`cuda:sm_90`, or `cuda`), below remarks on what is not known.

    Raises ValueError for other targets, Unavailable where the program is no longer kept, NotImplementedError for programs that are
    only for the CPU.
    """
    found = _TARGET.fullmatch(target)
    if found is None:
        raise ValueError(f"a target is cuda, with an architecture if you like (cuda:sm_90), not {target!r}")
    if row.library:
        raise NotImplementedError(f"{row.function} is {row.library}'s: jax.export lowers it for other platforms")
    closed = row.closed
    if closed is None:
        raise Unavailable(f"the program of {row.function} is no longer kept; call the function again")
    platform = found.group(1)
    text = mlir.module_text(_lowered(row, closed, platform))
    remarks = [
        f"{row.function} as XLA's compiler for {target} would be given it (StableHLO). It was traced on this machine.",
        'What that compiler makes of it (fusions, PTX) is shown for a chip: --target h100, or inspect(f)(x).on("h100").',
    ]
    return "\n".join([*(f"// {line}" for line in remarks), text])


def _lowered(row: Row, closed: ClosedJaxpr, platform: str) -> object:
    name = row.function
    if row.entry is not None and type(getattr(row.entry.executable, "device", None)) is Spread:
        raise NotImplementedError(f"{name} runs on several devices: it can be shown for another platform on one alone")
    if closed.effects or calls_python(closed.jaxpr):
        raise NotImplementedError(f"{name} calls Python functions, in a way that only the CPU has here")
    module = lower_jaxpr(closed, name, platforms=(platform,))
    native = sorted(target for target in portable.custom_calls(module) if target.startswith("lapack_"))
    if native:
        raise NotImplementedError(
            f"{name} computes with the CPU's library ({', '.join(native)}), which other platforms do not have"
        )
    return module
