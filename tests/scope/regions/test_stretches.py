"""Loops that print or keep something now and then: the stretches between are traced once for each length, wherever they begin."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest

from jitscope_scope.regions.compiled import Compiled
from tests.scope.regions.programs import parsed
from tests.scope.regions.test_programs import applied, names_of, same, watched


PROGRAMS = parsed("""
=== a list that grows, prints at the end of a turn
X = rng.normal(size=(40, 3)); y = X @ np.ones(3); w = np.zeros(3); losses = []
---
for i in range(100):
    err = X @ w - y
    w = w - 0.05 * X.T @ err / 40
    losses.append(float(np.mean(err ** 2)))
    if i % 10 == 0:
        print(i, round(losses[-1], 3))
=== a list that grows, prints at the start of a turn
X = rng.normal(size=(40, 3)); y = X @ np.ones(3); w = np.zeros(3); losses = []
---
for i in range(100):
    if i % 20 == 0:
        print(i, round(float(w[0]), 3))
    err = X @ w - y
    w = w - 0.05 * X.T @ err / 40
    losses.append(float(np.mean(err ** 2)))
=== no list, prints at the end of a turn
u = rng.random(30); kept = []
---
for t in range(3, 70):
    u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    if t % 10 == 0:
        kept.append(u.copy())
=== no list, prints at the start of a turn that may be skipped
u = rng.random(30); kept = []
---
for t in range(3, 70):
    if t % 10 == 0:
        kept.append(u.copy())
    if t % 7 == 3:
        continue
    u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
=== prints in the middle of a turn, and leaves the loop there
u = rng.random(30)
---
for t in range(70):
    u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    if t % 10 == 0:
        print(t, round(float(u[3]), 3))
        if t == 60:
            break
    u[0] *= 0.99
=== eager gradients, kept now and then
import jitscope, jitscope.numpy as jnp
X = jnp.asarray(rng.normal(size=(20, 3))); y = X @ jnp.ones(3); w = jnp.zeros(3); losses = []
def loss(w): return jnp.mean((X @ w - y) ** 2)
---
for i in range(60):
    w = w - 0.05 * jitscope.grad(loss)(w)
    if i % 10 == 0:
        losses.append(float(loss(w)))
=== eager gradients of what NumPy holds, kept now and then
import jitscope, jitscope.numpy as jnp
X = rng.normal(size=(20, 3)).astype(np.float32); y = X @ np.ones(3, np.float32); w = np.zeros(3, np.float32); losses = []
def loss(w): return jnp.mean((X @ w - y) ** 2)
---
for i in range(60):
    w = w - 0.05 * np.asarray(jitscope.grad(loss)(w))
    if i % 10 == 0:
        losses.append(round(float(loss(w)), 2))
""")
MOST = {"prints in the middle of a turn, and leaves the loop there": 1}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_stretches_are_compiled_once_for_each_length(program, monkeypatch: pytest.MonkeyPatch) -> None:
    regions, _ = watched(program, monkeypatch)
    plain, edited = names_of(program, 3), names_of(program, 3)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        exec(compile(program.cell, "<plain>", "exec"), plain)
    with contextlib.redirect_stdout(io.StringIO()) as also:
        exec(compile(applied(program.cell, regions, 2), "<edited>", "exec"), edited)
    assert said.getvalue() == also.getvalue()
    compiled: list[Any] = [v for n, v in edited.items() if n.endswith("_compiled")]
    assert len(compiled) == 1
    traces = compiled[0].traces if isinstance(compiled[0], Compiled) else compiled[0]._cache_size()
    assert traces <= MOST.get(program.name, 2)
    assert not [n for n in edited if n.endswith(("_size", "_first", "_stop", "_turns"))]
    for n in ("w", "u", "losses", "kept", "i", "t"):
        if n in plain:
            same(plain[n], edited[n], n, "jitscope" in program.before)


def test_arrays_of_a_history_are_as_read_only_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    (program,) = parsed("""
=== views of compiled arrays, kept
import jitscope.numpy as jnp
x = jnp.ones(3); kept = []
---
for i in range(20):
    x = jnp.sin(x)
    kept.append(np.asarray(x))
""")
    regions, _ = watched(program, monkeypatch)
    assert [r.verdict for r in regions if r.cell == 2] == ["compile"]
    for text in (program.cell, applied(program.cell, regions, 2)):
        names: dict[str, Any] = names_of(program, 0)
        exec(compile(text, "<cell>", "exec"), names)
        assert not any(a.flags.writeable for a in names["kept"])
