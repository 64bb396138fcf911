"""The lines of a program that stands in blocks (js/parts/code.ts does the same)."""

from __future__ import annotations

from collections.abc import Iterator

from ..plain import clean
from .parts import Block, Code, CodeLine


def lines_of_code(part: Code) -> Iterator[CodeLine]:
    """All lines of a program."""
    yield from part.lines
    for block in part.blocks:
        yield from _lines(block)


def _lines(block: Block) -> Iterator[CodeLine]:
    depths, depth = dict(block.nesting), 0
    if block.head:
        yield CodeLine(block.head, mark=block.mark, depth=depths.get(0, 0))
    for at, line in enumerate(block.text.removesuffix("\n").split("\n") if block.text else ()):
        depth = depths.get(at, depth)
        number, text = (str(block.number + at), line) if block.number else _instruction(line)
        yield CodeLine(clean(text), number, mark=block.mark, depth=depth)


def _instruction(line: str) -> tuple[str, str]:
    at, name, operands, remark = (line.split("\t") + [""] * 3)[:4]
    return at, f"{name:<12} {operands}{f'   ; {remark}' if remark else ''}".rstrip()
