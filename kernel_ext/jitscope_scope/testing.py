"""Assertions on tracing and compiling, for tests. They fail with the explanation that `%recompiles` gives: which part of the key
changed, in which line, and what to do."""

from __future__ import annotations

import dis
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, cast

from jitscope.core import config, records, source
from jitscope.core.records import after_compiling

from .annotations import Cause
from .observe import Row, explanation, ledger
from .observe.recompiling.cards import because, proof
from .observe.recompiling.groups import Group
from .observe.recompiling.remedies import remedy


__all__ = ["TooManyCompilations", "TracedAgain", "assert_compiles", "limit_compilations", "no_tracing"]


class TooManyCompilations(AssertionError):
    """A function was compiled more often than a budget allows."""


class TracedAgain(AssertionError, RuntimeError):
    """A function was to be traced where nothing may be."""


class limit_compilations:
    """Context manager: no function may be compiled more than `most` times inside, in this thread; `function` alone, if it is
    given. The call that does raises TooManyCompilations, with the reason. Functions of the library do not count."""

    def __init__(self, most: int, function: Callable[..., Any] | None = None) -> None:
        self._most, self._function = _natural(most), None if function is None else _unwrapped(function)
        self._compiled: dict[Any, list[int]] = defaultdict(list)
        self._thread = 0

    @property
    def most(self) -> int:
        """How often a function may be compiled."""
        return self._most

    def __enter__(self) -> limit_compilations:
        self._thread = threading.get_ident()
        self._compiled.clear()
        after_compiling.append(self._count)
        return self

    def __exit__(self, *_: object) -> None:
        if self._count in after_compiling:
            after_compiling.remove(self._count)

    def _count(self, function: Any, number: int) -> None:
        if threading.get_ident() != self._thread:
            return
        own = _unwrapped(function)
        if own is not self._function if self._function is not None else source.position_of_function(own) is None:
            return
        numbers = self._compiled[getattr(own, "__code__", own)]  # a function made anew is the same one
        numbers.append(number)
        if len(numbers) > self._most:
            raise TooManyCompilations(_too_many(function._name, self._most, [*_rows(numbers)]))


class assert_compiles(limit_compilations):
    """Asserts that a function is compiled at most `n` times.

        with assert_compiles(f, 2): ...     in the block
        assert_compiles(f, 1, x, y)         in the call f(x, y), whose result it gives
        assert_compiles(f, 2)               so far, as a statement by itself

    A program that was known (from an equal function) is not a compilation. Raises TooManyCompilations, an AssertionError, in the call
    that is one too many; ValueError for an `n` below 0.
    """

    def __new__(cls, f: Callable[..., Any], n: int, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        if args or kwargs:
            with limit_compilations(n, f):
                return f(*args, **kwargs)
        if _thrown_away(sys._getframe(1)):
            made._so_far(f, n)
        return made

    def __init__(self, f: Callable[..., Any], n: int) -> None:
        super().__init__(n, f)

    def _so_far(self, f: Callable[..., Any], n: int) -> None:
        function = _unwrapped(f)
        own = [row for row in ledger() if not row.nested and _object(row) is function]
        compiled = [row for row in own if row.what in ("compiled", "recompiled")]
        if len(compiled) > _natural(n):
            raise TooManyCompilations(_too_many(compiled[-1].function, n, own))


def _natural(n: int) -> int:
    if n < 0:
        raise ValueError(f"a number of compilations is 0 or more, not {n}")
    return n


def _object(row: Row) -> Any:
    made = row.signature.made if row.signature else None
    return _unwrapped(made.object()) if made and made.object else None


def _unwrapped(function: Any) -> Any:
    """The user's function in what was compiled."""
    met: set[int] = set()
    while id(function) not in met:
        met.add(id(function))
        function = getattr(function, "__wrapped__", getattr(function, "__func__", getattr(function, "func", function)))
    return function


def _thrown_away(frame: FrameType) -> bool:
    """Whether the caller does nothing with the result of the call it makes now."""
    following = (one.opname for one in dis.get_instructions(frame.f_code) if one.offset > frame.f_lasti)
    return next(following, "") in ("POP_TOP", "PRINT_EXPR", "CALL_INTRINSIC_1")


def _rows(numbers: list[int]) -> Iterator[Row]:
    rows = ledger().rows
    return (rows[number] for number in numbers if number in rows)


def _too_many(name: str, most: int, rows: list[Row]) -> str:
    compiled = sum(row.what in ("compiled", "recompiled") for row in rows)
    times = "once" if compiled == 1 else f"{compiled:,} times"
    said = f"{name} was compiled {times}, and at most {most:,} {'is' if most == 1 else 'are'} allowed"
    reasons = explanation(rows) or "\n".join(f"{row.function}: {row.because}{_where(row)}" for row in rows)
    return f"{said}\n{reasons}"


def _where(row: Row) -> str:
    return source.position_text(row.call_site, ", in ")


@contextmanager
def no_tracing() -> Iterator[None]:
    """Context manager: inside, no function may be traced, in this thread or task. Raises TracedAgain (an AssertionError and a
    RuntimeError), with the reason."""
    before = ledger().mark()
    try:
        with config.override(no_tracing=True):
            yield
    except records.TracingRefused as error:
        failed = [row for row in ledger().since(before) if row.what == "failed"]
        raise TracedAgain(_traced(failed[-1]) if failed else str(error)) from error


def _traced(row: Row) -> str:
    said = f"{row.function} was to be traced{_where(row)}, and nothing may be traced here"
    if row.against is None:
        return f"{said}\n{row.function}: it was never traced before"
    group = Group(cast("Cause", row.cause), [row], [row.against])
    lines = [said, f"{row.function}: {because(group)}"]
    if (found := remedy(group)) is not None:
        lines += [f"  fix: {found.text}", *([f"  {proof(found)}"] if found.replay else [])]
    return "\n".join(lines)
