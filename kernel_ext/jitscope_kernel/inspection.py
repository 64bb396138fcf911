"""`jitscope.inspect(f)(x)`: what the compiler makes of a call, as an object. Nothing runs until it is measured."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

from jitscope import tree
from jitscope.backend.arguments import Arguments
from jitscope.backend.array import Array
from jitscope.backend.call_arguments import CallArguments
from jitscope.core import records
from jitscope.core.jaxpr import ClosedJaxpr
from jitscope.core.printing import Names, format_jaxpr
from jitscope.xla import progress
from jitscope_scope import asked_calls, jaxwatch, observe
from jitscope_scope.advise.recompiling import edited
from jitscope_scope.observe.boundaries import why_not_fused
from jitscope_scope.observe.comparing.document import comparison_of
from jitscope_scope.observe.comparing.sides import Side, side_of, side_with
from jitscope_scope.observe.machine import code_of
from jitscope_scope.observe.machine.listing import assembly_text, llvm_text
from jitscope_scope.observe.numbers import Numbers, with_numbers
from jitscope_widgets.answers import SILENT, Answers
from jitscope_widgets.documents.annotations import (
    CommunicationDocument,
    ComparisonDocument,
    CompilationDocument,
    FusionDocument,
    GraphDocument,
    InstrumentDocument,
    Kernel,
    LedgerDocument,
    MachineDocument,
    MemoryDocument,
    PassesDocument,
    ProfileDocument,
    ReasonsDocument,
    RecompilationsDocument,
    ShardingDocument,
    TimingDocument,
    TransformationsDocument,
    ValuesDocument,
)
from jitscope_widgets.instrument_documents import with_instrument

from . import expressions, output, user_calls
from .document_views import DocumentView, Graph, Program
from .uses import call_is_for_jax
from .versus import rows_of


if TYPE_CHECKING:
    from jitscope.backend.rewriting import Rewrite

    from .on_target import OnTarget, Part


MOST_ARRAYS = 20
"""Arrays of a tree whose layouts are shown."""


class Memory(DocumentView["MemoryDocument"], Mapping[str, int]):
    """What a program needs, in bytes, by what for; shows itself as its buffers over the schedule, which are looked for then."""

    def __init__(self, bytes: Mapping[str, int], look: Callable[[], MemoryDocument]) -> None:
        self._bytes = dict(bytes)
        self._look = look
        self._answers = SILENT

    @property
    def document(self) -> MemoryDocument:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The memory document."""
        return self._look()

    def __getitem__(self, what: str) -> int:
        return self._bytes[what]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bytes)

    def __len__(self) -> int:
        return len(self._bytes)


