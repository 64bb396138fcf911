"""Rows that are not all as long, in lists or under whole numbers in dicts (`near[i]`, `for j in links[i]`, `for v, w in edges[u]`): in the region
they are rectangles, each row filled up to the longest one, beside how long each is."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from . import naming
from .functions import Definitions
from .objects_apart import with_first_turn
from .parts import COMPILED, OURS, Renamed, free_name, numpy_in, placed_at
from .rectangles import EMPTY, are_apart, columns_of, rectangles
from .stand_ins import StandIns
from .watching import Visit


MOST = 200_000
"""So many elements a rectangle may have."""
_OF_PLACES = tuple(f"{outer} of {row}" for outer in ("list", "dict") for row in ("list: int", "ndarray: int"))
"""What begins the types of rows by which arrays are indexed: a tuple stands for one place."""
_OVER = frozenset("sum max min any all".split())


class _OtherUse(Exception):
    """Raised where rows are used in a way that is not followed."""


def with_rectangles(form: StandIns, definitions: Definitions) -> StandIns | None:
    """The statements with rectangles in the place of such rows; None where there are none."""
    changing = naming.bound(form.body) | naming.stored_into(form.body)
    seen = {**form.visit.values}
    numpy = numpy_in(seen)
    if form.visit.around.get(numpy, np) is not np:
        return None
    stored = _stored_by_place(form) if naming.stored_into(form.body) else frozenset()
    read = sorted(naming.loaded(form.body) - changing | stored)
    found = {n: k for n in read if (k := _columns(form.visit.values.get(n)))}
    writer = _Writer(found, form, numpy, stored)
    try:
        body = tuple(
            writer.block(_without_aliases([copy.deepcopy(s) for s in form.body], found, form.visit, writer.last))
        )
    except _OtherUse:
        return None
    if not writer.used or naming.names(body) & found.keys():
        return None
    ours, values, ends = free_name(OURS, form.visit, COMPILED), dict[str, object](), dict[str, object]()
    before = [] if numpy in form.visit.values else ["import numpy"]
    for n in sorted(writer.used):
        own = [*_names(n, found[n]), f"lengths_of_{n}"]
        values |= dict(zip(own, rectangles(form.visit.values[n]), strict=True))
        before.append(f"{', '.join(own)} = {ours}.rectangles({n})")
        if n in stored:
            before.append(f"{own[0]} = {numpy}.array({own[0]})")
            values[own[0]] = np.array(values[own[0]])
            ends[own[0]] = np.array(rectangles(form.visit.after[n])[0])
            writer.last.append(f"{ours}.put_back({own[0]}, {n})")
    visit = replace(
        form.visit,
        values={**seen, **values},
        live={**form.visit.live, **values},
        after={**form.visit.after, **values, **ends},
        ends={**form.visit.ends, **values, **ends},
    )
    made = sorted(writer.made)
    return replace(
        form,
        body=body,
        visit=with_first_turn(body, visit, definitions),
        before=(*form.before, *before, *(f"{n} = None" for n in made)),
        after=(*writer.last, f"del {', '.join([*values, *made])}", *form.after),
        parts={**form.parts, **{m: n for n in writer.used for m in [*_names(n, found[n]), f"lengths_of_{n}"]}},
        tests=(
            *form.tests,
            *(f"{ours}.columns_of({n}) == {columns_of(form.visit.values[n])!r}" for n in sorted(writer.used)),
            *(f"{ours}.are_apart({n})" for n in sorted(writer.used & stored)),
            *(f"len({{*map(len, {n})}}) == 1" for n in sorted(writer.as_long)),
        ),
    )


def _stored_by_place(form: StandIns) -> frozenset[str]:
    """Lists of arrays, each with memory of its own, whose elements alone are stored into (`z[i][k] = v`)."""
    visit = form.visit
    arrays = [v for n, v in visit.live.items() if isinstance(v, np.ndarray) and n in naming.names(form.body)]
    found = set[str]()
    for name in naming.stored_into(form.body) - naming.bound(form.body):
        value = visit.live.get(name)
        targets = [t for s in naming.statements(form.body) for t in naming.targets_of(s) if naming.root_of(t) == name]
        by_place = all(isinstance(t, ast.Subscript) and _row(t.value, {name: 1}) for t in targets)
        if not by_place or not targets or type(value) is not list or not are_apart(value) or not visit.after.get(name):
            continue
        if not any(np.may_share_memory(row, v) for row in value for v in arrays):
            found.add(name)
    return frozenset(found)


def _columns(value: object) -> int:
    """How many columns rows have; 0 for all else."""
    if not columns_of(value):
        return 0
    *columns, lengths = rectangles(value)
    return len(columns) if len(lengths) * max(lengths) <= MOST else 0


def _names(name: str, columns: int) -> list[str]:
    return [f"rows_of_{name}"] if columns == 1 else [f"column_{k}_of_{name}" for k in range(columns)]


def _row(node: ast.AST, found: Mapping[str, int]) -> tuple[str, ast.expr] | None:
    """Of what this is a row, and which."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=at) if name in found and not isinstance(
            at, (ast.Slice, ast.Tuple)
        ):
            return name, at
    return None


