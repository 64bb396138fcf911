"""Regions of compiled libraries' arrays whose statements stay as they are: the loop becomes the compiler's, what it changes in objects and
containers is handed in and taken out, and the text is traced in each run, so that it sees that run's functions and objects."""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from itertools import count
from typing import TypeVar

import numpy as np

from ..source_code.tree import parts_of
from . import growing, list_buffers, naming, paths
from .answers import CannotCompile
from .asked_arrays import AskedOfArrays
from .effects import Effects
from .ends import beside
from .functions import Definitions, Functions
from .homes import Home, holds_arrays, is_array, is_number, shares
from .loop_starts import is_long
from .loops import Loop, indent, tuple_of
from .made_functions import functions_made
from .parts import COMPILED, OURS, EditText, allowed_in, free_name, imports_of, numpy_in
from .statements import Statements
from .views import view_again
from .watching import Visit


_Node = TypeVar("_Node", bound=ast.AST)
LARGE = 4096
"""Elements of an array in an object from which it is handed in, and not compiled into the code."""


def unchanged(
    body: naming.Statements, visit: Visit, live: set[str], name: str, home: Home, definitions: Definitions
) -> EditText:
    """The region as a function that is traced anew in each run. Raises CannotCompile with the line that has no compiled form."""
    effects, line = Effects(definitions), body[0].lineno
    effects.of_region(body, visit.values)
    values = dict(visit.values)
    jnp = free_name("jnp", visit, f"{home.library}.numpy")
    body, at_ends, long_enough = beside(body, values, visit.after, "" if home.numpy else jnp)
    body, in_rows = list_buffers.in_rows(body, values, visit.after, "" if home.numpy else jnp)
    own_numpy = values.get("numpy") is np and "numpy" not in visit.values
    visit = replace(visit, values=values)
    stored = _in_place(body, visit) if home.numpy else set()
    bound = naming.bound(body) | stored
    if hidden := effects.reads & bound & visit.values.keys():
        raise CannotCompile(line, "effect", f"a function that is called reads `{min(hidden)}`, which changes here")
    grown = growing.in_places(visit, bound, home)
    visit = _without(visit, grown)
    changed, read, made = _places(body, visit, bound | {*in_rows}, home, line)
    columns = growing.columns(body, visit.values, home)
    own = growing.of_one_turn(body)
    lists = [*growing.lists(body, visit.values, own), *columns]
    lax = free_name("lax", visit, f"{home.library}.lax")
    ours = free_name(OURS, visit, COMPILED)
    theirs = free_name(f"lifted_arrays_of_{home.library}", visit, f"lifted_arrays_of_{home.library}")
    writer = StatementsAsTheyStand(visit.values, bound, jnp, lax, home, [p.text for p in changed], made)
    heads = _heads(body, visit.values)
    first = (
        (naming.read_first(body) | bound) & visit.values.keys() & (bound | _arrays(visit.values, home) | visit.handed)
    )
    needed = naming.read_first(body) | naming.bound_or_not(body)
    rows = [f"{part}_of_{n}" for n in in_rows for part in ("rows", "count")]
    early = sorted(
        n for n in first if n not in lists and n not in rows and (n in needed or n not in naming.bound(body))
    )
    writer.defined, writer.grown, writer.ours = set(early), list(grown), ours
    writer.moving |= visit.handed
    writer.handed = frozenset(n for n in visit.handed if not np.ndim(visit.values.get(n)))  # type: ignore[arg-type]
    writer.changed = bound | naming.stored_into(body)
    writer.stored_names, writer.heads, writer.theirs = stored | {*rows}, frozenset(heads), theirs
    writer.columns, writer.after, writer.own = frozenset(columns), visit.after, own
    made_again = functions_made(body, visit)
    heads |= made_again
    outs = sorted(n for n in bound & live if n in visit.after and n not in lists and n not in heads)
    kept_live = live | {*outs, *rows}
    lines: list[str] = []
    for k, s in enumerate(body):
        lines += writer.in_the_cell(writer.statement(s, kept_live | naming.loaded(body[k + 1 :]), None), s)
        writer.defined |= naming.bound_for_certain([s])
    for n in [n for n in early if n in bound]:
        _is_carried(visit.values[n], n, line, home)
    places = [*(p.text for p in changed), *(p.text for p in read)]
    names = [*early, *(f"place_{k}" for k in range(len(places)))]
    out_places = [*(p.text for p in changed), *made]
    ends = [*outs, *out_places, *(f"items_of_{n}" for n in lists)]
    ends += [*(f"items_of_grown_{k}" for k in range(len(grown))), *rows]
    lifted = [*(visit.values[n] for n in early), *(p.value for p in [*changed, *read])]
    taken = tuple_of(
        [f"{theirs}.lifted({n})" if home.numpy and not holds_arrays(v) else n for n, v in zip(names, lifted)]
    )
    opened = [f"{tuple_of([*early, *places])} = {taken}"] if names else []
    inner = [f"def {name}({', '.join(names)}):", *indent([*opened, *lines, f"return {tuple_of(ends)}"])]
    shown = {n: n for n in [*early, *places]} | at_ends
    owners = tuple_of([_owned(p) for p in [*places, *made, *grown]])
    call, passing = _call(name, inner, [shown[n] for n in [*early, *places]], owners, [*places, *grown])
    ending = Aftermath(body, visit, home, outs, out_places, made)
    each = (f"{name}_results[{k}]" for k in count())  # in the order of `ends`
    binds = ["" if end in ending.views else ending.bound(end, x) for end, x in zip([*outs, *out_places], each)]
    binds += [growing.afterwards(n, x, visit.after.get(n), columns.get(n), home) for n, x in zip(lists, each)]
    binds += [growing.extended(p, x, grown[p]) for p, x in zip(grown, each)]
    for n, part, number in zip(in_rows, each, each):
        binds.append(growing.afterwards(n, f"{part}[:{number}]", visit.after[n], None, home))
    again = dict.fromkeys(text for n, text in heads.items() if n in live or n in made_again)
    binds = [line for b in binds for line in b.splitlines()]
    binds += [line for lines in ending.views.values() for line in lines]
    call = [*call, *binds, *again, f"del {', '.join(passing)}"]
    definition = [f'{name}_compiled = globals().get("{name}_compiled") or {ours}.Compiled("{home.arrays}")']
    reads = sorted({*(shown[n].partition(" if ")[0] for n in early), *(p.text for p in [*changed, *read])})
    own_numpy |= any(f" numpy.{b}" in line for line in binds for b in ("int", "uint", "float"))
    numpys = ["import numpy"] if own_numpy else []
    names_of_ours = [f'{theirs} = {ours}.traced_by("{home.library}")'] if home.numpy else []
    return EditText(
        (*numpys, *imports_of(home, jnp, lax, "\n".join([*call, *definition]), ours), *names_of_ours),
        tuple(definition),
        tuple(call),
        tuple(reads),
        inlined=frozenset(effects.called),
        allowed=allowed_in(home),
        traced=True,
        tests=long_enough,
    )


