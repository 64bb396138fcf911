"""What groups are called: by the function, class or line that wrote their equations, or by the values that they read."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from types import CodeType

from jitscope.core.source import Position

from ..stacks import Frame
from .trees import parts_of


_LONGEST = 40
_NUMBERED = re.compile(r"_\d+(?=( \(backward\))?$)")
_KEY = re.compile(r"""\['(.+)_\d+'\]|\["(.+)_\d+"\]|\.(\w+)_\d+$""")


def function_name(code: CodeType) -> str:
    """`block`; of the `__call__` of a class the class; of a lambda, which has no name, where it stands."""
    name = code.co_name
    if name == "<lambda>":
        return f"lambda, line {code.co_firstlineno}"
    if name == "__call__":
        around = _plain(code).split(".")[:-1]
        return around[-1] if around else name
    return name


def library_name(code: CodeType) -> str:
    """A function of a library's as its users know it: of one that another one made, that one."""
    made_by, _, inner = code.co_qualname.partition(".<locals>.")
    return made_by if inner else function_name(code)


def _plain(code: CodeType) -> str:
    return code.co_qualname.rpartition("<locals>.")[2]


def without_number(name: str) -> str:
    """`Block` of `Block_3`, as flax numbers the modules in another one."""
    return _NUMBERED.sub("", name)


def name_of_line(frames: Iterable[Frame]) -> str:
    """What one line is called: by what it calls where that is all, else by its text; "" where the text cannot be had."""
    found = {frame.position for frame in frames}
    if len(found) == 1 and (called := _called(*found)):
        return called
    text = next(iter(found)).text.strip() if found else ""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"


@functools.lru_cache(1024)
def _called(position: Position) -> str:
    """`opt.update` of `opt.update(grads, state)`; "" of what is no call of a name. Of a call in several lines the first one tells it if that
    ends where its arguments begin."""
    if position.line != position.end_line:
        begun = position.text.encode()[position.column :].decode(errors="replace").strip()
        return begun[:-1] if re.fullmatch(r"[\w.]+\(", begun) else ""
    text = position.text.encode()[position.column : position.end_column].decode(errors="replace")
    try:
        call = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return ""
    if not isinstance(call, ast.Call):
        return ""
    name = ast.unparse(call.func)
    return name if re.fullmatch(r"[\w.]+", name) else ""


def name_of_values(differences: Sequence[Mapping[str, str]]) -> str:
    """What equal blocks are called by what they read: `layers` where one reads `params['layers'][0]['w']` and the next one that of
    `[1]`, `Block` where these are of `Block_0` and `Block_1`; "" where that does not tell."""
    found = {_differing(before, now) for pairs in differences[1:] for before, now in pairs.items() if before != now}
    names = found - {None}
    return names.pop() or "" if len(names) == 1 else ""


def _differing(before: str, now: str) -> str | None:
    """The name of the part in which two paths differ, "" where that has no name or they differ in several; None of what are no paths:
    values computed before."""
    one, other = parts_of(before), parts_of(now)
    if len(one) < 2 or len(other) < 2:
        return None
    places = [at for at, (a, b) in enumerate(zip(one, other)) if a != b]
    if len(one) != len(other) or len(places) != 1 or places[0] == 0:
        return ""
    part, around = one[places[0]], one[places[0] - 1]
    if part[1:-1].isdigit():
        return _bare(around)
    numbered = _KEY.fullmatch(part)
    return next(filter(None, numbered.groups()), "") if numbered else ""


def _bare(part: str) -> str:
    return part.strip("[]'\".")


def name_of_operations(names: Sequence[str]) -> str:
    """`mul, add` of what a block does: its operations, the most frequent ones first; of many kinds only so many."""
    kinds = sorted(set(names), key=lambda name: (-names.count(name), names.index(name)))
    if len(kinds) == 1 and len(names) > 1:
        return f"{len(names)} {kinds[0]}"
    return ", ".join(kinds[:3]) + (", …" if len(kinds) > 3 else "")
