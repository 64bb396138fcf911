"""Python's whole numbers that have no bound which the text shows (`n = 3 * n + 1`): the compiled form notes whether they stayed between
bounds within which nothing wraps around; where they did not, the plain statements run instead."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from . import counts, naming
from .bounds import Bounds, Interval
from .parts import EditText, calls_in_any_case, placed_at, replaced
from .watching import Visit


_HELD = (2**61, 2**52, 2**40, 2**31 - 1, 2**20)
"""Bounds that are tried: the largest first for which no step on the way leaves 64 bits."""
_WHOLE = (
    ast.Add,
    ast.Sub,
    ast.Mult,
    ast.FloorDiv,
    ast.Mod,
    ast.Pow,
    ast.BitAnd,
    ast.BitOr,
    ast.BitXor,
    ast.LShift,
    ast.RShift,
)


def noted(body: naming.Statements, visit: Visit, name: str) -> tuple[naming.Statements, Visit, str]:
    """The statements with a flag that says whether all such numbers stayed between their bounds, what was seen with it, and the flag's name;
    nothing of it where there are no such numbers, or no bounds are small enough."""
    plain = body, visit, ""
    counted = any(
        counts.unproved(e, body, visit.values) for s in naming.statements(body) if (e := _value(s)) is not None
    )
    if visit.held or not (counted or without_bounds(body, visit)):
        return plain
    body, visit = _of_arrays(body, visit, name)
    open_ones = without_bounds(body, visit)
    bound = next((b for b in _HELD if _within(body, visit, dict.fromkeys(open_ones, (-b, b)))), None)
    seen = [v for n in open_ones for v in (visit.values.get(n, 0), visit.after.get(n, 0)) if isinstance(v, int)]
    if bound is None or max(map(abs, seen), default=0) > bound:
        return plain
    flag, held = f"{name}_is_exact", dict.fromkeys(open_ones, (-bound, bound))
    least = lambda s: counts.unproved(e, body, visit.values) if (e := _value(s)) is not None else []
    new = [t for s in body for t in _checked(copy.deepcopy(s), flag, held, least)]
    start = placed_at(ast.parse(f"{flag} = True").body[0], body[0])
    told: Mapping[str, object] = {flag: True}
    after, ends = {**visit.after, **told}, {**visit.ends, **told}
    return (start, *new), replace(visit, after=after, ends=ends, held=held), flag


def _of_arrays(body: naming.Statements, visit: Visit, name: str) -> tuple[naming.Statements, Visit]:
    """The statements with names of their own, which can be checked, for what `int` makes of arrays' elements and sums of them."""
    bounds, made = Bounds(body, visit.values, visit.after), list[str]()

    def written(s: ast.stmt) -> list[ast.stmt]:
        for block in ("body", "orelse"):
            if isinstance(inner := getattr(s, block, None), list):
                setattr(s, block, [t for one in inner for t in written(one)])
        first: list[ast.stmt] = []
        if isinstance(s, (ast.Assign, ast.AugAssign)) and isinstance(s.value, (ast.BinOp, ast.UnaryOp, ast.Call)):
            for call in [c for c in calls_in_any_case(s.value) if ast.unparse(c.func) == "int" and len(c.args) == 1]:
                if bounds.of(call) is None and not is_whole(call.args[0], visit):
                    made.append(f"{name}_whole_{len(made)}")
                    first.append(placed_at(ast.Assign([ast.Name(made[-1], ast.Store())], call), s))
                    s.value = replaced(s.value, call, ast.copy_location(ast.Name(made[-1], ast.Load()), call))
        return [*first, s]

    new = tuple(t for s in body for t in written(copy.deepcopy(s)))
    return new, replace(visit, after={**visit.after, **dict.fromkeys(made, 0)})


def without_bounds(body: naming.Statements, visit: Visit) -> list[str]:
    """Python's whole numbers of which not all are seen to stay within 64 bits, or to be only counted."""
    bounds = Bounds(body, visit.values, visit.after)
    whole = [n for n in sorted(naming.bound(body)) if type(visit.after.get(n)) is int]
    whole = [n for n in whole if type(visit.values.get(n, 0)) is int and not bounds.stays(n)]
    return [] if all(map(bounds.adds, whole)) else whole


def _within(body: naming.Statements, visit: Visit, held: dict[str, Interval]) -> bool:
    """Whether no sum, product or the like of whole numbers leaves 64 bits while those that are checked stay between their bounds."""
    bounds = Bounds(body, visit.values, visit.after, held)
    given = [e for n in held for e in bounds.given.get(n, [None])]
    known = [e for e in given if e is not None]
    if len(known) < len(given) or any(_calls_unknown(e, visit) for e in known):
        return False
    return all(bounds.of(e) is not None for e in [*_sums(body, visit), *(e for e in known if is_whole(e, visit))])


def _calls_unknown(node: ast.expr, visit: Visit) -> bool:
    """Whether a function of the cells' is called, which may compute with whole numbers that nobody checks."""
    calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
    return any(isinstance(f, ast.Name) and f.id in visit.values for f in calls)


