"""The example programs, small, against NumPy and SciPy; and each as a user runs it."""

from __future__ import annotations

import itertools
import re
import sys
import zipfile

import numpy as np
import pytest
import scipy.optimize
import scipy.special
import scipy.stats

import jitscope as jax
import jitscope.numpy as jnp
from examples.programs import allconv, black_scholes, nbody, newton_cg, pln, rnn, transformer
from jitscope import optimizers
from tests.extent import as_users


def slope(fun, args, direction, step=1e-5):
    """Central difference of a function of a tree in its first argument."""
    moved = lambda s: jax.tree.map(lambda x, d: x + s * d, args[0], direction)
    with np.errstate(all="ignore"):
        return (float(fun(moved(step), *args[1:])) - float(fun(moved(-step), *args[1:]))) / (2 * step)


def directions(tree, seed=0):
    random = np.random.default_rng(seed)
    return jax.tree.map(lambda x: random.standard_normal(np.shape(x)), tree)


def widened(tree):
    return jax.tree.map(lambda x: np.asarray(x, np.float64 if np.asarray(x).dtype.kind == "f" else None), tree)


def dot(a, b):
    return sum(float(np.sum(np.asarray(x) * np.asarray(y))) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b)))


def assert_gradient(loss_and_gradient, *args, step=1e-5):
    """Of the first argument, in double precision, along random directions."""
    with jax.enable_x64(True):
        args = widened(args)
        value, gradient = loss_and_gradient(*args)
        for seed in range(2):
            along = directions(args[0], seed)
            want = slope(lambda *a: loss_and_gradient(*a)[0], args, along, step)
            assert dot(gradient, along) == pytest.approx(want, rel=1e-4, abs=1e-7)
    return float(value)


# Truncated Newton-CG ----------------------------------------------------------------------------------------------------


def solved(name):
    problem = newton_cg.PROBLEMS[name]
    data = problem.data()
    found = jax.jit(newton_cg.solver(problem, jax, jnp))(newton_cg.start(problem), *data)
    return problem, data, found


def test_quadratic_is_minimal_where_the_system_is_solved():
    problem, (a, b), found = solved("quadratic")
    a, b = a.astype(np.float64), b.astype(np.float64)
    best = np.linalg.solve(a, b)
    lowest = -0.5 * b @ best
    assert float(found.value) == pytest.approx(lowest, rel=1e-5)
    assert 0 < int(found.steps) < newton_cg.MAX_STEPS
    by_python = newton_cg.minimize_in_python(
        lambda x: 0.5 * x @ a @ x - b @ x, lambda x: a @ x - b, lambda x: lambda v: a @ v, newton_cg.start(problem), 200
    )
    assert by_python.steps == int(found.steps)
    assert by_python.value == pytest.approx(lowest, rel=1e-5)


def test_logistic_regression_as_scipy_has_it(monkeypatch):
    monkeypatch.setattr(newton_cg, "EXAMPLES", 500)
    monkeypatch.setattr(newton_cg, "FEATURES", 10)
    monkeypatch.setitem(newton_cg.PROBLEMS, "logistic", newton_cg.PROBLEMS["logistic"]._replace(parameters=10))
    _, (x, y), found = solved("logistic")
    x, y = x.astype(np.float64), y.astype(np.float64)
    loss = lambda w: np.mean(np.log1p(np.exp(-y * (x @ w)))) + 5e-5 * w @ w
    best = scipy.optimize.minimize(loss, np.zeros(10), tol=1e-10)
    assert float(found.value) == pytest.approx(best.fun, abs=1e-5)
    np.testing.assert_allclose(found.x, best.x, atol=0.05)


def test_the_forward_algorithm_sums_over_all_paths():
    symbols = np.array([0, 2, 1, 5, 3], np.int32)
    x = np.random.default_rng(0).standard_normal(newton_cg.PROBLEMS["hmm"].parameters).astype(np.float32)
    k, m = newton_cg.STATES, newton_cg.SYMBOLS
    softmax = lambda z: scipy.special.softmax(z, axis=-1)
    transition, emission = softmax(x[: k * k].reshape(k, k)), softmax(x[k * k : k * (k + m)].reshape(k, m))
    initial = softmax(x[k * (k + m) :])
    total = 0.0
    for path in itertools.product(range(k), repeat=len(symbols)):
        chance = initial[path[0]] * emission[path[0], symbols[0]]
        for before, now, symbol in zip(path, path[1:], symbols[1:]):
            chance *= transition[before, now] * emission[now, symbol]
        total += chance
    want = -np.log(total) / len(symbols) + 1e-2 * np.sum(x.astype(np.float64) ** 2)
    for np_like, scan in ((jnp, jax.lax.scan), (np, None)):
        got = newton_cg.hidden_markov(np_like, scan)(x, symbols)
        assert float(got) == pytest.approx(want, rel=1e-5)


