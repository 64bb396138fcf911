"""Random numbers that each turn of a loop draws, whatever the values are: Python draws them before the loop, one after the other as the loop would,
and the loop reads them."""

from __future__ import annotations

import ast
import builtins
import contextlib
import copy
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import ModuleType

import numpy as np

from ..source_code.parameters import arguments
from . import naming, words
from .array_arguments import value_of
from .functions import Definitions
from .homes import is_number
from .inlined_calls import with_effects
from .loop_starts import lengths_of
from .parts import Renamed, numpy_in, placed_at
from .stand_ins import StandIns, evaluates_again, stand_ins
from .watching import GENERATORS, Visit, snapshot


MOST_BYTES = 1 << 26
"""More than this of random numbers is not kept at once."""
_OTHERWISE = frozenset(
    "seed shuffle permuted spawn get_state set_state getstate setstate getrandbits bytes randbytes jumped".split()
)
"""What generators do beside giving numbers."""


class _NotBefore(Exception):
    """Raised where it depends on values whether, or from what, is drawn: in a node, if that is not the loop itself."""

    def __init__(self, node: ast.AST | None = None) -> None:
        super().__init__()
        self.node = node


@contextlib.contextmanager
def states_kept() -> Iterator[None]:
    """Leaves NumPy's and Python's own generators as they were."""
    ours, pythons = np.random.get_state(), random.getstate()
    try:
        yield
    finally:
        np.random.set_state(ours)
        random.setstate(pythons)


def states() -> tuple[object, ...]:
    """Where these two are."""
    _, numbers, *rest = np.random.get_state()
    return np.asarray(numbers).tobytes(), *rest, random.getstate()


def draws(call: ast.AST, visit: Visit) -> bool:
    """Whether this is a call that draws numbers from a generator that is known."""
    if not isinstance(call, ast.Call) or naming.root_of(call.func) not in visit.values:
        return False
    try:
        drawn = eval(ast.unparse(call.func), {"__builtins__": {}}, dict(visit.values))
    except Exception:
        return False
    name = getattr(drawn, "__name__", "_")
    return isinstance(getattr(drawn, "__self__", None), GENERATORS) and name not in _OTHERWISE and name[0] != "_"


def without_draws(body: naming.Statements, visit: Visit, definitions: Definitions) -> StandIns:
    """The statements with rows of random numbers in place of draws, and with names for lists that have none."""
    whole, visit, inlined = with_effects(body, visit, definitions, draws)
    drawn = drawn_before(whole, visit)
    found = stand_ins(drawn.body, drawn.visit, definitions)
    own = sorted(naming.bound(whole) - naming.bound(body) - visit.values.keys() - visit.after.keys())
    made = (f"{' = '.join(own)} = None",) if own else ()  # the statements bind these where they stay Python's
    gone = (f"del {', '.join(own)}",) if own else ()
    before, after = (*made, *drawn.before, *found.before), (*found.after, *drawn.after, *gone)
    return replace(found, before=before, after=after, draws=drawn.draws, inlined=inlined, sized=drawn.sized)


