"""Edits of static arguments: numbers that need not be static, objects that are to be compared by what they hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from ...observe.ledger import Row
from ...observe.recompiling.groups import Group
from ...source_code.edits import Edit, Span
from ...source_code.text import Code
from .arguments import text_of
from .checking import of_class, of_declaration, of_fewer_statics
from .sites import ProposedEdit, code_of, parameters_of


_STATIC = ("static_argnames", "static_argnums")
_DONATED = ("donate_argnames", "donate_argnums")


def traced(group: Group) -> ProposedEdit | None:
    """The argument is no longer declared static."""
    row = group.rows[-1]
    if row.position is None:
        return None
    code, parameters = code_of(row.position.file), parameters_of(row)
    words = f"Do not make {', '.join(group.paths)} static: {'it is' if len(group.paths) == 1 else 'they are'} only computed with."
    if (edit := _of_the_magic(code, row, group.paths)) is not None:
        return ProposedEdit(words, code, [edit], of_fewer_statics(group.paths))
    for call, keyword in _declarations(code, row, _STATIC):
        names = [_name(part, parameters) for part in _parts(keyword.value)]
        kept = [part for part, name in zip(_parts(keyword.value), names) if name not in group.paths]
        if len(kept) == len(names):
            continue
        if kept:
            text = ", ".join(text_of(code, part) for part in kept)
            edits = [Edit(code.span(keyword.value), f"({text},)")]
        else:
            edits = [Edit(_with_comma(code, call, keyword), "")]
        return ProposedEdit(words, code, edits, of_declaration(call, code, edits, _decorates(code, call)))
    return None


def _of_the_magic(code: Code, row: Row, names: list[str]) -> Edit | None:
    """`--static f:n` in the first line of a `%%jit` cell, when that is its only parameter."""
    first = code.lines[0] if code.lines else ""
    for name in names:
        match = re.search(rf"\s+--static[ =]{re.escape(row.function)}:{re.escape(name)}(?=\s|$)", first)
        if match and first.startswith("%%jit"):
            return Edit(Span(1, match.start(), 1, match.end()), "")
    return None


def kept(group: Group) -> ProposedEdit | None:
    """No argument is donated: a donated one is gone after the call, one that is kept is not."""
    row = group.rows[-1]
    if row.position is None or group.paths != ["donated arguments"]:
        return None
    code = code_of(row.position.file)
    declared = list(_declarations(code, row, _DONATED))
    edits = [Edit(_with_comma(code, call, keyword), "") for call, keyword in declared]
    words = f"Donate no argument of {row.function}: the results are the same, and the argument's memory is held beside the result's."
    if len(declared) != 1:
        return None
    return ProposedEdit(
        words, code, edits, of_declaration(declared[0][0], code, edits, _decorates(code, declared[0][0]))
    )


def _decorates(code: Code, call: ast.Call) -> bool:
    return isinstance(around := code.parents.get(call), ast.FunctionDef) and call in around.decorator_list


def _declarations(code: Code, row: Row, names: Sequence[str]) -> Iterator[tuple[ast.Call, ast.keyword]]:
    """The calls that declare something of a function's arguments: its decorators, and `jit(f, …)` by name or round its lambda."""
    assert row.position is not None
    for node in code.nodes:
        if not isinstance(node, ast.Call):
            continue
        first = node.args[0] if node.args else None
        around = code.parents.get(node)
        own = isinstance(around, ast.FunctionDef) and around.name == row.function and node in around.decorator_list
        named = isinstance(first, ast.Name) and first.id == row.function
        here = isinstance(first, ast.Lambda) and first.lineno == row.position.line and row.function == "<lambda>"
        if own or named or here:
            yield from ((node, keyword) for keyword in node.keywords if keyword.arg in names)


def _parts(value: ast.expr) -> list[ast.expr]:
    return list(value.elts) if isinstance(value, (ast.Tuple, ast.List)) else [value]


def _name(part: ast.expr, parameters: Sequence[str]) -> str:
    match part:
        case ast.Constant(value=str() as name):
            return name
        case ast.Constant(value=int() as number) if number < len(parameters):
            return parameters[number]
    return ""


def _with_comma(code: Code, call: ast.Call, keyword: ast.keyword) -> Span:
    """A keyword argument with the comma before it, or after it if it is the first argument."""
    own = code.span(keyword)
    every = sorted(map(code.span, [*call.args, *call.keywords]))
    place = every.index(own)
    if place:
        before = every[place - 1]
        return Span(before.end_line, before.end_column, own.end_line, own.end_column)
    if len(every) > 1:
        return Span(own.line, own.column, every[1].line, every[1].column)
    return own


_METHODS = """
{indent}def __eq__(self, other):
{indent}    return type(other) is type(self) and vars(other) == vars(self)

{indent}def __hash__(self):
{indent}    return hash((type(self), *sorted(vars(self).items())))"""


def compared(group: Group) -> ProposedEdit | None:
    """The class of a static object gets `__eq__` and `__hash__`, which compare what it holds."""
    row = group.rows[-1]
    types = {static.type for static in (row.signature.statics if row.signature else ()) if static.name in group.paths}
    files = {position.file for position in (row.position, row.call_site) if position is not None}
    for code in map(code_of, sorted(files)):
        for node in code.nodes:
            if isinstance(node, ast.ClassDef) and node.name in types and len(types) == 1 and not node.decorator_list:
                text = _METHODS.format(indent=" " * node.body[-1].col_offset)
                words = f"Give {node.name} __eq__ and __hash__, so that objects that hold the same are found again."
                edits = [Edit(code.span(node.body[-1]).after, "\n" + text)]
                return ProposedEdit(words, code, edits, of_class(node, code, edits))
    return None
