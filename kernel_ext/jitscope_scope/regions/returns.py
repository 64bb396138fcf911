"""Functions that return inside of loops or branches, with one `return` at their end: the others bind the result, and leave what is around
them."""

from __future__ import annotations

import ast
import copy

from ..source_code.tree import outside
from . import naming
from .parts import placed_at


RETURNED = "returned"
"""Marks the assignments of a result: nothing is done to it, nor to what it is another name of, before the function ends."""


def at_the_end(node: ast.FunctionDef, always: bool = False) -> ast.FunctionDef:
    """The function with one `return`; as it is where it is written without that: one at the end, and `if c: return x` right before it,
    but for such an `if` where there is to be one `return` in any case."""
    if (
        not node.body
        or not _always_returns(node.body)
        or (_is_plain(node.body) and not (always and _returns(node.body[:-1])))
    ):
        return node
    taken = naming.names([node]) | {*naming.parameters(node)}
    result, flag = (_free(f"{word}_of_{node.name}", taken) for word in ("result", "returned"))
    new = copy.deepcopy(node)
    start = placed_at(
        ast.parse(f"{flag} = {result} = False").body[0], node.body[0]
    )  # a value of any type, until there is one
    end = placed_at(ast.parse(f"return {result}").body[0], node.body[-1])
    body = _Ends(result, flag).written(new.body, False)
    if always and flag not in naming.loaded(body):
        new.body = [*_Unflagged(flag).visit(ast.Module(body, [])).body, end]
        return ast.fix_missing_locations(new)
    new.body = [start, *body, end]
    return ast.fix_missing_locations(new)


class _Unflagged(ast.NodeTransformer):
    """Leaves a flag out that nobody asks for."""

    def __init__(self, flag: str) -> None:
        self.flag = flag

    def visit_Assign(self, node: ast.Assign) -> ast.AST | None:
        return None if ast.unparse(node.targets[0]) == self.flag else node


class _Ends:
    def __init__(self, result: str, flag: str) -> None:
        self.result, self.flag = result, flag

    def written(self, body: list[ast.stmt], in_loop: bool) -> list[ast.stmt]:
        """The statements with the result bound in place of each `return`, and nothing done after it."""
        done: list[ast.stmt] = []
        for k, s in enumerate(body):
            rest = body[k + 1 :]
            if isinstance(s, ast.Return):
                value = s.value or ast.copy_location(ast.Constant(None), s)
                bind = ast.copy_location(ast.Assign([ast.Name(self.result, ast.Store())], value, RETURNED), s)
                told = placed_at(ast.parse(f"{self.flag} = True").body[0], s)
                return [*done, bind, told, *([ast.copy_location(ast.Break(), s)] if in_loop else [])]
            if isinstance(s, (ast.For, ast.While)) and _returns([s]):
                s.body = self.written(s.body, True)
                return [*done, s, *self._unless_returned(rest, s, in_loop)]
            if isinstance(s, ast.If) and _returns([s]):
                if in_loop:  # what follows is not reached: the loop is left
                    s.body, s.orelse = self.written(s.body, True), self.written(s.orelse, True)
                    done.append(s)
                    continue
                yes, no = _always_returns(s.body), _always_returns(s.orelse)
                if yes or no:
                    s.body = self.written([*s.body, *([] if yes else rest)], False)
                    s.orelse = self.written([*s.orelse, *([] if no else rest)], False)
                    return [*done, s]
                s.body, s.orelse = self.written(s.body, False), self.written(s.orelse, False)
                return [*done, s, *self._unless_returned(rest, s, False)]
            done.append(s)
        return done

    def _unless_returned(self, rest: list[ast.stmt], at: ast.stmt, in_loop: bool) -> list[ast.stmt]:
        text = f"if {self.flag}: break" if in_loop else f"if not {self.flag}: pass"
        test = placed_at(ast.parse(f"for _ in x:\n {text}").body[0], at).body[0]  # type: ignore[attr-defined]
        if in_loop:
            return [test, *self.written(rest, True)]
        test.body = self.written(rest, False)
        return [test] if rest else []


def _returns(body: naming.Statements) -> bool:
    """Whether a `return` of the function itself stands in the statements."""
    return any(isinstance(n, ast.Return) for n in outside(body))


def _always_returns(body: naming.Statements) -> bool:
    """Whether the statements return whichever way they go."""
    last = body[-1] if body else None
    if isinstance(last, ast.If):
        return _always_returns(last.body) and _always_returns(last.orelse)
    if isinstance(last, ast.While) and isinstance(last.test, ast.Constant) and last.test.value is True:
        return _returns([last]) and not naming.breaks(last.body)
    return isinstance(last, ast.Return)


def _is_plain(body: list[ast.stmt]) -> bool:
    *first, last = body
    early = [k for k, s in enumerate(first) if _returns([s])]
    if not isinstance(last, ast.Return):
        return False
    return all(_is_early(s) for s in first[min(early, default=len(first)) :])


def _is_early(s: ast.stmt) -> bool:
    match s:
        case ast.If(body=[ast.Return(value=ast.expr())], orelse=[]):
            return True
    return False


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