class Inspection(DocumentView["CompilationDocument"]):
    """One function, traced and compiled for arguments of certain shapes and dtypes. It keeps the arguments, so that instruments run
    on them."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._function, self._arguments = function, (args, kwargs)
        jitted, args, kwargs = asked_calls.jitted(function, args, kwargs)
        with observe.ledger().looking():
            self._traced = jitted.trace(*args, **kwargs)
            self._given = CallArguments(
                Arguments(jitted._spec, args, kwargs, jitted._auto).leaves, self._traced._device
            )
            self._lowered = self._traced.lower()
            self._compiled = self._lowered.compile()
        self._row = self._filed()
        super().__init__(observe.compilation_document(self._row), self._made_answers())

    def _made_answers(self) -> Answers:
        return Answers(
            measure=lambda _: self._measured(),
            again=lambda _: self.again().document,
            instrument=lambda _, name, options: observe.look(self._row, name, self._given, **options),
            told_to=progress.told_to,
            offers=observe.offers,
        )

    def _filed(self) -> observe.Row:
        """The ledger's row. A program that never ran is made known to it."""
        number = self._traced._traced.number
        row = observe.ledger().rows.get(number)
        if row is None:
            raise observe.Unavailable(f"the ledger no longer holds program {number}; call clear_caches() and try again")
        if row.entry is None:
            payload = (self._compiled._program, self._given)
            records.emit(records.Record("program", self._traced.fun_name, number, payload=payload))
        return row

    @property
    def jaxpr(self) -> ClosedJaxpr | Program:
        """The traced program."""
        return self._traced.jaxpr

    @property
    def stablehlo(self) -> Program:
        """The lowered program, before XLA's passes. Comments above it say what was written as other operations."""
        notes = [
            f"// {r.operation}{f' ({r.place})' if r.place else ''}: {r.words}; rule {r.rule}\n" for r in self.rewrites
        ]
        return Program("".join(dict.fromkeys(notes)) + jaxwatch.readable(self._lowered.as_text()))

    @property
    def rewrites(self) -> list[Rewrite]:
        """What is written as other operations than the program asks for, since XLA is slow in it on the CPU: where, in words what is written
        instead, and the name of the rule in `jitscope.xla.cpu_tuning`, which says what it was measured to give; its `off = True` turns it
        off (for what is compiled from then on, after `clear_caches()`)."""
        rewrites = getattr(self._lowered, "rewrites", None)  # jax's has none: nothing of it is written so
        return rewrites() if rewrites else []

    def target(self, name: str) -> Program:
        """The StableHLO of the program for GPUs ("cuda:sm_90"), as XLA's compiler for them would be given it; `on("h100")` has what
        that makes of it. Raises ValueError for other targets, NotImplementedError for programs that only the CPU can run."""
        from jitscope_scope.targets.target_modules import target_text

        return Program(target_text(self._row, name))

    def on(self, target: str) -> OnTarget:
        """The program compiled for a chip that is not here ("h100", "v5e:4x4", the path of a text proto; `jitscope.targets()` lists what is
        known), by XLA's compiler for it, in a process of its own. Nothing is run.

        Raises ValueError for an unknown target and for a program that its compiler refuses, Unavailable where that is not installed,
        NotImplementedError for programs that only the CPU can run, RuntimeError where the process crashed or took too long.
        """
        from .on_target import OnTarget

        return OnTarget(self._row, target)

    @property
    def chip(self) -> str:
        """The name under which `on` knows the GPU that jax runs the program on ("h200"); "" for the CPU and for what it does not know."""
        from jitscope_scope.targets import chip_of

        return chip_of(self._row)

    def show_on(self, targets: str, part: Part = "") -> None:
        """Show a view of each of some targets (with commas), or of a part of what is known, or a sentence on why there is none."""
        from .on_target import show_for

        show_for(self._row, targets, part)

    @property
    def hlo_before(self) -> Program:
        """The lowered program as HLO, before XLA's passes."""
        return Program(jaxwatch.readable(self._lowered.as_text("hlo")))

    @property
    def hlo(self) -> Program:
        """The program after XLA's passes."""
        return Program(jaxwatch.readable(self._compiled.as_text()))

    @property
    def graph(self) -> Graph:
        """The jaxpr as a graph."""
        return Graph(self.document["graph"])

    @property
    def graph_before(self) -> Graph:
        """The program before XLA's passes as a graph."""
        return Graph(self._fused()["before"])

    @property
    def graph_after(self) -> Graph:
        """The program after XLA's passes as a graph."""
        return Graph(self._fused()["after"])

    @property
    def fusion(self) -> DocumentView[FusionDocument]:
        """The program before and after fusion, side by side."""
        return DocumentView(self._fused())

    def _fused(self) -> FusionDocument:
        found = self.document["fusion"]
        assert found is not None  # the program is compiled
        return found

    def why_not_fused(self, first: int, second: int) -> Program:
        """Why the kernels of two lines (their numbers in the file or cell) are not one: XLA's own reasons, or what can be seen where it says
        nothing. The program is compiled once more for it, in a process of its own. Raises Unavailable for a line that no kernel stems from."""
        with contextlib.suppress(observe.Unavailable):  # then what can be seen is told
            self._look("reasons")
        return Program(why_not_fused(self.document, first, second))

    @property
    def reasons(self) -> DocumentView[ReasonsDocument]:
        """Why kernels that hand values on are not one: XLA's reason for each pair. The program is compiled once more for it, in a process of
        its own, and not run. Raises Unavailable for a program that calls Python."""
        return DocumentView(self._look("reasons"))

    @property
    def kernels(self) -> list[Kernel]:
        """What runs one after the other, each with the operations in it."""
        return self._fused()["kernels"]

    @property
    def passes(self) -> DocumentView[PassesDocument]:
        """What each of XLA's passes did. The program is compiled twice more for it, and not run."""
        return DocumentView(self._look("passes"))

    @property
    def transformations(self) -> DocumentView[TransformationsDocument]:
        """The jaxpr before and after each transformation (jvp, linearize, transpose, vmap). The function's Python code runs once more, on
        tracers."""
        return DocumentView(self._look("transformations"))

    @property
    def profile(self) -> DocumentView[ProfileDocument]:
        """What each kernel and each line takes, and what bounds it. The program runs for about two seconds."""
        found = self._look("profile")
        if "call" not in found and (said := self._called(found["wall"]["value"])):
            self.document = with_instrument(self.document, "profile", found | {"call": said})
        return DocumentView(self._look("profile"))

    @property
    def values(self) -> DocumentView[ValuesDocument]:
        """The values of the program on these arguments, which must still be there: it is run equation by equation, and once as it is
        compiled. Raises Unavailable where they are gone, and for a function that calls Python or has effects."""
        return DocumentView(self._look("values"))

    @property
    def machine(self) -> DocumentView[MachineDocument]:
        """The machine code of each kernel with its loops, and LLVM's IR. The program is compiled once more for it, and not run."""
        return DocumentView(self._look("machine"))

    @property
    def communication(self) -> DocumentView[CommunicationDocument]:
        """What the devices of a program over several devices exchange: its collectives with their bytes and lines, and how arguments and
        results lie. Raises Unavailable for a program of one device."""
        return DocumentView(self._look("communication"))

    @property
    def communication_times(self) -> DocumentView[CommunicationDocument]:
        """The same with the time that a device spends in each collective: the program runs for about a second. Raises Unavailable where
        it may not be run again."""
        found = cast("CommunicationDocument", observe.look(self._row, "communication", self._given, measure=True))
        self.document = with_instrument(self.document, "communication", found)
        return DocumentView(found)

    @property
    def llvm(self) -> Program:
        """LLVM's IR of the program's kernels, as LLVM's passes leave it. The program is compiled once more for it, and not run."""
        return Program(llvm_text(code_of(self._row)))

    @property
    def llvm_before(self) -> Program:
        """LLVM's IR of the program's kernels, as XLA hands it to LLVM."""
        return Program(llvm_text(code_of(self._row), before=True))

    @property
    def asm(self) -> Program:
        """The machine code of the program's kernels, disassembled."""
        return Program(assembly_text(code_of(self._row)))

    def _look(self, instrument: str) -> Any:
        """What an instrument says; asked once, and shown with the rest from then on."""
        if instrument not in self.document.get("instruments", {}):
            with output.patience(f"{instrument} of {self._row.title}"), observe.ledger().looking():
                found = observe.look(self._row, instrument, self._given)
            self.document = with_instrument(self.document, instrument, found)
        known: Mapping[str, Any] = self.document.get("instruments", {})
        return known[instrument]

    def look(self, instrument: str) -> DocumentView[InstrumentDocument]:
        """What an instrument says, by its name: those that have a property of their own, and those that were added. Raises ValueError for
        an unknown one, Unavailable where there is nothing to show."""
        return DocumentView(self._look(instrument))

    @property
    def timing(self) -> DocumentView[TimingDocument]:
        """How long each stage took."""
        return DocumentView(self.document["timing"])

    @property
    def memory(self) -> Memory:
        """Bytes of arguments, results, temporaries and code, as XLA planned them; shows itself as the view of the buffers over the
        schedule, for which the program is compiled once more, and not run."""
        return Memory(self._compiled.memory_analysis(), lambda: self._look("memory"))

    def with_numbers(self, numbers: Numbers, name: str = "number", unit: str = "") -> Inspection:
        """Numbers of your own beside the equations of the graph, with what they are called and their unit ("s", "B", "flop", or any
        word). `numbers` is a function of an equation that gives None where there is nothing to say, or a dict by path. The search of
        the graph finds them (`number:>100`). Gives this inspection.

        inspect(f)(x).with_numbers(lambda eqn: eqn.outvars[0].aval.size, "elements")
        inspect(f)(x).with_numbers({"e3": 0.2, "e5/e0": 1.5}, "sensitivity")

        Raises TypeError for what is neither a function nor a dict and for what is no number, ValueError for a path that no equation
        has and for NaN and infinities.
        """
        graph = with_numbers(self.document["graph"], self._row.needed("jaxpr"), numbers, name, unit)
        self.document = {**self.document, "graph": graph}
        return self

    def compare(
        self, other: Inspection | None = None, *, options: dict[str, Any] | None = None, limit: float = 2.0
    ) -> DocumentView[ComparisonDocument]:
        """This program against another, or against itself compiled with other options of XLA's: which is faster, with a confidence
        interval from runs in pairs for about `limit` seconds; what differs in equations, kernels, memory and results.

        inspect(f)(x).compare(inspect(g)(x))
        inspect(f)(x).compare(options={"xla_backend_optimization_level": 0})

        Raises TypeError for neither, both, or something else, ValueError for an unknown option or a limit below 0, Unavailable for what
        cannot be run again.
        """
        if (other is None) == (options is None):
            raise TypeError("compare takes either another inspection or options for XLA")
        _check_limit(limit)
        if options is not None:
            if not isinstance(options, Mapping):
                raise TypeError(
                    f"options are a dict of XLA's options by name, {{'xla_backend_optimization_level': 0}}, not {_kind(options)}"
                )
            found = side_with(self._row, options, self._given)
        elif isinstance(other, Inspection):
            found = other.side()
        else:
            raise TypeError(
                f"compare takes another inspection, not {_kind(other)}: write inspect(f)(x).compare(inspect(g)(x)), or "
                "inspect(f).compare(inspect(g))(x)"
            )
        return DocumentView(comparison_of(self.side(), found, limit=limit))

    def again(self) -> Inspection:
        """This program; one of jax's is compiled once more where another process had compiled it (see `JaxInspection.again`)."""
        return self

    def side(self) -> Side:
        """This program as one of two that are compared."""
        return side_of(self._row, self._given)

    def measure(self) -> Inspection:
        """Run the program again and again, on the arguments it was made for while they are there, and keep the median time."""
        with observe.ledger().looking():  # copies of arrays that are donated are none of the user's programs
            measured = self._measured()
        self.document = {**measured, "instruments": self.document.get("instruments", {})}
        timing = self.document["timing"]
        seconds = timing["steady"]["median"]["value"] if timing["steady"] is not None else None
        if seconds is not None and (said := self._called(seconds)):
            self.document["timing"] = {**timing, "call": said}
        return self

    def _called(self, seconds: float) -> str:
        """What the user's call takes beside the program, where something wraps a jitted function."""
        return user_calls.sentence(self._function, *self._arguments, self._row, seconds)

    def _measured(self) -> CompilationDocument:
        return {**observe.measure_row(self._row.id, given=self._given), "graph": self.document["graph"]}


