"""The hunt for what the compiled program alone makes: XLA computes in another order where it puts operations together, so that no operation
run by itself gives the bad value. Parts of the program are compiled, from its beginning up to an equation."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitscope.core.jaxpr import Jaxpr, JaxprEqn, Literal, Var, backward_slice


Compiled = Callable[[Sequence[Var]], list[Any]]
"""The values of variables, computed by one compiled program that gives these alone."""


def first_together(
    jaxpr: Jaxpr, wanted: Sequence[Var], compiled: Compiled, is_bad: Callable[[Any], bool], seconds: float
) -> tuple[list[int], list[Any], list[Any]] | None:
    """The equation of the outermost program with which the value becomes bad: all that is computed up to it is good where that is compiled
    alone, and what is computed with it is not. Gives the numbers of that equation and of those that carried the value to the results, its
    operands and its results. None where the results are good in a program that gives nothing else, or time is up."""
    makers = {v: i for i, eqn in enumerate(jaxpr.eqns) for v in eqn.outvars}
    needed = backward_slice(jaxpr, {makers[v] for v in wanted if v in makers})
    deadline = time.perf_counter() + seconds
    good, bad = 0, len(needed)
    if not any(map(is_bad, compiled(wanted))):
        return None
    while bad - good > 1:
        if time.perf_counter() > deadline:
            return None
        middle = (good + bad) // 2
        between = _between(jaxpr, needed, middle, wanted)
        if between and any(map(is_bad, compiled(between))):
            bad = middle
        else:
            good = middle
    eqn = jaxpr.eqns[needed[good]]
    results = compiled(eqn.outvars)
    if not any(map(is_bad, results)):
        return None
    carried = [needed[good], *_readers(jaxpr, needed[bad:], eqn)]
    return carried, _operands(eqn, compiled), results


def _between(jaxpr: Jaxpr, needed: Sequence[int], middle: int, wanted: Sequence[Var]) -> list[Var]:
    """What the first `middle` equations made that later ones, or the results, read."""
    made = {v for i in needed[:middle] for v in jaxpr.eqns[i].outvars}
    read = [a for i in needed[middle:] for a in jaxpr.eqns[i].invars if type(a) is Var]
    return [v for v in dict.fromkeys([*read, *wanted]) if v in made]


def _readers(jaxpr: Jaxpr, later: Sequence[int], eqn: JaxprEqn) -> list[int]:
    """The equations that read what an equation made, or what was made of it."""
    reached, found = {*eqn.outvars}, []
    for i in later:
        if not reached.isdisjoint([a for a in jaxpr.eqns[i].invars if type(a) is Var]):
            reached.update(jaxpr.eqns[i].outvars)
            found.append(i)
    return found


def _operands(eqn: JaxprEqn, compiled: Compiled) -> list[Any]:
    variables = list(dict.fromkeys(a for a in eqn.invars if type(a) is Var))
    known = dict(zip(variables, compiled(variables), strict=True)) if variables else {}
    return [np.asarray(a.value, a.aval.dtype) if isinstance(a, Literal) else known[a] for a in eqn.invars]
