"""The ledger is small and bounded, keeps nothing alive, and is told of calls in all threads."""

from __future__ import annotations

import copy
import functools
import gc
import json
import pickle
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import jitscope as jx
from jitscope.core import records
from jitscope_scope import observe
from jitscope_scope.observe.ledger import Ledger, Row
from tests.compiler.programs import add, cos, floats, mul, sin, steps, total


X = floats(3)


ledger_module = sys.modules[Ledger.__module__]


# Small, bounded, nothing kept alive -----------------------------------------------------------------------------------


def size_of(record: records.Record) -> int:
    bare = copy.copy(record)
    bare.payload = None
    fields = {name: getattr(bare, name) for name in records.Record.__slots__}
    return max(len(pickle.dumps(bare)), len(json.dumps(fields).encode()))


def test_records_are_small():
    many = {f"a_rather_long_name_{i}": floats(2, i % 3 + 1) for i in range(500)}
    with steps() as seen:
        f = jx.jit(lambda tree, mode: {k: sin(v) for k, v in list(tree.items())[:3]}, static_argnames="mode")
        f(many, mode="m" * 10_000)
        jx.grad(jx.jit(lambda x: total(sin(x))))(X)

        def failing(x):
            raise ValueError("e" * 10_000)

        with pytest.raises(ValueError):
            jx.jit(failing)(X)
    assert {r.step for r in seen.records} >= {"trace", "lower", "compile", "run", "error", "derive"}
    assert max(map(size_of, seen.records)) <= 1024, sorted((size_of(r), r.step) for r in seen.records)[-1]


def test_neither_arrays_nor_programs_are_kept_alive(ledger):
    held, argument = jx.device_put(floats(1000)), jx.device_put(floats(1000, seed=2))

    box = [held]

    def holding(x):
        return add(mul(x, 31.0), box[0])

    f = jx.jit(holding)
    out = f(argument)
    (row,) = ledger.function_rows("holding")
    assert row.entry is not None and row.jaxpr is not None
    gone = [weakref.ref(o) for o in (held, argument, out, f, holding, row.entry, row.entry.executable)]
    jx.clear_caches()
    box.clear()
    del held, argument, out, f, holding
    gc.collect()
    assert [ref() for ref in gone] == [None] * len(gone)
    assert row.entry is None and row.calls == 1
    assert row.jaxpr is not None and row.equations == 2  # kept beside the row, within bounds


def test_memory_is_bounded(ledger, monkeypatch):
    monkeypatch.setattr(ledger_module, "MAX_ROWS", 40)
    monkeypatch.setattr(ledger_module, "MAX_EQUATIONS", 60)
    refs, scope = [], {}
    for i in range(200):
        scope = {"sin": sin, "mul": mul}
        name = f"fun_{i}" if i % 2 else "again"
        exec(f"def {name}(x): return mul(mul(sin(x), {float(i)}), 2.0)", scope)
        jx.jit(scope[name]).trace(X)
        refs.append(weakref.ref(next(reversed(ledger.rows.values()))))
    del scope
    gc.collect()
    assert len(ledger) == 40
    assert sum(ref() is not None for ref in refs) <= 40 + 1
    kept = [row for row in ledger if row._kept_jaxpr is not None]
    assert 0 < len(kept) <= 20 and ledger._equations == sum(row.equations for row in kept) <= 60
    assert len(ledger._kept) == len(kept)
    assert len(ledger._history) <= 40 and len(ledger._compilations) <= 40
    assert sum(map(len, ledger._history.values())) <= 40
    last = next(reversed(ledger.rows.values()))
    assert last.jaxpr is not None and not last.dropped
    assert next(iter(ledger)).dropped and observe.compilation_document(next(iter(ledger)))["graph"]["nodes"] == []


def test_programs_without_equations_are_bounded_too(ledger, monkeypatch):
    monkeypatch.setattr(ledger_module, "MAX_ROWS", 20)
    for n in range(60):
        jx.jit(lambda x: x).trace(np.zeros(n, np.float32))
    assert len(ledger) == 20 and len(ledger._kept) <= 20


def test_wide_signatures_share_their_parts(ledger):
    tree = {f"k{i}": floats(2) for i in range(300)}
    for n in range(3):
        jx.jit(functools.partial(lambda n, t: t["k0"], n)).trace(tree)
    first, second, third = [row.signature for row in ledger]
    assert all(a is b for a, b in zip(first.leaves, third.leaves)) and second.tree is third.tree


# Listeners and threads ------------------------------------------------------------------------------------------------


def test_what_a_listener_raises_stays_out_of_the_users_call(ledger, capsys):
    heard: list[str] = []

    def bad(_: Any) -> None:
        raise RuntimeError("a bad listener")

    stops = [observe.listen(bad), observe.listen(lambda r: heard.append(r.step)), ledger.listen(bad),
             ledger.listen(lambda row: heard.append(row.function))]  # fmt: skip
    try:

        def loud(x):
            return mul(sin(x), 37.0)

        np.testing.assert_allclose(jx.jit(loud)(X), 37 * np.sin(X), rtol=1e-6)
    finally:
        [stop() for stop in stops]
        [stop() for stop in stops]  # twice does no harm
    assert heard.count("loud") == 4 and heard.count("compile") == 1
    assert "a bad listener" in capsys.readouterr().err
    jx.jit(sin)(floats(9))
    assert len(heard) == 8


def test_a_listener_may_use_the_compiler(ledger):
    done: list[str] = []

    def nosy(row: Row) -> None:
        if row.function == "watched" and "run" in row.seconds and not done:
            done.append(str(observe.compilation_document(row)["headline"]))
            jx.jit(lambda x: cos(x))(X)

    stop = ledger.listen(nosy)

    def watched(x):
        return mul(sin(x), 41.0)

    jx.jit(watched)(X)
    stop()
    assert done == ["2 equations → 1 kernel (1 fusion of 3)"]


def test_many_threads_write_one_ledger(ledger):
    errors: list[BaseException] = []

    def work(k: int) -> None:
        try:
            for n in range(8):

                def threaded(x, factor=float(k * 10 + n)):
                    return mul(sin(x), factor)

                threaded.__name__ = f"threaded_{k}"
                np.testing.assert_allclose(jx.jit(threaded)(X), np.sin(X) * (k * 10 + n), rtol=1e-6)
                ledger.mark(), list(ledger), ledger.since(ledger.mark())
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    [t.start() for t in threads], [t.join() for t in threads]
    assert not errors
    for k in range(4):
        rows = ledger.function_rows(f"threaded_{k}")
        assert len(rows) == 8 and all(row.seconds.keys() >= {"trace", "run"} and row.calls == 1 for row in rows)
    assert len({row.id for row in ledger}) == len(ledger)


def test_loops_outside_of_functions_reach_the_listeners(capfd) -> None:
    total = jx.lax.reduce(jx.numpy.arange(3.0), 0.0, lambda a, b: a - b, (0,))
    assert total.shape == () and "listener" not in capfd.readouterr().err
