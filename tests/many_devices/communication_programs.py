"""Training steps over eight devices: `python -m tests.many_devices.communication_programs` prints what the documents say of them, and the
collectives that stand in the text of each program, as JSON."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from typing import Any


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.sharding import AxisType, NamedSharding, PartitionSpec as P
from jitscope.xla import hlo_module
from jitscope_scope.observe import compilation_document, ledger
from jitscope_scope.observe.instruments import look
from jitscope_widgets import validate


MESH = jx.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
ONES = lambda *shape: np.ones(shape, np.float32)


def put(x: Any, *spec: Any) -> Any:
    return jx.device_put(x, NamedSharding(MESH, P(*spec)))


def loss(up: Any, down: Any, x: Any) -> Any:
    hidden = jnp.tanh(x @ up)
    return ((hidden @ down) ** 2).sum()


def step(up: Any, down: Any, x: Any) -> Any:
    grads = jx.grad(loss, (0, 1))(up, down, x)
    return up - grads[0], down - grads[1]


def forward(up: Any, down: Any, x: Any) -> Any:
    return jnp.tanh(x @ up) @ down


def tree_loss(params: Any, x: Any) -> Any:
    return loss(params["up"], params["down"], x)


def parts(a: Any) -> Any:
    turned = lax.ppermute(a, "data", [(i, (i + 1) % 4) for i in range(4)])
    looped = lax.fori_loop(0, 5, lambda i, c: lax.psum(c, "model") * 0.5, a)
    counted = lax.while_loop(lambda c: c.max() < 9, lambda c: lax.psum(c, "data"), a)
    return turned, looped, lax.psum_scatter(a, "model", scatter_dimension=1, tiled=True), counted


def alone(a: Any) -> Any:
    return jnp.sin(a) * 2


CASES = {
    "gradients": (jx.jit(jx.grad(loss, (0, 1))), (put(ONES(32, 64)), put(ONES(64, 32)), put(ONES(16, 32), "data"))),
    "tree": (
        jx.jit(jx.value_and_grad(tree_loss)),
        ({"up": put(ONES(32, 64), None, "model"), "down": put(ONES(64, 32), "model")}, put(ONES(16, 32), "data")),
    ),
    "data": (jx.jit(step), (put(ONES(32, 64)), put(ONES(64, 32)), put(ONES(16, 32), "data"))),
    "model": (jx.jit(forward), (put(ONES(32, 64), None, "model"), put(ONES(64, 32), "model"), put(ONES(16, 32)))),
    "gathered": (
        jx.jit(lambda w: w + 1, out_shardings=NamedSharding(MESH, P())),
        (put(ONES(32, 64), "data"),),
    ),
    "parts": (
        jx.jit(
            jx.shard_map(parts, mesh=MESH, in_specs=P("data", "model"), out_specs=P("data", "model"), check_vma=False)
        ),
        (put(ONES(16, 32), "data", "model"),),
    ),
    "alone": (jx.jit(alone), (put(ONES(16, 32), "data"),)),
    "one": (jx.jit(alone), (ONES(16, 32),)),
}


def said(name: str) -> dict[str, Any]:
    function, args = CASES[name]
    function(*args)
    row = list(ledger())[-1]
    document = compilation_document(row)
    validate(document)
    text = hlo_module.text(hlo_module.optimized(row.entry.executable))
    kinds = r" (all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(?:-start)?\("
    graph = {node["label"]: node["params"] for node in document["graph"]["nodes"]}
    labels = {node["id"]: node["label"] for node in document["graph"]["nodes"]}
    types: dict[str, list[str]] = {}
    for edge in document["graph"]["edges"]:
        types.setdefault(labels[edge["from"]], []).append(edge["type"])
    measured = look(row, "communication", measure=True) if name in ("model", "parts") else None
    return {"document": document.get("instruments", {}).get("communication"), "text": Counter(re.findall(kinds, text)),
            "graph": graph, "types": types, "measured": measured}  # fmt: skip


def told_by_the_compiler() -> dict[str, str]:
    """How the values of a program lie by `inspect_array_sharding`, which asks XLA, and by the graph of the same program without that;
    by the names of operations, which occur once in it."""
    up, down, x = put(ONES(32, 64), None, "model"), put(ONES(64, 32), "model"), put(ONES(16, 32), "data")
    told: dict[str, str] = {}

    def program(ask: Any, up: Any, down: Any, x: Any) -> Any:
        a = ask("dot_general", x @ up)
        b = ask("tanh", jnp.tanh(a))
        c = ask("transpose", b.T)
        d = jx.jit(lambda c: ask("sin", jnp.sin(c)))(c)
        rows = lax.scan(lambda carry, r: (carry + 1.0, ask("exp", jnp.exp(r))), 0.0, d)[1]
        return ask("reduce_max", rows.max(0)), down

    def ask(name: str, value: Any) -> Any:
        jx.debug.inspect_array_sharding(value, callback=lambda s: told.__setitem__(name, str(s.spec)))
        return value

    jx.jit(lambda *a: program(ask, *a)).lower(up, down, x).compile()
    jx.jit(lambda *a: program(lambda _, value: value, *a))(up, down, x)
    graph = compilation_document(list(ledger())[-1])["graph"]["nodes"]
    shown = {node["label"].split(" ")[0]: node["params"].get("sharding", "") for node in graph}
    return {name: [spec, shown[name]] for name, spec in told.items()}


if __name__ == "__main__":
    print(json.dumps({**{name: said(name) for name in CASES}, "told": told_by_the_compiler()}))
