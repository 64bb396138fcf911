"""Optimizers: against recorded results of optax, against NumPy, and inside every transformation."""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, optimizers as o, tree
from tests.oracle import there
from tests.oracle.cases.optimizers import COUNTS, SCHEDULES, cases, mask


NAMES = {"o": o, "np": np, "mask": mask}


def put(values):
    return tree.map(jnp.asarray, values)


# Beside optax ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", cases(SCHEDULES))
def test_schedules_of_python_numbers_as_optax(case: str) -> None:
    wanted = there.answer("optimizers", case)["values"]
    np.testing.assert_allclose([np.float64(eval(case, NAMES)(n)) for n in COUNTS], np.ravel(wanted), rtol=1e-5)


# Beside NumPy ----------------------------------------------------------------------------------------------------------


def losses(optimizer, steps: int = 200) -> list[float]:
    """Of a small least-squares fit."""
    random = np.random.default_rng(1)
    a, b = jnp.asarray(random.normal(size=(20, 4))), jnp.asarray(random.normal(size=20))

    @jx.jit
    def step(x, state):
        value, grads = jx.value_and_grad(lambda x: jnp.mean((a @ x - b) ** 2))(x)
        updates, state = optimizer.update(grads, state, x)
        return o.apply_updates(x, updates), state, value

    x, found = jnp.zeros(4), []
    state = optimizer.init(x)
    for _ in range(steps):
        x, state, value = step(x, state)
        found.append(float(value))
    best = float(np.mean((np.asarray(a) @ np.linalg.lstsq(np.asarray(a), np.asarray(b), rcond=None)[0] - b) ** 2))
    return [f - best for f in found]


@pytest.mark.parametrize(
    "optimizer",
    [o.sgd(0.1), o.momentum(0.05), o.sgd(0.05, 0.9, nesterov=True), o.rmsprop(o.linear_schedule(0.02, 0.0, 190)), o.adagrad(0.5),
     o.adam(0.05), o.adamw(0.05), o.lion(o.linear_schedule(0.05, 0.0, 190))],
    ids=["sgd", "momentum", "nesterov", "rmsprop", "adagrad", "adam", "adamw", "lion"],
)  # fmt: skip
def test_optimizers_find_the_minimum(optimizer) -> None:
    excess = losses(optimizer)
    assert excess[-1] < 1e-3 * excess[0]


def test_adam_in_numpy() -> None:
    random = np.random.default_rng(2)
    p, m, v = random.normal(size=5), np.zeros(5), np.zeros(5)
    optimizer = o.adam(0.1, b1=0.8, b2=0.95, eps=1e-6)
    ours = jnp.asarray(p)
    state = optimizer.init(ours)
    for t in range(1, 21):
        g = random.normal(size=5)
        m, v = 0.8 * m + 0.2 * g, 0.95 * v + 0.05 * g * g
        p = p - 0.1 * (m / (1 - 0.8**t)) / (np.sqrt(v / (1 - 0.95**t)) + 1e-6)
        updates, state = optimizer.update(jnp.asarray(g), state, ours)
        ours = o.apply_updates(ours, updates)
    np.testing.assert_allclose(ours, p, rtol=1e-4)


def test_momentum_in_numpy() -> None:
    p, u = 1.0, 0.0
    optimizer = o.momentum(0.1, 0.5)
    ours, state = jnp.asarray(p), optimizer.init(jnp.asarray(p))
    for g in (1.0, -2.0, 3.0):
        u = g + 0.5 * u
        p -= 0.1 * u
        updates, state = optimizer.update(jnp.asarray(g), state)
        ours = o.apply_updates(ours, updates)
    np.testing.assert_allclose(ours, p, rtol=1e-6)


def test_global_norm() -> None:
    values = {"a": jnp.asarray([3.0, 4.0]), "b": [jnp.asarray(12.0), None], "c": jnp.asarray([0 + 84j])}
    np.testing.assert_allclose(o.global_norm(values), 85.0)
    assert o.global_norm({}).shape == ()
    assert float(o.global_norm({})) == 0


def test_a_group_of_gradients_makes_one_step() -> None:
    several = o.MultiSteps(o.sgd(1.0), every_k_schedule=lambda step: jnp.where(step < 1, 2, 3))
    x = jnp.zeros(())
    state, seen = several.init(x), []
    for g in (1.0, 3.0, 1.0, 2.0, 6.0):
        updates, state = several.update(jnp.asarray(g), state, x)
        seen.append((float(updates), bool(several.has_updated(state))))
    assert seen == [(0.0, False), (-2.0, True), (0.0, False), (0.0, False), (-3.0, True)]


