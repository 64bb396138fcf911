"""The statements of a region as the text of a compiled function and of its call."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from . import (
    changing_names,
    chosen_signs,
    counts,
    ends,
    growing,
    in_place,
    list_buffers,
    made_lists,
    masks,
    naming,
    number_lists,
    shrinking,
    texts,
    words,
)
from .answers import CannotCompile
from .arguments import StoringCalls
from .bounds import Bounds
from .functions import Definitions, Functions
from .homes import Home, is_number, shares
from .list_elements import bounded, in_elements
from .loops import indent
from .parts import COMPILED, OURS, EditText, allowed_in, free_name, imports_of, numpy_in
from .results import Results
from .returns import at_the_end
from .statements import Statements
from .watching import Visit


def translated(
    body: naming.Statements,
    visit: Visit,
    live: set[str],
    name: str,
    home: Home,
    definitions: Definitions,
    turns: tuple[int, frozenset[str]] = (0, frozenset()),
) -> EditText:
    """The region as a function called `name`. `turns` are the line of a loop whose turns are traced one by one, and the whole numbers that are known in
    each. The edit's tests are still to be put before it. Raises CannotCompile with the line that has no compiled form."""
    region = _Region(body, visit, live, home, definitions, turns[1])
    _nothing_hidden(region.body, region.values, region.visit)
    if not turns[0]:
        _same_shapes(region.body, region.visit, region.shorter)
    text = _FunctionText(region, turns[0])
    text.refuse_what_does_not_go_in()
    return text.edit(name)


class _Region:
    """The statements in the forms that have a compiled one, and what they need before and after."""

    def __init__(
        self,
        body: naming.Statements,
        visit: Visit,
        live: set[str],
        home: Home,
        definitions: Definitions,
        known: frozenset[str],
    ) -> None:
        self.home, self.known = home, known
        body, self.definitions = changing_names.handed_in(body, visit, definitions)
        seen = dict(visit.values)
        self.lists = made_lists.as_arrays(body, visit, seen) if home.numpy else made_lists.MadeLists(body, visit)
        self.body, self.visit, self.live = self.lists.body, self.lists.visit, live | self.lists.longer.keys()
        self.jnp, self.lax = (
            free_name(wish, self.visit, f"{home.library}.{module}")
            for wish, module in (("jnp", "numpy"), ("lax", "lax"))
        )
        self.values: dict[str, object] = {}
        self.numbers: dict[str, int] = {}
        self.letters: set[str] = set()
        self.shorter: Collection[str] = ()
        self.tests: tuple[str, ...] = ()
        self.in_rows: list[str] = []
        self.again: list[str] = []
        """What is computed once more after the call, and not handed back."""
        self._lists_of_numbers()
        self._sizes()
        self._stores()

    def _lists_of_numbers(self) -> None:
        """Python's lists of numbers, and letters that are compared, as arrays."""
        if self.home.numpy:
            self.numbers = number_lists.number_lists(self.body, self.visit, self.definitions)
            self.letters = texts.letters(self.body, self.visit.values)
        self.body = number_lists.as_arrays(self.body, self.numbers)
        seen = self.visit.values
        coded = {n: texts.codes(seen[n]) for n in self.letters}
        self.values = {n: np.asarray(v) if n in self.numbers else coded.get(n, v) for n, v in seen.items()}
        self.body = texts.in_codes(self.body, self.letters) if self.letters else self.body

    def _sizes(self) -> None:
        """Sizes that the values decide, and ends of lists that grow."""
        after = self.visit.after
        if self.home.numpy:
            self.body, self.shorter = shrinking.in_whole(self.body, self.values, after, numpy_in(self.values))
            self.body, self.tests = counts.of_known_size(self.body, self.values)
        self.body, self.at_ends, self.long_enough = ends.beside(
            self.body, self.values, after, "" if self.home.numpy else self.jnp
        )

    def _stores(self) -> None:
        """Stores, also those of calls, lists as rows of an array, and parts that masks pick."""
        self.changed = StoringCalls(self.values, self.definitions)
        if not self.home.numpy:
            return
        after = self.visit.after
        self.body = self.changed.written(in_place.stores(self.body, self.values, after))
        in_place.not_through_loops(self.body, {**self.values, **after})
        self.body, self.in_rows = list_buffers.in_rows(self.body, self.values, after)
        self.body, again, wholes = self._unmasked()
        self.again = [a for a in again if a.partition(" = ")[0] in self.live]
        wholes = {n: v for n, v in wholes.items() if n.removeprefix("whole_of_") in self.live}
        read = naming.loaded(ast.parse("\n".join(self.again)).body) & naming.bound(self.body)
        if wholes:
            self.visit = replace(self.visit, after={**after, **wholes}, ends={**self.visit.ends, **wholes})
        self.live = self.live | read | wholes.keys() | in_place.stored_before(self.body, self.values, self.visit)

    def _unmasked(self) -> tuple[tuple[ast.stmt, ...], list[str], dict[str, np.ndarray]]:
        moving = (naming.bound(self.body) | naming.stored_into(self.body)) - self.known
        return masks.unmasked(self.body, self.values, self.visit.after, self.jnp, moving, numpy_in(self.values))


