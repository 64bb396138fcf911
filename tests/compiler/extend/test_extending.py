"""`docs/extending.md` runs: its blocks are one program. And what it does not show."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import extend, ffi


GUIDE = Path(__file__).resolve().parents[3] / "docs" / "extending.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    """The guide's native function, compiled."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    assert compiler, "this test needs a C++ compiler (c++, g++ or clang++)"
    folder = tmp_path_factory.mktemp("native")
    source, built = folder / "rms.cc", folder / "librms.so"
    (text,) = blocks("cpp")
    source.write_text(text)
    subprocess.run(
        [compiler, "-std=c++17", "-O1", "-shared", "-fPIC", f"-I{ffi.include_dir()}", "-o", str(built), str(source)],
        check=True,
    )
    return built


def test_the_guide_runs(library, capsys):
    namespace = {"LIBRARY": str(library)}
    for number, block in enumerate(blocks("python")):
        exec(compile(block, f"{GUIDE.name}, block {number}", "exec"), namespace)
    assert "softsign" in capsys.readouterr().out


class Twice(extend.Primitive):
    def abstract(self, x, /):
        return extend.pure(x)

    def lower(self, ctx, x, /):
        return ctx.hlo.add(x, x)


def test_a_rule_for_another_platform_is_not_used_here():
    twice_p = Twice("twice_there")
    take_back = extend.register_lowering(twice_p, lambda ctx, x: ctx.hlo.negate(x), platform="cuda")
    assert float(jx.jit(twice_p)(3.0)) == 6
    take_back()
    extend.register_lowering(twice_p, lambda ctx, x: ctx.hlo.negate(x), platform="cpu")
    assert float(jx.jit(twice_p)(3.0)) == -3 and float(twice_p(3.0)) == -3


def test_rules_take_effect_at_once_and_can_be_taken_back():
    @extend.register_lowering(np.cosh)
    def cosh(ctx, x):
        return ctx.full(7, ctx.avals_in[0])

    f = jx.jit(lambda x: jnp.cosh(x) + 1)
    assert float(f(0.0)) == 8 and float(jnp.cosh(0.0)) == 7
    back = extend.register_lowering(jnp.cosh, lambda ctx, x: ctx.full(5, ctx.avals_in[0]))
    assert float(f(0.0)) == 6
    back()
    assert float(f(0.0)) == 8
    extend.primitive_of(np.cosh).lowerings = {}
    extend.primitive_of(np.cosh).renew()
    jx.clear_caches()
    assert float(f(0.0)) == 2


def test_what_cannot_have_a_lowering_rule():
    with pytest.raises(ValueError, match="sinc is not one operation but"):
        extend.register_lowering(np.sinc, lambda ctx, x: x)
    with pytest.raises(TypeError, match="is neither"):
        extend.register_lowering(3, lambda ctx, x: x)


def test_native_functions_are_refused_with_reasons():
    with pytest.raises(ValueError, match="vmap_method must be one of"):
        ffi.ffi_call("x", jx.ShapeDtypeStruct((), np.float32), vmap_method="fast")
    call = ffi.ffi_call("nobody_registered_this", jx.ShapeDtypeStruct((), np.float32))
    with pytest.raises(TypeError, match="attribute 'how'"):
        call(1.0, how=object())
    with pytest.raises(ValueError, match="custom_jvp or custom_vjp"):
        jx.grad(call)(1.0)
    with pytest.raises(NotImplementedError, match="give vmap_method"):
        jx.vmap(call)(jnp.arange(3.0))
    with pytest.raises(Exception, match="nobody_registered_this"):
        call(1.0)


NATIVE_ARGUMENTS = [  # (what `ffi_call` is told beside, attributes): JAX raises ValueError for each
    ({"legacy_backend_config": "12"}, {}),
    ({"custom_call_api_version": 2}, {"attribute": 1}),
    ({"input_output_aliases": {1: 0}}, {}),
    ({"input_output_aliases": {0: 1}}, {}),
    ({"input_output_aliases": {0: 0}, "output_layouts": [(0, 1)], "input_layouts": [(1, 0)]}, {}),
]


