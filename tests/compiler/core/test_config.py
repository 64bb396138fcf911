"""Options: by name, by environment variable, in a with block; each has an effect."""

from __future__ import annotations

import concurrent.futures
import json
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, random
from jitscope.core import config as configuration
from jitscope.core.config import OPTIONS, override, settings
from jitscope.core.errors import TypePromotionError
from jitscope.core.jax_options import comes_later
from tests.oracle import recorded


JAX_OPTIONS = recorded.load("surface")["options"]["plain"]

OTHER_VALUES: dict[str, Any] = {
    "enable_x64": True,
    "disable_jit": True,
    "numpy_dtype_promotion": "strict",
    "explicit_x64_dtypes": "allow",
    "numpy_rank_promotion": "raise",
    "default_matmul_precision": "highest",
    "default_device": jx.devices()[0],
    "default_prng_impl": "rbg",
    "random_seed_offset": 7,
    "debug_key_reuse": True,
    "debug_nans": True,
    "debug_infs": True,
    "sharp_bits": True,
    "check_tracer_leaks": True,
    "traceback_filtering": "off",
    "enable_checks": True,
    "threefry_partitionable": False,
    "legacy_prng_key": "error",
    "check_static_indices": True,
    "no_tracing": True,
    "no_execution": True,
    "log_compiles": True,
    "explain_cache_misses": True,
    "transfer_guard_host_to_device": "disallow",
    "transfer_guard_device_to_device": "log",
    "transfer_guard_device_to_host": "disallow_explicit",
    "transfer_guard": "log_explicit",
    "allow_f16_reductions": False,
    "auto_pcast": False,
    "enable_custom_prng": True,
    "remove_size_one_mesh_axis_from_type": True,
    "softmax_custom_jvp": True,
    "thread_guard": True,
    "array_garbage_collection_guard": "allow",
}
WRONG_VALUES: dict[str, list[Any]] = {
    "enable_x64": ["yes", 2, None, 1.5],
    "disable_jit": ["on"],
    "numpy_dtype_promotion": ["lax", None, True],
    "explicit_x64_dtypes": ["never", None, True],
    "numpy_rank_promotion": ["error", None],
    "default_matmul_precision": ["best", 3],
    "default_device": [3, "gpu"],
    "default_prng_impl": ["dice", None],
    "random_seed_offset": [1.5, True, "1"],
    "debug_key_reuse": [None],
    "debug_nans": ["on"],
    "debug_infs": [2],
    "sharp_bits": [2],
    "check_tracer_leaks": ["yes"],
    "traceback_filtering": ["hide", True],
    "num_cpu_devices": [0, -1, "2"],
    "legacy_prng_key": ["refuse", True],
    "transfer_guard": ["never", True],
    **{n: ["never"] for n in OTHER_VALUES if n.startswith("transfer_guard_") or n == "array_garbage_collection_guard"},
    **{n: ["on", None, 2] for n, other in OTHER_VALUES.items() if isinstance(other, bool)},
}


@pytest.fixture(autouse=True)
def restored():
    default, others = configuration.unscoped, dict(configuration._others)
    yield
    configuration.unscoped = default
    configuration._others.update(others)


# How options are set --------------------------------------------------------------------------------------------------


def test_all_options_are_covered_here() -> None:
    assert set(OTHER_VALUES) == {name for name, option in OPTIONS.items() if not option.whole_process}
    assert set(OTHER_VALUES) <= set(WRONG_VALUES) <= set(OPTIONS)


