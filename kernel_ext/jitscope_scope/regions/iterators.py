"""Loops over what Python's and NumPy's iterators give (`itertools.product(a, b)`, `combinations(range(n), 3)`, `np.ndindex(x.shape)`), as the loops
inside of each other that they stand for; and loops over what a call makes (`for i in rng.permutation(n)`), which it makes before them."""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import numpy as np

from . import naming
from .array_arguments import value_of
from .draws import draws, states_kept
from .functions import Definitions
from .loop_starts import lengths_of
from .objects_apart import with_first_turn
from .parts import Renamed, numpy_in, placed_at, whole_number
from .stand_ins import StandIns
from .watching import Visit, snapshot


MOST = 4
"""So many loops stand inside of each other."""
MOST_TURNS = 100_000
"""More turns than this are not kept in a list."""


def written_out(form: StandIns, definitions: Definitions) -> StandIns | None:
    """The statements with such loops; None where there are none, or none that is known to be the same."""
    writer = _Writer(form.body, form.visit)
    body = tuple(t for s in form.body for t in writer.statement(copy.deepcopy(s)))
    if not writer.changed:
        return None
    first = list(itertools.takewhile(lambda s: _name_of(s) not in writer.made, body[:-1]))
    given, visit = body[len(first) : -1], form.visit
    changing = naming.bound(first) | naming.stored_into(first)
    for s in given:
        seen = None if _name_of(s) not in writer.made or naming.loaded([s]) & changing else _made_by(s, visit)
        if seen is None:
            return None
        visit = seen
    new, indent = (*first, body[-1]), "    " * form.depth
    visit = with_first_turn(new, visit, definitions)
    early = [f"{n} = None" for n in sorted(writer.made) if n not in visit.values]
    after = [*writer.after, *([f"del {', '.join(sorted(writer.made))}"] if writer.made else [])]
    drawn = {_name_of(s): (of, s.lineno) for s in given if (of := _generator(s, form.visit))}
    return replace(
        form,
        body=new,
        visit=visit,
        before=(*form.before, *(indent + line for line in (*early, *map(ast.unparse, given)))),
        after=(*(indent + line for line in after), *form.after),
        draws={**form.draws, **drawn},
        tests=(*form.tests, *writer.tests),
        reads={**form.reads, **{_name_of(s): _data_in(s, form) for s in given}},
    )


def in_columns(form: StandIns) -> StandIns | None:
    """The statements with one loop over what an iterator gives: a list of what each name is in each turn, made before; None where there is none."""
    *straight, last = form.body
    changing = naming.bound(form.body) | naming.stored_into(form.body)
    if straight or not isinstance(last, ast.For) or not isinstance(last.iter, ast.Call) or last.orelse:
        return None
    if _rule(last.iter, form.visit) is None or naming.loaded([last.iter]) & changing:
        return None
    names = last.target.elts if isinstance(last.target, ast.Tuple) else []
    if not names or not all(isinstance(n, ast.Name) for n in names):
        return None
    writer, loop = _Writer(form.body, form.visit), copy.deepcopy(last)
    turns, own = writer.name("turns"), [writer.name(f"column_{k}_of_turns") for k in range(len(names))]
    before = [
        f"{turns} = list({ast.unparse(last.iter)})",
        *(f"{n} = [turn[{k}] for turn in {turns}]" for k, n in enumerate(own)),
    ]
    known = {**form.visit.around, **snapshot(form.visit.values)}
    try:
        exec("\n".join(before), known)
    except Exception:
        return None
    if not known[turns] or len(known[turns]) > MOST_TURNS:  # type: ignore[arg-type]
        return None
    seen = {n: known[n] for n in own}
    kinds = {n: {*map(type, v)} for n, v in seen.items()}  # type: ignore[call-overload]
    if not all(k in ({int}, {float}, {np.float64}, {np.int64}) for k in kinds.values()):
        return None
    numpy = numpy_in(known)
    arrays = [f"{n} = {numpy}.array({n})" for n, k in kinds.items() if k <= {np.float64, np.int64}]
    before += arrays if numpy in form.visit.values or not arrays else [f"import {numpy}", *arrays]
    seen |= {n: np.array(seen[n]) for n, k in kinds.items() if k <= {np.float64, np.int64}}
    loop.iter = placed_at(ast.Call(ast.Name("zip", ast.Load()), [ast.Name(n, ast.Load()) for n in own], []), last)
    visit = replace(form.visit, values={**form.visit.values, **seen}, live={**form.visit.live, **seen})
    return replace(
        form,
        body=(loop,),
        visit=visit,
        reads={**form.reads, **dict.fromkeys(own, _data_in(last.iter, form))},
        before=(*form.before, *before),
        after=(f"del {turns}, {', '.join(own)}", *form.after),
    )


