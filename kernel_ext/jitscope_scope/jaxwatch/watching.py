"""Listens to jax, and writes what it traces, lowers and compiles into the ledger.

jax sends an event when a stage starts and when it ends, in the thread of the call, below its stack: what the stage works on stands
in the frames above the listener. A fault of ours ends here; the user's call never sees it.
"""

from __future__ import annotations

import sys
import threading
import time
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from types import CodeType, FrameType
from typing import Any, NamedTuple

from jitscope.backend.caches import Tally, TraceEntry
from jitscope.backend.disk.answer import Answer
from jitscope.backend.function_objects import function_object
from jitscope.backend.signature import message_of, short_repr
from jitscope.core import call_sites, notices, records, source
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import ClosedJaxpr, Jaxpr
from jitscope.core.records import Record
from jitscope.core.source import Position

from ..observe import made_by
from ..observe.recorded_calls import RecordedCall, recorder
from ..observe.stacks import is_installed
from ..source_code.frames import outwards
from . import marks, number_texts, private, programs, reading
from .library_arguments import directly, of_lowered
from .marks import Marking
from .recorded_calls import record
from .retracing import remember
from .signatures import Call, elsewhere, python_function, written
from .translating import Place, Translation, debug_of
from .walking import inner_jaxprs


class _Trace(NamedTuple):
    """A trace that ended: of which call, in how many seconds, and the jaxpr that it gave, weakly, to know it again when it is lowered."""

    call: Call
    seconds: float
    jaxpr: weakref.ref[Any]
    position: Position | None
    call_site: Position | None
    around: Place | None
    recorded: RecordedCall | None
    direct: bool
    lowered: bool = False


class _LoweredProgram(NamedTuple):
    """A program that was lowered and waits for its compilation. `record` begins its steps."""

    record: Record | None
    translation: Translation | None
    trace: _Trace | None
    seconds: float
    small: str
    donated: tuple[int, ...]
    constants: tuple[Any, ...] = ()


class _Local(threading.local):
    def __init__(self) -> None:
        self.markings: list[Marking | None] = []
        self.lowered: _LoweredProgram | None = None
        self.cache: dict[str, float] = {}
        self.off = 0


_MOST_TRACES, _MOST_FAULTS, _MOST_INNER = 256, 20, 100


