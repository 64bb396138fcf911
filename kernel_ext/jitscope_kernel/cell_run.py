"""A cell that runs now, and what was asked for in it."""

from __future__ import annotations

import dataclasses
import time
from typing import Any

from jitscope_scope import jaxwatch, observe
from jitscope_scope.testing import limit_compilations

from .eager_runs import EagerRuns
from .live import Live
from .nans import NanWatch
from .versus import Versus
from .wrapping import Plan


@dataclasses.dataclass
class CellRun:
    """A cell that runs now."""

    info: Any
    place: tuple[str, str | None]  # label such as "In [3]", Jupyter's cell id
    file: str  # the name of its code
    since: observe.Mark
    compiled: frozenset[int]  # programs there were before
    calls: jaxwatch.Calls | None = None
    eager: EagerRuns | None = None
    ran: str = ""
    called: dict[str, int] = dataclasses.field(default_factory=dict)
    plans: list[Plan] = dataclasses.field(default_factory=list)
    quiet: bool = False
    live: Live | None = None
    budget: limit_compilations | None = None
    nans: NanWatch | None = None
    instruments: tuple[str, ...] = ()
    arguments: dict[int, list[Any]] = dataclasses.field(default_factory=dict)  # of the calls that it looks at, by row
    versus: Versus | None = None
    target: str | None = None
    tuning: frozenset[str] = frozenset()
    began: float = dataclasses.field(default_factory=time.perf_counter)

    def hold(self, row: observe.Row) -> None:
        """Where instruments run a program again, the arguments of its call stay until they have: most calls write over some of them."""
        if row.given is not None and (self.instruments or self.tuning):
            self.arguments[row.id] = row.given.held()

    def end(self) -> None:
        """What held while it ran holds no more."""
        if self.budget is not None:
            self.budget.__exit__()
        if self.calls is not None:
            self.called, self.calls = self.calls.end(), None
        if self.eager is not None:
            self.ran, self.eager = self.eager.end(), None
