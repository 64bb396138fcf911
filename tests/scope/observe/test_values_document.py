"""The values document against NumPy: every figure is computed here from arrays that NumPy made."""

from __future__ import annotations

import gc
import json
import re

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import subjaxprs, walk
from jitscope_scope import observe
from jitscope_scope.observe.values import instrument as values_of
from jitscope_scope.observe.values.difference import said
from jitscope_scope.observe.values.summary import LEVELS, Summary, histogram, picture
from jitscope_widgets import validate
from jitscope_widgets.envelope import pack
from jitscope_widgets.unusual import unusual
from tests.extent import full
from tests.programs import lstm, transformer
from tests.programs.rows import row_of


RANDOM = np.random.default_rng(3)
KEPT = []
"""The arguments of all calls, and the functions: the ledger does not keep them alive."""


def looked(fun, *args, **options):
    """(document, the results of the compiled program)"""
    args = [jnp.array(x) if isinstance(x, np.ndarray) else x for x in args]
    jitted = jx.jit(fun)
    KEPT.append((args, jitted))
    results = jitted(*args)
    row = row_of(jitted, *args)
    document = observe.look(row, "values", **options)
    validate(document)
    return document, results


def by_path(document, result=0):
    return {row["path"]: row for row in document["rows"] if row["result"] == result}


def same(row, *arrays):
    """A row says what NumPy says of all elements of the arrays."""
    x = np.concatenate([np.asarray(a).reshape(-1) for a in arrays]).astype(np.float64)
    good = x[np.isfinite(x)]
    assert row["size"] == x.size
    assert (row["nan"], row["inf"]) == (np.isnan(x).sum(), np.isinf(x).sum())
    if not good.size:
        assert row["min"] is row["max"] is row["mean"] is row["std"] is None
        return
    assert row["zeros"] == (good == 0).sum()
    figures = [row[name] for name in ("min", "max", "mean", "std")]
    np.testing.assert_allclose(figures, [good.min(), good.max(), good.mean(), good.std()], rtol=2e-4, atol=1e-6)


def layer(x, w):
    z = x @ w
    e = jnp.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_each_value_is_what_numpy_gives():
    x, w = RANDOM.normal(size=(8, 5)).astype(np.float32), RANDOM.normal(size=(5, 7)).astype(np.float32)
    document, results = looked(layer, x, w)
    z = x @ w
    largest = z.max(axis=1, keepdims=True)
    e = np.exp(z - largest)
    wanted = {
        "in0": x,
        "in1": w,
        "dot_general": z,
        "reduce_max": largest,
        "exp": e,
        "div": e / e.sum(axis=1, keepdims=True),
    }
    rows = by_path(document)
    named = {row["label"]: row for row in document["rows"]}
    for name, value in wanted.items():
        same(rows.get(name) or named[name], value)
    assert named["x"]["path"] == "in0" and named["exp"]["type"] == "f32[8,7]"
    assert document["lines"][named["exp"]["line"]]["text"].strip() == "e = jnp.exp(z - z.max(axis=1, keepdims=True))"
    detail = next(d for d in document["details"] if d["path"] == named["div"]["path"])
    flat = np.asarray(results).reshape(-1)
    counts, _ = np.histogram(np.log10(flat), 32) if detail["histogram"]["log"] else np.histogram(flat, 32)
    assert sum(detail["histogram"]["counts"]) == flat.size
    assert np.abs(np.array(detail["histogram"]["counts"]) - counts).sum() <= 4  # an element at the edge of two bins
    assert [float(text) for text in detail["first"]] == pytest.approx(flat[:6].tolist(), rel=1e-5)
    assert document["cost"]["value"] > 0 and "compiled program" in document["differs"]


def looping(x, xs):
    def step(carry, x):
        total = carry * 0.5 + x
        return total, jnp.sqrt(total)

    return lax.scan(step, x, xs, reverse=True)


