"""Which other ways of compiling a program may matter to it: those of its operations, and no others."""

from __future__ import annotations

import itertools
import math
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from jitscope.backend.disk.machine import cores, instruction_sets
from jitscope.core.jaxpr import Jaxpr, JaxprEqn, count, equations_in
from jitscope.symbolic.dimension import is_static
from jitscope.xla.choice import RECOMPUTED, Choice
from jitscope.xla.cpu_tuning import (
    HAS_OLDER_EMITTER,
    JAXLIB,
    LIBRARY_FLAG,
    SHORT_LOOPS_KEPT,
    SMALL_LOOPS,
    SWITCHES,
    library_types_without,
)


class Candidate(NamedTuple):
    """A way to compile a program, in words; two of other knobs may be taken together."""

    knob: str
    words: str
    choice: Choice

    def joined(self, other: Candidate) -> Candidate:
        """Both together."""
        return Candidate(f"{self.knob}, {other.knob}", f"{self.words}; {other.words}", self.choice.joined(other.choice))


class ProgramFacts(NamedTuple):
    """What is known of a program: the flags it is compiled with, those among these that it needs or that its call asks for, and whether it
    can be lowered in another way (one of jax's cannot)."""

    flags: Mapping[str, Any]
    fixed: Collection[str]
    lowers: bool


KINDS = {
    "dot_general": "products",
    "conv_general_dilated": "convolutions",
    "reduce_sum": "reductions",
    "reduce_max": "reductions",
    "reduce_min": "reductions",
    "reduce_prod": "reductions",
}
_ALL = frozenset(KINDS.values())
_LARGE = 1024
"""Elements: smaller reductions take too little time to matter."""
_RULES = {
    "conv_general_dilated": ("convolutions as products", "convolutions by elements", "convolutions in loops"),
    "reduce_window": ("windows by slices",),
    "dot_general": (
        "products with small matrices",
        "sums in blocks of rows",
        "transposes taken into products",
        "values kept in memory",
    ),
    "random_bits": ("random bits apart",),
    "sort": ("floats sorted as integers", "sorts packed into integers", "sorts by networks"),
}
_OTHER_NUMBERS = frozenset(("tan", "atan", "cbrt"))
"""XLA's older emitter gives others for some operands, which those at hand need not show."""
_MOST_UNROLLED = 400
"""Equations in the body of a loop."""
_LOOPS = ("scan", "while")


def space(jaxpr: Jaxpr, known: ProgramFacts) -> list[Candidate]:
    """Other ways to compile a program, the likeliest to be faster first."""
    equations = list(equations_in(jaxpr))
    names = Counter(eqn.primitive.name for eqn in equations)
    fixed = {
        *known.fixed,
        *(name for name in _FLAGS if name in os.environ.get("XLA_FLAGS", "")),
    }  # the user's own choice
    found = [
        *_libraries(equations, known),
        *(_rules(names) if known.lowers else ()),
        *(_unrolled(equations) if known.lowers else ()),
        *_vectors(known),
        *_short_loops(known),
        *_emitters(names, known),
        *_loops(names, known),
        *_schedules(equations),
    ]
    good = [one for one in found if not any(name in fixed for name, _ in one.choice.flags)]
    return sorted(good, key=lambda one: one.knob == "library" and "without" in one.words and " and " in one.words)


_WIDTH, _OLDER = "xla_cpu_prefer_vector_width", "xla_cpu_use_fusion_emitters"
_TILED, _THREADS = "xla_cpu_disable_tiled_emitter", "xla_cpu_multi_thread_eigen"
_FUSION, _SCHEDULER = "xla_disable_hlo_passes", "xla_cpu_scheduler_type"
_LEAST_MEMORY = "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"
_KEPT = SHORT_LOOPS_KEPT.value["flag"]
_FLAGS = (LIBRARY_FLAG, _WIDTH, _KEPT[0], _OLDER, _TILED, SMALL_LOOPS.value[0], _THREADS, _FUSION, _SCHEDULER)


def _flag(knob: str, words: str, name: str, value: Any) -> Candidate:
    return Candidate(knob, words, Choice(flags=((name, value),)))


