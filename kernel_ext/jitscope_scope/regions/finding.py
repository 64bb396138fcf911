"""From watched cells to verdicts: each place is written, proved, priced, and at the end the edited program is run beside the plain one."""

from __future__ import annotations

import ast
import contextlib
import linecache
import subprocess
import textwrap
from collections import ChainMap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from types import CodeType, FunctionType

from . import iterators, naming, pricing, recursion
from .answers import CannotCompile, Cut, Region
from .cells import Cell
from .clock import Stopwatch, added, work
from .comprehensions import as_loop
from .differences import Differences, joined
from .draws import drawn_by_values
from .empty_choices import empty_choices
from .fixed_parts import with_places
from .functions import Definitions, codes_of, definitions
from .generators import written_in
from .homes import home_of
from .in_place import acted_on, put_into
from .list_places import of_extremes
from .loop_starts import where_it_begins
from .parts import COMPILED, OURS, free_name
from .peeling import without_first_turns
from .places import RECORDER, Place, Places
from .proving import CompilesTooLong, Proof, proof
from .ragged_rows import with_rectangles
from .replaying import Replay, harmless, replay
from .stand_ins import StandIns
from .watching import Observation, Recorder, Visit, compiles, copies_of_functions
from .writing import EditText, written, written_apart, written_by_turns, written_in_parts, written_mixed
from .written_rows import gone_through, written_out


_BEFORE = "drawn by Python before the loop, in the same order"


@dataclass
class _Trial:
    place: Place
    cell: Cell
    eager_s: float
    runs: int
    main: int
    edit: EditText | None = None
    proof: Proof | None = None
    cut: Cut | None = None
    text: str | None = None
    lost: bool = False
    """Whether its cell took longer with the edit, when both were run whole as often as is known."""
    draws: tuple[int, ...] = ()
    """Lines whose random numbers Python draws before the loop."""


