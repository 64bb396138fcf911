"""Run generated programs with the compiler, and judge them by the oracle.

Of each program are checked: its jaxpr prints; traced anew, and run through `eval_jaxpr`, it is the same program by structural
hash; it is lowered to the same bytes twice; its results, and those of the program left when half of them are dropped, are
the oracle's. Many programs are compiled as one, since compiling costs more than all the rest.
"""

from __future__ import annotations

import dataclasses
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.backend.array import to_array
from jitscope.backend.compile import Options, compile_jaxpr, lower_closed
from jitscope.core.avals import aval_of
from jitscope.core.hashing import structural_hash
from jitscope.core.jaxpr import ClosedJaxpr
from jitscope.core.staging import jaxpr_as_fun, trace_to_jaxpr
from jitscope.core.trace import Tracer
from jitscope.transforms.dce import dce_jaxpr
from tests import extent

from . import oracle
from .programs import Program


NAMES = {"np": np, "jx": jx, "jnp": jnp, "lax": lax}
QUICK: Options = tuple(extent.QUICK.items())
"""So compiled, an expression that is computed in two places may round differently, and `max(x) == x` fail: what differs is run once
more as users would."""
PRECISION = 1e-8

Arrays = list[np.ndarray]


@dataclasses.dataclass
class Failure:
    """What is wrong with a program: `kind` is the check that failed, or the class of the error."""

    program: Program
    kind: str
    reason: str


@dataclasses.dataclass
class Traced:
    """A program's jaxpr, what is left of it without half of its results (`kept` marks the others), and what is expected."""

    program: Program
    closed: ClosedJaxpr
    digest: bytes
    half: ClosedJaxpr
    kept: list[bool]
    wanted: Arrays


def digest(closed: ClosedJaxpr) -> bytes:
    """The structural hash with the values it captures."""
    return structural_hash(closed, [np.asarray(c) for c in closed.consts]).digest


def structure(closed: ClosedJaxpr) -> bytes:
    """The structural hash alone, by which programs are told apart."""
    return structural_hash(closed).digest


def traced(program: Program) -> ClosedJaxpr:
    """The jaxpr of a program, from functions made anew."""
    return jx.make_jaxpr(program.bound(NAMES))(*program.args)


def examined(program: Program) -> Traced | Failure:
    """What can be said of a program without running it."""
    try:
        wanted = oracle.run(program.bound(oracle.names()), program.args)
    except Exception as error:
        return Failure(program, "oracle", described(error))
    try:
        closed, again = traced(program), traced(program)
        if leaked := [c for c in closed.consts if isinstance(c, Tracer)]:
            return Failure(program, "leak", f"the jaxpr captures traced values: {leaked}")
        found = digest(closed)
        rerun = trace_to_jaxpr(jaxpr_as_fun(closed), closed.in_avals, closed.jaxpr.debug)
        kept = [i % 2 == program.seed % 2 for i in range(len(wanted))]
        # Programs of jaxprs depend on the whole jaxpr: arguments that nobody reads stay.
        half, _ = dce_jaxpr(closed, kept, [True] * len(closed.in_avals))
        complaints = {
            "printing": not str(closed).startswith(("{ lambda", "let ")),
            "traced again": digest(again) != found,
            "eval_jaxpr": digest(rerun) != found,
            "lowering": lower_closed(closed) != lower_closed(again),
        }
    except Exception as error:
        return Failure(program, type(error).__name__, described(error))
    for kind, wrong in complaints.items():
        if wrong:
            return Failure(program, kind, f"{kind}: not the same program\n{closed}")
    return Traced(program, closed, structure(closed), half, kept, wanted)


