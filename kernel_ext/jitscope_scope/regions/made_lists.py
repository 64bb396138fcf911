"""Python's lists of numbers or arrays that a region makes itself (`row = [i]`, `row.append(…)`, `last = row`), as arrays: where the text shows
how many elements each gets, and the region uses it as an array may be used."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from . import growing, list_buffers, naming
from .bounds import Bounds
from .expressions import OF_LISTS
from .list_elements import bounded, in_elements, of_copy
from .parts import PairSplitter, Renamed, blocks, numpy_in, placed_at, visited
from .watching import Visit


_ELEMENTS = (bool, int, float, complex, np.generic)
_FEW = 4
"""Elements at a list's start that may be of other types than the rest."""
_REDUCED = frozenset("sum min max any all".split())


@dataclass(frozen=True)
class MadeLists:
    """The statements with arrays, what was seen with arrays, and for each list the text that makes it of its array `{0}`."""

    body: naming.Statements
    visit: Visit
    texts: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[str, str] = field(default_factory=dict)
    """Of which of these lists the elements are that the region appends to a list."""
    longer: Mapping[str, str] = field(default_factory=dict)
    """The lists of before that the region appends to and reads, by the name of the whole array."""
    given: Mapping[str, str] = field(default_factory=dict)
    """What goes in for lists of before."""
    elements: tuple[naming.Statements, Mapping[str, object]] | None = None
    """The region, and what was seen before it, with any element of a list as one number."""

    def bound(self, name: str, result: str) -> str:
        """The statement that binds a list, or makes one of before longer."""
        if (of := self.longer.get(name)) is not None:
            return f"{of}.extend({self.texts[name].format(f'{result}[len({of}):]')})"
        return f"{name} = {self.texts[name].format(result)}"

    def extended(self, name: str, result: str) -> str:
        """The statement that makes a list of before longer by lists."""
        row = f"row_of_{name}"
        return f"{name}.extend({self.texts[self.rows[name]].format(row)} for {row} in {result})"

    def kept_again(self, name: str, visit: Visit) -> list[str]:
        """The statement that gives a name the list that was appended to another one last, where it had that."""
        ends = {o: last for o in self.rows if isinstance(last := visit.ends.get(o), list) and last}
        of = next((o for o, last in ends.items() if last[-1] is visit.ends[name]), None)
        return [f"{name} = {of}[-1]"] if of is not None else []


def as_arrays(body: naming.Statements, visit: Visit, values: dict[str, object]) -> MadeLists:
    """The region with arrays in place of the lists that it makes. `values`, seen before, get NumPy if they have it not."""
    whole = body
    body = tuple(visited(PairSplitter(ast.List, any), body))
    longer = _longer(body, visit)
    for n, first in longer.items():
        body, visit = _as_made(n, first, body, visit)
    bound = naming.bound(body)
    named = {n for n in bound if type(visit.after.get(n)) is list or type(visit.values.get(n)) is list}
    found = {n: text for n in named if (text := _text(n, visit)) is not None}
    while found and (bad := {n for n in found if not _good(n, body, visit, found)}):
        found = {n: t for n, t in found.items() if n not in bad}
    grown = {n: g for n in found if (g := _growth(n, body, visit)) is not None}
    if not found:
        return MadeLists(whole, visit)
    inside, elements = in_elements(found, body, visit.values)
    bounded(found, inside, elements, visit)
    writer = _Writer(found, grown, visit, numpy_in(values), Bounds(body, visit.values, visit.after, visit.held))
    new = visited(writer, body)
    given = {n: f"numpy.asarray({n})" for n in found if type(visit.values.get(n)) is list}
    given |= {n: _of_same(n, np.asarray(visit.after[f"whole_of_{n}"])) for n in longer if f"whole_of_{n}" in found}
    values |= {n: eval(t, {"numpy": np, n: visit.values[n]}) for n, t in given.items()}
    after = {n: np.asarray(v) if n in found and type(v) is list else v for n, v in visit.after.items()}
    seen = replace(visit, values={**visit.values, **values}, after=after)
    rows = {o: n for n in found for o in _kept_in(n, body)}
    whole = {f"whole_of_{n}": n for n in longer if f"whole_of_{n}" in found}
    return MadeLists(tuple(new), seen, found, rows, whole, given, (inside, elements))