@pytest.mark.parametrize(("told", "attributes"), NATIVE_ARGUMENTS)
def test_arguments_native_functions_do_not_take(told, attributes):
    x = jnp.ones((2, 3))
    with pytest.raises(ValueError, match="ffi_call"):
        jx.jit(lambda x: ffi.ffi_call("x", x, **told)(x, **attributes)).lower(x)
    result = jx.ShapeDtypeStruct((), np.float32)
    for wrong, place in [(None, 0), ((result, ()), 1), ((result, result, 3.0), 2)]:
        with pytest.raises(ValueError, match=f"at position {place}"):
            ffi.ffi_call("x", wrong)


ATTRIBUTES = [  # (value, as JAX writes it)
    (np.array(1, jnp.int4), "dense<1> : tensor<i4>"),
    (np.array(1.0, jnp.bfloat16), "dense<1.000000e+00> : tensor<bf16>"),
    (np.array(True), "dense<true> : tensor<i1>"),
    (np.arange(3), "dense<[0, 1, 2]> : tensor<3xi64>"),
    (np.zeros((), jx.dtypes.float0), "dense<false> : tensor<i1>"),
    (jnp.bfloat16.dtype.type(1), "1.000000e+00 : bf16"),
    (np.float16(1), "1.000000e+00 : f16"),
    (np.uint8(1), "1 : ui8"),
    (np.int64(1), "1 : i64"),
    (np.True_, "true"),
    (1, "1 : i64"),
    ("param", '"param"'),
    ({"a": 1, "b": "x"}, '{a = 1 : i64, b = "x"}'),
]


@pytest.mark.parametrize(("value", "text"), ATTRIBUTES, ids=str)
def test_attributes_of_native_functions(value, text):
    wide = jx.ShapeDtypeStruct((3,), np.int64)
    lowered = jx.jit(lambda x: ffi.ffi_call("x", wide)(x, param=value)).lower(1.0).as_text()
    assert f"{{param = {text}}}" in lowered
    assert "-> tensor<3xi64>" in lowered  # a native function writes what it says, whatever `enable_x64` is
    old = ffi.ffi_call("x", wide, custom_call_api_version=2, legacy_backend_config="12")
    assert 'api_version = 2 : i32, backend_config = "12"' in jx.jit(old).lower(1.0).as_text()


@pytest.mark.parametrize(
    "method", ["sequential", "sequential_unrolled", "expand_dims", "broadcast_all", "legacy_vectorized"]
)
def test_native_functions_under_vmap(library, method):
    import ctypes

    ffi.register_ffi_target(f"rms_{method}", ffi.pycapsule(ctypes.CDLL(str(library)).RmsNorm))
    x = np.random.default_rng(1).normal(size=(2, 3, 4)).astype(np.float32)
    call = ffi.ffi_call(f"rms_{method}", jx.ShapeDtypeStruct((4,), np.float32), vmap_method=method)
    found = jx.jit(jx.vmap(jx.vmap(lambda row: call(row, eps=np.float32(0)))))(x)
    np.testing.assert_allclose(found, x / np.sqrt((x * x).mean(-1, keepdims=True)), rtol=1e-5)


def test_native_functions_get_arrays_in_the_layout_asked_for(library):
    import ctypes

    ffi.register_ffi_target("rms_columns", ffi.pycapsule(ctypes.CDLL(str(library)).RmsNorm))
    x = np.random.default_rng(1).normal(size=(2, 4, 4)).astype(np.float32)
    result = jx.ShapeDtypeStruct((4, 4), np.float32)
    wanted = x / np.sqrt((x * x).mean(1, keepdims=True))  # what lies together are columns
    for out in ((1, 0), [(1, 0)]):
        call = ffi.ffi_call(
            "rms_columns", result, vmap_method="broadcast_all", input_layouts=[(1, 0)], output_layouts=out
        )
        given = lambda one, call=call: call(one, eps=np.float32(0))
        np.testing.assert_allclose(jx.jit(given)(x[0]), wanted[0], rtol=1e-5)
        np.testing.assert_allclose(jx.vmap(given)(x), wanted, rtol=1e-5)
    with pytest.raises(ValueError, match="name each of them once"):
        ffi.ffi_call("rms_columns", result, input_layouts=[(1, 1)])(x[0])
    with pytest.raises(ValueError, match="2 input_layouts for 1 arrays"):
        ffi.ffi_call("rms_columns", result, input_layouts=[None, None])(x[0])
