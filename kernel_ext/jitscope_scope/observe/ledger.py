"""The ledger: the structured log of the session. It listens to the compiler's records and files them by program.

Rows are small. What views need beside them (the jaxpr) is kept up to a total size, oldest dropped first (a program has
many objects, and all of them cost the garbage collector time), and beyond that as long as its function remembers it.
Neither executables nor users' arrays are kept alive.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from importlib import import_module
from typing import Any

from jitscope.backend.call_arguments import CallArguments, ProgramArguments
from jitscope.backend.disk.answer import Answer
from jitscope.backend.signature import Signature
from jitscope.control.callbacks import calls_python
from jitscope.core import records
from jitscope.core.config import value_of
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import ClosedJaxpr, Jaxpr, count
from jitscope.core.records import Record
from jitscope.core.source import Position, position_in
from jitscope.core.trace import Tracer
from jitscope.named_tuple import NamedTuple

from ..annotations import Position as PositionDocument, SteadyRun
from ..source_code.frames import outwards
from . import made_by
from .differences import UNKNOWN, Difference, closest, together
from .positions import CellOf, no_cell, positions_of
from .signature_texts import result_text
from .small import Small, is_of_notebook
from .stacks import Stacks
from .values_read import ValueRead, traced_with


__all__ = ["Ledger", "Mark", "Row", "ledger"]


Cell = tuple[str, str | None]
MAX_ROWS = 10_000
MAX_EQUATIONS = 20_000
MAX_HISTORY = 64
MAX_SMALL = 10_000
TIMED = ("trace", "lower", "compile", "arguments", "run")
"""The steps whose times a row has."""


class Row:
    """One program: a trace and what became of it.

    `what`: "compiled", "recompiled" (the function had a program before), "reused" (a known program served),
    "traced" (inside another function, for looking at, or only lowered), "failed". `seconds`: duration of each step in seconds.
    `disk`: what the cache on disk said when it was compiled. `tuned`: with what `jitscope.tune` had found it is compiled, "" where it was not
    tuned. `run`: how often the cell that defines the function had been run.
    `looked`: it was made to be looked at. `led`: the line of the running cell that led to the call, where another one stands in between.
    `direct`: the user's own line called the function, and not a library's. `rules`: the transformations that made it outside jit, the last
    one first; `called`: none did, it was compiled for a call, with a trace that was there; `not_first`: such a program of the function
    was compiled before; `values`: what it read from outside when it was traced; `bases`: what wraps the functions that were jitted by this name;
    `takes_types`: the types of what it takes. `library`: whose program it is where it is not jitscope's
    own, such as "jax". `cell_of`: which cell a file is, as its ledger knows.
    """

    signature: Signature | None = None
    what: str = "traced"
    nested: bool = False
    derived: bool = False
    called: bool = False
    not_first: bool = False
    captures: bool = False
    disk: Answer | None = None
    tuned: str = ""
    against: Row | None = None
    calls_before: int = 0  # of the program that it is held against, when it was traced
    number: int = 0
    equations: int = 0
    error: tuple[str, str] | None = None
    result: str = "?"
    steady: SteadyRun | None = None
    shares: dict[str, float] | None = None
    at: float = 0.0
    thread: int = 0
    values: tuple[ValueRead, ...] = ()
    run: int = 0
    last_record: int = 0
    _kept_jaxpr: Jaxpr | None = None
    _jaxpr: Any = None
    _closed: Any = None
    _entry: Any = None
    _traced: Any = None
    _tally: Any = None
    takes: ProgramArguments | None = None
    given: CallArguments | None = None
    library: str = ""
    looked: bool = False
    led: Position | None = None
    direct: bool = True
    rules: tuple[str, ...] = ()
    bases: Collection[tuple[str, ...]] = ()
    takes_types: tuple[str, ...] = ()

    def __init__(
        self, id: int, function: str, position: Position | None, call_site: Position | None, cell: Cell | None = None
    ):
        self.id, self.function, self.position, self.call_site, self.cell = id, function, position, call_site, cell
        self.seconds: dict[str, float] = {}
        self.differences: list[Difference] = []
        self.cell_of: CellOf = no_cell

    @cached_property
    def title(self) -> str:
        """The function's name, with the transformations that made this program of it: "grad of f", "backward pass of f"."""
        if self.signature is not None:
            return made_by.named(self.function, made_by.of_function(self.signature.made, self.position))
        return made_by.named_outside(self.function, self.rules, self.bases, self.position)

    @property
    def title_with_line(self) -> str:
        """The title; of a lambda, which has no name to know it by, with its line."""
        if self.function != "<lambda>" or self.position is None:
            return self.title
        return f"{self.title} (line {self.position.line})"

    @property
    def gives_several(self) -> bool:
        """Whether its result is more than one array."""
        return self.result.startswith("(") or self.result.endswith(" arrays")

    @property
    def jaxpr(self) -> Jaxpr | None:
        """The program, while the ledger keeps it or the function remembers its trace; else None."""
        return self._kept_jaxpr or (self._jaxpr() if self._jaxpr else None)

    def positions(self, stacks: Stacks | None = None) -> dict[str, PositionDocument]:
        """The positions of its equations as documents, by path; see `positions_of`."""
        return positions_of(self.jaxpr, self.cell_of, stacks)

    @property
    def closed(self) -> ClosedJaxpr | None:
        """The program with the values that it captured, while the function remembers its trace (or nothing was captured)."""
        found, jaxpr = self._closed() if self._closed else None, self.jaxpr
        return found or (ClosedJaxpr(jaxpr) if jaxpr is not None and not jaxpr.constvars else None)

    @property
    def dropped(self) -> bool:
        """Whether there was a jaxpr that is no longer kept."""
        return self._jaxpr is not None and self.jaxpr is None

    @property
    def calls(self) -> int:
        """How often the program ran."""
        return self._tally.calls if self._tally else 0

    @property
    def entry(self) -> Any:
        """The compiled program in the cache, or None if it is no longer kept."""
        return self._entry() if self._entry else None

    @property
    def again(self) -> Callable[[], Any] | None:
        """Traces the function once more, for its jaxpr; None where its trace is no longer kept."""
        traced = self._traced() if self._traced else None
        return traced.again if traced else None

    def needed(self, what: str) -> Any:
        """Its `jaxpr`, `closed`, `entry` or `again`, by that name. Raises Unavailable where it is no longer kept."""
        found = getattr(self, what)
        if found is None:
            name = "trace" if what == "again" else "program"
            raise Unavailable(f"the {name} of {self.function} is no longer kept; call the function again")
        return found

    @property
    def identity(self) -> Any:
        """What rows of one function have in common: its name and that of its code, its file and its line (functions that one decorator
        wraps share their code), and what wraps it (its gradient is another function); of a cell's function defined at the top, the
        file and the line are left out, since a cell that is changed and run again has another file."""
        where, made = self.position, self.signature.made if self.signature else None
        if where is None:
            return self.function
        name, wrappers = (made.qualname, made.wrappers) if made else (where.function, ())
        wrappers = (*wrappers, made.column) if made and made.column else wrappers
        if os.path.isfile(where.file) or "<" in name:
            return self.function, name, wrappers, where.file, where.line
        return name, wrappers

    @property
    def cause(self) -> str:
        """Which part of the key was the reason: one of `differences.PARTS`, "" for a first trace."""
        return self.differences[0].part if self.differences and self.against is not None else ""

    @property
    def place(self) -> Position | None:
        """The user's line that stands for the call: the cell's own where a helper makes it."""
        return self.led or self.call_site

    @property
    def loaded(self) -> bool:
        """Whether the executable was loaded from a cache on disk, and not compiled."""
        return self.disk is not None and self.disk.found

    @property
    def spent(self) -> float:
        """Seconds to trace, lower and compile."""
        return sum(self.seconds.get(step, 0.0) for step in ("trace", "lower", "compile"))

    def is_traced_beside(self, later: Row) -> bool:
        """Whether another thread was still tracing this one when a later one began to be traced."""
        return self.thread != later.thread and self.at > later.at - later.seconds.get("trace", 0.0)

    @property
    def because(self) -> str:
        """One sentence: why it was traced or compiled."""
        if self.what == "failed" and self.error:
            return f"failed: {self.error[0]}: {self.error[1]}"
        if self.called:
            return f"{self.library} compiled it for a call, with the trace made of it inside another program or a transformation"
        if self.derived:
            for_it = "for a transformation of the function" if self.rules else "for an operation that runs a function"
            return f"{self.library or 'jitscope'} compiled it outside jit, {for_it}"
        on_disk = f"; {self.disk_said}" if self.disk and (self.disk.found or self.disk.differs) else ""
        on_disk += f"; {'loaded' if self.loaded else 'compiled'} {self.tuned}" if self.tuned else ""
        if self.against is None:
            first = "compiled for other arguments than before" if self.not_first else "first compilation"
            first = "compiled to be looked at" if self.looked else first
            return f"{first}{on_disk}" if self.what == "compiled" else "first trace"
        if self.cause == "class":
            return f"another program: {together(self.differences)}{on_disk}"
        verb = {"recompiled": "recompiled", "reused": "traced again"}.get(self.what, "traced again")
        ending = "; the program was known, nothing was compiled" if self.what == "reused" else ""
        why = together(self.differences)
        return f"{verb} {why if why.startswith('for ') else f'because {why}'}{ending}{on_disk}"

    @property
    def disk_said(self) -> str:
        """What the cache on disk had to say: loaded from there, or why not. Empty where it is off or was not asked."""
        return self.disk.sentence(self.seconds.get("compile", 0.0)) if self.disk else ""


