"""One step of gradient descent of an all-convolutional network whose batch is spread over eight devices, written in three ways:
`python -m tests.many_devices.replicated` prints what each gives and exchanges, as JSON."""

from __future__ import annotations

import json
import os
from typing import Any


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from examples.programs import allconv
from jitscope import lax
from jitscope.sharding import AxisType, NamedSharding, PartitionSpec as P
from tests.many_devices.collectives import exchanges


MESH = jx.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
CUT, WHOLE = NamedSharding(MESH, P("data")), NamedSharding(MESH, P())


def mean(tree: Any) -> Any:
    return lax.pmean(tree, "data")


def ways(params: Any, x: Any, labels: Any) -> dict[str, tuple[Any, tuple]]:
    cut = lambda a: a.reshape(8, -1, *a.shape[1:])
    spread = jx.shard_map(
        allconv.make(jx, jnp, of_loss=mean), mesh=MESH, in_specs=(P(), P("data"), P("data")), out_specs=P()
    )
    mapped = jx.pmap(allconv.make(jx, jnp, of_all=mean), axis_name="data", in_axes=(None, 0, 0), out_axes=None)
    given = (jx.device_put(params, WHOLE), jx.device_put(x, CUT), jx.device_put(labels, CUT))
    return {
        "jit": (jx.jit(allconv.make(jx, jnp), out_shardings=WHOLE), given),
        "shard_map": (jx.jit(spread), given),
        "pmap": (mapped, (params, cut(x), cut(labels))),
    }


def main() -> None:
    params, x, labels = allconv.arguments(16, width=0.03)
    wanted, loss = jx.jit(allconv.make(jx, jnp))(params, x, labels)
    leaves = [np.asarray(p) for p in jx.tree.leaves(wanted)]
    found: dict[str, Any] = {"least": 4 * (sum(p.size for p in leaves) + 1), "loss": float(loss)}
    for name, (step, args) in ways(params, x, labels).items():
        new, value = step(*args)
        off = max(float(np.abs(np.asarray(a) - b).max()) for a, b in zip(jx.tree.leaves(new), leaves))
        text = step.lower(*args).compile().as_text()
        found[name] = {"off": off, "loss": float(np.asarray(value)), "exchanges": exchanges(text)}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
