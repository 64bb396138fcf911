"""Loops of few turns in which sizes change (a Fourier transform's, a sum by halves): each turn is traced for itself, with its whole numbers."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import warnings

import numpy as np

from . import naming, words
from .effects import Effects
from .functions import Definitions
from .parts import placed_at
from .watching import Visit, snapshot


MOST = 20
"""Turns: a loop of more is not traced turn by turn, which takes long to compile."""
_COUNT = "turns_of_the_loop"


def has_few(body: naming.Statements, visit: Visit, definitions: Definitions) -> bool:
    """Whether the region is a loop that was seen to have few turns. It is run once more, on copies, if nothing in it has an effect. Raises
    CannotCompile where something has."""
    if not isinstance(body[-1], (ast.For, ast.While)) or body[-1].orelse or naming.leaves(body[-1].body):
        return False
    Effects(definitions).of_region(body, visit.values)
    counted = [copy.deepcopy(s) for s in body]
    loop = counted[-1]
    assert isinstance(loop, (ast.For, ast.While))
    text = f"{_COUNT}[0] += 1\nif {_COUNT}[0] > {MOST}: raise StopIteration"
    loop.body = [*(placed_at(s, loop) for s in ast.parse(text).body), *loop.body]
    names, turns = {**snapshot(visit.values), "__builtins__": __builtins__}, [0]
    names[_COUNT] = turns
    code = compile(ast.fix_missing_locations(ast.Module(counted, [])), "<turns>", "exec")
    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            exec(code, names)
        except Exception:
            return False
    return 0 < turns[0] <= MOST


def static_numbers(body: naming.Statements, visit: Visit) -> set[str]:
    """The whole numbers of Python's that such a loop makes of sizes and of other whole numbers alone, so that they are known while tracing."""
    loop = body[-1]
    assert isinstance(loop, (ast.For, ast.While))
    whole = {n for n in naming.bound(body) if type(visit.after.get(n)) is int and type(visit.values.get(n, 0)) is int}
    of_loop = naming.bound([loop.target]) if isinstance(loop, ast.For) else set()
    own: dict[str, list[ast.expr]] = {}
    others = naming.bound([s for s in [*body[:-1], *loop.body] if not isinstance(s, (ast.Assign, ast.AugAssign))])
    for s in [*body[:-1], *loop.body]:
        match s:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AugAssign(target=ast.Name(id=name), value=value)
            ):
                own.setdefault(name, []).append(value)
            case ast.Assign():
                others |= naming.bound([s])
    found = {n for n in whole - others if n in own or n in of_loop}
    changing = naming.bound(body) | naming.stored_into(body)
    while bad := {n for n in found if any(_moves(v, changing - found, visit) for v in own.get(n, []))}:
        found -= bad
    if isinstance(loop, ast.For) and _moves(loop.iter, changing - found, visit):
        found -= of_loop
    return found


def _moves(node: ast.AST, changing: set[str], visit: Visit) -> bool:
    """Whether a value is more than sizes and whole numbers that are known while tracing."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name()]):
            return False
        case ast.Attribute(attr=attr) if attr in words.STATIC_ATTRIBUTES:
            return False
        case ast.Name(id=name):
            known = type(visit.values.get(name)) in (int, bool, tuple) or name in ("range", "min", "max", "len", "int")
            return name in changing or not (known or name not in visit.values)
        case ast.Call(func=ast.Name(id="range" | "min" | "max"), keywords=[]):
            return any(_moves(a, changing, visit) for a in node.args)
        case ast.Constant(value=value):
            return type(value) not in (int, bool)
        case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.Subscript():
            return any(_moves(n, changing, visit) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr))
    return True


def test_is_known(loop: ast.For | ast.While, visit: Visit, body: naming.Statements, static: set[str]) -> bool:
    """Whether sizes and whole numbers alone decide how often the loop runs."""
    changing = (naming.bound(body) | naming.stored_into(body)) - static
    return not _moves(loop.test if isinstance(loop, ast.While) else loop.iter, changing, visit)


def ending(loop: ast.For | ast.While, body: naming.Statements) -> set[str]:
    """Names that end the loop where they grow (`while size <= n`): in a later run it has no turn with larger ones."""
    match loop:
        case ast.While(
            test=ast.Compare(left=ast.Name(id=name), ops=[ast.Lt() | ast.LtE()], comparators=[ast.Name(id=most)])
        ):
            return {name} if most not in naming.bound(body) else set()
    return set()
