"""What to do about loops of Python that a trace cannot run as they are: those that collect values, and those that are left early."""

from __future__ import annotations

import ast
import itertools

from .bindings import stores


def collected(counts: list[ast.expr]) -> str:
    """What to do where values are collected in a loop with traced bounds."""
    names = " and ".join(dict.fromkeys(f"`{ast.unparse(one)}`" for one in counts if not isinstance(one, ast.Constant)))
    what = names if all(isinstance(one, ast.Name | ast.Constant) for one in counts) else f"what {names} is computed of"
    return (
        f"make {what} static: how many values are collected is a shape, and shapes are known while tracing; or collect for the most that "
        "there can be, and mask what is too many"
    )


def grows(loop: ast.For | ast.While) -> bool:
    """Whether each iteration makes something longer, a list or an array: no loop of the library does."""
    for node in (part for one in loop.body for part in ast.walk(one)):
        match node:
            case ast.Call(func=ast.Attribute(attr="append" | "extend" | "concatenate" | "hstack" | "vstack")):
                return True
            case ast.Expr(value=ast.Yield() | ast.YieldFrom()):
                return True
    return False


def leaving(node: ast.If, path: list[ast.AST], test: str) -> str:
    """What to do about an `if` that leaves a loop of Python around it; "" of all others."""
    inner = [part for one in (*node.body, *node.orelse) for part in ast.walk(one)]
    around = itertools.takewhile(lambda one: not isinstance(one, ast.FunctionDef | ast.Lambda), path)
    if not any(isinstance(one, ast.For | ast.While) for one in around):
        return ""
    if not any(isinstance(one, ast.Return | ast.Break | ast.Continue) for one in inner):
        return ""
    if not any(isinstance(one, ast.Return | ast.Break) for one in inner):
        return (
            f"what comes after `continue` cannot be left out where `{test}` is not known: compute it in each turn, and choose with "
            "`jnp.where` what stays"
        )
    return (
        f"a loop of Python cannot be left where `{test}` is not known: go through all of it and choose what stays with "
        "`jnp.where`, or make it a `lax.while_loop`, whose condition asks for that as well"
    )


def skipped(node: ast.If, path: list[ast.AST]) -> list[ast.stmt]:
    """What `if test: continue` leaves out of a turn of the loop in whose body it stands: all that comes after it there."""
    around = path[path.index(node) + 1] if node in path[:-1] else None
    match node:
        case ast.If(body=[ast.Continue()], orelse=[]) if (
            isinstance(around, ast.For | ast.While) and node in around.body
        ):
            return rest_of_block(node, path)
    return []


def rest_of_block(node: ast.AST, path: list[ast.AST]) -> list[ast.stmt]:
    """The statements after an `if` in its block."""
    outer = path[path.index(node) + 1] if path.index(node) + 1 < len(path) else None
    for block in (getattr(outer, "body", None), getattr(outer, "orelse", None)):
        if isinstance(block, list) and node in block:
            return block[block.index(node) + 1 :]
    return []


def changes_length(node: ast.If) -> bool:
    """Whether an `if` decides whether a container gets another element, or loses one."""
    for part in (part for one in (*node.body, *node.orelse) for part in ast.walk(one)):
        match part:
            case ast.Call(func=ast.Attribute(value=ast.Name(), attr=name)) if name in _OF_LENGTH:
                return True
    return False


_OF_LENGTH = ("append", "extend", "insert", "pop", "remove", "appendleft", "popleft")

CHANGES_LENGTH = (
    "how many elements there are cannot depend on `{}`, a value: keep all of them, and beside them a mask that says which count; or choose "
    "outside of jit"
)
"""What to do where a test of values decides how long a container is."""


def in_while_loop(loop: ast.While, test: str) -> str:
    """How a `while` becomes a `lax.while_loop`, with the names that it gives values to."""
    changed = dict.fromkeys(one.id for one in stores(*loop.body))
    names = ", ".join(f"`{name}`" for name in changed) or "what the loop changes"
    return f"make it a `lax.while_loop` over {names}: one function of these gives `{test}`, another their next values"


RAISING = (
    "test it before the call, or with `jax.experimental.checkify.check` in a function that `checkify.checkify` transforms: a compiled program "
    "raises nothing by itself"
)
"""What to do where the values decide whether an error is raised."""


def raises(node: ast.AST) -> bool:
    """Whether a statement only raises, or not: an `assert`, or an `if` one branch of which is a `raise`."""
    if isinstance(node, ast.Assert):
        return True
    blocks = (node.body, node.orelse) if isinstance(node, ast.If) else ()
    return any(block and isinstance(block[-1], ast.Raise) for block in blocks)
