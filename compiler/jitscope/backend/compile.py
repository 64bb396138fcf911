"""The executable cache: from a jaxpr to a program that runs, compiled once for each structure."""

from __future__ import annotations

import itertools
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..control.discharge import pure_program
from ..core import call_sites, config, records
from ..core.annotations import Orders, Rewrite
from ..core.avals import ShapedArray, physical
from ..core.dtypes import float0
from ..core.hashing import SMALL, StructuralHash, structural_hash
from ..core.jaxpr import NO_DEBUG, ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, walk
from ..core.trace import Tracer, leak_error
from ..named_tuple import NamedTuple
from ..symbolic.dimension import is_static
from ..symbolic.solving import Solution, solve
from ..xla import client, donations, mappings, mlir, processes
from ..xla.callbacks import answer as answer_python, calls_python
from ..xla.choice import PLAIN, Choice, choosing
from ..xla.errors import XlaError, translate
from ..xla.garbage import collect, due
from ..xla.program import Executable, RuntimeFailure, checked_flag, compile_options
from ..xla.spread import MeshLayouts, Spread, called
from .array import Array, array_on, one_device, result_of, to_array
from .compiling_anew import turn
from .disk import programs as disk
from .disk.answer import Answer
from .disk.key import DiskQuery, Refusal
from .donating import usable, warn_unusable, with_own_buffers
from .failing import run_error
from .guarding import without_guards
from .guards import guards
from .tuning_records import TuningRecord, kept_for


ORPHANS = 12 << 20
"""The memory (estimated, in bytes) that programs may hold whose functions are gone: a cell that is run again usually finds its own."""
_LOOK_EVERY = 64
_HIGHEST_SHARE = 0.6
relief: list[Callable[[], None]] = []
"""Called when compiled programs hold too much of what the process may have: caches above let go of theirs."""
Options = tuple[tuple[str, Any], ...]


def options_of(flags: Mapping[str, Any]) -> Options:
    """XLA flags by name, as keys have them. Raises TypeError for names that are no strings and values that are no bool, int,
    float or str."""
    return tuple(sorted(checked_flag(name, value) for name, value in flags.items()))


class Program:
    """A compiled jaxpr, ready to run.

    `kept` are the indices of the arguments it takes (those nobody reads are dropped), `hidden` the buffers of captured
    arrays, passed first. The executable may be shared with programs of the same structure (`reused`); `number` is the
    one under which it was compiled, `lowered` its MLIR bytecode. `orders`: how the axes of what it takes and gives lie in
    memory, where that was asked for (see `arranged`).
    """

    __slots__ = (
        "__weakref__", "debug", "donated", "entry", "executable", "gives_float0", "hidden", "kept", "orders", "out_avals",
        "reused", "takes_as_given",
    )  # fmt: skip

    def __init__(
        self,
        entry: _Entry,
        hidden: list[Any],
        kept: list[int],
        arguments: int,
        out_avals: list[ShapedArray],
        reused: bool,
        donated: Sequence[int] = (),
        debug: DebugInfo = NO_DEBUG,
    ):
        self.debug = debug
        self.executable, self.entry, self.hidden, self.kept = entry.executable, entry, hidden, kept
        self.out_avals, self.reused = out_avals, reused
        self.donated = tuple(donated)
        self.orders: Any = None
        self.gives_float0 = any(aval.dtype == float0 for aval in out_avals)
        self.takes_as_given = not (hidden or donated) and kept == list(range(arguments)) and not self.gives_float0
        entry.users += 1

    def __del__(self) -> None:
        self.entry.users -= 1
        if not self.entry.users and _orphaned is not None:  # nothing is left of this module when the interpreter ends
            _orphaned(self.entry)

    def tell_donated(self, bufs: Sequence[Any]) -> None:
        """Remember, for the error of whoever uses them again, who took the memory of these donated arguments. (XLA may have
        left some alone.)"""
        gone = {i: buf for i, buf in zip(self.donated, bufs) if client.is_deleted(buf)}
        debug, numbers, handle = self.debug, list(gone), call_sites.capture()
        donations.note(list(gone.values()), lambda n: _donation(debug, numbers[n], handle))

    @property
    def number(self) -> int:
        return self.entry.number

    @property
    def lowered(self) -> bytes:
        return self.entry.lowered

    def run(self, bufs: Sequence[Any]) -> list[Array]:
        """Run on the buffers of all arguments; raises DeletedArrayError and XlaError."""
        given = bufs = with_own_buffers(bufs, self.donated) if self.donated else bufs
        if not self.takes_as_given:
            bufs = [*self.hidden, *[bufs[i] for i in self.kept]]
        executable = self.executable
        if due():
            collect()
        try:
            outs = executable.raw_execute(bufs).consume_with_handlers(executable.handlers)
        except RuntimeFailure as error:
            raise run_error(self, translate(error, bufs)) from None
        if self.donated:
            self.tell_donated([given[i] for i in self.donated])
        make = result_of if self.gives_float0 else Array
        return [make(buf, aval) for buf, aval in zip(outs, self.out_avals)]