def test_a_scan_is_summed_up_over_all_iterations():
    x, xs = np.ones(3, np.float32), RANDOM.uniform(0.5, 2, (6, 3)).astype(np.float32)
    document, _ = looked(looping, x, xs)
    carry, totals = x, []
    for element in xs[::-1]:
        carry = carry * np.float32(0.5) + element
        totals.append(carry)
    inner = {row["label"]: row for row in document["rows"] if row["path"].startswith("e0/")}
    same(inner["add"], *totals)
    same(inner["sqrt"], *map(np.sqrt, totals))
    same(by_path(document)["e0"], totals[-1])
    assert inner["add"]["iterations"] == 6
    assert document["loops"] == [{"path": "e0", "count": 6, "looked": "all"}]
    last = next(d for d in document["details"] if d["path"] == inner["add"]["path"])
    assert last["iteration"] == 5 and [float(v) for v in last["first"]] == pytest.approx(totals[-1].tolist(), rel=1e-5)
    chosen, _ = looked(looping, x, xs, path=inner["add"]["path"], iteration=2)
    (detail,) = chosen["details"]
    assert detail["iteration"] == 2
    assert [float(v) for v in detail["first"]] == pytest.approx(totals[2].tolist(), rel=1e-5)


def long(x):
    def step(carry, i):
        return jnp.cos(carry) + i * 1e-5, carry.sum()

    return lax.scan(step, x, jnp.arange(30_000.0))


def test_of_a_long_loop_the_first_and_the_last_iteration_are_looked_at():
    document, _ = looked(long, np.zeros(2, np.float32))
    (loop,) = document["loops"]
    assert loop["count"] == 30_000 and loop["looked"] == "0, 29999"
    carry, seen = np.zeros(2, np.float32), {}
    for i in range(30_000):
        if i in (0, 2_000, 29_999):
            seen[i] = np.cos(carry)
        carry = np.cos(carry) + np.float32(i) * np.float32(1e-5)
    cosine = next(row for row in document["rows"] if row["label"] == "cos")
    same(cosine, seen[0], seen[29_999])
    chosen, _ = looked(long, np.zeros(2, np.float32), path=cosine["path"], iteration=2_000)
    assert [float(v) for v in chosen["details"][0]["first"]] == pytest.approx(seen[2_000].tolist(), rel=1e-4)


def choosing(x):
    return lax.cond(x.sum() > 0, lambda x: jnp.log(x), lambda x: -x, x)


def test_only_the_branch_that_is_taken_is_evaluated():
    x = np.array([1.0, 2.0], np.float32)
    document, _ = looked(choosing, x)
    labels = {row["label"] for row in document["rows"]}
    assert "log" in labels and "neg" not in labels
    same(next(row for row in document["rows"] if row["label"] == "log"), np.log(x))
    branch = next(row["path"] for row in document["rows"] if row["label"] == "log")
    other = branch.replace("branches1", "branches0")
    with pytest.raises(Unavailable, match="branch that was not taken"):
        looked(choosing, x, path=other)


def counting(x):
    return lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, s[1] * 2), (0, x))


def test_a_while_loop_iterates_as_often_as_it_does():
    document, _ = looked(counting, np.array([1.0, -3.0], np.float32))
    (loop,) = document["loops"]
    assert loop["count"] == 4 and loop["looked"] == "all"
    product = next(row for row in document["rows"] if row["label"] == "mul")
    same(product, *[np.array([1.0, -3.0]) * 2**k for k in range(1, 5)])
    assert by_path(document, 1)["e0"]["max"] == 16.0


def test_rows_of_a_mapped_loop_say_how_many_iterations_they_needed():
    document, _ = looked(
        jx.vmap(lambda n: lax.while_loop(lambda i: i < n, lambda i: i + 1, 0)), np.array([0, 2, 7], np.int32)
    )
    (said,) = [one for one in document["remarks"] if "rows" in one]
    assert "ran 7 iterations for each of its 3 rows" in said and "needed 0 to 7, 9 of the 21 that were computed" in said


def failing(x):
    y = jnp.log(x)
    return (y * 0).sum()