class Watch:
    """Cells that are run one after another in one namespace, each watched."""

    def __init__(self, names: dict[str, object], whole: bool = True) -> None:
        """`whole` says that the cells make up a program of their own, which may be run again to compare it with the edited one."""
        self.whole = whole
        self.names, self.recorder, self.places = names, Recorder(), Places()
        self.recorder.release = self._release
        self.cells: list[Cell] = []
        self.of: dict[int, Cell] = {}
        self.seconds: dict[tuple[int, int], float] = {}
        self.cell_seconds: list[float] = []
        self.definitions: dict[tuple[str, int], ast.FunctionDef] = {}
        self._read: dict[tuple[str, int], set[str]] = {}

    def file(self, cell: Cell) -> str:
        """The name that a cell's code goes by."""
        return cell.file or f"<cell {cell.number}>"

    def run(self, cell: Cell, shown: Callable[[object], None] | None = None) -> None:
        """Runs a cell with notes at its regions. What it raises is raised. `shown` is given the value of a last expression."""
        file, tree = self.file(cell), ast.parse(cell.source)
        if not cell.file:
            linecache.cache[file] = (len(cell.source), None, cell.source.splitlines(keepends=True), file)
        self.definitions |= definitions(tree, file)
        before = set(self.places.all)
        self.places.eager = "import" in cell.source or any(map(compiles, self.names.values()))
        noted = self.places.instrumented(tree)
        last = tree.body[-1] if tree.body and not cell.source.rstrip().endswith(";") else None
        value = None
        if shown is not None and isinstance(last, ast.Expr):  # no region has an expression that is a statement
            noted.body.pop()
            value = compile(ast.Expression(last.value), file, "eval")
        code = compile(noted, file, "exec")
        for key in self.places.all.keys() - before:
            self.of[key] = cell
            self.recorder.seen[key] = self._seen(self.places.all[key])
        self.cells.append(cell)
        spent = {k: s.spent for k, s in self.recorder.seen.items()}
        watch, lost = Stopwatch(), self.recorder.lost
        self.names[RECORDER] = self.recorder
        try:
            exec(code, self.names)
            result = eval(value, self.names) if value is not None else None
        finally:
            self.cell_seconds.append(watch.seconds(added(self.recorder.lost, lost, -1)))
            for k, s in self.recorder.seen.items():
                s.frame = None
                self.seconds[k, len(self.cells) - 1] = work(added(s.spent, spent[k], -1))
        if shown is not None and value is not None:
            shown(result)

    def _release(self, key: int) -> bool:
        function = self.places.all[key].function
        if function is None:
            return False
        self._restore([self.of[key]], function.lineno)
        return True

    def let_go(self) -> None:
        """Takes every note out of the functions that the watched cells made."""
        self._restore(self.cells)
        self.recorder.functions.clear()
        self.names.pop(RECORDER, None)

    def _restore(self, cells: list[Cell], line: int | None = None) -> None:
        """Gives the functions of cells, or the one that begins at a line, the code that they have without notes."""
        noted = [f for f in self.recorder.functions if line in (None, f.__code__.co_firstlineno)]
        files = {f.__code__.co_filename for f in noted}
        plain: dict[tuple[str, int, str], CodeType] = {}
        for cell in (c for c in cells if self.file(c) in files):
            codes_of(compile(cell.source, self.file(cell), "exec"), plain)
        for f in noted:
            code = plain.get((f.__code__.co_filename, f.__code__.co_firstlineno, f.__code__.co_qualname))
            if code is not None and code.co_freevars == f.__code__.co_freevars:
                f.__code__ = code
        for copied, of in copies_of_functions():
            copied.__code__ = of.__code__

    def _seen(self, place: Place) -> Observation:
        for key, f in self.definitions.items():
            if key not in self._read:
                self._read[key] = naming.loaded(f.body)
        called = set().union(*self._read.values())
        reached = naming.loaded(place.body)
        for _ in range(4):
            functions = [f for n in reached if isinstance(f := self.names.get(n), FunctionType)]
            reached = reached.union(*(f.__code__.co_names for f in functions))
        bound = naming.bound(place.body) | naming.stored_into(place.body) | gone_through(place.body)
        bound |= {n for f in self.definitions.values() for s in f.body if isinstance(s, ast.Global) for n in s.names}
        bound |= {n for f in self.definitions.values() for n in _lists([f]) - naming.bound(f.body)} & (reached | called)
        lists = _lists(_walk(place))
        return Observation(frozenset(reached | bound | called), frozenset(bound | lists | acted_on(place.body)))

    def regions(self) -> list[Region]:
        """The verdict on each place that took time, outermost first; what stands in a compiled place is not told again."""
        tried: list[_Trial] = []
        covered: set[int] = set()
        inlined: set[str] = set()
        for key, place in sorted(
            self.places.all.items(), key=lambda p: (p[1].function is not None, -len(_walk(p[1])), p[0])
        ):
            seen = self.recorder.seen[key]
            inside = place.function.name if place.function is not None else None
            if seen.count == 0 or inside in inlined or any(id(n) in covered for n in _walk(place)):
                continue
            one = self._tried(place, seen)
            if one is None or (place.eager and one.edit is None):
                continue
            tried.append(one)
            if one.edit is not None:
                covered |= {id(n) for n in _walk(place) if isinstance(n, ast.stmt)}
                inlined |= one.edit.inlined
        told = [
            t for t in tried if t.edit is not None or t.place.function is None or t.place.function.name not in inlined
        ]
        return self._decided([t for t in told if not _found_inside(t, told)])

    def _tried(self, place: Place, seen: Observation) -> _Trial | None:
        cell = self.of[place.key]
        spent = [self.seconds.get((place.key, k), 0.0) for k in range(len(self.cells))]
        weights = [s * c.runs for s, c in zip(spent, self.cells, strict=True)]
        main = max(range(len(weights)), key=weights.__getitem__)
        eager, runs = spent[main], self.cells[main].runs
        if not place.loop and eager * runs < pricing.LEAST_COMPILE:
            return None
        if place.eager and (seen.visit is None or home_of(place.body, seen.visit.values).numpy):
            return None
        one = _Trial(place, cell, eager, runs, main)
        line = place.body[0].lineno
        try:
            if seen.too_large or seen.visit is None:
                raise CannotCompile(line, "object", "the arrays at the start are too large to be copied")
            if seen.released:
                one.text = f"each of its passages takes {pricing.seconds(seen.seconds / seen.count)}, less than calling compiled code does"
                return one
            last, live = place.body[-1], place.live()
            unseen = naming.bound([last.target]) - seen.visit.ends.keys() if isinstance(last, ast.For) else set()
            if unseen and (live is None or unseen & live):
                raise CannotCompile(line, "object", "the loop had no turn when it was watched")
            stored = (put_into(place.body) | seen.visit.changed) & seen.visit.values.keys()
            live = set(seen.binds) | set(seen.visit.ends) if live is None else live | stored
            seen.visit.around, seen.visit.at_top = self.names, place.function is None
            name = f"region_{line + cell.first - 1}"
            self._write(one, seen.visit, live, name)
        except CannotCompile as reason:
            bound = naming.line_of(place.body, reason.of) if reason.of else None
            one.edit, one.cut = None, replace(reason.cut, line=bound or reason.cut.line or line)
            if reason.cut.why == "random" and (drawn := drawn_by_values(place.body, seen.visit)) is not None:  # type: ignore[arg-type]
                said = f"`{ast.unparse(drawn.func)}` draws where values decide whether, or from what"
                one.cut = replace(one.cut, line=drawn.lineno, note=said) if drawn.lineno != one.cut.line else one.cut
        except CompilesTooLong:
            total = one.eager_s * one.runs
            one.edit, one.text = (
                None,
                (
                    f"compiling takes more than {pricing.seconds(_most(total))}, and all runs take {pricing.seconds(total)} in Python"
                ),
            )
        except Exception as error:
            one.edit, one.cut = (
                None,
                Cut(line, "object", f"it was not understood ({type(error).__name__}: {str(error)[:100]})"),
            )
        return one

    def _write(self, one: _Trial, visit: Visit, live: set[str], name: str) -> None:
        """Gives the trial the first edit that holds, if it may pay. Raises CannotCompile where none does."""
        body = one.place.body
        apart = recursion.apart(of_extremes(written_out(body, visit)), self.definitions)
        plain = written_in(apart, self.definitions, self.names)
        form = iterators.written_out(plain, self.definitions) or plain
        try:
            for other in (with_rectangles(form, self.definitions), with_places(form)):
                if other is not None:
                    with contextlib.suppress(CannotCompile):
                        self._first_that_holds(one, other, visit, live, name)
                        return
            self._first_that_holds(one, form, visit, live, name)
        except CannotCompile:
            again = as_loop(body, visit) or without_first_turns(body, visit, self.definitions)
            for other in (*_in_columns(plain, self.definitions), again):
                if other is not None:
                    with contextlib.suppress(CannotCompile):
                        self._first_that_holds(one, other, visit, live, name)
                        return
            raise

    def _first_that_holds(self, one: _Trial, form: StandIns, visit: Visit, live: set[str], name: str) -> None:
        """The same of one form of the statements."""
        own = form.visit.after.keys() - visit.after.keys()
        given = (form.body, form.visit, live | own, name, self.definitions)
        line, dear = one.place.body[0].lineno, one.eager_s * one.runs >= pricing.LEAST_COMPILE
        made = form.visit.values.keys() - visit.values.keys()

        def holds(edit: EditText | None, seen: Visit = visit) -> bool:
            drawn = tuple(line for _, line in form.draws.values())
            one.draws = (*edit.draws, *drawn) if edit is not None else ()
            if edit is not None and edit.traced and self.recorder.seen[one.place.key].calls_itself:
                raise _calls_itself(one.place)
            if edit is not None and dear:
                edit = where_it_begins(edit, form.body)
                tests = () if form.depth else edit.tests  # what it asks of is there after the first turns
                reads = tuple(dict.fromkeys(m for n in edit.reads for m in form.reads.get(n, (n,))))
                edit = replace(edit, call=form.around(edit.call), tests=tests, reads=reads, draws=one.draws)
                if form.tests:
                    edit = edit.importing(free_name(OURS, visit, COMPILED)).guarded(form.tests, one.place.body)
                    edit = replace(edit, reads=tuple(dict.fromkeys(form.parts.get(n, n) for n in edit.reads)))
                compares_itself = edit.traced and tuple(form.body) == tuple(one.place.body) and not edit.draws
                if not compares_itself:
                    edit = edit.of_same_sources(one.place.body, seen)
                seen = replace(seen, values={n: v for n, v in seen.values.items() if n not in made})
                try:
                    one.proof = proof(one.place.body, edit, seen, live | set(), line, _most(one.eager_s * one.runs))
                except (CannotCompile, CompilesTooLong) as reason:
                    raise edit.instead or reason from None
                one.edit = edit
                if self.recorder.seen[one.place.key].count == 1 and (later := one.proof.eager_s) < one.eager_s:
                    one.eager_s = later + (one.eager_s - later) / one.runs  # eager libraries compile in the first run
            return edit is not None

        without_objects: CannotCompile | None = None
        try:
            if (apart := written_apart(*given, form.parts)) is not None and holds(*apart):
                return
        except CannotCompile as reason:
            without_objects = reason
        with contextlib.suppress(CannotCompile):
            if holds(written_in_parts(*given)):
                return
        try:
            holds(written(*given))
            return
        except CannotCompile as reason:
            first = reason
        with contextlib.suppress(CannotCompile):
            if dear and first.cut.why in ("shape", "object"):
                if holds(written_by_turns(*given, sizes=first.cut.why == "shape")):
                    return
        if not holds(written_mixed(*given)):  # in the second form draws in methods may be none that stand in the way
            if without_objects is not None and (first.cut.why == "random" or without_objects.cut.why == "differences"):
                raise without_objects
            raise first

    def _decided(self, tried: list[_Trial]) -> list[Region]:
        good = [t for t in tried if t.edit is not None and t.proof is not None and self._price(t)[0]]
        if good and self.whole and harmless([c.source for c in self.cells]):
            good = self._replayed(good)
        elif good:
            good = [t for t in good if self._price(t, pricing.UNTRIED)[0]]
        regions = [self._region(t, good) for t in tried]
        kept = _once([r for r in regions if r is not None])
        return sorted(kept, key=lambda r: (r.cell, r.line))

    def _price(self, t: _Trial, margin: float = pricing.MARGIN) -> tuple[bool, float, float]:
        assert t.proof is not None
        calls = max(1, self.recorder.seen[t.place.key].count)
        compiled = t.proof.again_s * calls
        compile_s = max(0.0, t.proof.first_s - t.proof.again_s)
        return pricing.pays(t.eager_s, compiled, compile_s, t.runs, margin), compiled, compile_s

    def _replayed(self, good: list[_Trial]) -> list[_Trial]:
        """Those that keep the whole program's values and make their cell faster. Together first; one by one where that fails."""
        plain, runs = [c.source for c in self.cells], [c.runs for c in self.cells]
        try:
            allowed = max(t.edit.allowed for t in good if t.edit is not None)
            noise = dict(ChainMap(*(dict(t.proof.noise) for t in good if t.proof is not None)))
            line, edited = good[0].place.body[0].lineno, self._applied(good)
            found = self._twice_if_close(
                good, lambda: replay(plain, edited, runs, self.cell_seconds, line, allowed, noise)
            )
        except subprocess.TimeoutExpired:
            return [t for t in good if self._price(t, pricing.UNTRIED)[0]]
        except CannotCompile as reason:
            if len(good) == 1:
                good[0].cut = reason.cut
                return []
            alone = [t for one in good for t in self._replayed([one])]
            return alone if len(alone) < 2 or len(alone) == len(good) else self._replayed(alone)
        kept = []
        for t in good:
            assert t.proof is not None
            t.proof = replace(t.proof, same=joined([t.proof.same, found.same]))
            before, after = found.plain_s[t.main], found.edited_s[t.main] + max(0.0, self._spent_elsewhere(t, found))
            if after < pricing.MARGIN * before:
                kept.append(t)
            else:
                t.lost = after >= before
                t.text = (
                    f"run whole in {pricing.times(t.runs)}, the plain cell took {pricing.seconds(before)} and the edited one "
                    f"{pricing.seconds(after)}, compiling included"
                )
        return kept

    def _twice_if_close(self, good: list[_Trial], again: Callable[[], Replay]) -> Replay:
        """What a replay says; the sum of two, per run, where one alone does not decide."""
        found = again()
        shares = [found.edited_s[t.main] / max(found.plain_s[t.main], 1e-9) for t in good]
        if not any(pricing.UNTRIED < share < 1.0 for share in shares):
            return found
        other = again()
        mean = lambda a, b: [(x + y) / 2 for x, y in zip(a, b, strict=True)]
        return Replay(
            mean(found.plain_s, other.plain_s), mean(found.edited_s, other.edited_s), joined([found.same, other.same])
        )

    def _spent_elsewhere(self, t: _Trial, found: Replay) -> float:
        """Seconds that the edit added to the cell it stands in, where that is another one than the one that runs it."""
        k = self.cells.index(t.cell)
        return 0.0 if k == t.main else found.edited_s[k] - found.plain_s[k]

    def _applied(self, good: list[_Trial]) -> list[str]:
        sources = []
        for cell in self.cells:
            lines = cell.source.splitlines()
            for t in sorted((t for t in good if t.cell is cell), key=lambda t: -t.place.body[0].lineno):
                first, last, text = self._edit(t, good)
                if text is not None:
                    lines[first - 1 : last] = text.splitlines()
            sources.append("\n".join(lines) + "\n")
        return sources

    def _edit(self, t: _Trial, good: list[_Trial]) -> tuple[int, int, str | None]:
        """First and last line, and the text; None where another region of the same statement has it."""
        mine = [g for g in good if g.cell is t.cell and g.place.top is t.place.top]
        first, last = t.place.body[0].lineno, t.place.body[-1].end_lineno or 0
        assert t.edit is not None
        if t.place.top is t.place.body[0]:
            return first, last, "\n".join([*t.edit.imports, "", *t.edit.definition, "", *t.edit.call])
        if mine[0] is not t:
            return first, last, None
        top = t.place.top
        start = min([top.lineno, *(d.lineno for d in getattr(top, "decorator_list", []))])
        lines = t.cell.source.splitlines()[start - 1 : top.end_lineno]
        imports, definitions = dict.fromkeys(i for g in mine if g.edit for i in g.edit.imports), []
        for g in sorted(mine, key=lambda g: -g.place.body[0].lineno):
            assert g.edit is not None
            a, b = g.place.body[0].lineno - start, (g.place.body[-1].end_lineno or 0) - start + 1
            lines[a:b] = textwrap.indent("\n".join(g.edit.call), " " * g.place.body[0].col_offset).splitlines()
            definitions = [*g.edit.definition, "", *definitions]
        return start, top.end_lineno or last, "\n".join([*imports, "", *definitions, *lines])

    def _known(self, place: Place) -> dict[str, object]:
        visit = self.recorder.seen[place.key].visit
        return {**visit.values, **visit.after} if visit is not None else {}

    def _region(self, t: _Trial, good: list[_Trial]) -> Region | None:
        offset = t.cell.first - 1
        first, last = t.place.body[0].lineno, t.place.body[-1].end_lineno or 0
        base = Region(t.cell.number, first + offset, last + offset, "cannot", "", eager_s=t.eager_s)
        if t.cut is not None:
            cut = replace(t.cut, line=t.cut.line + offset)
            return replace(base, reason=f"line {cut.line}: {cut.note}", cuts=(cut,))
        total = pricing.seconds(t.eager_s * t.runs)
        base = replace(base, cuts=tuple(Cut(n + offset, "random", _BEFORE) for n in t.draws))
        if t.edit is None and t.text is not None:
            return replace(base, verdict="not worth it", reason=t.text, eager_s=None)
        if t.edit is None or t.proof is None:
            least = pricing.seconds(pricing.LEAST_COMPILE)
            return replace(
                base,
                verdict="not worth it",
                reason=(
                    f"one run takes {total}; "
                    if t.runs == 1
                    else f"{t.runs:,} runs of {pricing.seconds(t.eager_s)} are {total}; "
                )
                + f"compiling alone takes more than {least} (an estimate, not tried)",
            )
        _, compiled, compile_s = self._price(t)
        even = None if t.lost else pricing.break_even(t.eager_s, compiled, compile_s)
        base = replace(
            base,
            compiled_s=compiled,
            compile_s=compile_s,
            break_even_runs=even,
            same=t.proof.same.bound(),
            reads=t.edit.reads,
        )
        again = " that finds what it reads as it was (else it is traced)" if t.edit.traced else ""
        sum_of = (
            f"{pricing.seconds(compile_s)} to compile and {pricing.seconds(compiled)} a run{again}, for {pricing.seconds(t.eager_s)} a run "
            f"in Python: {'never paid back' if even is None else f'paid back after {pricing.times(even)}'}; {pricing.times(t.runs)} known"
        )
        if t not in good:
            little = pricing.too_little(t.eager_s, compiled, compile_s, t.runs)
            return replace(base, verdict="not worth it", reason=t.text or sum_of + little)
        start, end, text = self._edit(t, good)
        if text is None:
            return None
        own = "" if (start, end) == (first, last) else f"lines {first + offset} to {last + offset} in it: "
        same = _sameness_said(t.proof.same)
        reads = ", ".join(f"`{n}`" for n in t.edit.reads) or "nothing"
        return replace(
            base,
            line=start + offset,
            end_line=end + offset,
            verdict="compile",
            edit=text + "\n",
            reason=f"{own}no effect seen in this run{_drawn_said(t.draws, offset)}; reads {reads}; {same}; {sum_of}{_caution(t.place, offset, self._known(t.place))}",
        )


