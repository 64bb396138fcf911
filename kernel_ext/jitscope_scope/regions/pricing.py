"""Whether compiling pays: seconds seen against seconds of compiling and running, at the number of runs that is known."""

from __future__ import annotations

import math


MARGIN = 0.8
"""Compiled, all runs together have to take less than this share of the plain ones."""
UNTRIED = 0.6
"""The same where the program cannot be run again as a whole, because of its effects."""
LEAST_COMPILE = 0.06
"""Seconds: no region of any cell was compiled from nothing in less, so what all runs together take less than is told so at once."""


def break_even(eager: float, compiled: float, compile_s: float) -> int | None:
    """After how many runs the compilation is paid back; None where never."""
    return max(1, math.ceil(compile_s / (eager - compiled))) if eager > compiled else None


def pays(eager: float, compiled: float, compile_s: float, runs: int, margin: float = MARGIN) -> bool:
    """Whether all runs together are shorter, with the margin."""
    return compile_s + compiled * runs < margin * eager * runs


def too_little(eager: float, compiled: float, compile_s: float, runs: int) -> str:
    """Why what is paid back is still not advised: the gain is within the margin; "" where nothing is gained."""
    together, plain = compile_s + compiled * runs, eager * runs
    if together >= plain:
        return ""
    margin, why = (MARGIN, "times vary")
    if together < MARGIN * plain:
        margin, why = (UNTRIED, "the edited cells were not run again as a whole")
    return f": in all {seconds(together)} for {seconds(plain)}, of which less than {margin:.0%} counts as a gain ({why})".replace(
        "%", " %"
    )


def seconds(value: float) -> str:
    """A time for people."""
    if value >= 1:
        return f"{value:.3g} s"
    return f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} µs"


def times(value: int) -> str:
    """A number of runs for people."""
    return "one run" if value == 1 else f"{value:,} runs"
