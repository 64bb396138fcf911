"""The runs of jax's programs, shown to who wants to look at them: those that jax answers from its caches by its hook, after they
ran; those that it compiles when that is done, on the arguments that it is about to run them on."""

from __future__ import annotations

import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from itertools import takewhile
from types import CodeType, FrameType
from typing import Any, Protocol

from jitscope.core import call_sites, source
from jitscope.core.source import Position

from ..observe.values import Evaluable
from ..source_code.frames import outwards
from . import private
from .evaluating import has_references, of_arrays
from .private import TracedCall
from .programs import calls_python
from .signatures import written
from .translating import Translation, debug_of
from .watching import attach, current, users_position


MOST_BYTES = 256 << 20
"""Arguments up to this size are looked at."""
SECONDS = 60.0
"""So long all looks together may take."""
_MOST_PROGRAMS, _LOOPS = 256, ("scan", "while", "cond")


class Program:
    """A program that ran at least once, in our form. `anchor` is an object that it and its trace have in common; `of_library`: it is one
    of jax's own, which serves many lines."""

    def __init__(self, closed: Any):
        self.closed, self.anchor = closed, _anchor(closed.jaxpr)
        self.translation = Translation(closed.jaxpr)
        jaxpr = self.translation.jaxpr
        self.name = debug_of(closed.jaxpr).name
        loops = any(eqn.primitive.name in _LOOPS for eqn in jaxpr.eqns)
        self.of_library = jaxpr.debug.defined is None and not loops
        self.can_be_run = not calls_python(jaxpr) and not has_references(jaxpr) and not getattr(closed, "effects", ())


class Run:
    """A run of a program on arrays. `backward`: the position of the equation whose transpose it is, in a derivative outside of jit;
    `part`: it is a piece of such a derivative, whose results are not only what the user computes."""

    def __init__(
        self, program: Program, args: Sequence[Any], results: Callable[[], list[Any]], frame: FrameType | None
    ):
        self.program, self.args, self._results, self._frame = program, args, results, frame
        eqn = private.transposed(frame)
        self.backward = call_sites.user_position(eqn.source_info.traceback) if eqn is not None else None
        self.part = eqn is not None

    @cached_property
    def evaluable(self) -> Evaluable:
        """The program on its arguments, to be evaluated by parts."""
        return of_arrays(self.program.translation, list(self.program.closed.consts), self.args)

    @cached_property
    def results(self) -> list[Any]:
        """What the compiled program gave, leaf by leaf."""
        return self._results()

    @cached_property
    def site(self) -> Position | None:
        """The user's line that runs it."""
        return users_position(self._frame)

    @cached_property
    def mapped(self) -> bool:
        """Whether `vmap` runs it outside of a compiled function."""
        return any(map(private.maps, self.passed()))

    def passed(self) -> Iterator[CodeType]:
        """The code between the run and the user's line, the innermost first."""
        codes = (frame.f_code for frame in self.stack())
        return takewhile(lambda code: not source.in_program(code.co_filename), codes)

    def stack(self) -> Iterator[FrameType]:
        """The frames from the run outwards."""
        return outwards(self._frame)


