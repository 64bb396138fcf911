"""The transformations that a program went through, each with the programs before and after it: an instrument.

The function is traced once more with recording switched on; nothing of it is compiled or run, and nothing is filed.
"""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, cast

from jitscope.backend.call_arguments import CallArguments
from jitscope.control.callbacks import calls_python
from jitscope.core import call_sites
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import Jaxpr, subjaxprs
from jitscope.core.printing import Names
from jitscope.core.steps import Batched, Recorder, Step, recording_steps

from ..annotations import (
    BatchedOperation,
    CodeProgram,
    Origin,
    Position,
    ProgramLine,
    StepTransform,
    Transform,
    TransformationsDocument,
    TransformationStep,
)
from .batching import how_of, names_of, types_of
from .ledger import Ledger, Row, ledger as session_ledger
from .positions import CellOf, position_document, positions_of, sendable
from .stacks import Stacks
from .stepping.tapes import listed
from .timing import quantity


STEPS, LINES = 40, 300
"""The steps that a document holds, and the lines of each of its programs; how many more there are stands beside them."""


def instrument(row: Row, given: CallArguments | None = None) -> TransformationsDocument:
    """The transformations document of a row's program. Raises Unavailable where its function is gone or another library's, and
    where it calls Python while it runs: tracing it again might run such code again."""
    if row.library:
        raise Unavailable(
            f"{row.title} was traced by {row.library}, which does not tell what its transformations are given"
        )
    again = row.needed("again")
    jaxpr = row.jaxpr
    if jaxpr is not None and calls_python(jaxpr):
        raise Unavailable(
            f"{row.function} calls Python functions while it runs, so it is not traced again only to be looked at"
        )
    start = time.perf_counter()
    with recording_steps(Recorder(STEPS)) as found, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        again()
    ledger = session_ledger()
    writer = _Writer(ledger, jaxpr)
    steps = [writer.step(one) for one in found.steps]
    seconds = quantity(
        time.perf_counter() - start, "s", note="traced once more, each transformed function also by itself"
    )
    return {
        "kind": "transformations",
        "version": 1,
        "title": row.title,
        "steps": steps,
        "left_out": found.left_out,
        "missed": [sendable(why) for why in dict.fromkeys(found.missed)],
        "origins": writer.origins,
        "cost": seconds,
    }


class _Writer:
    """Writes programs as lines; `origins` are the places they were written at, by number."""

    def __init__(self, ledger: Ledger, compiled: Jaxpr | None):
        self.cell_of: CellOf = ledger.cell_of
        self.origins: list[Origin] = []
        self.known: dict[Any, int] = {}
        self.paths: dict[Any, list[str]] = {}
        self.stacks = Stacks()
        for path, position in positions_of(compiled, ledger.cell_of, self.stacks).items() if compiled else ():
            self.paths.setdefault(_key(position), []).append(path)

    def step(self, step: Step) -> TransformationStep:
        told: TransformationStep = {
            "transform": cast("StepTransform", step.transform),
            "function": sendable(step.function),
            "depth": step.depth,
            "before": self.program("", step.before),
            "after": [self.program(title, jaxpr) for title, jaxpr in step.after],
        }
        if step.batched:
            told["batched"] = list(map(self._batched, step.batched[:LINES]))
            told["batched_left_out"] = max(0, len(step.batched) - LINES)
        return told

    def _batched(self, batched: Batched) -> BatchedOperation:
        one, whole, axis = types_of(batched)
        return {
            "operation": sendable(batched.eqn.primitive.name),
            "origin": self._origin(batched.eqn.traceback),
            "one": one,
            "all": whole,
            "axis": axis,
            "how": how_of(batched),
            "made": [sendable(name) for name in names_of(batched)],
        }

    def program(self, title: str, jaxpr: Jaxpr) -> CodeProgram:
        lines = list(self._lines(jaxpr))
        return {"title": title, "lines": lines[:LINES], "left_out": max(0, len(lines) - LINES)}

    def _lines(self, jaxpr: Jaxpr) -> Iterator[ProgramLine]:
        names = Names(jaxpr, brief=True)
        yield from self._inside(jaxpr, names, "", "")

    def _inside(self, jaxpr: Jaxpr, names: Names, what: str, indent: str) -> Iterator[ProgramLine]:
        """A program, `what` of the equation that holds it."""
        yield _bare(f"{indent}{what and what + ' '}takes {listed(jaxpr.constvars + jaxpr.invars, names) or 'nothing'}")
        for eqn in jaxpr.eqns:
            yield {
                "text": indent + sendable(names.line(eqn).strip()),
                "origin": self._origin(eqn.traceback),
                "transforms": cast("list[Transform]", list(call_sites.transforms_of(eqn.traceback))),
            }
            for segment, sub in subjaxprs(eqn.params):
                yield from self._inside(sub.jaxpr, names, segment, f"{indent}  ")
        yield _bare(f"{indent}gives {listed(jaxpr.outvars, names) or 'nothing'}")

    def _origin(self, handle: Any) -> int | None:
        frame = self.stacks.innermost(handle)
        if frame is None:
            return None
        where = frame.position
        if where not in self.known:
            position = position_document(where, self.cell_of)
            assert position is not None
            self.known[where] = len(self.origins)
            self.origins.append({"position": position, "paths": self.paths.get(_key(position), [])})
        return self.known[where]


def _key(position: Position) -> tuple[Any, ...]:
    return tuple(position[name] for name in ("file", "line", "end_line", "column", "end_column"))


def _bare(text: str) -> ProgramLine:
    return {"text": text, "origin": None, "transforms": []}
