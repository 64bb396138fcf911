"""Loops that are cut where Python has something to do, or does not know how long they are: between turns that print or keep something, at the
end of one that prints where it is left by a value or has an `else`, and a `while` loop that appends to lists, in pieces with room for so many."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from . import growing, naming
from .answers import CannotCompile
from .effects import Effects
from .functions import Definitions
from .loop_starts import lengths_of
from .parts import EditText, placed_at, whole_number
from .watching import Visit


Writing = Callable[[naming.Statements, Visit, "set[str]"], EditText]
LEAST = 64
"""Turns of a piece; more, where more elements were appended in the run that was seen."""


def between(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions, write: Writing
) -> EditText | None:
    """The region with its loop cut at the turns that a branch on the loop's count names (`if i % 100 == 0: print(…)`); None where there is
    no such branch. Raises CannotCompile where the branch does more than print and keep, or the stretches have no compiled form."""
    loop = body[-1]
    if len(body) != 1 or not isinstance(loop, ast.For) or loop.orelse:
        return None
    loop = _by_its_count(loop, visit)
    if (head := _range(loop)) is None:
        return None
    stops = [s for s in loop.body if isinstance(s, ast.If) and _by_count(s, loop, visit)]
    if not stops:
        return None
    only_said(stops, visit, definitions)
    rest = _without(loop.body, stops)
    first, size, stop = f"{name}_first", f"{name}_size", f"{name}_stop"
    turns, going = f"{name}_turns", f"{name}_going"
    count, kind = loop.target.id, np.int64  # type: ignore[attr-defined]
    if any(naming.root_of(n.func) and _appends(n) for s in rest for n in ast.walk(s) if isinstance(n, ast.Call)):
        kind = int  # lists that grow are stacked: how many elements they get is part of the compiled form
    if not rest or any(ast.unparse(n) != count for n in naming.targets_of(loop)):
        return None
    part = ast.parse(f"for {count} in range({first}, {first} + {size}): pass").body[0]
    assert isinstance(part, ast.For)
    part.body = told(rest, going) if naming.breaks(rest) else rest
    for n in [part, part.target, *ast.walk(part.iter)]:
        ast.copy_location(n, loop)
    given = replace(
        _without_roots(visit, _only_in(stops, rest, definitions)),
        values={**visit.values, first: np.int64(0), size: kind(1)},
        handed=visit.handed | ({first, size} if kind is np.int64 else {first}),
    )
    _not_exchanged(loop, visit)
    after = live | naming.read_first(loop.body) | naming.loaded(stops)
    if not naming.breaks(rest):
        inner, out, flag = write((part,), given, after), [], []
    else:
        inner = write((_set(going, True, loop), part), _with_flags(given, [going]), after | {going})
        out, flag = [f"if not {going}: break"], [going]
    tests = " or ".join(f"({ast.unparse(s.test)})" if len(stops) > 1 else ast.unparse(s.test) for s in stops)
    ends, again, by_python = {
        "first": (stop, stop, stops),
        "last": (f"min({stop} + 1, {turns}.stop)", f"{stop} + 1", stops),
        "inside": (stop, f"{stop} + 1", loop.body),
    }[_placed(stops, loop.body, rest, grows=kind is int)]
    call = [
        *(f"{n} = True" for n in flag),
        f"{turns} = {head}",
        f"{first} = {turns}.start",
        f"for {stop} in [*({count} for {count} in {turns} if {tests}), {turns}.stop]:",
        f"    {size} = {ends} - {first}",
        f"    if {size} > 0:",
        *("        " + line for line in [*inner.call, *out]),
        f"    {first} = {again}",
        f"    if {stop} < {turns}.stop:",
        f"        {count} = {stop}",
        *("        " + line for s in by_python for line in ast.unparse(s).splitlines()),
        f"del {', '.join([turns, first, size, stop, *flag])}",
    ]

    reads = tuple(n for n in inner.reads if n not in (first, size))
    return replace(inner, call=tuple(call), reads=reads, said=True)


def left(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions, write: Writing
) -> EditText | None:
    """The region with its loop's ways out told apart by flags; None where there is nothing at its end that Python has to do. Raises
    CannotCompile where that does more than print and keep, or the loop has no compiled form."""
    loop = body[-1]
    if len(body) != 1 or not isinstance(loop, (ast.For, ast.While)):
        return None
    exits = _exits(loop.body, inside=not loop.orelse)
    told = [s for s in exits if len(s.body) > 1 and not naming.leaves(s.body[:-1])]
    if not exits or (not told and not loop.orelse):
        return None
    rest = [s for s in loop.body if s not in exits]
    if loop.orelse and (naming.breaks(rest) or any(naming.breaks([*s.body[:-1], *s.orelse]) for s in exits)):
        return None
    ends = exits if loop.orelse else told
    final = ast.copy_location(ast.If(ast.Constant(True), list(loop.orelse), []), loop)
    only_said([*told, *([final] if loop.orelse else [])], visit, definitions)
    flags = [f"{name}_left_{k}" for k in range(1, len(ends) + 1)]
    new = copy.deepcopy(loop)
    copies = [s for s, old in zip(_exits(new.body, inside=not loop.orelse), exits, strict=True) if old in ends]
    for flag, s, inner in zip(flags, ends, copies, strict=True):
        inner.body = [_set(flag, True, s), inner.body[-1]]
    new.orelse = []
    start = [_set(flag, False, loop) for flag in flags]
    later = [x for s in told for x in s.body[:-1]] + list(loop.orelse)
    edit = write((*start, new), _with_flags(visit, flags), live | naming.loaded(later) | set(flags))
    call = list(edit.call)
    for flag, s in zip(flags, ends, strict=True):
        if lines := [line for x in s.body[:-1] for line in ast.unparse(x).splitlines()]:
            call += [f"if {flag}:", *("    " + line for line in lines)]
    if loop.orelse:
        lines = [line for x in loop.orelse for line in ast.unparse(x).splitlines()]
        call += [f"if not ({' or '.join(flags)}):", *("    " + line for line in lines)]
    return replace(edit, call=(*call, f"del {', '.join(flags)}"), said=True)


def _exits(block: naming.Statements, inside: bool) -> list[ast.If]:
    """The branches that leave the loop at their end: those in the block, and those `inside` of its branches."""
    found: list[ast.If] = []
    for s in block:
        if isinstance(s, ast.If):
            leaves = bool(s.body) and isinstance(s.body[-1], ast.Break)
            found += [s] if leaves else _exits(s.body, inside) if inside else []
            found += _exits(s.orelse, inside) if inside else []
    return found


def in_pieces(
    body: naming.Statements, visit: Visit, live: set[str], name: str, definitions: Definitions, write: Writing
) -> EditText | None:
    """The region with its loop as one over a range that is left by the value, gone through until it says so; None for other regions.
    Raises CannotCompile where that has no compiled form."""
    loop = body[-1]
    if len(body) != 1 or not isinstance(loop, ast.While) or loop.orelse:
        return None
    calls = [n for n in ast.walk(loop) if growing.appends(n, visit.values)]
    lists = {naming.root_of(n.func) for n in calls if isinstance(n, ast.Call)}
    seen = [(visit.values.get(n), visit.after.get(n)) for n in lists if n]
    if not lists or not all(isinstance(a, list) and isinstance(b, list) for a, b in seen):
        return None
    turns = max(len(b) - len(a) for a, b in seen if isinstance(a, list) and isinstance(b, list))
    room = max(LEAST, 1 << (turns + turns // 4).bit_length())
    going, turn = f"{name}_going", f"{name}_turn"
    first = ast.parse(f"if not 0: {going} = False; break").body[0]
    assert isinstance(first, ast.If) and isinstance(first.test, ast.UnaryOp)
    placed_at(first, loop)
    first.test.operand = copy.deepcopy(loop.test)
    part = ast.parse(f"for {turn} in range({room}): pass").body[0]
    assert isinstance(part, ast.For)
    placed_at(part, loop)
    part.body = [first, *told(copy.deepcopy(loop.body), going)]
    edit = write((_set(going, True, loop), part), _with_flags(visit, [going]), live | {going})
    call = [f"{going} = True", f"while {going}:", *("    " + line for line in edit.call), f"del {going}"]
    return replace(edit, call=tuple(call))


def _set(name: str, value: bool, at: ast.stmt) -> ast.stmt:
    return placed_at(ast.Assign([ast.Name(name, ast.Store())], ast.Constant(value)), at)


def _with_flags(visit: Visit, names: list[str]) -> Visit:
    """What was seen, with names of truth values that the edit makes."""
    known = dict.fromkeys(names, False)
    return replace(visit, after={**visit.after, **known}, ends={**visit.ends, **known})


def _placed(stops: list[ast.If], body: list[ast.stmt], rest: list[ast.stmt], grows: bool) -> str:
    """Where the branches stand in their turns: "first" or "last", so that what else these turns do is compiled as well, or "inside". Lists
    that grow get their elements by stretches of one length."""
    if any(s.orelse for s in stops) or naming.leaves(rest):
        return "inside"
    if body[: len(stops)] == stops and not naming.leaves(stops):
        return "first"
    return "last" if body[-len(stops) :] == stops and not grows else "inside"


def told(body: list[ast.stmt], going: str) -> list[ast.stmt]:
    """The same statements, in which a `break` of the loop they belong to says that it does not go on."""
    new: list[ast.stmt] = []
    for s in body:
        if isinstance(s, ast.Break):
            new.append(_set(going, False, s))
        if isinstance(s, ast.If):
            s.body, s.orelse = told(s.body, going), told(s.orelse, going)
        new.append(s)
    return new


def _range(loop: ast.For) -> str | None:
    """The range that a loop counts through, in steps of one."""
    match loop:
        case ast.For(target=ast.Name(), iter=ast.Call(func=ast.Name(id="range"), args=args, keywords=[])) if (
            len(args) < 3
        ):
            return ast.unparse(loop.iter)
    return None


def _by_its_count(loop: ast.For, visit: Visit) -> ast.For:
    """A loop over `enumerate` of arrays and lists that it leaves alone as one over a range, each turn of which takes its elements."""
    match loop:
        case ast.For(
            target=ast.Tuple(elts=[ast.Name(id=count), rest]),
            iter=ast.Call(func=ast.Name(id="enumerate"), args=[over, *start], keywords=[]),
        ) if not any(whole_number(n) is None for n in start):
            begin = next(map(whole_number, start), 0)
        case _:
            return loop
    taken, lengths = _elements(rest, over, f"{count} - {begin}" if begin else count), lengths_of(over)
    kept = {n for n, v in visit.values.items() if type(v) in (list, tuple, np.ndarray)}
    if taken is None or not naming.loaded([over]) - {"zip"} <= kept - naming.bound([loop]) - naming.stored_into([loop]):
        return loop
    if any(
        growing.appends(n, visit.values) and naming.root_of(n.func) in naming.loaded([over])
        for n in naming.all_of(ast.Call, loop.body)
    ):
        return loop
    size = lengths[0] if len(lengths) == 1 else f"min({', '.join(lengths)})"
    head = f"for {count} in range({size if not begin else f'{begin}, {begin} + {size}'}): pass"
    new = placed_at(ast.parse(head).body[0], loop)
    assert isinstance(new, ast.For)
    new.body = [*(placed_at(ast.parse(line).body[0], loop) for line in taken), *loop.body]
    return new


def _elements(target: ast.expr, over: ast.expr, at: str) -> list[str] | None:
    """What binds a target to the elements of one place; None where they are not to be had by their places."""
    match over, target:
        case ast.Name(id=name), _:
            return [f"{ast.unparse(target)} = {name}[{at}]"]
        case ast.Call(func=ast.Name(id="zip"), args=args, keywords=[]), ast.Tuple(elts=targets) if len(args) == len(
            targets
        ):
            each = [_elements(t, a, at) for t, a in zip(targets, args, strict=True)]
            return None if None in each else [line for e in each if e for line in e]
    return None


def _by_count(s: ast.If, loop: ast.For, visit: Visit) -> bool:
    """Whether the branch is taken by the loop's count and by what the loop leaves alone, and is not for the compiler."""
    reads, changing = naming.loaded([s.test]), naming.bound([loop]) | naming.stored_into([loop])
    count = ast.unparse(loop.target)
    if (reads - {count}) & changing:
        return False
    if count not in reads:
        return isinstance(s.test, ast.Name) and not visit.values.get(s.test.id, True)  # `if verbose:`, which it is not
    return all(isinstance(visit.values.get(n), (int, np.integer)) for n in reads - {count})