class _FunctionText:
    """The text of a region's function: which names are handed in, the lines, what is handed back."""

    def __init__(self, region: _Region, traced_turns: int) -> None:
        self.region, body, values = region, region.body, region.values
        self.used, self.stored, self.made = naming.loaded(body), naming.stored_into(body), naming.bound(body)
        self.written = self.made | self.stored
        """The names that statements bind or store into."""
        arrays = {n for n in self.used | self.written if n in values and is_number(values[n])}
        self.arrays = arrays
        changing = self.written - region.known
        self.moving = arrays - {n for n in arrays if isinstance(values[n], (int, bool)) and n not in changing}
        self.functions = self._functions()
        self.writer = self._statements(traced_turns)
        self.columns = growing.columns(body, values, region.home)
        self.appended = [*growing.lists(body, values), *self.columns, *region.in_rows]
        self.outs = sorted(n for n in self.written & region.live if n in region.visit.after and n not in self.appended)
        chosen_signs.not_left(body, values, self.outs if region.home.numpy else ())
        self.lines = self._lines()
        self.replaced = self.functions.tests.keys() - naming.loaded(
            [ast.parse("\n".join([*self.functions.lines, *self.lines]))]
        )
        self.reads = self._reads()
        self.fixed = [n for n in self.reads if words.is_static(values[n]) and n not in changing]

    def _functions(self) -> Functions:
        """The functions that the region calls."""
        region, own = self.region, self.used | self.made
        visit, written = region.visit, self.written
        found = Functions(region.values, region.definitions)
        found.changed, found.ours = region.changed.of, free_name(OURS, visit, COMPILED)
        found.outside = lambda n, cell: n in visit.enclosed and n not in written
        stored = self.stored | visit.changed
        known = [*visit.live.items(), *visit.values.items()]  # functions that were copied keep copies
        touched = [v for n, v in known if isinstance(v, np.ndarray) and n in stored]

        def hand_in(n: str, value: object) -> bool:
            if words.of_users(value) and n not in own:
                region.values[n] = value
                return True
            lone = not any(shares(value, v) for v in touched) if isinstance(value, np.ndarray) else True
            if n in own or not lone or not (is_number(value) or words.is_static(value)) or isinstance(value, type):
                return False
            region.values[n] = value
            if not words.is_static(value):
                self.moving.add(n)
                self.writer.moving.add(n)
            return True

        found.hand_in, found.write = hand_in, self._function
        return found

    def _statements(self, traced_turns: int) -> Statements:
        region = self.region
        body, visit = region.body, region.visit
        found = self._writer({*self.moving}, in_place.names_stored(body, region.values))
        given_in = naming.read_first(body) | naming.bound_or_not(body) | self.stored
        found.traced_turns, found.expressions.after = traced_turns, visit.after
        found.region, found.after = body, visit.after
        found.defined = self.arrays & (visit.values.keys() | region.at_ends.keys()) & given_in
        return found

    def _writer(self, moving: set[str], stored: Collection[str]) -> Statements:
        region = self.region
        return Statements(region.values, moving, stored, region.jnp, region.lax, region.home, self.functions)

    def _function(self, node: ast.FunctionDef, given: set[str]) -> list[str]:
        """A function of the user's, written once more inside of the region's."""
        region = self.region
        if region.home.numpy:
            seen = region.changed.inside_values(node)
            in_place.not_through_loops(in_place.stores(node.body, {**seen}, {}), seen)
        node = at_the_end(region.changed.handed_back(node, region.jnp) if region.home.numpy else node)
        inner = self._writer({*given, *self.moving}, naming.stored_into(node.body))
        inner.expressions.local, inner.defined = given | naming.bound(node.body), set(given)
        inner.region, inner.local = node.body, True
        inner.count = 100 * (1 + len(self.functions.lines))
        return [f"def {node.name}({ast.unparse(node.args)}):", *indent(_returning(node.body, inner))]

    def _lines(self) -> list[str]:
        rows = [f"{part}_of_{n}" for n in self.region.in_rows for part in ("rows", "count")]
        self.writer.columns = frozenset(self.columns)
        return _whole(self.region.body, self.writer, {*self.region.live, *self.outs, *rows})

    def _reads(self) -> list[str]:
        region, body, kept = self.region, self.region.body, self.functions.kept
        needed = naming.read_first(body) | naming.bound_or_not(body) & self.arrays | self.functions.reads | self.stored
        there = region.visit.values.keys() | region.at_ends.keys() | kept.keys()
        return sorted(
            n for n in needed & there if _goes_in(region.values[n], n, self.appended) and n not in self.replaced
        )

    def refuse_what_does_not_go_in(self) -> None:
        """Raises CannotCompile for objects that are read, and for whole numbers without a bound."""
        region = self.region
        for n in self.reads:
            value = region.values[n]
            if not (is_number(value) or words.is_static(value)):
                held = isinstance(value, (list, dict, deque))
                raise CannotCompile(region.body[0].lineno, "object", f"`{n}` is a {type(value).__name__}", runs=held)
        counted = in_elements(region.numbers, *(region.lists.elements or (region.body, region.visit.values)))
        bounded(region.numbers.keys() & self.written, *counted, region.visit)
        for n in self.written - region.known:
            _counts_only(n, *counted, region.visit)

    def edit(self, name: str) -> EditText:
        """The function under a name, and its call."""
        region, functions = self.region, self.functions
        visit, values, reads = region.visit, region.values, self.reads
        definition, call = self._definition(name), self._call(name)
        arrays_made = region.numbers.keys() | region.letters | region.lists.given.keys()
        known = [*(values[n] for n in reads), *(visit.after[n] for n in self.written if n in visit.after)]
        sized = [n for n in reads if n in visit.values and _has_size(visit.values[n], n in self.fixed)]
        said = {n: n.partition("_of_")[0] for n in functions.kept} | region.at_ends
        return EditText(
            (
                *(["import numpy"] if arrays_made & {*reads} else []),
                *imports_of(region.home, region.jnp, region.lax, "\n".join([*definition, *call]), functions.ours),
            ),
            tuple(definition),
            tuple(call),
            tuple(said.get(n, n).partition(" if ")[0] for n in [*reads, *sorted(self.replaced)]),
            frozenset(functions.names),
            allowed_in(region.home, known),
            tests=(*region.tests, *region.long_enough, *functions.tests.values()),
            sizes=frozenset(sized if functions.windows else ()),
        )

    def _parameters(self) -> list[str]:
        return [n for n in self.reads if n not in self.fixed] + self.fixed

    def _definition(self, name: str) -> list[str]:
        rows = self.region.in_rows
        items = [f"rows_of_{n}" if n in rows else f"items_of_{n}" for n in self.appended]
        results = [*self.outs, *items, *(f"count_of_{n}" for n in rows)]
        end = f"return ({', '.join(results)}{',' if results else ''})"
        lines = [f"def {name}({', '.join(self._parameters())}):", *indent([*self.functions.lines, *self.lines, end])]
        static = f", static_argnames={tuple(self.fixed)!r}" if self.fixed else ""
        compiled = f"{self.region.home.library}.jit({name}{static})"
        return [
            *filter(None, ast.unparse(ast.parse("\n".join(lines))).splitlines()),
            f'if globals().get("{name}_code") != {name}.__code__:  # compiled anew only when its text has changed',
            f"    {name}_code, {name}_compiled = {name}.__code__, {compiled}",
        ]

    def _call(self, name: str) -> list[str]:
        region, kept = self.region, self.functions.kept
        given = {n: f"{n}={n}" for n in self.fixed} | {n: f"numpy.asarray({n})" for n in region.numbers}
        given |= region.lists.given
        given |= {n: texts.as_codes(n) for n in region.letters} | region.at_ends
        given |= {n: f"{n}={text}" if n in self.fixed else text for n, text in kept.items()}
        passed = ", ".join(given.get(n, n) for n in self._parameters())
        lists = {n: self.columns.get(n) for n in self.appended}
        results = Results(
            name,
            self.outs,
            lists,
            region.visit,
            region.home,
            region.body,
            region.in_rows,
            region.numbers,
            region.lists,
        )
        return [*results.call(passed), *region.again]


