"""Views made before a region, of an array that the region names as well: in it each is written as the part of that array that it is
(`inner = u[1:-1, 1:-1]` before, `inner += …` in a loop that reads `u`), so that a store into one is seen through the other."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from . import naming
from .homes import shares
from .parts import COMPILED, EditText, placed_at
from .watching import Visit


def parts_of_owners(
    body: naming.Statements, visit: Visit
) -> tuple[tuple[ast.stmt, ...], Visit, dict[str, ast.Subscript]] | None:
    """The statements with the parts in place of the views, what was seen without these, and the part that each view is; None where no array
    that is stored into shares its memory with another, or where it is no part by constant slices."""
    arrays = {
        n: v
        for n, v in visit.live.items()
        if isinstance(v, np.ndarray) and n in naming.loaded(body) | naming.stored_into(body)
    }
    added = {
        s.target.id for s in naming.statements(body) if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name)
    }
    touched = (naming.stored_into(body) | added) & arrays.keys()
    found: dict[str, ast.Subscript] = {}
    for group in _sharing(arrays):
        if not group & touched:
            continue
        owner = max(sorted(group), key=lambda n: arrays[n].nbytes)
        for view in group - {owner}:
            if (part := _part(arrays[view], arrays[owner], owner)) is None:
                return None
            found[view] = part
    owners = {naming.root_of(part) for part in found.values()}
    bound = naming.bound(body) - added
    if not found or owners & found.keys() or bound & (owners | found.keys()):
        return None
    new = tuple(_InParts(found).visit(copy.deepcopy(s)) for s in body)
    kept = lambda values: {n: v for n, v in values.items() if n not in found}
    whole = visit.changed - found.keys() | {n for n in owners if n is not None and visit.changed & found.keys()}
    values, live, after, ends = map(kept, (visit.values, visit.live, visit.after, visit.ends))
    for n in owners:  # it is stored into through the view, and ends as itself
        if n is not None and n not in ends:
            after[n], ends[n] = visit.values[n], visit.live[n]
    return new, replace(visit, values=values, live=live, after=after, ends=ends, changed=frozenset(whole)), found


def _sharing(arrays: Mapping[str, np.ndarray]) -> list[set[str]]:
    """The names of arrays that share memory, one with another or by others of them."""
    groups: list[set[str]] = []
    for n, v in arrays.items():
        mine = [g for g in groups if any(shares(v, arrays[m]) for m in g)]
        groups = [g for g in groups if g not in mine] + [{n}.union(*mine)]
    return [g for g in groups if len(g) > 1]


def where_they_are_parts(
    edit: EditText, body: naming.Statements, parts: Mapping[str, ast.Subscript], ours: str
) -> EditText:
    """The edit where the views are these parts, else the statements as they are. `ours` is the name of the module that tells."""
    tests = [f"{ours}.is_part({view}, {ast.unparse(part)})" for view, part in sorted(parts.items())]
    imports = dict.fromkeys([*edit.imports, f"import {COMPILED} as {ours}"])
    return replace(edit.guarded(tests, body), imports=tuple(imports))


def _part(view: np.ndarray, owner: np.ndarray, name: str) -> ast.Subscript | None:
    """The view as a part of the owner by constant slices and indices."""
    if (
        view is owner
        or view.dtype != owner.dtype
        or not view.size
        or any(s <= 0 for s in owner.strides)
        or view.ndim > owner.ndim
    ):
        return None
    rest = view.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    starts = [0] * owner.ndim
    for axis in sorted(range(owner.ndim), key=lambda k: -owner.strides[k]):
        starts[axis], rest = divmod(rest, owner.strides[axis])
    if rest or any(not 0 <= s < n for s, n in zip(starts, owner.shape)):
        return None
    texts, axis = [], 0
    for k, (start, stride, size) in enumerate(zip(starts, owner.strides, owner.shape)):
        fits = axis < view.ndim and view.strides[axis] > 0 and view.strides[axis] % stride == 0
        step = view.strides[axis] // stride if fits else 0
        if fits and start + step * (view.shape[axis] - 1) < size and view.ndim - axis <= owner.ndim - k:
            texts.append(_slice(start, start + step * (view.shape[axis] - 1) + 1, step, size))
            axis += 1
        else:
            texts.append(str(start))
    part = ast.parse(f"{name}[{', '.join(texts)}]", mode="eval").body
    found = eval(compile(ast.Expression(part), "<part>", "eval"), {"__builtins__": {}}, {name: owner})
    same = isinstance(found, np.ndarray) and found.shape == view.shape and found.strides == view.strides
    if not same or found.__array_interface__["data"] != view.__array_interface__["data"]:
        return None
    return part if isinstance(part, ast.Subscript) else None


def _slice(start: int, stop: int, step: int, size: int) -> str:
    if stop + step > size:
        stop = size
    text = f"{start or ''}:{stop if stop < size else ''}"
    return text if step == 1 else f"{text}:{step}"


class _InParts(ast.NodeTransformer):
    def __init__(self, parts: Mapping[str, ast.Subscript]) -> None:
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.parts:
            return node
        part = placed_at(copy.deepcopy(self.parts[node.id]), node)
        part.ctx = node.ctx
        return part

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        match node:
            case ast.Subscript(
                value=ast.Name() as whole, slice=ast.Slice(lower=None, upper=None, step=None) | ast.Constant()
            ) if (
                whole.id in self.parts and (isinstance(node.slice, ast.Slice) or node.slice.value is ...)  # type: ignore[attr-defined]
            ):
                return self.visit_Name(ast.copy_location(ast.Name(whole.id, node.ctx), node))
        return self.generic_visit(node)
