"""Which names statements read, bind and store into."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import TypeVar

from ..source_code.bindings import root_name
from ..source_code.parameters import positional
from ..source_code.tree import COMPREHENSIONS, FUNCTIONS, children_now, outside, parts_of


Statements = Sequence[ast.stmt]
Node = TypeVar("Node", bound=ast.AST)
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_OWN = (*FUNCTIONS, *COMPREHENSIONS)


def all_of(kind: type[Node] | tuple[type[Node], ...], among: Iterable[ast.AST]) -> list[Node]:
    """The nodes of a kind, or of several, among nodes and inside of them, which may be written anew (`source_code.tree` keeps what it
    found)."""
    return [n for one in among for n in _walk(one) if isinstance(n, kind)]


def _walk(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, as `ast.walk` gives them."""
    found = [node]
    for one in found:
        found += children_now(one)
    return found


def has(kind: type[ast.AST] | tuple[type[ast.AST], ...], among: Iterable[ast.AST]) -> bool:
    """Whether there is such a node."""
    return any(isinstance(n, kind) for one in among for n in _walk(one))


def names(among: Iterable[ast.AST]) -> set[str]:
    """Names that stand in nodes, read or bound."""
    return {n.id for n in all_of(ast.Name, among)}


def uses(name: str, among: Iterable[ast.AST]) -> list[ast.Name]:
    """Where a name stands in nodes."""
    return [n for n in all_of(ast.Name, among) if n.id == name]


def loaded(nodes: Iterable[ast.AST]) -> set[str]:
    """Names whose values the nodes may read, those that they bind themselves among them."""
    augmented = (n.target for n in statements(nodes) if isinstance(n, ast.AugAssign))
    return _read(nodes) | {root for target in augmented if (root := root_of(target))}


def _read(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that nodes read, but for a comprehension's own."""
    found, rest = set[str](), [*nodes]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load):
                found.add(node.id)
        elif isinstance(node, COMPREHENSIONS):
            found |= _read(children_now(node)) - names(g.target for g in node.generators)
            rest.append(node.generators[0].iter)
        else:
            rest += children_now(node)
    return found


def bound(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that the nodes bind in the block they stand in (not inside comprehensions and functions)."""
    return {n.id for n in outside(nodes, _OWN) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}


def stored(among: Iterable[ast.AST]) -> list[str]:
    """The names that nodes bind, comprehensions and functions inside of them as well, as often as they do."""
    return [n.id for n in all_of(ast.Name, among) if isinstance(n.ctx, ast.Store)]


def stored_into(nodes: Iterable[ast.AST]) -> set[str]:
    """Names of the arrays and containers that the nodes store into: `x[i] = …`, `x[i] += …`."""
    targets = (t for n in statements(nodes) for t in targets_of(n))
    return {root for t in targets if isinstance(t, (ast.Subscript, ast.Attribute)) and (root := root_of(t))}


def statements(nodes: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """The statements among nodes and inside of them, without a look into expressions."""
    for node in nodes:
        if isinstance(node, ast.stmt):
            yield node
        for part in _BLOCKS:
            inside = getattr(node, part, None)
            if isinstance(inside, list):
                yield from statements(inside)


def targets_of(node: ast.AST) -> list[ast.expr]:
    """What an assignment stores to, tuples taken apart."""
    given = (
        node.targets
        if isinstance(node, ast.Assign)
        else ([node.target] if isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)) else [])
    )
    flat: list[ast.expr] = []
    while given:
        first, *given = given
        if isinstance(first, (ast.Tuple, ast.List)):
            given = [*first.elts, *given]
        else:
            flat.append(first.value if isinstance(first, ast.Starred) else first)
    return flat


def backwards(rows: ast.expr) -> ast.expr:
    """What `reversed` goes through, as an array."""
    whole = ast.Slice(None, None, ast.UnaryOp(ast.USub(), ast.Constant(1)))
    return ast.fix_missing_locations(ast.copy_location(ast.Subscript(rows, whole, ast.Load()), rows))


def parameters(node: ast.FunctionDef) -> list[str]:
    """The names of a function's parameters, but for `*args` and `**kwargs`."""
    return [*positional(node), *(a.arg for a in node.args.kwonlyargs)]


def root_of(node: ast.expr) -> str | None:
    """The name that a chain of attributes and subscripts begins with."""
    return root_name(node) or None


def line_of(body: Statements, place: str) -> int | None:
    """The first line that binds a name, stores into it or appends to it; of an attribute (`self.x`) the first that binds it, of `f()`
    the first that calls a function or a method of that name, of a statement its own."""
    if place.endswith("()"):
        return min(
            (n.lineno for n in all_of(ast.Call, body) if f".{ast.unparse(n.func)}".endswith(f".{place[:-2]}")),
            default=None,
        )
    for s in sorted(all_of(ast.stmt, body), key=lambda n: n.lineno):
        places = targets_of(s)
        match s:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=of))):
                places = [of]
        if any(ast.unparse(t) == place or (place.isidentifier() and root_of(t) == place) for t in places):
            return s.lineno
    return next((s.lineno for s in all_of(ast.stmt, body) if ast.unparse(s).partition("\n")[0] == place), None)