def _has_size(value: object, fixed: bool) -> bool:
    """Whether this is an array, a list, or a whole number that the text is written with."""
    return isinstance(value, list) or hasattr(value, "shape") or (fixed and isinstance(value, int))


def _whole(body: naming.Statements, writer: Statements, live: set[str]) -> list[str]:
    lines: list[str] = []
    for k, s in enumerate(body):
        lines += writer.statement(s, live | naming.loaded(body[k + 1 :]), None)
        writer.defined |= naming.bound_for_certain([s])
    return lines


def _returning(body: list[ast.stmt], writer: Statements) -> list[str]:
    """The body of a function of the user's; one `return` at the end, or one more in an `if` before it."""
    *first, last = body
    if not isinstance(last, ast.Return) or last.value is None:
        raise CannotCompile(last.lineno, "effect", "a function that is called here ends without `return`")
    end = writer.text(last.value) if not first else None
    lines: list[str] = []
    for k, s in enumerate(first):
        if (
            isinstance(s, ast.If)
            and len(s.body) == 1
            and isinstance(s.body[0], ast.Return)
            and s.body[0].value
            and not s.orelse
        ):
            rest = _returning(body[k + 1 :], writer)
            if len(rest) != 1:
                raise CannotCompile(s.lineno, "value read by Python", "a function returns in the middle of a branch")
            other = rest[0].removeprefix("return ")
            return [
                *lines,
                f"return {writer.jnp}.where({writer.text(s.test)}, {writer.text(s.body[0].value)}, {other})",
            ]
        lines += writer.statement(s, naming.loaded(body[k + 1 :]), None)
        writer.defined |= naming.bound_for_certain([s])
    return [*lines, f"return {end or writer.text(last.value)}"]


