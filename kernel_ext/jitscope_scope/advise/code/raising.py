"""Traced functions that a program writes to see them fail: `with pytest.raises(TypeError): jax.jit(f)(x)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source_code.text import Code
from ...source_code.tree import below
from .forms import expects_error
from .functions import TracedFunction


def is_to_fail(traced: TracedFunction, code: Code) -> bool:
    """Whether a function is traced, or all that the program does with it stands, where an error is expected."""
    if not any(expects_error(item) for node in code.of(ast.With) for item in node.items):
        return False
    if _is_within(traced.site, code):
        return True
    uses = list(_uses(traced, code))
    return bool(uses) and all(_is_within(one, code) for one in uses)


def _is_within(node: ast.AST, code: Code) -> bool:
    return any(isinstance(one, ast.With) and any(map(expects_error, one.items)) for one in code.around(node))


def _uses(traced: TracedFunction, code: Code) -> Iterator[ast.Name]:
    """Where the names of a function, and of what was made of it, are read."""
    statement, function = code.statement_around(traced.site), traced.function
    own = set(below(statement)) if isinstance(statement, ast.Assign) else set()
    names = {(function.name, code.scopes.of(function))} if not isinstance(function, ast.Lambda) else set()
    if isinstance(statement, ast.Assign):
        names |= {(one.id, code.scopes.of(one)) for one in statement.targets if isinstance(one, ast.Name)}
    for node in code.of(ast.Name):
        if isinstance(node.ctx, ast.Load) and node not in own:
            if any(node.id == name and code.scopes.binding(name, node) is scope for name, scope in names):
                yield node
