"""Programs that call Python from inside of `shard_map`: `python -m tests.many_devices.callback_programs` prints what each gave and what
its function was called with."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any


os.environ["JITSCOPE_NUM_CPU_DEVICES"] = "8"

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import checkify, lax
from jitscope.experimental import io_callback
from jitscope.sharding import AxisType, PartitionSpec as P


MESH = jx.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
A = np.arange(16, dtype=np.float32)
heard: list[Any] = []


def hear(value: Any) -> None:
    heard.append(np.asarray(value * 1).tolist())


def doubled(value: Any) -> Any:
    hear(value[0])
    return np.asarray(value) * 2


def told(what: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function that doubles, and tells something of its argument."""
    return lambda a: (jx.debug.callback(hear, what(a)), a * 2)[1]


def in_branch(a: Any) -> Any:
    return lax.cond(a[0] > 5, told(lambda a: a[0]), lambda a: a * 2, a)


def mapped(f: Callable[[Any], Any], **options: Any) -> Callable[[Any], Any]:
    return jx.shard_map(f, mesh=MESH, in_specs=P(("x", "y")), out_specs=P(("x", "y")), **options)


def between(a: Any) -> Any:
    jx.debug.callback(hear, a.sum())
    out = mapped(told(lambda a: a[0]))(a)
    jx.debug.callback(hear, -a.sum())
    return out


def under_a_mesh(a: Any) -> Any:
    """The callback computes, on a device where the program that called it is at work."""
    with jx.set_mesh(MESH):
        return jx.jit(told(lambda a: a))(jx.device_put(a, P(("x", "y"))))


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "element": mapped(told(lambda a: a[0])),
    "array": mapped(told(lambda a: a)),
    "sum over devices": mapped(told(lambda a: lax.psum(a.sum(), ("x", "y")))),
    "two": mapped(told(lambda a: (jx.debug.callback(hear, a[1]), a[0])[1])),
    "pure": mapped(lambda a: jx.pure_callback(lambda v: np.asarray(v) * 2, jx.ShapeDtypeStruct(a.shape, a.dtype), a)),
    "result": mapped(lambda a: io_callback(doubled, jx.ShapeDtypeStruct(a.shape, a.dtype), a)),
    "loop": mapped(lambda a: lax.fori_loop(0, 2, lambda i, c: told(lambda c: c[0])(c), a)),
    "branch": mapped(in_branch),
    "called": mapped(jx.jit(told(lambda a: a[0]))),
    "between others": between,
    "gradient": jx.grad(lambda a: mapped(told(lambda a: a[0]))(a).sum()),
    "under a mesh": under_a_mesh,
    "pmap": lambda a: jx.pmap(told(lambda a: a[0]))(a.reshape(8, 2)).reshape(16),
}


def failing(a: Any) -> Any:
    jx.debug.callback(lambda v: 1 / 0, a[0])
    return a


def refused(f: Callable[[Any], Any]) -> str:
    try:
        jx.jit(f)(jnp.asarray(A))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def checked(a: Any) -> Any:
    checkify.check(jnp.all(a < 9), "{most} of {all}", most=a.max(), all=lax.psum(a.sum(), ("x", "y")))
    return jnp.log(a)


def failures(kind: AxisType, spec: P, **options: Any) -> list[str | None]:
    """What checkify says of a function of each device's part: of numbers that pass, of too large ones, and of NaN."""
    mesh = jx.make_mesh((4, 2), ("x", "y"), axis_types=(kind,) * 2)
    f = jx.shard_map(checked, mesh=mesh, in_specs=spec, out_specs=spec, **options)
    wanted = ((A / 2 + 1, checkify.user_checks), (A + 1, checkify.user_checks), (A - 8, checkify.nan_checks))
    placed = [(jx.device_put(jnp.asarray(a), jx.sharding.NamedSharding(mesh, spec)), errors) for a, errors in wanted]
    return [jx.jit(checkify.checkify(f, errors=errors))(a)[0].get() for a, errors in placed]


def main() -> None:
    said: dict[str, Any] = {}
    for name, program in PROGRAMS.items():
        heard.clear()
        result = np.asarray((program if name in ("pmap", "under a mesh") else jx.jit(program))(jnp.asarray(A)))
        jx.effects_barrier()
        said[name] = {"result": result.tolist(), "heard": list(heard)}
    some = jx.shard_map(told(lambda a: a[0]), mesh=MESH, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
    said["checks"] = [
        failures(kind, P(("x", "y")), check_vma=check)
        for kind in (AxisType.Auto, AxisType.Explicit)
        for check in (True, False)
    ]
    print(json.dumps({**said, "failing": refused(mapped(failing)), "some axes": refused(some)}))


main()