def _call(name: str, inner: list[str], shown: list[str], owners: str, back: list[str]) -> tuple[list[str], list[str]]:
    """The function and its call with what is `shown` to it, where places hold afterwards what they held before (`back`); and the names
    that this takes."""
    given, kept, results = f"{name}_given", f"{name}_kept", f"{name}_results"
    call = [
        *inner,
        f"{given} = {tuple_of(shown)}",
        f"{results} = {name}_compiled({name}, {given}, {owners})",
    ]
    if not back:
        return call, [given, results, name]
    held = tuple_of(back)
    return [f"{kept} = {held}", "try:", *indent(call), "finally:", f"    {held} = {kept}"], [given, results, name, kept]


def _without(visit: Visit, lists: Collection[str]) -> Visit:
    """What was seen, without what is in these lists."""
    inside = lambda text: any(text == t or text.startswith(f"{t}[") for t in lists)
    kept = lambda found: {t: v for t, v in found.items() if not inside(t)}
    return replace(visit, places=kept(visit.places), places_after=kept(visit.places_after), states=kept(visit.states))


def _heads(body: naming.Statements, values: Mapping[str, object]) -> dict[str, str]:
    """Names that only Python's own loops inside of the region bind, which are run through while tracing; and their heads, which bind
    them again."""
    bound, stored = naming.bound(body), naming.stored_into(body)
    inner = [n for s in body for b in ast.iter_child_nodes(s) for n in ast.walk(b) if isinstance(n, ast.For)]
    inner = [n for n in inner if not is_long(n, values, bound | stored)]
    found: dict[str, str] = {}
    for loop in inner:
        targets = naming.names([loop.target])
        others = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        if all(n.id not in targets or any(n is m for f in inner for m in ast.walk(f.target)) for n in others):
            keys = isinstance(loop.iter, ast.Name) and isinstance(values.get(loop.iter.id), dict)
            if not naming.leaves(loop.body) and not naming.loaded([loop.iter]) & (bound if keys else bound | stored):
                head = f"for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}: pass"
                found.update(dict.fromkeys(targets, head))
    return found


