"""Recompilations because arrays lie otherwise, and how the document tells them: prints it as JSON. Run in a process of eight
devices; PROGRAM is what a user would write."""

from __future__ import annotations

import json
import linecache

from jitscope_scope import observe
from jitscope_scope.observe.ledger import Ledger


PROGRAM = """
import jitscope as jx, jitscope.numpy as jnp
import numpy as np
from jitscope.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jx.devices()).reshape(4, 2), ("data", "model"))
x = np.ones((8, 4), np.float32)
rows = jx.device_put(x, NamedSharding(mesh, P("data")))
columns = jx.device_put(x, NamedSharding(mesh, P(None, "model")))

@jx.jit
def scaled(batch):
    return jnp.sin(batch["x"]) * 3.0

for x in (rows, columns, rows, columns):
    scaled({"x": x})  #<-

@jx.jit
def step(w, x):
    return (x @ w).sum()

w, x = jnp.ones((4, 4)), jnp.ones((8, 4))
for given in (x, jx.device_put(x, NamedSharding(mesh, P("data")))):
    step(w, given)

@jx.jit
def back(y):
    return jnp.cos(y) * 5.0

back(rows), back(np.ones((8, 4), np.float32))
"""


def main() -> None:
    ledger = Ledger()
    linecache.cache["<program>"] = (len(PROGRAM), None, PROGRAM.splitlines(keepends=True), "<program>")
    exec(compile(PROGRAM, "<program>", "exec"), {"__name__": "program"})
    print(json.dumps(observe.recompilations_document(ledger, "program")))


if __name__ == "__main__":
    main()