def test_the_first_nan_and_infinity_are_marked():
    document, _ = looked(failing, np.array([1.0, 0.0, -1.0], np.float32))
    rows = document["rows"]
    first = rows[document["first_bad"]]
    assert first["label"] == "log" and (first["nan"], first["inf"]) == (1, 1)
    same(first, np.array([0.0, -np.inf, np.nan]))
    assert document["sentence"].endswith(
        f"the first with NaN is log in line {failing.__code__.co_firstlineno + 1} of failing."
    )
    detail = next(d for d in document["details"] if d["path"] == first["path"])
    assert detail["picture"]["cells"] == "0in"


def nested(x):
    return jx.jit(lambda y: jnp.tanh(y) + 1)(x) * jnp.where(x > 0, x, 0)


def test_calls_are_entered():
    x = RANDOM.normal(size=9).astype(np.float32)
    document, _ = looked(nested, x)
    same(next(row for row in document["rows"] if row["label"] == "tanh"), np.tanh(x))
    assert any("/" in row["path"] for row in document["rows"])


def test_keys_integers_and_complex_numbers():
    def mixed(key, n, z):
        return jx.random.split(key), n % 3, z * z

    z = np.array([3 + 4j, 0, complex("nan")], np.complex64)
    document, _ = looked(mixed, jx.random.key(0), np.arange(10), z)
    rows = by_path(document)
    assert rows["in0"]["size"] == 0 and rows["in0"]["min"] is None
    remainder = next(row for row in reversed(document["rows"]) if row["type"] == "i32[10]")
    same(remainder, np.arange(10) % 3)
    assert rows["in2"]["max"] == 5.0 and rows["in2"]["nan"] == 1 and rows["in2"]["zeros"] == 1


def test_what_calls_python_is_not_run_again_unless_asked():
    calls = []

    def outside(x):
        calls.append(1)
        return np.asarray(x) * 2

    def calling(x):
        return jx.pure_callback(outside, jx.ShapeDtypeStruct((2,), np.float32), x) + 1

    x = jnp.ones(2)
    jx.block_until_ready(jx.jit(calling)(x))
    row = next(r for r in reversed(list(observe.ledger())) if r.function == "calling")
    before = len(calls)
    with pytest.raises(Unavailable, match="calls Python functions"):
        observe.look(row, "values")
    assert len(calls) == before


def test_arguments_that_are_gone_are_said():
    def alone(x):
        return x + 1

    jx.jit(alone)(jnp.ones(3))
    gc.collect()
    row = next(r for r in reversed(list(observe.ledger())) if r.function == "alone")
    with pytest.raises(Unavailable, match="arguments of the call of alone are gone"):
        observe.look(row, "values")


def test_the_result_that_differs_most_is_named_with_its_numbers():
    near = np.asarray([1.0, -2.0, 3.0], np.float32)
    pairs = {0: (near, near + np.float32(1e-6)), 2: (near * 1e-3, near * 2e-3), 3: (near, near)}
    told = said(["loss", "count", "bias", "scale"], pairs)
    assert told.startswith(
        "Farthest from the compiled program's is bias by 0.003, where its largest number is 0.003: more than rounding the last digits makes by itself, unless numbers cancel each other"
    )
    alone = said(["result"], {0: (near, near + np.float32(1e-6))})
    off = np.abs((near + np.float32(1e-6)).astype(np.float64) - near).max()
    assert alone.startswith(
        f"The result differs from the compiled program's by {off:.2g}, where its largest number is 3: XLA"
    )
    counts = said(["result"], {0: (np.asarray([1000, 2]), np.asarray([1000, 3]))})
    assert "by 1, where its largest number is 1e+03: more than" in counts
    assert "NaN" in said(["result"], {0: (near, np.asarray([1.0, np.nan, 3.0], np.float32))})
    assert "sign of zeros" in said(["result"], {0: (near * 0, near * -0.0)})


def test_it_ends_after_its_time_and_says_so():
    document, _ = looked(layer, np.ones((4, 3), np.float32), np.ones((3, 2), np.float32), seconds=0.0)
    line = layer.__code__.co_firstlineno + 1
    assert f"stopped in line {line}: it took" in document["remarks"][0] and {
        row["path"] for row in document["rows"]
    } == {"in0", "in1"}


