"""In which order axes lie in memory: Layout and Format. Cases as in `cases.py`."""

from __future__ import annotations

import copy
import importlib
import pickle
from typing import Any

import numpy as np

from tests.many_devices.cases import case, error, lies


class Orders:
    """The library's layouts, two places, and an array of two axes in another order."""

    def __init__(self, o: Any):
        found = importlib.import_module(f"{o.jx.__name__}.experimental.layout")
        self.Layout, self.Format, self.constrained = found.Layout, found.Format, found.with_layout_constraint
        self.columns = self.Layout((1, 0))
        self.one, self.cut = o.S.SingleDeviceSharding(o.jx.devices()[1]), o.at("x", "y")
        self.asked = self.Format(self.columns, self.one)
        self.x = o.jx.device_put(o.n, self.asked)


def tells(x: Any) -> list[Any]:
    """Values, and how they lie."""
    return [*lies(x), str(x.format.layout)]


@case
def formats(o: Any) -> Any:
    f = Orders(o)
    L, F = f.Layout, f.Format
    shown = [
        L((1, 0)),
        L([0, 1], ((2, 2),)),
        L.AUTO,
        F(),
        F(L.AUTO),
        f.asked,
        f.columns.update(tiling=()),
        o.put("x").format,
    ]
    equal = [
        f.asked == F(L((1, 0)), f.one),
        hash(f.asked) == hash(F(L((1, 0)), f.one)),
        f.columns == L((1, 0), ()),
        F() == F(L.AUTO),
    ]
    struct = o.jx.ShapeDtypeStruct((8, 4), "float32", sharding=f.asked)
    wrong = [lambda: F(f.columns), lambda: F("x"), lambda: F(None, "x"), lambda: o.jx.device_put(o.n, F(L((0, 1, 2)), f.one)),
             lambda: o.jx.device_put(o.n, F(L.AUTO, f.one)), lambda: o.jx.device_put(o.n, f.columns), lambda: o.jx.random.key(0).format]  # fmt: skip
    return [*map(str, shown), equal, str(struct), str(struct.format), list(map(error, wrong))]


@case
def arrays_in_orders(o: Any) -> Any:
    f, jx = Orders(o), o.jx
    spread = jx.device_put(o.n, f.Format(f.columns, f.cut))
    deep = jx.device_put(np.arange(24).reshape(2, 3, 4), f.Format(f.Layout((2, 0, 1)), f.one))
    made = [f.x, spread, deep, f.x + 1, f.x.T, o.jnp.asarray(f.x), o.jnp.array(f.x), copy.deepcopy(f.x), pickle.loads(pickle.dumps(f.x)),
            jx.device_put(f.x, jx.devices()[2]), jx.device_put(f.x, f.cut), jx.device_put(f.x, f.Format(f.Layout((0, 1)), f.one)),
            *[s.data for s in spread.addressable_shards[:2]]]  # fmt: skip
    both = jx.device_put({"a": o.n, "b": o.n}, {"a": f.asked, "b": f.one})
    half = jx.device_put(o.jnp.asarray(o.n, "bfloat16"), f.asked)
    return [
        *map(tells, [*made, both["a"], both["b"]]),
        np.asarray(f.x).strides,
        np.asarray(half).tolist(),
        str(half.format.layout),
    ]


@case
def functions_of_orders(o: Any) -> Any:
    f, jx = Orders(o), o.jx
    F, plain = f.Format, o.jnp.asarray(o.n)
    spread, at = jx.device_put(o.n, F(f.columns, f.cut)), F(f.columns, f.cut)
    double = lambda a: a * 2
    made = [jx.jit(double)(f.x), jx.jit(double, in_shardings=f.asked)(f.x), jx.jit(double, in_shardings=f.asked)(o.n), jx.jit(double, out_shardings=f.asked)(plain),
            jx.jit(double, in_shardings=at, out_shardings=at)(spread), jx.jit(lambda a: a.T, out_shardings=F(f.Layout.AUTO))(plain),
            jx.jit(double, out_shardings=at, donate_argnums=0)(spread), jx.jit(lambda a: f.constrained(a * 2, f.columns))(plain),
            f.constrained(plain, f.columns), jx.jit(jx.vmap(lambda a: f.constrained(a, f.columns)))(np.ones((2, 3, 4))),
            jx.grad(lambda a: f.constrained(a * 2, f.columns).sum())(plain), jx.jit(jx.grad(lambda a: (a**2).sum()), in_shardings=f.asked)(f.x)]  # fmt: skip
    other = jx.device_put(o.n, f.one)
    compiled = jx.jit(double).lower(other).compile()
    wrong = [lambda: jx.jit(double, in_shardings=f.asked)(other), lambda: compiled(f.x), lambda: jx.jit(double, in_shardings=F(f.Layout((0,)), f.one))(o.n),
             lambda: jx.jit(double, out_shardings=F(f.Layout((0,)), f.one))(o.n), lambda: jx.jit(lambda a: f.constrained(a, f.Layout((0,))))(o.n)]  # fmt: skip
    return [*map(tells, made), spread.is_deleted(), list(map(error, wrong))]


@case
def formats_of_stages(o: Any) -> Any:
    f, jx = Orders(o), o.jx
    at = f.Format(f.columns, f.cut)
    named = jx.jit(lambda d, k: {"r": d["b"] + k}).lower({"b": f.x}, k=1).compile()
    spread = (
        jx.jit(lambda a, b: a * 2, in_shardings=(at, None), out_shardings=at)
        .lower(jx.device_put(o.n, at), o.n)
        .compile()
    )
    struct = jx.ShapeDtypeStruct((8, 4), "float32", sharding=f.asked)
    auto = (
        jx.jit(lambda a: a.T, in_shardings=f.Format(f.Layout.AUTO), out_shardings=f.Format(f.Layout.AUTO))
        .lower(o.n)
        .compile()
    )
    shown = [
        [str(c.input_formats), str(c.output_formats)]
        for c in (named, spread, jx.jit(lambda a: a * 2).lower(struct).compile(), auto)
    ]
    return [
        *shown,
        tells(spread(jx.device_put(o.n, at), o.n)),
        tells(auto(jx.device_put(o.n, auto.input_formats[0][0]))),
    ]


@case
def formats_in_constraints(o: Any) -> Any:
    f, jx = Orders(o), o.jx
    spread, plain = f.Format(f.columns, f.cut), o.jnp.asarray(o.n)
    asked = lambda at: lambda a: o.lax.with_sharding_constraint(a * 2, at)
    made = [g(asked(at))(plain) for at in (f.asked, spread, f.Format(None, f.cut)) for g in (lambda h: h, jx.jit)]
    made += [jx.jit(jx.vmap(asked(spread)))(np.ones((2, 8, 4))), jx.jit(jx.grad(lambda a: (asked(spread)(a) * a).sum()))(plain)]  # fmt: skip
    wrong = [lambda: asked(f.columns)(plain), lambda: asked(f.Format(f.Layout((0,)), f.cut))(plain),
             lambda: jx.jit(asked(f.Format(f.Layout((0, 1, 2)), f.cut)))(plain)]  # fmt: skip
    return [*map(tells, made), list(map(error, wrong))]
