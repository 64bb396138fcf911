"""The extension in one IPython shell: which cells run, what the ledger says about each, and what is shown below it."""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import IPython
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.terminal.interactiveshell import TerminalInteractiveShell

import jitscope_widgets
from jitscope.backend.signature import message_of
from jitscope.core import notices, source
from jitscope.core.records import subscribe
from jitscope.core.staging import watcher
from jitscope.xla import progress
from jitscope_scope import jaxwatch, observe
from jitscope_scope.advise import CATALOGUE
from jitscope_scope.advise.recompiling import edited
from jitscope_scope.observe import layout_pictures
from jitscope_scope.observe.recompiling.cards import Editor
from jitscope_scope.observe.recompiling.groups import is_repeat
from jitscope_scope.observe.recorded_calls import recorder
from jitscope_scope.testing import limit_compilations
from jitscope_widgets.answers import Answers
from jitscope_widgets.documents.annotations import (
    CellDocument,
    CellError,
    CompilationDocument,
    DiagnosticsDocument,
    LedgerDocument,
    RecompilationsDocument,
    StoppedDocument,
)
from jitscope_widgets.instrument_documents import with_instrument
from jitscope_widgets.words import reason

from . import automagic, below, jax_cells, output, reloaded, tracebacks
from .cell import TextStep, TreeStep, execute
from .cell_messages import innermost, why_nothing
from .cell_places import CellPlaces
from .cell_remarks import CellRemarks
from .cell_run import CellRun
from .eager_runs import EagerRuns
from .jax_cells import AfterImports, JaxCells
from .live import Live
from .long_cells import long_loop
from .magics import JitscopeMagics, parser_of
from .nan_hints import NonFiniteReads, offer
from .nans import NanWatch, hunt_of_rows
from .panel import Panel
from .request import Request
from .sharp_bits import SharpBits
from .versus import Versus, rows_of
from .watch import Watch
from .wrapping import Plan


Stop: TypeAlias = StoppedDocument | DiagnosticsDocument

_IPYTHON: tuple[Any, ...] = IPython.version_info
_COUNTS_FIRST = _IPYTHON >= (9, 8)  # a cell's number is passed on before the cell runs, not after it
_KEY = "jitscope"  # in shell.meta, where a reloaded module finds its session again
_CELLS = 10_000  # names of cells that are kept
_DEEPEST = 32  # cells that run inside each other

Place = tuple[str, str | None]  # label such as "In [3]", Jupyter's cell id


