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
from jitscope.advise.watch import Watch
from jitscope.sharding import AxisType, NamedSharding, PartitionSpec as P


MESH = jx.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
CUT, WHOLE = NamedSharding(MESH, P("data")), NamedSharding(MESH, P())
BIG = np.ones((1024, 512), np.float32)  # 2 MB
NAMES = {"jx": jx, "jnp": jnp, "lax": lax, "np": np, "P": P, "MESH": MESH, "CUT": CUT, "WHOLE": WHOLE, "BIG": BIG}

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