def read_first(block: Statements) -> set[str]:
    """Names that may be read before the block has bound them for certain."""
    return _exposed(block, set())[0]


def bound_or_not(block: Statements) -> set[str]:
    """Names that the block binds on some ways and not on others: on those they keep what they were."""
    return bound(block) - bound_for_certain(block)


def bound_for_certain(block: Statements) -> set[str]:
    """Names that are bound whichever way the block goes."""
    return _exposed(block, set())[1]


def _exposed(block: Statements, known: set[str]) -> tuple[set[str], set[str]]:
    early: set[str] = set()
    known = set(known)
    for s in block:
        if isinstance(s, ast.If):
            early |= loaded([s.test]) - known
            sides = [_exposed(s.body, known), _exposed(s.orelse, known)]
            early |= sides[0][0] | sides[1][0]
            known |= sides[0][1] & sides[1][1]
        elif isinstance(s, (ast.For, ast.While)):
            head = [s.iter] if isinstance(s, ast.For) else [s.test]
            early |= loaded(head) - known
            inner = known | (bound([s.target]) if isinstance(s, ast.For) else set())
            early |= _exposed(s.body, inner)[0]
            if isinstance(s, ast.For):
                known |= inner | (_exposed(s.body, inner)[1] if not leaves(s.body) else set())
        else:
            early |= (loaded([s]) | stored_into([s])) - known
            known |= bound([s])
    return early, known


def leaves(block: Statements) -> bool:
    """Whether a `break` or `continue` of the loop that the block belongs to stands in it."""
    for s in block:
        if isinstance(s, (ast.Break, ast.Continue)):
            return True
        if isinstance(s, ast.If) and (leaves(s.body) or leaves(s.orelse)):
            return True
    return False


def breaks(block: Statements) -> bool:
    """Whether a `break` of the loop that the block belongs to stands in it."""
    return any(
        isinstance(s, ast.Break) or (isinstance(s, ast.If) and (breaks(s.body) or breaks(s.orelse))) for s in block
    )


def loop_targets(body: Statements, wanted: Callable[[ast.For], bool] = lambda loop: True) -> set[str]:
    """Names that `for` loops bind: those of the loops that are `wanted`."""
    return names(loop.target for loop in all_of(ast.For, body) if wanted(loop))


def computed_indices(body: Statements) -> list[int]:
    """The lines in which an index is computed from values, and is not the count of a loop."""
    changing = bound(body) - _loop_counts(body)
    indices = all_of(ast.Subscript, body)
    return sorted({n.lineno for n in indices if any(_is_computed(part, changing) for part in parts_of(n.slice))})


def _loop_counts(body: Statements) -> set[str]:
    """What loops count with: over `range`, backwards as well, and in `enumerate`."""
    found = loop_targets(body, goes_over_range)
    for loop in all_of(ast.For, body):
        match loop.target, loop.iter:
            case ast.Tuple(elts=[ast.Name(id=count), *_]), ast.Call(func=ast.Name(id="enumerate")):
                found.add(count)
            case ast.Name(id=count), ast.Call(func=ast.Name(id="reversed"), args=[ast.Call(func=ast.Name(id="range"))]):
                found.add(count)
    return found


def goes_over_range(loop: ast.For) -> bool:
    """Whether a loop counts."""
    call = loop.iter
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range"


def _is_computed(part: ast.expr, changing: set[str]) -> bool:
    """Whether a part of an index is a number that values decide: no slice, no mask that is written there."""
    if isinstance(part, ast.Slice) or has(ast.Compare, [part]):
        return False
    return has(ast.Subscript, [part]) or bool(names([part]) & changing)


def in_a_row(turn: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a turn, with those that are done unless it is left before them."""
    *first, last = turn or [ast.Pass()]
    if isinstance(last, ast.If) and last.orelse and not stored_into(last.body):
        return [*first, *last.body, *in_a_row(last.orelse)]
    return turn


def augmented(among: Iterable[ast.AST]) -> set[str]:
    """Names that statements, and those inside of them, add to and the like: `x += …`."""
    return {n.target.id for n in all_of(ast.AugAssign, among) if isinstance(n.target, ast.Name)}


def changed(among: Iterable[ast.AST]) -> set[str]:
    """Names of what statements change in place, if it can be: they store into it, or add to it."""
    among = list(among)
    return stored_into(among) | augmented(among)


def subscripts_into(s: ast.stmt, root: str) -> list[ast.Subscript]:
    """The places of an array that a statement stores into."""
    found = [t for n in ast.walk(s) for t in targets_of(n) if root_of(t) == root]
    return [t for t in found if isinstance(t, ast.Subscript)]


def size_of_range(parts: list[ast.expr]) -> ast.expr | None:
    """How many there are in a range that says so: `n` of `range(i, i + n)`."""
    match parts:
        case [low, ast.BinOp(left, ast.Add(), size)] if ast.dump(left) == ast.dump(low):
            return size
    return None


class OwnNames:
    """Names that an edit makes for itself: none is `taken`, and all are `made`."""

    def __init__(self, taken: Set[str]) -> None:
        self.taken, self.made = {*taken}, set[str]()

    def name(self, wish: str) -> str:
        """A name that is not taken."""
        while wish in self.taken:
            wish += "_"
        self.taken.add(wish)
        self.made.add(wish)
        return wish