def drawn_before(body: naming.Statements, visit: Visit) -> StandIns:
    """The statements with rows of random numbers in place of draws; the same where nothing is drawn, or not in each turn alike."""
    found = _Draws(visit, naming.bound(body), naming.stored_into(body))
    same = StandIns(tuple(body), visit)
    *straight, last = body
    if not isinstance(last, ast.For) or not found.any(last) or any(map(found.any, straight)):
        return same
    loop, names = copy.deepcopy(last), snapshot(visit.values)
    try:
        found.loop(loop, [])
    except _NotBefore:
        return same
    numpy = numpy_in(names)
    drawn = [*(f"{n} = []" for n in found.rows), *(f"{n} = 0" for n in found.own), *found.lines]
    drawn.append(f"del {', '.join(found.own)}")
    as_arrays = {n: f"{n} = {numpy}.array({n}){shape.format(numpy)}" for n, shape in found.rows.items()}
    try:
        with states_kept():
            exec("\n".join(drawn), names)
        # Python's numbers stay what they are, where turns may stay Python's
        as_arrays = {n: t for n, t in as_arrays.items() if found.rows[n] or {*map(type, names[n])} != {float}}  # type: ignore[call-overload]
        exec("\n".join(as_arrays.values()), names)
    except Exception:
        return same
    rows = {n: names[n] for n in found.rows}
    arrays = [np.asarray(v) for v in rows.values()]
    if any(v.dtype.kind not in "biuf" for v in arrays) or sum(v.nbytes for v in arrays) > MOST_BYTES:
        return same
    lines = [*drawn, *as_arrays.values()]
    lines = lines if numpy in visit.values else [f"import {numpy}", *lines]
    of = {text for text, _ in found.drawn.values()}
    kept = {t: s for t, s in visit.states.items() if t not in of}  # the loop leaves the generators alone
    values, live, handed = {**visit.values, **rows}, {**visit.live, **rows}, visit.handed | rows.keys()
    seen = replace(visit, values=values, live=live, states=kept, handed=handed)
    return StandIns(
        (*straight, loop), seen, tuple(lines), (f"del {', '.join(rows)}",), draws=found.drawn, sized=found.sized
    )


def drawn_by_values(body: naming.Statements, visit: Visit) -> ast.Call | None:
    """The draw of a loop that stays where it is, since values decide whether, or from what, it draws; None where there is none."""
    found, last = _Draws(visit, naming.bound(body), naming.stored_into(body)), copy.deepcopy(body[-1])
    try:
        if isinstance(last, ast.For) and found.any(last):
            found.loop(last, [])
    except _NotBefore as reason:
        parts = ast.walk(reason.node) if reason.node is not None else ()
        return next((n for n in parts if isinstance(n, ast.Call) and draws(n, visit)), None)
    return None