class SpreadProgram(Program):
    """A program over several devices. Arguments that lie otherwise than it takes them are moved."""

    __slots__ = ("spread",)

    def placed(self, bufs: Sequence[Any]) -> list[Any]:
        """The buffers of all arguments as the program takes them."""
        from ..xla.resharding import in_layout

        found = list(bufs)
        for at, i in zip(self.spread.ins[len(self.hidden) :], self.kept):
            if found[i]._sharding is not at:
                found[i] = in_layout(found[i], at)
        return found

    def takes_in_place(self, bufs: Sequence[Any]) -> bool:
        """Whether the buffers of all arguments lie as the program takes them."""
        return all(bufs[i]._sharding is at for at, i in zip(self.spread.ins[len(self.hidden) :], self.kept))

    def run(self, bufs: Sequence[Any]) -> list[Array]:
        return super().run(self.placed(bufs))


class NamedProgram(Program):
    """A program on one device whose results are known by a mesh of it: `names` are their layouts."""

    __slots__ = ("names",)

    def run(self, bufs: Sequence[Any]) -> list[Array]:
        from ..xla.resharding import on

        outs = super().run([on(buf, self.executable.device) for buf in bufs])
        return [Array(called(x.buf, at), x.aval) if type(x) is Array else x for x, at in zip(outs, self.names)]


def _donation(debug: DebugInfo, argument: int, handle: Any) -> donations.Story:
    """Who took the memory of a donated argument, in words. (It holds no program: stories outlive those.)"""
    names = debug.arg_names
    name = names[argument] if argument < len(names) else str(argument)
    where = call_sites.user_position(handle)
    line = f" in line {where.line} of {where.function}, {where.text.strip()}," if where else ""
    return donations.Story(
        f"its memory was given away as argument {name} of {debug.name}{line} which donates it", where
    )


class _Entry:
    """An executable in the cache with what is needed to share it: its MLIR bytecode (or what gives it), the XLA options it was
    compiled with (`overrides`), the number it was filed under, whether it was loaded from disk, what it was `tuned` to in words, the `options` of its call, and when it was last asked for (`asked`, in the order of such
    calls)."""

    __slots__ = (
        "__weakref__", "_lowered", "argument_avals", "asked", "executable", "hash", "loaded", "number", "options", "overrides", "size",
        "tuned", "users",
    )  # fmt: skip

    def __init__(
        self,
        executable: Executable,
        lowered: bytes | Callable[[], bytes],
        key: StructuralHash | None,
        number: int,
        argument_avals: list[ShapedArray],
        overrides: Mapping[str, Any],
        bytecode: int,
        loaded: bool = False,
        tuned: str = "",
        options: Options = (),
    ):
        self.loaded, self.tuned, self.options = loaded, tuned, options
        self.executable, self._lowered, self.hash, self.number = executable, lowered, key, number
        self.overrides = overrides
        self.argument_avals = argument_avals
        self.size, self.users, self.asked = _SIZE_OF_NONE + _SIZE_OF_BYTECODE * bytecode, 0, next(_asked)

    @property
    def lowered(self) -> bytes:
        if callable(self._lowered):
            self._lowered = self._lowered()
        return self._lowered