def _name_of(s: ast.stmt) -> str:
    return s.targets[0].id if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) else ""


def _generator(s: ast.stmt, visit: Visit) -> str:
    """The generator that a statement draws from."""
    calls = [n.func for n in naming.all_of(ast.Call, [s]) if draws(n, visit)]
    return next((ast.unparse(f.value if isinstance(f, ast.Attribute) else f) for f in calls), "")


def _data_in(node: ast.AST, form: StandIns) -> tuple[str, ...]:
    """Names of what is read there, but for modules and functions."""
    known = {n: v for n in sorted(naming.loaded([node])) if (v := form.visit.values.get(n)) is not None}
    data = [n for n, v in known.items() if not isinstance(v, ModuleType) and not callable(v)]
    return tuple(m for n in data for m in form.reads.get(n, (n,)))


def _made_by(s: ast.stmt, visit: Visit) -> Visit | None:
    """What was seen, with what a statement before the region binds; the loop leaves a generator alone that it draws from."""
    names, made = {**visit.around, **snapshot(visit.values)}, _name_of(s)
    try:
        with states_kept():
            exec(compile(ast.fix_missing_locations(ast.Module([s], [])), "<before>", "exec"), names)
    except Exception:
        return None
    value = names[made]
    if not isinstance(value, (np.ndarray, list)) or not len(value):
        return None
    kept = {t: state for t, state in visit.states.items() if t != _generator(s, visit)}
    return replace(visit, values={**visit.values, made: value}, live={**visit.live, made: value}, states=kept)