class Mark(NamedTuple):
    """A moment in the ledger, to ask what came after it."""

    record: int
    calls: dict[int, int]


class Ledger:
    """Rows by program, oldest first. A notebook session sets `cell_of`, which says which cell a file is, and `place_now`, which
    says the cell that runs in this thread: rows written meanwhile belong to it; and `run_of`, how often a cell was run."""

    def __init__(self) -> None:
        self.rows: OrderedDict[int, Row] = OrderedDict()
        self.small: deque[Small] = deque(maxlen=MAX_SMALL)
        self.cell_of: CellOf = no_cell
        self.place_now: Callable[[], Cell | None] = lambda: None
        self.run_of: Callable[[str], int] = lambda file: 0
        self._looking: ContextVar[bool] = ContextVar("jitscope_looking", default=False)
        self._history: dict[Any, deque[Row]] = defaultdict(lambda: deque(maxlen=MAX_HISTORY))
        self._compilations: dict[Any, int] = defaultdict(int)
        self._kept: OrderedDict[int, Row] = OrderedDict()
        self._equations = 0
        self._last = 0
        self._lock = threading.RLock()
        self._listeners: list[Callable[[Row], None]] = []
        self._stop = records.listen(self._take)

    def __iter__(self) -> Iterator[Row]:
        with self._lock:
            return iter(list(self.rows.values()))

    def __len__(self) -> int:
        return len(self.rows)

    def close(self) -> None:
        """Stop listening."""
        self._stop()

    def listen(self, listener: Callable[[Row], None]) -> Callable[[], None]:
        """Call `listener` with each row that changed; gives the function that stops it."""
        return records.subscribe(self._listeners, listener)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """What is compiled inside is compiled to be looked at: it is no recompilation, whatever was there before."""
        token = self._looking.set(True)
        try:
            yield
        finally:
            self._looking.reset(token)

    def mark(self) -> Mark:
        """This moment."""
        with self._lock:
            return Mark(self._last, {row.id: row.calls for row in self.rows.values()})

    def since(self, mark: Mark) -> list[Row]:
        """The rows that were written after the mark."""
        return [row for row in self if row.last_record > mark.record]

    def small_since(self, mark: Mark) -> list[Small]:
        """The small programs for operations outside of jit that were made after the mark."""
        return [one for one in list(self.small) if one.record > mark.record]

    def called_since(self, mark: Mark) -> dict[str, int]:
        """How often programs made before the mark ran after it, by function."""
        calls: dict[str, int] = defaultdict(int)
        for row in self:
            more = row.calls - mark.calls.get(row.id, row.calls)
            if more > 0:
                calls[row.title] += more
        return dict(calls)

    def row(self, number: int) -> Row:
        """The row of a program. Raises Unavailable where it is no longer there."""
        found = self.rows.get(number)
        if found is None:
            raise Unavailable(f"the ledger no longer holds program {number}: run the cell again")
        return found

    def function_rows(self, function: str | None) -> list[Row]:
        """The rows of a function by name (all for None)."""
        return [row for row in self if function is None or function in (row.function, row.title)]

    # Filing records

    def _take(self, record: Record) -> None:
        with self._lock:
            self._last = max(self._last, record.number)
            if record.step == "small":
                self._file_small(record)
                return
            row = self._file(record)
            row.last_record = record.number
        if value_of("log_compiles") or value_of("explain_cache_misses"):
            import_module("..logs", __name__).log(row, record)
        records.publish(self._listeners, row)

    def _file_small(self, record: Record) -> None:
        if self._looking.get():
            return
        library, loaded = record.detail.get("library", ""), record.detail.get("loaded", False)
        site = record.call_site if not is_of_notebook(record.call_site) else None
        cell = self.cell_of(site.file) if site is not None else self.place_now()
        self.small.append(Small(record.function, record.seconds, site, library, loaded, cell, record.number))

    def _file(self, record: Record) -> Row:
        row = self.rows.get(record.program)
        if row is None:
            row = self._new_row(record)
        if record.step in TIMED and not record.detail.get("known") and not record.detail.get("watched"):
            row.seconds[record.step] = row.seconds.get(record.step, 0.0) + record.seconds
        getattr(self, f"_{record.step}")(row, record)
        return row

    def _new_row(self, record: Record) -> Row:
        row = Row(record.program, record.function, record.position, record.call_site, cell=self.place_now())
        row.at, row.thread = record.at, threading.get_ident()
        row.cell_of = lambda file: self.cell_of(file)  # that of a session that begins later
        row.run = self.run_of(row.position.file) if row.position else 0
        row.library, row.looked = record.detail.get("library", ""), self._looking.get()
        row.direct, row.led = record.detail.get("direct", True), self._led(row)
        self.rows[row.id] = row
        while len(self.rows) > MAX_ROWS:
            self._forget(self.rows.popitem(last=False)[1])
        return row

    def _led(self, row: Row) -> Position | None:
        """The outermost line of the running cell above the call, if that is another one."""
        found = None
        for frame in outwards(sys._getframe() if row.cell is not None else None):
            if self.cell_of(frame.f_code.co_filename) == row.cell and "run_cell_magic" not in frame.f_code.co_names:
                found = frame  # a magic round the cell leads to all of it
        if found is None:
            return None
        led = position_in(found.f_code, found.f_lasti)
        return (
            led if row.call_site is None or (led.file, led.line) != (row.call_site.file, row.call_site.line) else None
        )

    def _forget(self, row: Row) -> None:
        """Let go of what a row that is no longer listed holds on to, so that rows do not keep each other alive."""
        self._drop_program(row)
        row.against = None
        identity = row.identity
        history = self._history.get(identity)
        if history is not None and row in history:
            history.remove(row)
        if not history:
            self._history.pop(identity, None)
            self._compilations.pop(identity, None)

    def _trace(self, row: Row, record: Record) -> None:
        traced = record.payload
        row.signature, row.nested = traced.signature, record.detail["nested"]
        row._traced = weakref.ref(traced)
        row.captures = any(isinstance(c, Tracer) for c in traced.closed.consts)
        self._explain(row)
        self._history[row.identity].append(row)
        if not record.detail.get("known"):
            row.values = traced_with(traced.signature.made, traced.signature.statics)
        row._closed = weakref.ref(traced.closed)
        self._keep(row, traced.closed.jaxpr)

    def _explain(self, row: Row) -> None:
        """Compare with the earlier rows of the function that ran; those that were only parts of other programs count for such."""
        assert row.signature is not None
        earlier = [
            other
            for other in self._history[row.identity]
            if (row.nested or not other.nested) and not other.looked and not _elsewhere(other.position, row.position)
        ]
        nearest = closest(_of_one_function(earlier, row.signature), row.signature)
        if nearest is None or self._looking.get():
            return
        against: Row = nearest[0]
        row.against, row.calls_before = against, against.calls
        row.differences = nearest[1] or _forgotten(against, row)
        if row.cause in ("function", "closure") and (said := _redefined(against, row)):
            row.differences = [Difference("redefined", "function", *said), *row.differences[1:]]

    def _lower(self, row: Row, record: Record) -> None:
        """A program that is only lowered, or exported, is not compiled yet."""

    def _arguments(self, row: Row, record: Record) -> None:
        """Arrays were made of its arguments: only the time counts."""

    def _compile(self, row: Row, record: Record) -> None:
        tuned = record.detail.get("tuned", "")
        if tuned != row.tuned:  # another program in place of the one that it had
            row.seconds = {**row.seconds, "compile": record.seconds}
            row.seconds.pop("run", None)
            row.steady = row.shares = None
        row.disk, row.tuned = record.detail.get("disk"), tuned
        self._count(row)

    def _count(self, row: Row) -> None:
        if row.derived:
            row.what = "compiled"
        elif row.number == 0:
            identity = row.identity
            self._compilations[identity] += 1
            row.number = self._compilations[identity]
            known = row.number > 1 or (row.against is not None and row.against.what == "reused")
            again = known and row.against is not None and row.cause not in ("redefined", "class")
            row.not_first = row.against is None and any(
                one.called and one is not row and made_by.is_same_function(one, row) for one in self.rows.values()
            )
            row.what = "recompiled" if again else "compiled"

    def _reuse(self, row: Row, record: Record) -> None:
        row.what = "reused"
        self._attach(row, record)

    def _run(self, row: Row, record: Record) -> None:
        self._attach(row, record)

    def _derive(self, row: Row, record: Record) -> None:
        row.derived, row.rules = True, made_by.of_stack(sys._getframe())
        row.called = not row.rules and record.detail.get("called", False)
        row.takes_types = tuple(v.aval.short() for v in record.payload.jaxpr.invars)
        row.bases = record.detail.get("wrappers") or self._bases(row, made_by.transformed(sys._getframe()))
        row._closed = weakref.ref(record.payload)
        self._keep(row, record.payload.jaxpr)

    def _bases(self, row: Row, given: Any) -> list[tuple[str, ...]]:
        """What wraps the function whose program (`given`) a transformation made another of: each candidate where it is not known."""
        same = [other for other in self.rows.values() if other is not row and made_by.is_same_function(row, other)]
        traced = [other for other in same if other.signature is not None]
        exact = [other for other in traced if given is not None and other.jaxpr is given]
        forward = [base for other in same if "forward pass" in other.rules for base in other.bases]
        if not exact and "backward pass" in row.rules and forward:
            return forward
        return [other.signature.made.wrappers for other in exact or traced if other.signature is not None]

    def _program(self, row: Row, record: Record) -> None:
        program, row.given = record.payload
        row.takes, row._entry, row.tuned = ProgramArguments(program), weakref.ref(program.entry), program.entry.tuned

    def _foreign(self, row: Row, record: Record) -> None:
        """A program that another library compiled; whoever watches that library keeps it."""
        program, row.given = record.payload
        row.takes, row._tally, row._entry = program.takes, program.tally, weakref.ref(program.entry)

    def _error(self, row: Row, record: Record) -> None:
        row.what, untold = "failed", row.signature is None
        row.signature, row.nested = record.payload, record.detail["nested"]
        row.error = (record.detail["error"], record.detail["message"])
        if untold:
            self._explain(row)

    def _attach(self, row: Row, record: Record) -> None:
        _, ready, row.given = record.payload
        row._tally = ready.tally
        row.takes, row.tuned = ProgramArguments(ready.program), ready.program.entry.tuned
        row._entry = weakref.ref(ready.program.entry)

    def _keep(self, row: Row, jaxpr: Jaxpr) -> None:
        row._kept_jaxpr, row._jaxpr, row.equations = jaxpr, weakref.ref(jaxpr), count(jaxpr)
        row.result = result_text(jaxpr)
        if calls_python(jaxpr):
            row._kept_jaxpr = None  # the functions it calls may hold anything of the user's alive
        self._kept[row.id] = row
        self._equations += row.equations
        while self._equations > MAX_EQUATIONS and len(self._kept) > 1:
            self._drop_program(next(iter(self._kept.values())))

    def _drop_program(self, row: Row) -> None:
        if self._kept.pop(row.id, None) is not None:
            self._equations -= row.equations
            row._kept_jaxpr = None


