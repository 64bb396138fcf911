"""What devices compute inside of `shard_map`, equation by equation: `python -m tests.many_devices.values_programs` prints, for each program,
its document, all values by the operation that made them, and how far the results of the inside, put together, are from the program's."""

from __future__ import annotations

import itertools
import json
import os
from typing import Any


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.shardings import names_of, padded
from jitscope.sharding import AxisType, PartitionSpec as P
from jitscope_scope.observe import ledger
from jitscope_scope.observe.instruments import look
from jitscope_scope.observe.values import MEMORY, SECONDS
from jitscope_scope.observe.values.evaluation import Evaluation, Follower
from jitscope_widgets import validate


MESH = jx.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
A = np.arange(48, dtype=np.float32).reshape(8, 6) / 48
W = np.cos(np.arange(18, dtype=np.float32)).reshape(6, 3)
TURN = [(i, (i + 1) % 4) for i in range(4)]


def mapped(f: Any, ins: Any, outs: Any, **options: Any) -> Any:
    return jx.shard_map(f, mesh=MESH, in_specs=ins, out_specs=outs, **options)


def layer(a: Any, w: Any) -> Any:
    h = jnp.sin(a @ w)
    total = lax.psum(h.sum(0), "x")
    return h * total + lax.axis_index("x")


def walking(a: Any) -> Any:
    return lax.scan(lambda c, t: (lax.psum(c * 0.125, "x") + t, jnp.exp(c)), a[0] * 0, a)


def exchanging(a: Any) -> Any:
    everywhere = lax.all_gather(a, "x", tiled=True)
    turned = lax.ppermute(a, "x", TURN)
    return turned + everywhere.sum(), lax.psum_scatter(everywhere, "x", tiled=True)


def choosing(a: Any) -> Any:
    alike = lax.cond(lax.psum(a.sum(), "x") > 0, lambda b: jnp.tanh(b), lambda b: -b, a)
    return lax.cond(lax.axis_index("x") > 1, lambda b: b * 3, lambda b: jnp.log1p(b), alike)


def counting(a: Any) -> Any:
    once = lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, a))[1]
    limit = lax.axis_index("x")
    return lax.while_loop(lambda c: c[0] < limit, lambda c: (c[0] + 1, c[1] + 1), (limit * 0, once))[1]


def drawing(a: Any) -> Any:
    key = jx.random.fold_in(jx.random.key(3), lax.axis_index("x"))
    return a + jx.random.uniform(key, a.shape)


def loss(w: Any, a: Any) -> Any:
    return mapped(lambda a, w: lax.pmean(jnp.tanh(a @ w).sum(), ("x", "y")), (P(("x", "y")), P()), P())(a, w)


def nested(a: Any) -> Any:
    inner = jx.shard_map(lambda b: lax.psum(b, "y"), mesh=MESH, in_specs=P(None, "y"), out_specs=P(), axis_names={"y"})
    return mapped(lambda b: jnp.sin(inner(b)), P("x"), P("x"), axis_names={"x"})(a)


X = P("x")
CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "layer": (mapped(layer, (X, P()), X), (A, W)),
    "unchecked": (mapped(layer, (X, P()), X, check_vma=False), (A, W)),
    "some axes": (mapped(layer, (X, P()), X, axis_names={"x"}), (A, W)),
    "both axes": (mapped(lambda a: lax.psum(jnp.sin(a), "y"), P("x", "y"), X), (A,)),
    "scan": (mapped(walking, X, (X, X), check_vma=False), (A,)),
    "exchanges": (mapped(exchanging, X, (X, X)), (A,)),
    "branches": (mapped(choosing, X, X), (A,)),
    "loops": (mapped(counting, X, X, check_vma=False), (A,)),
    "keys": (mapped(drawing, X, X), (A,)),
    "gradient": (jx.grad(loss), (W, A)),
    "nested": (nested, (A,)),
    "pmap": (jx.pmap(lambda a: jnp.log1p(a) - lax.pmax(a.sum(), "i"), axis_name="i"), (A,)),
    "one of all": (mapped(lambda a: lax.psum(a * 2, "x"), P(), P()), (A,)),
}


class Seen(Follower):
    """All values by the operation that made them; the results of each `shard_map` put together, beside its own."""

    def __init__(self) -> None:
        self.values: dict[str, list[Any]] = {}
        self.inside: dict[str, list[Any]] = {}
        self.apart: list[float] = []

    def equation(self, eqn: Any, path: str, operands: Any, values: Any, iterations: Any) -> None:
        if not eqn.params and not values:
            return
        self.values.setdefault(eqn.primitive.name, []).extend(_plain(one) for one in values)
        if eqn.primitive.name == "shard_map" and f"{path}/" in self.inside:
            outs = zip(self.inside[f"{path}/"], values, eqn.params["out_specs"])
            self.apart += [_apart(eqn.params, np.asarray(part), np.asarray(value), spec) for part, value, spec in outs]

    def ran(self, prefix: str, outs: list[Any]) -> None:
        self.inside[prefix] = outs


def _plain(x: Any) -> Any:
    try:
        return np.asarray(x).tolist()
    except TypeError:
        return None


def _apart(params: Any, parts: np.ndarray, value: np.ndarray, spec: Any) -> float:
    """The largest difference between parts (in the order of the devices) and where they stand in the value."""
    mesh, axes = params["mesh"], params["axes"]
    places = itertools.product(*[range(mesh.shape[name]) for name in axes])
    worst = 0.0
    for part, place in zip(parts, places, strict=True):
        at, index = dict(zip(axes, place)), []
        for entry, n in zip(padded(spec, part.ndim).partitions, part.shape):
            number = 0
            for name in names_of(entry):
                number = number * mesh.shape[name] + at[name]
            index.append(slice(number * n, (number + 1) * n))
        worst = max(worst, float(np.abs(value[tuple(index)] - part).max()))
    return worst


def said(name: str) -> Any:
    fun, args = CASES[name]
    args = [jnp.asarray(x) for x in args]
    jitted = jx.jit(fun)
    jx.block_until_ready(jitted(*args))
    row = list(ledger())[-1]
    document = look(row, "values")
    validate(document)
    seen, evaluation = Seen(), Evaluation(SECONDS, MEMORY)
    evaluation.followers.append(seen)
    evaluation.program(row.needed("closed"), [jnp.asarray(x) for x in args])
    return {"document": document, "values": seen.values, "apart": seen.apart}


if __name__ == "__main__":
    print(json.dumps({name: said(name) for name in CASES}))
