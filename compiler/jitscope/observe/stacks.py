"""Call stacks of equations: the user's frames of a traceback, each stack and each position once."""

from __future__ import annotations

import functools
import site
import sys
import sysconfig
from itertools import pairwise
from types import CodeType
from typing import Any, NamedTuple

from ..core import source
from ..core.source import Position, is_internal, position_in


class Frame(NamedTuple):
    """A place in a function: its code and the byte offset of the instruction that ran."""

    code: CodeType
    offset: int

    @property
    def position(self) -> Position:
        return position_in(self.code, self.offset)


Stack = tuple[Frame, ...]
"""The user's frames, outermost first."""


Found = tuple[Stack, Frame | None, tuple[str, ...]]


class Stacks:
    """The stacks of handles. Equal ones are one object, so that they can be compared by identity."""

    def __init__(self) -> None:
        self._known: dict[Any, Found] = {None: ((), None, ())}
        self._frames: dict[tuple[int, int], Frame] = {}
        self._shared: dict[Stack, Stack] = {}

    def of(self, handle: Any) -> Stack:
        """The user's frames of a handle, outermost first. Those of installed libraries are left out unless there are no others;
        comprehensions are part of the function that runs them."""
        return self.found(handle)[0]

    def innermost(self, handle: Any) -> Frame | None:
        """The innermost of the user's frames, which may be a comprehension's."""
        return self.found(handle)[1]

    def transforms(self, handle: Any) -> tuple[str, ...]:
        """What made an equation from the one that was written at the handle: any of "jvp", "transpose", "vmap", in this order."""
        return self.found(handle)[2]

    def found(self, handle: Any) -> Found:
        """`of`, `innermost` and `transforms` at once."""
        found = self._known.get(handle)  # handles of one stack are equal
        if found is None:
            found = self._known[handle] = self._looked_up(handle)
        return found

    def _looked_up(self, handle: Any) -> Found:
        codes, offsets = handle.raw_frames()
        own = [(c, o) for c, o in zip(codes, offsets, strict=True) if not is_internal(c.co_filename)]
        own = [(c, o) for c, o in own if not is_installed(c.co_filename)] or own
        outer = [code for code, _ in own[1:]] + [None]
        stack = tuple(
            self._frame(*pair) for pair, around in reversed([*zip(own, outer)]) if not _is_part(pair[0], around)
        )
        transforms = source.in_order((*source.transforms_of(handle), *_transforms(codes)))
        return self._shared.setdefault(stack, stack), self._frame(*own[0]) if own else None, transforms

    def _frame(self, code: CodeType, offset: int) -> Frame:
        return self._frames.setdefault((id(code), offset), Frame(code, offset))


def _transforms(codes: list[CodeType]) -> tuple[str, ...]:
    """Which transformations' rules ran, from the innermost frame outwards."""
    pairs = pairwise(codes)
    return tuple(
        by for inner, code in pairs if (by := source.rules_run_by.get(code)) and inner.co_name not in _PASSED_ON
    )


_PASSED_ON = ("process", "record")


def _is_part(code: CodeType, around: CodeType | None) -> bool:
    """Whether code is a comprehension in the function that runs it: people see one function."""
    return code.co_name in _COMPREHENSIONS and around is not None and code in around.co_consts


_COMPREHENSIONS = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")


@functools.lru_cache(4096)
def is_installed(file: str) -> bool:
    """Whether a file belongs to Python or to an installed library."""
    return file.startswith((*_INSTALLED, "<frozen "))


def _folders() -> tuple[str, ...]:
    paths = {*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages()}
    libraries = {p for p in paths if "site-packages" in p or "dist-packages" in p}
    libraries |= {sysconfig.get_paths()["stdlib"], sysconfig.get_paths()["platstdlib"]}
    return tuple(f"{p}/" for p in sorted(libraries) if p not in (sys.prefix, sys.base_prefix))


_INSTALLED = _folders()
