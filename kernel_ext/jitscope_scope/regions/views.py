"""Names that are views of an array after a region: the cell's own statement binds them again."""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection

import numpy as np

from . import naming
from .bounds import own_part
from .homes import shares
from .parts import Renamed
from .stand_ins import evaluates_again
from .watching import Visit


MOST_NAMES = 4
"""Names that stand for one another are followed so far."""


def view_again(name: str, body: naming.Statements, visit: Visit, outs: Collection[str]) -> list[str] | None:
    """What binds a name to the same view of an array as the last turn did, with the cell's own statement: `row = a[i]`; of several names for one
    view the first such statement of any of them."""
    value = visit.ends[name]
    shared = isinstance(value, np.ndarray) and any(
        isinstance(v, np.ndarray) and v is not value and shares(v, value)
        for v in (*visit.live.values(), *(visit.ends[o] for o in outs))
    )
    same = [n for n in outs if visit.ends.get(n) is value]
    made = {
        n: [s for b in body for s in ast.walk(b) if n in {ast.unparse(t) for t in naming.targets_of(s)}] for n in same
    }
    branches = {s for b in body for n in ast.walk(b) if isinstance(n, ast.If) for s in ast.walk(n)}
    if not shared or any(branches & {*found} for found in made.values()):
        return None
    again = next((s for n in same if (s := _by_itself(n, made[n], body, visit, outs)) is not None), None)
    if again is None:
        return None
    of = again.partition(" = ")[0]
    return [] if name != same[0] else [again, *(f"{n} = {of}" for n in same if n != of)]


def _by_itself(
    name: str, made: list[ast.AST], body: naming.Statements, visit: Visit, outs: Collection[str]
) -> str | None:
    """The same of one name, by the last of the statements that bind it; as is seen here where there are several."""
    if not made:
        return None
    loops = naming.loop_targets(body)
    made_inside = naming.bound(body)
    s = made[-1]
    if len(made) > 1 and not (isinstance(s, ast.Assign) and _is_the_view(own_part(s, name), visit.ends[name], visit)):
        return None
    value_of = _by_outer_names(own_part(s, name), body, outs) if isinstance(s, ast.Assign) else None
    if value_of is not None and (root := _root_of_views(value_of)) is not None:
        free = naming.loaded([value_of]) - {root}
        known = free <= (visit.values.keys() - made_inside) | (loops & set(outs))
        of, value = visit.live.get(root), visit.ends[name]
        apart = isinstance(of, np.ndarray) and isinstance(value, np.ndarray) and not shares(of, value)
        old = root not in made_inside and not apart
        if known and (old or _is_of_last_turn(s, value_of, name, body, visit, outs)):
            return f"{name} = {ast.unparse(value_of)}"
    if isinstance(s, ast.For) and not naming.breaks(s.body):
        return _last_row(s, name, made_inside)
    return None


def _is_of_last_turn(
    s: ast.AST, view: ast.expr, name: str, body: naming.Statements, visit: Visit, outs: Collection[str]
) -> bool:
    """Whether a statement names a part of an array that is no view itself, and that statements before it in the same turn make."""
    root = _root_of_views(view)
    if (
        root is None
        or root not in outs
        or not _is_the_view(view, visit.ends[name], visit)
        or view_again(root, body, visit, outs)
    ):
        return False
    nodes = [*naming.statements(body)]
    blocks = [body, *(b for n in nodes for f in ("body", "orelse") if (b := getattr(n, f, None)))]
    makes = [n for n in nodes if root in {ast.unparse(t) for t in naming.targets_of(n)}]
    for block in blocks:  # the statement's own, and those around it
        at = next((k for k, t in enumerate(block) if any(s is n for n in ast.walk(t))), 0)
        first = next((k for k, t in enumerate(block[:at]) if any(t is n for n in makes)), at)
        inside = [n for t in block[first:at] for n in ast.walk(t)]
        leaves = any(isinstance(n, (ast.Break, ast.Continue)) for n in inside)
        if all(any(n is m for m in inside) for n in makes) and not leaves:
            return True
    return False


def _by_outer_names(node: ast.expr | None, body: naming.Statements, outs: Collection[str]) -> ast.expr | None:
    """A view with what names stand for in their place that are the region's own, and are bound once."""
    assigned = naming.all_of(ast.Assign, body)
    for _ in range(MOST_NAMES):
        if node is None or (root := _root_of_views(node)) is None or root in outs:
            break
        made = [own_part(s, root) for s in assigned if root in naming.bound([s])]
        if len(made) != 1 or made[0] is None:
            break
        node = Renamed({root: made[0]}).visit(copy.deepcopy(node))
    return node


def _is_the_view(node: ast.expr | None, value: object, visit: Visit) -> bool:
    """Whether an expression gives, at the end, the very memory of a view."""
    if node is None or _root_of_views(node) is None:
        return False
    try:
        found = eval(ast.unparse(node), {"__builtins__": {}}, {**visit.live, **visit.ends})
    except Exception:
        return False
    if not isinstance(found, np.ndarray) or not isinstance(value, np.ndarray):
        return False
    kinds = [(v.__array_interface__["data"], v.shape, v.strides, v.dtype) for v in (found, value)]
    return kinds[0] == kinds[1]


def _root_of_views(node: ast.expr) -> str | None:
    """The name of the array that parts are taken of, one of the other: `x[a:b][::-1]`, `x[i].T`, `x.reshape(3, 4)[k]`."""
    while True:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Subscript(value=node) | ast.Attribute(value=node, attr="T" | "real" | "imag"):
                pass
            case ast.Call(func=ast.Attribute(value=node, attr="reshape" | "ravel" | "transpose" | "swapaxes")):
                pass
            case _:
                return None


def _last_row(s: ast.For, name: str, made_inside: set[str]) -> str | None:
    """What binds a loop's own name to the row of its last turn: `for row in a`, `for k, (x, y) in enumerate(zip(a, b[1:]))`."""
    found = _gone_through(s.target, s.iter)
    if found is None or naming.loaded([s.iter]) & made_inside:
        return None
    rows, lengths = found
    if name not in rows:
        return None
    last = "-1" if len(lengths) == 1 else f"min({', '.join(lengths)}) - 1"
    return f"{name} = {rows[name]}[{last}]"


def _gone_through(target: ast.expr, node: ast.expr) -> tuple[dict[str, str], list[str]] | None:
    """The arrays, or their parts, whose rows a loop gives to names, and the lengths of which the smallest is how often it turns."""
    match target, node:
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=args, keywords=[]) if len(targets) == len(
            args
        ):
            each = [_gone_through(t, a) for t, a in zip(targets, args, strict=True)]
            known = [e for e in each if e is not None]
            if len(known) < len(each):
                return None
            return {n: of for rows, _ in known for n, of in rows.items()}, [n for _, lengths in known for n in lengths]
        case ast.Tuple(elts=[_, second]), ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]):
            return _gone_through(second, inner)
        case _, ast.Call() if evaluates_again(node):
            return {}, [f"len({ast.unparse(node)})"]
        case _ if _root_of_views(node) is not None:
            of = ast.unparse(node)
            return {target.id: of} if isinstance(target, ast.Name) else {}, [f"len({of})"]
    return None