def _without_aliases(body: list[ast.stmt], found: Mapping[str, int], visit: Visit, last: list[str]) -> list[ast.stmt]:
    """The statements with `near[i]` in place of a name that loops over rows (`for i, js in enumerate(near)`), or an assignment at a turn's
    start (`js = near[i]`), give it; `last` gets what binds the name in the end."""
    new: list[ast.stmt] = []
    for s in body:
        for block in ("body", "orelse"):
            if inner := getattr(s, block, None):
                setattr(s, block, _without_aliases(inner, found, visit, last))
        if isinstance(s, ast.For) and not s.orelse:
            s = _over_rows(s, found, visit, last, body)
            _first_names(s, found, visit, last, body)
        new.append(s)
    return new


def _over_rows(
    s: ast.For, found: Mapping[str, int], visit: Visit, last: list[str], body: Sequence[ast.stmt]
) -> ast.For:
    match s:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=count), ast.Name(id=row)]),
            iter=ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name(id=name)], keywords=[])
            | ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="items"), args=[], keywords=[]),
        ) if name in found and isinstance(visit.values[name], dict) == isinstance(s.iter.func, ast.Attribute):  # type: ignore[attr-defined]
            pass
        case _:
            return s
    if {count, row} & (naming.bound(s.body) | naming.stored_into(s.body)) or naming.leaves(s.body):
        raise _OtherUse
    size = len(visit.values[name])  # type: ignore[arg-type]
    if not size:
        raise _OtherUse
    at = ast.Subscript(ast.Name(name, ast.Load()), ast.Name(count, ast.Load()), ast.Load())
    if sum(len(naming.uses(row, [b])) for b in body) > len(naming.uses(row, [s])):
        raise _OtherUse
    s.body = [Renamed({row: at}).visit(b) for b in s.body]
    lengths = ast.Name(f"lengths_of_{name}", ast.Load())
    s.target = ast.Name(count, ast.Store())
    s.iter = ast.Call(ast.Name("range", ast.Load()), [ast.Call(ast.Name("len", ast.Load()), [lengths], [])], [])
    for new in (s.target, s.iter):
        placed_at(new, s)
    last.append(f"{row} = {name}[len({name}) - 1]")
    return s


def _first_names(s: ast.For, found: Mapping[str, int], visit: Visit, last: list[str], body: Sequence[ast.stmt]) -> None:
    """The same of names that the first statements of a turn give to rows by the loop's own number."""
    own = naming.bound([s.target])
    for k, b in enumerate(s.body):
        match b:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (row := _row(value, found)) is not None:
                rest = [*s.body[:k], *s.body[k + 1 :]]
                outside = sum(len(naming.uses(name, [t])) for t in body) > len(naming.uses(name, [s]))
                if (
                    outside
                    or name in naming.bound(rest) | naming.stored_into(rest)
                    or not naming.loaded([row[1]]) <= own
                ):
                    raise _OtherUse
                if own & naming.bound(rest) or name in naming.loaded(s.body[:k]):
                    raise _OtherUse
                s.body = [*s.body[:k], *(Renamed({name: value}).visit(t) for t in s.body[k + 1 :])]
                last.append(f"{name} = {ast.unparse(value)}")
                return
            case ast.Assign() | ast.AugAssign() | ast.Expr():
                continue
        return