def run_together(found: Sequence[Traced], options: Options = QUICK) -> list[Failure]:
    """Compile the programs as one and run them; those whose results are not the oracle's, also when compiled alone as a user's
    are."""
    arguments = [a for t in found for a in t.program.args]

    def all_programs(*values):
        given = iter(values)
        outs = []
        for t in found:
            mine = [next(given) for _ in t.program.args]
            outs += [*jaxpr_as_fun(t.closed)(*mine), *jaxpr_as_fun(t.half)(*mine)]
        return outs

    try:
        closed = trace_to_jaxpr(all_programs, [aval_of(a) for a in arguments])
        outs = iter(_run(closed, arguments, options))
    except Exception as error:
        if len(found) == 1:
            return [Failure(found[0].program, type(error).__name__, described(error))]
        middle = len(found) // 2
        return run_together(found[:middle], options) + run_together(found[middle:], options)
    failures = []
    for t in found:
        whole, part = ([next(outs) for _ in jaxpr.out_avals] for jaxpr in (t.closed, t.half))
        if failure := _judged(t, whole, part):
            failures += run_together([t], ()) if options else [failure]
    return failures


def _run(closed: ClosedJaxpr, args: Sequence[np.ndarray], options: Options) -> Arrays:
    return [np.asarray(x) for x in compile_jaxpr(closed, options).run([to_array(a).buf for a in args])]


def _judged(t: Traced, whole: Arrays, half: Arrays) -> Failure | None:
    if reason := difference(whole, t.wanted):
        return Failure(t.program, "wrong", reason)
    if reason := difference(half, [w for w, k in zip(t.wanted, t.kept) if k]):
        return Failure(t.program, "dce", f"without results {[i for i, k in enumerate(t.kept) if not k]}: {reason}")
    return None


def run_as_users(program: Program, wrap: Callable[[Any], Any]) -> Failure | None:
    """Call the program eagerly, or as `wrap` makes it."""
    try:
        found = [np.asarray(x) for x in jx.tree.leaves(wrap(program.bound(NAMES))(*map(jnp.asarray, program.args)))]
        reason = difference(found, oracle.run(program.bound(oracle.names()), program.args))
    except Exception as error:
        return Failure(program, type(error).__name__, described(error))
    return Failure(program, "wrong", reason) if reason else None


def failures_of(programs: Sequence[Program]) -> tuple[list[Failure], list[Traced]]:
    """Everything that is wrong with some programs, and those that could be traced."""
    found = [examined(p) for p in programs]
    good = [t for t in found if isinstance(t, Traced)]
    return [f for f in found if isinstance(f, Failure)] + (run_together(good) if good else []), good


def alone(program: Program) -> Failure | None:
    """What is wrong with one program."""
    failures, _ = failures_of([program])
    return failures[0] if failures else None


# Comparing -----------------------------------------------------------------------------------------------------------


def difference(got: Arrays, want: Arrays) -> str | None:
    """What differs, in words."""
    if len(got) != len(want):
        return f"{len(got)} results, expected {len(want)}"
    return "\n".join(_differences(got, want)) or None


def _differences(got: Arrays, want: Arrays) -> Iterator[str]:
    for i, (g, w) in enumerate(zip(got, want)):
        if (g.shape, g.dtype) != (w.shape, w.dtype):
            yield f"result {i} is {g.dtype}{list(g.shape)}, expected {w.dtype}{list(w.shape)}"
        elif not close(g, w):
            yield f"result {i} is {g.tolist()}, expected {w.tolist()}"


def close(got: np.ndarray, want: np.ndarray, precision: float = PRECISION) -> bool:
    """Whether numbers agree, relative to the size of all of them."""
    if want.dtype.kind != "f":
        return np.array_equal(got, want)
    size = np.max(np.abs(want), initial=1e-3)
    return bool(np.all(np.abs(got - want) <= precision * (np.abs(want) + size)))


def described(error: Exception) -> str:
    """An error with the lines of the program it went through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename.startswith("<program")]
    lines = "".join(f"\n  in line {f.lineno} of {f.name}" for f in frames)
    return f"{type(error).__name__}: {error}{lines}"