_SIZE_OF_NONE, _SIZE_OF_BYTECODE = 150_000, 200
"""The memory of a program, estimated: measured from 5 to 500 equations, it takes 200 times its MLIR bytecode and a little."""
_entries: weakref.WeakValueDictionary[Any, _Entry] = weakref.WeakValueDictionary()
_orphans: dict[_Entry, None] = {}
_asked = itertools.count()
_freed = 0
_lock = threading.RLock()


def _orphaned(entry: _Entry) -> None:
    """Keep an entry that no program uses any more, and let go of those asked for longest ago. (Not of those that died first:
    Python's collector finds programs dead in any order. This runs wherever a program dies: it takes no lock.)"""
    global _freed
    _orphans[entry] = None
    kept = sorted(_orphans.copy(), key=lambda e: e.asked)
    size = sum(e.size for e in kept)
    for oldest in kept:
        if size <= ORPHANS:
            return
        size -= oldest.size
        if _orphans.pop(oldest, oldest) is None:
            _freed += 1


def clear_executables() -> None:
    """Forget all compiled programs."""
    with _lock:
        _entries.clear()
        _orphans.clear()


class PreparedProgram(NamedTuple):
    """A jaxpr with all that compiling it takes: its form with the captured arrays as leading arguments (`lifted`), which hash as `key`;
    the buffers of these (`hidden`); of its own arguments the numbers of those that the program takes (`kept`), and of those among all
    whose memory results may take (`donated`), which the program calls `taken`."""

    closed: ClosedJaxpr
    lifted: ClosedJaxpr
    hidden: list[Any]
    kept: list[int]
    key: StructuralHash
    options: Options
    device: Any
    donated: Sequence[int]
    taken: tuple[int, ...]
    orders: Any

    @property
    def where(self) -> tuple[Any, ...]:
        """What the cache in memory finds it by."""
        return self.key.digest, self.options, self.device, self.taken, self.orders

    @property
    def outputs(self) -> list[tuple[tuple[int, ...], Any]]:
        """The shapes and dtypes of what its program gives."""
        return [(below.shape, below.dtype) for below in map(physical, self.lifted.out_avals)]

    @property
    def tunable(self) -> bool:
        """Whether it is one that `jitscope.tune` knows: for one device, with arrays that lie as they come."""
        return type(self.device) is not Spread and self.orders is None

    def place_on_disk(self, choice: Choice = PLAIN) -> DiskQuery | Refusal | None:
        """Where it is kept on disk, compiled so, or why it is not; None where nothing is."""
        if self.orders:
            return None
        return disk.query_of(self.lifted, self.key, (*self.options, *choice.as_options()), self.device, self.taken)

    def lowered(self, choice: Choice = PLAIN) -> bytes:
        """Its MLIR bytecode, lowered so."""
        from .lowering import lower_jaxpr  # programs that are found are not lowered

        name, spread = self.lifted.jaxpr.debug.name, _spread(self.device)
        with choosing(choice):
            return mlir.to_bytecode(lower_jaxpr(self.lifted, name, self.taken, spread=spread, orders=self.orders))

    def flags(self, choice: Choice = PLAIN) -> dict[str, Any]:
        """The XLA flags that it is compiled with; those of the call's own options before all others."""
        return {**guards(self.lifted.jaxpr, dict(choice.flags)), **dict(self.options)}