def _owned(place: str) -> str:
    """A place as the pair of its object and the attribute, key or index there."""
    owner, dot, attribute = place.rpartition(".")
    if dot and attribute.isidentifier():
        return f"({owner}, {attribute!r})"
    at = place.rindex("[")
    return f"({place[:at]}, {place[at + 1 : -1]})"


def _in_place(body: naming.Statements, visit: Visit) -> set[str]:
    """Names of NumPy's arrays that are stored into, as the text or the run showed."""
    arrays = {n for n, v in visit.values.items() if isinstance(v, np.ndarray)}
    return arrays & (naming.stored_into(body) | visit.changed)


def _places(
    body: naming.Statements, visit: Visit, bound: set[str], home: Home, line: int
) -> tuple[list[paths.Leaf], list[paths.Leaf], list[str]]:
    """The places in objects and containers that change, those whose arrays are handed in as well, and the attributes that are made."""
    before, after = visit.places, visit.places_after
    roots = {p.root for p in [*before.values(), *after.values()]}
    if again := roots & naming.bound(body) & naming.stored_into(body) & naming.read_first(body):
        raise CannotCompile(line, "object", f"`{min(again)}` is bound anew and stored into")
    appended = {n.func.value.id for s in body for n in ast.walk(s) if growing.appends(n, visit.values)}  # type: ignore[attr-defined, union-attr]
    kept = {t: p for t, p in before.items() if p.root not in bound | appended}
    made = _made(
        visit, [p for t, p in after.items() if t not in before and p.root in roots - bound - appended], body, line
    )
    if gone := [t for t in kept if t not in after]:
        left = paths.is_there(gone[0], visit.live)  # beyond the places that are followed
        why = (
            f"objects and containers hold more than the {paths.MOST} values that are followed"
            if left
            else f"`{gone[0]}` is removed here"
        )
        raise CannotCompile(line, "object", why)
    for t in _changed_inside(visit, kept, visit.values.keys() - bound - appended):
        grows = t in kept and after[t].size != kept[t].size
        draws = "random" in type(paths.at(t, visit.live)).__module__
        note = f"`{t}` {'grows' if grows else 'changes'} here"
        raise CannotCompile(naming.line_of(body, t) or line, "random" if draws else "object", note)
    changed = [p for t, p in kept.items() if after[t].value is not p.value or _stored_into(visit, p)]
    for p in changed:
        if not is_number(p.value) and not _is_tree(p.value):
            raise CannotCompile(line, "object", f"`{p.text}` changes and is a {type(p.value).__name__}")
        if isinstance(p.value, (np.ndarray, np.generic)) and not home.numpy:
            raise CannotCompile(line, "object", f"`{p.text}` changes and is an array of NumPy")
    for p in [p for p in changed if _stored_into(visit, p)]:
        others = [(q.text, q.value) for q in kept.values() if q is not p] + list(visit.live.items())
        for other, array in others:
            if isinstance(array, np.ndarray) and shares(array, p.value):  # type: ignore[arg-type]
                raise CannotCompile(
                    line, "effect", f"`{p.text}` is stored into and shares its memory with `{other}` (aliasing)"
                )
    texts = {p.text for p in changed}
    read = [p for p in kept.values() if p.text not in texts and _is_handed(p.value, home)]
    return changed, read, made


