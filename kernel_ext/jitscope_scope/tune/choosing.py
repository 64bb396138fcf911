"""`jitscope.tune`: the race from end to end.

All forms are compiled and checked in another process, run there in pairs with the plain one, and halved until one is left. That one is
loaded here and runs against the plain one once more, on new pairs: it is taken only if the 99 % interval of these lies clearly under 1.
Nothing is changed before that, so Ctrl-C and errors leave everything as it was.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from jitscope.backend.tuning_records import TuningRecord
from jitscope.core.errors import Unavailable
from jitscope.core.words import counted, duration
from jitscope.xla import client
from jitscope.xla.choice import PLAIN, RECOMPUTED, Choice

from .racing import CLEARLY, LEAST, Ratio, halved, is_clear, is_hopeless, ratio_of, repeats_for
from .same import Same, same
from .space import Candidate, space
from .subjects import Subject, forget, forget_row
from .workshop import PLAIN_NAME, Form, Lost, Pairs, Workshop


__all__ = ["Outcome", "Tuning", "forget", "forget_row", "tune"]

SECONDS = 20.0
"""The time that it takes unless something else is said."""
MOST = 18
"""Compilations, the plain one included, before two forms are put together."""
Result = Literal["taken", "faster", "no difference", "slower", "other results", "more memory", "failed", "not tried"]
Telling = Callable[[str], None]
_COMPILING, _RACING = 0.55, 0.75
"""The parts of the time after which nothing more is compiled, and after which the last run-off begins."""
_AS_FAST = 1.05
_MOST_PAIRS = 400
_IN_A_ROUND = 60
_ENOUGH, _NARROW = 60, 0.03
"""Pairs from which the last run-off may end before its time: if the interval is so narrow, whichever is faster."""
_MORE_MEMORY, _NO_MORE = 1.5, 1.02
_SOME_MEMORY = 16 << 20


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A form that was tried: its name in words, its time as a part of the plain form's with the ends of the 99 % interval (None: not raced), what came of
    it and why, how far its results are apart, the seconds it took to compile, the bytes that a run needs."""

    name: str
    choice: Choice
    outcome: Result = "not tried"
    why: str = ""
    ratio: float | None = None
    interval: tuple[float, float] | None = None
    pairs: int = 0
    same: Same | None = None
    compile_s: float | None = None
    memory: int | None = None

    def __str__(self) -> str:
        return self.name


@dataclasses.dataclass(frozen=True)
class Tuning:
    """What came of tuning a program. `taken` is the winner (None: nothing helped), `ratio` and `interval` are those of its last run-off; `kept`:
    "" where later sessions take it, else why they do not; `on`: what it ran on, in words."""

    name: str
    library: str
    tried: tuple[Outcome, ...]
    taken: Outcome | None
    plain_s: float
    seconds: float
    limit: float
    compilations: int
    tolerance: float | None
    stopped: str = ""
    kept: str = ""
    on: str = ""
    written: str = ""


@dataclasses.dataclass
class _Candidate:
    """A form that was compiled and checked."""

    candidate: Candidate
    form: Form
    pairs: Pairs


def tune(
    subject: Subject, seconds: float = SECONDS, tolerance: float | None = None, told: Telling = lambda _: None
) -> Tuning:
    """Race the forms of a program. `told` is called with what is being done. Raises Unavailable where the program cannot be compiled or run in
    another process, KeyboardInterrupt where the user stops it: then nothing has changed."""
    return _Race(subject, seconds, tolerance, told).run()


