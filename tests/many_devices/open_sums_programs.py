"""Open sums where JAX 0.10.2 ends the process, and what is exchanged where they stay open. Prints JSON."""

from __future__ import annotations

import functools
import json
import os


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.sharding import NamedSharding, PartitionSpec as P, reshard
from jitscope_kernel import inspect


MESH = jx.make_mesh((4, 2), ("x", "y"))
N = np.arange(32, dtype=np.float32).reshape(8, 4)


def put(a, *spec, **sums):
    return jx.device_put(a, NamedSharding(MESH, P(*spec, **sums)))


def raised(call) -> str:
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing"


def looked_at(u) -> list[str]:
    """What `debug_nans` says of terms, and of terms of which one is none."""
    parts = [s.data for s in u.addressable_shards]
    bad = jx.make_array_from_single_device_arrays(
        u.shape, u.sharding, [jx.device_put(np.full(parts[0].shape, np.nan, "float32"), parts[0].device), *parts[1:]]
    )
    with jx.debug_nans(True):
        return [raised(lambda: u + u), raised(lambda: bad + bad)]


def seen_on_devices(x, w) -> dict[str, list[float]]:
    """Least and greatest of what devices have of each value inside of a `shard_map`, by its operation."""
    program = jx.shard_map(lambda x, w: lax.psum(lax.pcast(x @ w, "x", to="unreduced"), "x"), out_specs=P())
    rows = inspect(jx.jit(program))(x, w).values.document["rows"]
    return {row["label"]: [row["min"], row["max"]] for row in rows}


def main() -> None:
    with jx.set_mesh(MESH):
        u, x, w = put(N, "x", unreduced={"y"}), put(N, "x"), put(N[:4] / 10, reduced={"x"})
        shown = [
            lambda: jx.jit(lambda u: jx.pure_callback(lambda a: a, u, u))(u),
            lambda: jx.jit(lambda u: jx.debug.print("{}", u))(u),
            lambda: jx.jit(lambda u: jx.debug.inspect_array_sharding(u, callback=print))(u),
            lambda: np.from_dlpack(x),
            lambda: np.from_dlpack(u),
            lambda: jx.debug.visualize_array_sharding(u),
            lambda: u @ u.T,
            lambda: jx.jit(jnp.sort)(u),
        ]
        moved = jx.jit(jx.grad(lambda a: reshard(reshard(a, P(reduced={"x"})), P()).sum()))(put(N[:4], reduced={"y"}))
        rows = put(np.array([0, 2, 2, 3]), "x")
        looked_up = jx.jit(jx.grad(lambda w: (w.at[rows].get(out_sharding=P("x")) ** 2).sum()))(w)
        loss = lambda w, x: (jnp.tanh(x @ w) ** 2).sum()
        slopes = lambda w, xs: [jx.grad(loss)(w, x) for x in xs]
        step = lambda w, xs: reshard(functools.reduce(jnp.add, slopes(w, xs)), P())
        exchanged = [jx.jit(f).lower(w, [x, x, x]).compile().as_text().count(" all-reduce(") for f in (step, slopes)]
        kept = jx.jit(jx.shard_map(lambda v: lax.pcast(v, "x", to="unreduced"), in_specs=P("x"), out_specs=P(unreduced={"x"})))  # fmt: skip
        found = {
            "shown": list(map(raised, shown)),
            "moved": [str(jx.typeof(moved)), np.asarray(reshard(moved, P())).tolist()],
            "looked up": [str(jx.typeof(looked_up)), np.asarray(reshard(looked_up, P())).tolist()],
            "exchanged": exchanged,
            "summed": np.asarray(jx.jit(step)(w, [x, 2 * x])).tolist(),
            "looked at": looked_at(u),
            "equivalent": [
                u.sharding.is_equivalent_to(s, 2)
                for s in (x.sharding, w.sharding, u.sharding, jx.sharding.SingleDeviceSharding(jx.devices()[0]))
            ],
            "values": seen_on_devices(x, w),
            "kept": kept.lower(x).compile().as_text().count(" all-reduce("),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