def _changed_inside(visit: Visit, kept: Mapping[str, paths.Leaf], roots: Collection[str]) -> list[str]:
    """Values that are not followed into, and stayed the same object with something else in it."""
    states, sizes = [
        (found, later)
        for found, later in ((visit.states, visit.states_after), (_sizes(kept), _sizes(visit.places_after)))
    ]
    same = [
        t for t in [*states[0], *sizes[0]] if t in roots or (t in kept and visit.places_after[t].value is kept[t].value)
    ]
    return [t for t in same if any(t in now and t in then and then[t] != now[t] for now, then in (states, sizes))]


def _sizes(found: Mapping[str, paths.Leaf]) -> dict[str, int]:
    return {t: p.size for t, p in found.items() if p.size is not None}


def _stored_into(visit: Visit, p: paths.Leaf) -> bool:
    return isinstance(p.value, np.ndarray) and p.text in visit.changed_inside


def _made(visit: Visit, new: list[paths.Leaf], body: naming.Statements, line: int) -> list[str]:
    """The attributes, first in their chains, that these new places belong to: `self.acts` for `self.acts[0]`, `net[0].x`."""
    found: dict[str, None] = {}
    for p in new:
        text = paths.first_new(p.text, visit.values)
        if text is None or "." not in text.rpartition("]")[2]:
            grown = (text or p.text).rpartition("[")[0] or p.root
            raise CannotCompile(naming.line_of(body, grown) or line, "object", f"`{grown}` grows here")
        found[text] = None
    return list(found)


class Aftermath:
    """What stands after the call: each result becomes what the cell had, an array that was stored into stays itself."""

    def __init__(
        self,
        body: naming.Statements,
        visit: Visit,
        home: Home,
        outs: list[str],
        places: list[str],
        made: list[str],
    ) -> None:
        self.visit, self.home, self.made = visit, home, frozenset(made)
        views = {n: view_again(n, body, visit, outs) for n in outs if home.numpy and n in visit.ends}
        self.views = {n: lines for n, lines in views.items() if lines is not None}
        """The statements that bind names to views of arrays again."""
        held = {n for n in outs if type(visit.ends[n]) in (list, dict)}  # which may have changed since
        self.ends = {n: visit.after[n] if n in held else visit.ends[n] for n in outs}
        self.ends |= {p: self._at(p) for p in places}
        self.numpy = numpy_in(dict(visit.values))
        self.first: dict[int, str] = {}
        if home.numpy:
            self._apart()

    def _at(self, place: str) -> object:
        if place in self.visit.places_after:
            return self.visit.places_after[place].value
        return paths.at(place, self.visit.live)

    def _apart(self) -> None:
        """Refuses arrays that share memory after the region without being one."""
        rest = {n: v for n, v in self.visit.live.items() if n not in self.ends}
        rest |= {t: p.value for t, p in self.visit.places_after.items() if t not in self.ends}
        mine = [(n, v) for n, v in self.ends.items() if isinstance(v, np.ndarray) and n not in self.views]
        others = [(n, v) for n, v in [*mine, *rest.items()] if isinstance(v, np.ndarray)]
        for n, v in mine:
            for m, w in others:
                if n != m and v is not w and shares(v, w):
                    raise CannotCompile(0, "effect", f"`{n}` is afterwards a view of `{m}` (aliasing)", n)
            for m, w in rest.items():
                if v is w and m in self.visit.live and v is not self.visit.live.get(n) and n not in self.made:
                    raise CannotCompile(0, "effect", f"`{n}` is afterwards another name of `{m}` (aliasing)", n)

    def bound(self, end: str, result: str) -> str:
        """The statement that puts a result where it belongs."""
        value = self.ends[end]
        if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
            return f"{end} = {type(value).__name__}({result})"
        if self.home.numpy and isinstance(value, np.ndarray):
            if not value.flags.writeable and not _is_before(value, self.visit):
                return f"{end} = {result}\n{end}.flags.writeable = False"  # as NumPy's view of a compiled array is
            kept = [m for m, w in self.visit.live.items() if w is value and m not in self.ends]
            if end in self.made and kept:
                return f"{end} = {kept[0]}"
            before = self.visit.places[end].value if end in self.visit.places else self.visit.live.get(end)
            if id(value) in self.first:
                return f"{end} = {self.first[id(value)]}"
            self.first[id(value)] = end
            return f"{end}[...] = {result}" if before is value else f"{end} = {result}"
        if isinstance(value, np.generic) and value.dtype.kind in "iuf" and not self.home.numpy:
            return f"{end} = {self.numpy}.{value.dtype.name}({result})"
        if isinstance(value, (np.ndarray, np.generic)) and not self.home.numpy:
            raise CannotCompile(0, "object", f"`{end}` is an array of NumPy among those of {self.home.arrays}", end)
        if _is_tree(value) and (again := _of_their_kinds(value, result)) != result:
            return f"{end} = {again}"
        if not is_number(value) and not _is_tree(value) and not _is_registered(value, self.home):
            raise CannotCompile(0, "object", f"`{end}` becomes a {type(value).__name__}", end)
        return f"{end} = {result}"


