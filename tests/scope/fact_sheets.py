"""What is known of each program of facts: its document, the page and the text made of it, and the compiler's own texts."""

from __future__ import annotations

import functools
import sys
from dataclasses import dataclass
from typing import NamedTuple

import pytest

import jitscope as jx
from jitscope.core import staging
from jitscope.core.source import is_internal
from jitscope_scope import observe
from jitscope_widgets import html, text, validate
from tests.extent import one_in
from tests.scope import fact_kinds, fact_models, fact_styles, fact_systems
from tests.scope.fact_algorithms import PROGRAMS
from tests.scope.page_of_facts import Page


__all__ = ["PROGRAMS", "Facts", "Recorded", "every", "made"]

assert fact_kinds.PROGRAMS is fact_models.PROGRAMS is fact_styles.PROGRAMS is fact_systems.PROGRAMS is PROGRAMS


class Recorded(NamedTuple):
    """An equation as it was recorded, in the line of the innermost frame of the user's, by Python's own frames."""

    file: str
    line: int
    primitive: str
    function: str


@dataclass
class Facts:
    document: dict
    jaxpr: str
    hlo: str
    xla: str
    """XLA's own text of the optimised program, with all that it knows."""
    recorded: list[Recorded]

    @functools.cached_property
    def page(self) -> Page:
        """What a reader sees on it."""
        return Page(html(self.document))

    @functools.cached_property
    def said(self) -> str:
        return text(self.document)


@functools.cache
def made(name):
    program = PROGRAMS[name]
    with jx.enable_x64(program.x64):
        return _made(program)


def _made(program):
    jx.clear_caches()  # an inner program that another one left here would be recorded in that one's lines
    recorded = []
    record = staging.JaxprTrace.record

    def noting(self, *given):
        frame = sys._getframe(1)
        while frame is not None and (is_internal(frame.f_code.co_filename) or frame.f_code is noting.__code__):
            frame = frame.f_back
        recorded.append(Recorded(frame.f_code.co_filename, frame.f_lineno, str(given[0]), frame.f_code.co_name))
        return record(self, *given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging.JaxprTrace, "record", noting)
        program.jit().trace(*program.args)
    jx.clear_caches()  # what was traced above has the function that notes in its stacks
    stage = program.jit().trace(*program.args)
    jx.block_until_ready(program.jit()(*program.args))
    row = next(r for r in reversed(list(observe.ledger())) if r.entry is not None and not r.nested)
    assert row.function == program.fun.__name__
    document = observe.compilation_document(row)
    validate(document)
    compiled = stage.lower().compile()
    (module,) = compiled.runtime_executable().hlo_modules()
    return Facts(document, str(stage.jaxpr), compiled.as_text(), module.to_string(), recorded)


every = pytest.mark.parametrize("facts", one_in(6, PROGRAMS), indirect=True)
"""A test of each program, at `make test` of every sixth; the fixture `facts` makes it."""