@full
def test_the_transformer_is_looked_at_whole():
    def whole_transformer(*args):
        return transformer.program(*args)

    args = transformer.arguments()
    gradient = jx.jit(whole_transformer)
    results = jx.tree.leaves(gradient(*args))
    row = next(r for r in reversed(list(observe.ledger())) if r.function == "whole_transformer")
    document = values_of(row)
    validate(document)
    assert len(pack(document).text) < 200_000
    assert all(row["nan"] == row["inf"] == 0 for row in document["rows"])
    makers = {v: (f"e{i}", n) for i, eqn in enumerate(row.jaxpr.eqns) for n, v in enumerate(eqn.outvars)}
    known = {(r["path"], r["result"]): r for r in document["rows"]}
    for var, value in zip(row.jaxpr.outvars, results, strict=True):
        found, x = known[makers[var]], np.asarray(value, np.float64)
        assert found["max"] == pytest.approx(x.max(), rel=1e-3, abs=1e-6)
        assert found["std"] == pytest.approx(x.std(), rel=1e-3, abs=1e-6)
    assert "where its largest number is" in document["differs"] or "bit by bit" in document["differs"]


def test_the_lstm_has_the_values_of_all_iterations():
    def whole_lstm(*args):
        return lstm.program(*args)

    args = lstm.arguments()
    program = jx.jit(whole_lstm)
    jx.block_until_ready(program(*args))
    row = next(r for r in reversed(list(observe.ledger())) if r.function == "whole_lstm")
    document = values_of(row)
    assert [loop["looked"] for loop in document["loops"]] == ["all", "all"]
    assert all(r["iterations"] == 40 for r in document["rows"] if "/" in r["path"])


# --- what is said of one array ------------------------------------------------------------------------------------------


def test_sums_in_parts_are_those_of_the_whole():
    parts = [RANDOM.normal(loc, 2, 100).astype(np.float32) for loc in (0, 50, -3)]
    summary = Summary()
    for part in parts:
        summary.add(part)
    whole = np.concatenate(parts).astype(np.float64)
    assert summary.mean == pytest.approx(whole.mean()) and summary.std == pytest.approx(whole.std())


def test_a_histogram_over_decades_is_logarithmic():
    x = 10.0 ** RANDOM.uniform(-6, 3, 5_000)
    found = histogram(x)
    assert found.log and sum(found.counts) == x.size
    assert found.low == pytest.approx(x.min()) and found.high == pytest.approx(x.max())
    assert not histogram(RANDOM.normal(size=100)).log
    for steps in range(1, 200):  # numbers that are hardly apart
        close = 1 + np.finfo(np.float64).eps * np.arange(steps + 1)
        for x in (close, -close, 1e300 * close, np.append(close, close)):
            assert sum(histogram(x).counts) == x.size
    assert len(histogram(1 + 1e-12 * np.arange(50)).counts) == 32
    assert histogram(np.array([np.nan])) is None and histogram(np.zeros(4)).counts == [4]


def test_a_picture_is_made_of_means():
    x = np.arange(64 * 96, dtype=np.float32).reshape(64, 96)
    found = picture(x)
    assert (found.rows, found.columns) == (32, 32)
    means = x.reshape(32, 2, 32, 3).mean(axis=(1, 3))
    levels = (means - means.min()) / (means.max() - means.min()) * 15.999
    assert found.cells == "".join(LEVELS[int(v)] for v in levels.reshape(-1))
    assert (found.low, found.high) == (means.min(), means.max())
    assert "axis 0 (64) from top to bottom" in found.folded and "mean of about 6 elements" in found.folded
    x[5, 7] = np.nan
    assert picture(x).cells[2 * 32 + 2] == "n" and picture(x).cells.count("n") == 1
    assert picture(np.zeros((2, 3, 4))).rows == 6
    assert picture(np.float32(3)) is None


def test_a_document_is_plain_data():
    document, _ = looked(nested, np.ones(3, np.float32))
    assert json.loads(json.dumps(document)) == document