def _of_their_kinds(value: object, result: str) -> str:
    """A result with Python's numbers where the cell's tree has them, and with the keys of its dicts in their order."""
    if type(value) in (bool, int, float, complex):
        return f"{type(value).__name__}({result})"
    if type(value) is dict:
        inside = {k: f"{result}[{k!r}]" for k in value}
        changed = {k: t for k, v in value.items() if (t := _of_their_kinds(v, inside[k])) != inside[k]}
        if changed:
            return f"{{{', '.join(f'{k!r}: {changed.get(k, t)}' for k, t in inside.items())}}}"
        return result if sorted(value, key=str) == list(value) else f"{{k: {result}[k] for k in {tuple(value)!r}}}"
    if type(value) in (list, tuple):
        parts = [f"{result}[{k}]" for k in range(len(value))]  # type: ignore[arg-type]
        new = [_of_their_kinds(v, t) for v, t in zip(value, parts, strict=True)]  # type: ignore[call-overload]
        if new != parts:
            return f"[{', '.join(new)}]" if type(value) is list else f"({', '.join(new)},)"
    return result


def _is_before(value: np.ndarray, visit: Visit) -> bool:
    """Whether an array was there at the start."""
    return any(v is value for v in [*visit.live.values(), *(p.value for p in visit.places.values())])


def _arrays(values: Mapping[str, object], home: Home) -> set[str]:
    return {n for n, v in values.items() if is_array(v) or _is_handed(v, home)}


def _is_handed(value: object, home: Home) -> bool:
    """Whether a value is handed in: in a cell of NumPy's arrays each of them, else those that are large."""
    if home.numpy:
        return isinstance(value, np.ndarray) and value.dtype.kind in "biufc"
    return _is_large(value)


def _is_large(value: object) -> bool:
    """Whether an array is better handed in than compiled into the code; of NumPy's those whose dtype stays itself."""
    kept = is_array(value) or (isinstance(value, np.ndarray) and value.dtype in (np.float32, np.int32, np.bool_))
    return kept and np.size(value) > LARGE  # type: ignore[arg-type]


def _is_tree(value: object) -> bool:
    """Whether a value is a tuple or container of arrays and numbers, which the compiler's functions take."""
    if isinstance(value, (tuple, list)):
        return all(map(_is_tree, value))
    if type(value) is dict:
        return all(map(_is_tree, value.values()))
    return value is None or is_number(value)


def _is_carried(value: object, name: str, line: int, home: Home) -> None:
    if not _is_tree(value) and not _is_registered(value, home):
        raise CannotCompile(line, "object", f"`{name}` is a {type(value).__name__}")


def _is_registered(value: object, home: Home) -> bool:
    return all(map(is_number, sys.modules[home.library].tree.leaves(value)))