@pytest.mark.parametrize("name", OTHER_VALUES)
@pytest.mark.parametrize("spelling", ["", "jax_"])
def test_by_name(name: str, spelling: str) -> None:
    before, other = jx.config.read(name), OTHER_VALUES[name]
    assert before == OPTIONS[name].default != other
    jx.config.update(spelling + name, other)
    assert jx.config.read(spelling + name) == getattr(jx.config, name) == getattr(jx.config, f"jax_{name}") == other
    jx.config.update(name, before)
    assert getattr(jx.config, name) == before


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_in_a_with_block_and_as_a_decorator(name: str) -> None:
    manager, before, other = getattr(jx, name), jx.config.read(name), OTHER_VALUES[name]
    block = manager(other)
    for _ in range(2):
        with block:
            assert jx.config.read(name) == other
            with manager(before):
                assert jx.config.read(name) == before
            with block:
                assert jx.config.read(name) == other
            assert jx.config.read(name) == other
        assert jx.config.read(name) == before
    decorated = manager(other)(lambda: jx.config.read(name))
    assert decorated() == decorated() == other and jx.config.read(name) == before
    with pytest.raises(RuntimeError, match="out"), manager(other):
        raise RuntimeError("out")
    assert jx.config.read(name) == before


@pytest.mark.parametrize("name", WRONG_VALUES)
def test_wrong_values_are_refused_at_once(name: str) -> None:
    before = jx.config.read(name)
    for wrong in WRONG_VALUES[name]:
        with pytest.raises(ValueError, match=name):
            jx.config.update(name, wrong)
        if name != "num_cpu_devices":
            with pytest.raises(ValueError, match=name):
                getattr(jx, name)(wrong)
    assert jx.config.read(name) == before


def test_blocks_belong_to_the_thread_and_see_later_updates() -> None:
    found = []
    with jx.enable_x64():
        thread = threading.Thread(target=lambda: found.append(jx.config.enable_x64))
        thread.start()
        thread.join()
        jx.config.update("random_seed_offset", 3)
        assert jx.config.random_seed_offset == 3 and jx.config.enable_x64
    assert found == [False] and jx.config.random_seed_offset == 3


def test_decorated_functions_run_in_several_threads_at_once() -> None:
    both_inside, seen = threading.Barrier(2, timeout=20), []

    @jx.enable_x64(True)
    def wide(pause: float) -> None:
        both_inside.wait()
        time.sleep(pause)  # the first to come is the first, and the last, to go
        seen.append(jx.config.enable_x64)

    def run(pause: float) -> None:
        before = jx.config.enable_x64
        wide(pause)
        with jx.enable_x64(False):
            seen.append(not jx.config.enable_x64)
        seen.append(jx.config.enable_x64 == before)

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for outcome in [pool.submit(run, pause) for pause in (0.0, 0.2)]:
            outcome.result()
    assert seen == [True] * 6 and not jx.config.enable_x64


def test_equal_settings_are_one_object() -> None:
    plain = settings()
    with jx.enable_x64():
        wide = settings()
        assert wide is not plain and wide is settings()
        with jx.enable_x64(False):
            assert settings() is plain
    with jx.enable_x64():
        assert settings() is wide
    with jx.traceback_filtering("off"):
        assert settings() is plain  # it changes no program


def test_names_that_are_wrong() -> None:
    for use in (lambda n: jx.config.update(n, True), jx.config.read, lambda n: getattr(jx.config, n), lambda n: override(**{n: 1})):  # fmt: skip
        with pytest.raises(AttributeError, match="did you mean 'enable_x64'"):
            use("enabel_x64")
        with pytest.raises(AttributeError, match=r"there are .*random_seed_offset"):
            use("zzz")
    with pytest.raises(AttributeError, match=r"config.update\('enable_x64'"):
        jx.config.enable_x64 = True


