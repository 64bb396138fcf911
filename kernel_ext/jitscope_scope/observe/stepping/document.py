"""The document of a trace that was followed."""

from __future__ import annotations

from types import CodeType

from jitscope.core import source
from jitscope.core.source import Position

from ...annotations import TraceCall, TraceCode, TraceDocument, TraceName, TraceStep
from ..positions import CellOf, position_document, sendable
from .branches import extent, skipped
from .frames import Call, Follower, Piece, Step
from .tapes import TapeText, Variable


_LINES = 400
"""Lines of a function that are kept."""


def document(name: str, follower: Follower, error: Exception | None, cell_of: CellOf) -> TraceDocument:
    """What was followed, as a document; `error` ended it."""
    return _Document(name, follower, error, cell_of).made()


class _Document:
    def __init__(self, name: str, follower: Follower, error: Exception | None, cell_of: CellOf) -> None:
        self.name, self.follower, self.error, self.cell_of = name, follower, error, cell_of
        self.codes: list[CodeType] = []
        self.written: dict[int, TapeText] = {}
        for tape in follower.met:
            self.written[id(tape)] = follower.tapes.written(tape)

    def made(self) -> TraceDocument:
        follower = self.follower
        calls = [self._call(call) for call in follower.calls]
        first = str(self.error).strip().partition("\n")[0] if self.error is not None else ""
        return {
            "kind": "trace",
            "version": 1,
            "function": sendable(self.name),
            "library": follower.tapes.library,
            "codes": [self._code(code) for code in self.codes],
            "calls": calls,
            "tapes": [
                {"name": sendable(one.name), "takes": one.takes, "lines": [sendable(line) for line in one.lines]}
                for one in (self.written[id(tape)] for tape in follower.met)
            ],
            "steps": [self._step(step) for step in follower.steps],
            "left_out": follower.left_out,
            "error": sendable(f"{type(self.error).__name__}: {first}") if self.error is not None else "",
        }

    def _call(self, call: Call) -> TraceCall:
        if call.code not in self.codes:
            self.codes.append(call.code)
        return {
            "code": self.codes.index(call.code),
            "depth": call.depth,
            "skipped": [
                {"first": first, "last": last, "why": why}
                for first, last, why in skipped(call.code, call.ran, call.failed)
            ],
        }

    def _code(self, code: CodeType) -> TraceCode:
        first, last = extent(code)
        last = min(last, first + _LINES - 1)
        file = code.co_filename
        lines = [source.line_of(file, number).rstrip("\n") for number in range(first, last + 1)]
        position = position_document(Position(file, first, last, 0, 0, code.co_name), self.cell_of)
        assert position is not None
        return {"function": sendable(code.co_name), "position": position, "lines": [sendable(line) for line in lines]}

    def _step(self, step: Step) -> TraceStep:
        met = self.follower.met
        numbers = {id(tape): number for number, tape in enumerate(met)}
        return {
            "kind": step.kind,
            "call": self.follower.calls.index(step.call),
            "line": step.line,
            "names": [self._name(*one) for one in step.names],
            "tapes": [{"tape": numbers[id(tape)], "length": length} for tape, length in step.tapes],
            "told": self._text(step.told),
            "printed": sendable(step.printed),
        }

    def _name(self, name: str, pieces: list[Piece], changed: bool) -> TraceName:
        traced = any(isinstance(piece, Variable) for piece in pieces)
        return {"name": sendable(name), "text": self._text(pieces), "traced": traced, "changed": changed}

    def _text(self, pieces: list[Piece]) -> str:
        return sendable("".join(piece if isinstance(piece, str) else self._variable(piece) for piece in pieces))

    def _variable(self, one: Variable) -> str:
        written = self.written.get(id(one.tape))
        literal = getattr(one.variable, "value", None)
        name = written.names.get(id(one.variable), "") if written is not None else ""
        if not name and literal is not None:
            name = str(literal)
        text = f"{name}:{one.type}" if name else one.type
        return f"{text} ({one.how})" if one.how else text