class StatementsAsTheyStand(Statements):
    """Writes statements as they stand; loops, branches on values, and lists that grow, as the compiler needs them."""

    def __init__(
        self,
        values: Mapping[str, object],
        bound: set[str],
        jnp: str,
        lax: str,
        home: Home,
        places: list[str],
        made: list[str],
    ) -> None:
        moving = {n for n in bound if is_number(values.get(n)) and not isinstance(values.get(n), (bool, int))}
        super().__init__(values, moving | _arrays(values, home), (), jnp, lax, home, Functions({}, {}))
        self.places, self.made = places, made
        self.heads: frozenset[str] = frozenset()
        self.grown: list[str] = []
        """The places of lists that what is called appends to."""
        self.own: set[str] = set()
        """Names of lists that each turn makes for itself."""
        self.handed: frozenset[str] = frozenset()
        """Names of whole numbers that are handed in."""
        self.stored_names: set[str] = set()
        """Names of NumPy's arrays that are stored into."""
        self.changed: set[str] = set()
        """Names that the region binds or stores into."""
        self.top, self.theirs = True, f"lifted_arrays_of_{home.library}"

    def in_the_cell(self, lines: list[str], s: ast.stmt | None = None) -> list[str]:
        """The lines with the library's types as the cell has them, where NumPy's arrays among its own are of 64 bits; loops are carried in
        these."""
        if not self.home.mixed or isinstance(s, (ast.For, ast.While)):
            return lines
        return [f"with {self.theirs}.as_in_the_cell():", *indent(lines)]

    def text(self, node: ast.expr) -> str:
        return ast.unparse(self._asked(node))

    def _asked(self, node: _Node) -> _Node:
        """A statement or an expression with what it asks of arrays as arrays."""
        asked = AskedOfArrays(self._is_asked, self.choice())
        return ast.fix_missing_locations(asked.visit(copy.deepcopy(node)))

    def _is_asked(self, node: ast.AST) -> bool:
        return self.expressions.moves(node) and bool(naming.loaded([node]) & self.moving)

    def statement(self, s: ast.stmt, live: set[str], guard: str | None) -> list[str]:
        match s:
            case ast.For() | ast.While() if (
                self.top or isinstance(s, ast.While) or is_long(s, self.values, self.changed)
            ):
                self.top = False
                return super().statement(s, live, guard)
            case ast.For():
                if naming.leaves(s.body):
                    return ast.unparse(s).splitlines()
                head = f"for {ast.unparse(s.target)} in {ast.unparse(s.iter)}:"
                return [head, *indent(self.block(s.body, live, guard))]
            case ast.If(test=ast.Compare(ops=[ast.Is() | ast.IsNot()])):
                parts = [f"if {ast.unparse(s.test)}:", *indent(self.block(s.body, live, guard))]
                return parts + (["else:", *indent(self.block(s.orelse, live, guard))] if s.orelse else [])
            case ast.If():
                return self._if(s, live, guard)
            case ast.Expr(value=ast.Call() as call) if (
                growing.appends(call, self.values, self.own) and self.items is not None
            ):
                return super().statement(s, live, guard)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name))) as call) if growing.appends(
                call, self.values, self.own
            ):
                note = f"`{name}` grows in a loop of which a value decides how many turns it has"
                raise CannotCompile(s.lineno, "object", note)
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))]) if name in self.columns:
                return super()._assign(s, guard)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr() | ast.Pass() | ast.FunctionDef():
                if guard and not self._binds(s):
                    raise CannotCompile(
                        s.lineno, "value read by Python", f"`{ast.unparse(s)[:50]}` under a branch on a value"
                    )
                if isinstance(s, ast.Assign) and self.moves(s.value):
                    self.moving |= {t.id for t in naming.targets_of(s) if isinstance(t, ast.Name)}
                return ast.unparse(s if isinstance(s, ast.FunctionDef) else self._asked(s)).splitlines()
            case ast.With() | ast.Import() | ast.ImportFrom():
                raise CannotCompile(s.lineno, "effect", f"`{ast.unparse(s).splitlines()[0][:60]}` enters a context")
        return super().statement(s, live, guard)

    def _binds(self, s: ast.stmt) -> bool:
        """Whether a statement only binds names and known attributes to new values: nothing is stored in place, or has a second name."""
        targets, value = naming.targets_of(s), getattr(s, "value", None)
        if not all(isinstance(t, ast.Name) or ast.unparse(t) in self.places for t in targets) or not targets:
            return False
        if not self.home.numpy:
            return all(isinstance(t, (ast.Name, ast.Attribute)) for t in targets)
        if isinstance(s, ast.AugAssign):
            name = ast.unparse(s.target)
            found = self.values.get(name, self.after.get(name))
            return isinstance(found, (int, float, complex, np.generic))
        if isinstance(value, ast.Name) and (found := self.after.get(value.id, self.values.get(value.id))) is not None:
            return is_number(found) and not isinstance(found, np.ndarray)  # which would have two names
        return not isinstance(value, (ast.Name, ast.Attribute, ast.Subscript))

    def places_bound(self, body: naming.Statements) -> list[str]:
        if naming.has(ast.Call, body):  # what is called may change any of them
            return sorted(self.places)
        targets = [t for s in body for n in ast.walk(s) if isinstance(n, ast.stmt) for t in naming.targets_of(n)]
        return sorted({ast.unparse(t) for t in targets if not isinstance(t, ast.Name)} & set(self.places))

    def choice(self) -> str:
        return f"{self.theirs}.chosen" if self.home.numpy else f"{self.ours}.chosen_by({self.home.library})"

    def _rows(self, node: ast.expr) -> bool:
        match node:
            case ast.Name(id=name):
                return name in self.moving and hasattr(self.values.get(name), "shape")
            case ast.Subscript(value=ast.Name(id=name), slice=at) if name in self.moving:
                parts = parts_of(at)
                return np.ndim(self.values.get(name)) > len(parts) and all(map(self._is_count, parts))  # type: ignore[arg-type]
        return False

    def _branches_over_loops(self) -> bool:
        return not self.home.numpy and bool(self.turn)

    def _counted(self, s: ast.For, first: list[str]) -> tuple[list[str], str]:
        head, length = super()._counted(s, first)
        if not self.home.numpy:
            return head, length
        if self.handed & naming.loaded([s.iter]):
            length = f"{self.theirs}.number({length})"
        return [line.replace("{k}", f"{self.theirs}.counted({{k}})") for line in head], length

    def loop(self, s: ast.For | ast.While, live: set[str], guard: str | None) -> Loop:
        return LoopOfPlaces(self, s.body, live, s, guard)


