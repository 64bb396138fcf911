"""Following the user's functions while they are traced: after each line, what the frame holds and how long the tapes are."""

from __future__ import annotations

import dataclasses
import io
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Literal

import numpy as np

from jitscope.core import source
from jitscope.core.avals import aval_of

from .tapes import Tapes, Variable


MOST_STEPS = 200
"""The steps that are kept; later lines still count as run."""
_MOST_NAMES = 24
_MOST_PARTS = 4
_DEEPEST = 2
_LONGEST = 40

Piece = str | Variable
"""What a name stands for is told in pieces: words, and variables of tapes."""


@dataclasses.dataclass(eq=False)
class Call:
    """One call of a user's function."""

    code: CodeType
    depth: int
    ran: set[int] = dataclasses.field(default_factory=set)
    """The lines that ran."""
    line: int | None = None
    """The line that runs now."""
    failing: BaseException | None = None
    failed: int | None = None
    """The line in which an error ended it."""
    before: dict[str, Any] = dataclasses.field(default_factory=dict)
    """What the names stood for at the last step: to tell what changed."""


@dataclasses.dataclass(eq=False)
class Step:
    """What there was to see at one moment."""

    kind: Literal["line", "call", "return", "error"]
    call: Call
    line: int
    names: list[tuple[str, list[Piece], bool]]
    """Name, what it stands for, whether that changed."""
    tapes: list[tuple[Any, int]]
    told: list[Piece]
    printed: str