def _without(body: list[ast.stmt], stops: list[ast.If]) -> list[ast.stmt]:
    """The turns between: what stands under `else` is done, the branches are not."""
    return [copy.deepcopy(t) for s in body for t in (s.orelse if isinstance(s, ast.If) and s in stops else [s])]


def _only_in(stops: list[ast.If], rest: list[ast.stmt], definitions: Definitions) -> set[str]:
    """Names that the branches touch, and neither the turns between nor any function of the cells."""
    return naming.loaded(stops) - naming.loaded(rest).union(*(naming.loaded(d.body) for d in definitions.values()))


def _without_roots(visit: Visit, roots: set[str]) -> Visit:
    """What was seen, without what is inside of these names."""
    kept = lambda places: {t: p for t, p in places.items() if p.root not in roots}
    states = {t: s for t, s in visit.states.items() if t not in roots}
    return replace(visit, places=kept(visit.places), places_after=kept(visit.places_after), states=states)


def _appends(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "append"


class _PrintRemover(ast.NodeTransformer):
    """Takes calls of `print` out of statements; what they print is looked at instead."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        match node.value:
            case ast.Call(func=ast.Name(id="print"), args=args, keywords=named) if not any(
                k.arg == "file" for k in named
            ):
                return ast.copy_location(ast.Expr(ast.Tuple([*args, *(k.value for k in named)], ast.Load())), node)
        return node


def only_said(stops: list[ast.If], visit: Visit, definitions: Definitions) -> None:
    """Refuses branches that have other effects than printing: the edit could not be tried by running them."""
    silent = [_PrintRemover().visit(copy.deepcopy(s)) for s in stops]
    Effects(definitions).of_region(silent, visit.values)
    for s in silent:
        for n in ast.walk(s):
            if isinstance(n, (ast.With, ast.Import, ast.ImportFrom, ast.Yield, ast.Await)):
                raise CannotCompile(s.lineno, "effect", f"`{ast.unparse(s.test)}` enters a context or a module")


def _not_exchanged(loop: ast.For, visit: Visit) -> None:
    """Refuses names that exchange their arrays: which name has which array depends on how many turns a stretch has."""
    for n, v in visit.ends.items():
        if (
            isinstance(v, np.ndarray)
            and v is not visit.live.get(n)
            and any(v is w and m != n for m, w in visit.live.items())
        ):
            raise CannotCompile(loop.lineno, "effect", f"`{n}` takes over another array of before the loop (aliasing)")
