"""What a run refutes of a look's alarms: a line that was traced and did not raise, and one that ran and was never traced."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from types import CodeType, FrameType, TracebackType
from typing import Any

from jitscope.core.staging import JaxprTrace
from jitscope.core.trace import chain_of, traced_by
from jitscope.transforms.vmap import BatchTrace

from ... import jaxwatch
from ..diagnostic import Diagnostic


_RAISING = frozenset(
    ("branch-on-tracer", "logical-op-on-tracer", "loop-on-tracer", "flag-arg-traced", "data-dependent-shape", "traced-shape-arg",
     "traced-slice-bound", "host-call-on-tracer", "item-assignment")
)  # fmt: skip
"""What raises in its own line where it is so."""
_WHILE_TRACING = _RAISING | {
    "trace-time-print", "trace-time-mutation", "host-nondeterminism", "isinstance-on-tracer", "tracer-leak",
}  # fmt: skip
"""What is so in a traced function alone."""
_Function = tuple[str, int, str]
"""The file, the first line and the name of a function's code."""
_Place = tuple[str, int]


class FunctionFollower:
    """Follows the functions that a look accuses while a program runs (`with Followed(…) as followed: …`). `place_of` gives the file that
    the running code has for a line of the text, and the line there."""

    def __init__(self, accused: Iterable[Diagnostic], text: str, place_of: Callable[[int], _Place]) -> None:
        self._place_of = place_of
        self._lines: dict[_Function, set[int]] = defaultdict(set)
        self._known: dict[CodeType, set[int] | None] = {}
        self._traced, self._ran, self._raised = set[_Place](), set[_Place](), set[_Place]()
        functions = _Functions(text)
        for one in accused:
            around = functions.around(one) if one.id in _WHILE_TRACING else None
            if around is not None:
                file, first = place_of(around[0])
                self._lines[file, first, around[1]] |= {place_of(line)[1] for line in _lines(one)}

    def __enter__(self) -> FunctionFollower:
        self._on = bool(self._lines) and sys.gettrace() is None
        if self._on:
            sys.settrace(self._called)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._on:
            sys.settrace(None)

    def refutes(self, one: Diagnostic, whole: bool) -> bool:
        """Whether the run showed that an alarm is none; `whole`: the program came to its end."""
        if one.id not in _WHILE_TRACING:
            return False
        places = {self._place_of(line) for line in _lines(one)}
        if places & self._raised:
            return False
        if places & self._traced:
            return one.id in _RAISING
        return whole and bool(places & self._ran)

    # --- what runs ----------------------------------------------------------------------------------------------------

    def _called(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if code not in self._known:
            self._known[code] = self._lines.get((code.co_filename, code.co_firstlineno, code.co_name))
        return self._line if self._known[code] else None

    def _line(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
        if frame.f_lineno in (self._known[frame.f_code] or ()):
            place = frame.f_code.co_filename, frame.f_lineno
            if event == "exception" and not issubclass(arg[0], StopIteration):
                self._raised.add(place)
            elif event == "line":
                (self._traced if _staging() else self._ran).add(place)
        return self._line


def _staging() -> bool:
    """Whether operations are recorded now, by the library or by jax, or done for all rows at once: values are not known then."""
    trace = traced_by()
    own = trace is not None and any(isinstance(one, JaxprTrace | BatchTrace) for one in chain_of(trace))
    return own or jaxwatch.staging()


def _lines(one: Diagnostic) -> range:
    return range(one.span.line, one.span.end_line + 1)


class _Functions:
    """The functions of a text and where their bodies are."""

    def __init__(self, text: str) -> None:
        nodes = ast.walk(ast.parse(text))
        self._all = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)]

    def around(self, one: Diagnostic) -> tuple[int, str] | None:
        """The first line and the name of the innermost function whose body a diagnostic is in; None where it is in none, or in what is
        run to define one."""
        at = one.span.line, one.span.column
        holding = [node for node in self._all if _first(node) <= at < (node.end_lineno or 0, node.end_col_offset or 0)]
        if not holding:
            return None
        inner = max(holding, key=_first)
        body = inner.body if isinstance(inner, ast.Lambda) else inner.body[0]
        if at < (body.lineno, body.col_offset):
            return None
        return _first(inner)[0], getattr(inner, "name", "<lambda>")


def _first(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> tuple[int, int]:
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    return min([(node.lineno, node.col_offset), *((one.lineno, 0) for one in decorators)])