class Follower:
    """Runs a function while it looks at the frames of the user's functions that are called."""

    def __init__(self, tapes: Tapes) -> None:
        self.tapes = tapes
        self.printed = io.StringIO()
        self.steps: list[Step] = []
        self.calls: list[Call] = []
        self.left_out = 0
        self._stack: list[tuple[FrameType, Call]] = []
        self._open: list[Any] = []
        self._of_trees: FrameType | None = None
        self.met: list[Any] = []
        """All tapes, in the order in which they began."""

    def run(self, function: Callable[[], Any]) -> Exception | None:
        """Call the function; gives the error that it raised."""
        before = sys.gettrace()
        sys.settrace(self._began)
        try:
            function()
        except Exception as error:
            return error
        finally:
            sys.settrace(before)
        return None

    def _began(self, frame: FrameType, event: str, _arg: Any) -> Any:
        if event != "call" or self._of_trees is not None or not _is_followed(frame.f_code):
            return None
        if self.tapes.is_of_trees(frame.f_code):
            self._of_trees = frame
            return self._passed
        if self._stack and (caller := self._stack[-1][1]).line is not None:
            self._look("call", self._stack[-1][0], caller, caller.line, [f"calls {frame.f_code.co_name}"])
        call = Call(frame.f_code, len(self._stack))
        self.calls.append(call)
        self._stack.append((frame, call))
        return self._happened

    def _passed(self, frame: FrameType, event: str, _arg: Any) -> Any:
        """Nothing is looked at in code of trees, nor in what that calls."""
        if event == "return":
            self._of_trees = None
        return self._passed

    def _happened(self, frame: FrameType, event: str, arg: Any) -> Any:
        call = next((one for of, one in reversed(self._stack) if of is frame), None)
        if call is None:
            return None
        if event == "line":
            self._finish(frame, call)
            call.failing, call.line = None, frame.f_lineno
            call.ran.add(frame.f_lineno)
        elif event == "exception":
            call.failing = arg[1]
        elif event == "return":
            self._end(frame, call, arg)
        return self._happened

    def _finish(self, frame: FrameType, call: Call) -> None:
        if call.line is not None:
            self._look("line", frame, call, call.line, [])

    def _end(self, frame: FrameType, call: Call, result: Any) -> None:
        line = call.line or frame.f_lineno
        if call.failing is None:
            self._finish(frame, call)
            self._look("return", frame, call, line, self._told(result))
        else:
            call.failed = frame.f_lineno
            if not self.steps or self.steps[-1].kind != "error":
                self._look("error", frame, call, frame.f_lineno, [_error_text(call.failing)])
        call.line = None
        while self._stack and self._stack.pop()[0] is not frame:
            pass

    def _look(self, kind: Any, frame: FrameType, call: Call, line: int, told: list[Piece]) -> None:
        if len(self.steps) >= MOST_STEPS and kind != "error":
            self.left_out += 1
            return
        names = [] if kind == "return" else self._names(frame, call)
        printed = self.printed.getvalue()
        self.printed.seek(0)
        self.printed.truncate()
        self.steps.append(Step(kind, call, line, names, self._tapes(), told, printed))

    def _tapes(self) -> list[tuple[Any, int]]:
        tape = self.tapes.current()
        if tape is None:
            self._open.clear()
        elif any(one is tape for one in self._open):
            while self._open[-1] is not tape:
                self._open.pop()
        else:
            self._open.append(tape)
            if not any(one is tape for one in self.met):
                self.met.append(tape)
        return [(one, self.tapes.length(one)) for one in self._open]

    def _names(self, frame: FrameType, call: Call) -> list[tuple[str, list[Piece], bool]]:
        known = {name: value for name, value in dict(frame.f_locals).items() if not name.startswith((".", "__"))}
        order = [name for name in (*frame.f_code.co_varnames, *frame.f_code.co_cellvars) if name in known]
        found = []
        for name in list(dict.fromkeys(order))[:_MOST_NAMES]:
            value = known[name]
            changed = name not in call.before or call.before[name] is not value
            call.before[name] = value
            found.append((name, self._told(value), changed))
        return found

    def _told(self, value: Any, depth: int = 0) -> list[Piece]:
        """What a value is, without calling any of the user's code."""
        variable = self.tapes.variable(value)
        if variable is not None:
            return [variable]
        kind = type(value)
        if kind in (tuple, list):
            return self._several(
                "(", ")" if kind is tuple else "]", [[self._part(x, depth)] for x in value[:_MOST_PARTS]], value
            )
        if kind is dict:
            parts = [[f"{_short(key)}: ", self._part(x, depth)] for key, x in list(value.items())[:_MOST_PARTS]]
            return self._several("{", "}", parts, value)
        return [plain(value)]

    def _part(self, value: Any, depth: int) -> list[Piece]:
        return self._told(value, depth + 1) if depth < _DEEPEST else ["…"]

    def _several(self, begin: str, end: str, parts: list[Any], value: Any) -> list[Piece]:
        pieces: list[Piece] = ["[" if end == "]" else begin]
        for n, part in enumerate(parts):
            pieces += [", "] if n else []
            for one in part:
                pieces += one if isinstance(one, list) else [one]
        if len(value) > len(parts):
            pieces.append(f", … {len(value) - len(parts)} more")
        return [*pieces, ",)" if end == ")" and len(value) == 1 else end]


def plain(value: Any) -> str:
    """A value that Python knows, in a few words: numbers and texts as they are written, arrays by their type."""
    if value is None or type(value) in (bool, int, float, complex, str, bytes):
        return _short(value)
    if type(value) is np.ndarray or isinstance(value, np.generic):
        return f"NumPy's {value.dtype}[{','.join(map(str, value.shape))}]" if np.ndim(value) else _short(value.item())
    try:
        if hasattr(type(value), "aval"):
            return f"an array {aval_of(value).short()}"
    except Exception:  # an object that only looks like an array
        return f"a {type(value).__name__}"
    name = getattr(value, "__qualname__", None) if callable(value) else None
    if type(value).__name__ == "module":
        return f"module {value.__name__}"
    return f"function {name.rpartition('.')[2]}" if isinstance(name, str) else f"a {type(value).__name__}"


def _short(value: Any) -> str:
    text = (
        repr(value)
        if type(value) in (bool, int, float, complex, str, bytes, type(None))
        else f"a {type(value).__name__}"
    )
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _error_text(error: BaseException) -> str:
    first = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _is_followed(code: CodeType) -> bool:
    file = code.co_filename
    return source.is_users(file) and not source.is_installed(file) and bool(source.line_of(file, code.co_firstlineno))