def _nothing_hidden(body: naming.Statements, values: Mapping[str, object], visit: Visit) -> None:
    for s in body:
        for node in ast.walk(s):
            if isinstance(node, (ast.Global, ast.Nonlocal, ast.Delete)):
                raise CannotCompile(
                    node.lineno,
                    "effect",
                    f"`{ast.unparse(node)[:60]}` binds or removes what stands outside of the region",
                )
    arrays = {n: v for n, v in visit.live.items() if isinstance(v, np.ndarray)}
    for n in arrays:
        if arrays[n].dtype.hasobject or arrays[n].dtype.kind not in "biufc" or type(arrays[n]) is not np.ndarray:
            raise CannotCompile(body[0].lineno, "object", f"`{n}` holds objects ({arrays[n].dtype}), not numbers")
    anew = naming.bound_for_certain(body) - naming.read_first(body)
    touched = in_place.names_stored(body, values) & arrays.keys() - anew
    for n in touched:
        for other, array in [(m, v) for m, v in arrays.items() if m not in anew]:
            if other != n and shares(arrays[n], array):
                raise CannotCompile(
                    body[0].lineno, "effect", f"`{n}` is stored into and shares its memory with `{other}` (aliasing)"
                )


def _same_shapes(body: naming.Statements, visit: Visit, but: Collection[str]) -> None:
    """Refuses arrays that a turn of a loop makes of their own earlier form, in another shape."""
    for k, s in enumerate(body):
        if not isinstance(s, (ast.For, ast.While)):
            continue
        for n in (naming.bound(s.body) & naming.read_first(s.body)) - naming.bound(body[:k]) - set(but):
            first, last = visit.values.get(n), visit.after.get(n)
            if isinstance(first, np.ndarray) and isinstance(last, np.ndarray) and first.ndim and first.size > last.size:
                made = naming.all_of(ast.stmt, s.body)
                lines = [t.lineno for t in made if n in {ast.unparse(x) for x in naming.targets_of(t)}]
                said = f"`{n}` has {list(first.shape)} before the loop and {list(last.shape)} after it: its shape changes from turn to turn"
                raise CannotCompile(lines[0] if lines else s.lineno, "shape", said)


def _goes_in(value: object, name: str, lists: list[str]) -> bool:
    return (
        not (callable(value) and not isinstance(value, type))
        and not isinstance(value, type(ast))
        and name not in lists
        and not isinstance(value, type)
    )


def _counts_only(name: str, body: naming.Statements, values: Mapping[str, object], visit: Visit) -> None:
    """Refuses Python's whole numbers that grow by more than counting: they have no bound, compiled ones have."""
    if type(visit.after.get(name)) is not int:
        return
    bounds = Bounds(body, values, visit.after, visit.held)
    if bounds.stays(name) or bounds.adds(name):
        return
    for s in naming.all_of(ast.stmt, body):
        if name in {t.id for t in naming.targets_of(s) if isinstance(t, ast.Name)}:
            raise CannotCompile(
                s.lineno, "object", f"`{name}` is a Python whole number, which has no bound; compiled ones wrap around"
            )