class JaxInspection(Inspection):
    """One function written for jax, lowered and compiled by jax for arguments of certain shapes and dtypes."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._function, self._arguments = function, (args, kwargs)
        asked = jaxwatch.ask(observe.ledger(), function, args, kwargs)
        self._row, self._lowered, self._compiled, self._given, self._jitted = asked  # pyright: ignore[reportAttributeAccessIssue]
        DocumentView.__init__(self, observe.compilation_document(self._row), self._made_answers())

    def again(self) -> Inspection:
        """This program, compiled once more where jax loaded it from its persistent cache and another process had compiled it: then it is
        known which equations its kernels stem from. Raises Unavailable where it calls Python."""
        self._row.entry.compile_again()
        self.document = {**observe.compilation_document(self._row), "instruments": {}}
        return self

    @property
    def jaxpr(self) -> Program:
        """The traced program, as text."""
        return Program(self.document["jaxpr"])

    @property
    def memory(self) -> Memory:
        """Bytes of arguments, results, temporaries and code, as XLA planned them; shows itself as the view of the buffers over the
        schedule, for which the program is compiled once more, and not run."""
        return Memory(self._row.entry.executable.memory_stats(), lambda: self._look("memory"))


def look_at(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Inspection:
    """The inspection of a call, jitscope's or jax's."""
    kind = JaxInspection if call_is_for_jax(function, args, kwargs) else Inspection
    return kind(function, args, kwargs)


class Inspector:
    """`inspect(f)`: called with arguments it looks at `f` for them."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Inspection:
        return look_at(self._function, args, kwargs)

    def compare(self, other: Inspector, *, limit: float = 2.0) -> Callable[..., DocumentView[ComparisonDocument]]:
        """`inspect(f).compare(inspect(g))(x)`: both for the same arguments, against each other; see `Inspection.compare`. Raises
        TypeError for anything but `inspect(g)`."""
        if not isinstance(other, Inspector):
            raise TypeError(
                f"inspect(f).compare takes inspect(g), not {_kind(other)}: it gives a function that takes the arguments for both, "
                "inspect(f).compare(inspect(g))(x)"
            )
        _check_limit(limit)

        def compare_call(*args: Any, **kwargs: Any) -> DocumentView[ComparisonDocument]:
            return self(*args, **kwargs).compare(other(*args, **kwargs), limit=limit)

        return compare_call


