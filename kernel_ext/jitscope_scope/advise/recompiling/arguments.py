"""Edits of what calls pass: arrays of one dtype, arguments by position."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...observe.recompiling.groups import Group
from ...observe.recompiling.replay import common_dtypes
from ...source_code.edits import Edit, Span
from ...source_code.parameters import argument_for
from ...source_code.text import Code
from .checking import of_calls
from .sites import ProposedEdit, Site, parameters_of, silent_sites, sites_of


_KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex", "bf": "bfloat", "bool": "bool_"}


def converted(group: Group) -> ProposedEdit | None:
    """Every call converts the argument to one dtype: `f(x)` becomes `f(jnp.asarray(x, jnp.float32))`."""
    common = common_dtypes(group)
    wrong = [
        row
        for row in group.history
        for leaf in (row.signature.leaves if row.signature else ())
        if leaf.path in common and (leaf.dtype != common[leaf.path] or leaf.weak_type)
    ]
    sites = sites_of(wrong)
    if sites is None:
        return None
    numpy = alias(sites[0].code, "jax.numpy")
    names = {path: _name(numpy, dtype) for path, dtype in common.items()}
    if not numpy or not all(names.values()):
        return None
    parameters = parameters_of(group.rows[-1])
    edits: list[Edit] = []
    for site in sites:
        for path, name in names.items():
            argument = argument_for(site.call, path, parameters)
            if argument is None:
                return None
            text = f"{numpy}.asarray({text_of(site.code, argument)}, {name})"
            edits.append(Edit(site.code.span(argument), text))
    code = sites[0].code
    for site in silent_sites(group, code):  # which may have had the program of a call that is converted
        given = ((argument_for(site.call, path, parameters), name) for path, name in names.items())
        edits += [
            Edit(code.span(one), f"{numpy}.asarray({text_of(code, one)}, {name})")
            for one, name in given
            if one is not None
        ]
    paths = {name: ", ".join(path for path, own in names.items() if own == name) for name in names.values()}
    said = " and ".join(f"{given} to {name}" for name, given in paths.items())
    return ProposedEdit(f"Convert {said} in the call.", code, edits, of_calls(code, edits))


def _name(numpy: str, dtype: str) -> str:
    """`jnp.float32`, or "" of what has no such name."""
    kind = dtype.rstrip("0123456789")
    return f"{numpy}.{_KINDS[kind]}{dtype[len(kind) :]}" if kind in _KINDS else ""


def text_of(code: Code, node: ast.expr) -> str:
    """An expression as the code writes it."""
    return ast.get_source_segment(code.text, node) or code.source(node)


def alias(code: Code, dotted: str) -> str:
    """What the code calls a module."""
    return next((name for name, known in code.names.table.items() if known == dotted), "")


def by_position(group: Group) -> ProposedEdit | None:
    """Arguments that stand in their place are given without their names: `f(x, n=2)` becomes `f(x, 2)`."""
    sites = sites_of(group.history)
    parameters = parameters_of(group.rows[-1])
    if sites is None or not parameters:
        return None
    sites += silent_sites(group, sites[0].code)
    edits = [edit for site in sites for edit in _without_names(site, parameters)]
    counts = {len(site.call.args) + len(site.call.keywords) for site in sites}
    if not edits or len(counts) > 1:
        return None
    code = sites[0].code
    return ProposedEdit("Give the arguments by position in all calls.", code, edits, of_calls(code, edits))


def _without_names(site: Site, parameters: Sequence[str]) -> list[Edit]:
    code, call = site
    edits = []
    for place, keyword in enumerate(call.keywords, len(call.args)):
        if place >= len(parameters) or keyword.arg != parameters[place]:
            return []
        span, value = code.span(keyword), code.span(keyword.value)
        edits.append(Edit(Span(span.line, span.column, value.line, value.column), ""))
    return edits