def _of_same(name: str, like: np.ndarray) -> str:
    """A list of before as an array of the elements' type, empty ones too."""
    return f"numpy.asarray({name}, '{like.dtype.name}').reshape({', '.join(map(str, (-1, *like.shape[1:])))})"


def _longer(body: naming.Statements, visit: Visit) -> dict[str, str]:
    """Lists of before that the region appends to and reads elsewhere than at their end; and how it begins with each."""
    calls = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Call) and growing.appends(n, visit.values)]
    found: dict[str, str] = {}
    for n in {_appended(c) for c in calls} - naming.bound(body) - naming.stored_into(body):
        before, after = visit.values.get(n), visit.after.get(n)
        read = [m for s in body for m in ast.walk(s) if isinstance(m, ast.Subscript) and ast.unparse(m.value) == n]
        if type(before) is not list or type(after) is not list or len(after) <= len(before) or not read:
            continue
        if all(ast.unparse(m.slice) == "-1" for m in read):
            continue
        if not all(isinstance(v, (*_ELEMENTS, np.ndarray)) for v in after):
            continue
        if len({type(v) for v in after[len(before) :]}) == 1 and len({np.shape(v) for v in after}) == 1:
            found[n] = f"[*{n}]"
    return found


def _as_made(name: str, first: str, body: naming.Statements, visit: Visit) -> tuple[naming.Statements, Visit]:
    """The region as if it made the list itself: of what there was, which goes in."""
    whole, before, after = f"whole_of_{name}", visit.values[name], visit.after[name]
    assert isinstance(before, list) and isinstance(after, list)
    new = [Renamed({name: whole}).visit(copy.deepcopy(s)) for s in body]
    start = placed_at(ast.parse(f"{whole} = {first}").body[0], body[0])
    seen = replace(visit, after={**visit.after, whole: after[len(before) :]}, ends={**visit.ends, whole: object()})
    return (start, *new), seen


def _kept_in(name: str, body: naming.Statements) -> list[str]:
    """The lists that this one is appended to."""
    calls = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Call) and growing.appends(n, {})]
    return [_appended(c) for c in calls if len(c.args) == 1 and ast.unparse(c.args[0]) == name]


def _done_when_kept(name: str, body: naming.Statements) -> bool:
    """Whether the list is appended to another one in the block in which it is made, and not changed any more after that."""
    for block in blocks([*body]):
        places = [
            k
            for k, s in enumerate(block)
            if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and _kept_in(name, [s])
        ]
        made = [k for k, s in enumerate(block) if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == name]
        if places and made:
            later = block[places[0] + 1 :]
            changes = name in naming.stored_into(later) or any(_touches(s, name) for s in later)
            return len(_kept_in(name, body)) == len(made) == 1 and made[0] < places[0] and not changes
    return False


def _text(name: str, visit: Visit) -> str | None:
    """How the list is made of an array; None for a list that is empty, of several kinds, or an object of before."""
    after = visit.after.get(name)
    if type(after) is not list or not after or any(visit.ends.get(name) is v for v in visit.live.values()):
        return None
    last = type(after[-1])
    first = next((k for k in range(len(after) - 1, -1, -1) if type(after[k]) is not last), -1) + 1
    if first > _FEW:
        return None
    if issubclass(last, np.ndarray):
        alike = first == 0 and all(v.shape == after[0].shape and v.dtype == after[0].dtype for v in after)
        return "[v.copy() for v in {0}]" if alike and after[0].ndim and after[0].dtype.kind in "biufc" else None
    if not all(isinstance(v, _ELEMENTS) for v in after):
        return None
    rest = "{0}.tolist()" if not issubclass(last, np.generic) else "[*{0}]"
    if not first:
        return rest
    array = np.asarray(after)
    if issubclass(last, np.generic) and last is not array.dtype.type:
        return None
    if any(isinstance(v, np.generic) and type(v) is not array.dtype.type for v in after[:first]):
        return None
    kinds = [
        f"{{0}}[{k}]" if isinstance(v, np.generic) else f"{type(v).__name__}({{0}}[{k}])"
        for k, v in enumerate(after[:first])
    ]
    return f"[{', '.join(kinds)}, *{rest.replace('{0}', f'{{0}}[{first}:]')}]"


