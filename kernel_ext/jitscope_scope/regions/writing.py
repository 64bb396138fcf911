"""A region as a compiled function and its call: the lines that take the place of the region's own."""

from __future__ import annotations

import ast
import contextlib
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from . import (
    changing_names,
    chosen_signs,
    counts,
    ends,
    few_turns,
    growing,
    identities,
    in_place,
    kinds,
    list_buffers,
    made_lists as lists_made,
    masks,
    naming,
    number_lists,
    shrinking,
    texts,
    whole_numbers,
    words,
)
from .answers import CannotCompile
from .arguments import StoringCalls
from .bounds import Bounds
from .draws import without_draws
from .effects import Effects
from .functions import Definitions, Functions
from .homes import Home, home_of, is_number, shares
from .inlined_calls import inlined
from .library_statements import unchanged
from .list_elements import bounded, in_elements
from .loops import indent
from .mixtures import as_of_numpy
from .objects_apart import taken_apart
from .owners import parts_of_owners, where_they_are_parts
from .parts import COMPILED, OURS, EditText, allowed_in, free_name, imports_of, numpy_in
from .returns import at_the_end
from .statements import Statements
from .stops import Writing, between, in_pieces, left
from .views import view_again
from .watching import Visit


def written(body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions) -> EditText:
    """The region as a function of what it reads. `visit` has the values at its start and end, `live` the names read afterwards.
    Raises CannotCompile with the line that has no compiled form."""
    found = without_draws(body, visit, definitions)
    try:
        edit = _written(
            found.body, found.visit, live | naming.bound(found.body) - naming.bound(body), name, definitions
        )
    except CannotCompile as reason:
        raise found.of_calls(reason, definitions) from None
    return found.whole(edit, body)


def written_by_turns(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions, sizes: bool
) -> EditText | None:
    """The same with each turn of the loop traced for itself; None where it has many, or values decide how many, and where neither `sizes`
    change nor whole numbers that are known in each turn."""
    found = without_draws(body, visit, definitions)
    home = home_of(found.body, found.visit.values)
    loop = found.body[-1]
    if not home.numpy or len(found.body) > 1 or not isinstance(loop, (ast.For, ast.While)):
        return None
    static = few_turns.static_numbers(found.body, found.visit)
    if not (sizes or static) or not few_turns.test_is_known(loop, found.visit, found.body, static):
        return None
    if not few_turns.has_few(found.body, found.visit, definitions):
        return None
    if static & naming.read_first(found.body) & {*whole_numbers.without_bounds(found.body, found.visit)}:
        return None  # they go on growing in a later run, beyond 64 bits
    live = live | naming.bound(found.body) - naming.bound(body)
    edit = _translated(found.body, found.visit, live, name, home, definitions, (loop.lineno, frozenset(static)))
    edit = edit.of_same_sizes(found.visit).of_same_kinds(found.visit)
    edit = edit.under_tests(found.body)
    return found.whole(edit, body)


def written_apart(
    body: naming.Statements,
    visit: Visit,
    live: set[str],
    name: str,
    definitions: Definitions,
    whole: Collection[str] = (),
) -> tuple[EditText, Visit] | None:
    """The same with the objects of the user's taken apart, but for those that stay `whole`, and what was seen with the classes that the edit
    asks for; None where there are no objects to be taken apart."""
    apart = taken_apart(body, visit, definitions, whole)
    if apart is None:
        return None
    stood = apart.stood
    try:
        edit = written(stood.body, stood.visit, live | apart.bound, name, definitions)
    except CannotCompile as reason:
        raise reason.in_words(apart.texts) from None
    if edit.traced:
        return None
    edit = replace(
        edit,
        call=(*stood.before, *edit.call, *stood.after),
        reads=tuple(dict.fromkeys(apart.texts.get(n, n) for n in edit.reads)),
        inlined=edit.inlined | apart.inlined,
    )
    return apart.guarded(edit, body), replace(visit, values={**apart.values, **visit.values})


def written_in_parts(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions
) -> EditText | None:
    """The same with views of arrays that the region names as parts of these; None where there are none."""
    found = parts_of_owners(body, visit)
    if found is None:
        return None
    new, seen, parts = found
    owners = {o for p in parts.values() if (o := naming.root_of(p)) is not None}
    edit = written(new, seen, live - parts.keys() | owners, name, definitions)
    return where_they_are_parts(edit, body, parts, free_name(OURS, visit, COMPILED))


