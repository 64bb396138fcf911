"""Which functions of a cell are compiled, and the step that wraps them where they are defined.

A function is wrapped by a decorator put into the syntax tree at the place of its own `def`. So file, lines and columns stay
what they were, later statements of the same cell see the compiled function, and nothing is left in the user's namespace:
the decorator imports what it needs by itself.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jitscope
from jitscope.core.words import cut
from jitscope_scope.source_code.parameters import is_generator, parameters

from .jax_cells import LEFT_ALONE
from .request import Request


class CellRefusal(Exception):
    """The cell cannot be run as its `%%jit` line asks; the message says why."""


Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclasses.dataclass(frozen=True)
class Definition:
    """A function or class that a cell defines; `reason` says why it stays Python, "" if it need not."""

    name: str
    node: ast.stmt
    reason: str = ""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What becomes of a cell's definitions."""

    compiled: list[Definition]
    left_alone: list[Definition]

    @property
    def told(self) -> list[Definition]:
        """What was left alone, but for what is written for jax: there nothing is compiled by the mark, and that is no news."""
        other = [one for one in self.left_alone if one.reason != LEFT_ALONE]
        return other if self.compiled or len(other) == len(self.left_alone) else []


# --- finding ----------------------------------------------------------------------------------------------------------


def survey(tree: ast.Module) -> list[Definition]:
    """All that the cell defines at its top level, or inside its `if`, `for`, `with` … statements."""
    return [definition for statement in tree.body for definition in _definitions(statement, "")]


def _definitions(statement: ast.stmt, inside: str) -> Iterator[Definition]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            reason = f"defined inside {inside}, not at the cell's top level" if inside else _reason(statement)
            yield Definition(statement.name, statement, reason)
        case ast.ClassDef():
            yield Definition(statement.name, statement, "a class")
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda()):
            yield Definition(name, statement, "a lambda")
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.Lambda()):
            yield Definition(name, statement, "a lambda")
        case _:
            for block in _blocks(statement):
                yield from _definitions(block, _COMPOUND[type(statement)])


_COMPOUND: dict[type[ast.stmt], str] = {
    ast.If: "an if",
    ast.For: "a for",
    ast.AsyncFor: "an async for",
    ast.While: "a while",
    ast.With: "a with",
    ast.AsyncWith: "an async with",
    ast.Try: "a try",
    ast.TryStar: "a try",
    ast.Match: "a match",
}


def _blocks(statement: ast.stmt) -> Iterator[ast.stmt]:
    """The statements directly inside a compound statement."""
    if type(statement) not in _COMPOUND:
        return
    for child in ast.iter_child_nodes(statement):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            yield from child.body


def _reason(function: Function) -> str:
    """Why a function at the top level stays Python, or ""."""
    if function.decorator_list:
        return f"decorated with @{cut(ast.unparse(function.decorator_list[0]), 40)}"
    if isinstance(function, ast.AsyncFunctionDef):
        return "async"
    if not parameters(function):
        return "takes no arguments"
    if is_generator(function):
        return "a generator"
    return ""


# --- deciding ---------------------------------------------------------------------------------------------------------


Reason = Callable[[ast.stmt], str]
"""Why a function is left alone whatever is asked for, or ""."""


def plan(tree: ast.Module, request: Request, reason_of: Reason = lambda _: "") -> Plan:
    """What `request` makes of the cell. Raises Refused when it names what is not there or cannot be compiled."""
    definitions = [
        dataclasses.replace(one, reason=reason_of(one.node) or one.reason)
        if isinstance(one.node, (ast.FunctionDef, ast.AsyncFunctionDef))
        else one
        for one in survey(tree)
    ]
    _check_names(request, definitions)
    compiled: list[Definition] = []
    left_alone: list[Definition] = []
    for definition in definitions:
        reason = definition.reason
        if not reason and definition.name in request.skip:
            reason = "left out by --skip"
        elif not reason and request.names and definition.name not in request.names:
            reason = "not named in the %%jit line"
        if reason:
            left_alone.append(dataclasses.replace(definition, reason=reason))
        else:
            compiled.append(definition)
    _check_parameters(request.static, "--static", compiled, left_alone)
    _check_parameters(request.donate, "--donate", compiled, left_alone)
    return Plan(compiled, left_alone)