class _Writer(naming.OwnNames):
    def __init__(self, body: naming.Statements, visit: Visit) -> None:
        self.visit, self.changed = visit, False
        super().__init__({*visit.values, *visit.after, *visit.around, *naming.names(body)})
        self.after, self.tests = list[str](), list[str]()
        self.bound = naming.bound(body) | naming.stored_into(body)

    def statement(self, s: ast.stmt, inner: bool = False) -> list[ast.stmt]:
        """A statement with other loops in the place of those in it. What an `inner` loop draws is drawn before the outer one."""
        for block in ("body", "orelse"):
            if isinstance(among := getattr(s, block, None), list):
                setattr(s, block, [t for one in among for t in self.statement(one, inner=True)])
        if not isinstance(s, ast.For) or s.orelse or (inner and any(draws(n, self.visit) for n in ast.walk(s.iter))):
            return [s]
        made = self._inside_of_each_other(s) if isinstance(s.iter, ast.Call) else None
        made = made or self._made_before(s)
        self.changed |= made is not None
        return [s] if made is None else [placed_at(t, s) if t is not s else s for t in made]

    def _inside_of_each_other(self, s: ast.For) -> list[ast.stmt] | None:
        assert isinstance(s.iter, ast.Call)
        find = _rule(s.iter, self.visit)
        if find is None or naming.breaks(s.body):
            return None
        changing = naming.bound(s.body) | naming.stored_into(s.body) | naming.bound([s.target])
        if naming.loaded([s.iter]) & changing - naming.names([s.iter.func]):
            return None
        return find(self, s, s.iter)

    def nested(self, s: ast.For, heads: list[tuple[ast.expr, ast.expr]], first: list[ast.stmt]) -> list[ast.stmt]:
        """Loops inside of each other, with the statements in the innermost one."""
        body = [*(placed_at(t, s) for t in first), *s.body]
        for target, source in reversed(heads):
            new = ast.For(placed_at(target, s), placed_at(source, s), body, [])
            body = list[ast.stmt]([ast.copy_location(new, s)])
        for _, source in heads:
            if not naming.names([source]) & self.taken - self.visit.values.keys() - {"range", "len"}:
                self.tests += [f"{n} > 0" for n in lengths_of(source)]
        return [body[0]]

    def _targets(self, s: ast.For, size: int) -> list[ast.expr] | None:
        """What the parts of each tuple are bound to: names of the edit's own where the loop has one name for the tuple."""
        if isinstance(s.target, ast.Tuple):
            return list(s.target.elts) if len(s.target.elts) == size else None
        if not isinstance(s.target, ast.Name) or s.target.id in naming.bound(s.body):
            return None
        own = [self.name(f"part_{k}_of_{s.target.id}") for k in range(size)]
        whole = ast.Tuple([ast.Name(n, ast.Load()) for n in own], ast.Load())
        s.body = [Renamed({s.target.id: whole}).visit(b) for b in s.body]
        self.after.insert(0, f"{s.target.id} = ({', '.join(own)},)")
        return [ast.Name(n, ast.Store()) for n in own]

    def _pool(self, node: ast.expr, body: list[ast.stmt]) -> tuple[ast.expr, list[ast.stmt]] | None:
        """Numbers that are gone through again and again, and what makes them before; None where they may not stay as they are."""
        if _is_range(node):
            return node, []
        if isinstance(node, ast.Name):
            value = self.visit.values.get(node.id)
            if node.id in self.bound or not _are_numbers(value):
                return None
            stored = [self.visit.live.get(n) for n in naming.stored_into(body)]
            if any(
                isinstance(v, np.ndarray) and isinstance(value, np.ndarray) and np.may_share_memory(v, value)
                for v in stored
            ):
                return None
            return node, []
        if not isinstance(node, ast.Call):
            return None
        own = self.name("gone_through")
        return ast.Name(own, ast.Load()), [ast.Assign([ast.Name(own, ast.Store())], node)]

    def product(self, s: ast.For, call: ast.Call) -> list[ast.stmt] | None:
        """`itertools.product(a, b)`, `repeat=2`."""
        args = call.args
        match call.keywords:
            case []:
                pass
            case [ast.keyword(arg="repeat", value=value)] if (times := whole_number(value)) is not None:
                args = [copy.deepcopy(a) for _ in range(times) for a in args]
            case _:
                return None
        pools = [self._pool(a, s.body) for a in args] if 0 < len(args) <= MOST else [None]
        known = [p for p in pools if p is not None]
        if len(known) < len(pools) or (targets := self._targets(s, len(known))) is None:
            return None
        heads = [(t, source) for t, (source, _) in zip(targets, known, strict=True)]
        return [*(t for _, made in known for t in made), *self.nested(s, heads, [])]

    def places(self, s: ast.For, call: ast.Call) -> list[ast.stmt] | None:
        """`np.ndindex(x.shape)`, `np.ndindex(3, 4)`."""
        sizes = call.args
        if call.keywords:
            return None
        if len(sizes) == 1:
            count = self._axes(sizes[0])
            if count is None:
                return None
            sizes = [ast.Subscript(copy.deepcopy(sizes[0]), ast.Constant(k), ast.Load()) for k in range(count)]
        if not 0 < len(sizes) <= MOST or (targets := self._targets(s, len(sizes))) is None:
            return None
        return self.nested(s, [(t, _call("range", n)) for t, n in zip(targets, sizes, strict=True)], [])

    def _axes(self, node: ast.expr) -> int | None:
        """How many axes a shape has that is written there, or asked of an array."""
        if isinstance(node, ast.Tuple):
            return len(node.elts)
        if isinstance(node, ast.Attribute) and node.attr == "shape" and isinstance(node.value, ast.Name):
            value = self.visit.values.get(node.value.id)
            return value.ndim if isinstance(value, np.ndarray) else None
        return None

    def elements(self, s: ast.For, call: ast.Call) -> list[ast.stmt] | None:
        """`for (i, j), v in np.ndenumerate(x)`."""
        match call.args, s.target:
            case [ast.Name(id=name)], ast.Tuple(elts=[place, ast.Name() as element]):
                value = self.visit.values.get(name)
            case _:
                return None
        if not isinstance(value, np.ndarray) or call.keywords or not 0 < value.ndim <= MOST:
            return None
        inner = replace_target(s, place)
        targets = self._targets(inner, value.ndim)
        if (
            targets is None
            or not all(isinstance(t, ast.Name) for t in targets)
            or naming.bound([place]) & naming.bound(s.body)
        ):
            return None
        at = ast.Tuple([ast.Name(t.id, ast.Load()) for t in targets if isinstance(t, ast.Name)], ast.Load())
        first = ast.Assign([element], ast.Subscript(ast.Name(name, ast.Load()), at, ast.Load()))
        sizes = [ast.parse(f"{name}.shape[{k}]", mode="eval").body for k in range(value.ndim)]
        return self.nested(inner, [(t, _call("range", n)) for t, n in zip(targets, sizes, strict=True)], [first])

    def each(self, s: ast.For, call: ast.Call) -> list[ast.stmt] | None:
        """`for v in np.nditer(x)`, which gives arrays without axes in the order of memory."""
        match call.args, s.target:
            case [ast.Name(id=name)], ast.Name(id=target):
                value, numpy = self.visit.values.get(name), numpy_in(dict(self.visit.values))
            case _:
                return None
        if not isinstance(value, np.ndarray) or call.keywords or not 0 < value.ndim <= MOST or value.dtype.hasobject:
            return None
        if name in self.bound or target in naming.bound(s.body) or numpy not in self.visit.values:
            return None
        counts = [self.name(f"place_{k}_in_{name}") for k in range(value.ndim)]
        own = self.name(f"element_of_{name}")
        s.body = [Renamed({target: ast.Name(own, ast.Load())}).visit(b) for b in s.body]
        self.after[:0] = [f"{target} = {numpy}.array({own})", f"{target}.flags.writeable = False"]
        self.tests.append(f"{name}.flags.c_contiguous")
        at = ast.Tuple([ast.Name(n, ast.Load()) for n in counts], ast.Load())
        first = ast.Assign([ast.Name(own, ast.Store())], ast.Subscript(ast.Name(name, ast.Load()), at, ast.Load()))
        sizes = [ast.parse(f"{name}.shape[{k}]", mode="eval").body for k in range(value.ndim)]
        heads: list[tuple[ast.expr, ast.expr]] = [
            (ast.Name(n, ast.Store()), _call("range", z)) for n, z in zip(counts, sizes, strict=True)
        ]
        return self.nested(s, heads, [first])

    def combinations(self, s: ast.For, call: ast.Call, again: bool = False) -> list[ast.stmt] | None:
        """`itertools.combinations(range(n), 2)`, of a list or an array, or of `enumerate` of one; `again`, an element may stand beside itself."""
        if len(call.args) != 2 or call.keywords:
            return None
        pool, size = call.args[0], whole_number(call.args[1])
        counted = isinstance(pool, ast.Call) and isinstance(pool.func, ast.Name) and pool.func.id == "enumerate"
        of = pool.args[0] if counted and isinstance(pool, ast.Call) and len(pool.args) == 1 else pool
        if size is None or not 0 < size <= MOST or (targets := self._targets(s, size)) is None:
            return None
        match of:
            case ast.Call(func=ast.Name(id="range"), args=[high], keywords=[]) if not counted:
                low: ast.expr = ast.Constant(0)
            case ast.Call(func=ast.Name(id="range"), args=[low, high], keywords=[]) if not counted:
                pass
            case ast.Name() if (found := self._pool(of, s.body)) is not None and not found[1]:
                low, high = ast.Constant(0), _call("len", of)
            case _:
                return None
        heads, first = list[tuple[ast.expr, ast.expr]](), list[ast.stmt]()
        for k, target in enumerate(targets):
            count = target
            if isinstance(of, ast.Name):
                count = ast.Name(self.name(f"place_{k}_in_{of.id}"), ast.Store())
                element: ast.expr = ast.Subscript(of, ast.Name(count.id, ast.Load()), ast.Load())
                element = ast.Tuple([ast.Name(count.id, ast.Load()), element], ast.Load()) if counted else element
                first.append(ast.Assign([target], element))
            if not isinstance(count, ast.Name):
                return None
            later = 0 if again else size - 1 - k
            end = copy.deepcopy(high) if not later else ast.BinOp(copy.deepcopy(high), ast.Sub(), ast.Constant(later))
            heads.append((count, ast.Call(ast.Name("range", ast.Load()), [copy.deepcopy(low), end], [])))
            low = ast.Name(count.id, ast.Load())
            low = low if again else ast.BinOp(low, ast.Add(), ast.Constant(1))
        if naming.bound([t for t, _ in heads]) & naming.bound(s.body):
            return None
        return self.nested(s, heads, first)

    def with_again(self, s: ast.For, call: ast.Call) -> list[ast.stmt] | None:
        """`itertools.combinations_with_replacement`."""
        return self.combinations(s, call, again=True)

    def _made_before(self, s: ast.For) -> list[ast.stmt] | None:
        """A name for what a call makes, in the call's place."""
        made = list[ast.stmt]()
        source = self._with_names(s.iter, made)
        if not made:
            return None
        s.iter = source
        return [*made, s]

    def _with_names(self, node: ast.expr, made: list[ast.stmt]) -> ast.expr:
        match node:
            case ast.Call(func=ast.Name(id="zip" | "enumerate"), args=args, keywords=[]):
                return ast.copy_location(ast.Call(node.func, [self._with_names(a, made) for a in args], []), node)
            case ast.Call() | ast.Subscript(slice=ast.Slice()) if self._makes(node):
                own = self.name("gone_through")
                made.append(ast.Assign([ast.Name(own, ast.Store())], node))
                return ast.copy_location(ast.Name(own, ast.Load()), node)
        return node

    def _makes(self, call: ast.Call | ast.Subscript) -> bool:
        """Whether this makes an array or a list: NumPy's functions, draws, and `sorted`; or a part of a list."""
        if isinstance(call, ast.Subscript):
            return isinstance(call.value, ast.Name) and type(self.visit.values.get(call.value.id)) in (list, tuple)
        if draws(call, self.visit):
            return True
        function = value_of(call.func, self.visit.values)
        name = getattr(function, "__name__", "")
        if isinstance(call.func, ast.Name) and call.func.id == "sorted":
            return not call.keywords and "sorted" not in {*self.visit.values, *self.visit.around, *self.bound}
        return name in (
            "arange",
            "linspace",
            "geomspace",
            "logspace",
            "flatnonzero",
            "argsort",
            "sort",
            "unique",
        ) and function is getattr(np, name)


def replace_target(s: ast.For, target: ast.expr) -> ast.For:
    """The loop with another target."""
    return ast.copy_location(ast.For(target, s.iter, s.body, []), s)


def _call(name: str, of: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [of], [])


def _is_range(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _are_numbers(value: object) -> bool:
    """Whether this is an array, or a list of numbers of one type."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0 and not value.dtype.hasobject
    return type(value) is list and {*map(type, value)} in ({int}, {float})


_Rule = Callable[[_Writer, ast.For, ast.Call], list[ast.stmt] | None]
_RULES: tuple[tuple[object, _Rule], ...] = (
    (itertools.product, _Writer.product),
    (itertools.combinations, _Writer.combinations),
    (itertools.combinations_with_replacement, _Writer.with_again),
    (np.ndindex, _Writer.places),
    (np.ndenumerate, _Writer.elements),
    (np.nditer, _Writer.each),
)


def _rule(call: ast.Call, visit: Visit) -> _Rule | None:
    """What writes loops over what this call gives; None for calls that are no iterator's."""
    function = value_of(call.func, visit.values)
    return next((rule for of, rule in _RULES if of is function), None)