class LoopOfPlaces(Loop):
    """A loop that carries whole trees of arrays, and what changes in objects and containers."""

    def __init__(
        self,
        writer: Statements,
        body: list[ast.stmt],
        live: set[str],
        s: ast.For | ast.While,
        guard: str | None = None,
    ) -> None:
        super().__init__(writer, body, live, s, guard)
        assert isinstance(writer, StatementsAsTheyStand)
        self.places, self.numpy, self.theirs = writer.places, writer.home.numpy, writer.theirs
        stored = naming.stored_into(body) - naming.bound(body) - writer.stored_names
        stored |= writer.heads
        self.before = sorted((set(self.before) | (writer.stored_names - naming.bound(body))) - stored)
        self.after = [*(n for n in self.after if n not in stored and n not in self.before), *writer.made]
        writer.moving -= writer.heads

    def _block(self) -> list[str]:
        w, lines = self.w, super()._block()
        assert isinstance(w, StatementsAsTheyStand)
        if not w.grown:
            return w.in_the_cell(lines)
        if w.items is None:
            raise CannotCompile(self.s.lineno, "object", f"`{w.grown[0]}` grows here")
        for k, place in enumerate(w.grown):
            w.items.append(f"grown_{k}")
            lines = [f"{place} = {w.ours}.GrowingList()", *lines, f"item_{len(w.items)}_of_grown_{k} = {place}.taken()"]
        return w.in_the_cell(lines)

    def _turned(self) -> str:
        if not self.numpy:
            return self._names()
        return f"*{self.theirs}.apart({', '.join(self._given())}), {', '.join(self.after)}".rstrip() + (
            "," if self.after else ""
        )

    def _names(self) -> str:
        names = [*self.before, *self.places, *self.after]
        return ", ".join(names) + "," if names else "()"

    def _going(self) -> str:
        return f"{self.theirs}.number({super()._going()})" if self.numpy else super()._going()

    def _open(self) -> str:
        carry = f"{self.theirs}.as_numpys({self.carry})" if self.numpy and not self.w.home.mixed else self.carry
        if not self.after:
            return f"{self._names()} = {carry}" if self._given() else "pass"
        count = len(self._given()) + len(self.after)
        return f"{self._names()} = (*{carry}, {', '.join(['False'] * len(self.after))})[:{count}]"

    def _given(self) -> list[str]:
        return [*self.before, *self.places]

    def _started(self, one_step: str) -> list[str]:
        given = tuple_of(self._given())
        if not self.places:
            return [self._carried(given, one_step)]
        start = self.w.fresh("start")
        # Tracing a turn leaves its own values in the places.
        return [f"{start} = {given}", self._carried(start, one_step), f"{given} = {start}"]