class Watcher:
    """Watches jax from `attach` to `detach`. `marking`: equations are marked while jax lowers them, so that kernels have origins.
    `faults` are the last errors of ours; `spent` the seconds that watching took."""

    def __init__(self, marking: bool = True) -> None:
        self.marking = marking
        self.faults: deque[str] = deque(maxlen=_MOST_FAULTS)
        self.spent = 0.0
        self.attached = False
        self.lookers: tuple[Callable[..., Any], ...] = ()
        """What is told of each program that was compiled, and of each function that was traced (see `runs`)."""
        self._local = _Local()
        self._traces: OrderedDict[int, _Trace] = OrderedDict()
        self._tallies: dict[int, Tally] = {}
        self._undo: list[Callable[[], Any]] = []
        self._listening: list[Callable[[], Any]] = []

    # --- beginning and end --------------------------------------------------------------------------------------------

    def attach(self) -> None:
        """Begin, once jax is imported. Raises Unavailable where it is not."""
        if self.attached:
            return
        if private.jax() is None:
            raise Unavailable("jax is not imported")
        self._undo.append(source.add_internal(private.folder()))
        self._undo.append(number_texts.install())
        self.attached = True
        self.marking = self.marking and private.can_mark()  # to ask imports modules, which moves jax's caches
        if self.marking:
            reading.install()
        self._register()

    def _register(self) -> None:
        for add, remove, listener in (
            ("register_scalar_listener", "unregister_scalar_listener", self._on_start),
            ("register_event_duration_secs_listener", "unregister_event_duration_listener", self._on_end),
            ("register_event_listener", "unregister_event_listener", self._on_event),
        ):
            if (register := private.monitoring(add)) is not None:
                register(listener)
                unregister = private.monitoring(remove)
                if unregister is not None:
                    self._listening.append(lambda unregister=unregister, listener=listener: unregister(listener))

    def detach(self) -> None:
        """Leave nothing behind: no listener, no mark, no program."""
        self.attached, self.lookers = False, ()
        for undo in (self._listening, self._undo):
            while undo:
                with suppress(Exception):  # somebody removed the listener already
                    undo.pop()()
        marks.sweep()
        self._traces.clear()
        self._tallies.clear()
        programs.drop_all()

    @property
    def hears(self) -> bool:
        """Whether its listeners are there: somebody's `clear_event_listeners()` removes them."""
        return private.listening(self._on_end)

    def mend(self) -> None:
        """Put back listeners that somebody's `clear_event_listeners()` removed, and take away marks that no end took away: for
        a moment when nothing is compiled, between two cells."""
        if not self.attached or private.jax() is None:
            return
        if not self.hears:
            for one in self._listening:
                with suppress(Exception):  # jax no longer knows it
                    one()
            self._listening.clear()
            self._register()
        while self._local.markings:
            self._unmark()

    @contextmanager
    def looking_away(self) -> Iterator[None]:
        """What this thread has jax do inside is not told."""
        self._local.off += 1
        try:
            yield
        finally:
            self._local.off -= 1

    def _guarded(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except Exception as error:
            self.faults.append(short_repr(error))
            return None

    # --- listeners ----------------------------------------------------------------------------------------------------

    def _on_start(self, event: str, value: Any = None, **told: Any) -> None:
        stage = private.STAGES.get(event)
        if stage is None or stage == "trace" or not self.attached or self._local.off:
            return
        begun = time.perf_counter()
        if stage == "compile":
            self._local.cache.clear()
        else:
            frame = sys._getframe(1)
            self._local.markings.append(self._guarded(lambda: self._mark(frame)))
        self.spent += time.perf_counter() - begun

    def _mark(self, frame: FrameType) -> Marking | None:
        closed = private.local(frame, "closed_jaxpr")
        if closed is None or not self.marking or private.names_are_keys():
            return None
        return marks.put(closed.jaxpr)

    def _unmark(self) -> Marking | None:
        marking = self._local.markings.pop() if self._local.markings else None
        if marking is not None:
            marks.take(marking)
        return marking

    def _on_event(self, event: str, **told: Any) -> None:
        if event in (private.HIT, private.MISS):
            self._local.cache[event] = 1.0

    def _on_end(self, event: str, seconds: float, **told: Any) -> None:
        stage = private.STAGES.get(event)
        if stage is None:
            if event in (private.RETRIEVED, private.SAVED):
                self._local.cache[event] = seconds
            return
        if not self.attached or self._local.off:
            return
        begun = time.perf_counter()
        frame, name = sys._getframe(1), str(told.get("fun_name", ""))
        work = {"trace": self._traced, "lower": self._was_lowered, "compile": self._was_compiled}[stage]
        self._guarded(lambda: work(frame, seconds, name))
        self.spent += time.perf_counter() - begun
        if self.lookers and stage == "compile" and (compiled := private.compiled(frame)) is not None:
            self._guarded(lambda: self.lookers[0](frame, compiled))

    # --- stages -------------------------------------------------------------------------------------------------------

    def _traced(self, frame: FrameType, seconds: float, name: str) -> None:
        entered = private.entered(frame)
        if entered is None or is_small(entered.fun) or entered.nested:
            return
        call = Call(entered, frame)
        function, call_site = written(entered, frame), users_position(frame)
        position = definition(function)
        error = private.raised(frame)
        if error is not None:
            remember(error, entered, call.names)
            detail = {"error": type(error).__name__, "message": message_of(error), "nested": False}
            number = records.new_program()
            self._emit(Record("error", call.function, number, seconds, position, call_site, detail, call.signature))
            return
        recorded = record(entered, call.leaves) if recorder.on and function is entered.fun else None
        call.leaves = []
        jaxpr = private.local(frame, "jaxpr")
        if self.lookers and jaxpr is not None:
            self.lookers[1](jaxpr, entered)
        if jaxpr is not None:
            jaxpr, around = getattr(jaxpr, "jaxpr", jaxpr), _of_function(function) or _users_place(frame)
            self._traces[id(jaxpr)] = _Trace(
                call, seconds, weakref.ref(jaxpr), position, call_site, around, recorded, directly(frame)
            )
            while len(self._traces) > _MOST_TRACES:
                self._traces.popitem(last=False)

    def _was_lowered(self, frame: FrameType, seconds: float, name: str) -> None:
        marking = self._unmark()
        closed = private.local(frame, "closed_jaxpr")
        self._local.lowered = None
        if closed is None:
            return
        traced = private.traced(frame)
        trace = self._traces.get(id(traced))
        trace = trace if trace is not None and trace.jaxpr() is traced else None
        site = users_position(frame)
        if trace is None and _belongs_to_jax(closed.jaxpr, frame):
            self._local.lowered = _LoweredProgram(None, None, None, seconds, _operation(name, frame), ())
            _tell_square(closed.jaxpr, site)
            return
        around = trace.around if trace else _users_place(frame)
        names = trace.call.names if trace else ()
        called = (
            of_lowered(debug_of(traced), names, trace.call.own_result, trace.call.returned) if trace and names else None
        )
        translation = Translation(closed.jaxpr, marking.numbers if marking else None, around, called)
        donated = tuple(i for i, given in enumerate(private.local(frame, "donated_invars") or ()) if given)
        if trace is None:
            begin = self._of_transformation(closed.jaxpr, translation.jaxpr, name, site)
        else:
            begin = self._of_trace(id(traced), translation.jaxpr, private.local(frame, "args_flat"), site)
        error = private.raised(frame)
        self._emit(begin)
        if error is not None:
            self._failed(begin, trace, seconds, error)
            return
        self._emit(begin.step_of("lower", seconds))
        held = tuple(getattr(closed, "consts", ()))
        self._local.lowered = _LoweredProgram(begin, translation, trace, seconds, "", donated, held)

    def _of_transformation(self, theirs: Any, jaxpr: Jaxpr, name: str, site: Position | None) -> Record:
        """The begin of a program that a transformation of a jitted function made, outside jit."""
        name, defined = _plain(name), debug_of(theirs).defined
        if name in private.OF_PMAP and (code := _under_pmap(theirs)) is not None:
            name, line = code.co_name, code.co_firstlineno
            defined = Position(code.co_filename, line, line, 0, 0, name)
        called = private.jitted(made_by.below_users(sys._getframe()))
        detail = {"wrappers": self._wrappers(name, defined), "called": called is not None and not is_small(called)}
        return Record("derive", name, records.new_program(), 0.0, defined, site, detail, ClosedJaxpr(jaxpr))

    def _of_trace(self, at: int, jaxpr: Jaxpr, arguments: Any, site: Position | None) -> Record:
        """The begin of a program that was traced: in the same trace as an earlier one, where the arguments of that lay elsewhere."""
        trace, number = self._traces[at], records.new_program()
        signature, spent = trace.call.signature, trace.seconds
        if trace.lowered:
            signature, spent = elsewhere(signature, arguments), 0.0
        self._traces[at] = trace._replace(lowered=True)
        traced = TraceEntry(ClosedJaxpr(jaxpr), None, signature, number)
        site = site if trace.lowered else trace.call_site or site
        detail = {"nested": False, "known": trace.lowered, "direct": trace.direct}
        if trace.recorded is not None:
            recorder.keep(number, trace.recorded)
        return Record("trace", trace.call.function, number, spent, trace.position, site, detail, traced)

    def _wrappers(self, name: str, defined: Position | None) -> list[tuple[str, ...]]:
        """What wraps the function whose program a transformation made another of; nothing for the second part of one, and each function of
        this name and place where it is not known."""
        if "backward pass" in made_by.of_stack(sys._getframe()):
            return []
        if (fun := private.jitted(made_by.below_users(sys._getframe()))) is not None:
            return [function_object(fun).wrappers]
        at = defined and (defined.file, defined.line)
        same = [one for one in self._traces.values() if one.position and (one.position.file, one.position.line) == at]
        return list(dict.fromkeys(one.call.made.wrappers for one in same if one.call.function == name))

    def _was_compiled(self, frame: FrameType, seconds: float, name: str) -> None:
        lowered, self._local.lowered = self._local.lowered, None
        if lowered is None:
            return
        if lowered.record is None or lowered.translation is None:
            detail = {"library": "jax", "loaded": private.HIT in self._local.cache}
            spent = lowered.seconds + seconds
            records.emit(Record("small", lowered.small, 0, spent, None, users_position(frame), detail))
            return
        begin, compiled, cache = lowered.record, private.compiled(frame), dict(self._local.cache)
        if compiled is None:
            error = private.raised(frame) or RuntimeError("the compilation failed")
            self._failed(begin, lowered.trace, seconds, error)
            return
        answer = None
        if private.HIT in cache:
            whole = round(
                cache.get(private.SAVED, 0.0) + cache.get(private.RETRIEVED, 0.0)
            )  # jax drops parts of a second
            answer = Answer(True, whole if whole > 0 else None, at_least=True)
        self._emit(begin.step_of("compile", seconds, {"disk": answer}))
        entry = programs.Entry(compiled, lowered.translation, answer is not None, lowered.constants)
        programs.keep(begin.program, entry)
        kept = None if compiled.kept is None else sorted(compiled.kept)
        takes = programs.ProgramArguments(kept, lowered.donated, entry)
        given = lowered.trace.call.given if lowered.trace else None
        program = programs.Program(entry, takes, Tally())
        self._emit(begin.step_of("foreign", 0.0, payload=(program, given)))

    def _failed(self, begin: Record, trace: _Trace | None, seconds: float, error: BaseException) -> None:
        if trace is not None:
            detail = {"error": type(error).__name__, "message": message_of(error), "nested": False}
            self._emit(begin.step_of("error", seconds, detail, trace.call.signature))

    def _emit(self, record: Record) -> None:
        record.detail["library"] = "jax"
        records.emit(record)


def _plain(name: str) -> str:
    """`f` of `jit(f)`."""
    return name[name.index("(") + 1 : -1] if "(" in name and name.endswith(")") else name


def is_small(fun: Any) -> bool:
    """Whether a function is jax's own: an operation outside of jit."""
    if getattr(fun, "_apply_primitive", False):
        return True
    code = getattr(python_function(fun), "__code__", None)
    if code is None or not code.co_filename.startswith(private.folder()):
        return False
    return isinstance(fun, types.FunctionType) or code.co_filename.endswith(_OF_SHARD_MAP)


_OF_SHARD_MAP = "shard_map.py"
"""The file of jax's whose programs are steps of a `shard_map` outside of jit: it runs operation by operation."""


def _operation(name: str, frame: FrameType | None) -> str:
    """What a small program is called: its operation, or `shard_map` where that runs it on the parts of arrays."""
    files = (one.f_code.co_filename for one in outwards(frame))
    by_shard_map = any(file.endswith(_OF_SHARD_MAP) and file.startswith(private.folder()) for file in files)
    return "shard_map" if by_shard_map else _plain(name)


def _belongs_to_jax(jaxpr: Any, frame: FrameType | None) -> bool:
    """Whether a program was written by jax alone: neither it nor what it holds stems from a function of the user's, other than those
    that run now and asked for the operation."""
    running = {one.f_code for one in outwards(frame)}
    todo, met = [jaxpr], set[int]()
    while todo and len(met) < _MOST_INNER:
        program = todo.pop()
        if id(program) in met:
            continue
        met.add(id(program))
        inside = program is not jaxpr  # an operation alone may stem from a function whose derivative is computed
        if _is_users(program) or (inside and any(_written_by_user(eqn, running) for eqn in program.eqns)):
            return False
        todo += [inner for eqn in program.eqns if eqn.params for _, inner, _ in inner_jaxprs(eqn.params)]
    return True


def _tell_square(jaxpr: Any, site: Position | None) -> None:
    """Tell of an operation outside of jit that makes a square of a column and a row."""
    if notices.listeners and len(jaxpr.invars) == 2:
        for eqn in jaxpr.eqns:
            notices.tell_square(eqn.primitive.name, jaxpr.invars[0].aval, jaxpr.invars[1].aval, site)


def _under_pmap(jaxpr: Any) -> CodeType | None:
    """The user's function in a transformation of what `pmap` jitted, as its equations tell that were written below `pmap`."""
    inside = [
        inner for eqn in jaxpr.eqns for _, inner, _ in inner_jaxprs(eqn.params) if eqn.primitive.name == "shard_map"
    ]
    for eqn in (eqn for inner in inside for eqn in inner.eqns):
        below: list[CodeType] = []
        for code in eqn.source_info.traceback.raw_frames()[0] if eqn.source_info.traceback is not None else ():
            if code.co_filename.startswith(private.folder()) and code.co_filename.endswith("shard_map.py"):
                own = [c for c in below if source.in_program(c.co_filename)]
                if own:
                    return own[-1]
            below.append(code)
    return None


def _written_by_user(eqn: Any, running: set[CodeType]) -> bool:
    handle = eqn.source_info.traceback
    codes = handle.raw_frames()[0] if handle is not None else ()
    own = (c for c in codes if source.in_program(c.co_filename))
    return (code := next(own, None)) is not None and code not in running


def _is_users(jaxpr: Any) -> bool:
    where = debug_of(jaxpr).defined
    return where is not None and not is_installed(where.file)


def definition(fun: Any) -> Position | None:
    return source.position_of_function(python_function(fun))


def _of_function(fun: Any) -> Place | None:
    """The first line of a function of the user's."""
    code = getattr(python_function(fun), "__code__", None)
    return Place(code, 0) if code is not None and source.in_program(code.co_filename) else None


def _users_place(frame: FrameType | None) -> Place | None:
    """The user's line that runs: outside of jax and, where there is such a frame, of installed libraries."""
    installed = None
    for one in outwards(frame):
        file = one.f_code.co_filename
        if not source.is_internal(file):
            if not is_installed(file):
                return Place(one.f_code, one.f_lasti)
            installed = installed or Place(one.f_code, one.f_lasti)
    return installed


def users_position(frame: FrameType | None) -> Position | None:
    """The user's line that runs, from this frame outwards."""
    return call_sites.user_position(_users_place(frame))


_watcher: Watcher | None = None


def attach(marking: bool = True) -> Watcher:
    """The watcher of this process, made and begun if there is none. Raises Unavailable where jax is not imported."""
    global _watcher
    if _watcher is None:
        _watcher = Watcher(marking)
    _watcher.attach()
    return _watcher


def detach() -> None:
    """End watching; nothing is left of it."""
    global _watcher
    watcher, _watcher = _watcher, None
    if watcher is not None:
        watcher.detach()


def current() -> Watcher | None:
    """The watcher of this process, if there is one."""
    return _watcher


def unwatched() -> AbstractContextManager[None]:
    """What this thread has jax do inside is not told, where jax is watched."""
    return _watcher.looking_away() if _watcher is not None else nullcontext()