def inspect(function: Callable[..., Any]) -> Inspector:
    """`inspect(f)(x)` traces and compiles `f` for the arguments and gives an `Inspection`; `f` is not run. `f` may be a function
    written for jax, too."""
    return Inspector(function)


def _check_limit(limit: float) -> None:
    if isinstance(limit, bool) or not isinstance(limit, Real):
        raise TypeError(f"limit is a number of seconds, not {_kind(limit)}")
    if not limit >= 0:
        raise ValueError(f"limit is a number of seconds, 0 or more, not {limit}")


def _kind(value: Any) -> str:
    """`an Inspector`, in an error."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"


def trace(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, GraphDocument]:
    """The jaxpr of a call, and its graph document."""
    if call_is_for_jax(function, args, kwargs):
        return _trace_jax(function, args, kwargs)
    jitted, args, kwargs = asked_calls.jitted(function, args, kwargs)
    with observe.ledger().looking():
        traced = jitted.trace(*args, **kwargs)
    positions = observe.positions_of(traced.jaxpr.jaxpr, observe.ledger().cell_of)
    return traced.jaxpr, observe.jaxpr_graph(traced.jaxpr.jaxpr, traced.fun_name, positions)


def text_of(closed: Any) -> str:
    """A traced program as text: ours with as many digits of a number as its type has, jax's as jax writes it."""
    if not isinstance(closed, ClosedJaxpr):
        return str(closed)
    return format_jaxpr(closed.jaxpr, names=Names(closed.jaxpr, brief=True))


