"""`if`, `while` and `for` on traced values as `lax.cond`, `lax.while_loop` and `lax.fori_loop`, made of the user's statements."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from ...source_code.bindings import bound_by, read
from ...source_code.conditions import condition
from ...source_code.rewrites import bounds_of
from ...source_code.tree import COMPREHENSIONS, SCOPES, outside


Function = ast.FunctionDef | ast.AsyncFunctionDef


def as_cond(node: ast.If, rest: Sequence[ast.stmt], before: set[str]) -> str | None:
    """An `if` as `lax.cond`; `rest` are the statements after it in its block, `before` the names that have values before it.
    None where branches do more than give names values or return one."""
    test = condition(node.test)
    if _returns(node.body):
        other = node.orelse or list(rest)
        if not _returns(other) or not (_plain(node.body) and _plain(other)):
            return None
        used = sorted((bound_by(*node.body, *other)) & before & (read(*node.body, *other)))
        arms = [_function("when_true", used, node.body, None), _function("when_false", used, other, None)]
        return "\n".join([*arms, f"return lax.cond({', '.join([test, 'when_true', 'when_false', *used])})"])
    if not (_plain(node.body) and _plain(node.orelse)) or _has_return(node.body + node.orelse):
        return None
    written = sorted(bound_by(*node.body, *node.orelse))
    if not written or not all(
        name in before or (name in bound_by(*node.body) & bound_by(*node.orelse)) for name in written
    ):
        return None
    given = [name for name in written if name in before]
    values = [_one_value(body, written, given) for body in (node.body, node.orelse)]
    if all(values):
        arms = [f"lambda{' ' if given else ''}{', '.join(given)}: {value}" for value in values]
        return f"{written[0]} = lax.cond({', '.join([test, *arms, *given])})"
    arms = [_function("when_true", given, node.body, written), _function("when_false", given, node.orelse, written)]
    call = f"lax.cond({', '.join([test, 'when_true', 'when_false', *given])})"
    return "\n".join([*arms, f"{', '.join(written)} = {call}"])


def _one_value(body: Sequence[ast.stmt], written: Sequence[str], given: Sequence[str]) -> str:
    """The one value that an arm gives the one name that is written, if it does nothing else."""
    match list(body):
        case [] | [ast.Pass()] if len(written) == 1 and given:
            return written[0]
        case [ast.Assign(targets=[ast.Name()], value=value)] if len(written) == 1:
            return ast.unparse(value)
        case [ast.AugAssign(target=ast.Name(id=name), op=op, value=value)] if len(written) == 1:
            return ast.unparse(ast.BinOp(ast.Name(name), op, value))
    return ""


def without_continue(node: ast.If, skips: Sequence[ast.stmt]) -> ast.If:
    """`if test: continue`, before the statements that it skips, as an `if` of those."""
    return ast.If(ast.UnaryOp(ast.Not(), node.test), list(skips), [])


def replaces_rest(node: ast.If) -> bool:
    """Whether the rewrite takes the place of the statements after the `if`, too."""
    return _returns(node.body) and not node.orelse


def as_while(node: ast.While, before: set[str]) -> str | None:
    """A `while` as `lax.while_loop`: what the body changes is its state."""
    state = _state(node.body, before)
    if node.orelse or state is None:
        return None
    test = ast.Return(ast.parse(condition(node.test), mode="eval").body)
    arms = [_loop_function("keep_going", [], state, [test], False), _loop_function("step", [], state, node.body, True)]
    return "\n".join([*arms, f"{_pattern(state)} = lax.while_loop(keep_going, step, {_tuple(state)})"])


def as_fori(node: ast.For, before: set[str]) -> str | None:
    """`for i in range(…)` as `lax.fori_loop`."""
    match node:
        case ast.For(target=ast.Name(id=counter), iter=ast.Call(func=ast.Name(id="range"), args=args), orelse=[]) if (
            len(args) in (1, 2)
        ):
            state = _state(node.body, before - {counter})
        case _:
            return None
    if state is None or counter in bound_by(*node.body):
        return None
    bounds = bounds_of(args)
    body = _loop_function("step", [counter], state, node.body, True)
    return "\n".join([body, f"{_pattern(state)} = lax.fori_loop({', '.join(bounds)}, step, {_tuple(state)})"])


def _state(body: Sequence[ast.stmt], before: set[str]) -> list[str] | None:
    """What a loop's body changes of the names there were before it; None where it does more than give names values."""
    if not _plain(body) or _has_return(body):
        return None
    state = sorted(bound_by(*body) & before)
    return state or None


def _function(name: str, arguments: Sequence[str], body: Sequence[ast.stmt], results: Sequence[str] | None) -> str:
    statements = [ast.unparse(one) for one in body if not isinstance(one, ast.Pass)]
    if results is not None:
        statements.append(f"return {_tuple(results)}")
    return f"def {name}({', '.join(arguments)}):\n{_indented(statements)}"


def _loop_function(name: str, first: Sequence[str], state: Sequence[str], body: Sequence[ast.stmt], gives: bool) -> str:
    argument = state[0] if len(state) == 1 else "state"
    taken = ast.parse(f"{_pattern(state)} = state").body if len(state) > 1 else []
    return _function(name, [*first, argument], [*taken, *body], state if gives else None)


def _tuple(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def _pattern(names: Sequence[str]) -> str:
    return ", ".join(names)


def _indented(statements: Iterable[str]) -> str:
    return "\n".join("    " + line for one in statements for line in one.split("\n"))


# --- what statements do -----------------------------------------------------------------------------------------------------

_APART = (*SCOPES, *COMPREHENSIONS)


def _plain(body: Sequence[ast.stmt]) -> bool:
    """Whether statements only compute and give names values: no loops that are left, no changes of objects."""
    for node in outside(body, _APART):
        match node:
            case (
                ast.Break()
                | ast.Continue()
                | ast.Global()
                | ast.Nonlocal()
                | ast.Delete()
                | ast.Raise()
                | ast.Yield()
                | ast.Await()
            ):
                return False
            case ast.Import() | ast.ImportFrom() | ast.With() | ast.Try() | ast.ClassDef():
                return False
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                return False
            case ast.Expr(value=value) if not isinstance(value, ast.Constant):
                return False
    return True


def _returns(body: Sequence[ast.stmt]) -> bool:
    """Whether statements end in a `return` of a value, and have no other."""
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        return False
    return not _has_return(body[:-1])


def _has_return(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Return) for node in outside(body, _APART))
