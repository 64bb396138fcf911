"""Functions that a region makes for itself (`def relax(i, p): …` in a loop, `grad = jax.grad(loss)` before it): while tracing they are made there, and
once more afterwards, where the cell would have them."""

from __future__ import annotations

import ast

from . import naming
from .homes import is_array
from .watching import Visit


def functions_made(body: naming.Statements, visit: Visit) -> dict[str, str]:
    """The names of such functions, each with the statement that makes it again: those that the cell has afterwards."""
    changing, found = naming.bound(body) | naming.stored_into(body), {}
    for s in _always_done(body):
        match s:
            case ast.FunctionDef(name=name, args=args, decorator_list=marks):
                read = naming.loaded([*args.defaults, *filter(None, args.kw_defaults), *marks])
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=args)):
                read = naming.loaded([*args.defaults, *filter(None, args.kw_defaults)])
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(args=given, keywords=[])) if s in body and all(
                isinstance(g, ast.Name) for g in given
            ):
                read = naming.loaded([s])
            case _:
                continue
        made = visit.ends.get(name)
        if callable(made) and not isinstance(made, type) and not is_array(made) and not read & changing - {*found}:
            found[name] = ast.unparse(s)
    once = [*naming.stored(body), *(s.name for s in naming.all_of(ast.FunctionDef, body))]
    return {n: text for n, text in found.items() if once.count(n) == 1}


def _always_done(body: naming.Statements) -> list[ast.stmt]:
    """The statements that stand under no branch: of the region, and of each turn of its loops."""
    inside = [
        t
        for s in body
        if isinstance(s, (ast.For, ast.While)) and not naming.leaves(s.body)
        for t in _always_done(s.body)
    ]
    return [*body, *inside]