class Looker(Protocol):
    """Is shown what ran (`ran`) and what was traced (`traced`: the program's anchor, the Python function and what it was
    called with)."""

    def ran(self, run: Run) -> None: ...
    def traced(self, anchor: Any, fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None: ...


class Runs:
    """Shows a looker what jax runs and traces in this thread, from `begin` to `end`; errors keep jax's frames until then. What the
    looker raises goes no further."""

    def __init__(self, looker: Looker):
        self._looker = looker
        self._hook = private.Hook(self._called)
        self._known: OrderedDict[int, Program] = OrderedDict()
        self._looking, self._spent, self._on = False, 0.0, False

    def begin(self) -> None:
        """Begin, if it has not begun, or go on. Raises Unavailable where jax is not imported."""
        watcher = attach()
        self._hook.stay()
        if not self._on:
            self._on = True
            self._undo = private.whole_tracebacks()
            self._hook.on()
            watcher.lookers = (self._compiled, self._traced)

    def end(self) -> None:
        """Look no more."""
        if not self._on:
            return
        watcher, self._on = current(), False
        self._undo()
        self._hook.off()
        if watcher is not None:
            watcher.lookers = ()
        self._known.clear()

    # --- what jax tells -------------------------------------------------------------------------------------------------

    def _called(self, fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> None:
        frame = sys._getframe(2)

        def run() -> tuple[Any, Any]:
            found = private.called(fun, args, kwargs) if hasattr(fun, "_jit_info") else private.running(frame)
            return found, lambda: private.module("jax.tree_util").tree_leaves(out)

        self._show(run, frame)

    def _compiled(self, frame: FrameType, compiled: private.Compilation) -> None:
        self._hook.stay()

        def run() -> tuple[Any, Any]:
            found = private.running(frame)
            return found, lambda: _run(compiled, found) if found is not None else []

        self._show(run, frame)

    def _traced(self, jaxpr: Any, entered: TracedCall) -> None:
        self._hook.stay()
        if not self._looking:
            fun = written(entered)
            args, kwargs = (entered.args, entered.kwargs) if fun is entered.fun else ((), {})
            self._looker.traced(_anchor(getattr(jaxpr, "jaxpr", jaxpr)), fun, args, kwargs)

    def _show(self, run: Callable[[], tuple[Any, Any]], frame: FrameType | None) -> None:
        watcher = current()
        if self._looking or watcher is None or self._spent > SECONDS:
            return
        self._looking, begun = True, time.perf_counter()
        jax = private.module("jax")
        try:
            with ExitStack() as stack:
                stack.enter_context(watcher.looking_away())
                found, results = run()
                stack.enter_context(jax.ensure_compile_time_eval())
                if found is not None and _can_be_seen(found.args):
                    program = self._program(found.closed)
                    if program.can_be_run:
                        self._looker.ran(Run(program, found.args, results, frame))
        except Exception as error:
            watcher.faults.append(repr(error)[:200])
        finally:
            self._looking = False
            self._spent += time.perf_counter() - begun

    def _program(self, closed: Any) -> Program:
        known = self._known.get(id(closed))
        if known is None:
            known = self._known[id(closed)] = Program(closed)
            while len(self._known) > _MOST_PROGRAMS:
                self._known.popitem(last=False)
        return known


def _anchor(jaxpr: Any) -> Any:
    """A variable that the program defines: jax keeps these where it copies jaxprs."""
    defined = [v for eqn in jaxpr.eqns[-1:] for v in eqn.outvars] or jaxpr.invars
    return defined[0] if defined else jaxpr


def _can_be_seen(args: Sequence[Any]) -> bool:
    """Whether arguments are values that are still there, on one device, and not too large."""
    tracer = private.module("jax").core.Tracer
    arrays = [x for x in args if hasattr(x, "nbytes")]
    if any(isinstance(x, tracer) or (hasattr(x, "is_deleted") and x.is_deleted()) for x in args):
        return False
    single = all(len(x.devices()) == 1 for x in arrays if hasattr(x, "devices"))
    return single and sum(x.nbytes for x in arrays) <= MOST_BYTES


def _run(compiled: private.Compilation, run: private.Run) -> list[Any]:
    """The results of a program that was compiled for a run; what it would take over is copied."""
    jnp = private.module("jax.numpy")
    arrays = [jnp.asarray(x, dtype=aval.dtype) for x, aval in zip(run.args, run.closed.in_avals, strict=True)]
    arrays = [x.copy() if given else x for x, given in zip(arrays, run.donated, strict=True)]
    kept = range(len(arrays)) if compiled.kept is None else sorted(compiled.kept)
    outs = compiled.executable.execute_sharded([private.buffer_of(arrays[i]) for i in kept])
    return [shards[0] for shards in outs.disassemble_into_single_device_arrays()]
