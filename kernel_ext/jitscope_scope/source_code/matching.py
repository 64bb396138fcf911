"""A `match` on a value that is not known, or `if`s one behind the other, as what chooses between the values of its cases."""

from __future__ import annotations

import ast
from typing import NamedTuple

from .conditions import condition


class Choice(NamedTuple):
    """What each case gives, where all give one value to one name, or return one. `before` is `return ` or `y = `; each value but the last has its
    test."""

    before: str
    tests: tuple[str, ...]
    values: tuple[ast.expr, ...]


def choice_of_ifs(node: ast.If, after: list[ast.stmt]) -> Choice | None:
    """What an `if` gives, and those in its `elif`s, or behind it where each returns."""
    given = _given(node.body)
    if given is None:
        return None
    before, value = given
    match node.orelse or (after if before == "return " else []):
        case [ast.If() as other, *more] if before == "return " or not more:
            rest = choice_of_ifs(other, after if node.orelse else more)
        case []:
            rest = (
                Choice(before, (), (ast.Name(before.removesuffix(" = "), ast.Load()),)) if before != "return " else None
            )
        case others:
            last = _given(others[:1])
            rest = (
                Choice(last[0], (), (last[1],))
                if last is not None and (others[1:] == [] or before == "return ")
                else None
            )
    if rest is None or rest.before != before:
        return None
    return Choice(before, (condition(node.test), *rest.tests), (value, *rest.values))


def choice(node: ast.Match, after: list[ast.stmt]) -> Choice | None:
    """The cases of a `match` on a name, each a number or several, as tests of their values; `after` are the statements behind it."""
    if not isinstance(node.subject, ast.Name):
        return None
    *_, last = node.cases
    ends = isinstance(last.pattern, ast.MatchAs) and last.pattern.name is None and last.guard is None
    cases = node.cases[:-1] if ends else node.cases
    tests = [_test(node.subject, one.pattern) if one.guard is None else "" for one in cases]
    given = [_given(one.body) for one in node.cases]
    if not ends:
        before = given[0][0] if given[0] is not None else ""
        as_it_was = (before, ast.Name(before.removesuffix(" = "), ast.Load()))
        given.append(_given(after[:1]) if before == "return " else as_it_was)
    known = [one for one in given if one is not None]
    if len(known) < len(given) or len({before for before, _ in known}) != 1 or not tests or not all(tests):
        return None
    return Choice(known[0][0], tuple(tests), tuple(value for _, value in known))


def _given(body: list[ast.stmt]) -> tuple[str, ast.expr] | None:
    match body:
        case [ast.Return(value=ast.expr() as value)]:
            return "return ", value
        case [ast.Assign(targets=[ast.Name(id=name)], value=value)]:
            return f"{name} = ", value
    return None


def _test(subject: ast.Name, pattern: ast.pattern) -> str:
    """A test for the value of a pattern; "" of all others."""
    match pattern:
        case ast.MatchValue(value=ast.Constant(value=int() | float()) | ast.UnaryOp() as value):
            return f"{subject.id} == {ast.unparse(value)}"
        case ast.MatchOr(patterns=patterns):
            tests = [_test(subject, one) for one in patterns]
            return " | ".join(f"({test})" for test in tests) if all(tests) else ""
    return ""
