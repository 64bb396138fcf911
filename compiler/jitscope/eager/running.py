"""How a jaxpr runs outside of any trace.

What runs eagerly, an operation or a function of the library, is traced once for the avals of its operands, compiled, and kept under
a key as a `Run`: what runs it on buffers. This is the one place where eager runs are watched (`debug_nans`, `debug_key_reuse`),
moved to the device on which their arrays are, and compiled with the options that suit small programs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..backend.array import Array, common_device, one_device
from ..backend.compile import Program, compile_jaxpr, relief
from ..backend.watching import Run, with_watches
from ..core import call_sites, notices, records
from ..core.avals import ShapedArray
from ..core.config import settings
from ..core.forgetful_caches import RecencyCache
from ..core.jaxpr import ClosedJaxpr, DebugInfo
from ..core.meshes_in_force import mesh_in_force, on_first_mesh
from ..core.staging import trace_to_jaxpr
from ..xla import client
from ..xla.cpu_tuning import NEWER_EMITTER_FOR, OLDER_EMITTER
from ..xla.errors import XlaError
from ..xla.garbage import collect, due
from ..xla.program import RuntimeFailure


_MAX_PROGRAMS = 4096
_caches: list[Programs] = []


class Programs(RecencyCache):
    """A cache of what runs programs. `make(*key)` makes what `programs[key]` does not find; without it, ask `get` and `again`.
    `clear_programs` empties it."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[..., Any] | None = None):
        super().__init__(_MAX_PROGRAMS)
        self.make = make
        _caches.append(self)

    def __missing__(self, key: Any) -> Any:
        if self.make is None:
            raise KeyError(key)
        return self.again(key) or self.keep(key, self.make(*key))


def clear_programs() -> None:
    """Forget the programs of single operations and of the functions of the library."""
    for cache in _caches:
        cache.clear()


on_first_mesh.append(clear_programs)


def _let_go() -> None:
    for cache in _caches:
        cache.age()


relief.append(_let_go)


def count_runs(ran: Callable[[], None]) -> Callable[[], None]:
    """Call `ran` at each run of an eager program from now on, until the function that this gives is called. While nobody does, a run
    costs nothing more."""
    global due
    before = due

    def asked() -> int:
        ran()
        return before()

    def end() -> None:
        global due
        due = before

    due = asked
    return end


def runner(closed: ClosedJaxpr, finish: Callable[[list[Array]], Any] | None = None, traced_in: float = 0.0) -> Run:
    """What runs a jaxpr on buffers. It gives what `finish` makes of the results; without it, the one result. `traced_in`: the seconds
    that its trace took, for the record."""
    return with_watches(closed, closed.jaxpr.debug.name, _runner(closed, finish, traced_in))


def _runner(closed: ClosedJaxpr, finish: Callable[[list[Array]], Any] | None, traced_in: float) -> Run:
    """The usual program, of one result, does in one frame what `Program.run` does."""
    if not one_device():
        return _by_place(closed, finish, traced_in)
    program = _compiled(closed, settings().default_device, traced_in)
    if finish is not None:
        return lambda bufs: finish(_run(closed, program, bufs))
    if not program.takes_as_given:
        return lambda bufs: _run(closed, program, bufs)[0]
    executable, (aval,) = program.executable, program.out_avals
    handlers = executable.handlers

    def run(bufs: Sequence[Any]) -> Array:
        if due():
            collect()
        try:
            return Array(executable.raw_execute(bufs).consume_with_handlers(handlers)[0], aval)
        except RuntimeFailure:
            pass  # told apart outside, so that the error shown is the only one
        return _run(closed, program, bufs)[0]

    return run


def _run(closed: ClosedJaxpr, program: Program, bufs: Sequence[Any]) -> list[Array]:
    if due():
        collect()
    try:
        return program.run(bufs)
    except XlaError:
        device = common_device(bufs) if bufs else program.executable.device
        if device == program.executable.device and all(client.device_of(buf) == device for buf in bufs):
            raise
    return _there(closed, bufs, device)


def _by_place(closed: ClosedJaxpr, finish: Callable[[list[Array]], Any] | None, traced_in: float) -> Run:
    """Where there are several devices: each call runs where its arrays are, by a program for their layouts."""
    home = settings().default_device

    def run(bufs: Sequence[Any]) -> Any:
        if due():
            collect()
        outs = _there(closed, bufs, common_device(bufs) if bufs else home or client.default_device(), traced_in)
        return outs[0] if finish is None else finish(outs)

    return run


def _there(closed: ClosedJaxpr, bufs: Sequence[Any], device: Any, traced_in: float = 0.0) -> list[Array]:
    from ..backend.spreading import spread_for  # of several devices
    from ..xla.resharding import on

    there = [on(buf, device) for buf in bufs]
    key = ("on device", device, mesh_in_force(), *[buf._sharding for buf in there])
    if key not in closed.derived:
        spread = spread_for(closed, [buf._sharding for buf in there], device, by_itself=True)
        closed.derived[key] = _compiled(closed, spread, traced_in)
    return closed.derived[key].run(there)


def _compiled(closed: ClosedJaxpr, device: Any, traced_in: float) -> Program:
    newer = not OLDER_EMITTER.holds() or any(eqn.primitive.name in NEWER_EMITTER_FOR for eqn in closed.eqns)
    began = time.perf_counter()
    program = compile_jaxpr(closed, () if newer else OLDER_EMITTER.value, device)
    if not program.reused:
        seconds = traced_in + time.perf_counter() - began
        detail = {"loaded": program.entry.loaded}
        records.emit(records.Record("small", closed.jaxpr.debug.name, 0, seconds, None, call_sites.here(), detail))
        if notices.listeners and len(closed.in_avals) == 2:
            notices.tell_square(closed.jaxpr.debug.name, closed.in_avals[0], closed.in_avals[1])
    return program


def trace_arrays(fun: Callable[..., Any], avals: Sequence[ShapedArray], name: str) -> tuple[ClosedJaxpr, Any]:
    """The jaxpr of a function of arrays, and the structure of its result."""
    trees: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        found, out_tree = tree.flatten(fun(*leaves))
        trees.append(out_tree)
        return found

    return trace_to_jaxpr(flat, avals, DebugInfo(name)), trees[0]


def compile_function(fun: Callable[..., Any], avals: Sequence[ShapedArray], name: str) -> Run:
    """What runs a Python function of arrays as one program; it gives what the function gives, an array or a tree of them."""
    began = time.perf_counter()
    closed, out_tree = trace_arrays(fun, avals, name)
    return runner(closed, None if out_tree == _ONE_ARRAY else out_tree.unflatten, time.perf_counter() - began)


_ONE_ARRAY = tree.structure(0)