def _sums(body: naming.Statements, visit: Visit) -> Iterator[ast.expr]:
    """What statements compute of Python's whole numbers."""
    for s in body:
        for n in ast.walk(s):
            if isinstance(n, ast.BinOp) and is_whole(n, visit):
                yield n
            elif isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name):
                load = ast.copy_location(ast.Name(n.target.id, ast.Load()), n)
                if is_whole(whole := ast.copy_location(ast.BinOp(load, n.op, n.value), n), visit):
                    yield whole


def is_whole(node: ast.expr, visit: Visit) -> bool:
    """Whether an expression is of Python's whole numbers alone."""
    match node:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.Name(id=n):
            return type(visit.after.get(n, visit.values.get(n))) is int
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=a):
            return is_whole(a, visit)
        case ast.BinOp(left=a, op=op, right=b):
            return isinstance(op, _WHOLE) and is_whole(a, visit) and is_whole(b, visit)
        case ast.IfExp(body=a, orelse=b):
            return is_whole(a, visit) and is_whole(b, visit)
        case ast.Call(func=ast.Name(id="abs" | "min" | "max"), args=args):
            return all(is_whole(a, visit) for a in args)
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Subscript(value=ast.Tuple(elts=parts) | ast.List(elts=parts)):
            return all(is_whole(a, visit) for a in parts)
        case ast.Subscript(value=ast.Name(id=n)):
            return _holds_whole(visit.values.get(n))
    return False


def _holds_whole(value: object) -> bool:
    """Whether this is a list or a tuple of Python's whole numbers, or of rows of such."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(type(v) is int or _holds_whole(v) for v in value)


def _value(s: ast.stmt) -> ast.expr | None:
    return s.value if isinstance(s, (ast.Assign, ast.AugAssign)) else None


def _checked(
    s: ast.stmt,
    flag: str,
    held: Mapping[str, Interval],
    counted: Callable[[ast.stmt], list[tuple[ast.Call, ast.expr]]],
) -> list[ast.stmt]:
    """A statement and what it has to be asked: divisors, and what it counts, before it, the numbers that it binds after it. Loops by value end
    with the flag."""
    for block in ("body", "orelse"):
        if isinstance(inner := getattr(s, block, None), list):
            setattr(s, block, [t for one in inner for t in _checked(one, flag, held, counted)])
    if isinstance(s, ast.While):
        s.test = placed_at(ast.BoolOp(ast.And(), [s.test, ast.Name(flag, ast.Load())]), s)
    if not isinstance(s, (ast.Assign, ast.AugAssign)):
        return [s]
    first = [f"{flag} = {flag} & ({n} != 0)" for n in sorted(_divisors(s)) if n in held]
    for call, least in counted(s):
        of, size = ast.unparse(call.args[0]), ast.unparse(least)
        first.append(f"{flag} = {flag} & (({of} >= 0) & ({of} < {size})).all()")
        call.keywords = [*(k for k in call.keywords if k.arg != "minlength"), ast.keyword("length", least)]
    names = sorted({t.id for t in naming.targets_of(s) if isinstance(t, ast.Name)} & held.keys())
    last = [f"{flag} = {flag} & ({n} >= {held[n][0]}) & ({n} <= {held[n][1]})" for n in names]
    made = lambda texts: [placed_at(ast.parse(text).body[0], s) for text in texts]
    return [*made(first), s, *made(last)]


def _divisors(s: ast.Assign | ast.AugAssign) -> set[str]:
    divides = (ast.FloorDiv, ast.Mod)
    found = [n.right for n in ast.walk(s.value) if isinstance(n, ast.BinOp) and isinstance(n.op, divides)]
    if isinstance(s, ast.AugAssign) and isinstance(s.op, divides):
        found.append(s.value)
    return {n.id for n in found if isinstance(n, ast.Name)}


def guarded(edit: EditText, flag: str, name: str, body: naming.Statements, visit: Visit) -> EditText:
    """The edit that binds what was computed where the flag is set, and else has the plain statements run, as where numbers that are only
    read are larger than any that was seen may be."""
    result = f"{name}_results"
    call = [line for line in edit.call if not line.startswith(f"{flag} = ")]
    (at,) = (k for k, line in enumerate(call) if line.startswith(f"    {result} = "))
    (place,) = (line.partition(" = bool(")[2][:-1] for line in edit.call if line.startswith(f"{flag} = "))
    plain = [line for s in body for line in ast.unparse(s).splitlines()]
    kept, binds = call[: at + 1], call[at + 1 :]
    own = [result, *(line.partition(" = ")[0] for line in kept if line.partition(" = ")[0].isidentifier())]
    whole = [n for n in edit.reads if type(visit.values.get(n)) is int]
    if tests := [f"abs({n}) <= {visit.held[n][1] if n in visit.held else 2**53}" for n in whole]:
        kept = [f"{result} = None", f"if {' and '.join(tests)}:", *_within_it(kept)]
        kept = [*(f"{n} = None" for n in own[1:]), *kept]
        place = f"{result} is not None and {place}"
    other = [f"del {', '.join(own)}", *plain]
    return replace(edit, call=(*kept, f"if {place}:", *_within_it(binds), "else:", *_within_it(other)))


def _within_it(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