def compilation_input(
    closed: ClosedJaxpr,
    options: Options = (),
    device: Any = None,
    donated: Sequence[int] = (),
    keep_unused: bool = False,
    orders: Orders | None = None,
    tell: bool = True,
) -> PreparedProgram:
    """What `compile_jaxpr` compiles. `tell`: UserWarning tells of donated arguments that no result fits. Raises NotImplementedError for
    symbolic dimensions."""
    device = device.group if type(device) is MeshLayouts else device or client.default_device()
    closed = pure_program(closed)[0]
    if not all(is_static(a.shape) for a in closed.in_avals):
        raise NotImplementedError(
            f"{closed.jaxpr.debug.name} was traced for symbolic dimensions, {', '.join(a.short() for a in closed.in_avals)}: it can "
            "be exported (jitscope.export), not compiled, before its sizes are known"
        )
    place = device.group if type(device) is Spread else device
    kept = _kept_arguments(closed, keep_unused)
    donated = _donated(closed, donated, kept, tell)
    lifted, hidden, embedded = _split_constants(closed, place, kept)
    if type(device) is Spread:
        device = device._replace(ins=(*[buf._sharding for buf in hidden], *[device.ins[i] for i in kept]))
    key = structural_hash(lifted, embedded)
    lifted = ClosedJaxpr(lifted.jaxpr, embedded)
    taken = tuple(len(hidden) + kept.index(i) for i in donated)
    orders = orders and orders.taking(len(hidden), kept)
    return PreparedProgram(closed, lifted, hidden, kept, key, options, device, donated, taken, orders)


def forget_program(made: PreparedProgram) -> Any:
    """Let go of the program in memory, so that it is compiled anew when it is asked for; gives what those who use it hold, None where
    there is none."""
    with _lock:
        entry = _entries.pop((*made.where, turn()), None)
        if entry is not None:
            _orphans.pop(entry, None)
    return entry


def compile_jaxpr(
    closed: ClosedJaxpr,
    options: Options = (),
    device: Any = None,
    number: int | None = None,
    note: records.Record | None = None,
    donated: Sequence[int] = (),
    lowered: bytes | None = None,
    keep_unused: bool = False,
    orders: Orders | None = None,
) -> Program:
    """The program of a jaxpr on a device: from the cache if one of the same structure was compiled, else compiled now.

    `number` files the steps under a program number in the ledger; `note` gives their function and position. `donated`
    are the indices of arguments whose memory results may take; UserWarning tells of those that no result fits. `lowered`
    is what `lower_closed` gave, if it was called. `keep_unused`: the program takes the arguments that nobody reads, too. `orders`: how
    the axes of arguments and results lie in memory.
    """
    names = device.outs if type(device) is MeshLayouts else None
    made = compilation_input(closed, options, device, donated, keep_unused, orders, tell=lowered is None)
    closed, device, hidden, kept, orders = made.closed, made.device, made.hidden, made.kept, made.orders
    where = (*made.where, turn())
    with _lock:
        entry = _entries.get(where)
        if entry is not None:
            entry.asked = next(_asked)
            _orphans.pop(entry, None)
    reused = entry is not None
    if entry is None:
        number = number or records.new_program()
        entry = _build(made, number, note, lowered)
        if type(device) is Spread and processes.joined is not None:
            entry.executable.check_together(_said(made.lifted, device))
        with _lock:
            _entries[where] = entry
        _watch_mappings()
    kind = SpreadProgram if type(device) is Spread else Program if names is None else NamedProgram
    program = kind(
        entry, hidden, kept, len(closed.in_avals), closed.out_avals, reused, made.donated, closed.jaxpr.debug
    )
    if isinstance(program, SpreadProgram):
        program.spread = device
    if isinstance(program, NamedProgram):
        program.names = names
    if orders is not None:
        program.orders = (*entry.executable.orders(), orders.outs)
    return program


_built = 0


def _watch_mappings() -> None:
    """Let go of programs before the process runs out of memory mappings (it would crash), and hand back the memory of those
    that are gone."""
    global _built, _freed
    _built += 1
    collect()
    if _freed >= _LOOK_EVERY:
        _freed = 0
        mappings.give_back()
    if _built % _LOOK_EVERY or mappings.share_used() < _HIGHEST_SHARE:
        return
    _orphans.clear()
    for let_go in relief:
        let_go()