def _elsewhere(one: Position | None, other: Position | None) -> bool:
    """Whether these are two lines of one file: two functions that are called the same."""
    return one is not None and other is not None and one.file == other.file and one.line != other.line


_SIDE_BY_SIDE = 3
"""So many functions made by one line, all of them there and with other values captured, are functions of their own."""


def _of_one_function(earlier: Sequence[Row], new: Signature) -> Sequence[Row]:
    """The rows that a function may be compared with: its own, and those of function objects that it stands in place of. Functions
    that one line made for other captured values, a function and a partial of it, that are there side by side are others (up to a few:
    a loop makes more)."""
    others = {
        row.signature.function
        for row in earlier
        if row.signature is not None
        and row.signature.function != new.function
        and row.signature.made.alive
        and _held(row.signature) != _held(new)
    }
    if not 0 < len(others) < _SIDE_BY_SIDE:
        return earlier
    return [row for row in earlier if row.signature is not None and row.signature.function not in others]


def _held(signature: Signature) -> tuple[str, list[int]]:
    """What kind of object a function is, and which values it captured."""
    return signature.made.kind, [one.token for one in signature.made.captures]


def _redefined(old: Row, new: Row) -> tuple[str, str, str] | None:
    """Whether the code that defines the function was run again by the user, and not by a loop or a call: before, after, a remark."""
    if old.position is None or new.position is None or old.signature is None or new.signature is None:
        return None
    again = old.cell != new.cell and new.signature.made.is_compiled_after(old.signature.made)
    if old.position.file == new.position.file and old.run == new.run and not again:
        return None
    (before, _), (after, _) = (row.cell_of(row.position.file) or ("", None) for row in (old, new) if row.position)
    what = "a cell that defines it was run" if after else "the code that defines it was run again"
    if not (before and after and before != after):
        before, after = "one definition", "another"
    return before, after, what


def _forgotten(old: Row, new: Row) -> list[Difference]:
    """Why a trace with an equal key could not serve."""
    assert old.signature is not None and new.signature is not None
    library, cleared = new.library, old.signature.cleared != new.signature.cleared
    if (library or cleared) and (renewed := import_module("..recompiling.stale", __name__).renewals(old)):
        return renewed
    of, before, after = "cache", "kept", UNKNOWN
    if cleared:
        after = "cleared"
        why = f"{library}.clear_caches() was called" if library else "the caches were cleared"
    elif library:
        why = f"for a reason that is not known: {library} had dropped the program, or its key holds something that is not seen"
    elif old.captures:
        before, after = "one trace", "another trace"
        why = "it captured values of an outer trace, so it holds within that one alone"
    elif old.signature.dropped != new.signature.dropped:
        after = "dropped"
        why = "the function was called with more kinds of arguments than are remembered"
    elif old.is_traced_beside(new):
        of, before, after = "thread", "one call", "another call"
        why = "two threads called the function at the same time, and each traced it"
    else:
        why = "for a reason that is not known: all that is recorded of the key is the same"
    return [Difference("cache", of, before, after, why)]


_session = Ledger()


def ledger() -> Ledger:
    """The ledger of this process."""
    return _session
