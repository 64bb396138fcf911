"""Edits that pad an argument to few sizes and cut the result, where each row of it is made of one row of the argument."""

from __future__ import annotations

import ast

from ...observe.ledger import Row
from ...observe.recompiling.groups import Group
from ...observe.recompiling.sizes import Sizes, sizes_of
from ...source_code.edits import Edit, Span
from ...source_code.parameters import argument_for
from .arguments import alias, text_of
from .checking import of_calls
from .rowwise import result_axis
from .sites import ProposedEdit, Site, only_site, parameters_of


def padded(group: Group) -> ProposedEdit | None:
    """`y = f(b)` becomes `y = f(jnp.pad(b, ((0, 32 - b.shape[0]), (0, 0))))[: b.shape[0]]`."""
    sizes, site = sizes_of(group), only_site(group)
    axis = _result_axis(group, sizes)
    if site is None or axis is None or {one.path for one in sizes} != set(group.paths):
        return None
    numpy = alias(site.code, "jax.numpy")
    found = [argument_for(site.call, one.path, parameters_of(group.rows[-1])) for one in sizes]
    arguments = [argument for argument in found if argument is not None]
    if not numpy or len(arguments) < len(found):
        return None
    begin, names = _named(site, arguments, [one.path for one in sizes])
    if names is None:
        return None
    rows = f"{names[0]}.shape[{sizes[0].axis}]"
    edits = [
        Edit(site.code.span(argument), _pad(numpy, group, name, one))
        for argument, name, one in zip(arguments, names, sizes)
    ]
    end = site.code.span(site.call)
    cut = Edit(end.after, f"[{':, ' * axis}:{rows}]")
    words = (
        f"Pad {', '.join(one.path for one in sizes)} in the call, and cut the result: in these programs each row of the result is made "
        "of one row of what is padded, so the rows that are added change none of the others."
    )
    every = [*begin, *edits, cut]
    return ProposedEdit(words, site.code, every, of_calls(site.code, every))


def _result_axis(group: Group, sizes: list[Sizes]) -> int | None:
    """The axis of the result that goes with the sizes that changed, the same in all programs; None where one is not kept."""
    rows = group.history
    if len({one.path for one in sizes}) < len(sizes) or len({one.sizes for one in sizes}) != 1:
        return None
    if any(row.jaxpr is None or row.signature is None for row in rows):
        return None
    axes = {one.path: one.axis for one in sizes}
    first, found = rows[0], set()
    for row in rows[1:]:
        found.add(_between(first, row, axes) if not row.gives_several else None)
    return found.pop() if len(found) == 1 else None


def _between(one: Row, other: Row, axes: dict[str, int]) -> int | None:
    assert one.signature and other.signature and one.jaxpr and other.jaxpr
    given = [axes.get(leaf.path) for leaf in one.signature.leaves]
    return result_axis(one.jaxpr, other.jaxpr, given) if len(one.jaxpr.invars) == len(given) else None


def _named(site: Site, arguments: list[ast.expr], paths: list[str]) -> tuple[list[Edit], list[str] | None]:
    """Names for the arguments: those that are none get one in a line before; None where there is no place for it."""
    code = site.code
    used = {node.id for node in code.nodes if isinstance(node, ast.Name)}
    free = [next((name for name in (path, f"{path}_rows", f"{path}_given") if name not in used), "") for path in paths]
    names = [one.id if isinstance(one, ast.Name) else name for one, name in zip(arguments, free)]
    made = [(name, one) for name, one in zip(names, arguments) if not isinstance(one, ast.Name)]
    if not made:
        return [], names
    statement = code.statement_around(site.call)
    simple = isinstance(statement, ast.Expr | ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return)
    elsewhen = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda | ast.IfExp | ast.BoolOp
    if not simple or statement is None or any(isinstance(one, elsewhen) for one in code.around(site.call)):
        return [], None
    if not all(name.isidentifier() for name, _ in made):
        return [], None
    line = code.lines[statement.lineno - 1]
    if line[: statement.col_offset].strip():
        return [], None
    indent = line[: statement.col_offset]
    text = "".join(f"{indent}{name} = {text_of(code, one)}\n" for name, one in made)
    return [Edit(Span(statement.lineno, 0, statement.lineno, 0), text)], names


def _pad(numpy: str, group: Group, name: str, sizes: Sizes) -> str:
    axis = sizes.axis
    leaf = next(leaf for leaf in group.rows[-1].signature.leaves if leaf.path == sizes.path)  # pyright: ignore[reportOptionalMemberAccess]
    rows = f"{name}.shape[{axis}]"
    wanted = f"{sizes.buckets[0]}" if len(sizes.buckets) == 1 else f"(1 << ({rows} - 1).bit_length())"
    if len(sizes.buckets) == 1 and sizes.pattern not in ("last batch", "two"):
        wanted = f"max({wanted}, {rows})"
    widths = [f"(0, {wanted} - {rows})" if i == axis else "(0, 0)" for i in range(len(leaf.shape))]
    return f"{numpy}.pad({name}, ({', '.join(widths)}{',' * (len(widths) == 1)}))"