def _said(lifted: ClosedJaxpr, device: Spread) -> str:
    """What tells a program from others to other processes: its name, types and layouts, and a digest of its equations' names and types.
    (Their other parameters may be functions, which have other addresses elsewhere.)"""
    types = ", ".join(f"{a.short()} {at.hlo}" for a, at in zip(lifted.in_avals, device.ins))
    short = lambda atoms: " ".join(a.aval.short() for a in atoms)
    told = [f"{path} {e.primitive.name} {short(e.invars)} -> {short(e.outvars)}" for path, e in walk(lifted.jaxpr)]
    import zlib  # of several processes

    digest = zlib.crc32("\n".join([*told, str(list(map(str, lifted.out_avals)))]).encode())
    return f"{lifted.jaxpr.debug.name}({types}) {digest:08x}"


def lower_closed(
    closed: ClosedJaxpr,
    donated: Sequence[int] = (),
    keep_unused: bool = False,
    debug_info: bool = False,
    device: Any = None,
    orders: Orders | None = None,
    platform: str | None = None,
    rewrites: list[Rewrite] | None = None,
) -> bytes:
    """The MLIR bytecode of a jaxpr's program, as `compile_jaxpr` would compile it; with `debug_info`, locations say besides the
    paths of equations their named scopes and where they were written. `platform`: another one that it is lowered for ("cuda").
    `rewrites` gets what was written as other operations."""
    from .lowering import lower_jaxpr  # when something is lowered

    closed = pure_program(closed)[0]
    kept = _kept_arguments(closed, keep_unused or not all(is_static(a.shape) for a in closed.in_avals))
    spread = _spread(device)
    lifted, hidden, embedded = _split_constants(closed, spread and spread.group, kept)
    if spread is not None:
        spread = spread._replace(ins=(*[buf._sharding for buf in hidden], *[spread.ins[i] for i in kept]))
    taken = tuple(
        len(hidden) + kept.index(i) for i in _donated(closed, donated, kept, tell=not debug_info and platform is None)
    )
    program, name = ClosedJaxpr(lifted.jaxpr, embedded), closed.jaxpr.debug.name
    describe = _described if debug_info else None
    solution = _solution(lifted.jaxpr, len(hidden))
    orders = orders and orders.taking(len(hidden), kept)
    place: dict[str, Any] = {} if platform is None else {"platforms": (platform,)}
    return mlir.to_bytecode(
        lower_jaxpr(program, name, taken, describe, solution, spread=spread, orders=orders, rewrites=rewrites, **place)
    )


def _solution(jaxpr: Jaxpr, hidden: int) -> Solution | None:
    """How the dimension variables in the arguments' shapes follow from them, if there are any; captured arrays come first."""
    shapes = [v.aval.shape for v in jaxpr.invars]
    if all(map(is_static, shapes)):
        return None
    return solve(shapes, [f"args[{i - hidden}]" for i in range(len(shapes))])


def _described(eqn: JaxprEqn) -> mlir.Described:
    where = call_sites.user_position(eqn.traceback)
    place = where and (where.file, where.line, where.column + 1, where.end_line, where.end_column + 1)
    return "/".join([*call_sites.names_of(eqn.traceback), eqn.primitive.name]), place


def _donated(closed: ClosedJaxpr, donated: Sequence[int], kept: Sequence[int], tell: bool) -> Sequence[int]:
    """The donated arguments whose memory results may take."""
    if not donated:
        return ()
    found, left = usable(closed, donated, kept)
    if tell:
        warn_unusable(closed, left)
    return found


def _kept_arguments(closed: ClosedJaxpr, keep_unused: bool) -> list[int]:
    return list(range(len(closed.in_avals))) if keep_unused else closed.jaxpr.read_arguments()