class _Writer(naming.OwnNames):
    def __init__(self, found: Mapping[str, int], form: StandIns, numpy: str, stored: frozenset[str]) -> None:
        self.found, self.visit, self.numpy = found, form.visit, numpy
        super().__init__({*form.visit.values, *form.visit.after, *naming.names(form.body)})
        self.used, self.last = set[str](), list[str]()
        self.changing, self.stored = naming.bound(form.body), stored
        self.as_long = set[str]()
        """Names of rows that are as long as each other."""
        loops = naming.all_of(ast.For, form.body)
        counts = {s.target.id: s for s in loops if isinstance(s.target, ast.Name) and _counts_up(s.iter)}
        self.counts = {n for n in counts if naming.stored(form.body).count(n) == 1}
        """What loops count with from 0."""
        self.first: list[ast.stmt] = []
        """What stands before the statement that is being written."""

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a block."""
        return [t for s in body for t in self._statement(s)]

    def _statement(self, s: ast.stmt) -> list[ast.stmt]:
        stores = [
            t for t in naming.targets_of(s) if isinstance(t, ast.Subscript) and _row(t.slice, self.found) is not None
        ]
        if stores and not self._only_lengths(s.value):  # type: ignore[attr-defined]
            raise _OtherUse
        if isinstance(s, ast.For) and (row := _row(s.iter, self.found)) is not None:
            self._over_a_row(s, *row)
        outer, self.first = self.first, []
        for field, value in ast.iter_fields(s):
            if field in ("body", "orelse") and isinstance(value, list):
                continue
            many = value if isinstance(value, list) else [value]
            new = [
                _Expressions(self, field == "test" and isinstance(s, ast.While)).visit(v)
                if isinstance(v, ast.AST)
                else v
                for v in many
            ]
            setattr(s, field, new if isinstance(value, list) else new[0])
        before, self.first = self.first, outer
        for field in ("body", "orelse"):
            if isinstance(inner := getattr(s, field, None), list):
                setattr(s, field, self.block(inner))
        return [placed_at(t, s) for t in before] + [s]

    def _only_lengths(self, value: ast.expr) -> bool:
        """Whether rows have no part in a value but for how long they are."""
        used = sum(n.id in self.found for n in naming.all_of(ast.Name, [value]))
        calls = [c for c in naming.all_of(ast.Call, [value]) if ast.unparse(c.func) == "len" and len(c.args) == 1]
        return used == sum(_row(c.args[0], self.found) is not None for c in calls)

    def _over_a_row(self, s: ast.For, name: str, at: ast.expr) -> None:
        """`for place in range(length): j = rows[i][place]` in place of `for j in near[i]`."""
        targets = s.target.elts if isinstance(s.target, ast.Tuple) else [s.target]
        if len(targets) != self.found[name] or naming.loaded([at]) & (naming.bound(s.body) | naming.bound([s.target])):
            raise _OtherUse
        place = self.name(f"place_in_{name}")
        self.used.add(name)
        bind: list[ast.stmt] = []
        for target, rows in zip(targets, _names(name, self.found[name]), strict=True):
            row = ast.Subscript(ast.Name(rows, ast.Load()), copy.deepcopy(at), ast.Load())
            bind.append(ast.Assign([target], ast.Subscript(row, ast.Name(place, ast.Load()), ast.Load())))
        s.iter = placed_at(ast.Call(ast.Name("range", ast.Load()), [self.length(name, at)], []), s)
        s.target = placed_at(ast.Name(place, ast.Store()), s)
        s.body = [*(placed_at(b, s) for b in bind), *s.body]

    def length(self, name: str, at: ast.expr) -> ast.expr:
        """How long a row is."""
        self.used.add(name)
        return ast.Subscript(ast.Name(f"lengths_of_{name}", ast.Load()), copy.deepcopy(at), ast.Load())

    def before(self, wish: str, value: ast.expr) -> ast.Name:
        """A name for a value, which is bound before the statement."""
        name = self.name(wish)
        self.first.append(ast.Assign([ast.Name(name, ast.Store())], value))
        return ast.Name(name, ast.Load())

    def whole_row(self, rows: str, at: ast.expr) -> ast.expr:
        """A row of a rectangle, as an array."""
        made = ast.Call(
            ast.Attribute(ast.Name(self.numpy, ast.Load()), "array", ast.Load()), [ast.Name(rows, ast.Load())], []
        )
        return ast.Subscript(made, copy.deepcopy(at), ast.Load())

    def mask(self, name: str, at: ast.expr) -> ast.Name:
        """Which places of a row are its own."""
        size = ast.parse(
            f"{self.numpy}.arange({self.numpy}.array({_names(name, self.found[name])[0]}).shape[1])", mode="eval"
        ).body
        return self.before(f"own_of_{name}", ast.Compare(size, [ast.Lt()], [self.length(name, at)]))


def _counts_up(source: ast.expr) -> bool:
    """Whether this is `range(n)`."""
    return isinstance(source, ast.Call) and ast.unparse(source.func) == "range" and len(source.args) == 1


class _Expressions(ast.NodeTransformer):
    def __init__(self, writer: _Writer, again: bool) -> None:
        self.writer, self.again = writer, again
        """Whether it is evaluated again before each turn: nothing may stand before it."""
        self.own: set[str] = set()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """How long rows are, and sums and the like over one."""
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[inner]) if (row := _row(inner, self.writer.found)) is not None:
                return placed_at(self.writer.length(*row), node)
            case ast.Call(
                func=ast.Name(id=word),
                args=[ast.GeneratorExp(generators=[one]) | ast.ListComp(generators=[one]), *_],
            ) if word in _OVER and (row := _row(one.iter, self.writer.found)) is not None:
                self._over(one, *row, word in ("max", "min"))
        return self.generic_visit(node)

    def _over(self, one: ast.comprehension, name: str, at: ast.expr, ends: bool) -> None:
        first, targets = one.target, one.target.elts if isinstance(one.target, ast.Tuple) else [one.target]
        if len(targets) != self.writer.found[name] or not self._may_stand_before([at]):
            raise _OtherUse
        if ends and (one.ifs or columns_of(self.writer.visit.values[name]).endswith(EMPTY)):
            raise _OtherUse
        rows = [
            self.writer.before(f"row_of_{name}", self.writer.whole_row(n, at))
            for n in _names(name, self.writer.found[name])
        ]
        mask = self.writer.mask(name, at)
        if ends:  # what is filled up changes nothing if it is an element of the row
            numpy = self.writer.numpy
            rows = [
                self.writer.before(r.id, ast.parse(f"{numpy}.where({mask.id}, {r.id}, {r.id}[0])", mode="eval").body)
                for r in rows
            ]
            one.iter = rows[0] if len(rows) == 1 else ast.Call(ast.Name("zip", ast.Load()), list(rows), [])
            placed_at(one.iter, first)
            return
        own = ast.Name(f"{mask.id}_here", ast.Store())
        one.target = ast.Tuple([*targets, own], ast.Store())
        one.iter = ast.Call(ast.Name("zip", ast.Load()), [*rows, mask], [])
        one.ifs = [ast.Name(own.id, ast.Load()), *one.ifs]
        for new in (own, one.iter, one.ifs[0], one.target):
            placed_at(new, first)

    def _may_stand_before(self, nodes: Sequence[ast.expr]) -> bool:
        return not self.again and not naming.loaded(nodes) & self.own

    def visit_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.DictComp | ast.SetComp) -> ast.AST:
        """What comprehensions count with has another value each time."""
        outer, self.own = self.own, self.own | naming.bound([g.target for g in node.generators])
        self.generic_visit(node)
        self.own = outer
        return node

    visit_GeneratorExp = visit_DictComp = visit_SetComp = visit_ListComp

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        """A function's own text is not followed."""
        if naming.loaded([node]) & self.writer.found.keys():
            raise _OtherUse
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`near[i][k]`, and `x[near[i]]`."""
        writer = self.writer
        if (row := _row(node.value, writer.found)) is not None and writer.found[row[0]] == 1:
            at = node.slice
            match at:
                case ast.Constant(value=int(place)) if place >= 0:
                    pass
                case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int())):
                    node.slice = placed_at(ast.BinOp(writer.length(*row), ast.Sub(), at.operand), node)
                case ast.Name(id=count) if count in writer.counts:
                    pass
                case ast.Name() | ast.Constant(value=int()) if len({*rectangles(writer.visit.values[row[0]])[-1]}) == 1:
                    writer.as_long.add(row[0])
                case _:
                    raise _OtherUse
            writer.used.add(row[0])
            if row[0] in writer.stored:
                both = ast.Tuple([row[1], node.slice], ast.Load())
                new = ast.Subscript(ast.Name(f"rows_of_{row[0]}", ast.Load()), both, node.ctx)
                return placed_at(new, node)
            node.value = placed_at(ast.Subscript(ast.Name(f"rows_of_{row[0]}", ast.Load()), row[1], ast.Load()), node)
            return node
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        rows = [k for k, p in enumerate(parts) if _row(p, writer.found) is not None]
        if not rows:
            return self.generic_visit(node)
        name, at = _row(parts[rows[0]], writer.found) or ("", parts[0])
        others = [p for p in parts if p is not parts[rows[0]]]
        array = writer.visit.values.get(node.value.id) if isinstance(node.value, ast.Name) else None
        array = writer.visit.after.get(node.value.id) if array is None and isinstance(node.value, ast.Name) else array
        if isinstance(node.ctx, ast.Store):
            return self._stored(node, name, at, array)
        if (
            len(rows) > 1
            or not isinstance(array, np.ndarray)
            or not self._may_stand_before([at, *others])
            or writer.found[name] != 1
            or not columns_of(writer.visit.values[name]).startswith(_OF_PLACES)
            or not all(isinstance(p, (ast.Name, ast.Constant)) for p in others)
        ):
            raise _OtherUse
        whole = writer.whole_row(f"rows_of_{name}", at)
        if isinstance(node.slice, ast.Tuple):
            parts[rows[0]] = whole
        else:
            node.slice = whole
        picked = writer.before(f"picked_by_{name}", node)
        return placed_at(ast.Subscript(picked, writer.mask(name, at), ast.Load()), node)

    def _stored(self, node: ast.Subscript, name: str, at: ast.expr, array: object) -> ast.AST:
        """`x[near[i]] = number`: what a row is filled up with is a place of its own, where the same is stored."""
        writer, value = self.writer, self.writer.visit.values[name]
        lengths = rectangles(value)[-1]
        if not isinstance(array, np.ndarray) or array.ndim != 1 or isinstance(node.slice, ast.Tuple):
            raise _OtherUse
        if len({*lengths}) == 1 or columns_of(value).endswith(EMPTY) or not columns_of(value).startswith(_OF_PLACES):
            raise _OtherUse  # rows that differ in length all take the value: it is a number
        row = writer.before(f"row_of_{name}", writer.whole_row(f"rows_of_{name}", at))
        mask = writer.mask(name, at)
        own = f"{writer.numpy}.where({mask.id}, {row.id}, {row.id}[0])"
        node.slice = placed_at(writer.before(f"row_of_{name}", ast.parse(own, mode="eval").body), node)
        return node