def _good(name: str, body: naming.Statements, visit: Visit, found: Mapping[str, object]) -> bool:
    """Whether all that is bound to the name are lists that have a form as arrays, and all uses are those of an array."""
    before = visit.values.get(name)
    early = name in naming.read_first(body)
    if early and not (
        type(before) is list and before and all(type(v) is type(before[0]) and isinstance(v, _ELEMENTS) for v in before)
    ):
        return False
    allowed = 0
    for s in body:
        for n in ast.walk(s):
            allowed += _allowed(n, name, found, visit)
    uses = sum(isinstance(n, ast.Name) and n.id == name for s in body for n in ast.walk(s))
    if uses != allowed:
        return False
    if _kept_in(name, body) and not _done_when_kept(name, body):
        return False
    changed = name in naming.stored_into(body) or any(
        growing.appends(n, {}) and _appended(n) == name for s in body for n in ast.walk(s)
    )
    return not changed or (not early and _growth(name, body, visit) is not None)


def _allowed(node: ast.AST, name: str, found: Mapping[str, object], visit: Visit) -> int:
    """How many times a node uses the list in a way that arrays have too."""
    is_it = lambda n: isinstance(n, ast.Name) and n.id == name
    match node:
        case ast.Assign(targets=[ast.Name() as target], value=value) if is_it(target) or _is_list(value, name):
            return int(is_it(target) and _makes(value, found)) + int(_is_list(value, name) and target.id in found)
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=parts)) if len(targets) == len(
            parts
        ) and all(isinstance(p, ast.Name) for p in [*targets, *parts]):
            pairs = [(t.id, p.id) for t, p in zip(targets, parts, strict=True)]  # type: ignore[attr-defined]
            return sum((a == name) + (b == name) for a, b in pairs if a in found and b in found)
        case ast.Subscript(value=of, slice=at) if is_it(of):
            return int(not isinstance(at, (ast.Slice, ast.Tuple)))
        case ast.Call(func=ast.Name(id="len" | "sum"), args=[of], keywords=[]) if is_it(_sliced(of)):
            return 1
        case ast.Call(func=ast.Name(id="min" | "max" | "any" | "all"), args=[of], keywords=[]) if is_it(_sliced(of)):
            return int(not isinstance(visit.after[name][-1], np.ndarray))  # type: ignore[index]
        case ast.Call(func=ast.Attribute(value=of, attr="append"), args=[_], keywords=[]) if is_it(of):
            return 1
        case ast.Call(func=ast.Attribute(value=ast.Name(id=other), attr="append"), args=[of], keywords=[]) if is_it(of):
            return int(other not in found)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=word), args=[of, *_]) if is_it(_sliced(of)):
            return int(visit.values.get(module) is np and word in OF_LISTS)
        case ast.For(iter=of) | ast.comprehension(iter=of) if is_it(of):
            return 1
        case ast.Call(func=ast.Name(id="zip" | "enumerate"), args=args):
            return sum(map(is_it, args))
    return 0


def _sliced(node: ast.expr) -> ast.expr:
    """What a part is taken of, or the node itself."""
    return node.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) else node


def _is_list(value: ast.expr, name: str) -> bool:
    """Whether a value is the list itself, or a copy of it."""
    match value:
        case ast.Name(id=n) | ast.Call(func=ast.Name(id="list"), args=[ast.Name(id=n)]):
            return n == name
        case ast.Subscript(value=ast.Name(id=n), slice=ast.Slice(lower=None, upper=None, step=None)):
            return n == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=n), attr="copy"), args=[]):
            return n == name
    return False


