"""What one step of training exchanges, read from the compiled HLO: `python -m tests.many_devices.collectives` prints it as JSON for
1 to 64 devices, beside what the step needs at least. Nothing is run."""

from __future__ import annotations

import json
import os
import re
from typing import Any


COUNTS = (1, 2, 4, 8, 16, 64)
ROWS, WIDTH, HIDDEN, LAYERS, PARTS = 128, 16, 128, 3, 4  # PARTS: into how many the pipeline cuts its rows
_KINDS = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
_EXCHANGE = re.compile(rf"^\s*(?:ROOT )?%?[\w.-]+ = (.*?) ({_KINDS})(?:-start)?\(")
_SIZES = {"f32": 4, "s32": 4, "u32": 4, "pred": 1, "bf16": 2}


def exchanges(hlo: str, ticks: int = 1) -> list[tuple[str, int]]:
    """Kind and bytes (of the result, on one device) of each collective, as often as it runs: one in the body of a loop `ticks`
    times."""
    bodies = set(re.findall(r"body=%?([\w.-]+)", hlo))
    found, times = [], 1
    for line in hlo.splitlines():
        if head := re.match(r"(?:ENTRY )?%?([\w.-]+) .*\{$", line):
            times = ticks if head[1] in bodies else 1
        elif m := _EXCHANGE.search(line):
            shapes = re.findall(r"(\w+)\[([\d,]*)\]", m[1])
            size = sum(_SIZES[kind] * _product(dims) for kind, dims in shapes)
            found += [(m[2], size)] * times
    return found


def _product(dims: str) -> int:
    count = 1
    for n in filter(None, dims.split(",")):
        count *= int(n)
    return count


def main() -> None:
    os.environ["JITSCOPE_NUM_CPU_DEVICES"] = str(max(COUNTS))
    found: dict[str, dict[int, Any]] = {"data": {}, "tensor": {}, "pipeline": {}}
    for count in COUNTS:
        for name, step in (("data", data), ("tensor", tensor), ("pipeline", pipeline)):
            found[name][count] = exchanges(step(count), PARTS + count - 2)
    print(json.dumps(found))


def _given(count: int) -> Any:
    import numpy as np

    import jitscope as jx
    from jitscope.sharding import Mesh, NamedSharding, PartitionSpec as P

    mesh = Mesh(np.array(jx.devices()[:count]), ("d",))
    return (
        jx,
        mesh,
        P,
        lambda shape, *spec: jx.ShapeDtypeStruct(shape, np.float32, sharding=NamedSharding(mesh, P(*spec))),
    )


def _train(loss: Any, jx: Any) -> Any:
    def step(weights: Any, *batch: Any) -> Any:
        value, gradients = jx.value_and_grad(loss)(weights, *batch)
        return value, jx.tree_util.tree_map(lambda w, g: w - 0.1 * g, weights, gradients)

    return step


def _layers(weights: Any, x: Any) -> Any:
    import jitscope.numpy as jnp

    for first, second in weights:
        x = x + jnp.tanh(x @ first) @ second
    return x


def _compiled(jx: Any, loss: Any, weights: Any, *batch: Any) -> str:
    outs = jx.tree_util.tree_map(lambda w: w.sharding, weights)
    return jx.jit(_train(loss, jx), out_shardings=(None, outs)).lower(weights, *batch).compile().as_text()


def data(count: int) -> str:
    """Each device has some rows of the batch and all weights."""
    jx, _, _, like = _given(count)
    weights = [(like((WIDTH, HIDDEN)), like((HIDDEN, WIDTH)))] * LAYERS
    batch = like((ROWS, WIDTH), "d"), like((ROWS, WIDTH), "d")
    return _compiled(jx, lambda w, x, y: ((_layers(w, x) - y) ** 2).mean(), weights, *batch)


def tensor(count: int) -> str:
    """Each device has some columns of each first matrix and some rows of each second one, and the whole batch."""
    jx, _, _, like = _given(count)
    weights = [(like((WIDTH, HIDDEN), None, "d"), like((HIDDEN, WIDTH), "d"))] * LAYERS
    return _compiled(jx, lambda w, x, y: ((_layers(w, x) - y) ** 2).mean(), weights, *[like((ROWS, WIDTH))] * 2)


def pipeline(count: int) -> str:
    """Each device has one layer; the rows go from one to the next in parts."""
    jx, mesh, P, like = _given(count)
    import jitscope.numpy as jnp
    from jitscope import lax

    def on_one(weight: Any, x: Any, y: Any) -> Any:
        here = lax.axis_index("d")

        def compute(came: Any, t: Any) -> Any:
            own = jnp.where(here == 0, x[jnp.clip(t, 0, PARTS - 1)], came)
            out = jnp.tanh(own @ weight[0])
            done = t - (count - 1)
            part = ((out - y[jnp.clip(done, 0, PARTS - 1)]) ** 2).sum()
            return out, jnp.where((here == count - 1) & (done >= 0), part, 0.0)

        def tick(carry: Any, t: Any) -> Any:
            out, part = compute(lax.ppermute(carry[0], "d", [(i, i + 1) for i in range(count - 1)]), t)
            return (out, carry[1] + part), None

        # The first tick is outside of the loop: nothing was sent before it. A loop that sends at its end does so once in vain.
        (_, loss), _ = lax.scan(tick, compute(jnp.zeros_like(x[0]), 0), jnp.arange(1, PARTS + count - 1))
        return lax.psum(loss, "d")

    loss = jx.shard_map(on_one, mesh=mesh, in_specs=(P("d"), P(), P()), out_specs=P())
    weights = like((count, WIDTH, WIDTH), "d")
    return _compiled(jx, loss, weights, *[like((PARTS, ROWS // PARTS, WIDTH))] * 2)


def least(name: str, count: int) -> list[tuple[str, int]]:
    """What a step needs, computed by hand; on one device nothing.

    data: one sum of all gradients and of the loss. tensor: the sum after each second matrix, and in the backward pass before
    each first one but that of the first layer, whose input has no gradient; all devices have the loss. pipeline (in step, a part
    a tick): before each tick but the first a part is sent on, and later one back; the sum of the loss.
    """
    if count == 1:
        return []
    if name == "data":
        return [("all-reduce", 4 * (2 * LAYERS * WIDTH * HIDDEN + 1))]
    if name == "tensor":
        return [("all-reduce", 4 * ROWS * WIDTH)] * (2 * LAYERS - 1)
    ticks = PARTS + count - 1
    return [("all-reduce", 4)] + [("collective-permute", 4 * ROWS // PARTS * WIDTH)] * (2 * (ticks - 1))


if __name__ == "__main__":
    main()
