"""Edits that give every call one structure: an array in place of None, the keys that a dict lacks, one kind of container.

They are offered where the programs of the calls, which are there already, give the same for random arguments.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from jitscope.backend.array import Array, array_from_numpy, to_array
from jitscope.core import dtypes
from jitscope.core.avals import ShapedArray

from ...observe.ledger import Row
from ...observe.recompiling.groups import Group
from ...observe.structures import call_of
from ...source_code.edits import Edit, Span
from ...source_code.parameters import argument_for
from ...source_code.text import Code
from .arguments import alias, text_of
from .checking import of_calls
from .sites import ProposedEdit, Site, parameters_of, sites_of


MOST_BYTES = 1 << 24
"""Bytes of arguments up to which programs are compared."""
_KEY = re.compile(r"(\w+)\['(\w+)'\]")
_DTYPES = {
    "f32": "float32",
    "f16": "float16",
    "bf16": "bfloat16",
    "i32": "int32",
    "u8": "uint8",
    "i8": "int8",
    "bool": "bool_",
}


def filled(group: Group) -> ProposedEdit | None:
    """`f(x, None)` becomes `f(x, jnp.ones((3,), jnp.float32))`, `f(state)` becomes `f({"v": jnp.zeros((2,)), **state})`."""
    rows = [row for row in group.history if row.signature is not None]
    if not rows:
        return None
    full = max(rows, key=lambda row: len(_shapes(row)))
    lacking = [row for row in rows if len(_shapes(row)) < len(_shapes(full))]
    missing = sorted({path for row in lacking for path in _shapes(full).keys() - _shapes(row).keys()})
    if not lacking:
        return _of_one_kind(rows)
    if not missing or any(len(_shapes(row)) + len(missing) != len(_shapes(full)) for row in lacking):
        return None
    value = next((one for one in (0, 1) if all(_agree(row, full, one) for row in lacking)), None)
    sites = sites_of(lacking) if value is not None else None
    if sites is None or value is None:
        return None
    numpy = alias(sites[0].code, "jax.numpy")
    texts = {path: _constant(numpy, full, path, value) for path in missing}
    if not numpy or not all(texts.values()):
        return None
    none = group.cause == "none"
    tree = full.signature.tree if full.signature else ""
    placed = [name for name in parameters_of(full) if f"{name!r}: " not in tree]
    edits = [edit for site in sites for edit in _given(site, texts, parameters_of(full), placed, none)]
    if len(edits) < len(sites):
        return None
    what = ", ".join(missing)
    words = f"Give {what} in every call, as {'zeros' if value == 0 else 'ones'} where there is none: for random arguments both programs give the same then."
    return ProposedEdit(words, sites[0].code, edits, of_calls(sites[0].code, edits))


def _shapes(row: Row) -> dict[str, Any]:
    return {leaf.path: leaf for leaf in row.signature.leaves} if row.signature else {}


def _constant(numpy: str, full: Row, path: str, value: int) -> str:
    leaf = _shapes(full)[path]
    if leaf.dtype not in _DTYPES or leaf.sharding:
        return ""
    shape = f"({', '.join(map(str, leaf.shape))}{',' * (len(leaf.shape) == 1)})"
    if leaf.weak_type:
        number = repr(float(value)) if leaf.dtype == "f32" else repr(value) if leaf.dtype == "i32" else ""
        return f"{numpy}.full({shape}, {number})" if leaf.shape and number else number
    return f"{numpy}.{('zeros', 'ones')[value]}({shape}, {numpy}.{_DTYPES[leaf.dtype]})"


def _given(
    site: Site, texts: dict[str, str], parameters: Sequence[str], placed: Sequence[str], none: bool
) -> Iterator[Edit]:
    """The edits of one call; none where it does not tell where they belong. `placed`: the parameters that the other calls give by position,
    as this one then does where it can. `none`: what is missing is there as None."""
    code, call = site
    keys: dict[str, dict[str, str]] = {}
    for path, text in texts.items():
        if found := _KEY.fullmatch(path):
            keys.setdefault(found[1], {})[found[2]] = text
        elif not path.isidentifier():
            return
        elif (argument := argument_for(call, path, parameters)) is not None:
            yield Edit(code.span(argument), _in_place_of_none(code, argument, text))
        elif call.args or call.keywords:
            last = max(code.span(one) for one in (*call.args, *call.keywords))
            is_next = not call.keywords and list(parameters[len(call.args) :][:1]) == [path] and path in placed
            yield Edit(last.after, f", {text}" if is_next else f", {path}={text}")
    for root, more in keys.items():
        argument = argument_for(call, root, parameters)
        if argument is None:
            return
        yield from _in_place_of_parts(code, argument, more) if none else _beside_parts(code, argument, more)


def _beside_parts(code: Code, argument: ast.expr, more: dict[str, str]) -> Iterator[Edit]:
    """A dict with the keys that it lacks; one that it has stands for them."""
    added = ", ".join(f'"{key}": {text}' for key, text in more.items())
    if isinstance(argument, ast.Dict) and argument.keys:
        first = code.span(argument.values[0] if argument.keys[0] is None else argument.keys[0])
        column = first.column - 2 if argument.keys[0] is None else first.column
        if code.lines[first.line - 1][column : first.column] in ("", "**"):
            yield Edit(Span(first.line, column, first.line, column), f"{added}, ")
    else:
        yield Edit(code.span(argument), f"{{{added}, **{text_of(code, argument)}}}")


def _in_place_of_parts(code: Code, argument: ast.expr, more: dict[str, str]) -> Iterator[Edit]:
    """A dict with arrays in the place of its parts that are None."""
    if isinstance(argument, ast.Dict):
        parts = {key.value: part for key, part in zip(argument.keys, argument.values) if isinstance(key, ast.Constant)}
        for key, text in more.items():
            if key in parts:
                yield Edit(code.span(parts[key]), _in_place_of_none(code, parts[key], text))
    elif isinstance(argument, ast.Name):
        own = argument.id
        added = ", ".join(
            f'"{key}": {text} if {own}["{key}"] is None else {own}["{key}"]' for key, text in more.items()
        )
        yield Edit(code.span(argument), f"{{**{own}, {added}}}")


def _in_place_of_none(code: Code, argument: ast.expr, text: str) -> str:
    if isinstance(argument, ast.Constant) and argument.value is None:
        return text
    given = text_of(code, argument)
    return f"{text} if {given} is None else {given}"


def _of_one_kind(rows: list[Row]) -> ProposedEdit | None:
    """A list in some calls and a tuple in others: the calls that came later make it what it was first."""
    first = rows[0]
    assert first.signature is not None
    kinds = {_top(row) for row in rows}
    if len(kinds) != 2 or None in kinds or not all(_same_arguments(first, row) for row in rows[1:]):
        return None
    wanted = _top(first)
    sites = sites_of([row for row in rows if _top(row) != wanted])
    roots = {leaf.path.partition("[")[0] for leaf in first.signature.leaves}
    if sites is None or len(roots) != 1 or any(row.gives_several for row in rows):
        return None
    (root,) = roots
    edits = []
    for site in sites:
        argument = argument_for(site.call, root, parameters_of(first))
        if argument is None:
            return None
        edits.append(Edit(site.code.span(argument), f"{wanted}({text_of(site.code, argument)})"))
    code = sites[0].code
    words = f"Give {root} as a {wanted} in every call: the programs are the same."
    return ProposedEdit(words, code, edits, of_calls(code, edits))


def _top(row: Row) -> str | None:
    """What the only argument is, where it is a flat list or tuple."""
    call = call_of(row.signature) if row.signature else None
    if call is None or call.named or len(call.positional) != 1:
        return None
    (node,) = call.positional
    flat = all(child.kind == "*" for child in node.children)
    return node.kind if node.kind in ("list", "tuple") and flat else None


def _same_arguments(one: Row, other: Row) -> bool:
    return _shapes(one) == _shapes(other) and _agree(one, other, 0)


# --- comparing ----------------------------------------------------------------------------------------------------------------


@functools.lru_cache(32)
def _agree(row: Row, full: Row, value: int) -> bool:
    """Whether two programs give the same for random arguments, what the first has not being `value` for the other."""
    avals, some = _arguments(full), _arguments(row)
    if (
        avals is None
        or some is None
        or any(path not in avals or _type(avals[path]) != _type(aval) for path, aval in some.items())
    ):
        return False
    for seed in range(3):
        rng = np.random.default_rng(seed)
        arrays = {path: _random(rng, aval) if path in some else _full(aval, value) for path, aval in avals.items()}
        with_all, without = _run(full, arrays), _run(row, arrays)
        if with_all is None or without is None or len(with_all) != len(without):
            return False
        if not all(map(_close, with_all, without)):
            return False
    return True


def _arguments(row: Row) -> dict[str, ShapedArray] | None:
    """The types of a program's arguments, by path; None where it cannot be run on made ones."""
    jaxpr, entry = row.jaxpr, row.entry
    if jaxpr is None or entry is None or row.takes is None or row.library or entry.executable.calls_python:
        return None
    avals = [var.aval for var in jaxpr.invars]
    paths = list(_shapes(row))
    plain = all(
        type(aval) is ShapedArray and not dtypes.is_extended(aval.dtype) and aval.mark is None for aval in avals
    )
    if len(paths) != len(avals) or not plain or jaxpr.effects or sum(aval.bytes for aval in avals) > MOST_BYTES:
        return None
    return dict(zip(paths, avals))


def _type(aval: ShapedArray) -> tuple[Any, ...]:
    return aval.shape, aval.dtype


def _random(rng: np.random.Generator, aval: ShapedArray) -> Array:
    if dtypes.is_inexact(aval.dtype):
        return array_from_numpy(rng.normal(size=aval.shape).astype(aval.dtype))
    return array_from_numpy(rng.integers(0, 2, aval.shape).astype(aval.dtype))


def _full(aval: ShapedArray, value: int) -> Array:
    return to_array(np.full(aval.shape, value, aval.dtype))


def _run(row: Row, arrays: dict[str, Array]) -> list[np.ndarray] | None:
    bufs = row.takes.buffers([arrays[path] for path in _shapes(row)]) if row.takes else None
    return [np.asarray(buf) for buf in row.entry.executable.run(bufs)] if bufs is not None else None


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape or one.dtype != other.dtype:
        return False
    if one.dtype.kind in "biu":
        return bool((one == other).all())
    return bool(np.allclose(one.astype(np.complex128), other.astype(np.complex128), 1e-5, 1e-6, equal_nan=True))
