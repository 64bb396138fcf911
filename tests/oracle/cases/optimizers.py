"""Optimizers and schedules as optax has them: expressions over `o`, its module or ours."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tests.oracle.library import Library


STEPS = 5
COUNTS = (0, 1, 2, 3, 5, 9, 10, 11, 20, 50)

REAL = """
o.sgd(0.1) | o.sgd(0.1, momentum=0.9) | o.sgd(0.1, momentum=0.9, nesterov=True)
o.sgd(0.1, momentum=0.9, accumulator_dtype='float32') | o.sgd(o.linear_schedule(0.1, 0.01, 3))
o.rmsprop(0.01) | o.rmsprop(0.01, momentum=0.9) | o.rmsprop(0.01, centered=True, initial_scale=1.0)
o.rmsprop(0.01, decay=0.8, eps=1e-3, eps_in_sqrt=False, momentum=0.5, nesterov=True) | o.rmsprop(0.01, bias_correction=True)
o.rmsprop(0.01, centered=True, bias_correction=True, eps=1e-2, initial_scale=2.0) | o.adagrad(0.1)
o.adagrad(0.1, initial_accumulator_value=0.0) | o.adam(0.01) | o.adam(0.01, b1=0.8, b2=0.9, eps=1e-3, eps_root=1e-2)
o.adam(0.01, nesterov=True) | o.adam(0.01, mu_dtype='float32') | o.adam(o.exponential_decay(0.1, 2, 0.5)) | o.adamw(0.01)
o.adamw(0.01, weight_decay=0.1, mask={'w': True, 'b': False, 's': True, 'n': None, 'e': True}) | o.lion(0.01)
o.adamw(0.01, weight_decay=0.1, mask=mask) | o.adamw(o.cosine_decay_schedule(0.1, 4), weight_decay=0.1, nesterov=True)
o.lion(0.01, b1=0.5, b2=0.7, mu_dtype='bfloat16', weight_decay=0.1) | o.chain(o.scale_by_lion(mode='smooth', smooth_beta=2.0))
o.chain(o.scale_by_lion(mode='refined'), o.scale(-0.1)) | o.chain(o.clip(0.5), o.sgd(0.1)) | o.clip_by_global_norm(1.0)
o.clip_by_global_norm(100.0) | o.clip_by_block_rms(0.5) | o.chain(o.clip_by_global_norm(0.1), o.adam(0.1), o.scale(0.5))
o.add_decayed_weights(0.1) | o.add_decayed_weights(o.linear_schedule(0.1, 0.0, 3)) | o.scale_by_learning_rate(0.1)
o.scale_by_learning_rate(0.1, flip_sign=False) | o.scale_by_schedule(lambda count: count) | o.trace(0.9) | o.scale_by_adam()
o.masked(o.adam(0.1), mask) | o.masked(o.clip(0.1), {'w': False, 'b': True, 's': True, 'n': None, 'e': False})
o.ema(0.9) | o.ema(0.9, debias=False) | o.identity() | o.set_to_zero() | o.scale_by_stddev() | o.scale_by_rss() | o.scale_by_rms()
o.sgd(np.float32(0.1)) | o.inject_hyperparams(o.sgd)(0.1, momentum=0.9) | o.MultiSteps(o.adam(0.1), 2)
o.inject_hyperparams(o.adam)(o.linear_schedule(0.1, 0.0, 3)) | o.MultiSteps(o.sgd(0.1, momentum=0.9), 3, use_grad_mean=False)
"""
COMPLEX = """
o.sgd(0.1, momentum=0.9) | o.adam(0.1) | o.adam(0.1, nesterov=True) | o.rmsprop(0.1) | o.adagrad(0.1) | o.adamw(0.1)
o.rmsprop(0.1, centered=True, initial_scale=3.0) | o.clip_by_global_norm(0.3) | o.clip_by_block_rms(0.3) | o.sgd(o.constant_schedule(0.1))
"""
SCHEDULES = """
o.constant_schedule(0.5) | o.linear_schedule(1.0, 0.1, 10) | o.linear_schedule(0.1, 1.0, 10, 5) | o.linear_schedule(1.0, 0.1, 0)
o.polynomial_schedule(1.0, 0.1, 2, 10) | o.polynomial_schedule(1.0, 0.1, 0.5, 10, 2) | o.polynomial_schedule(1.0, 0.1, 3, 10, -2)
o.exponential_decay(1.0, 10, 0.5) | o.exponential_decay(1.0, 3, 0.5, transition_begin=2, staircase=True)
o.exponential_decay(1.0, 3, 0.5, end_value=0.3) | o.exponential_decay(1.0, 3, 2.0, end_value=4.0) | o.exponential_decay(1.0, 0, 0.5)
o.exponential_decay(1.0, 10, 0.0) | o.cosine_decay_schedule(1.0, 10) | o.cosine_decay_schedule(2.0, 10, 0.1, 2.0)
o.piecewise_constant_schedule(1.0, {3: 0.1, 10: 0.5}) | o.piecewise_constant_schedule(1.0) | o.warmup_constant_schedule(0.0, 1.0, 5)
o.warmup_cosine_decay_schedule(0.0, 1.0, 5, 20) | o.warmup_cosine_decay_schedule(0.1, 1.0, 5, 20, 0.2, 2.0)
o.warmup_cosine_decay_schedule(0.0, 0.0, 5, 20) | o.warmup_exponential_decay_schedule(0.0, 1.0, 5, 3, 0.5, 2, True, 0.2)
o.join_schedules([o.constant_schedule(1.0), o.linear_schedule(2.0, 3.0, 5), o.constant_schedule(4.0)], [3, 10])
"""


def cases(text: str) -> list[str]:
    """The expressions of a table."""
    return [case.strip() for line in text.strip().splitlines() for case in line.split(" | ")]


def mask(tree):
    """Which leaves have more than one number."""
    return {name: None if x is None else np.size(x) > 1 for name, x in tree.items()}


def params(kind: str) -> dict:
    """float32, bfloat16, a scalar, nothing, and an array without elements; or complex numbers."""
    random = np.random.default_rng(0)
    if kind == "complex":
        return {"z": (random.normal(size=3) + 1j * random.normal(size=3)).astype(np.complex64)}
    return {
        "w": random.normal(size=(2, 3)).astype(np.float32),
        "b": random.normal(size=3).astype(ml_dtypes.bfloat16),
        "s": np.float32(random.normal()),
        "n": None,
        "e": np.zeros((0, 2), np.float32),
    }


def gradients(kind: str, step: int) -> dict:
    """In the structure of the parameters."""
    random = np.random.default_rng(100 + step)

    def like(x):
        if x is None:
            return None
        values = random.normal(size=np.shape(x)) * (1 + step)
        if kind == "complex":
            values = values + 1j * random.normal(size=np.shape(x))
        return np.asarray(values, x.dtype)

    return {name: like(x) for name, x in params(kind).items()}


def trajectory(library: Library, expr: str, kind: str) -> list[Any]:
    """Leaf by leaf the parameters after some steps, the last updates, and the state."""
    o, put = library.optimizers, lambda tree: library.tree.map(library.jnp.asarray, tree)
    optimizer = eval(expr, {"o": o, "np": np, "mask": mask})
    p = put(params(kind))
    state = optimizer.init(p)
    updates = None
    for step in range(STEPS):
        updates, state = optimizer.update(put(gradients(kind, step)), state, p)
        p = o.apply_updates(p, updates)
    leaves = library.tree.leaves([p, updates, state])
    # Here the state of injected hyperparameters holds no states of schedules.
    return leaves[:8] if "inject_hyperparams" in expr else leaves


def values(library: Library, expr: str) -> list[Any]:
    """A schedule at some counts."""
    schedule = eval(expr, {"o": library.optimizers, "np": np})
    return [library.jnp.asarray(schedule(library.jnp.asarray(n, "int32"))) for n in COUNTS]


CASES = {
    **{f"{kind}: {expr}": lambda o, expr=expr, kind=kind: trajectory(o, expr, kind)
       for kind, table in (("real", REAL), ("complex", COMPLEX)) for expr in cases(table)},
    **{expr: lambda o, expr=expr: values(o, expr) for expr in cases(SCHEDULES)},
}  # fmt: skip


def sample(name: str) -> bool:
    """All: other tests read these answers, too."""
    return True