def test_injected_numbers_can_be_changed_between_steps() -> None:
    optimizer = o.inject_hyperparams(o.sgd)(learning_rate=0.5, momentum=None)
    state = optimizer.init(jnp.zeros(2))
    update = jx.jit(optimizer.update)
    first, state = update(jnp.ones(2), state)
    state.hyperparams["learning_rate"] = jnp.asarray(0.25)
    second, state = update(jnp.ones(2), state)
    assert (float(first[0]), float(second[0])) == (-0.5, -0.25)
    assert int(state.count) == 2


# Inside transformations -------------------------------------------------------------------------------------------------


def model():
    random = np.random.default_rng(3)
    params = {"w": jnp.asarray(random.normal(size=(3, 2))), "b": jnp.zeros(2, jnp.bfloat16), "none": None}
    x, y = jnp.asarray(random.normal(size=(8, 3))), jnp.asarray(random.normal(size=(8, 2)))
    return params, lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2)


OPTIMIZER = o.chain(
    o.clip_by_global_norm(1.0), o.adamw(o.warmup_cosine_decay_schedule(0.0, 0.1, 3, 10), weight_decay=0.01)
)


def by_hand(steps: int):
    params, loss = model()
    state = OPTIMIZER.init(params)
    for _ in range(steps):
        updates, state = OPTIMIZER.update(jx.grad(loss)(params), state, params)
        params = o.apply_updates(params, updates)
    return params, state


def step(carry, _):
    params, state = carry
    _, loss = model()
    updates, state = OPTIMIZER.update(jx.grad(loss)(params), state, params)
    return (o.apply_updates(params, updates), state), loss(params)


def assert_same(got, want, loose: float = 1e-3) -> None:
    """Alike; compiled bfloat16 is rounded less often, which the others feel a little."""
    assert tree.structure(got) == tree.structure(want)
    for a, b in zip(tree.leaves(got), tree.leaves(want)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        tolerance = 2e-2 if a.dtype == jnp.bfloat16 else loose
        np.testing.assert_allclose(np.asarray(a, np.float32), np.asarray(b, np.float32), rtol=tolerance, atol=tolerance)


def test_compiled() -> None:
    carry = (model()[0], OPTIMIZER.init(model()[0]))
    compiled = jx.jit(step)
    for _ in range(4):
        carry, _ = compiled(carry, None)
    assert_same(carry, by_hand(4))


def test_scanned() -> None:
    carry, values = lax.scan(step, (model()[0], OPTIMIZER.init(model()[0])), None, length=4)
    assert_same(carry, by_hand(4))
    assert values.shape == (4,)


def test_mapped_over_learning_rates() -> None:
    params, loss = model()

    def one(rate):
        optimizer = o.adam(rate)
        updates, _ = optimizer.update(jx.grad(loss)(params), optimizer.init(params), params)
        return o.apply_updates(params, updates)

    rates = jnp.asarray([0.1, 0.2])
    together = jx.vmap(one)(rates)
    for i in range(2):
        assert_same(tree.map(lambda x, i=i: x[i], together), one(rates[i]))


def test_the_gradient_through_a_step() -> None:
    params, loss = model()

    def after(rate):
        optimizer = o.sgd(rate, momentum=0.9)
        state, p = optimizer.init(params), params
        for _ in range(2):
            updates, state = optimizer.update(jx.grad(loss)(p), state, p)
            p = o.apply_updates(p, updates)
        return loss(p)

    with jx.enable_x64(True):
        got, h = float(jx.grad(after)(0.1)), 1e-3
        assert got == pytest.approx(float((after(0.1 + h) - after(0.1 - h)) / (2 * h)), rel=5e-2)


# Mistakes ---------------------------------------------------------------------------------------------------------------


def test_mistakes_are_named() -> None:
    x = jnp.ones(2)
    with pytest.raises(ValueError, match=r"takes the parameters: call update\(updates, state, params\)"):
        o.add_decayed_weights(0.1).update(x, o.EmptyState())
    with pytest.raises(ValueError, match=r"a chain of 2 transformations .* it got a tuple of 1: .*init\(params\)"):
        o.adam(0.1).update(x, (o.EmptyState(),))
    with pytest.raises(ValueError, match=r"'hard', 'smooth', 'refined'; it was 'soft'"):
        o.scale_by_lion(mode="soft")
    with pytest.raises(ValueError, match=r"positive number of decay_steps, it got 0"):
        o.cosine_decay_schedule(1.0, 0)
    with pytest.raises(ValueError, match=r"scales that are not negative"):
        o.piecewise_constant_schedule(1.0, {3: -0.1})
    with pytest.raises(ValueError, match=r"it got 2 schedules and 2 boundaries"):
        o.join_schedules([o.constant_schedule(1.0)] * 2, [1, 2])
    with pytest.raises(ValueError, match=r"static_args \['decay'\] are not parameters of sgd"):
        o.inject_hyperparams(o.sgd, static_args="decay")
