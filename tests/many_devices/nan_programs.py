"""`python -m tests.many_devices.nan_programs`: the greatest and the least of arrays that lie over eight devices and have a NaN, beside
NumPy's."""

import json
import os
from collections.abc import Callable, Iterator
from typing import Any


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, ops
from tests import extent


MESH = jx.make_mesh((4, 2), ("a", "b"), axis_types=(jx.sharding.AxisType.Auto,) * 2)
SPECS = [jx.P(), jx.P("a"), jx.P(None, ("a", "b")), jx.P("b", "a")]


def _own(function: Callable[..., Any], out: Any) -> Callable[..., Any]:
    return jx.shard_map(function, mesh=MESH, in_specs=jx.P("a", "b"), out_specs=out)


Case = tuple[Callable[..., Any], Callable[..., Any]]
CASES: dict[str, Case] = {
    **{
        f"max along {axis}": (lambda x, a=axis: jnp.max(x, axis=a), lambda x, a=axis: np.max(x, axis=a))
        for axis in (None, 0, 1)
    },
    **{
        f"min along {axis}": (lambda x, a=axis: jnp.min(x, axis=a), lambda x, a=axis: np.min(x, axis=a))
        for axis in (None, 0, 1)
    },
    "max of logs": (lambda x: jnp.max(jnp.log(x * x), axis=0), lambda x: np.max(np.log(x * x), axis=0)),
    "ptp": (jnp.ptp, np.ptp),
    "nanmax": (lambda x: jnp.nanmax(x, axis=1), lambda x: np.nanmax(x, axis=1)),
    "norm": (lambda x: jnp.linalg.norm(x, np.inf), lambda x: np.linalg.norm(x, np.inf)),
    "greatest of segments": (
        lambda x: ops.segment_max(x, jnp.arange(len(x)) % 4, 4),
        lambda x: np.stack([x[i::4].max(axis=0) for i in range(4)]),
    ),
    "least of places": (
        lambda x: x[:4].at[jnp.arange(len(x)) % 4].min(x),
        lambda x: np.stack([x[i::4].min(axis=0) for i in range(4)]),
    ),
    "softmax": (jx.nn.softmax, lambda x: (e := np.exp(x - x.max(1, keepdims=True))) / e.sum(1, keepdims=True)),
    "pmax": (_own(lambda x: lax.pmax(x, ("a", "b")), jx.P()), lambda x: np.max(_parts(x), axis=(0, 1))),
    "pmin": (_own(lambda x: lax.pmin(x, "b"), jx.P("a")), lambda x: np.concatenate(np.min(_parts(x), axis=1))),
    "of a device's own": (_own(lambda x: lax.pmax(jnp.max(x), ("a", "b")), jx.P()), np.max),
}


def _parts(x: np.ndarray) -> np.ndarray:
    rows, columns = x.shape
    return x.reshape(4, rows // 4, 2, columns // 2).transpose(0, 2, 1, 3)


def _lost() -> Iterator[str]:
    """`make test` lays each of the arrays out in two of the ways, in turn, and compiles all cases into one program."""
    functions = {name: function for name, (function, _) in CASES.items()}
    together = jx.jit(lambda x: {name: function(x) for name, function in functions.items()})
    alone = {name: jx.jit(function) for name, function in functions.items()}
    for at, (shape, dtype) in enumerate([((16, 32), "float32"), ((64, 1024), "float32"), ((64, 1024), "bfloat16")]):
        for place in [(0, 0), (shape[0] - 3, 17)]:
            exact = np.random.default_rng(0).standard_normal(shape)
            exact[place] = np.nan
            exact[2, 3], exact[3, 2] = np.inf, -np.inf
            given = jnp.asarray(exact).astype(dtype)
            for spec in SPECS if extent.ALL else SPECS[at % 2 :: 2]:
                x = jx.device_put(given, jx.NamedSharding(MESH, spec))
                found = {name: run(x) for name, run in alone.items()} if extent.ALL else together(x)
                for name, (_, reference) in CASES.items():
                    want = reference(np.asarray(given).astype(np.float64))
                    if not np.allclose(
                        np.asarray(found[name]).astype(np.float64), want, rtol=2e-2, atol=1e-2, equal_nan=True
                    ):
                        yield f"{name} of {dtype}{list(shape)} over {spec}, NaN at {place}"


def _exchanged() -> list[str]:
    """What devices exchange for one greatest element."""
    x = jx.device_put(np.ones((64, 128), np.float32), jx.NamedSharding(MESH, jx.P("a")))
    lines = jx.jit(jnp.max).lower(x).compile().as_text().splitlines()
    return [line.split(" = ")[1].split(" ")[0] for line in lines if " all-reduce(" in line]


with np.errstate(all="ignore"):
    print(json.dumps({"lost": list(_lost()), "exchanged": _exchanged()}))
