"""Exported functions give the same in a process that does not know their source, and say what is wrong with bad ones."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import export, lax
from tests.compiler.programs import in_new_process


W = jnp.arange(9.0).reshape(3, 3) / 10
X = np.ones(3, np.float32)


@jx.jit
def model(params, x, *, n):
    y = lax.fori_loop(0, 3, lambda i, c: jnp.sin(W @ c * params["scale"]), x)
    return {"y": y, "n": n + 1}


def exported(order: int = 0) -> bytes:
    return export.export(model)({"scale": 2.0}, jx.ShapeDtypeStruct((3,), np.float32), n=3).serialize(order)


def test_a_round_trip_in_a_process_without_the_source(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(exported(1))
    found = in_new_process(f"""
        import numpy as np, jitscope as jx
        from jitscope import export
        g = export.deserialize(open({str(path)!r}, "rb").read())
        assert g.fun_name == "model" and g.platforms == ("cpu",) and g.has_vjp()
        x = np.ones(3, np.float32)
        out = g.call({{"scale": 2.0}}, x, n=3)
        slope = jx.jit(jx.grad(lambda s: g.call({{"scale": s}}, x, n=3)["y"].sum()))(2.0)
        print(*out["y"].tolist(), int(out["n"]), float(slope))
    """)
    *y, n, slope = map(float, found.split())
    wanted = model({"scale": 2.0}, X, n=3)
    np.testing.assert_allclose(y, wanted["y"], rtol=1e-6)
    assert n == 4
    np.testing.assert_allclose(slope, jx.grad(lambda s: model({"scale": s}, X, n=3)["y"].sum())(2.0), rtol=1e-5)


def test_inside_jit_scan_and_under_second_derivatives():
    g = export.deserialize(exported(2))

    def of(f, s):
        return f({"scale": s}, X, n=3)["y"].sum()

    for transform in (jx.grad, lambda f: jx.grad(jx.grad(f)), jx.jit):
        np.testing.assert_allclose(
            transform(lambda s: of(g.call, s))(2.0), transform(lambda s: of(model, s))(2.0), rtol=1e-5
        )
    looped = jx.jit(lambda x: lax.scan(lambda c, _: (g.call({"scale": 0.5}, c, n=0)["y"], None), x, length=4)[0])(X)
    wanted = X
    for _ in range(4):
        wanted = model({"scale": 0.5}, wanted, n=0)["y"]
    np.testing.assert_allclose(looped, wanted, rtol=1e-6)
    twice = jx.jit(lambda x: g.call({"scale": 1.0}, g.call({"scale": 1.0}, x, n=0)["y"], n=1)["y"])(X)
    np.testing.assert_allclose(twice, model({"scale": 1.0}, model({"scale": 1.0}, X, n=0)["y"], n=1)["y"], rtol=1e-6)


def test_before_serializing_it_can_be_called_and_differentiated():
    e = export.export(model)({"scale": 2.0}, X, n=3)
    assert e.in_avals[1].short() == "f32[3]" and "stablehlo" in e.mlir_module()
    np.testing.assert_allclose(e.call({"scale": 2.0}, X, n=3)["y"], model({"scale": 2.0}, X, n=3)["y"])
    assert jx.grad(lambda x: e.call({"scale": 2.0}, x, n=3)["y"].sum())(X).shape == (3,)
    assert [a.short() for a in e.vjp().out_avals] == ["f32[]", "f32[3]", "float0[]"]


def test_what_was_not_exported_is_said():
    g = export.deserialize(exported())
    with pytest.raises(NotImplementedError, match="serialize it with vjp_order=1"):
        jx.grad(lambda s: g.call({"scale": s}, X, n=3)["y"].sum())(2.0)
    with pytest.raises(ValueError, match="vjp_order=1"):
        g.vjp()
    with pytest.raises(ValueError, match="no derivative of order 2"):
        export.deserialize(exported(1)).serialize(2)
    with pytest.raises(NotImplementedError, match=r"cannot be mapped by vmap.*lax\.map"):
        jx.vmap(lambda x: g.call({"scale": 1.0}, x, n=0)["y"])(np.ones((2, 3), np.float32))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ({"scale": 2.0}, X[:2]),
            r"Shape mismatch for args\[1\]\.shape\[0\] .* model was exported for f32\[3\], it got f32\[2\]",
        ),
        (
            ({"scale": 2.0}, X.astype(np.int32)),
            r"Dtype mismatch for args\[1\]: model was exported for f32\[3\], it got i32\[3\]",
        ),
        (({"scale": "big"}, X), r"at args\[0\]\['scale'\]; a value of type str"),
        (({"scale": 2.0},), "another structure"),
    ],
)
def test_other_arguments_are_refused(args, message):
    with pytest.raises(ValueError, match=message):
        export.deserialize(exported()).call(*args, n=3)


def test_damaged_artifacts_are_refused():
    good = exported(1)
    for cut in range(0, len(good), max(1, len(good) // 60)):
        with pytest.raises(export.ArtifactError, match=r"cut off|incomplete|not a function"):
            export.deserialize(good[:cut])
    random = np.random.default_rng(0)
    for at in random.integers(0, len(good), 60):
        with pytest.raises(export.ArtifactError):
            export.deserialize(good[:at] + bytes([good[at] ^ 0x55]) + good[at + 1 :])
    with pytest.raises(export.ArtifactError, match="not a function exported"):
        export.deserialize(b"something else")


def test_refused_when_exporting():
    with pytest.raises(TypeError, match=r"export\(jit\(<lambda>\)\)"):
        export.export(lambda x: x)
    np.testing.assert_array_equal(
        export.export(jnp.add)(X, X).call(X, X), X + X
    )  # what the library has counts as jitted
    solve = jx.jit(jnp.linalg.solve)
    with pytest.raises(NotImplementedError, match=r"lapack_sgetrf_ffi.*exports it for the CPU, not for cuda"):
        export.export(solve, platforms=["cuda"])(np.eye(3, dtype=np.float32), X)


class Point(NamedTuple):
    x: Any
    y: Any


@jx.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    w: Any
    size: int = dataclasses.field(metadata={"static": True}, default=3)


class Unknown(NamedTuple):
    x: Any


export.register_namedtuple_serialization(Point, serialized_name="tests.Point")
export.register_pytree_node_serialization(
    Layer,
    serialized_name="tests.Layer",
    serialize_auxdata=lambda data: repr(data).encode(),
    deserialize_auxdata=lambda data: eval(data.decode()),
)


def test_trees_of_registered_classes():
    @jx.jit
    def f(p, layer, more):
        return Point(p.x + layer.w, {"a": [p.y, None], "b": OrderedDict(z=more[0], a=more[1])})

    args = Point(1.0, jnp.arange(2.0)), Layer(jnp.ones(3)), (jnp.int32(3), jnp.bfloat16(2))
    found = export.deserialize(export.export(f)(*args).serialize()).call(*args)
    assert isinstance(found, Point) and found.x.tolist() == [2, 2, 2]
    assert list(found.y["b"]) == ["z", "a"] and found.y["b"]["a"].dtype == jnp.bfloat16 and found.y["a"][1] is None
    with pytest.raises(ValueError, match="nodes of Unknown cannot be exported: register"):
        export.export(jx.jit(lambda u: u.x))(Unknown(1.0)).serialize()
    with pytest.raises(ValueError, match="registered already"):
        export.register_namedtuple_serialization(Point, serialized_name="other")


def test_keys_numbers_and_arguments_nobody_reads():
    @jx.jit
    def f(key, unused, z):
        return jx.random.uniform(key, (2,)) + z.real, jx.random.split(key)

    args = jx.random.key(3), jnp.zeros(5), jnp.complex64(1 + 2j)
    found, wanted = export.deserialize(export.export(f)(*args).serialize()).call(*args), f(*args)
    np.testing.assert_array_equal(found[0], wanted[0])
    np.testing.assert_array_equal(jx.random.key_data(found[1]), jx.random.key_data(wanted[1]))


def test_linear_algebra_is_exported():
    @jx.jit
    def f(a, b):
        return jnp.linalg.solve(a, b)

    a, b = np.eye(3, dtype=np.float32) * 2 + 0.5, np.arange(3, dtype=np.float32)
    found = export.deserialize(export.export(f)(a, b).serialize()).call(a, b)
    np.testing.assert_allclose(found, np.linalg.solve(a, b), rtol=1e-5)