def written_mixed(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions
) -> EditText | None:
    """The region of jitscope's or jax's arrays with NumPy's among them, each of its own types; None where NumPy has no part in it, or there is no
    loop."""
    found = without_draws(body, visit, definitions)
    used = naming.loaded(found.body) | naming.stored_into(found.body)
    of_numpy = any(visit.values.get(n) is np or isinstance(visit.values.get(n), np.ndarray) for n in used)
    home = home_of(found.body, found.visit.values)
    if home.numpy or not of_numpy or not isinstance(found.body[-1], (ast.For, ast.While)):
        return None
    live, mixed = live | naming.bound(found.body) - naming.bound(body), Home(f"mixed with {home.arrays}")

    def write(body: naming.Statements, visit: Visit, live: set[str]) -> EditText:
        try:
            return unchanged(as_of_numpy(body, visit), visit, live, name, mixed, definitions)
        except CannotCompile:
            if (cut := _cut_at_stops(body, visit, live, name, definitions, write)) is not None:
                return cut
            raise

    edit = write(found.body, found.visit, live)
    return found.whole(edit, body)


def _written(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions, piece: bool = False
) -> EditText:
    """Of a `piece` it is asked before all of them of which types its values are."""
    home = home_of(body, visit.values)
    try:
        whole, seen = inlined(body, visit, definitions) if home.numpy else (body, visit)
        noted, seen, mixed = kinds.noted(whole, seen, live, name) if home.numpy else (whole, seen, {})
        noted, seen, one = identities.noted(noted, seen, live, name) if home.numpy else (noted, seen, {})
        noted, seen, exact = whole_numbers.noted(noted, seen, name) if home.numpy else (noted, seen, "")
        flags = {flag for flag, _ in mixed.values()} | one.keys() | {exact} - {""}
        edit = _translated(noted, seen, live | flags, name, home, definitions)
        edit = identities.restored(edit, one, visit.values) if one else edit
        edit = kinds.restored(edit, mixed, visit.values) if mixed else edit
        edit = whole_numbers.guarded(edit, exact, name, body, seen) if exact else edit
        edit = edit.of_same_sizes(visit)
        return (edit if piece else edit.of_same_kinds(visit)).under_tests(body)
    except CannotCompile as reason:
        write = lambda b, v, n: _written(b, v, n, name, definitions, piece=True)
        if (cut := _cut_at_stops(body, visit, live, name, definitions, write)) is not None:
            return (
                cut
                if piece
                else replace(replace(cut, tests=(), kinds=()).of_same_kinds(visit).under_tests(body), tests=cut.tests)
            )
        Effects(definitions).of_region(body, visit.values)
        if home.numpy and not visit.places and not (reason.runs and not whole_numbers.without_bounds(body, visit)):
            raise
        try:
            edit = unchanged(body, visit, live, name, home, definitions)
            return replace(edit, instead=reason) if home.numpy and not visit.places else edit
        except CannotCompile as other:
            raise (reason if home.numpy and reason.cut.why != "object" else other) from None


def _cut_at_stops(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions, write: Writing
) -> EditText | None:
    for way in (between, left, in_pieces):
        with contextlib.suppress(CannotCompile):
            cut = way(body, visit, live, name, definitions, write)
            if cut is not None:
                return cut
    return None