class _Draws:
    """Finds the draws of a loop. `rows` has the names of the rows and what makes an array of each, `lines` are the loops of the draws alone."""

    def __init__(self, visit: Visit, bound: set[str], stored: set[str]) -> None:
        self.visit, self.bound, self.changing = visit, bound, bound | stored
        self.rows: dict[str, str] = {}
        self.lines: list[str] = []
        self.drawn: dict[str, tuple[str, int]] = {}
        self.counts: dict[str, str] = {}
        """What loops count with, and what the loops of the draws alone count with."""
        self.own: list[str] = []
        self.sized = False
        """Whether a size is written that an array of the loop's own was seen to have."""

    def any(self, node: ast.AST) -> bool:
        return any(draws(n, self.visit) for n in ast.walk(node))

    def loop(self, loop: ast.For, around: list[tuple[str, str]]) -> None:
        """A loop that draws in its turns; `around` are the turn's number and how many there are of each loop around it."""
        first = next((k for k, s in enumerate(loop.body) if naming.leaves([s])), len(loop.body))
        if loop.orelse or naming.breaks(loop.body) or any(map(self.any, loop.body[first:])):
            raise _NotBefore
        source = loop.iter
        if self.any(source) or not self._known(source) or naming.loaded([source]) & self.counts.keys():
            raise _NotBefore
        match source:
            case ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if isinstance(loop.target, ast.Name):
                count = turn = loop.target.id
                if len(args) > 1 and ast.unparse(args[0]) != "0":
                    turn = f"({count} - ({ast.unparse(args[0])}))"
                if len(args) > 2:
                    turn = f"{turn} // ({ast.unparse(args[2])})"
                size = f"len({ast.unparse(source)})"
            case ast.Name() | ast.Call(func=ast.Name(id="zip")) if lengths := lengths_of(source):
                count = turn = f"turn_{len(around) + 1}_of_draws"
                size = lengths[0] if len(lengths) == 1 else f"min({', '.join(lengths)})"
                loop.target = ast.Tuple([ast.Name(count, ast.Store()), loop.target], ast.Store())
                loop.iter = ast.Call(ast.Name("enumerate", ast.Load()), [source], [])
                placed_at(loop.target, loop)
                placed_at(loop.iter, loop)
            case ast.Call(func=ast.Name(id="enumerate"), args=[ast.Name(id=of)], keywords=[]) if isinstance(
                loop.target, ast.Tuple
            ) and isinstance(loop.target.elts[0], ast.Name):
                count = turn = loop.target.elts[0].id
                size = f"len({of})"
            case _:
                raise _NotBefore
        if count in naming.bound(loop.body):
            raise _NotBefore
        self.counts[count] = mine = f"count_{len(self.lines) + 1}_of_draws"
        self.own.append(mine)
        head = ast.unparse(source) if size.startswith("len(range") else f"range({size})"
        self.lines.append(f"{'    ' * len(around)}for {mine} in {head}:")
        self.block(loop.body, [*around, (turn, size)])

    def block(self, body: list[ast.stmt], around: list[tuple[str, str]]) -> None:
        for s in body:
            if not self.any(s):
                continue
            match s:
                case ast.For() if self.any(s.iter) and not any(map(self.any, [*s.body, *s.orelse])):
                    s.iter = self.expression(s.iter, around)
                case ast.For():
                    self.loop(s, around)
                case ast.If() if not any(map(self.any, [*s.body, *s.orelse])):
                    s.test = self.expression(s.test, around)
                case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Expr() if s.value is not None and not any(
                    map(self.any, naming.targets_of(s))
                ):
                    s.value = self.expression(s.value, around)
                case _:
                    raise _NotBefore(s)

    def expression(self, node: ast.expr, around: list[tuple[str, str]]) -> ast.expr:
        """The expression with elements of rows in the place of draws."""
        if not self.any(node):
            return node
        if draws(node, self.visit):
            return self._row(node, around)
        later: Sequence[ast.AST] = ()
        match node:
            case ast.Call(
                func=ast.Name(id="sum" | "list" | "tuple" | "max" | "min"), args=[ast.GeneratorExp() as part]
            ):
                node.args = [placed_at(ast.ListComp(part.elt, part.generators), part)]
            case ast.ListComp(generators=[ast.comprehension(target=ast.Name(id=turn), iter=source, ifs=[])]):
                return self._comprehension(node, turn, source, around)
            case ast.IfExp(body=a, orelse=b):
                later = (a, b)
            case ast.BoolOp(values=[_, *rest]) | ast.Compare(comparators=[_, *rest]):
                later = rest
            case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp() | ast.NamedExpr():
                raise _NotBefore(node)
        for part in filter(self.any, later):
            raise _NotBefore(part)
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, name, self.expression(value, around))
            elif isinstance(value, list):
                for k, v in enumerate(value):
                    if isinstance(v, ast.expr):
                        value[k] = self.expression(v, around)
                    elif isinstance(v, ast.keyword):
                        v.value = self.expression(v.value, around)
        return node

    def _comprehension(
        self, node: ast.ListComp, turn: str, source: ast.expr, around: list[tuple[str, str]]
    ) -> ast.expr:
        """A list for each element of which numbers are drawn: a loop of its own."""
        match source:
            case ast.Call(func=ast.Name(id="range"), args=[_], keywords=[]) if self._known(source):
                size = f"len({ast.unparse(source)})"
            case _:
                raise _NotBefore(node)
        if naming.loaded([source]) & self.counts.keys() or turn in self.counts:
            raise _NotBefore(node)
        self.counts[turn] = mine = f"count_{len(self.lines) + 1}_of_draws"
        self.own.append(mine)
        self.lines.append(f"{'    ' * len(around)}for {mine} in {ast.unparse(source)}:")
        node.elt = self.expression(node.elt, [*around, (turn, size)])
        del self.counts[turn]
        return node

    def _row(self, call: ast.expr, around: list[tuple[str, str]]) -> ast.expr:
        assert isinstance(call, ast.Call)
        given = arguments(call)
        if naming.root_of(call.func) in self.changing or not all(map(self._known, given)):
            raise _NotBefore(call)
        taken = {*self.visit.values, *self.visit.after, *self.visit.around, *self.rows}
        name = next(n for k in range(1, len(taken) + 2) if (n := f"draws_{k}") not in taken)
        drawn = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        self.drawn[name] = ast.unparse(drawn), call.lineno
        sizes = ", ".join(size for _, size in around)
        self.rows[name] = f".reshape({sizes}, *{{}}.shape({name})[1:])" if len(around) > 1 else ""
        drawn = Renamed(self.counts).visit(_Sizes(self).visit(copy.deepcopy(call)))
        self.lines.append(f"{'    ' * len(around)}{name}.append({ast.unparse(drawn)})")
        return placed_at(ast.parse(f"{name}[{', '.join(turn for turn, _ in around)}]", mode="eval").body, call)

    def _known(self, node: ast.expr) -> bool:
        """Whether an expression says the same before the loop as in each of its turns."""
        if isinstance(node, (ast.Name, ast.Attribute)) and naming.root_of(node) not in self.counts:
            return self._keeps_size(node) or self._stays(node)
        if isinstance(node, ast.Call) and not (self._keeps_size(node) or self._gives_the_same(node)):
            return False
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.NamedExpr)):
            return False
        parts = [n.value if isinstance(n, ast.keyword) else n for n in ast.iter_child_nodes(node)]
        inside = [n for n in parts if isinstance(n, ast.expr)][isinstance(node, ast.Call) :]
        return self._keeps_size(node) or all(map(self._known, inside))

    def _gives_the_same(self, call: ast.Call) -> bool:
        """Whether a call gives the same again for the same arguments."""
        function = value_of(call.func, self.visit.values)
        return evaluates_again(call) or (callable(function) and words.counterpart(function) is not None)

    def _stays(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a name, or a place in an object or a module, was seen to be the same in the end as when the loop began."""
        root, visit = naming.root_of(node), self.visit
        if root is None or root in self.changing | visit.changed or root not in visit.values:
            return root is not None and root not in self.changing and hasattr(builtins, root)
        value, text = visit.values[root], ast.unparse(node)
        if isinstance(value, ModuleType):
            return True
        if isinstance(node, ast.Attribute):
            before, after = visit.places.get(text), visit.places_after.get(text)
            return before is not None and after is not None and before.value is after.value
        return (
            is_number(value)
            or words.is_static(value)
            or (type(value) is list and visit.after.get(root, value) == value)
        )

    def _keeps_size(self, node: ast.AST) -> bool:
        """Whether this asks an array for its size, which stays as it is where it is stored into, or bound anew to one as large."""
        match node:
            case (
                ast.Attribute(value=ast.Name(id=name), attr="shape" | "size")
                | ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)])
            ):
                before, after = self.visit.values.get(name), self.visit.after.get(name)
                if name in self.bound and name not in self.visit.values:
                    return isinstance(after, np.ndarray)  # in a compiled loop it has one size
                as_large = name not in self.bound or np.shape(before) == np.shape(after)  # type: ignore[arg-type]
                return isinstance(before, np.ndarray) and as_large
        return False


class _Sizes(ast.NodeTransformer):
    """The sizes that arrays of a loop's own were seen to have, in the place of asking them."""

    def __init__(self, draws: _Draws) -> None:
        self.draws = draws

    def visit(self, node: ast.AST) -> ast.AST:
        if not self.draws._keeps_size(node) or naming.loaded([node]) & self.draws.visit.values.keys():
            return super().visit(node)
        self.draws.sized = True
        size = eval(ast.unparse(node), {"len": len}, {**self.draws.visit.after})
        return placed_at(ast.parse(repr(size), mode="eval").body, node)