class Session:
    """What `%load_ext jitscope` puts into a shell, and `%unload_ext` takes out again."""

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell
        self.ledger = observe.ledger()
        self.magics = JitscopeMagics(shell, self)
        parser = parser_of(JitscopeMagics.jit)
        self._text_step = TextStep(shell, parser, self.magics.jit)
        self._tree_step = TreeStep(parser, self._found, lambda: shell.user_ns)
        self._after_imports = AfterImports()
        self._jax = JaxCells(lambda: self.magics.watch)
        self._places: OrderedDict[str, Place] = OrderedDict()
        self._runs: Counter[str] = Counter()  # how often the code of a cell was run
        self._compiled: set[str] = set()  # names of functions that %%jit compiled
        self._threads = threading.local()
        self.sharp_bits = SharpBits(self.ledger, lambda: self.magics.ignore)
        self._kept = CellRemarks(self.ledger)
        self._panel = Panel(self._ledger_document, self.sharp_bits, self.ignore)
        self._taken = NonFiniteReads()
        self._placing = CellPlaces(shell)
        self._undo: list[Callable[[], Any]] = []

    # --- loading ------------------------------------------------------------------------------------------------------

    def load(self) -> None:
        shell = self.shell
        self._undo.append(self._register_magics())
        self._undo.append(automagic.install(shell, self.magics.magics["line"]))
        self._undo.append(subscribe(shell.input_transformers_cleanup, self._text_step))
        shell.ast_transformers.insert(0, self._tree_step)
        self._undo.append(lambda: shell.ast_transformers.remove(self._tree_step))
        self._undo.append(subscribe(shell.ast_transformers, self._after_imports))
        self._undo.append(jax_cells.begin(self._jax))
        self.magics.observe(lambda _change: self._jax.look(), "watch")
        before, after = (reloaded.read, self._before_cell), (reloaded.read, self._after_cell)
        for event, callback in (*(("pre_run_cell", one) for one in before), *(("post_run_cell", one) for one in after)):
            shell.events.register(event, callback)
            self._undo.append(lambda event=event, callback=callback: shell.events.unregister(event, callback))
        self._undo.append(self._placing.begin())
        self._undo.append(tracebacks.install(shell, self._compiled))
        self._undo.append(_name_cells(self))
        self._undo.append(subscribe(notices.number_listeners, self._taken))
        self._undo.append(subscribe(source.cell_names, self._cell_name))
        self._undo += [recorder.begin(), self.ledger.listen(self._called)]
        if getattr(shell, "kernel", None) is not None:
            self._undo.append(subscribe(layout_pictures.shown_by, output.show))
        self._recall()
        self._begin_within()
        if getattr(shell, "kernel", None) is not None:
            self._panel.open()
            self._undo += [self._panel.close, self.ledger.listen(lambda row: self._panel.changed())]
            self.magics.observe(lambda _change: self._panel.look(), "ignore")
            self._undo.append(self.ledger.listen(self._written))

    def unload(self) -> None:
        for running in self._stack:
            running.end()
        while self._undo:
            with suppress(Exception):  # what someone else has taken out already
                self._undo.pop()()
        watcher.set(None)
        self.sharp_bits.ended()

    def _register_magics(self) -> Callable[[], None]:
        tables = self.shell.magics_manager.magics
        before = {(kind, name): tables[kind].get(name) for kind, names in self.magics.magics.items() for name in names}
        self.shell.register_magics(self.magics)
        ours = {(kind, name): tables[kind][name] for kind, name in before}

        def restore() -> None:
            for (kind, name), function in ours.items():
                if tables[kind].get(name) != function:
                    continue  # someone else's by now
                if (earlier := before[kind, name]) is None:
                    del tables[kind][name]
                else:
                    tables[kind][name] = earlier

        return restore

    def ignore(self, id: str) -> None:
        """Ignore this sharp bit from now on. Raises UsageError for an unknown id."""
        if id not in CATALOGUE:
            raise UsageError(f"there is no sharp bit {id!r}; `jitscope explain` lists them")
        self.magics.ignore = sorted({*self.magics.ignore, id})

    # --- cells --------------------------------------------------------------------------------------------------------

    def _recall(self) -> None:
        """The cells until now: what they import and define, later ones use."""
        texts = getattr(self.shell.history_manager, "input_hist_raw", None) or [""]
        self.sharp_bits.began(texts[1:])

    def _begin_within(self) -> None:
        """The cell that loads the extension counts as run, and the rest of it is watched as other cells are."""
        result: Any = getattr(self.shell.displayhook, "exec_result", None)
        if result is None:
            return
        self._jax.look()
        self._undo.append(jax_cells.look_once_imported(self._jax))
        place = f"In [{result.execution_count}]", getattr(result.info, "cell_id", None)
        typed = result.info.raw_cell
        transformed = self.shell.transform_cell(typed)
        file = self.shell.compile.get_code_name(typed, transformed, result.execution_count)
        self.sharp_bits.ran(*place, file, typed)
        self._placing.compiled_before(file, typed, transformed)
        self.name(file, place)
        self._stack.append(self._running(result.info, place, file))
        watcher.set(Watch(self.label))

    @property
    def _stack(self) -> list[CellRun]:
        """The cells that run in this thread, outermost first: `%%capture` runs one inside another."""
        if not hasattr(self._threads, "stack"):
            self._threads.stack = []
        return self._threads.stack

    def _before_cell(self, info: Any) -> None:
        place = self._place_now(info)
        transformed = getattr(info, "transformed_cell", None) or ""
        file = self.shell.compile.get_code_name(info.raw_cell, transformed, self._number(info))
        outer = self._stack[-1].file if self._stack and not info.store_history else ""
        typed = self._placing.ran(file, info.raw_cell, transformed, outer)
        if typed is None:
            place = (place[0], None)  # code that no cell has
        self.name(file, place)
        if typed is not None:
            self.sharp_bits.ran(*place, file, typed)
            self._panel.ran(place[1], typed)
        self._runs[file] += 1
        self._jax.look()
        self._stack.append(self._running(info, place, file))
        del self._stack[:-_DEEPEST]
        watcher.set(Watch(self.label))

    def _after_cell(self, result: Any) -> None:
        running = self._leave(result)
        if not self._stack:
            watcher.set(None)
        if running is None:
            return
        try:
            error = (result.error_in_exec or result.error_before_exec) if result is not None else None
            self._report(running, result, error, self._stopped(error))
            self._tell(running, error)
        finally:
            running.arguments.clear()
            for outer in self._stack:
                outer.since = self.ledger.mark()  # what was said here is not said again
            self._panel.flush()
            self._panel.look()

    def _stopped(self, error: BaseException | None) -> Stop | None:
        """What was traced up to an error, if that stopped a trace, or what else is to be told of an error of jax's."""
        try:
            if error is None or isinstance(error, KeyboardInterrupt):
                return None
            jaxwatch.keep(error)
            return self.sharp_bits.failed(error, self.place_of)
        except Exception as problem:
            output.say(f"jitscope could not look at the error ({problem!r}). The error itself is the cell's own.")
            return None

    def _running(self, info: Any, place: Place, file: str) -> CellRun:
        known = frozenset(row.id for row in self.ledger if row.number or row.what == "reused")
        running = CellRun(info, place, file, self.ledger.mark(), known)
        running.live = Live(lambda: self._recompilations(running, None))  # edits are run when the cell is done
        return running

    def _written(self, row: observe.Row) -> None:
        """The ledger has something new: what was compiled again is told while the cell runs."""
        if not row.cause or not self._stack or row.what not in ("recompiled", "reused"):
            return
        running = self._stack[-1]
        if running.live is not None and not running.quiet and is_repeat(row) and row.cause != "redefined":
            running.live.changed()

    def _called(self, row: observe.Row) -> None:
        """The ledger has something new: the arguments of a call that the cell looks at."""
        if self._stack:
            self._stack[-1].hold(row)

    def _recompilations(self, running: CellRun, editor: Editor | None = edited) -> RecompilationsDocument:
        """What a cell compiled or traced again so far."""
        rows = [row for row in self.ledger.since(running.since) if row.id not in running.compiled]
        title = f"Recompilations in {running.place[0]}"
        return observe.recompilations_document(observe.loud(rows), title, editor)

    def recompiles_shown(self, function: str | None) -> None:
        """The cell that runs shows by itself what was compiled again so far, of one function or of all: no card says it once more."""
        if self._stack:
            shown = rows_of(self.ledger, function, self.shell.user_ns.get(function))
            self._stack[-1].compiled |= {row.id for row in shown}

    def hush(self, quiet: bool = True) -> None:
        """The cell that runs shows nothing below it from now on, as with --quiet; or it does again."""
        if self._stack:
            self._stack[-1].quiet = quiet

    def _leave(self, result: Any) -> CellRun | None:
        """The cell that ended, taken from the stack; None for one that never began (an empty one)."""
        stack = self._stack
        for at in range(len(stack) - 1, -1, -1):
            info = stack[at].info
            if result is None or (info is not None and info.raw_cell == result.info.raw_cell):
                running = stack[at]
                for ended in stack[at:]:
                    ended.end()
                del stack[at:]
                return running
        return None

    def _found(self, plan: Plan, request: Request) -> None:
        """A `%%jit` cell was read and is about to run."""
        self._compiled.update(definition.name for definition in plan.compiled)
        if self._stack:
            running = self._stack[-1]
            running.plans.append(plan)
            if running.eager is None and not self._stack[:-1]:
                running.eager = EagerRuns(self.ledger)
                running.eager.begin()
            if running.calls is None and self._jax.wanted:
                calls = jaxwatch.Calls(running.eager.ran if running.eager is not None else None)
                running.calls = calls if calls.begin() else None
            running.quiet |= request.quiet
            running.instruments = tuple(dict.fromkeys((*running.instruments, *request.instruments)))
            if request.vs is not None:
                running.versus = Versus(request.vs, self.ledger, self.shell.user_ns)
            running.target = request.target or running.target
            running.tuning |= request.tuning
            if request.max_compiles is not None and running.budget is None:
                running.budget = limit_compilations(request.max_compiles).__enter__()
            if request.nans and running.nans is None:
                running.nans = NanWatch()

    def run(self, line: str, cell: str) -> Any:
        """Run a `%%jit` cell inside what runs now; the value of its last expression."""
        raw = f"%%jit {line}".rstrip() + f"\n{cell}"
        text = self.shell.transform_cell(raw)
        place = self._stack[-1].place if self._stack else (f"In [{self.shell.execution_count}]", None)
        file = self.shell.compile.cache(text, int(re.sub(r"\D", "", place[0])), raw_code=raw)
        self.name(file, place)
        with self._alone(raw, place, file):
            return execute(self.shell, text, file)

    @contextmanager
    def _alone(self, raw: str, place: Place, file: str) -> Iterator[None]:
        """Makes a running cell where there is none: code outside any cell called the magic."""
        if self._stack:
            yield
            return
        running = self._running(None, place, file)
        self._stack.append(running)
        watcher.set(Watch(self.label))
        error: BaseException | None = None
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            watcher.set(None)
            running.end()
            self._stack.remove(running)
            self._report(running, None, error, self._stopped(error))

    # --- names of cells -----------------------------------------------------------------------------------------------

    def place_of(self, file: str) -> Place | None:
        """Label and id of the notebook cell that `file` names; None for other files."""
        found = self._places.get(file)
        if found is None and (named := self.shell.compile.format_code_name(file)):
            found = (named[1].replace("[", " ["), None)  # a cell from before the extension was loaded
        return found

    def _cell_name(self, file: str) -> str | None:
        found = self.place_of(file)
        return found[0] if found else None

    def label(self, file: str) -> str:
        """How a file is called in messages."""
        found = self.place_of(file)
        return found[0] if found else Path(file).name

    def name(self, file: str, place: Place) -> None:
        """Code that is named `file` is a cell's."""
        self._places[file] = place
        self._places.move_to_end(file)
        while len(self._places) > _CELLS:
            self._places.popitem(last=False)

    def _place_now(self, info: Any) -> Place:
        if self._stack and not info.store_history:
            return self._stack[-1].place
        return f"In [{self._number(info)}]", getattr(info, "cell_id", None)

    def cell_id(self) -> str:
        """The id of the cell that runs, in the notebook; "" where it has none."""
        return (self._stack[-1].place[1] or "") if self._stack else ""

    def number(self) -> int:
        """The number of the run of the cell that runs."""
        return int(self._stack[-1].place[0][4:-1]) if self._stack else self.shell.execution_count

    def _number(self, info: Any) -> int:
        return self.shell.execution_count - (_COUNTS_FIRST and info.store_history and not info.silent)

    # --- what is shown ------------------------------------------------------------------------------------------------

    @output.never_raising("the report on this cell")
    def _report(self, running: CellRun, result: Any, error: BaseException | None, stopped: Stop | None) -> None:
        hunt = running.nans.close() if running.nans is not None else None
        if not running.quiet:
            self._show(running, error, stopped)
        if hunt is None and running.nans is not None:
            hunt = hunt_of_rows(self.ledger.since(running.since))
        if hunt is not None:
            output.show(hunt)
        taken = self._taken.lines(lambda file: self.place_of(file) == running.place)
        if hunt is None and result is not None:
            line = offer(result.info.raw_cell or "", result.result, error, self.shell.user_ns, taken)
            if line:
                output.show_text(line)
            if error is None and not running.quiet:
                self._tell_unseen(running, bool(line))

    def _tell_unseen(self, running: CellRun, hinted: bool) -> None:
        """Which options of `%%jit` had no program to look at; whether a NaN is told of already."""
        if any(row.entry is not None for row in self.ledger.since(running.since)):
            return
        nans = running.nans is not None and not running.nans.runs and not hinted
        asked = running.versus, running.target, running.tuning, running.instruments, nans
        if said := below.without_programs(*asked):
            output.say(said)

    def _show(self, running: CellRun, error: BaseException | None, stopped: Stop | None) -> None:
        assert running.live is not None
        if running.plans:
            document = self._document(running, error, stopped)
            document["compilations"] = [self._look(one, running.instruments) for one in document["compilations"]]
            told = self.sharp_bits.of_cell(running.place[0], failed=error is not None)
            if stopped is not None and stopped["kind"] == "diagnostics":
                marked = [(one["id"], one["position"]) for one in stopped["items"]]
                more = [one for one in (told["items"] if told else ()) if (one["id"], one["position"]) not in marked]
                told = stopped.copy()
                told["items"] = [*stopped["items"], *more]
            elif stopped is not None and stopped["kind"] == "stopped" and document["error"]:
                document["error"]["stopped"] = stopped
            if told is not None:
                document["diagnostics"] = told
            running.live.close(document, self._answers(document))
            rows = [self.ledger.row(one["id"]) for one in document["compilations"]]
            below.show(rows, running.versus, running.target, running.tuning, running.budget)
            return
        rows = self.ledger.since(running.since)
        if self.magics.watch == "all" and any(row.library and row.number for row in rows):
            document = self._document(running, error, stopped)
            running.live.close(document, self._answers(document))
            return
        if stopped is not None:
            output.show(stopped)
        if (document := self._recompilations(running))["cards"]:
            running.live.close(document)
        if self._jax.wanted and (line := jax_cells.in_words(rows, self.ledger.small_since(running.since))):
            output.show_text(line)

    def _look(self, compilation: CompilationDocument, instruments: tuple[str, ...]) -> CompilationDocument:
        """The document of a program with what instruments say of it."""
        if instruments:
            compilation.setdefault("instruments", {})
        for name in instruments:
            try:
                with output.patience(f"{name} of {compilation['function']}"):
                    found = observe.look(self.ledger.row(compilation["id"]), name)
                compilation = with_instrument(compilation, name, found)
            except Exception as problem:
                output.say(f"jitscope: {name} of {compilation['function']} cannot be shown: {reason(problem)}")
        return compilation

    def _ledger_document(self) -> LedgerDocument:
        again = observe.recompilations_document(self.ledger, "Recompilations in this session", edited)
        return {**observe.ledger_document(self.ledger), "recompilations": again}

    @output.never_raising("the look for sharp bits")
    def _tell(self, running: CellRun, error: BaseException | None) -> None:
        """What a `%%jit` cell steps on is part of its view; in a terminal, where nothing can be marked, that of others is told below;
        everywhere, what a function that was called keeps of what was defined again."""
        if not running.quiet and running.info is not None:
            if (
                self.magics.regions
                and error is None
                and (line := long_loop(running.info.raw_cell or "", running.began))
            ):
                output.say(line)
            for line in self._kept.lines(running.since, running.info.raw_cell or "", self.shell.user_ns):
                output.say(line)
        if isinstance(self.shell, TerminalInteractiveShell) and not running.quiet and not running.plans:
            if (told := self.sharp_bits.of_cell(running.place[0], failed=error is not None)) is not None:
                output.say(jitscope_widgets.text(told))

    def _document(self, running: CellRun, error: BaseException | None, stopped: Stop | None) -> CellDocument:
        label, cell_id = running.place
        left_alone = [(one.name, one.reason) for plan in running.plans for one in plan.told]
        small = self.ledger.small_since(running.since)  # before the view itself computes something
        document = observe.cell_document(
            running.since,
            cell=label,
            cell_id=cell_id,
            left_alone=left_alone,
            error=self._error(error),
            ledger=self.ledger,
            editor=edited,
        )
        for name, calls in running.called.items():
            document["reused"].append({"function": name, "calls": calls, "at_least": True})
        notes = [jax_cells.deaf() if self._jax.wanted else "", observe.small_sentence(small), running.ran]
        failed = [row.function for row in self.ledger.since(running.since) if row.what == "failed"]
        if not document["compilations"] and (failed or not any(notes)):
            notes.insert(0, why_nothing(running.plans, document, failed, stopped is not None, self.shell.user_ns))
        document["note"] = " ".join(filter(None, notes))
        return document

    def _error(self, error: BaseException | None) -> CellError | None:
        if error is None:
            return None
        position = observe.position_document(innermost(error.__traceback__, self.place_of), self.place_of)
        return {"type": type(error).__name__, "message": message_of(error).partition("\n")[0], "position": position}

    def _answers(self, document: CellDocument) -> Answers:
        """What a live view of a cell asks of the ledger. Of recompilations a program's document says what that of the cell did."""
        cards = {one["id"]: one["recompilations"] for one in document["compilations"]}

        def told(found: CompilationDocument) -> CompilationDocument:
            return {**found, "recompilations": cards.get(found["id"], found["recompilations"])}

        return Answers(
            measure=lambda program: told(observe.measure_row(program, self.ledger)),
            again=lambda program: told(observe.compiled_again(program, self.ledger)),
            whole=lambda program: told(observe.compilation_document(self.ledger.row(program))),
            instrument=lambda program, name, options: observe.look(self.ledger.row(program), name, **options),
            told_to=progress.told_to,
            offers=observe.offers,
        )


