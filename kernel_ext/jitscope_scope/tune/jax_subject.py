"""A program of jax's that is tuned: as far as `compiler_options` carry. Nothing is kept for later sessions: the user writes the options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from jitscope.backend.tuning_records import TuningRecord
from jitscope.core.errors import Unavailable
from jitscope.xla.choice import Choice

from ..jaxwatch import ask, with_options
from ..jaxwatch.programs import RawProgram
from ..observe import ledger
from ..observe.accelerators import name_of
from ..observe.rerunning import rerun_of
from .space import ProgramFacts


WHY_NOT = "jax keeps no such thing: the call with compiler_options has to stand in the code"


class JaxSubject:
    """A program of jax's."""

    library = "jax"

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]):
        self._asked = ask(ledger(), function, args, kwargs)
        row = self._asked.row
        executable = row.entry.executable
        self.name = row.function
        if executable.devices > 1:
            raise Unavailable(f"{self.name} runs on several devices: only programs of one device are tuned")
        given: Any = self._asked.given
        if device := name_of(row):
            raise Unavailable(f"{self.name} runs on {device}: the forms that are tried are for XLA's compiler for CPUs")
        self._rerun = rerun_of(row, given)
        if self._rerun.stand_ins:
            raise Unavailable(f"the arguments of {self.name} are gone: keep them in variables, and tune a call on them")
        self.on = self._rerun.on
        self._call = with_options(self._asked, {})
        self.jaxpr = row.needed("jaxpr")
        if self.jaxpr.effects:
            raise Unavailable(f"{self.name} has effects, so it is not run again and again: it is not tuned")
        own = dict(executable.own_options)
        self.known = ProgramFacts(own, own, lowers=False)
        self.outputs: Sequence[tuple[tuple[int, ...], str]] = [
            (tuple(shape), np.dtype(dtype).name) for shape, dtype in executable.outputs
        ]
        takes: Any = row.takes
        _, kept = takes.arguments
        self.donated: Sequence[int] = [kept.index(number) for number in takes.donated if number in kept]

    def arguments(self) -> list[np.ndarray]:
        """What it runs on."""
        return [np.asarray(buf) for buf in self._rerun.prepared()]

    def module(self, choice: Choice) -> bytes:
        """Its MLIR, as jax made it."""
        return self._asked.row.entry.as_given

    def options(self, choice: Choice) -> bytes:
        """jax's own options, and those of the choice."""
        return self._asked.row.entry.executable.options_with(dict(choice.flags))

    def runner(self, choice: Choice, code: bytes) -> tuple[Callable[[], list[Any]], Callable[[list[Any]], list[Any]]]:
        """Runs what jax runs, compiled here by jax's own compiler."""
        entry = self._asked.row.entry
        if not choice.flags:
            return self._rerun.prepared, self._rerun.run
        executable = RawProgram(entry.executable.compile_anew(entry.as_given, dict(choice.flags)))
        rerun = self._rerun._replace(entry=SimpleNamespace(executable=executable))
        return rerun.prepared, rerun.run

    def take(self, kept: TuningRecord, code: bytes, module: bytes, seconds: float) -> str:
        """Nothing is kept."""
        return WHY_NOT

    def call(self, choice: Choice | None) -> Callable[..., Any]:
        """The function, jitted with the options."""
        return self._call if choice is None else with_options(self._asked, {**self.known.flags, **dict(choice.flags)})

    def written(self, choice: Choice) -> str:
        """`jax.jit(f, compiler_options={…})`"""
        name = self.name if self.name.isidentifier() else "f"
        return f"jax.jit({name}, compiler_options={ {**self.known.flags, **dict(choice.flags)}!r})"
