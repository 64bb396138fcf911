"""Whether traced code does something besides computing, which a second trace would repeat."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from jitscope.core.source import Position

from ...source_code.bindings import stored
from ...source_code.parameters import parameters
from ...source_code.text import Code
from ...source_code.tree import Function, first_line, own_nodes
from ..code.functions import Functions


def acts(code: Code, path: list[ast.AST], defined: Iterable[Position]) -> bool:
    """Whether the functions around a place, the traced ones defined in this file, or those that they call by name do: change
    what is outside, or call something only for what it does. Prints do not count."""
    functions = Functions(code)
    starts = [node for node in path if isinstance(node, Function)]
    lines = {where.line for where in defined if where.file == code.file}
    starts += [n for n in code.nodes if isinstance(n, Function) and first_line(n) in lines]
    return any(_acts(one, code) for one in _called(starts, functions))


def _called(starts: list[Function], functions: Functions) -> Iterator[Function]:
    """The functions, those inside them, and those of the file that they call."""
    todo, seen = list(starts), set[Function]()
    while todo:
        function = todo.pop()
        if function in seen:
            continue
        seen.add(function)
        yield function
        for node in ast.walk(function):
            if isinstance(node, Function):
                todo.append(node)
            elif isinstance(node, ast.Call):
                found = functions.called(node)
                found = found or functions.of_object(node.func, node)
                todo += [found] if found is not None else []


def _acts(function: Function, code: Code) -> bool:
    own = stored(function)
    for node in own_nodes(function):
        match node:
            case ast.Global() | ast.Nonlocal() | ast.Delete() | ast.Yield() | ast.YieldFrom() | ast.Await():
                return True
            case ast.Expr(value=ast.Call(func=called)) if not _harmless(called, own, code):
                return True
            case ast.Subscript(ctx=ast.Store(), value=ast.Name(id=name)) if name in own or name in parameters(function):
                pass  # containers among the arguments are made anew for each trace
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()) if _root(node) not in own:
                return True
            case ast.Call(func=ast.Name(id="next" | "input" | "open")):
                return True
    return False


def _harmless(called: ast.expr, own: set[str], code: Code) -> bool:
    """`print(…)`, a function of the library, or a method of something that the function made."""
    if isinstance(called, ast.Name):
        return called.id == "print"
    return code.names.dotted(called).startswith("jax.") or _root(called) in own


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