def _trace_jax(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, GraphDocument]:
    try:
        closed, jaxpr, name = jaxwatch.trace_call(function, args, kwargs)
    except observe.Unavailable:
        seen = look_at(function, args, kwargs)
        return seen.jaxpr, seen.document["graph"]
    cell_of = observe.ledger().cell_of
    return closed, observe.jaxpr_graph(jaxpr, name, observe.positions_of(jaxpr, cell_of), cell_of)


def recompiles(function: Any = None, name: str | None = None) -> DocumentView[RecompilationsDocument]:
    """Why a function (by itself or by name; all for None) was compiled or traced more than once: by function and cause, those
    that cost most first; before them the functions that were not traced again though a value that they captured changed. Raises
    Unavailable for a function of which nothing was compiled or traced. `name`: what the function is called where it is given."""
    if name is None and function is not None:
        name = function if isinstance(function, str) else function.__name__
    rows = rows_of(observe.ledger(), name, function)
    if name and not rows:
        raise observe.Unavailable(
            f"nothing called {name} was compiled or traced in this session; %ledger lists what was"
        )
    title = f"Recompilations of {name}" if name else "Recompilations in this session"
    return DocumentView(observe.recompilations_document(rows, title, editor=edited, stale=True))


def shardings(text: str, names: dict[str, Any]) -> list[ShardingDocument]:
    """Which device has which part of each array of a tree, which is the value of an expression of these names. Raises TypeError
    where there is none."""
    value, whole = expressions.evaluate(text, names), text.strip().removesuffix(";")
    leaves, _ = tree.flatten_with_path(value)
    arrays = [(path, leaf) for path, leaf in leaves if isinstance(leaf, Array)]
    if not arrays:
        of_jax = jaxwatch.arrays_of(value)
        if not of_jax:
            raise TypeError(f"{whole} has no arrays in it, so nothing lies on devices")
        return [jaxwatch.layout_document(whole + path, x) for path, x in of_jax[:MOST_ARRAYS]]
    return [
        observe.sharding_document(f"{whole}{tree.keystr(path)}", x.shape, x.sharding, x.aval)
        for path, x in arrays[:MOST_ARRAYS]
    ]


def ledger() -> DocumentView[LedgerDocument]:
    """All compilations of this session."""
    return DocumentView(observe.ledger_document())