def _libraries(equations: list[JaxprEqn], known: ProgramFacts) -> Iterator[Candidate]:
    """Every other set of the kinds of operations that the program has."""
    there = sorted({KINDS[eqn.primitive.name] for eqn in equations if eqn.primitive.name in KINDS and _is_large(eqn)})
    now = without_library(known.flags)
    for number in range(len(there) + 1):
        for left_out in itertools.combinations(there, number):
            if set(left_out) != now & set(there):
                flags = library_types_without({*left_out, *(now - set(there))})
                yield Candidate("library", _library_words(left_out), Choice(flags=tuple(flags.items())))


def _is_large(eqn: JaxprEqn) -> bool:
    shape = eqn.invars[0].aval.shape
    return not eqn.primitive.name.startswith("reduce") or (is_static(shape) and math.prod(shape) >= _LARGE)


def without_library(flags: Mapping[str, Any]) -> frozenset[str]:
    """The kinds of operations for which flags leave XLA's library out."""
    if LIBRARY_FLAG not in flags:
        return frozenset()
    value = flags[LIBRARY_FLAG]
    return next(
        (
            frozenset(kinds)
            for n in range(len(_ALL) + 1)
            for kinds in itertools.combinations(sorted(_ALL), n)
            if library_types_without(kinds)[LIBRARY_FLAG] == value
        ),
        frozenset(),
    )


def _library_words(left_out: Collection[str]) -> str:
    return f"XLA's library without {' and '.join(left_out)}" if left_out else "XLA's library for all it knows"


def _rules(names: Counter[str]) -> Iterator[Candidate]:
    """Rules of lowering turned round: each where there is an operation that it is about."""
    about = ["short axes written out", *(rule for name in names for rule in _RULES.get(name, ()))]
    if "remat2" in names:
        words = "values kept that checkpoint would compute again"
        yield Candidate(RECOMPUTED, words, Choice(rules=((RECOMPUTED, False),)))
    for rule in dict.fromkeys(about):
        on = not SWITCHES[rule].holds()
        yield Candidate(rule, rule if on else f"without the rule: {rule}", Choice(rules=((rule, on),)))


def _unrolled(equations: list[JaxprEqn]) -> Iterator[Candidate]:
    scans = [eqn.params for eqn in equations if eqn.primitive.name == "scan" and eqn.params["unroll"] == 1]
    scans = [params for params in scans if is_static((params["length"],))]
    if not scans:
        return
    longest, body = max(p["length"] for p in scans), max(count(p["jaxpr"].jaxpr) for p in scans)
    for times in (4, 2, 8):
        if 2 * times <= longest and times * body <= _MOST_UNROLLED:
            words = f"{times} iterations of each scan at a time"
            yield Candidate("unrolling", words, Choice(unroll=times))


def _vectors(known: ProgramFacts) -> Iterator[Candidate]:
    if "avx512f" in instruction_sets():
        other = 256 if known.flags.get(_WIDTH) == 512 else 512
        yield _flag("vectors", f"vectors of {other} bits", _WIDTH, other)


def _short_loops(known: ProgramFacts) -> Iterator[Candidate]:
    if known.lowers:  # jax's compiler_options have no way in for it
        kept = _KEPT[0] in known.flags
        words = "short loops written out (XLA's own way)" if kept else "short loops not written out"
        yield _flag("short loops", words, _KEPT[0], "false" if kept else _KEPT[1])


def _emitters(names: Counter[str], known: ProgramFacts) -> Iterator[Candidate]:
    if not HAS_OLDER_EMITTER:
        return
    if not _OTHER_NUMBERS & set(names):
        yield _flag("emitter", "XLA's older emitter", _OLDER, False)
    if known.lowers:  # jax's compiler_options have no way in for it
        yield _flag("emitter", "without XLA's newest emitter", _TILED, "true")


def _loops(names: Counter[str], known: ProgramFacts) -> Iterator[Candidate]:
    if not any(name in names for name in _LOOPS) or not known.lowers or not JAXLIB.startswith(SMALL_LOOPS.jaxlibs):
        return
    name, limit = SMALL_LOOPS.value
    yield _flag("loops", "small loops in several functions (XLA's own limit)", name, "1024")
    yield _flag("loops", "larger loops in one function", name, str(16 * limit))


def _schedules(equations: list[JaxprEqn]) -> Iterator[Candidate]:
    if len(equations) > 1:
        yield _flag("fusion", "without fusion", _FUSION, "fusion")
        yield _flag("schedule", "kernels in the order that takes least memory", _SCHEDULER, _LEAST_MEMORY)
    if cores() > 1:
        yield _flag("threads", "one thread for each kernel", _THREADS, False)
