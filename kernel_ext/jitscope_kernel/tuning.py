"""`jitscope.tune(f)(x)` and `%tune f(x)`: a program compiled in other ways, raced against itself, and the faster one kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Sequence
from typing import Any

from jitscope.core.errors import Unavailable
from jitscope_scope import observe
from jitscope_scope.observe.timing import quantity
from jitscope_scope.regions.answers import Sameness
from jitscope_scope.tune import Outcome, Tuning, forget, forget_row, tune as race
from jitscope_scope.tune.racing import CLEARLY
from jitscope_scope.tune.same import Same
from jitscope_scope.tune.subjects import OwnSubject, Subject, subject_of_row
from jitscope_widgets.documents.annotations import RegionSame, TunedForm, TuningDocument
from jitscope_widgets.words import reason

from . import output
from .document_views import DocumentView
from .uses import call_is_for_jax


SECONDS = 20.0
METHOD = (
    "each form is compiled and checked in a process of its own and runs there in pairs with the program as it was, in random order; after each "
    "round the slower half is out. The best one runs in this process once more, on new pairs: what is said of it is of these, and it is "
    f"taken only if its interval ends below {CLEARLY}. Ratios are Hodges-Lehmann estimates, intervals those of Wilcoxon's signed ranks"
)
_HALF = (
    "A number passes if it is off by at most half of the digits of its dtype (3.5e-4 for float32, 1.5e-8 for float64), relative to itself or "
    "to the root mean square of its array; whole numbers, NaN and infinities have to be the same."
)


class Ratio(float):
    """The time of the tuned program as a part of that of the plain one, with the 99 % `interval`: (low, high)."""

    interval: tuple[float, float]

    def __new__(cls, value: float, interval: tuple[float, float]) -> Ratio:
        made = super().__new__(cls, value)
        made.interval = interval
        return made


class Tuned(DocumentView["TuningDocument"]):
    """What came of tuning a call: `call` is the function, compiled as was found best; where nothing helped, as before. Shows itself as a
    card."""

    document: TuningDocument

    def __init__(self, found: Tuning, call: Callable[..., Any]) -> None:
        self._found = found
        self.call = call
        super().__init__(document_of(found))

    @property
    def ratio(self) -> Ratio:
        """The time of `call` as a part of the plain program's, from the last run-off, with `.interval`; 1 where nothing was taken."""
        return Ratio(1.0 if self.taken is None else self.taken.ratio or 1.0, self.interval)

    @property
    def interval(self) -> tuple[float, float]:
        """The 99 % interval of the ratio: (low, high); (1, 1) where nothing was taken."""
        return (1.0, 1.0) if self.taken is None or self.taken.interval is None else self.taken.interval

    @property
    def tried(self) -> list[Outcome]:
        """Every form that was thought of: `name`, `ratio`, `interval`, `outcome`, `why`, `same`; fastest first."""
        return list(self._found.tried)

    @property
    def taken(self) -> Outcome | None:
        """The form that was taken; None: nothing helped."""
        return self._found.taken

    @property
    def same(self) -> Sameness:
        """How far the results of `call` were from the plain program's: `max_abs`, `max_rel`, `bits`, `ulp`."""
        found = (self.taken.same if self.taken is not None else None) or Same()
        return Sameness(found.max_abs, found.max_rel, found.bits, found.ulp, found.max_abs)


def tune(
    function: Callable[..., Any], *, seconds: float = SECONDS, tolerance: float | None = None
) -> Callable[..., Tuned]:
    """`tune(f)(x)` races other ways to compile `f` for these arguments for about so many `seconds`, and keeps the fastest if it is faster
    beyond doubt: from then on `f` is compiled so, in this session and in later ones. `f` may be a function written for jax, too: its
    result's `call` is jitted with compiler_options.

    The function is traced; its program runs many times on these arguments, first in a process of its own. `tolerance`: the relative
    difference of results that is allowed, in place of half of their digits; 0 for none at all.

    Raises TypeError for what is no function and for seconds or a tolerance that are no numbers, ValueError where these are negative,
    Unavailable for a program that may not be run again, of several devices, or that runs on references.
    """
    _check(function, seconds, tolerance)

    def tune_call(*args: Any, **kwargs: Any) -> Tuned:
        with Progress() as progress:
            return tuning_of(function, args, kwargs, seconds, tolerance, progress.tell)

    return tune_call


def untune(function: Callable[..., Any]) -> Callable[..., bool]:
    """`untune(f)(x)` forgets what `tune(f)(x)` kept: the program is compiled as the rules say again, in this session and in later ones.
    Gives whether there was something to forget. Raises TypeError for what is no function, Unavailable as `tune`."""
    _check(function, SECONDS, None)

    def untune_call(*args: Any, **kwargs: Any) -> bool:
        if call_is_for_jax(function, args, kwargs):
            return False
        return forget(function, args, kwargs)

    return untune_call


def _check(function: Any, seconds: Any, tolerance: Any) -> None:
    if not callable(function):
        raise TypeError(f"tune takes a function, not a {type(function).__name__}: tune(f)(x)")
    for name, value in (("seconds", seconds), ("tolerance", tolerance)):
        if value is None and name == "tolerance":
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"{name} is a number, not a {type(value).__name__}")
        if not 0 <= value < float("inf"):
            raise ValueError(f"{name} is a number from 0, not {value}")


