"""Functions exported with symbolic dimensions give, at all sizes, what they give when compiled for these; artifacts are JAX's."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import export, lax
from jitscope.export import flatbuffer
from tests.compiler.symbolic_programs import PROGRAMS, SIZES
from tests.extent import ALL
from tests.oracle import there
from tests.oracle.cases import symbolic as cases


F32 = "float32"


def specs_of(name: str) -> list[tuple[str, str]]:
    return [(s, F32) if isinstance(s, str) else s for s in PROGRAMS[name][1]]


def arguments(specs: list[tuple[str, str]], sizes: dict[str, int]) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    found = []
    for text, dtype in specs:
        shape = tuple(eval(part, dict(sizes)) for part in text.split(",")) if text else ()
        values = random.normal(size=shape) if dtype == F32 else random.integers(0, min(sizes.values()), shape)
        found.append(np.asarray(values, dtype))
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_at_several_sizes(name):
    function, specs = PROGRAMS[name][0], specs_of(name)
    scope = export.SymbolicScope()
    structs = [jx.ShapeDtypeStruct(export.symbolic_shape(text, scope=scope), dtype) for text, dtype in specs]
    exported = export.deserialize(export.export(jx.jit(function))(*structs).serialize())
    for sizes in SIZES[: 3 if ALL and not ("gradient" in name or "attention" in name) else 2]:
        args = arguments(specs, sizes)
        found, wanted = (jx.tree.leaves(f(*args)) for f in (exported.call, jx.jit(function)))
        assert [(x.shape, x.dtype) for x in found] == [(x.shape, x.dtype) for x in wanted]
        for x, y in zip(found, wanted):
            np.testing.assert_allclose(*[np.asarray(v, np.float64) for v in (x, y)], rtol=2e-4, atol=2e-5)


def exported_sum() -> Any:
    b, n = export.symbolic_shape("b, n")
    return export.export(jx.jit(lambda x, y: (x + y[:, None], x.shape[0] * x.shape[1])))(
        jx.ShapeDtypeStruct((b, n), F32), jx.ShapeDtypeStruct((b,), F32)
    )


def test_against_numpy():
    e = exported_sum()
    for b, n in ((1, 1), (3, 4), (7, 2)):
        x, y = np.arange(b * n, dtype=np.float32).reshape(b, n), np.arange(b, dtype=np.float32)
        found, size = e.call(x, y)
        np.testing.assert_array_equal(found, x + y[:, None])
        assert int(size) == b * n


def test_arguments_that_do_not_fit():
    e, x, y = exported_sum(), np.ones((3, 4), np.float32), np.ones(3, np.float32)
    for args, message in [
        (
            (x, y[:2]),
            r"Found inconsistency between dimension size args\[1\]\.shape\[0\] \(= 2\) and the specification 'b' \(= 3\)",
        ),
        ((x[:0], y[:0]), r"Expected value >= 1 for dimension variable 'b'.*args\[0\]\.shape = \(b, n\)"),
        ((x[0], y), r"Rank mismatch for args\[0\]"),
        ((x.astype(np.int32), y), r"Dtype mismatch for args\[0\]"),
        ((x,), "same pytree structure"),
    ]:
        with pytest.raises(ValueError, match=message):
            e.call(*args)
        with pytest.raises(ValueError, match=message):
            jx.jit(e.call)(*args)


def test_constraints_are_checked():
    b, n = export.symbolic_shape("b, n", constraints=["b >= 2*n", "mod(b, 2) == 0"])
    e = export.export(jx.jit(lambda x, y: x[: y.shape[0]] + y))(*[jx.ShapeDtypeStruct((d,), F32) for d in (b, n)])
    again = export.deserialize(e.serialize())
    for exported in (e, again):
        assert exported.call(np.ones(4, np.float32), np.ones(2, np.float32)).tolist() == [2, 2]
        with pytest.raises(ValueError, match=r"symbolic shape constraint b >= 2\*n.*found -1"):
            exported.call(np.ones(3, np.float32), np.ones(2, np.float32))
        with pytest.raises(ValueError, match=r"2\*floordiv\(b, 2\) == b.*found -1"):
            exported.call(np.ones(5, np.float32), np.ones(2, np.float32))


def test_a_size_that_no_argument_has_is_named():
    (k,) = export.symbolic_shape("k", constraints=["k <= 10"])
    with pytest.raises(
        ValueError, match=r"'k' that is not appearing in the shapes of the function arguments.*\(k, 0\)"
    ):
        export.export(jx.jit(lambda k, x: lax.top_k(x, k)[0], static_argnums=0))(k, np.ones(10, np.float32))


def test_the_module_itself_checks_sizes():
    """Where the signature says less than the module does, the refinement of its shapes fails with the assertion's text."""
    (b,), (c,) = export.symbolic_shape("b", constraints=["b >= 3"]), export.symbolic_shape("c")
    e = export.export(jx.jit(lambda x: x * x.shape[0]))(jx.ShapeDtypeStruct((b,), F32))
    assert "shape_assertion" in e.mlir_module() and "jax.uses_shape_polymorphism = true" in e.mlir_module()
    looser = jx.ShapeDtypeStruct((c,), F32).aval
    looser = dataclasses.replace(e, in_avals=(looser,), out_avals=(looser,))
    assert looser.call(np.ones(4, np.float32)).tolist() == [4] * 4
    with pytest.raises(Exception, match=r"symbolic shape constraint b >= 3.*but found -1.*'b' = 2 from specification"):
        looser.call(np.ones(2, np.float32))