def test_a_value_is_listed_once_by_the_equation_that_makes_it():
    inner = jx.jit(lambda x: (jnp.tanh(x) * 2, x, 1.0))

    def f(x):
        a, b, one = inner(x)
        return lax.cond(x[0] > 0, lambda y: y + 1, lambda y: y - one, jx.nn.relu(a)), b

    x = np.arange(4, dtype=np.float32)
    document, results = looked(f, x)
    rows = document["rows"]
    closed = jx.make_jaxpr(f)(x)
    made = {(path, n) for path, eqn in walk(closed.jaxpr) for n in range(len(eqn.outvars)) if not subjaxprs(eqn.params)}
    taken = {key for key in made if "branches1" not in key[0]}  # x[0] is 0
    calls = {(row["path"], row["result"]) for row in rows} - taken
    assert calls == {("in0", 0), ("e0", 2)}  # the number that the call gives stands in no equation
    assert len(rows) == len(taken) + 2
    (result,) = [row for row in rows if row["label"] == "sub"]
    same(result, results[0])
    assert any(one["path"] == result["path"] for one in document["details"])


def guarded(x, least):
    """As `var` does: NaN where there are too few."""
    of_rows = jnp.where(x.sum(-1) > least, x.mean(-1), jnp.full(3, jnp.nan, jnp.float32))
    return jnp.where(x > -1, x, jnp.full((3, 4), -jnp.inf, jnp.float32)).sum() + of_rows.sum()


def test_a_nan_that_the_program_has_as_a_constant_is_no_find():
    document, result = looked(guarded, np.ones((3, 4), np.float32), np.float32(0))
    assert np.isfinite(result) and document["first_bad"] is None
    copies = [row for row in document["rows"] if row.get("written")]
    assert {(row["nan"] > 0, row["inf"] > 0) for row in copies} == {(True, False), (False, True)}
    assert f"those of {len(copies)}, copies of a NaN" in document["sentence"]
    assert not unusual({"instruments": {"values": document}})


def test_a_nan_that_no_result_has_is_told_and_stands_out_of_nothing():
    document, result = looked(lambda x: jnp.where(x > 0, jnp.log(x), 0).sum(), np.asarray([-1, 1, 2], np.float32))
    assert np.isfinite(result) and document["left_out"]
    assert document["rows"][document["first_bad"]]["label"] == "log"
    assert re.search(r"; the first with NaN is log in line \d+, and no result has any\.$", document["sentence"])
    assert not unusual({"instruments": {"values": document}})


def test_a_nan_of_one_iteration_that_no_result_has_is_left_out_beside_keys():
    """The loop's last iteration gives a number; a key has none."""

    def f(key, x):
        x = jx.lax.fori_loop(0, 3, lambda i, x: jnp.where(i == 1, jnp.log(-x), jnp.abs(jnp.nan_to_num(x)) + 1), x)
        return jx.random.split(key)[0], x

    document, _ = looked(f, jx.random.key(0), np.float32(1.0))
    assert document["first_bad"] is not None and document["left_out"]


def test_a_nan_that_is_given_and_given_back_is_not_said_to_be_left_out():
    document, _ = looked(lambda x, y: (x, y + 1), np.float32(np.nan), np.float32(1))
    assert document["first_bad"] is not None and "left_out" not in document


def test_a_constant_nan_that_is_chosen_is_found_where_it_is_chosen():
    document, result = looked(lambda *args: guarded(*args), np.ones((3, 4), np.float32), np.float32(9))
    assert np.isnan(result) and "left_out" not in document
    first = document["rows"][document["first_bad"]]
    assert first["label"].startswith("select") and not first.get("written")
    bad = sum(bool(row["nan"] or row["inf"]) for row in document["rows"])
    copies = sum(bool(row.get("written")) for row in document["rows"])
    assert f"{bad - copies} of them with NaN or infinity, beside {copies} copies of one " in document["sentence"]
    assert document["lines"][first["line"]]["text"].strip().startswith("of_rows")
    assert unusual({"instruments": {"values": document}}).startswith("first NaN: line")


def test_a_nan_that_is_computed_of_constants_is_found():
    document, _ = looked(lambda x: jnp.log(jnp.float32(-1) * jnp.ones(2)).sum() + x, np.float32(1))
    assert document["rows"][document["first_bad"]]["label"] == "log"