def test_the_markov_fit_ends_where_the_slope_is_nothing(monkeypatch):
    monkeypatch.setattr(newton_cg, "LENGTH", 30)
    problem, data, found = solved("hmm")
    grad = jax.grad(newton_cg.hidden_markov(jnp, jax.lax.scan))
    first = np.linalg.norm(grad(newton_cg.start(problem), *data))
    assert np.linalg.norm(grad(found.x, *data)) <= newton_cg.TOLERANCE * first
    assert int(found.steps) < newton_cg.MAX_STEPS


# Poisson log-normal -------------------------------------------------------------------------------------------------------


def losses_in_numpy(Y, O, X, steps, rate):
    """The same fit in double precision with derivatives by hand."""
    Y, O, X = (np.asarray(v, np.float64) for v in (Y, O, X))
    n, p = Y.shape
    params = {"B": np.zeros((1, p)), "M": np.zeros((n, p)), "S": np.ones((n, p))}
    mean, square = ({k: np.zeros_like(v) for k, v in params.items()} for _ in range(2))
    omega, losses = np.eye(p), []
    safe = Y + (Y == 0)
    stirling = np.sum(np.log(np.sqrt(2 * np.pi * safe)) + safe * np.log(safe / np.e))
    for t in range(1, steps + 1):
        B, M, S = params["B"], params["M"], params["S"]
        A = np.exp(O + M + X @ B + S**2 / 2)
        elbo = n / 2 * np.log(np.linalg.det(omega)) + np.sum(-A + Y * (O + M + X @ B) + np.log(S))
        elbo -= 0.5 * (np.sum(M**2) + np.sum(np.sum(S**2, axis=0) * np.diag(omega)))
        losses.append(-(elbo + 0.5 * n * p - stirling))
        gradients = {"B": X.T @ (A - Y), "M": A - Y + M, "S": A * S - 1 / S + S * np.diag(omega)}
        for k, g in gradients.items():
            mean[k], square[k] = 0.9 * mean[k] + 0.1 * g, 0.999 * square[k] + 0.001 * g**2
            step = (mean[k] / (1 - 0.9**t)) / (np.sqrt(square[k] / (1 - 0.999**t)) + 1e-8)
            params[k] = params[k] - rate * step
        M, S = params["M"], params["S"]
        omega = np.linalg.inv((M.T @ M + np.diag(np.sum(S**2, axis=0))) / n)
    return np.array(losses)


FIT = (6, 1e-2)


@pytest.fixture(scope="module")
def oaks():
    return pln.tutorial_data(*pln.synthetic_oaks(), copies=1)


@pytest.fixture(scope="module")
def wanted(oaks):
    return losses_in_numpy(*oaks, *FIT)


@pytest.mark.parametrize("level", pln.LEVELS)
def test_all_levels_reach_the_same_elbo(level, oaks, wanted):
    losses = pln.LEVELS[level](jax, jnp, optimizers, *oaks, *FIT)
    np.testing.assert_allclose(losses, wanted, rtol=2e-4)
    assert wanted[-1] < 0.99 * wanted[0]


def test_level_2_compiled_ahead_of_time(oaks, wanted):
    compiled, seconds = pln.compile_level_2(jax, jnp, optimizers, *oaks, *FIT)
    assert seconds > 0
    np.testing.assert_allclose(compiled(*pln.parameters(jnp, *oaks)), wanted, rtol=2e-4)


def test_a_plain_class_as_carry_is_refused_with_advice(oaks):
    with pytest.raises(TypeError, match=r"init\['PLN'\].*PlainPLN is not an array.*register_dataclass"):
        pln.fit_plain_class(jax, jnp, optimizers, *oaks, *FIT)