def test_calls_inside_traces_with_other_symbols():
    e = exported_sum()
    c, d = export.symbolic_shape("c, d")
    outer = export.export(jx.jit(lambda x: e.call(x.T, x[0])[0] * 2))(jx.ShapeDtypeStruct((c, d), F32))
    assert outer.out_avals[0].shape == (d, c)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.testing.assert_array_equal(outer.call(x), (x.T + x[0][:, None]) * 2)
    with pytest.raises(ValueError, match="Found inconsistency"):
        export.export(jx.jit(lambda x: e.call(x, x[0])))(jx.ShapeDtypeStruct((c, d), F32))
    np.testing.assert_array_equal(
        jx.jit(lambda x: lax.scan(lambda s, r: (e.call(s, r)[0], None), x, jnp.ones((3, 2)))[0])(x), x + 3
    )


def test_pullbacks():
    b, n = export.symbolic_shape("b, n")
    f = jx.jit(lambda x, w, i: (jnp.sin(x @ w).sum() / x.shape[0], i + 1))
    e = export.export(f)(*[jx.ShapeDtypeStruct(s, d) for s, d in (((b, n), F32), ((n, 2), F32), ((b,), "int32"))])
    assert [a.short() for a in e.vjp().in_avals] == ["f32[b,n]", "f32[n,2]", "i32[b]", "f32[]", "float0[b]"]
    assert [a.short() for a in e.vjp().out_avals] == ["f32[b,n]", "f32[n,2]", "float0[b]"]
    g = export.deserialize(e.serialize(vjp_order=2))
    assert g.has_vjp() and g.vjp().has_vjp() and not g.vjp().vjp().has_vjp()
    random = np.random.default_rng(0)

    def first(f, x, w, i):
        return jx.grad(lambda x, w: f(x, w, i)[0], (0, 1))(x, w)

    def second(f, x, w, i):
        return jx.grad(lambda x: (first(f, x, w, i)[0] ** 2).sum())(x)

    for rows in (2, 5):
        x, w = random.normal(size=(rows, 3)).astype(F32), random.normal(size=(3, 2)).astype(F32)
        i = np.arange(rows, dtype=np.int32)
        for of in (first, second):
            for found, wanted in zip(jx.tree.leaves(of(g.call, x, w, i)), jx.tree.leaves(of(f, x, w, i))):
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: jx.random.permutation(jx.random.key(0), x), NotImplementedError, "shuffling .* of symbolic size"),
        (lambda x: lax.associative_scan(jnp.add, x), NotImplementedError, "symbolic size b.*cumsum"),
        (lambda x: jnp.fft.fft(x, axis=0), NotImplementedError, r"fft of c64\[3,b\], in line \d+ of <lambda>"),
        (lambda x: jnp.squeeze(x), ValueError, "name them with axis="),
        (lambda x: lax.top_k(x.T, 2), Exception, "'b' >= '2' is inconclusive"),
        (lambda x: [x[i] for i in range(x.shape[0])], TypeError, "'b' cannot be interpreted as an integer"),
    ],
)
def test_what_cannot_be_exported_says_so(function, error, message):
    (b,) = export.symbolic_shape("b")
    with pytest.raises(error, match=message):
        export.export(jx.jit(function))(jx.ShapeDtypeStruct((b, 3), F32))


