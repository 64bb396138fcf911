"""Parts of an HLO module as modules of their own, so that XLA's analyses can be asked about each."""

from __future__ import annotations

import re
from typing import Any

from .hlo_module import Instruction, from_text, header_of, is_end, parse


_ORDER = re.compile(r", control-predecessors=\{[^}]*\}")
"""Names instructions that are no operands, and have to run before."""


class Pieces:
    """A module's text (with layouts), taken apart once."""

    def __init__(self, source: str):
        self._blocks = _blocks(source)
        parsed = parse(source)
        self._calls = {c.name: [n for i in c.instructions for n in i.calls] for c in parsed}
        self._instructions: dict[str, Instruction] = {i.name: i for c in parsed for i in c.instructions}

    def computation(self, name: str) -> Any:
        """The module of one computation, with all that it calls. Raises ValueError where there is no such computation."""
        if name not in self._blocks:
            raise ValueError(f"the module has no computation {name}")
        first, *rest = self._blocks[name]
        entry = ["ENTRY " + first.removeprefix("ENTRY "), *rest]
        return self._module(self._calls[name], entry)

    def instruction(self, name: str) -> Any:
        """The module of one instruction, with all that it calls; its operands are parameters. Raises ValueError where there is no
        such instruction, and for the end of what another one began: XLA's reader crashes where it is alone."""
        if name not in self._instructions:
            raise ValueError(f"the module has no instruction {name}")
        i = self._instructions[name]
        if is_end(i):
            raise ValueError(f"{name} ends what another instruction began")
        operands = [self._instructions[operand] for operand in dict.fromkeys(i.operands)]
        given = [f"  {each.name} = {each.type} parameter({at})" for at, each in enumerate(operands)]
        text = _ORDER.sub("", i.text)
        root = text if i.is_root else f"ROOT {text}"
        return self._module(i.calls, ["ENTRY alone {", *given, f"  {root}", "}"])

    def _module(self, called: Any, entry: list[str]) -> Any:
        kept = list(dict.fromkeys(called))
        for each in kept:
            kept += [n for n in self._calls[each] if n not in kept]
        others = [lines for n, lines in self._blocks.items() if n in kept and lines is not entry]
        return from_text("\n\n".join(["HloModule part", *map("\n".join, [*others, entry])]))


def _blocks(source: str) -> dict[str, list[str]]:
    """The lines of each computation; callees stand before their callers."""
    blocks: dict[str, list[str]] = {}
    block: list[str] | None = None
    for line in source.splitlines():
        name = header_of(line) if block is None else None
        if name is not None:
            block = blocks[name] = []
        if block is not None:
            block.append(line)
            block = None if line.startswith("}") else block
    return blocks
