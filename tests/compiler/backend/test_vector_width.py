"""Which programs are compiled for vectors of 512 bits, and that their results are those of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, random
from jitscope.backend import vector_width
from jitscope.backend.disk import machine
from jitscope.backend.guards import guards
from jitscope.xla.cpu_tuning import VECTORS_OF_512


FLAG, WIDTH = VECTORS_OF_512.value["flag"]
X = np.linspace(0.1, 2, 65536, dtype=np.float32)


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_width, "has_wide_vectors", lambda: True)


def width_of(function: Callable[..., Any], *args: Any) -> int | None:
    return guards(jx.make_jaxpr(function)(*args).jaxpr).get(FLAG)


def heat(u: Any) -> Any:
    return lax.fori_loop(0, 3, lambda _, u: u.at[1:-1].add(0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])), u)


@pytest.mark.parametrize("function", [jnp.exp, jx.nn.silu, jnp.log1p, jnp.tanh, lambda x: x**2.2, lax.erf])
def test_functions_of_many_sums_and_products_take_wide_vectors(function: Callable[..., Any]) -> None:
    assert width_of(function, X) == WIDTH
    assert width_of(function, X[:1000]) is None


def test_the_turns_of_loops_count() -> None:
    steps = lambda count: lambda x: lax.scan(lambda x, _: (jnp.tanh(x), None), x, length=count)[0]
    assert width_of(steps(10), X[:1024]) is None
    assert width_of(steps(64), X[:1024]) == WIDTH
    assert width_of(jx.grad(lambda x: steps(64)(x).sum()), X[:1024]) == WIDTH
    assert width_of(lambda x: lax.while_loop(lambda x: x[0] > 0.5, jnp.tanh, x), X[:8192]) == WIDTH


def test_what_moves_and_adds_elements_does_not() -> None:
    assert width_of(heat, X) is None
    assert width_of(lambda x: jnp.sum((x[:, None] - x[None]) ** 2), X[:200]) is None
    assert width_of(lambda x: jnp.roll(x, 3) / jnp.sqrt(x), X) is None


def test_products_of_vectors_with_rows_of_another_length_do_not() -> None:
    rows = np.ones((65536, 16), np.float32)
    product = lambda x, w: jnp.exp(x @ w)
    assert width_of(product, rows[:, :8], rows[0, :8]) is None
    assert width_of(product, rows[:, :8], rows[0, :8, None]) is None
    assert width_of(product, rows, rows[0]) == WIDTH
    assert width_of(product, rows[:, :8], np.ones((8, 8), np.float32)) == WIDTH


def test_random_bits_do() -> None:
    assert width_of(lambda key: random.uniform(key, (70_000,)), random.key(0)) == WIDTH


def test_other_processors_and_users_choices_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as other:
        other.setenv("XLA_FLAGS", f"--{FLAG}=128")
        assert width_of(jnp.exp, X) is None
    monkeypatch.setattr(vector_width, "has_wide_vectors", lambda: False)
    assert width_of(jnp.exp, X) is None


@pytest.mark.parametrize(
    ("told", "wide"),
    [
        (["vendor_id\t: AuthenticAMD", "flags\t\t: sse2 avx2 avx512f"], True),
        (["vendor_id\t: GenuineIntel", "flags\t\t: sse2 avx2 avx512f"], False),
        (["vendor_id\t: AuthenticAMD", "flags\t\t: sse2 avx2"], False),
        ([], False),
    ],
)
def test_what_the_system_tells_of_the_processor(told: list[str], wide: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_told_by_linux", lambda: told)
    machine.instruction_sets.cache_clear()
    assert machine.has_wide_vectors.__wrapped__() is wide
    machine.instruction_sets.cache_clear()


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_results_are_those_of_narrow_vectors(dtype: str) -> None:
    functions = (
        jx.nn.gelu,
        jnp.log1p,
        jnp.exp,
        jnp.tanh,
        lambda x: x**2.2,
        lambda x: jx.nn.softmax(x.reshape(-1, 512)),
    )
    with jx.enable_x64():
        x = jnp.asarray(X).astype(dtype)
        for function in functions:
            wide, narrow = (
                jx.jit(lambda x, f=function: f(x), compiler_options={FLAG: width})(x) for width in (WIDTH, 256)
            )
            np.testing.assert_array_equal(np.asarray(wide), np.asarray(narrow))