# Artifacts -----------------------------------------------------------------------------------------------------------


def squares(f: Any) -> Any:
    return lambda x, *rest: (f(x, *rest) ** 2).sum()


def test_what_jax_exported_runs_here():
    e = export.deserialize(cases.unpacked(there.answer("symbolic", "exported")["plain"]))
    assert [a.short() for a in e.in_avals] == ["f32[4]", "f32[n,4]", "f32[b,n]", "i32[]"]
    assert e.fun_name == "model" and e.platforms == ("cpu",) and e.uses_global_constants

    def ours(x, w, bias):
        y = jnp.tanh(x @ w + bias)
        return y - y.mean(0)

    def theirs(x, w, bias):
        return e.call({"w": w, "b": (bias,)}, x, n=3)["y"]

    random = np.random.default_rng(0)
    for rows, columns in ((3, 2), (4, 5)):
        shapes = (rows, columns), (columns, 4), (4,)
        x, w, bias = (random.normal(size=shape).astype(F32) for shape in shapes)
        found = e.call({"w": w, "b": (bias,)}, x, n=3)
        y = np.tanh(x @ w + bias)
        np.testing.assert_allclose(found["y"], y - y.mean(0), rtol=1e-4, atol=1e-5)
        assert int(found["n"][0]) == 3 + rows and found["n"][1] is None
        np.testing.assert_array_equal(found["order"], np.argsort(y[:, 0]))
        for order in (lambda f: jx.grad(squares(f)), lambda f: jx.grad(squares(jx.grad(squares(f))))):
            np.testing.assert_allclose(order(theirs)(x, w, bias), order(ours)(x, w, bias), rtol=1e-3, atol=1e-4)
    with pytest.raises(Exception, match=r"b >= 2.*found -1"):
        theirs(x[:1], w, bias)


def test_what_jax_exported_for_several_platforms_runs_here():
    e = export.deserialize(cases.unpacked(there.answer("symbolic", "exported for platforms")["plain"]))
    assert e.platforms == ("tpu", "cpu") and e.module_kept_var_idx == (0,)
    x = np.arange(3, dtype=np.float32)
    np.testing.assert_allclose(e.call(x, np.zeros(2, np.int32)), np.sin(x) * 2, rtol=1e-6)
    np.testing.assert_allclose(jx.grad(lambda x: e.call(x, np.zeros(2, np.int32)).sum())(x), np.cos(x) * 2, rtol=1e-6)


def test_platforms():
    f = jx.jit(lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos))
    x = np.arange(3, dtype=np.float32)
    for platforms in (("cpu",), ("tpu", "cpu"), ("cpu", "cuda", "rocm")):
        e = export.export(f, platforms=platforms)(x)
        again = export.deserialize(e.serialize())
        assert again.platforms == platforms and again.uses_global_constants == (len(platforms) > 1)
        np.testing.assert_allclose(again.call(x), np.sin(x), rtol=1e-6)
    other = export.export(f, platforms=("tpu",), disabled_checks=[export.DisabledSafetyCheck.platform()])(x)
    np.testing.assert_allclose(export.deserialize(other.serialize()).call(x), np.cos(x), rtol=1e-6)
    with pytest.raises(ValueError, match=r"exported for platforms '\('tpu',\)' but it is used on 'cpu'"):
        export.export(f, platforms=("tpu",))(x).call(x)