def test_oaks_are_read_from_files_and_from_a_wheel(tmp_path):
    counts = np.arange(pln.SAMPLES * pln.TAXA).reshape(pln.SAMPLES, pln.TAXA)
    text = "\n".join([",".join(f"t{i}" for i in range(pln.TAXA)), *(",".join(map(str, row)) for row in counts)])
    for name in ("counts", "offsets"):
        path = tmp_path / "files" / "load_data" / "oaks" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        with zipfile.ZipFile(tmp_path / "pyplnmodels-1.0-py3-none-any.whl", "a") as wheel:
            wheel.writestr(f"pyPLNmodels/load_data/data/oaks/{name}.csv", text)
    (tmp_path / "wheel").mkdir()
    (tmp_path / "pyplnmodels-1.0-py3-none-any.whl").rename(tmp_path / "wheel" / "pyplnmodels-1.0-py3-none-any.whl")
    for folder in ("files", "wheel"):
        for table in pln.read_oaks(tmp_path / folder):
            np.testing.assert_array_equal(table, counts)
    Y, O, X = pln.tutorial_data(counts, counts + 1, copies=100)
    assert (Y.shape, O.shape, X.shape) == ((11_600, 114), (11_600, 114), (11_600, 1))
    np.testing.assert_array_equal(Y[:100], np.repeat(counts[:1], 100, axis=0))


def test_missing_oaks_are_told_how_to_get(tmp_path):
    with pytest.raises(pln.MissingOaks, match=r"pip download --no-deps pyPLNmodels"):
        pln.read_oaks(tmp_path)


# Networks -----------------------------------------------------------------------------------------------------------------


def test_allconv_step_goes_down_the_gradient():
    params, x, labels = allconv.arguments(count=2, width=0.03)
    step = allconv.make(jax, jnp)
    assert allconv.network(jax, jnp)(params, x).shape == (2, allconv.CLASSES)

    def loss_and_gradient(params, x, labels):
        after, value = step(params, x, labels, rate=1.0)
        return value, jax.tree.map(lambda p, q: p - q, params, after)

    both = jax.jit(loss_and_gradient)
    value = assert_gradient(both, params, x, labels, step=1e-7)  # no further: it has kinks
    assert value == pytest.approx(np.log(10), abs=1.5)
    with jax.enable_x64(True):
        wide = widened((params, x, labels))
        before, gradient = both(*wide)
        lower = jax.tree.map(lambda p, g: p - 0.01 * g, wide[0], gradient)
        assert float(both(lower, *wide[1:])[0]) < float(before)