def _translated(
    body: naming.Statements,
    visit: Visit,
    live: set[str],
    name: str,
    home: Home,
    definitions: Definitions,
    turns: tuple[int, frozenset[str]] = (0, frozenset()),
) -> EditText:
    """`turns` are the line of a loop whose turns are traced one by one, and the whole numbers that are known in each. The edit's tests
    are still to be put before it."""
    seen = dict(visit.values)
    body, definitions = changing_names.handed_in(body, visit, definitions)
    made_lists = lists_made.as_arrays(body, visit, seen) if home.numpy else lists_made.MadeLists(body, visit)
    body, visit, live = made_lists.body, made_lists.visit, live | made_lists.longer.keys()
    numbers = number_lists.number_lists(body, visit, definitions) if home.numpy else {}
    body = number_lists.as_arrays(body, numbers)
    letters = texts.letters(body, visit.values) if home.numpy else set()
    coded = {n: texts.codes(visit.values[n]) for n in letters}
    values = {n: np.asarray(v) if n in numbers else coded.get(n, v) for n, v in visit.values.items()}
    jnp, lax = free_name("jnp", visit, f"{home.library}.numpy"), free_name("lax", visit, f"{home.library}.lax")
    body = texts.in_codes(body, letters) if letters else body
    body, shorter = shrinking.in_whole(body, values, visit.after, numpy_in(values)) if home.numpy else (body, set())
    body, tests = counts.of_known_size(body, values) if home.numpy else (body, ())
    body, at_ends, long_enough = ends.beside(body, values, visit.after)
    changed = StoringCalls(values, definitions)
    body = changed.written(in_place.stores(body, values, visit.after)) if home.numpy else body
    if home.numpy:
        in_place.not_through_loops(body, {**values, **visit.after})
    body, in_rows = list_buffers.in_rows(body, values, visit.after) if home.numpy else (body, [])
    body, again, wholes = _unmasked(body, values, visit, jnp, turns[1]) if home.numpy else (body, [], {})
    again = [a for a in again if a.partition(" = ")[0] in live or "\n" in a]
    if wholes:
        visit = replace(visit, after={**visit.after, **wholes}, ends={**visit.ends, **wholes})
        live = live | wholes.keys()
    used, stored = naming.loaded(body), naming.stored_into(body)
    live = live | in_place.stored_before(body, values, visit) if home.numpy else live
    _nothing_hidden(body, values, visit)
    if not turns[0]:
        _same_shapes(body, visit, shorter)
    made = naming.bound(body)
    arrays = {n for n in used | stored | made if n in values and is_number(values[n])}
    written_names = made | stored
    static = {n for n in arrays if isinstance(values[n], (int, bool)) and n not in written_names - turns[1]}
    moving = arrays - static
    functions = Functions(values, definitions)
    functions.changed, functions.ours = changed.of, free_name(OURS, visit, COMPILED)
    functions.outside = lambda n, cell: n in visit.enclosed and n not in made | stored
    touched = [v for n, v in visit.live.items() if isinstance(v, np.ndarray) and n in stored | visit.changed]

    def hand_in(n: str, value: object) -> bool:
        if words.of_users(value) and n not in used | made:
            values[n] = value
            return True
        lone = not any(shares(value, v) for v in touched) if isinstance(value, np.ndarray) else True
        if n in used | made or not lone or not (is_number(value) or words.is_static(value)) or isinstance(value, type):
            return False
        values[n] = value
        if not words.is_static(value):
            moving.add(n)
            writer.moving.add(n)
        return True

    functions.hand_in = hand_in
    target_stored = in_place.names_stored(body, values)
    writer = Statements(values, set(moving), target_stored, jnp, lax, home, functions)
    given_in = naming.read_first(body) | naming.bound_or_not(body) | stored
    writer.traced_turns, writer.expressions.after = turns[0], visit.after
    writer.region, writer.after, writer.defined = (
        body,
        visit.after,
        arrays & (visit.values.keys() | at_ends.keys()) & given_in,
    )

    def write(node: ast.FunctionDef, given: set[str]) -> list[str]:
        if home.numpy:
            seen = changed.inside_values(node)
            in_place.not_through_loops(in_place.stores(node.body, {**seen}, {}), seen)
        node = at_the_end(changed.handed_back(node, jnp) if home.numpy else node)
        inner = Statements(values, set(given) | set(moving), naming.stored_into(node.body), jnp, lax, home, functions)
        inner.expressions.local, inner.defined = given | naming.bound(node.body), set(given)
        inner.region, inner.local = node.body, True
        inner.count = 100 * (1 + len(functions.lines))
        return [f"def {node.name}({ast.unparse(node.args)}):", *indent(_returning(node.body, inner))]

    functions.write = write
    columns = growing.columns(body, values, home)
    appended = [*growing.lists(body, values), *columns, *in_rows]
    rows = [f"{part}_of_{n}" for n in in_rows for part in ("rows", "count")]
    writer.columns = frozenset(columns)
    outs = sorted(n for n in written_names & live if n in visit.after and n not in appended)
    chosen_signs.not_left(body, values, outs if home.numpy else ())
    lines = _whole(body, writer, live | set(outs) | set(rows))
    replaced = functions.tests.keys() - naming.loaded([ast.parse("\n".join([*functions.lines, *lines]))])
    reads = sorted(
        {
            n
            for n in (naming.read_first(body) | naming.bound_or_not(body) & arrays | functions.reads | stored)
            if (n in visit.values or n in at_ends or n in functions.kept)
            and _goes_in(values[n], n, appended)
            and n not in replaced
        }
    )
    for n in reads:
        if not (is_number(values[n]) or words.is_static(values[n])):
            held = isinstance(values[n], (list, dict, deque))
            raise CannotCompile(body[0].lineno, "object", f"`{n}` is a {type(values[n]).__name__}", runs=held)
    fixed = [n for n in reads if words.is_static(values[n]) and n not in written_names - turns[1]]
    counted = in_elements(numbers, *(made_lists.elements or (body, visit.values)))
    bounded(numbers.keys() & written_names, *counted, visit)
    for n in written_names:
        if n not in turns[1]:
            _counts_only(n, *counted, visit)
    items = [f"rows_of_{n}" if n in in_rows else f"items_of_{n}" for n in appended]
    items += [f"count_of_{n}" for n in in_rows]
    parameters = ", ".join([n for n in reads if n not in fixed] + fixed)
    function = [*functions.lines, *lines, f"return ({', '.join([*outs, *items])}{',' if outs or items else ''})"]
    definition = [
        *filter(
            None, ast.unparse(ast.parse("\n".join([f"def {name}({parameters}):", *indent(function)]))).splitlines()
        ),
        f'if globals().get("{name}_code") != {name}.__code__:  # compiled anew only when its text has changed',
        f"    {name}_code, {name}_compiled = {name}.__code__, {home.library}.jit({name}{f', static_argnames={tuple(fixed)!r}' if fixed else ''})",
    ]
    given = {n: f"{n}={n}" for n in fixed} | {n: f"numpy.asarray({n})" for n in numbers}
    given |= made_lists.given
    given |= {n: texts.as_codes(n) for n in letters} | at_ends
    given |= {n: f"{n}={text}" if n in fixed else text for n, text in functions.kept.items()}
    passed = ", ".join(given.get(n, n) for n in [n for n in reads if n not in fixed] + fixed)
    call = [
        *_call(
            name, passed, outs, {n: columns.get(n) for n in appended}, visit, home, body, in_rows, numbers, made_lists
        ),
        *again,
    ]
    imports = [
        *(["import numpy"] if (numbers.keys() | letters | made_lists.given.keys()) & set(reads) else []),
        *imports_of(home, jnp, lax, "\n".join(definition), functions.ours),
    ]
    return EditText(
        tuple(imports),
        tuple(definition),
        tuple(call),
        tuple(
            at_ends.get(n, n.partition("_of_")[0] if n in functions.kept else n).partition(" if ")[0]
            for n in [*reads, *sorted(replaced)]
        ),
        frozenset(functions.names),
        allowed_in(home, [*(values[n] for n in reads), *(visit.after[n] for n in written_names if n in visit.after)]),
        tests=(*tests, *long_enough, *functions.tests.values()),
        sizes=frozenset(n for n in reads if n in visit.values and _has_size(visit.values[n], n in fixed))
        if functions.windows
        else frozenset(),
    )


