"""Marks: while jax lowers a program, each of its equations has a number as its outermost named scope.

jax writes named scopes into the names of operations, XLA carries these through its passes, and so the number says which equation
an instruction of the optimised program stems from. Nothing else in the program changes. A number belongs to an equation object for
as long as somebody lowers a program with it; the same object may be in several programs, which several threads lower at once.
"""

from __future__ import annotations

import itertools
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import private
from .walking import inner_jaxprs


MARK = re.compile(r"~([0-9a-z]+)\.(\d+)")
"""A mark in a name: the process that made it, and the number."""


class _MarkedEquation:
    __slots__ = ("eqn", "number", "original", "users")

    def __init__(self, eqn: Any, original: Any, number: int):
        self.eqn, self.original, self.number, self.users = eqn, original, number, 1


_lock = threading.RLock()
_marked: dict[int, _MarkedEquation] = {}
_numbers = itertools.count(1)
_process = (0, "")
tokens: list[str] = []
"""The tokens in the marks that programs in this process may have: its own, and those of the processes that it was forked from."""


def token() -> str:
    """What tells marks of this process from those of others, which jax's persistent cache brings."""
    global _process
    if _process[0] != os.getpid():
        digits, value = "", (os.getpid() * 1_000_003 + time.time_ns()) % 36**6
        for _ in range(6):
            value, digit = divmod(value, 36)
            digits += "0123456789abcdefghijklmnopqrstuvwxyz"[digit]
        _process = (os.getpid(), digits)
        tokens.append(digits)
    return _process[1]


class Marking(NamedTuple):
    """The equations of one program that is being lowered: their numbers by the identity of the equation, and the equations, so that
    identities stay theirs."""

    numbers: dict[int, int]
    equations: list[Any]


def put(jaxpr: Any) -> Marking:
    """Mark all equations of a program."""
    eqns = list(_equations(jaxpr))
    with _lock:
        numbers: dict[int, int] = {}
        scoped, prefix = private.scoping(), f"~{token()}."
        try:
            for eqn in eqns:
                numbers[id(eqn)] = _put(eqn, scoped, prefix)
        except BaseException:
            take(Marking(numbers, eqns))
            raise
        return Marking(numbers, eqns)


def _put(eqn: Any, scoped: Callable[[Any, str], Any], prefix: str) -> int:
    entry = _marked.get(id(eqn))
    if entry is not None:
        entry.users += 1
        return entry.number
    number, original = next(_numbers), eqn.source_info
    eqn.source_info = scoped(original, f"{prefix}{number}")
    _marked[id(eqn)] = _MarkedEquation(eqn, original, number)
    return number


def take(marking: Marking) -> None:
    """Give the equations of a program their own names back, unless another program needs the marks."""
    with _lock:
        for key in marking.numbers:
            entry = _marked.get(key)
            if entry is not None:
                entry.users -= 1
                if entry.users <= 0:
                    entry.eqn.source_info = entry.original
                    del _marked[key]


def sweep() -> int:
    """Take all marks away, of whomever; gives how many there were. For when no program is being lowered."""
    with _lock:
        count = len(_marked)
        for entry in _marked.values():
            entry.eqn.source_info = entry.original
        _marked.clear()
        return count


def original(eqn: Any) -> Any:
    """An equation's source information as jax made it."""
    entry = _marked.get(id(eqn))
    return eqn.source_info if entry is None or entry.eqn is not eqn else entry.original


def _equations(jaxpr: Any) -> Iterator[Any]:
    """All equations of a program, each object once."""
    met, todo = {id(jaxpr)}, deque([jaxpr])
    seen: set[int] = set()
    while todo:
        current = todo.popleft()
        for eqn in current.eqns:
            if id(eqn) not in seen:
                seen.add(id(eqn))
                yield eqn
            for _, inner, _ in inner_jaxprs(eqn.params) if eqn.params else ():
                if id(inner) not in met:
                    met.add(id(inner))
                    todo.append(inner)