def test_what_becomes_of_jaxs_other_options() -> None:
    assert len(JAX_OPTIONS) > 100
    kept, later, warned = [], [], []
    for name in JAX_OPTIONS:
        short = name.removeprefix("jax_")
        if short in OPTIONS or short == "enable_compilation_cache":
            continue
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                jx.config.update(name, True)
                (warned if caught else kept).append(short)
            except NotImplementedError as error:
                assert "later release" in str(error)
                later.append(short)
        assert len(caught) <= 1 and all("no effect" in str(w.message) and w.filename == __file__ for w in caught)
        assert caught == [] or jx.config.read(name) is True
    assert kept == [] and len(warned) > 80
    assert later == [name.removeprefix("jax_") for name in JAX_OPTIONS if comes_later(name)]
    for name in later:
        jx.config.update(f"jax_{name}", False)
    jx.config.update("jax_platforms", "cpu")
    with pytest.warns(UserWarning, match="CPU"):
        jx.config.update("jax_platforms", "cuda")


def test_options_explain_themselves(capsys: Any) -> None:
    assert all(name in repr(jx.config) for name in OPTIONS) and set(OPTIONS) <= set(dir(jx.config))
    jx.config.help()
    text = capsys.readouterr().out
    assert all(f"{option.name} (default" in text and option.meaning in text for option in OPTIONS.values())
    jx.config.help("jax_enable_x64")
    text = capsys.readouterr().out
    assert "JITSCOPE_ENABLE_X64" in text and "jitscope.enable_x64(" in text and "rank" not in text
    assert all(getattr(jx, name).__doc__ for name in OTHER_VALUES)


def from_environment(**environment: str) -> Any:
    code = "import json, jitscope as jx; from jitscope.core.config import OPTIONS; print(json.dumps({n: jx.config.read(n) for n in OPTIONS}))"  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, timeout=100
    )
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def test_by_environment_variable() -> None:
    found = from_environment(
        JITSCOPE_ENABLE_X64="1",
        JITSCOPE_DISABLE_JIT="True",
        JITSCOPE_DEBUG_KEY_REUSE="off",
        JITSCOPE_DEBUG_NANS="yes",
        JITSCOPE_DEBUG_INFS="0",
        JITSCOPE_CHECK_TRACER_LEAKS="on",
        JITSCOPE_NUMPY_DTYPE_PROMOTION="strict",
        JITSCOPE_NUMPY_RANK_PROMOTION="warn",
        JITSCOPE_DEFAULT_MATMUL_PRECISION="high",
        JITSCOPE_DEFAULT_PRNG_IMPL="unsafe_rbg",
        JITSCOPE_RANDOM_SEED_OFFSET="-3",
        JITSCOPE_TRACEBACK_FILTERING="auto",
        JITSCOPE_NUM_CPU_DEVICES="2",
        JAX_ENABLE_X64="0",
    )
    wanted = {
        "enable_x64": True,
        "disable_jit": True,
        "debug_key_reuse": False,
        "debug_nans": True,
        "debug_infs": False,
        "check_tracer_leaks": True,
        "numpy_dtype_promotion": "strict",
        "numpy_rank_promotion": "warn",
        "default_matmul_precision": "high",
        "default_prng_impl": "unsafe_rbg",
        "random_seed_offset": -3,
        "traceback_filtering": "fold",
        "num_cpu_devices": 2,
        "default_device": None,
    }
    assert found == {**{name: found[name] for name in found.keys() - wanted.keys()}, **wanted}
    assert from_environment(JITSCOPE_DEFAULT_MATMUL_PRECISION="none")["default_matmul_precision"] is None


@pytest.mark.parametrize(("variable", "text"), [("ENABLE_X64", "perhaps"), ("RANDOM_SEED_OFFSET", "much"), ("NUMPY_DTYPE_PROMOTION", "lax")])  # fmt: skip
def test_wrong_environment_variables_are_named(variable: str, text: str) -> None:
    error = from_environment(**{f"JITSCOPE_{variable}": text})
    assert f"ValueError: the environment variable JITSCOPE_{variable} is " in error and repr(text) in error


# What they do (num_cpu_devices and default_device: test_devices; debug_key_reuse: test_keys) --------------------------