def _makes(value: ast.expr, found: Mapping[str, object]) -> bool:
    """Whether this is a list whose size is that of an array."""
    match value:
        case ast.List(elts=[ast.Starred(value=ast.Name(id=name))]):
            return f"whole_of_{name}" in found
        case ast.List(elts=parts):
            return not any(isinstance(p, (ast.Starred, ast.List, ast.Tuple)) for p in parts)
        case ast.BinOp(
            left=ast.List(elts=[ast.Constant() | ast.UnaryOp(operand=ast.Constant()) | ast.Attribute() | ast.Name()]),
            op=ast.Mult(),
        ):
            return True
        case ast.Call(func=ast.Name(id="list"), args=[ast.Call(func=ast.Name(id="range"))]):
            return True
        case ast.ListComp(elt=elt, generators=[ast.comprehension(target=ast.Name(), ifs=[])]):
            return not isinstance(elt, (ast.List, ast.Tuple, ast.ListComp))
    return any(_is_list(value, n) for n in found)


@dataclass(frozen=True)
class _Growth:
    """The statements of the block in which a list is made that append to it, how many elements they add, and the calls."""

    growing: tuple[ast.stmt, ...]
    added: str
    calls: set[int]


def _appended(node: ast.AST) -> str:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return name
    return ""


def _growth(name: str, body: naming.Statements, visit: Visit) -> _Growth | None:
    """How a list grows: after the one statement that makes it, in the same block, by a number of elements that is known; None otherwise."""
    calls = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Call) and _is_append(n, name)]
    whole = [*body]
    made = [
        (block, k)
        for block in blocks(whole)
        for k, s in enumerate(block)
        if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == name
    ]
    if not calls:
        return _Growth((), "0", set())
    if len(made) != 1 or not isinstance(made[0][0][made[0][1]].value, ast.List):  # type: ignore[attr-defined]
        return None
    block, k = made[0]
    if block is whole and not name.startswith("whole_of_"):
        return None
    later = [s for s in block[k + 1 :] if any(n is c for n in ast.walk(s) for c in calls)]
    sizes = [_added(s, name, naming.bound(body) | naming.stored_into(body), visit) for s in later]
    known = [s for s in sizes if s is not None]
    if len(known) != len(sizes) or sum(sum(n is c for c in calls) for s in later for n in ast.walk(s)) != len(calls):
        return None
    if _keeps_arrays(calls, body, visit.after.get(name)):
        return None
    return _Growth(tuple(later), " + ".join(known), {id(c) for c in calls})


def _is_append(node: ast.Call, name: str) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr == "append" and ast.unparse(node.func.value) == name


def _added(s: ast.stmt, name: str, moving: set[str], visit: Visit) -> str | None:
    """How many elements a statement appends, as an expression of what the region leaves alone; None where that is not known."""
    match s:
        case ast.Expr(value=ast.Call() as call) if _is_append(call, name):
            return "1"
        case ast.For(body=inner, orelse=[]) if not naming.leaves(inner):
            arrays = {n for n, v in visit.after.items() if isinstance(v, np.ndarray)}
            if (length := list_buffers.length(s.iter, moving, arrays)) is None:
                return None
            parts = [_added(t, name, moving, visit) if _touches(t, name) else "0" for t in inner]
            known = [p for p in parts if p is not None and p != "0"]
            if not known or None in parts:
                return None
            return length if known == ["1"] else f"{length} * ({' + '.join(known)})"
    return None


def _touches(s: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Call) and _is_append(n, name) for n in ast.walk(s))


def _keeps_arrays(calls: list[ast.Call], body: naming.Statements, after: object) -> bool:
    """Whether the list would hold an array, or a view of one, that changes in place later on."""
    if not isinstance(after, list) or not isinstance(after[-1], np.ndarray):
        return False
    return any(naming.root_of(c.args[0]) in naming.changed(body) for c in calls)


