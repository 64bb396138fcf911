"""The lines of a program that stands in blocks or operations (js/parts/code.ts does the same), and the rows of differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..escapes import clean
from .parts import Block, Code, CodeLine, Diff, Ref, Run


def lines_of_code(part: Code) -> Iterator[CodeLine]:
    """All lines of a program."""
    yield from part.lines
    for block in part.blocks:
        yield from _lines(block)
    for one in part.operations:
        text = f"{clean(one['name'])} = {clean(one['type'])} {clean(one['opcode'])}"
        yield CodeLine(text, ref=Ref(tuple(one["paths"])))


def runs_of(part: Diff) -> Iterator[tuple[Run, Sequence[Mapping[str, Any]]]]:
    """The runs of a difference with their pairs of lines."""
    at = 0
    for run in part.runs:
        yield run, part.pairs[at : at + run.count]
        at += run.count


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