def test_allconv_in_numpy():
    params, x, _ = allconv.arguments(count=1, width=0.02)
    want = np.asarray(x, np.float64)
    for i, ((window, bias), (k, _, stride, padding)) in enumerate(zip(params, allconv.LAYERS)):
        size = want.shape[1]
        out = -(-(size if padding == "SAME" else size - k + 1) // stride)
        total = max((out - 1) * stride + k - size, 0)
        want = np.pad(want, [(0, 0), *[(total // 2, total - total // 2)] * 2, (0, 0)])
        patches = np.lib.stride_tricks.sliding_window_view(want, (k, k), axis=(1, 2))[:, ::stride, ::stride]
        want = np.einsum("nhwcij,ijco->nhwo", patches, window) + bias
        want = np.maximum(want, 0) if i < len(params) - 1 else want
    got = jax.jit(allconv.network(jax, jnp))(params, x)
    np.testing.assert_allclose(got, want.mean(axis=(1, 2)), rtol=1e-3, atol=1e-4)


def transformer_in_numpy(p, x, y):
    p, x, y = widened((p, x, y))

    def normalize(x, scale, shift):
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift

    out = []
    for sentence in x:
        z = normalize(sentence, p["scale1"], p["shift1"])
        tokens, width = z.shape
        part = width // transformer.HEADS
        mixed = np.zeros_like(z)
        for h in range(transformer.HEADS):
            q, k, v = ((z @ p[name])[:, h * part : (h + 1) * part] for name in "qkv")
            scores = np.where(np.tri(tokens, dtype=bool), q @ k.T / part**0.5, -np.inf)
            mixed[:, h * part : (h + 1) * part] = scipy.special.softmax(scores, axis=1) @ v
        s = sentence + mixed @ p["o"]
        u = normalize(s, p["scale2"], p["shift2"]) @ p["up"] + p["up_bias"]
        gelu = 0.5 * u * (1 + np.tanh(0.7978845608 * (u + 0.044715 * u**3)))
        out.append(s + gelu @ p["down"] + p["down_bias"])
    return np.mean((np.array(out) - y) ** 2)


def test_transformer():
    args = transformer.arguments(sentences=2, tokens=5, width=8)
    value = assert_gradient(jax.jit(transformer.make(jax, jnp)), *args)
    assert value == pytest.approx(transformer_in_numpy(*args), rel=1e-6)


def test_rnn():
    params, x = rnn.arguments(steps=8, batch=2, hidden=4)
    value = assert_gradient(jax.jit(rnn.make(jax, jnp)), params, x)
    p, h, c, said = widened(params), np.zeros((2, 4)), np.zeros((2, 4)), []
    for row in x:
        keep, write, show, new = np.split(row @ p["from_input"] + h @ p["from_state"] + p["bias"], 4, axis=1)
        c = scipy.special.expit(keep + 1) * c + scipy.special.expit(write) * np.tanh(new)
        h = scipy.special.expit(show) * np.tanh(c)
        said.append(h @ p["out"])
    assert value == pytest.approx(np.mean((np.array(said)[rnn.DELAY :] - x[: -rnn.DELAY]) ** 2), rel=1e-6)


# Simulation and prices ------------------------------------------------------------------------------------------------------


def test_nbody_in_numpy():
    x, v, m = args = nbody.arguments(bodies=7)
    got_x, got_v = jax.jit(nbody.make(jax, jnp, steps=20))(*args)
    x, v = x.astype(np.float64), v.astype(np.float64)

    def acceleration(x):
        total = np.zeros_like(x)
        for i, j in itertools.permutations(range(len(x)), 2):
            d = x[j] - x[i]
            total[i] += m[j] * d / (d @ d + nbody.SOFTENING**2) ** 1.5
        return total

    for _ in range(20):
        v = v + 0.5 * nbody.STEP * acceleration(x)
        x = x + nbody.STEP * v
        v = v + 0.5 * nbody.STEP * acceleration(x)
    np.testing.assert_allclose(got_x, x, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got_v, v, rtol=1e-4, atol=1e-5)


def test_nbody_keeps_energy_and_momentum():
    x, v, m = nbody.arguments(bodies=16)
    energy = jax.jit(nbody.make_energy(jax, jnp))
    after = jax.jit(nbody.make(jax, jnp))(x, v, m)
    assert float(energy(*after, m)) == pytest.approx(float(energy(x, v, m)), rel=1e-3)
    np.testing.assert_allclose(m @ np.asarray(after[1]), m @ v, atol=1e-6)


def test_black_scholes_as_scipy_has_it():
    option = black_scholes.arguments(options=50)
    value, delta, gamma, vega = jax.jit(black_scholes.make(jax, jnp))(*option)
    spot, strike, years, rate, volatility = (x.astype(np.float64) for x in option)
    normal, spread = scipy.stats.norm, volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + volatility**2 / 2) * years) / spread
    want = spot * normal.cdf(d1) - strike * np.exp(-rate * years) * normal.cdf(d1 - spread)
    np.testing.assert_allclose(value, want, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(delta, normal.cdf(d1), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(gamma, normal.pdf(d1) / (spot * spread), rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(vega, spot * normal.pdf(d1) * np.sqrt(years), rtol=1e-3, atol=1e-3)


# As a user runs them --------------------------------------------------------------------------------------------------------


@as_users
@pytest.mark.parametrize(
    "program", [newton_cg, transformer, nbody, black_scholes], ids=lambda p: p.__name__.split(".")[-1]
)
def test_the_program_prints_numbers(program, capsys, monkeypatch):
    if program is newton_cg:
        monkeypatch.setattr(newton_cg, "PROBLEMS", {"quadratic": newton_cg.PROBLEMS["quadratic"]})
    program.main(jax, jnp)
    said = capsys.readouterr().out
    assert re.findall(r"\d\.\d", said) and "nan" not in said


@as_users
def test_rnn_learns(capsys):
    loss = rnn.main(jax, jnp, optimizers, steps=100)
    assert loss < 0.7
    assert capsys.readouterr().out.count("loss") >= 5


def test_pln_fits_synthetic_counts_where_the_oaks_are_absent(capsys, monkeypatch, tmp_path):
    arguments = ["pln.py", "--data", str(tmp_path), "--steps", "3", "--copies", "1", "--levels", "2"]
    monkeypatch.setattr(sys, "argv", arguments)
    pln.main(jax, jnp, optimizers)
    said = capsys.readouterr().out
    assert "pip download" in said and "synthetic" in said
    assert "116 samples of 114 taxa, 3 steps" in said and "level 2" in said