def test_numpy_dtype_promotion() -> None:
    x, n = jnp.ones(2), jnp.ones(2, "int32")
    with jx.numpy_dtype_promotion("strict"):
        assert (x + 1).dtype == np.float32 and (n + 1).dtype == np.int32
        for mixed in (lambda: x + n, lambda: n * 2.5, lambda: jnp.concatenate([x, n]), lambda: jx.jit(jnp.add)(x, n)):
            with pytest.raises(TypePromotionError, match="strict"):
                mixed()
        with jx.numpy_dtype_promotion("standard"):
            assert (x + n).dtype == np.float32
    assert (x + n).dtype == np.float32


WIDE: list[tuple[Callable[[], Any], str, Any]] = [  # what jax 0.12.0.1 gives with explicit_x64_dtypes="allow"
    (lambda: jnp.zeros(2, "int64"), "int64", [0, 0]),
    (lambda: jnp.zeros(2, int), "int32", [0, 0]),
    (lambda: jnp.int64(1 << 40), "int64", 1 << 40),
    (lambda: jnp.array(1 << 40, "int64"), "int64", 1 << 40),
    (lambda: jnp.asarray([0.1, 2], "float64"), "float64", np.array([0.1, 2])),
    (lambda: jnp.asarray(np.array([0.5, 2])), "float32", [0.5, 2]),
    (lambda: jnp.arange(3, dtype="int64"), "int64", [0, 1, 2]),
    (lambda: jnp.linspace(0, 1, 4, dtype="float64"), "float64", np.linspace(0, 1, 4)),
    (lambda: jnp.eye(2, dtype="float64"), "float64", np.eye(2)),
    (lambda: jnp.full(2, 3, np.float64), "float64", [3, 3]),
    (lambda: lax.full((2,), 1, "float64"), "float64", [1, 1]),
    (lambda: lax.iota("int64", 3), "int64", [0, 1, 2]),
    (lambda: lax.convert_element_type(1, np.int64), "int64", 1),
    (lambda: jnp.arange(3).astype("int64"), "int64", [0, 1, 2]),
    (lambda: jnp.mean(jnp.arange(3), dtype="float64"), "float64", 1),
    (lambda: jnp.max(jnp.array([0, 1], "int64"), initial=jnp.int64(5)), "int64", 5),
    (lambda: jnp.zeros(2, "float64") + jnp.ones(2), "float64", [1, 1]),
    (lambda: jnp.zeros(2, "float64") + np.ones(2), "float64", [1, 1]),
    (lambda: jnp.zeros(2, "int64") * jnp.ones(2), "float32", [0, 0]),
    (lambda: jnp.arange(3, dtype="int64") // 2, "int64", [0, 0, 1]),
    (lambda: jx.grad(lambda x: (x * x).sum())(jnp.ones(2, "float64")), "float64", [2, 2]),
    (lambda: jx.jit(lambda x: x)(np.ones(2)), "float32", [1, 1]),
    (lambda: jnp.mgrid[0:2], "int32", [0, 1]),
]


@pytest.mark.parametrize("row", range(len(WIDE)))
def test_explicit_64_bits(row: int) -> None:
    call, dtype, value = WIDE[row]
    with override(explicit_x64_dtypes="allow"):
        found = call()
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, value)


def test_explicit_64_bits_that_are_refused() -> None:
    with override(explicit_x64_dtypes="error"):
        for call, dtype, _ in WIDE[:1] + WIDE[2:5] + WIDE[6:15]:
            assert dtype.endswith("64")
            with pytest.raises(ValueError, match="was asked for"):
                call()
        assert jnp.zeros(2, int).dtype == jnp.arange(2).dtype == np.int32
        assert jnp.asarray(np.ones(2)).dtype == np.float32


def test_types_of_arguments_of_64_bits() -> None:
    like = jx.ShapeDtypeStruct((2,), "int64")
    with override(explicit_x64_dtypes="allow"):
        program = jx.jit(lambda x: x + 1).lower(like).compile()
        np.testing.assert_array_equal(program(jnp.full(2, 1 << 40, "int64")), (1 << 40) + 1)
    assert jx.eval_shape(lambda x: x + 1, like).dtype == np.int32