def _check_names(request: Request, definitions: list[Definition]) -> None:
    reasons: dict[str, str] = {}
    for definition in definitions:
        # Of several definitions of one name, one that can be compiled is enough.
        reasons[definition.name] = definition.reason and reasons.get(definition.name, definition.reason)
    able = [name for name, reason in reasons.items() if not reason]
    for name in request.names + request.skip:
        if name not in reasons:
            raise CellRefusal(f"this cell defines no function {name!r} at its top level; {_there_is(able)}.")
    for name in request.names:
        if name in request.skip:
            raise CellRefusal(f"{name} is both named and skipped.")
        if reasons[name]:
            raise CellRefusal(f"{name} cannot be compiled: it is {_spoken(reasons[name])}; {_there_is(able)}.")


def _spoken(reason: str) -> str:
    spoken = {
        "takes no arguments": "a function that takes no arguments",
        LEFT_ALONE: "written for jax, which jitscope only watches (jax.jit has options of its own)",
    }
    return spoken.get(reason, reason)


def _there_is(names: list[str]) -> str:
    return f"there is {', '.join(names)}" if names else "it defines none that can be compiled"


def _check_parameters(
    asked: dict[str, tuple[str, ...]], option: str, compiled: list[Definition], left_alone: list[Definition]
) -> None:
    for name, given in asked.items():
        functions = [definition.node for definition in compiled if definition.name == name]
        if not functions:
            names = list(dict.fromkeys(definition.name for definition in compiled))
            reason = next((one.reason for one in left_alone if one.name == name), "")
            why = (
                f"{name} is not compiled in this cell: it is {_spoken(reason)}"
                if reason
                else f"no function {name!r} is compiled in this cell"
            )
            raise CellRefusal(f"{option} {name}:…: {why}; {_there_is(names)}.")
        for parameter in given:
            problems = [_problem(function, parameter) for function in functions]
            if all(problems):
                raise CellRefusal(f"{option} {name}:{parameter}: {problems[-1]}.")


def _problem(function: ast.stmt, parameter: str) -> str:
    """Why a parameter cannot be singled out, or ""."""
    assert isinstance(function, ast.FunctionDef)
    arguments = function.args
    if any(many and many.arg == parameter for many in (arguments.vararg, arguments.kwarg)):
        return f"{parameter} stands for any number of arguments; the option takes a single one"
    if parameter in parameters(function) or arguments.kwarg:
        return ""
    return f"{function.name} has no parameter {parameter!r}; it has {', '.join(parameters(function))}"


# --- wrapping ---------------------------------------------------------------------------------------------------------


def wrap(tree: ast.Module, request: Request, reason_of: Reason = lambda _: "") -> Plan:
    """Put the decorator on every function that `request` wants compiled. Raises Refused."""
    decided = plan(tree, request, reason_of)
    for definition in decided.compiled:
        function = definition.node
        assert isinstance(function, ast.FunctionDef)
        function.decorator_list = [_decorator(function, request)]
    return decided


def _decorator(function: ast.FunctionDef, request: Request) -> ast.expr:
    options = request.static.get(function.name, ()), request.donate.get(function.name, ())
    module = __name__.rpartition(".")[2]
    call = ast.parse(f"__import__({__name__!r}).{module}.compiled{options!r}", mode="eval").body
    # Everything sits where `def` stands: a decorator's line is the first line of its function.
    for node in ast.walk(call):
        if isinstance(node, ast.expr):
            node.lineno, node.col_offset = function.lineno, function.col_offset
            node.end_lineno, node.end_col_offset = function.lineno, function.col_offset + len("def")
    return call


def compiled(static: tuple[str, ...], donate: tuple[str, ...]) -> Callable[[Callable[..., Any]], Any]:
    """The decorator that `wrap` puts on functions: `jit` with the cell's options."""
    options: dict[str, Any] = {"static_argnames": static} if static else {}
    if donate:
        options["donate_argnames"] = donate
    return lambda function: jitscope.jit(function, auto_static=True, **options)