def _in_columns(plain: StandIns, definitions: Definitions) -> list[StandIns]:
    """A form of one loop over what an iterator gives, the first turns of which stay Python's where these make other kinds of things."""
    if (form := iterators.in_columns(plain)) is None:
        return []
    if (rest := without_first_turns(form.body, form.visit, definitions)) is None:
        return [form]
    before, after = (*form.before, *rest.before), (*rest.after, *form.after)
    whole = replace(rest, before=before, after=after, reads=form.reads)
    return [iterators.written_out(whole, definitions) or whole]


def _calls_itself(place: Place) -> CannotCompile:
    """A stretch of a function that calls the function would be traced while it is."""
    name = place.function.name if place.function is not None else ""
    line = naming.line_of(place.body, f"{name}()") or place.body[0].lineno
    return CannotCompile(line, "object", f"`{name}` calls itself")


def _once(regions: list[Region]) -> list[Region]:
    """The regions, each statement told once: where a part of a statement is compiled, the refusal of the whole is a cut of that."""
    good = {(r.cell, r.line, r.end_line) for r in regions if r.verdict == "compile"}
    whole = [r for r in regions if r.verdict == "cannot" and (r.cell, r.line, r.end_line) in good]
    cuts = {(r.cell, r.line, r.end_line): r.cuts for r in whole}
    return [
        replace(r, cuts=(*r.cuts, *cuts.get((r.cell, r.line, r.end_line), ()))) if r.verdict == "compile" else r
        for r in regions
        if r not in whole
    ]


