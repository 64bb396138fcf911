"""Generated programs through all transformations, against NumPy with tangents, Python loops and finite differences.

`make test` runs 48 of the 2,000 programs, in which each main combinator stands in each, `make test-all` all. A failure prints the program, to be
pasted and run, and the smallest one that fails likewise. `python -m tests.compiler.generated.coverage` prints what is nested
in what.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from tests.compiler.generated import coverage, oracle, running, shrinking
from tests.compiler.generated.drawing import COUNT, program
from tests.compiler.generated.programs import EXTRA, HEADER, KINDS, MAIN, Program
from tests.extent import full, one_in


SEEDS = [int(seed) for seed in (
    "667 945 38 590 121 1964 454 1555 9 609 374 554 108 84 948 632 1526 984 830 238 226 592 76 1330 666 981 575 "
    "1480 1178 1341 1161 1849 1577 1957 1921 1748 1114 1855 1035 1552 1195 1220 1080 1070 1072 1685 1366 1735"
).split()]  # fmt: skip
"""Those that every run takes: few, of which each nests what the others do not."""
TOGETHER = 12
EAGERLY, AS_USERS = SEEDS[::2], SEEDS[1::4]
STEP = 28
"""The oracle is held to finite differences on every one of so many."""
REPORTED = 2
"""Failures of one group that are shrunk: it takes a minute each."""


pytestmark = pytest.mark.usefixtures("wide")


def assert_none(failures: list[running.Failure], judge=running.alone) -> None:
    told = [shrinking.report(f, judge) for f in failures[:REPORTED]]
    rest = [f"program {f.program.seed} fails: {f.reason}" for f in failures[REPORTED:]]
    assert not failures, "\n\n".join(told + rest)


# The programs --------------------------------------------------------------------------------------------------------


def groups() -> list:
    """All programs, those that every run takes first."""
    seeds = SEEDS + [seed for seed in range(COUNT) if seed not in SEEDS]
    parts = [seeds[i : i + TOGETHER] for i in range(0, COUNT, TOGETHER)]
    return [pytest.param(part, id=f"{part[0]}-{part[-1]}", marks=() if part[0] in SEEDS else full) for part in parts]


@pytest.mark.parametrize("seeds", groups())
def test_programs(seeds):
    failures, found = running.failures_of([program(seed) for seed in seeds])
    jx.clear_caches()
    assert_none(failures)
    assert len({t.digest for t in found}) == len(seeds)


def eagerly(p: Program) -> running.Failure | None:
    return running.run_as_users(p, lambda f: f)


def jitted(p: Program) -> running.Failure | None:
    return running.run_as_users(p, jx.jit)


@pytest.mark.parametrize("seed", one_in(8, EAGERLY))
def test_programs_run_eagerly(seed):
    failure = eagerly(program(seed))
    assert_none([failure] if failure else [], eagerly)


@pytest.mark.parametrize("seed", one_in(2, AS_USERS))
def test_programs_compiled_as_users_do(seed):
    failure = jitted(program(seed))
    assert_none([failure] if failure else [], jitted)


@full
def test_all_jaxprs_are_distinct():
    assert len({running.structure(running.traced(program(seed))) for seed in range(COUNT)}) == COUNT


# Coverage ------------------------------------------------------------------------------------------------------------


def test_coverage():
    programs = coverage.all_programs()
    assert len(programs) >= 2000 and min(p.depth() for p in programs) >= 3
    counts, triples = coverage.pair_counts(programs), coverage.triple_counts(programs)
    always = coverage.pair_counts([programs[seed] for seed in SEEDS])
    assert not {(a, b) for a in MAIN for b in MAIN if not always[a, b]} and len(always) > 140
    short = {(a, b): counts[a, b] for a in MAIN for b in MAIN if counts[a, b] < coverage.LEAST}
    assert not short
    assert not {(a, b) for a in KINDS for b in KINDS if counts[a, b] < 5}
    assert not {(a, b, c) for a in MAIN for b in MAIN for c in MAIN if triples[a, b, c] < 2}
    # Where the inner one takes arguments without tangents, that is because it must.
    refused = {inner for (_, inner), n in coverage.without_tangents(programs).items() if n}
    assert refused == {"custom_vjp", "while_loop", "fori_loop"}
    direct = counts - coverage.without_tangents(programs)
    assert not {(a, b) for a in MAIN for b in MAIN if direct[a, b] < coverage.LEAST and (a, b) != ("jvp", "custom_vjp")}


def test_every_way_of_writing_a_combinator_is_drawn():
    text = "\n".join(program(seed).text() for seed in range(COUNT))
    for part in (
        "static_argnums", "value_and_grad", "argnums=(0, 1)", "argnums=1", "has_aux", "jx.jacrev", "jx.hessian", "everything_saveable",
        "nothing_saveable", "dots_saveable", "prevent_cse=False", "reverse=True", "unroll=2", "unroll=True", "None, length=",
        '{"h": ', "batch_size=2", "in_axes=(0, None)", "in_axes=(1, 0)", "out_axes=1", "out_axes=(", "defjvps", "pull(ct)",
        "ct @ jx.jacfwd", "jx.linearize(", "jnp.sum(s[1] * s[1]) > ", "lax.dynamic_update_slice", "lax.dynamic_slice", ".at[",
        "astype(jnp.complex128)", "jnp.sort", "jnp.argmax", "jnp.where", "jnp.concatenate", "lax.stop_gradient",
    ):  # fmt: skip
        assert text.count(part) >= 5, part


def test_the_table_is_printed_by_a_command():
    counts = Counter({(a, b): 3 for a in KINDS for b in KINDS}) + Counter({("jit", "scan"): 40})
    lines = coverage.table(counts, Counter({("jvp", "custom_vjp"): 3, ("grad", "map"): 1})).splitlines()
    assert lines[0].split() == ["outer", "\\", "inner", *KINDS]
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert list(rows) == list(KINDS) and rows["jit"][KINDS.index("scan")] == "43"
    assert rows["jvp"][KINDS.index("custom_vjp")] == "3°°" and rows["grad"][KINDS.index("map")] == "3°"
    assert set(MAIN) | set(EXTRA) == set(KINDS)


# The oracle ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [pytest.param(i, marks=full if i else ()) for i in range(STEP)])
def test_the_oracle_against_finite_differences(start):
    """The derivative of a whole program, derivatives inside included, along a line."""
    checked = 0
    for seed in range(start, COUNT, STEP):
        p = program(seed)
        if p.stops():  # there the derivative is not that of the function
            continue
        fun = p.bound(oracle.names())
        rng = np.random.default_rng(seed)
        line = [rng.normal(size=a.shape) for a in p.args]
        found = [oracle.base(t) for t in oracle.leaves(oracle.jvp(fun, p.args, line)[1])]
        step = 1e-6
        ahead, behind = ([a + s * step * d for a, d in zip(p.args, line)] for s in (1, -1))
        for t, a, b in zip(found, oracle.run(fun, ahead), oracle.run(fun, behind)):
            if a.dtype.kind == "f":
                assert running.close((a - b) / (2 * step), t, 2e-5), f"program {seed}\n{p.source()}"
                checked += 1
    assert checked > COUNT // STEP


def test_the_oracle_takes_derivatives_of_derivatives():
    f = lambda x: oracle.sin(x) * oracle.exp(x * x)
    by_hand = [
        lambda x: np.sin(x) * np.exp(x * x),
        lambda x: (np.cos(x) + 2 * x * np.sin(x)) * np.exp(x * x),
        lambda x: (np.sin(x) + 4 * x * np.cos(x) + 4 * x * x * np.sin(x)) * np.exp(x * x),
    ]
    derivatives = [f, oracle.grad(f), oracle.grad(oracle.grad(f))]
    forward = [f, lambda x: oracle.jvp(f, (x,), (1.0,))[1], lambda x: oracle.jvp(oracle.grad(f), (x,), (1.0,))[1]]
    for ours, pushed, wanted in zip(derivatives, forward, by_hand):
        np.testing.assert_allclose(oracle.base(ours(0.7)), wanted(0.7), rtol=1e-13)
        np.testing.assert_allclose(oracle.base(pushed(0.7)), wanted(0.7), rtol=1e-13)
    inner = lambda x: oracle.grad(lambda y: x * y)(1.0)  # d/dx (x · d/dy (x y)) = 2 x: perturbations are not confused
    assert float(oracle.base(oracle.grad(lambda x: x * inner(x))(3.0))) == 6


# What is refused, and failures ------------------------------------------------------------------------------------------

WRAPPED = {
    "as it is": lambda f: f,
    "jit": jx.jit,
    "vmap": lambda f: lambda x: jx.vmap(f)(jnp.stack([x, x])).sum(),
    "scan": lambda f: lambda x: lax.scan(lambda c, _: (f(c), None), x, length=2)[0],
    "cond": lambda f: lambda x: lax.cond(x > 0, f, jnp.cos, x),
    "checkpoint": jx.checkpoint,
    "while_loop": lambda f: lambda x: lax.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, f(s[1])), (0, x))[1],
}


@pytest.mark.parametrize("wrap", WRAPPED)
@pytest.mark.parametrize("outside", [lambda f: f, jx.jit], ids=["eager", "jit"])
def test_forward_derivatives_of_custom_vjp_are_refused_wherever_it_stands(wrap, outside):
    @jx.custom_vjp
    def ruled(x):
        return jnp.sin(x)

    ruled.defvjp(lambda x: (ruled(x), x), lambda x, ct: (ct * jnp.cos(x),))
    f = WRAPPED[wrap](ruled)
    for derivative in (lambda x: jx.jvp(f, (x,), (1.0,))[1], jx.jacfwd(f), lambda x: jx.linearize(f, x)[1](1.0)):
        with pytest.raises(TypeError, match="custom_vjp"):
            outside(derivative)(0.5)
    still = lambda x: f(lax.stop_gradient(x)) * x
    np.testing.assert_allclose(outside(lambda x: jx.jvp(still, (x,), (1.0,))[1])(0.5), f(0.5), rtol=1e-12)


@pytest.mark.parametrize("wrap", [name for name in WRAPPED if name != "while_loop"])
@pytest.mark.parametrize("outside", [lambda f: f, jx.jit], ids=["eager", "jit"])
def test_reverse_derivatives_of_while_loop_are_refused_wherever_it_stands(wrap, outside):
    f = WRAPPED[wrap](WRAPPED["while_loop"](jnp.sin))
    for derivative in (jx.grad(f), jx.jacrev(f), lambda x: jx.vjp(f, x)[1](1.0)):
        with pytest.raises(ValueError, match="while_loop"):
            outside(derivative)(0.5)
    still = lambda x: f(lax.stop_gradient(x)) * x
    np.testing.assert_allclose(outside(jx.grad(still))(0.5), f(0.5), rtol=1e-12)


def test_failures_are_reported_small_and_to_be_pasted(monkeypatch, tmp_path):
    """A wrong derivative of tanh, found, made small, and the text of it run."""
    half = lambda x: oracle.lift(np.full(x.shape, 0.5))
    monkeypatch.setattr(oracle, "tanh", oracle.smooth(np.tanh, half))
    failures, _ = running.failures_of([program(seed) for seed in range(8, 12)])
    assert 1 < len(failures) < 4 and {f.kind for f in failures} == {"wrong"}
    failure = failures[0]
    small = shrinking.shrunk(failure)
    assert small.kind == "wrong" and "tanh" in small.program.text()
    assert 2 * small.program.text().count("\n") < failure.program.text().count("\n")
    assert len(list(small.program.function.calls())) == 1
    monkeypatch.setattr(shrinking, "shrunk", lambda failure, judge: small)
    text = shrinking.report(failure)
    assert f"program {failure.program.seed} (" in text and "expected" in text and small.program.source() in text
    assert small.program.source().startswith(HEADER)
    (tmp_path / "pasted.py").write_text(small.program.source())
    done = subprocess.run([sys.executable, tmp_path / "pasted.py"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() and not done.stderr


@pytest.mark.parametrize("kind, change", [
    ("TypeError", lambda t: t.replace("y):\n", "y):\n    jnp.sin('no')\n", 1)),
    ("oracle", lambda t: t.replace("y):\n", "y):\n    unknown\n", 1)),
])  # fmt: skip
def test_errors_are_failures(kind, change, monkeypatch):
    written = Program.text
    monkeypatch.setattr(Program, "text", lambda self: change(written(self)))
    if kind == "TypeError":
        monkeypatch.setattr(oracle, "run", lambda fun, args: [])
    failure = running.alone(program(1))
    assert failure is not None and failure.kind == kind


def test_dropping_results_and_tracing_anew_are_judged(monkeypatch):
    good = running.examined(program(0))
    other = running.examined(program(7))
    assert isinstance(good, running.Traced) and isinstance(other, running.Traced)
    assert not running.run_together([good])
    swapped = running.Traced(good.program, good.closed, good.digest, other.half, good.kept, good.wanted)
    (failure,) = running.run_together([swapped])
    assert failure.kind in ("dce", "TypeError", "ValueError", "KeyError")
    numbers = iter(range(100))
    monkeypatch.setattr(running, "digest", lambda closed: str(next(numbers)).encode())
    failed = running.examined(program(0))
    assert isinstance(failed, running.Failure) and failed.kind == "traced again"