def test_references_inside():
    """Mutable arrays that live and die in a function are pure once it is exported."""

    @jx.jit
    def f(x):
        ref = jx.new_ref(x)
        ref[0] = 7.0
        return ref[...] * 2

    (b,) = export.symbolic_shape("b")
    e = export.deserialize(export.export(f)(jx.ShapeDtypeStruct((b,), F32)).serialize())
    assert e.call(np.ones(3, np.float32)).tolist() == [14, 2, 2]


def test_native_functions_without_a_promise():
    call = jx.ffi.ffi_call("my_own_target", jx.ShapeDtypeStruct((3,), F32))
    f = jx.jit(lambda x: call(x))
    x = np.ones(3, np.float32)
    with pytest.raises(ValueError, match=r"no compatibility guarantees.*my_own_target"):
        export.export(f)(x)
    allowed = export.DisabledSafetyCheck.custom_call("my_own_target")
    assert allowed.is_custom_call() == "my_own_target" and allowed == export.DisabledSafetyCheck.custom_call(
        "my_own_target"
    )
    e = export.deserialize(export.export(f, disabled_checks=[allowed])(x).serialize())
    assert e.disabled_safety_checks == (allowed,)


def test_fields():
    b, _ = export.symbolic_shape("b, n")
    e = export.export(jx.jit(lambda x, unused, *, k: x * k))(jx.ShapeDtypeStruct((b,), F32), np.ones(2), k=2.0)
    assert e.module_kept_var_idx == (0, 1, 2) and e.nr_devices == 1 and e.calling_convention_version == 10
    assert e.in_shardings_hlo == (None,) * 3 and e.ordered_effects == e.unordered_effects == ()
    assert e.in_tree == jx.tree.structure(((0, 0), {"k": 0})) and repr(e) == "Exported(fun_name=<lambda>, ...)"
    plain = export.export(jx.jit(lambda x, unused, y: x * y))(*[np.ones(2, np.float32)] * 3)
    assert plain.module_kept_var_idx == (0, 2) and not plain.uses_global_constants
    assert export.default_export_platform() == "cpu"
    assert (
        export.minimum_supported_calling_convention_version
        == 9
        == export.maximum_supported_calling_convention_version - 1
    )
    static = export.export(jx.jit(lambda x, n: x * n, static_argnums=1))(np.ones(2, np.float32), 3)
    assert static.call(np.ones(2, np.float32)).tolist() == [3, 3]
    with pytest.raises(ValueError, match="No VJP is available"):
        export.deserialize(plain.serialize()).vjp()


def test_flatbuffers():
    """Written and read back; what is written is aligned as readers of the format expect."""
    table = {
        0: flatbuffer.Number("H", 3), 1: "näme", 3: [{}, {0: flatbuffer.Number("b", -2)}], 4: b"\0\1\2", 6: ["", "x"],
        7: flatbuffer.Numbers("I", [7, 2**32 - 1]), 40: flatbuffer.Number("?", True), 41: None,
    }  # fmt: skip
    data = flatbuffer.write(table, b"TEST")
    found = flatbuffer.Reader(data)
    assert (
        found.number(0, "H") == 3
        and found.text(1) == "näme"
        and found.bytes(4) == b"\0\1\2"
        and found.texts(6) == ["", "x"]
    )
    assert [t.number(0, "b") for t in found.tables(3)] == [0, -2] and found.numbers(7, "I") == (7, 2**32 - 1)
    assert found.number(40, "?") and found.table(5) is None and found.number(41, "I", 9) == 9
    assert found.at % 4 == 0 and data[4:8] == b"TEST" and re.search(rb"n\xc3\xa4me\0", data)
    for cut in range(len(data)):
        try:
            short = flatbuffer.Reader(data[:cut])
            short.text(1), short.texts(6), short.numbers(7, "I"), short.tables(3)
        except (ValueError, IndexError, flatbuffer.struct.error):
            continue