def test_numpy_rank_promotion() -> None:
    x, y = jnp.ones((2, 3)), jnp.ones(3)
    for use in (lambda: x + y, lambda: jx.jit(jnp.multiply)(x, y), lambda: jnp.maximum(x, y), lambda: x < y):
        with (
            jx.numpy_rank_promotion("raise"),
            pytest.raises(ValueError, match=r"\(2, 3\).*\(3,\).*numpy_rank_promotion"),
        ):
            use()
        with jx.numpy_rank_promotion("warn"), pytest.warns(UserWarning, match="differ in rank") as caught:
            assert use().shape == (2, 3)
        assert all(w.filename == __file__ for w in caught)
        assert use().shape == (2, 3)
    with jx.numpy_rank_promotion("raise"):
        assert (
            (x + 1).shape == (x + jnp.float32(1)).shape == (x + y[None]).shape == (x + jnp.ones((1, 1))).shape == (2, 3)
        )


def test_default_matmul_precision() -> None:
    x = jnp.ones((4, 4))
    for value, shown in (
        ("highest", "HIGHEST"),
        ("float32", "HIGHEST"),
        ("tensorfloat32", "HIGH"),
        ("bfloat16", "DEFAULT"),
    ):
        with jx.default_matmul_precision(value):
            text = str(jx.make_jaxpr(jnp.dot)(x, x))
            assert f"precision=(Precision.{shown}, Precision.{shown})" in text
            assert "precision=(Precision.HIGH, Precision.HIGH)" in str(
                jx.make_jaxpr(lambda x: jnp.dot(x, x, precision="high"))(x)
            )
            assert f"precision = [{shown}, {shown}]" in jx.jit(jnp.dot).lower(x, x).as_text()
    assert "precision" not in str(jx.make_jaxpr(jnp.dot)(x, x))


def test_default_prng_impl() -> None:
    with jx.default_prng_impl("rbg"):
        key, raw = random.key(0), random.PRNGKey(0)
        assert repr(key.dtype) == "key<rbg>" and raw.shape == (4,) and random.key_impl(raw) == "rbg"
        assert (random.bits(raw, (3,)) == random.bits(key, (3,))).all() and random.split(raw).shape == (2, 4)
        assert random.key(0, impl="threefry2x32").dtype == random.key_dtype("threefry2x32")
    assert (random.bits(random.key(0, impl="rbg"), (3,)) == random.bits(key, (3,))).all()
    assert repr(random.key(0).dtype) == "key<fry>" and random.PRNGKey(0).shape == (2,)
    with pytest.raises(TypeError, match="random key is needed"):
        random.bits(raw)


def test_random_seed_offset() -> None:
    with jx.random_seed_offset(5):
        shifted = [
            random.key(2),
            random.key(np.int32(2)),
            jx.jit(random.key)(2),
            random.wrap_key_data(random.PRNGKey(2)),
        ]
    assert all(key == random.key(7) for key in shifted)
    with jx.random_seed_offset(-2):
        shifted = jx.vmap(random.key)(np.arange(2, 4))
    assert (shifted == jx.vmap(random.key)(np.arange(2))).all()


def test_gradients_of_what_computes_with_64_bits_in_a_block_of_its_own() -> None:
    def square(x):
        with jx.enable_x64(True):
            assert jx.config.x64_enabled
            return jnp.array(x, jnp.float64) ** 2

    assert not jx.config.x64_enabled
    assert square(5.0).dtype == np.float64
    for gradient in (jx.grad(square), jx.jit(jx.grad(square)), lambda x: jx.vmap(jx.grad(square))(x[None])[0]):
        assert gradient(np.float32(5)) == 10 and gradient(np.float32(5)).dtype == np.float32