def _has_size(value: object, fixed: bool) -> bool:
    """Whether this is an array, a list, or a whole number that the text is written with."""
    return isinstance(value, list) or hasattr(value, "shape") or (fixed and isinstance(value, int))


def _unmasked(
    body: naming.Statements, values: dict[str, object], visit: Visit, jnp: str, known: frozenset[str]
) -> tuple[tuple[ast.stmt, ...], list[str], dict[str, np.ndarray]]:
    moving = (naming.bound(body) | naming.stored_into(body)) - known
    return masks.unmasked(body, values, visit.after, jnp, moving, numpy_in(values))


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


def _call(
    name: str,
    passed: str,
    outs: list[str],
    lists: Mapping[str, str | None],
    visit: Visit,
    home: Home,
    body: naming.Statements,
    in_rows: list[str],
    numbers: Mapping[str, int],
    made_lists: lists_made.MadeLists,
) -> list[str]:
    """Calls the function and puts its results where the cell had them: into the arrays themselves, or as new values of the same types."""
    if not home.numpy:
        return _call_of_arrays(name, passed, outs, lists, visit, home, kinds.literals(body))
    result = f"{name}_results"
    lines = ["with jitscope.enable_x64(True):", f"    {result} = jitscope.device_get({name}_compiled({passed}))"]
    objects = {id(v): n for n, v in visit.live.items() if isinstance(v, np.ndarray)}
    names: dict[str, str] = {}
    for n in outs:
        final = visit.ends[n]
        if id(final) in objects and isinstance(final, np.ndarray):
            names[objects[id(final)]] = n
    changed = set(visit.changed) | (_exchanged(body, in_place.names_stored(body, visit.values)) & names.keys())
    if missing := changed - names.keys():
        raise CannotCompile(
            0, "effect", f"`{min(missing)}` is changed in place and has no name afterwards", min(missing)
        )
    moved = {first: last for first, last in names.items() if first != last}
    lines += [f"{name}_{first} = {first}" for first in moved]
    seen: dict[int, str] = {}
    binds: list[str] = []
    tail: list[str] = []
    views = {n: again for n in outs if (again := view_again(n, body, visit, outs)) is not None}
    for k, n in enumerate(outs):
        final, value = visit.ends[n], visit.after[n]
        first = objects.get(id(final)) if isinstance(final, np.ndarray) else None
        if n in made_lists.texts:
            growing.no_views(n, visit)
            same = seen.setdefault(id(final), n)
            tail += made_lists.kept_again(n, visit)
            binds.append(f"{n} = {same}" if same != n else made_lists.bound(n, f"{result}[{k}]"))
        elif first is not None:
            source = f"{name}_{first}" if first in moved else first
            if first in changed:
                lines.append(f"{source}[...] = {result}[{k}]")
            if source != n:
                binds.append(f"{n} = {source}")
        elif isinstance(value, np.ndarray):
            if id(final) in seen:
                binds.append(f"{n} = {seen[id(final)]}")
                continue
            if n in views:
                tail += views[n]
                continue
            seen[id(final)] = n
            _no_view(n, final, visit, [o for o in outs if o not in views])
            order = (
                ", order='F'" if value.ndim > 1 and value.flags.f_contiguous and not value.flags.c_contiguous else ""
            )
            binds.append(f"{n} = {result}[{k}].copy({order.removeprefix(', ')})")
        elif n in numbers:
            binds += number_lists.put_back(n, numbers[n], f"{result}[{k}]")
        elif isinstance(value, np.generic):
            binds.append(f"{n} = {result}[{k}][()]")
        elif isinstance(value, (bool, int, float, complex)):
            binds.append(f"{n} = {type(value).__name__}({result}[{k}])")
        else:
            raise CannotCompile(0, "object", f"`{n}` becomes a {type(value).__name__}", n)
    for k, n in enumerate(lists, len(outs)):
        end = f"[:{result}[{len(outs) + len(lists) + in_rows.index(n)}]]" if n in in_rows else ""
        growing.no_views(n, visit)
        again = made_lists.extended(n, f"{result}[{k}]") if n in made_lists.rows else None
        binds.append(again or growing.afterwards(n, f"{result}[{k}]{end}", visit.after[n], None, home))
    tail += [f"{n} = {m}[-1]" for m, n in growing.put_last(body, visit).items() if m in lists and n in outs]
    for m, n in list_buffers.put_last(body, in_rows, visit).items():
        if n in outs:
            tail += [f"if {result}[{len(outs) + len(lists) + in_rows.index(m)}]:", f"    {n} = {m}[-1]"]
    ends = [f"{name}_{first}" for first in moved]
    return [*lines, *binds, *tail, f"del {', '.join([result, *ends])}"]