def _most(total: float) -> float:
    """Seconds that compiling may take where all runs take so many: clocks differ, and other programs run beside this one."""
    return 2 * total + 1


def _sameness_said(same: Differences) -> str:
    """How far the results were apart, and how far they may be on other values."""
    seen = (
        "bits equal in all that was compared"
        if same.bits
        else f"differed by at most {same.max_abs:.1e} in all that was compared"
    )
    most = same.bound().max_abs
    return f"{seen} (on other such values take {most:.1e} as the bound, an estimate)" if most else seen


def _drawn_said(lines: tuple[int, ...], offset: int) -> str:
    """That random numbers are drawn, where any are."""
    where = _lines_said(sorted({*lines}), offset)
    return (
        f" but drawing random numbers ({where}), which Python does before the loop, as many and in the same order"
        if lines
        else ""
    )


def _caution(place: Place, offset: int, known: dict[str, object]) -> str:
    """What an edit leaves to the user: compiled code does not raise for an index out of range."""
    said = ""
    empty = empty_choices(place.body, known)
    if lines := [n for n in naming.computed_indices(place.body) if n not in empty]:
        said = f"; an index that values decide ({_lines_said(lines, offset)}) must be in range: compiled code takes the nearest place where NumPy raises"
    if empty:
        said += f"; a mask that picks nothing ({_lines_said(empty, offset)}) is not warned of, as NumPy does"
    return said


def _lines_said(lines: list[int], offset: int) -> str:
    texts = [str(line + offset) for line in lines]
    return f"line {texts[0]}" if len(texts) == 1 else f"lines {', '.join(texts)}"


def _found_inside(one: _Trial, others: list[_Trial]) -> bool:
    """Whether a straight stretch was refused of which a statement alone is compiled."""
    if one.edit is not None or one.place.loop:
        return False
    return any(t.edit is not None and t.place.body[0] in one.place.body for t in others if t is not one)


def _walk(place: Place) -> list[ast.AST]:
    return [n for s in place.body for n in ast.walk(s)]


def _lists(among: Iterable[ast.AST]) -> set[str]:
    """Names of what is appended to."""
    return {
        n.func.value.id
        for n in naming.all_of(ast.Call, among)
        if isinstance(n.func, ast.Attribute) and n.func.attr == "append" and isinstance(n.func.value, ast.Name)
    }