class _Race:
    def __init__(self, subject: Subject, seconds: float, tolerance: float | None, told: Telling):
        self.subject, self.limit, self.tolerance, self.told = subject, seconds, tolerance, told
        self.start = time.perf_counter()
        self.compilations = 0
        self.outcomes: dict[str, Outcome] = {}
        self.standing: dict[str, _Candidate] = {}
        self.stopped, self.plain_s = "", 0.0

    @property
    def spent(self) -> float:
        return time.perf_counter() - self.start

    def until(self, part: float) -> float:
        """The seconds left up to a part of the time."""
        return part * self.limit - self.spent

    # The race

    def run(self) -> Tuning:
        candidates = self._candidates()
        with Workshop(self.subject, self.tolerance, lambda _: self.told(self._doing)) as shop:
            self._doing = f"compiling {self.subject.name} as it is"
            self._plain(shop)
            why = "a run takes too long" if self.stopped else "too little of the time for compiling was left"
            self.outcomes = {one.words: Outcome(one.words, one.choice, why=why) for one in candidates}
            self._compile(shop, candidates)
            self._halve(shop)
            taken, kept = self._run_off(shop)
        tried = tuple(sorted(self.outcomes.values(), key=lambda one: (one.ratio is None, one.ratio or 0.0)))
        return Tuning(
            self.subject.name,
            self.subject.library,
            tried,
            taken,
            self.plain_s,
            self.spent,
            self.limit,
            self.compilations,
            self.tolerance,
            self.stopped,
            kept,
            self.subject.on,
            self.subject.written(taken.choice) if taken else "",
        )

    def _candidates(self) -> list[Candidate]:
        """Those that change what XLA is given, or how it compiles that."""
        found: list[Candidate] = []
        known = {(self.subject.module(PLAIN), self.subject.options(PLAIN))}
        for one in space(self.subject.jaxpr, self.subject.known):
            key = self.subject.module(one.choice), self.subject.options(one.choice)
            if key not in known:
                known.add(key)
                found.append(one)
        return found[: MOST - 1]

    def _plain(self, shop: Workshop) -> None:
        try:
            form = shop.compile(PLAIN_NAME, PLAIN, max(self.limit, 1.0) * 3)
        except Lost as lost:
            raise Unavailable(f"{self.subject.name} cannot be compiled in a process of its own: {lost}") from None
        except ValueError as refused:
            raise Unavailable(f"{self.subject.name} cannot be compiled in a process of its own: {refused}") from None
        self.compilations += 1
        if form.same.why:
            raise Unavailable(f"{self.subject.name} cannot be tuned: run twice, {form.same.why}")
        self.plain_s = min(plain for plain, _ in form.pairs)
        self.usual, self.plain_memory = form.seconds, form.memory
        pair = 2 * self.plain_s * repeats_for(self.plain_s)
        if LEAST * pair > (1 - _RACING) * self.limit:
            self.stopped = (
                f"a run takes {duration(self.plain_s)}, too long for the {LEAST} pairs of the last run-off: give it "
                f"{np.ceil(LEAST * pair / (1 - _RACING)):.0f} seconds"
            )

    def _compile(self, shop: Workshop, candidates: Sequence[Candidate]) -> None:
        if self.stopped:
            return
        for number, one in enumerate(candidates):
            first = 2 * 3 * self.plain_s
            if self.until(_COMPILING) < min(self.usual + first, 0.2 * self.limit):
                left = counted(len(candidates) - number, "other form")
                part = duration(_COMPILING * self.limit)
                self.stopped = f"too little was left of the time for compiling, {part}, to compile {left}; more seconds have room for more"
                return
            self._doing = f"{number + 1} of {len(candidates)} forms of {self.subject.name}: {one.words}"
            self.told(self._doing)
            self._try(shop, one)

    def _try(self, shop: Workshop, one: Candidate) -> bool:
        """Compile, run and check a form; whether it stands."""
        self.compilations += 1
        try:
            form = shop.compile(one.words, one.choice, max(self.until(_RACING), 1.0))
        except Lost as lost:
            self._end(one, "not tried" if lost.late else "failed", str(lost))
            return False
        except ValueError as refused:
            self._end(one, "failed", f"XLA refuses it: {str(refused).splitlines()[0][:200]}")
            return False
        self.usual = max(self.usual, form.seconds)
        standing = _Candidate(one, form, [])
        if form.same.why:
            self._end(one, "other results", form.same.why, standing)
        elif form.memory > self._memory_for(one):
            times = form.memory / max(self.plain_memory, 1)
            self._end(one, "more memory", f"it needs {times:.3g} times the memory", standing)
        elif is_hopeless(form.pairs):
            ratios = sorted(b / a for a, b in form.pairs)
            self._end(one, "slower", f"{ratios[1]:.2g} times as long in its first runs", standing)
        else:
            self.standing[one.words] = standing
            self.outcomes[one.words] = Outcome(one.words, one.choice, why="no time was left to race it")
            return True
        shop.let_go(one.words)
        return False

    def _memory_for(self, one: Candidate) -> float:
        """The bytes that a form may need. Who wrote `checkpoint` asked for less memory, not for less time."""
        if RECOMPUTED in one.knob:
            return _NO_MORE * self.plain_memory
        return _MORE_MEMORY * self.plain_memory + _SOME_MEMORY

    def _halve(self, shop: Workshop) -> None:
        """Rounds of pairs, after each of which the slower half is out; after the first, what was faster by two knobs is put together."""
        round = 0
        while self.standing and self.until(_RACING) > 0:
            rounds_left = max(1, int(np.ceil(np.log2(len(self.standing) + 1))))
            names = list(self.standing)
            self._doing = f"racing {counted(len(names), 'form')} of {self.subject.name}"
            self.told(self._doing)
            ratios = self._round(shop, names, self.until(_RACING) / rounds_left)
            if ratios is None:
                return
            round += 1
            going, out = halved(ratios)
            for name in out:
                self._out(shop, name, ratios[name])
            if round == 1:
                self._put_together(shop, {name: ratios[name] for name in going})
            elif len(going) <= 1 or min(len(self.standing[name].pairs) for name in going) >= _MOST_PAIRS:
                return

    def _round(self, shop: Workshop, names: list[str], seconds: float) -> dict[str, Ratio] | None:
        repeats = repeats_for(self.plain_s)
        try:
            found = shop.race(names, seconds, repeats, 2, _IN_A_ROUND, max(4 * seconds, 10.0))
        except Lost as lost:
            for name in names:
                self._end(self.standing.pop(name).candidate, "failed", f"in a race of several: {lost}")
            return None
        for name, pairs in found.items():
            self.standing[name].pairs += pairs
        return {name: ratio_of(self.standing[name].pairs) for name in names}

    def _put_together(self, shop: Workshop, ratios: dict[str, Ratio]) -> None:
        """The fastest form with the fastest of another knob."""
        good = [name for name, ratio in ratios.items() if ratio.centre < CLEARLY]
        if not good or self.until(_RACING) < 2 * self.usual:
            return
        best = self.standing[good[0]].candidate
        for name in good[1:]:
            other = self.standing[name].candidate
            if other.knob != best.knob:
                both = best.joined(other)
                self.outcomes[both.words] = Outcome(both.words, both.choice)
                self._doing = f"compiling {self.subject.name} with {both.words}"
                self.told(self._doing)
                self._try(shop, both)
                return

    # The end of it

    def _run_off(self, shop: Workshop) -> tuple[Outcome | None, str]:
        """The best form against the plain one in this process, on new pairs; what was taken, and why later sessions do not take it."""
        ratios = {name: ratio_of(one.pairs) for name, one in self.standing.items() if one.pairs}
        order = _simplest_first({name: (ratio, self.standing[name].candidate) for name, ratio in ratios.items()})
        for name in order[1:]:
            self._out(shop, name, ratios[name])
        if not order:
            return None, ""
        best = order[0]
        if ratios[best].centre >= CLEARLY:
            self._out(shop, best, ratios[best])
            return None, ""
        self._doing = f"the last run-off of {self.subject.name}: {best}"
        self.told(self._doing)
        standing, code = self.standing[best], shop.code(best)
        choice = standing.candidate.choice
        found, pairs = self._against(choice, code, shop.code(PLAIN_NAME))
        ratio = ratio_of(pairs)
        standing.pairs, standing.form = pairs, standing.form._replace(same=found)
        if found.why:
            self._end(standing.candidate, "other results", found.why, standing, ratio)
            return None, ""
        if not is_clear(ratio, len(pairs)):
            why = "" if ratio.low > 1 or ratio.centre > CLEARLY else "its interval is not clearly under 1"
            self._end(standing.candidate, _said(ratio), why, standing, ratio)
            return None, ""
        self._end(standing.candidate, "taken", "", standing, ratio)
        kept = TuningRecord(choice, best, ratio.centre, ratio.low, ratio.high)
        why = self.subject.take(kept, code, self.subject.module(choice), standing.form.seconds)
        return self.outcomes[best], why

    def _against(self, choice: Choice, code: bytes, plain: bytes) -> tuple[Same, Pairs]:
        """How far results in this process are apart, and pairs of times (plain, form)."""
        both = self.subject.runner(PLAIN, plain), self.subject.runner(choice, code)
        results = [
            [np.array(_read(out)) for out in run(make())]  # copies: the next run may take their place
            for make, run in both
        ]
        found = same(results[0], results[1], self.tolerance)
        pairs: Pairs = []
        if found.why:
            return found, [(1.0, 1.0)]
        order, repeats = np.random.default_rng(1).integers(0, 2, _MOST_PAIRS), repeats_for(self.plain_s)
        begun, seconds = time.perf_counter(), max(self.limit - self.spent, 0.1 * self.limit)
        while len(pairs) < _MOST_PAIRS and (len(pairs) < LEAST or time.perf_counter() - begun < seconds):
            times = [0.0, 0.0]
            for at in (0, 1) if order[len(pairs)] else (1, 0):
                times[at] = min(_timed(*both[at]) for _ in range(repeats))
            pairs.append((times[0], times[1]))
            if len(pairs) % _ENOUGH == 0 and (ratio := ratio_of(pairs)).high - ratio.low < _NARROW * ratio.centre:
                break
        return found, pairs

    def _out(self, shop: Workshop, name: str, ratio: Ratio) -> None:
        standing = self.standing.pop(name)
        shop.let_go(name)
        self._end(standing.candidate, _said(ratio), "", standing, ratio)

    def _end(
        self,
        one: Candidate,
        outcome: Result,
        why: str,
        standing: _Candidate | None = None,
        ratio: Ratio | None = None,
    ) -> None:
        found = Outcome(one.words, one.choice, outcome, why)
        if standing is not None:
            form = standing.form
            found = dataclasses.replace(found, same=form.same, compile_s=form.seconds, memory=form.memory)
        if standing is not None and ratio is not None and outcome != "other results":
            interval = (ratio.low, ratio.high) if len(standing.pairs) >= LEAST else None
            found = dataclasses.replace(found, ratio=ratio.centre, interval=interval, pairs=len(standing.pairs))
        self.outcomes[one.words] = found


def _simplest_first(found: dict[str, tuple[Ratio, Candidate]]) -> list[str]:
    """Names, fastest first; of those that are as fast as the fastest by a few parts in a hundred, the one that changes least."""
    order = sorted(found, key=lambda name: found[name][0].centre)
    close = [name for name in order if found[name][0].centre < _AS_FAST * found[order[0]][0].centre]
    best = min(close, key=lambda name: found[name][1].knob.count(","), default=None)
    return order if best is None else [best, *[name for name in order if name != best]]


def _said(ratio: Ratio) -> Result:
    return "slower" if ratio.low > 1 else "faster" if ratio.high < 1 else "no difference"


def _timed(make: Callable[[], list[object]], run: Callable[[list[object]], list[object]]) -> float:
    bufs = make()
    start = time.perf_counter()
    run(bufs)
    return time.perf_counter() - start


def _read(buf: object) -> np.ndarray:
    return np.asarray(client.to_numpy(buf))
