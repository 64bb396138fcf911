"""How arrays over eight devices are shown: `python -m tests.many_devices.layout_programs` prints it as JSON."""

from __future__ import annotations

import json
import os
from typing import Any


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.errors import Unavailable
from jitscope.sharding import AxisType, NamedSharding, PartitionSpec as P
from jitscope_kernel import inspect
from jitscope_kernel.nans import find_nan
from jitscope_scope.observe import sharding_document
from jitscope_widgets import html, text, validate


MESH = jx.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
CUBE = jx.make_mesh((2, 2, 2), ("a", "b", "c"), axis_types=(AxisType.Auto,) * 3)
ARRAYS = {
    "rows": (MESH, (8, 4), P("data")),
    "columns": (MESH, (8, 4), P(None, "model")),
    "both": (MESH, (8, 4), P("data", "model")),
    "turned": (MESH, (8, 4), P("model", "data")),
    "together": (MESH, (16, 4), P(("model", "data"))),
    "vector": (MESH, (8,), P("model")),
    "whole": (MESH, (8, 4), P()),
    "three axes": (MESH, (8, 3, 4), P("data", None, "model")),
    "cube": (CUBE, (2, 2, 2), P("a", "b", "c")),
}


def put(mesh: Any, shape: Any, spec: Any) -> Any:
    return jx.device_put(np.arange(np.prod(shape), dtype=np.float32).reshape(shape), NamedSharding(mesh, spec))


def shown(name: str) -> dict[str, Any]:
    x = put(*ARRAYS[name])
    document = sharding_document(name, x.shape, x.sharding, x.aval)
    validate(document)
    parts = {
        f"CPU {s.device.id}": [[i.indices(n)[0], i.indices(n)[1]] for i, n in zip(s.index, x.shape)]
        for s in x.addressable_shards
    }
    return {"document": document, "parts": parts, "text": text(document), "html": html(document)}


def inside() -> dict[str, Any]:
    found: list[Any] = []

    def told(name: str) -> Any:
        return lambda sharding: found.append((name, str(sharding.spec)))

    def layer(x: Any, w: Any) -> Any:
        hidden = jnp.tanh(x @ w)
        jx.debug.inspect_array_sharding(hidden, callback=told("hidden"))
        jx.debug.inspect_array_sharding(hidden.sum(0), callback=told("sum"))
        return hidden.sum()

    x, w = put(MESH, (8, 16), P("data")), put(MESH, (16, 4), P(None, "model"))
    jitted = jx.jit(layer)
    jitted(x, w)
    jitted(x, w)
    first, found[:] = list(found), []
    seen = inspect(layer)(x, w)
    _ = seen.passes  # compiles the module that was kept again
    again, found[:] = list(found), []

    def each(i: Any, c: Any) -> Any:
        jx.debug.inspect_array_sharding(c, callback=told("carry"))
        return c * 2

    jx.jit(lambda a: lax.fori_loop(0, 3, each, a))(x)
    jx.jit(
        jx.shard_map(lambda a: (jx.debug.inspect_array_sharding(a, callback=told("own")), a)[1], mesh=MESH, in_specs=P("data"), out_specs=P("data"))
    )(x)  # fmt: skip

    def fails(sharding: Any) -> None:
        raise ValueError("from the callback")

    error = ""
    try:
        jx.jit(lambda a: (jx.debug.inspect_array_sharding(a * 2, callback=fails), a + 1)[1])(x)
    except RuntimeError as raised:
        error = str(raised)
    return {"first": first, "again": again, "others": found, "error": error}


def views() -> dict[str, Any]:
    """What each view says of a program over several devices: its kind, or why there is none."""
    x, w = put(MESH, (8, 16), P("data")), put(MESH, (16, 4), P(None, "model"))
    seen = inspect(jx.jit(lambda x, w: (jnp.tanh(x @ w), x + 1), donate_argnums=0))(x, w)
    found: dict[str, Any] = {}
    for name in ("memory", "values", "machine", "passes", "transformations", "communication", "profile"):
        try:
            document = getattr(seen, name).document
            validate(document)
            found[name] = document["kind"]
        except Unavailable as error:
            found[name] = str(error)
    found["run"] = seen.measure().document["timing"]["steady"]["median"]["value"] > 0
    return found


def looping(x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        every = jx.shard_map(
            lambda part: part + lax.psum(part.sum(), "data"), mesh=MESH, in_specs=P("data"), out_specs=P("data")
        )
        return jnp.tanh(every(carry)) + row.sum(), jnp.log(row - 20)

    return lax.scan(step, x, x)


def values() -> list[Any]:
    """What the values of programs over several devices say, of arguments that lie in parts and of NumPy's: how many there are, how the
    results compare with the compiled program's, and the line of the first NaN that a hunt finds."""
    x, asked = np.arange(32, dtype=np.float32).reshape(8, 4), NamedSharding(MESH, P("data"))
    found = []
    for f, argument in [(jx.jit(looping), put(MESH, (8, 4), P("data"))), (jx.jit(looping, in_shardings=asked), x)]:
        document = inspect(f)(argument).values.document
        first = document["rows"][document["first_bad"]]
        hunt = find_nan(f)(argument).document
        where = [document["lines"][first["line"]]["text"], hunt["operation"]["position"]["text"]]
        found.append([len(document["rows"]), document["differs"], first["label"], *map(str.strip, where)])
    return found


if __name__ == "__main__":
    arrays = {name: shown(name) for name in ARRAYS}
    print(json.dumps({"arrays": arrays, "inside": inside(), "views": views(), "values": values()}))
