"""Programs over eight devices and the sharp bits that they step on: `python -m tests.many_devices.sharp_bits_programs` prints, for each,
what was found at which marked line, as JSON. A line that is due ends in `#<- id`."""

from __future__ import annotations

import json
import linecache
import os
import re
from typing import Any


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.sharding import AxisType, NamedSharding, PartitionSpec as P
from jitscope_scope.advise.watch import Watch


MESH = jx.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
CUT, WHOLE = NamedSharding(MESH, P("data")), NamedSharding(MESH, P())
BIG = np.ones((1024, 512), np.float32)  # 2 MB
NAMES = {"jx": jx, "jnp": jnp, "lax": lax, "np": np, "P": P, "MESH": MESH, "CUT": CUT, "WHOLE": WHOLE, "BIG": BIG,
         "NamedSharding": NamedSharding}  # fmt: skip

PROGRAMS = {
    "argument": """
x = jx.device_put(BIG, CUT)
f = jx.jit(lambda x, w: x * w)
f(x, BIG)  #<- accidental-replication
""",
    "argument that was put": """
x, w = jx.device_put(BIG, CUT), jx.device_put(BIG, WHOLE)
jx.jit(lambda x, w: x * w)(x, w)
jx.jit(lambda x, w: x * w, in_shardings=(CUT, WHOLE))(x, BIG)
""",
    "small argument": """
x = jx.device_put(BIG, CUT)
jx.jit(lambda x, w: x * w)(x, BIG[0])
""",
    "result": """
x = jx.device_put(np.ones((64, 1024), np.float32), CUT)
def gram(x):
    return x.T @ x  #<- accidental-replication
jx.jit(gram)(x)
""",
    "result that was asked": """
x = jx.device_put(np.ones((64, 1024), np.float32), CUT)
def gram(x):
    return x.T @ x
jx.jit(gram, out_shardings=WHOLE)(x)
""",
    "weights that are whole": """
x, w = jx.device_put(np.ones((64, 1024), np.float32), CUT), jx.device_put(np.ones((1024, 512), np.float32), WHOLE)
def step(w, x):
    return w - 0.1 * jx.grad(lambda w: ((x @ w) ** 2).mean())(w)
jx.jit(step)(w, x)
""",
    "gather": """
x = jx.device_put(BIG, CUT)
def alike(x):
    y = x @ x.T  #<- large-all-gather
    return jnp.tanh(y).sum(1)
jx.jit(alike)(x)
""",
    "gather that was asked": """
x = jx.device_put(BIG, CUT)
jx.jit(lambda x: x + 1, out_shardings=WHOLE)(x)
jx.jit(lambda x: (x @ lax.with_sharding_constraint(x, WHOLE).T).sum(1))(x)
jx.jit(jx.shard_map(lambda a: lax.all_gather(a, "data").sum(0), mesh=MESH, in_specs=P("data"), out_specs=P(None), check_vma=False))(x)
""",
    "gather of little": """
x = jx.device_put(BIG[:, :8], CUT)
jx.jit(lambda x: (x @ x.T).sum(1))(x)
""",
    "weights in a tree": """
params = {"w": np.ones((512, 1024), np.float32), "b": np.ones(1024, np.float32)}
x = jx.device_put(np.ones((64, 512), np.float32), CUT)
step = jx.jit(lambda p, x: (x @ p["w"] + p["b"]).sum())
step(params, x)  #<- accidental-replication
""",
    "table on one device": """
table = jnp.ones((4096, 128))
ids = jx.device_put(np.arange(64) * 5, CUT)
look = jx.jit(lambda t, i: t[i].sum(1))
look(table, ids)  #<- accidental-replication
""",
    "covariance": """
x = jx.device_put(np.random.default_rng(0).normal(size=(64, 1024)).astype(np.float32), CUT)
def spread(x):
    c = x - x.mean(0)
    return c.T @ c / 63  #<- accidental-replication
jx.jit(spread)(x)
""",
    "sums by key": """
x = jx.device_put(np.ones((64, 512), np.float32), CUT)
keys = jx.device_put(np.arange(64) % 7, CUT)
def add(x, keys):
    return jx.ops.segment_sum(x, keys, 1024)  #<- accidental-replication
jx.jit(add)(x, keys)
""",
    "under set_mesh": """
f = jx.jit(lambda a: a * 2)
with jx.set_mesh(MESH):
    f(BIG)  #<- accidental-replication
""",
    "put in a tree": """
params = jx.device_put({"w": np.ones((512, 1024), np.float32)}, WHOLE)
x = jx.device_put(np.ones((64, 512), np.float32), CUT)
jx.jit(lambda p, x: (x @ p["w"]).sum())(params, x)
""",
    "specs of shard_map": """
x = jx.device_put(BIG, CUT)
w = jx.device_put(BIG, WHOLE)
jx.jit(jx.shard_map(lambda a, b: a * b.sum(), mesh=MESH, in_specs=(P("data"), P()), out_specs=P("data")))(x, w)
""",
    "batches cut at each call": """
step = jx.jit(lambda x: (x * 2).sum(), in_shardings=CUT)
for _ in range(3):
    step(BIG)
""",
    "result whole like its state": """
state = jx.device_put(BIG, WHOLE)
x = jx.device_put(np.ones((1024, 1), np.float32), CUT)
jx.jit(lambda s, x: 0.9 * s + 0.1 * x.mean())(state, x)
""",
    "result cut by a constraint": """
x = jx.device_put(np.ones((64, 1024), np.float32), CUT)
jx.jit(lambda x: lax.with_sharding_constraint(x.T @ x, CUT))(x)
""",
    "gather: fourier": """
x = jx.device_put(BIG, CUT)
def power(x):
    return jnp.abs(jnp.fft.fft(x, axis=0)).sum(1)  #<- large-all-gather
jx.jit(power)(x)
""",
    "gather: attention over a divided sequence": """
q = jx.device_put(np.ones((2048, 256), np.float32), CUT)
def scores(q):
    s = jx.nn.softmax(q @ q.T)  #<- large-all-gather
    return s.max(1)
jx.jit(scores)(q)
""",
    "no gather: sort along the other axis": """
x = jx.device_put(BIG, CUT)
jx.jit(lambda x: jnp.sort(x, 1))(x)
""",
    "no gather: sums": """
x = jx.device_put(BIG, CUT)
jx.jit(lambda x: (x.sum(0), x.mean(), x.max(0), x @ x[0]))(x)
""",
    "no gather: written in a map": """
x = jx.device_put(BIG, CUT)
f = jx.shard_map(lambda a: (a @ lax.all_gather(a, "data", tiled=True).T).sum(1), mesh=MESH, in_specs=P("data"), out_specs=P("data"))
jx.jit(f)(x)
""",
    "no gather: columns": """
w = jx.device_put(np.ones((512, 1024), np.float32), NamedSharding(MESH, P(None, "model")))
x = jx.device_put(np.ones((64, 512), np.float32), CUT)
jx.jit(lambda x, w: jnp.tanh(x @ w).sum(1))(x, w)
""",
    "gather: scan over divided rows": """
x = jx.device_put(BIG, CUT)
def run(x):
    return lax.scan(lambda c, r: (jnp.tanh(c + r), c.sum()), jnp.zeros(512), x)  #<- large-all-gather
jx.jit(run)(x)
""",
    "gather: factors": """
a = jx.device_put(np.eye(1024, dtype=np.float32) * 2, CUT)
def logdet(a):
    return jnp.log(jnp.diagonal(jnp.linalg.cholesky(a))).sum()  #<- large-all-gather
jx.jit(logdet)(a)
""",
    "gather: distances": """
x = jx.device_put(np.ones((2048, 256), np.float32), CUT)
def nearest(x):
    square = (x * x).sum(1)
    return jnp.argmin(square[:, None] + square - 2 * x @ x.T, 1)  #<- large-all-gather
jx.jit(nearest)(x)
""",
    "no gather: sorted": """
x = jx.device_put(BIG, CUT)
jx.jit(lambda x: jnp.sort(x, 0)[:3])(x)
""",
    "no gather: sent by all_to_all": """
x = jx.device_put(BIG, CUT)
turn = jx.shard_map(lambda a: lax.all_to_all(a, "data", 1, 0, tiled=True), mesh=MESH, in_specs=P("data"), out_specs=P(None, "data"))
jx.jit(lambda x: jnp.sort(turn(x), 0).sum(0))(x)
""",
}


def found(name: str) -> dict[str, Any]:
    text = PROGRAMS[name]
    linecache.cache[f"<{name}>"] = (len(text), None, text.splitlines(keepends=True), f"<{name}>")
    with Watch() as watch:
        exec(compile(text, f"<{name}>", "exec"), dict(NAMES))
    due = [[line, id] for line, said in enumerate(text.splitlines(), 1) for id in re.findall(r"#<- ([\w-]+)", said)]
    told = [one for one in watch.found() if one.file == f"<{name}>"]
    return {
        "due": due,
        "found": [[one.span.line, one.id] for one in told],
        "said": [f"{one.message} {one.fix.text}" for one in told],
    }


if __name__ == "__main__":
    print(json.dumps({name: found(name) for name in PROGRAMS}))