class _Writer(ast.NodeTransformer):
    def __init__(
        self, found: Mapping[str, str], grown: Mapping[str, _Growth], visit: Visit, numpy: str, bounds: Bounds
    ) -> None:
        self.found, self.grown, self.seen, self.numpy, self.bounds = found, grown, visit, numpy, bounds
        self.growing: set[str] = set()
        self._lines = {n: {t.lineno for t in g.growing} for n, g in grown.items()}

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, ast.stmt):
            return super().generic_visit(node)
        begun = {n for n, lines in self._lines.items() if node.lineno in lines and n not in self.growing}
        self.growing |= begun
        node = super().generic_visit(node)
        self.growing -= begun
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        match node.targets:
            case [ast.Name(id=name)] if name in self.found:
                return [placed_at(s, node) for s in self._made(name, node.value)]
        return node

    def _made(self, name: str, value: ast.expr) -> list[ast.stmt]:
        after = np.asarray(self.seen.after[name])
        kind, np_, added = after.dtype.name, self.numpy, self.grown[name].added
        match value:
            case ast.List(elts=[ast.Starred(value=ast.Name(id=first))]):
                shape = ", ".join([f"len({first}) + {added}", *map(str, after.shape[1:])])
                lines = [f"{name} = {np_}.zeros(({shape},), '{kind}')", f"{name}[:len({first})] = {first}"]
                lines.append(f"count_of_{name} = len({first})")
            case ast.List(elts=parts) if self.grown[name].calls:
                size = f"{len(parts)} + {added}" if parts else added
                shape = ", ".join([size, *map(str, after.shape[1:])])
                lines = [f"{name} = {np_}.zeros(({shape},), '{kind}')"]
                lines += [f"{name}[{k}] = {ast.unparse(p)}" for k, p in enumerate(parts)]
                lines.append(f"count_of_{name} = {len(parts)}")
            case ast.List():
                lines = [f"{name} = {np_}.array({ast.unparse(value)}, '{kind}')"]
            case ast.BinOp(left=ast.List(elts=[part]), right=times):
                lines = [f"{name} = {np_}.full(({ast.unparse(times)},), {ast.unparse(part)}, '{kind}')"]
            case ast.Call(func=ast.Name(id="list"), args=[ast.Call(args=args)]):
                lines = [f"{name} = {np_}.arange({', '.join(map(ast.unparse, args))})"]
            case ast.Name(id=other):
                lines = [f"{name} = {other}"]
            case ast.ListComp():
                lines = [f"{name} = {np_}.array({ast.unparse(value)})"]
            case _:
                lines = [f"{name} = {naming.root_of(of_copy(value))}.copy()"]
        return ast.parse("\n".join(lines)).body

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        match node.value:
            case ast.Call(func=ast.Attribute(attr="append"), args=[ast.Name(id=row) as item]) if row in self.found:
                node.value.args = [placed_at(ast.parse(f"{row}.copy()", mode="eval").body, item)]
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item]) if (
                name in self.found
            ):
                text = f"{name}[count_of_{name}] = {ast.unparse(item)}\ncount_of_{name} += 1"
                return [placed_at(s, node) for s in ast.parse(text).body]
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node = super().generic_visit(node)  # type: ignore[assignment]
        if _sliced(node) is node and isinstance(node.value, ast.Name) and node.value.id in self.growing:
            at = self.bounds.of(node.slice)
            if at is None or at[0] < 0:
                text = f"({ast.unparse(node.slice)}) % count_of_{node.value.id}"
                node.slice = placed_at(ast.parse(text, mode="eval").body, node.slice)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node = super().generic_visit(node)  # type: ignore[assignment]
        match node.func, [_sliced(a) for a in node.args]:
            case ast.Name(id=word), [ast.Name(id=name)] if name in self.found:
                if word == "len" and name in self.growing and isinstance(node.args[0], ast.Name):
                    return ast.copy_location(ast.Name(f"count_of_{name}", ast.Load()), node)
                if word in _REDUCED:
                    module = ast.Attribute(ast.Name(self.numpy, ast.Load()), word, ast.Load())
                    first = [ast.keyword("axis", ast.Constant(0))] if word == "sum" else []  # of arrays, one by one
                    return placed_at(ast.Call(module, node.args, first), node)
        return node
