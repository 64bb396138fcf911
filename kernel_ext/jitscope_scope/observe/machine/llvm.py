"""LLVM's IR as text: the functions in it, and how deep in loops each line is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .flow import depths_of, loops_of


_DEFINE = re.compile(r'^define .*?@(?:"((?:[^"\\]|\\.)*)"|([\w.$\-]+))\(')
_LABEL = re.compile(r'^(?:"((?:[^"\\]|\\.)*)"|([\w.$\-]+)):')
_TARGET = re.compile(r'label %(?:"((?:[^"\\]|\\.)*)"|([\w.$\-]+))')
_VALUE = re.compile(r'^\s+%(?:"((?:[^"\\]|\\.)*)"|([\w.$\-]+)) =')


def functions_in(text: str) -> list[str]:
    """The names of the functions that a module defines."""
    return [_name(found) for line in text.splitlines() if (found := _DEFINE.match(line))]


def values_in(text: str) -> list[str]:
    """The names of values in a module that LLVM did not number itself."""
    names = (_name(found) for line in text.splitlines() if (found := _VALUE.match(line)))
    return [name for name in dict.fromkeys(names) if not name.isdecimal()]


def nesting_of(text: str) -> list[tuple[int, int]]:
    """Where the depth in loops changes: (line from 0, depth from there on)."""
    lines = text.splitlines()
    found: list[tuple[int, int]] = [(0, 0)]
    start = None
    for number, line in enumerate(lines):
        if _DEFINE.match(line):
            start = number
        elif line == "}" and start is not None:
            found += _of_function(lines, start, number)
            found.append((number, 0))
            start = None
    return [one for at, one in enumerate(found) if at == 0 or one[1] != found[at - 1][1]]


def _of_function(lines: Sequence[str], start: int, end: int) -> list[tuple[int, int]]:
    starts = [start + 1, *(n for n in range(start + 1, end) if n > start + 1 and _LABEL.match(lines[n]))]
    labels = [found and _name(found) for found in (_LABEL.match(lines[n]) for n in starts)]
    place = {label: at for at, label in enumerate(labels) if label is not None}
    ways = [
        [place[to] for to in dict.fromkeys(_targets(lines[begin:after])) if to in place]
        for begin, after in zip(starts, [*starts[1:], end])
    ]
    return list(zip(starts, depths_of(len(starts), loops_of(ways))))


def _targets(lines: Sequence[str]) -> list[str]:
    """The blocks that the last instruction of a block names; a switch takes several lines."""
    return [_name(found) for line in lines for found in _TARGET.finditer(line)]


def _name(found: re.Match[str]) -> str:
    return found.group(1) if found.group(1) is not None else found.group(2)
