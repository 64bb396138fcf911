"""`python -m tests.many_devices.ragged`: `ragged_all_to_all` against NumPy, on devices and mapped; XLA's CPU runtime has none for JAX to run."""

from __future__ import annotations

import os
from typing import Any


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
from jitscope import lax
from jitscope.sharding import PartitionSpec as P


def drawn(seed: int, d: int, k: int, groups: Any = None) -> tuple[Any, ...]:
    """Arguments of all devices, one after another, and the results."""
    rng, n, m = np.random.default_rng(seed), 9, 20
    groups = groups or [list(range(d))]
    size = len(groups[0])
    operand, output = rng.normal(size=(d, n, 2)).astype("f"), rng.normal(size=(d, m, 2)).astype("f")
    starts, sizes, places, comes = (np.zeros((d, size * k), np.int32) for _ in range(4))
    wanted = output.copy()
    for group in groups:
        for to, receiver in enumerate(group):
            free = 0
            for by, sender in enumerate(group):
                for i in range(k):
                    count = int(rng.integers(0, 3))
                    start, slot = int(rng.integers(0, n - count)), to * k + i
                    starts[sender, slot], sizes[sender, slot], places[sender, slot] = start, count, free
                    comes[receiver, by * k + i] = count
                    wanted[receiver, free : free + count] = operand[sender, start : start + count]
                    free += count + int(rng.integers(0, 2))
    return (operand, output, starts, sizes, places, comes), wanted


def main() -> None:
    for d, k, groups in [(2, 1, None), (4, 2, None), (4, 1, [[0, 2], [3, 1]])]:
        args, wanted = drawn(d, d, k, groups)
        flat = [a.reshape(-1, *a.shape[2:]) for a in args]
        mesh = jx.make_mesh((d,), ("i",), axis_types=(jx.sharding.AxisType.Auto,))
        send = lambda *a, groups=groups: lax.ragged_all_to_all(*a, axis_name="i", axis_index_groups=groups)
        cut = jx.shard_map(send, mesh=mesh, in_specs=P("i"), out_specs=P("i"), check_vma=groups is None)
        np.testing.assert_array_equal(np.asarray(jx.jit(cut)(*flat)).reshape(wanted.shape), wanted)
        if groups is None:
            np.testing.assert_array_equal(np.asarray(jx.vmap(send, axis_name="i")(*args)), wanted)
        weights = np.cos(np.arange(wanted.size, dtype=np.float32)).reshape(flat[1].shape)
        loss = lambda a, b, cut=cut, rest=flat[2:], weights=weights: (cut(a, b, *rest) * weights).sum()
        both = jx.grad(loss, (0, 1))(*flat[:2])
        # It is linear: what an element weighs in the result is what the loss grows by.
        direction = [np.sin(np.arange(x.size, dtype=np.float32)).reshape(x.shape) for x in flat[:2]]
        grown = float(loss(*direction))
        np.testing.assert_allclose(sum(float((g * v).sum()) for g, v in zip(both, direction)), grown, rtol=1e-4)
    print("ragged")


if __name__ == "__main__":
    main()
