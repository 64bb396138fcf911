"""What a mask, or a part whose size moves, picks of an array, as an expression of the whole array beside the mask."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from .parts import placed_at


@dataclass(frozen=True)
class MaskedExpression:
    """An expression with the masks taken out of it, the mask, how many axes each picked place has, and what has to be the same for two of
    them to go together."""

    whole: ast.expr
    mask: ast.expr
    rows: int
    key: str
    start: ast.expr | None = None
    """Where the picked places begin, if they are a part of one axis."""
    index: ast.expr | None = None
    """What picks the places of the whole's first axes."""
    sides: tuple[Side, ...] = ()
    """The parts of both axes, where parts of two are picked."""
    copied: bool = False
    """Whether the picked places are an array of their own."""
    line: Line | None = None
    """How the places of a part of one axis lie."""


@dataclass(frozen=True)
class Side:
    """A part of one axis: its mask (None for all of it), what has to be the same for two to go together, and where it begins."""

    mask: ast.expr | None
    key: str
    start: ast.expr | None
    index: ast.expr | None


@dataclass(frozen=True)
class Line:
    """Places in a row: the first, 1 or -1 for the next, how many there are, and how many the whole axis has."""

    first: ast.expr
    step: int
    count: ast.expr
    size: ast.expr

    def at(self, other: Line, numpy: str) -> ast.expr:
        """The places that stand over against all those of another axis, of which `other` is the part. `numpy` is NumPy's name."""
        first, start, size = (ast.unparse(e) for e in (self.first, other.first, other.size))
        return ast.parse(
            f"({first}) {'+' if self.step > 0 else '-'} ({numpy}.arange({size}) - ({start}))", mode="eval"
        ).body


def is_none(node: ast.expr) -> bool:
    return (isinstance(node, ast.Constant) and node.value is None) or (
        isinstance(node, ast.Attribute) and node.attr == "newaxis"
    )


def is_all(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.lower is None and node.upper is None and node.step is None


def crossed(rows: ast.expr, columns: ast.expr) -> ast.expr:
    """The mask of two axes out of one of rows and one that is spread over columns."""
    spread = ast.Subscript(rows, ast.Tuple([ast.Slice(), ast.Constant(None)], ast.Load()), ast.Load())
    return ast.copy_location(ast.BinOp(spread, ast.BitAnd(), columns), rows)


def zeroed(one: MaskedExpression) -> ast.expr:
    """The whole with nothing in the places that are not picked."""
    return ast.copy_location(ast.IfExp(copy.deepcopy(one.mask), one.whole, ast.Constant(0)), one.whole)


def ranked(one: MaskedExpression, word: str, rest: list[ast.expr], numpy: str) -> ast.expr:
    """The median, or a quantile, of picked numbers: what is not picked is no number there, and is left out."""
    mask, whole = ast.unparse(one.mask), ast.unparse(one.whole)
    given = ", ".join([f"({whole}) if {mask} else {numpy}.nan", *map(ast.unparse, rest)])
    nan = f"(({mask}) & (({whole}) != ({whole}))).any()"
    return placed_at(ast.parse(f"{numpy}.nan if {nan} else {numpy}.nan{word}({given})", mode="eval").body, one.whole)


def place_of(one: MaskedExpression, word: str, jnp: str, numpy: str) -> ast.expr:
    """The place of the largest or smallest number of a part: that in the whole, less where the part begins."""
    assert one.start is not None
    end: ast.expr = ast.Name(f"{jnp}.inf", ast.Load())
    end = ast.UnaryOp(ast.USub(), end) if word == "argmax" else end
    function = ast.Attribute(ast.Name(numpy, ast.Load()), word, ast.Load())
    found = ast.Call(function, [ast.IfExp(copy.deepcopy(one.mask), one.whole, end)], [])
    return ast.BinOp(found, ast.Sub(), copy.deepcopy(one.start))


def of_rows(array: ast.Name, indices: list[ast.expr], mask: ast.expr, size: int) -> MaskedExpression:
    """A part along the second axis, which has a size, of rows that are written there: `A[[i, k], k:]`."""
    rows, part = indices
    whole = ast.Subscript(loaded(array), ast.Tuple([rows, ast.Slice()], ast.Load()), ast.Load())
    spread = ast.Subscript(mask, ast.Tuple([ast.Constant(None), ast.Slice()], ast.Load()), ast.Load())
    key = f"{len(rows.elts)} by {ast.unparse(part)} of {size}"  # type: ignore[attr-defined]
    return MaskedExpression(whole, spread, 0, key, copied=True)


def part_of(product: ast.expr, side: Side, at: ast.expr) -> MaskedExpression | None:
    """A row or column of which a side's part is picked."""
    if side.mask is None:
        return None
    whole = ast.fix_missing_locations(ast.copy_location(product, at))
    return MaskedExpression(whole, side.mask, 0, side.key, side.start, side.index, copied=True)


def loaded(node: ast.Name) -> ast.Name:
    return ast.copy_location(ast.Name(node.id, ast.Load()), node)
