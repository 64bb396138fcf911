"""What the runs of jax's programs show: integers that wrapped, indices out of bounds, the first NaN, derivatives that are not
finite, captured values that changed, random keys used twice.

Of a program those equations alone are evaluated that lead to one worth a look; all of them where its results have a NaN.
"""

from __future__ import annotations

from collections import Counter
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np

from jitscope.core import call_sites, dtypes, notices, source
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import JaxprEqn, backward_slice, walk
from jitscope.core.source import Position
from jitscope.xla import tracebacks

from ... import jaxwatch
from ...jaxwatch import Run
from ...observe.values import MEMORY
from ...observe.values.evaluation import EvaluationStop, Follower
from ...observe.values.summary import numbers
from ..nans.by_parts import PartsReport
from ..nans.report import where_around
from .captures import Captures
from .few_digits import LostDigits
from .jax_keys import KeysOfJax
from .nans import FIXES, SLOPES, tell_report
from .values import CHECKS, OF_INDICES, Check, LibraryFrames


_SECONDS, _MOST_HUNTS, _MOST_LOOKS = 20.0, 3, 200
_LAYERS = ("flax", "equinox")
"""Libraries whose layers index with what they are given."""


class JaxLooks:
    """Looks at what jax runs (a `jaxwatch.Looker`)."""

    def __init__(self, captures: Captures) -> None:
        self._captures, self._keys = captures, KeysOfJax()
        self._looks, self._hunts = Counter[int](), Counter[int]()
        self._bad_lines: set[tuple[str, int]] = set()

    def traced(self, anchor: Any, fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._captures.traced(anchor, fun, args, kwargs)

    def ran(self, run: Run) -> None:
        self._captures.ran(run.program.anchor, run.program.name, [], [])
        if run.part:
            self._look_at_slopes(run)
            return
        self._keys.ran(run)
        self._look_for_nans(run)
        self._look_at_values(run)

    # --- values that are not finite ---------------------------------------------------------------------------------------

    def _look_for_nans(self, run: Run) -> None:
        results = list(map(numbers, run.results))
        if not any(map(_is_bad, results)) or any(map(_is_nan, map(numbers, run.evaluable.arrays))):
            return
        number = id(run.program)
        self._hunts[number] += 1
        if self._hunts[number] > _MOST_HUNTS:
            return
        if any(map(_is_nan, results)):
            self._bad_lines |= {(frame.f_code.co_filename, frame.f_lineno) for frame in run.stack()}
        try:
            report = PartsReport(run.program.name, run.evaluable, run.results, seconds=_SECONDS)
        except (RuntimeError, ValueError, Unavailable):
            return
        with notices.placed(run.site if run.program.of_library else None):
            tell_report(report, run.program.of_library, results)

    def _look_at_slopes(self, run: Run) -> None:
        """A piece of a backward pass outside of jit: the first result that is not finite is told, once in each line that
        differentiates, unless the function itself was not finite."""
        results = list(map(numbers, run.results))
        line = (run.site.file, run.site.line) if run.site is not None else None
        if run.backward is None or line is None or line in self._bad_lines or not any(map(_is_bad, results)):
            return
        self._bad_lines.add(line)
        nan = any(map(_is_nan, results))
        kind = "where-grad-nan" if where_around(run.backward) is not None else "grad-singular-point"
        notices.tell(kind, SLOPES.format(what="NaN" if nan else "infinite"), FIXES[kind], run.backward)

    # --- integers and indices -----------------------------------------------------------------------------------------------

    def _look_at_values(self, run: Run) -> None:
        looks = _Looks(run)
        worth = looks.worth()
        self._looks[id(run.program)] += bool(worth)
        if not worth or self._looks[id(run.program)] > _MOST_LOOKS:
            return
        closed = run.evaluable.closed
        evaluation = run.evaluable.evaluation(_SECONDS, MEMORY)
        evaluation.followers.append(looks)
        needed = backward_slice(closed.jaxpr, {int(path.partition("/")[0][1:]) for path in worth})
        try:
            evaluation.program(closed, run.evaluable.arrays, needed)
        except (EvaluationStop, Unavailable):
            return


class _Looks(Follower):
    """Follows the evaluation of a run, and looks at each equation that its user wrote."""

    def __init__(self, run: Run) -> None:
        self._run, self._eqns = run, dict(walk(run.program.translation.jaxpr))
        self._places: dict[str, tuple[Position | None, list[CodeType]]] = {}
        self._digits = LostDigits(run.program.translation.jaxpr)

    def worth(self) -> list[str]:
        """The paths of equations to look at."""
        eqns = self._eqns.items()
        return [path for path, eqn in eqns if self._check(eqn, path) is not None or self._adds_up(eqn, path)]

    def equation(
        self, eqn: JaxprEqn, path: str, operands: list[Any], values: list[Any], iterations: tuple[int, ...]
    ) -> None:
        check, adds_up = self._check(eqn, path), self._adds_up(eqn, path)
        if not (check or adds_up) or any(dtypes.is_extended(a.aval.dtype) for a in (*eqn.invars, *eqn.outvars)):
            return
        given, found = list(map(numbers, operands)), list(map(numbers, values))
        if any(x is None for x in (*given, *found)):
            return
        own = self._run.program.translation.equation_of[id(eqn)]
        if adds_up and (said := self._digits.look(eqn, own.params, path, iterations, given, found)) is not None:  # pyright: ignore[reportArgumentType]
            notices.tell(*said, self._place(path)[0])
        if check is None:
            return
        handle = call_sites.made_by("vmap", eqn.traceback) if self._run.mapped else eqn.traceback
        looked = SimpleNamespace(primitive=eqn.primitive, params=own.params, invars=eqn.invars, traceback=handle)
        said = check(looked, given, found)  # pyright: ignore[reportArgumentType]
        if said is not None:
            notices.tell(*said, self._place(path)[0])

    def _adds_up(self, eqn: JaxprEqn, path: str) -> bool:
        """Whether it is a sum in 16 bits that the user wrote, or had jax's functions make."""
        return self._digits.concerns(eqn) and all(source.is_internal(code.co_filename) for code in self._place(path)[1])

    def _check(self, eqn: JaxprEqn, path: str) -> Check | None:
        """What looks at an equation that the user wrote; None where nothing does."""
        check = CHECKS.get(eqn.primitive.name)
        if check is None or not _is_of_integers(check, eqn):
            return None
        _, codes = self._place(path)
        own = [code for code in codes if source.is_internal(code.co_filename)]
        others = [code.co_filename for code in codes if not source.is_internal(code.co_filename)]
        called = next((code for code in reversed(own) if jaxwatch.room_of(code)), None)
        if check in OF_INDICES and called is not None and jaxwatch.room_of(called) not in ("lax", "numpy"):
            return None  # `jax.ops`, `jax.nn` and their like index as they mean to
        if others and not (check in OF_INDICES and all(_is_layer(file) for file in others)):
            return None
        return check if LibraryFrames(own).is_the_users(check, eqn) else None

    def _place(self, path: str) -> tuple[Position | None, list[CodeType]]:
        """The user's line of an equation, and the code between, of the equation, of what holds it, of what runs the program."""
        if path not in self._places:
            codes: list[CodeType] = []
            self._places[path] = self._outwards(path, codes), codes
        return self._places[path]

    def _outwards(self, path: str, codes: list[CodeType]) -> Position | None:
        program = self._run.program
        while path:
            for code, lasti in self._frames(path):
                if source.in_program(code.co_filename):
                    if program.of_library:  # it was traced for another line first
                        break
                    return source.position_in(code, lasti)
                codes.append(code)
            path = path.rpartition("/")[0]
        codes += self._run.passed()
        return self._run.site

    def _frames(self, path: str) -> list[tuple[CodeType, int]]:
        if path not in self._eqns:
            return []
        eqn = self._run.program.translation.equation_of[id(self._eqns[path])]
        return tracebacks.frames(eqn.source_info.traceback)


def _is_layer(file: str) -> bool:
    return any(f"/{library}/" in file for library in _LAYERS)


def _is_of_integers(check: Check, eqn: JaxprEqn) -> bool:
    """Whether an equation reads by an index, or gives integers of up to 32 bits."""
    if check in OF_INDICES or eqn.primitive.name in ("cond", "clamp"):
        return True
    kinds = [getattr(a.aval.dtype, "kind", "") for a in (*eqn.invars[:1], *eqn.outvars[:1])]
    return "i" in kinds or "u" in kinds


def _is_nan(x: np.ndarray | None) -> bool:
    return x is not None and x.dtype.kind in "fc" and bool(np.isnan(x).any())


def _is_bad(x: np.ndarray | None) -> bool:
    return x is not None and x.dtype.kind in "fc" and not bool(np.isfinite(x).all())