def _call_of_arrays(
    name: str,
    passed: str,
    outs: list[str],
    lists: Mapping[str, str | None],
    visit: Visit,
    home: Home,
    literals: Mapping[str, str],
) -> list[str]:
    """The same where the cell's arrays are the compiler's own. `literals` are names of numbers that the text has."""
    result = f"{name}_results"
    lines = [f"{result} = {name}_compiled({passed})"]
    for k, n in enumerate(outs):
        value = visit.after[n]
        if isinstance(value, (np.ndarray, np.generic)):
            raise CannotCompile(0, "object", f"`{n}` is an array of NumPy among those of {home.arrays}", n)
        kind = f"{type(value).__name__}({{}})" if isinstance(value, (int, float, complex)) else "{}"
        lines.append(f"{n} = {literals.get(n) or kind.format(f'{result}[{k}]')}")
    for k, n in enumerate(lists, len(outs)):
        lines.append(growing.afterwards(n, f"{result}[{k}]", visit.after.get(n), lists[n], home))
    return [*lines, f"del {result}"]


def _exchanged(body: naming.Statements, stored: set[str]) -> set[str]:
    """The names that are stored into in place, and those that exchange arrays with them."""
    for s in [n for b in body for n in ast.walk(b)]:
        if (
            isinstance(s, ast.Assign)
            and isinstance(s.value, ast.Tuple)
            and all(isinstance(e, ast.Name) for e in s.value.elts)
        ):
            names = naming.loaded([s.value])
            stored = stored | names if names & stored else stored
    return stored


def _no_view(name: str, value: object, visit: Visit, outs: list[str]) -> None:
    assert isinstance(value, np.ndarray)
    made = (
        [] if value.base is None else [(o, visit.ends[o]) for o in outs]
    )  # views of an array that is no view are told themselves
    others = [(n, v) for n, v in [*visit.live.items(), *made]]
    for n, v in others:
        if isinstance(v, np.ndarray) and v is not value and shares(v, value):
            raise CannotCompile(0, "effect", f"`{name}` is afterwards a view of `{n}` (aliasing)", name)
