"""Edits that make a compiled function once: moved before the loop, or the function, that makes it anew."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ...observe.recompiling.groups import Group
from ...source_code.bindings import bound, given_by, read
from ...source_code.edits import Edit, Span, applied
from ...source_code.parameters import default_values
from ...source_code.text import Code
from ...source_code.tree import FUNCTIONS, LOOPS, below, first_line
from .checking import of_definition
from .sites import ProposedEdit, Site, only_site


class FunctionMaker(NamedTuple):
    """What makes the function anew: the expression that is called, or the statement that gives the called name its value."""

    code: Code
    node: ast.expr | ast.stmt
    name: str


def hoisted(group: Group) -> ProposedEdit | None:
    """The function is made once, before what makes it anew."""
    site = only_site(group)
    making = _making(site) if site else None
    if site is None or making is None:
        return None
    moved = _moved(making, [], set())
    if moved is None:
        return None
    words, code, edits = moved
    return ProposedEdit(words, code, edits, of_definition(edits[0].text, making.name, site, edits, making.node))


def passed(group: Group) -> ProposedEdit | None:
    """The captured values that change become parameters, and the function is made once."""
    site = only_site(group)
    making = _making(site) if site else None
    if site is None or making is None or not all(name.isidentifier() for name in group.paths):
        return None
    function = _function_of(making.node)
    if function is None or making.code.function_around(site.call) is not making.code.function_around(making.node):
        return None
    hows = {c.name: c.how for row in group.rows if row.signature for c in row.signature.made.captures}
    inner = _with_parameters(making.code, function, group.paths, hows)
    if inner is None:
        return None
    given = [name if not site.call.keywords else f"{name}={name}" for name in group.paths]
    arguments = [making.code.span(one) for one in (*site.call.args, *site.call.keywords)]
    if not arguments:
        return None
    call = Edit(max(arguments).after, "".join(f", {one}" for one in given))
    moved = _moved(making, inner, set(group.paths))
    if moved is None:
        return None
    words = f"Pass {', '.join(group.paths)} as an argument, and make the compiled function once."
    edits = [*moved[2], call]
    return ProposedEdit(words, moved[1], edits, of_definition(edits[0].text, making.name, site, edits, making.node))


def _making(site: Site) -> FunctionMaker | None:
    code, call = site
    if isinstance(call.func, ast.Call):
        return FunctionMaker(code, call.func, _fresh(code))
    if not isinstance(call.func, ast.Name):
        return None
    name, around = call.func.id, code.function_around(call)
    found = [
        node
        for node in code.nodes
        if isinstance(node, (ast.Assign, ast.FunctionDef))
        and code.function_around(node) is around
        and _gives(node, name)
        and node.lineno <= call.lineno
    ]
    return FunctionMaker(code, found[0], name) if len(found) == 1 else None


def _gives(node: ast.stmt, name: str) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name(id=target)]):
            return target == name
        case ast.FunctionDef(name=target):
            return target == name
    return False


def _fresh(code: Code) -> str:
    used = {node.id for node in code.nodes if isinstance(node, ast.Name)}
    names = ("compiled", *(f"compiled_{number}" for number in range(2, 100)))
    return next(name for name in names if name not in used)


def _function_of(node: ast.AST) -> ast.Lambda | ast.FunctionDef | None:
    """The lambda that an expression or an assignment compiles, or the decorated function."""
    if isinstance(node, ast.FunctionDef):
        return node
    value = node.value if isinstance(node, ast.Assign) else node
    first = value.args[0] if isinstance(value, ast.Call) and value.args else None
    return first if isinstance(first, ast.Lambda) else None


def _with_parameters(
    code: Code, function: ast.Lambda | ast.FunctionDef, names: list[str], hows: dict[str, str]
) -> list[Edit] | None:
    """Edits that give a function parameters of these names; those that it captured as defaults lose the default."""
    own = function.args
    if own.vararg or own.kwonlyargs or own.kwarg or not own.args:
        return None
    known = default_values(function)
    if set(known) != {name for name in names if hows.get(name) == "default"}:
        return None
    edits = []
    for argument in own.args:
        if argument.arg in known:
            span, default = code.span(argument), code.span(known[argument.arg])
            edits.append(Edit(Span(span.end_line, span.end_column, default.end_line, default.end_column), ""))
    if new := "".join(f", {name}" for name in names if name not in known):
        edits.append(Edit(code.span(own.args[-1]).after, new))
    return edits


def _moved(making: FunctionMaker, inner: list[Edit], freed: set[str]) -> tuple[str, Code, list[Edit]] | None:
    """The edits that move what makes the function before the outermost loop or function round it that gives it no names. `inner`
    are edits inside what is moved, `freed` the names it needs no more."""
    code, node, name = making
    outside = _outermost(code, node, freed | {name})
    if outside is None:
        return None
    place = first_line(outside)
    indent = code.indent(place)
    where = "the loop" if isinstance(outside, (ast.For, ast.AsyncFor, ast.While)) else f"line {place}"
    words = f"Make the compiled function once, before {where}."
    if isinstance(node, ast.expr):
        text = _segment(code, code.span(node), inner)
        into = Edit(Span(place, 0, place, 0), f"{indent}{name} = {text}\n")
        return words, code, [into, Edit(code.span(node), name)]
    first, last = first_line(node), node.end_lineno or node.lineno
    if not _alone(code, node, first, last):
        return None
    text = _segment(code, Span(first, 0, last, len(code.lines[last - 1])), inner)
    own = code.indent(first)
    lines = [indent + line.removeprefix(own) if line.strip() else line for line in text.split("\n")]
    return words, code, [Edit(Span(place, 0, place, 0), "\n".join(lines) + "\n"), Edit(Span(first, 0, last + 1, 0), "")]


def _segment(code: Code, span: Span, inner: list[Edit]) -> str:
    """A stretch of the code with edits made inside it."""
    lines = code.text.splitlines()[span.line - 1 : span.end_line]
    shifted = [Edit(one.span.moved(1 - span.line), one.text) for one in inner]
    end = Edit(Span(len(lines), span.end_column, len(lines), len(lines[-1])), "")
    start = Edit(Span(1, 0, 1, span.column), "")
    return applied("\n".join(lines), [*shifted, end, start])


def _alone(code: Code, node: ast.stmt, first: int, last: int) -> bool:
    """Whether a statement has its lines for itself, is not the last line of the text, and leaves something in its block."""
    head = code.lines[first - 1][: code.span(node).column] if first == node.lineno else ""
    tail = code.lines[last - 1][code.span(node).end_column :].strip()
    return (
        len(code.block_of(node)) > 1
        and not head.strip()
        and (not tail or tail.startswith("#"))
        and last < len(code.lines)
    )


def _outermost(code: Code, node: ast.AST, own: set[str]) -> ast.stmt | None:
    """The statement to move before: of the outermost loop or function round a node which binds no name that the node reads."""
    reads = read(node) - bound(node) - own
    found = None
    for around in code.around(node):
        inside = {around, *below(node)}
        if not isinstance(around, LOOPS + FUNCTIONS):
            continue
        if reads & {name for one in below(around) if one not in inside for name in given_by(one)}:
            break
        found = around
    statement = code.statement_around(found) if found is not None else None
    while statement is not None and isinstance(code.parents.get(statement), ast.ClassDef):
        statement = code.statement_around(code.parents[statement])
    return statement