def _split_constants(
    closed: ClosedJaxpr, device: Any, kept: Sequence[int]
) -> tuple[ClosedJaxpr, list[Any], list[np.ndarray]]:
    """The program with its large captured arrays as leading arguments, and of its own the `kept` ones; the buffers of the
    former, on the device; and the values of the small constants, which stay captured."""
    jaxpr = closed.jaxpr
    hoisted, hidden, inner, embedded = [], [], [], []
    for var, value in zip(jaxpr.constvars, closed.consts):
        if isinstance(value, Tracer):
            raise leak_error(value)
        with without_guards() if config.guarding else nullcontext():
            array = to_array(value) if one_device() or device is None else array_on(value, device)
        if var.aval.size > SMALL or physical(var.aval) is not var.aval:
            hoisted.append(var)
            hidden.append(array.buf)
        else:
            inner.append(var)
            embedded.append(np.asarray(array))
    invars = [jaxpr.invars[i] for i in kept]
    names = jaxpr.debug.arg_names
    debug = jaxpr.debug
    if names:
        shown = tuple(f"const{i}" for i in range(len(hoisted))) + tuple(names[i] for i in kept if i < len(names))
        debug = type(debug)(debug.name, shown, debug.result_names, debug.defined)
    lifted = Jaxpr(inner, [*hoisted, *invars], jaxpr.outvars, jaxpr.eqns, jaxpr.effects, debug)
    lifted._live = jaxpr.live()
    return ClosedJaxpr(lifted), hidden, embedded


def _build(made: PreparedProgram, number: int, note: records.Record | None, lowered: bytes | None) -> _Entry:
    place = made.place_on_disk() if turn() is None else None
    kept = kept_for(made.where, place) if made.tunable else None
    if kept is not None:
        try:
            return _compiled(made, number, note, lowered, place, kept)
        except (XlaError, ValueError):  # somebody wrote another record: it is no reason to fail
            pass
    return _compiled(made, number, note, lowered, place, None)


def _compiled(
    made: PreparedProgram,
    number: int,
    note: records.Record | None,
    lowered: bytes | None,
    place: DiskQuery | Refusal | None,
    kept: TuningRecord | None,
) -> _Entry:
    start, lifted, device = time.perf_counter(), made.lifted, made.device
    choice, told = (PLAIN, "") if kept is None else (kept.choice, kept.sentence)
    if kept is not None:
        place, lowered = made.place_on_disk(choice), None if choice.lowers else lowered
    overrides, lowered_here = made.flags(choice), lowered is None
    loaded = disk.find(place, made.outputs, device) if isinstance(place, DiskQuery) else None
    if loaded is not None:
        executable, stored = loaded
        if note is not None:
            answer = Answer(True, stored.head.seconds)
            records.emit(_compile_step(note, time.perf_counter() - start, answer, told))
        bytecode = 3 * stored.head.bytecode_size  # as it is compressed
        return _Entry(
            executable,
            stored.unpack_lowered(),
            made.key,
            number,
            lifted.in_avals,
            overrides,
            bytecode,
            loaded=True,
            tuned=told,
            options=made.options,
        )
    start = time.perf_counter()
    lowered = made.lowered(choice) if lowered is None else lowered
    middle = time.perf_counter()
    executable = Executable.compile(
        lowered,
        made.outputs,
        device,
        compile_options(overrides=overrides),
        (answer_python,) if calls_python(lowered) else (),
        made.taken,
    )
    end = time.perf_counter()
    if note is not None:
        if lowered_here:
            records.emit(note.step_of("lower", middle - start))
        records.emit(_compile_step(note, end - middle, disk.miss(place) if place else None, told))
    if isinstance(place, DiskQuery):
        disk.keep(place, lifted.jaxpr.debug.name, executable, lowered, end - start)
    avals, size = lifted.in_avals, len(lowered)
    return _Entry(executable, lowered, made.key, number, avals, overrides, size, tuned=told, options=made.options)


def loaded_entry(
    executable: Executable, lowered: bytes, argument_avals: list[ShapedArray], overrides: Mapping[str, Any]
) -> _Entry:
    """A program that was compiled elsewhere, of which no cache knows."""
    return _Entry(executable, lowered, None, 0, argument_avals, overrides, len(lowered))


def _spread(device: Any) -> Spread | None:
    return device if type(device) is Spread else None


def _compile_step(
    note: records.Record, seconds: float, answer_of_disk: Answer | None, tuned: str = ""
) -> records.Record:
    step = note.step_of("compile", seconds)
    if answer_of_disk is not None:
        step.detail["disk"] = answer_of_disk
    if tuned:
        step.detail["tuned"] = tuned
    return step