_naming: list[Session] = []
"""The sessions of all shells of this process: each knows the cells of its own."""
_before: list[Any] = []
"""What the ledger asked before there was one."""


def _name_cells(session: Session) -> Callable[[], None]:
    """The ledger asks this session, too, which cell code is from and which one runs; gives the function that ends it."""
    ledger = session.ledger
    if not _naming:
        _before[:] = ledger.cell_of, ledger.place_now, ledger.run_of
        ledger.cell_of, ledger.place_now, ledger.run_of = _cell_of, _place_now, _run_of
    _naming.append(session)

    def end() -> None:
        _naming.remove(session)
        if not _naming:
            ledger.cell_of, ledger.place_now, ledger.run_of = _before

    return end


def _cell_of(file: str) -> Place | None:
    return next((found for session in reversed(_naming) if (found := session.place_of(file)) is not None), None)


def _run_of(file: str) -> int:
    return max((session._runs[file] for session in _naming), default=0)


def _place_now() -> Place | None:
    return next((session._stack[-1].place for session in reversed(_naming) if session._stack), None)


# --- the extension ----------------------------------------------------------------------------------------------------


def of(shell: InteractiveShell) -> Session | None:
    """The session of a shell that loaded the extension."""
    return shell.meta.get(_KEY)


def load(shell: InteractiveShell) -> None:
    """Begin a session in this shell, in place of one that is there."""
    unload(shell)
    source.add_internal(str(Path(IPython.__file__).parent))
    session = Session(shell)
    session.load()
    shell.meta[_KEY] = session
    if problem := jitscope_widgets.view_problem():
        output.say(problem)


def unload(shell: InteractiveShell) -> None:
    """End the session of this shell, if there is one."""
    session = shell.meta.pop(_KEY, None)
    if session is not None:
        session.unload()