def tuning_of(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    seconds: float,
    tolerance: float | None,
    told: Callable[[str], None],
) -> Tuned:
    """What comes of tuning a call; see `tune`."""
    subject = subject_of(function, args, kwargs)
    found = race(subject, seconds, tolerance, told)
    return Tuned(found, subject.call(found.taken.choice if found.taken else None))


def subject_of(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Subject:
    """The program of a call, jitscope's or jax's. Raises Unavailable as `tune`."""
    if call_is_for_jax(function, args, kwargs):
        from jitscope_scope.tune.jax_subject import JaxSubject

        return JaxSubject(function, args, kwargs)
    return OwnSubject.of_call(function, args, kwargs)


def document_of(found: Tuning) -> TuningDocument:
    """The document of what came of tuning a program."""
    bound = (
        _HALF if found.tolerance is None else f"A number passes if it is off by at most {found.tolerance:g} of itself."
    )
    return {
        "kind": "tuning",
        "version": 1,
        "title": found.name,
        "library": found.library,
        "taken": None if found.taken is None else found.taken.name,
        "plain": quantity(found.plain_s, "s", note="the fastest of the first runs"),
        "tried": [_form(one) for one in found.tried],
        "bound": bound,
        "stopped": found.stopped,
        "on": found.on,
        "kept": found.kept,
        "written": found.written,
        "method": METHOD,
        "compilations": found.compilations,
        "limit": quantity(found.limit, "s", note="as it was asked for"),
        "cost": quantity(found.seconds, "s", note="wall time of tuning"),
    }


def _form(one: Outcome) -> TunedForm:
    low, high = one.interval or (None, None)
    return {
        "name": one.name,
        "outcome": one.outcome,
        "why": one.why,
        "ratio": one.ratio,
        "low": low,
        "high": high,
        "pairs": one.pairs,
        "same": None if one.same is None else _same(one.same),
        "share": None if one.same is None else one.same.share,
        "compile": quantity(one.compile_s, "s", note="XLA, in a process of its own"),
        "memory": quantity(None if one.memory is None else float(one.memory), "B", "modelled", "as XLA plans it"),
    }


def _same(found: Same) -> RegionSame:
    return {"max_abs": found.max_abs, "max_rel": found.max_rel, "bits": found.bits, "ulp": found.ulp}


class Progress:
    """What is being done, on one line: in a terminal it is written over, in a notebook it stands in the place of the card to come."""

    def __init__(self, place: output.Place | None = None) -> None:
        self._place, self._start, self._said = place, time.perf_counter(), ""

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._said and self._place is None and sys.stderr.isatty():
            print(f"\r{' ' * len(self._said)}\r", end="", file=sys.stderr, flush=True)

    def tell(self, doing: str) -> None:
        """Say what is being done now."""
        line = (
            f"jitscope tunes, {time.perf_counter() - self._start:.0f} s: {doing} (Ctrl-C ends it, nothing is changed)"
        )
        if self._place is not None:
            self._place.show_line(line)
        elif sys.stderr.isatty():
            print(f"\r{line.ljust(len(self._said))}", end="", file=sys.stderr, flush=True)
        self._said = line


def show_call(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    seconds: float,
    tolerance: float | None,
) -> None:
    """`%tune f(x)`: progress, and the card in its place."""
    _check(function, seconds, tolerance)
    _show(lambda told: tuning_of(function, args, kwargs, seconds, tolerance, told).document)


def show_rows(rows: Sequence[observe.Row], asked: Collection[str]) -> None:
    """What `%%jit --untune` ("untune") and `--tune` ("tune") asked for, of each program of the cell."""
    for row in rows:
        if "untune" in asked:
            forget_shown(row)
        if "tune" in asked:
            show_row(row, SECONDS)


def show_row(row: observe.Row, seconds: float) -> None:
    """`%%jit --tune`: the card of one of the cell's programs, or why there is none."""
    try:
        subject = subject_of_row(row)
        _show(lambda told: document_of(race(subject, seconds, None, told)))
    except Unavailable as missing:
        output.say(f"jitscope: {row.function} is not tuned: {missing}")
    except Exception as problem:
        output.say(f"jitscope: {row.function} could not be tuned: {reason(problem)}")


def forget_shown(row: observe.Row) -> None:
    """`%%jit --untune`: forget what a program of the cell was tuned to, and say so."""
    try:
        known = forget_row(row)
    except Unavailable as missing:
        return output.say(f"jitscope: {row.function} cannot be untuned: {missing}")
    output.say(forgotten(row.function, known))


def forgotten(name: str, known: bool) -> str:
    """What `--untune` says."""
    if known:
        return f"jitscope: what {name} was tuned to is forgotten; it is compiled as the rules say again."
    return f"jitscope: {name} was not tuned for such arguments: there is nothing to forget."


def _show(work: Callable[[Callable[[str], None]], TuningDocument]) -> None:
    place = output.Place() if output.has_front_end() else None
    try:
        with Progress(place) as progress:
            document = work(progress.tell)
    except KeyboardInterrupt:
        if place is not None:
            place.show_line("jitscope: tuning was stopped; everything is as it was.")
        else:
            output.say("jitscope: tuning was stopped; everything is as it was.")
        return
    except BaseException:
        if place is not None:
            place.show_line("")
        raise
    if place is None:
        output.show(document)
    else:
        place.show(document)
