"""The program that a chip's compiler is given: StableHLO with the paths of equations for names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from jitscope.backend.compile import lower_closed
from jitscope.backend.lowering import lower_jaxpr
from jitscope.control.callbacks import calls_python
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import ClosedJaxpr
from jitscope.xla import hlo_module, mlir, portable
from jitscope.xla.errors import XlaError
from jitscope.xla.hlo_module import Computation
from jitscope.xla.partitioning import TARGET
from jitscope.xla.spread import Spread

from ..observe.ledger import Row
from .chips import Platform


class TargetModule(NamedTuple):
    """A module as bytecode or text, for how many devices it was written, whether its layouts are Shardy's, and what is to be said of it."""

    module: bytes
    devices: int
    shardy: bool
    remarks: tuple[str, ...] = ()

    def before(self) -> Sequence[Computation]:
        """The program as HLO, before optimisation; nothing where it cannot be read as such (many devices)."""
        try:
            return hlo_module.computations(hlo_module.unoptimized(self.module))
        except XlaError:
            return ()


def lowered_for(row: Row, platform: Platform) -> TargetModule:
    """A row's program for another platform. Raises Unavailable where it is no longer kept, NotImplementedError for what only the CPU can
    run."""
    return _of_jax(row) if row.library else _own(row, platform)


def _own(row: Row, platform: Platform) -> TargetModule:
    closed, spread = _closed(row), _spread(row)
    donated = row.takes.donated if row.takes is not None else ()
    module = lower_closed(closed, donated, device=spread, platform=platform)
    _refuse_native(row.function, mlir.parse(module))
    return TargetModule(module, len(spread.group.devices) if spread else 1, spread.shardy if spread else True)


def _closed(row: Row) -> ClosedJaxpr:
    """A row's program, where other platforms can run it."""
    closed = row.closed
    if closed is None:
        raise Unavailable(f"the program of {row.function} is no longer kept; call the function again")
    if closed.effects or calls_python(closed.jaxpr):
        raise NotImplementedError(f"{row.function} calls Python functions, in a way that only the CPU has here")
    return closed


def _spread(row: Row) -> Spread | None:
    """The devices that a row's program runs on, where these are several."""
    device: Any = getattr(row.entry.executable, "device", None) if row.entry is not None else None
    return device if type(device) is Spread else None


def _of_jax(row: Row) -> TargetModule:
    entry = row.needed("entry")
    if entry.executable.calls_python:
        raise NotImplementedError(f"{row.function} calls Python functions, which only the CPU has here")
    module = bytes(entry.lowered)
    _refuse_native(row.function, mlir.parse(module))
    remark = "jax lowered it for this machine's own platform: an operation that it lowers otherwise for this chip is compiled as it is here."
    return TargetModule(module, entry.executable.devices, b"sdy." in module, (remark,))


def _refuse_native(name: str, module: Any) -> None:
    """The CPU's library of linear algebra, and operations that Python divides over devices, are in no other compiler."""
    called = set(portable.custom_calls(module))
    if native := sorted(target for target in called if target.startswith("lapack_")):
        raise NotImplementedError(
            f"{name} computes with the CPU's library ({', '.join(native)}), which other platforms do not have"
        )
    if TARGET in called:
        raise NotImplementedError(
            f"{name} has an operation that Python divides over devices, which another process cannot be asked"
        )


def target_text(row: Row, target: str) -> str:
    """The StableHLO of a row's program for GPUs (`cuda:sm_90`, or `cuda`), below remarks on what is not known.

    Raises ValueError for other targets, Unavailable where the program is no longer kept, NotImplementedError for programs that are
    only for the CPU.
    """
    found = _GPUS.fullmatch(target)
    if found is None:
        raise ValueError(f"a target is cuda, with an architecture if you like (cuda:sm_90), not {target!r}")
    if row.library:
        raise NotImplementedError(f"{row.function} is {row.library}'s: jax.export lowers it for other platforms")
    closed = _closed(row)
    if _spread(row) is not None:
        raise NotImplementedError(
            f"{row.function} runs on several devices: it can be shown for another platform on one alone"
        )
    module = lower_jaxpr(closed, row.function, platforms=(found[1],))
    _refuse_native(row.function, module)
    remarks = [
        f"{row.function} as XLA's compiler for {target} would be given it (StableHLO). It was traced on this machine.",
        'What that compiler makes of it (fusions, PTX) is shown for a chip: --target h100, or inspect(f)(x).on("h100").',
    ]
    return "\n".join([*(f"// {line}" for line in remarks), mlir.module_text(module)])


_GPUS = re.compile(r"(cuda)(?::sm_\d+a?)?")
