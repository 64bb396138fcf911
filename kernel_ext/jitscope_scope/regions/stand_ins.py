"""Lists that have no name of their own, or take tuples: `history["loss"].append(v)`, `self.errors.append(n)`, `points.append((x, y))`. In the
region a name stands for the first ones, and one list for each part of the tuples. Dicts of which each turn of a loop stores one value
(`frames[n] = u.copy()`) are lists of these values there, and get their keys afterwards."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from . import growing, naming, paths
from .answers import CannotCompile
from .functions import Definitions
from .homes import is_number
from .parts import EditText, PairSplitter, ReadByName, placed_at, visited
from .structures import fields_of
from .watching import Visit


Named = Mapping[str, object]
_CALLED_AGAIN = frozenset(
    "range zip enumerate reversed len int float str round tuple abs linspace arange logspace geomspace".split()
)


@dataclass(frozen=True)
class StandIns:
    """The statements and what was seen of them, with the names that stand in, and what stands before and after the edit's call."""

    body: tuple[ast.stmt, ...]
    visit: Visit
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    depth: int = 0
    """How many lines before it the call stands inside of."""
    draws: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Rows of random numbers that are drawn before: of which generator, and for which line."""
    inlined: frozenset[str] = frozenset()
    """Names of functions whose statements stand in the place of their calls."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Names of parts, and the names of the tuples that they are of."""
    tests: tuple[str, ...] = ()
    """What has to be true before."""
    sized: bool = False
    """Whether what is read has to be as large as it was."""

    reads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Names of what is made before, and of what it is made."""

    def whole(self, edit: EditText, body: naming.Statements) -> EditText:
        """The edit with what stands before and after it, and with the statements as they are where something is not as it was."""
        drawn = {**self.parts, **{n: of for n, (of, _) in self.draws.items()}}
        reads = tuple(sorted({drawn.get(n, n) for n in edit.reads}))
        whole = replace(
            edit,
            call=(*self.before, *edit.call, *self.after),
            reads=reads,
            draws=tuple(k for _, k in self.draws.values()),
            inlined=edit.inlined | self.inlined,
        )
        if self.sized:
            if edit.traced:
                raise CannotCompile(
                    body[0].lineno, "random", "an array of the loop's own says how many numbers are drawn"
                )
            given = [n for n in edit.reads if n in self.visit.values and n not in self.draws]
            whole = whole.where_sizes_are(given, self.visit, body)
        return whole.guarded(self.tests, body)

    def of_calls(self, reason: CannotCompile, definitions: Definitions) -> CannotCompile:
        """The reason, with the function whose statements it is of."""
        said = reason.cut.note.split("`")[1:2]
        texts = {d.name: ast.unparse(d) for d in definitions.values() if d.name in self.inlined}
        of = next((n for n, text in texts.items() if said and said[0] in text), None)
        if of is None or reason.cut.note.endswith(")"):
            return reason
        return CannotCompile(reason.cut.line, reason.cut.why, f"{reason.cut.note} (in `{of}`)", reason.of, reason.runs)

    def around(self, call: tuple[str, ...]) -> tuple[str, ...]:
        """The call with what stands before and after it."""
        return (*self.before, *(f"{'    ' * self.depth}{line}" for line in call), *self.after)


def stand_ins(body: naming.Statements, visit: Visit, definitions: Definitions) -> StandIns:
    """Where there is nothing of the kind, the statements as they are."""
    return _states(_tuples(_dicts(_Places(body, visit, definitions).written())))


class _Places:
    def __init__(self, body: naming.Statements, visit: Visit, definitions: Definitions) -> None:
        self.body, self.visit, self.definitions = body, visit, definitions

    def written(self) -> StandIns:
        names = {text: f"list_{k}_of_{leaf.root}" for k, (text, leaf) in enumerate(self._lists().items(), 1)}
        if not names:
            return StandIns(tuple(self.body), self.visit)
        visit, places, after = self.visit, self.visit.places, self.visit.places_after
        live = {name: paths.at(text, visit.live) for text, name in names.items()}
        ends = {name: list(after[text].value[: after[text].size]) for text, name in names.items()}  # type: ignore[index]
        values = {name: paths.at(text, visit.values) for text, name in names.items()}
        visit = replace(
            visit,
            values={**visit.values, **values},
            live={**visit.live, **live},
            after={**visit.after, **ends},
            ends={**visit.ends, **live},
            places={t: p for t, p in places.items() if t not in names},
            places_after={t: p for t, p in after.items() if t not in names},
        )
        new = tuple(visited(ReadByName(names), self.body))
        bind = tuple(f"{name} = {text}" for text, name in names.items())
        return StandIns(new, visit, bind, (f"del {', '.join(names.values())}",))

    def _lists(self) -> dict[str, paths.Leaf]:
        """The places of lists of numbers that the statements, and nothing that they call, append to."""
        nodes = [n for s in self.body for n in ast.walk(s)]
        found: dict[str, paths.Leaf] = {}
        for n in nodes:
            match n:
                case ast.Call(func=ast.Attribute(value=(ast.Attribute() | ast.Subscript()) as owner, attr="append")):
                    text = ast.unparse(owner)
                    before, after = self.visit.places.get(text), self.visit.places_after.get(text)
                    if before is not None and after is not None and self._is_alone(before, after, owner, nodes):
                        found[text] = before
        return found

    def _is_alone(self, before: paths.Leaf, after: paths.Leaf, owner: ast.expr, nodes: list[ast.AST]) -> bool:
        if type(before.value) is not list or after.value is not before.value or before.root in naming.bound(self.body):
            return False
        roots = [n for n in nodes if isinstance(n, ast.Name) and n.id == before.root]
        inside = {id(n.value) for n in nodes if isinstance(n, (ast.Attribute, ast.Subscript))}
        if any(id(n) not in inside for n in roots):
            return False
        last = owner.attr if isinstance(owner, ast.Attribute) else ast.unparse(owner.slice)  # type: ignore[attr-defined]
        return not any(last in text for text in self._called(nodes))

    def _called(self, nodes: list[ast.AST]) -> list[str]:
        """The text of the functions of the cells that may be called from here, by their names."""
        names, found = _names_in(nodes), {}
        while True:
            more = {id(d): d for d in self.definitions.values() if d.name in names and id(d) not in found}
            if not more:
                return [ast.unparse(d) for d in found.values()]
            found |= more
            names |= _names_in([n for d in more.values() for n in ast.walk(d)])


def _names_in(nodes: list[ast.AST]) -> set[str]:
    """The names that are called, or read as attributes."""
    return {n.id for n in nodes if isinstance(n, ast.Name)} | {n.attr for n in nodes if isinstance(n, ast.Attribute)}


def _dicts(found: StandIns) -> StandIns:
    """Dicts that a loop over what it leaves alone stores into, once in each turn, under what its own names say."""
    loop, visit = found.body[-1], found.visit
    if len(found.body) > 1 or not isinstance(loop, ast.For) or loop.orelse or naming.leaves(loop.body):
        return found
    own, changing = naming.bound([loop.target]), naming.bound(found.body) | naming.stored_into(found.body)
    used = [n.id for n in ast.walk(loop) if isinstance(n, ast.Name)]
    lists: dict[str, list[object]] = {}
    ends: dict[str, object] = {}
    turn: list[ast.stmt] = []
    after: list[str] = []
    for s in copy.deepcopy(loop.body):
        match s:
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name), slice=key)]) if (
                type(visit.values.get(name)) is dict
                and type(kept := visit.after.get(name)) is dict
                and used.count(name) == 1
                and all(map(evaluates_again, (key, loop.iter)))
                and not naming.loaded([key]) & (changing - own)
                and not naming.loaded([loop.iter]) & changing
            ):
                keys = f"[{ast.unparse(key)} for {ast.unparse(loop.target)} in {ast.unparse(loop.iter)}]"
                try:
                    seen = eval(keys, dict(visit.values))
                    values = [kept[k] for k in seen]
                    given = [visit.ends[name][k] for k in seen]  # type: ignore[index]
                except Exception:
                    return found
                if len({*seen}) < len(seen):
                    return found
                lists[name], ends[f"values_of_{name}"] = values, given
                after.append(f"{name}.update(zip({keys}, values_of_{name}))")
                append = ast.parse(f"values_of_{name}.append(0)").body[0]
                append.value.args = [s.value]  # type: ignore[attr-defined]
                s = placed_at(append, s)
        turn.append(s)
    if not lists:
        return found
    names = [f"values_of_{n}" for n in lists]
    new = copy.copy(loop)
    new.body = turn
    empty: dict[str, object] = {n: [] for n in names}
    visit = _in_place_of(visit, lists, empty, empty, dict(zip(names, lists.values(), strict=True)), ends)
    before = (*found.before, *(f"{n} = []" for n in names))
    return StandIns((new,), visit, before, (*after, f"del {', '.join(names)}", *found.after))


def evaluates_again(node: ast.expr) -> bool:
    """Whether an expression may be evaluated once more: it calls nothing that might draw, print or move on."""
    calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
    return all(ast.unparse(f).rpartition(".")[2] in _CALLED_AGAIN for f in calls)


def _in_place_of(visit: Visit, names: Collection[str], values: Named, live: Named, after: Named, ends: Named) -> Visit:
    """What was seen, with other names in the place of these."""
    seen = {"values": values, "live": live, "after": after, "ends": ends}
    keep = lambda found: {n: v for n, v in found.items() if n not in names}
    return replace(
        visit,
        **{k: {**keep(getattr(visit, k)), **new} for k, new in seen.items()},
        places={t: p for t, p in visit.places.items() if p.root not in names},
        places_after={t: p for t, p in visit.places_after.items() if p.root not in names},
    )


def _tuples(found: StandIns) -> StandIns:
    nodes = [n for s in found.body for n in ast.walk(s)]
    sizes: dict[str, int] = {}
    for n in nodes:
        match n:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[item]) if growing.appends(
                n, found.visit.values
            ):
                parts = _parts_of(item, found.visit) or [ast.Starred(item)]
                size = 0 if any(isinstance(e, ast.Starred) for e in parts) else len(parts)
                sizes[name] = size if sizes.get(name, size) == size else 0
    sizes = {n: size for n, size in sizes.items() if size and _takes_tuples(n, size, found.visit, nodes)}
    if not sizes:
        return found
    visit, names = found.visit, {n: [f"part_{k}_of_{n}" for k in range(size)] for n, size in sizes.items()}
    parts = [p for many in names.values() for p in many]
    taken = lambda given: {
        p: [t[k] for t in given[n][len(visit.values[n]) :]]  # type: ignore[arg-type]
        for n, many in names.items()
        for k, p in enumerate(many)
    }
    empty: dict[str, object] = {p: [] for p in parts}
    visit = _in_place_of(visit, names, empty, empty, taken(visit.after), taken(visit.ends))
    bind = tuple(f"{p} = []" for p in parts)
    kinds = {n: type(found.visit.after[n][-1]) for n in names}  # type: ignore[index]
    rows = {n: f"zip({', '.join(many)})" for n, many in names.items()}
    rows |= {n: f"map({kind.__name__}._make, {rows[n]})" for n, kind in kinds.items() if kind is not tuple}
    extend = tuple(f"{n}.extend({text})" for n, text in rows.items())
    new = visited(_AppendSplitter(names, found.visit), found.body)
    return StandIns(tuple(new), visit, (*found.before, *bind), (*extend, f"del {', '.join(parts)}", *found.after))


def _parts_of(item: ast.expr, visit: Visit) -> list[ast.expr] | None:
    """The parts of a tuple that is written there, or of a named one that is made of its parts."""
    match item:
        case ast.Tuple(elts=parts):
            return parts
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]):
            kind = visit.values.get(name, visit.around.get(name))
            if not isinstance(kind, type) or kind.__name__ != name:
                return None
            return parts if len(fields_of(kind)) == len(parts) else None
    return None


def _states(found: StandIns) -> StandIns:
    """Tuples of numbers and arrays that are bound anew (`state = step(state)`, `best, where = x[i], (i, j)`), each part under a name of its own."""
    visit = found.visit
    nodes = [n for s in visited(PairSplitter(ast.Tuple, any), found.body) for n in ast.walk(s)]
    stored = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    plain = {
        t.id
        for n in nodes
        if isinstance(n, ast.Assign) and len(n.targets) == 1
        for t in n.targets
        if isinstance(t, ast.Name)
    }
    made = naming.bound_for_certain(found.body) - naming.read_first(found.body) - visit.values.keys()
    sizes = {n: size for n in sorted(stored & plain) if (size := _size_of_state(n, visit, n in made))}
    names = {n: [f"part_{k}_of_{n}" for k in range(size)] for n, size in sizes.items()}
    if not names:
        return found
    values, live, after, ends = dict(visit.values), dict(visit.live), dict(visit.after), dict(visit.ends)
    for n, parts in names.items():
        for given in (values, live, after, ends):
            given |= dict(zip(parts, given.pop(n), strict=True)) if n in given else {}  # type: ignore[call-overload]
    visit = replace(visit, values=values, live=live, after=after, ends=ends)
    new = tuple(_TupleSplitter(names).visit(s) for s in visited(PairSplitter(ast.Tuple, any), found.body))
    apart = tuple(f"{', '.join(parts)}, = {n}" for n, parts in names.items() if n not in made)
    whole = tuple(f"{n} = ({', '.join(parts)},)" for n, parts in names.items())
    gone = f"del {', '.join(p for parts in names.values() for p in parts)}"
    tests = tuple(f"type({n}) is tuple and len({n}) == {sizes[n]}" for n in names if n not in made)
    stands = replace(
        found, body=new, visit=visit, parts={p: n for n, parts in names.items() for p in parts}, tests=tests
    )
    return replace(stands, before=(*found.before, *apart), after=(*whole, gone, *found.after))


def _size_of_state(name: str, visit: Visit, made: bool) -> int:
    """How many numbers and arrays the tuple has that a name stands for before, unless the region makes it, and after; 0 where it is none."""
    givens = (visit.after, visit.ends) if made else (visit.values, visit.live, visit.after, visit.ends)
    seen = [given.get(name) for given in givens]
    if not all(type(v) is tuple and v and all(map(is_number, v)) and len(v) == len(seen[0]) for v in seen):  # type: ignore[arg-type]
        return 0
    return len(seen[0])  # type: ignore[arg-type]


class _TupleSplitter(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, list[str]]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.names:
            return node
        parts = [ast.copy_location(ast.Name(p, node.ctx), node) for p in self.names[node.id]]
        return ast.copy_location(ast.Tuple(list(parts), node.ctx), node)


def _takes_tuples(name: str, size: int, visit: Visit, nodes: list[ast.AST]) -> bool:
    used = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
    calls = [n for n in nodes if growing.appends(n, visit.values) and naming.root_of(n.func) == name]  # type: ignore[attr-defined]
    before, after = visit.values.get(name), visit.after.get(name)
    if type(before) is not list or type(after) is not list or len(used) != len(calls):
        return False
    new = after[len(before) :]
    return all(isinstance(t, tuple) and type(t) is type(new[0]) and len(t) == size for t in new)


class _AppendSplitter(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, list[str]], visit: Visit) -> None:
        self.names, self.seen = names, visit

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item]) if (
                name in self.names
            ):
                new, items = [], _parts_of(item, self.seen) or []
                for p, item in zip(self.names[name], items, strict=True):
                    one = ast.parse(f"{p}.append(0)").body[0]
                    assert isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)
                    placed_at(one, node)
                    one.value.args = [item]
                    new.append(one)
                return new
        return node
