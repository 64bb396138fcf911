"""Programs with very long chains of operations compile: XLA's recursion over them once ended the process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.backend.guards import needs
from jitscope.backend.long_chains import MOST, MOST_FUSED, is_better_not_fused, may_be_too_long
from jitscope.xla.cpu_tuning import HAS_OLDER_EMITTER, LONG_CHAINS, NOT_FUSED
from tests.extent import some


def chain(length: int, operation=jnp.sin):
    def f(x):
        for _ in range(length):
            x = operation(x)
        return x

    return f


@pytest.mark.parametrize("shape", some(["()", "(64,)"], always="(64,)" if LONG_CHAINS.holds() else ""))
def test_a_chain_of_operations_longer_than_the_stack_compiles(shape: str) -> None:
    program = f"""
import math
import jitscope as jx, jitscope.numpy as jnp
def f(x):
    for _ in range(24_000):
        x = jnp.sin(x)
    return x
expected = 1.0
for _ in range(24_000):
    expected = math.sin(expected)
found = float(jx.jit(f)(jnp.ones({shape})).min())
assert abs(found - expected) < 1e-4 * expected, (found, expected)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]


def jaxpr_of(f):
    return jx.make_jaxpr(f)(1.0).jaxpr


def test_what_counts_is_the_chain_and_not_the_size() -> None:
    assert not may_be_too_long(jaxpr_of(chain(MOST // 4)))
    assert may_be_too_long(jaxpr_of(chain(MOST // 4 + 1)))
    assert not may_be_too_long(jaxpr_of(lambda x: [jnp.sin(x + i) for i in range(MOST)]))
    assert needs(jaxpr_of(chain(MOST // 4 + 1))) == (LONG_CHAINS.value if LONG_CHAINS.holds() else {})
    assert not needs(jaxpr_of(chain(100)))


def test_inner_jaxprs_count_each_time_and_series_as_many() -> None:
    inner = jx.jit(chain(100))
    assert may_be_too_long(jaxpr_of(chain(50, inner)))
    assert not may_be_too_long(jaxpr_of(chain(10, inner)))
    assert may_be_too_long(jaxpr_of(chain(300, lax.lgamma)))
    assert not may_be_too_long(jaxpr_of(lambda x: lax.fori_loop(0, 100_000, lambda i, x: jnp.sin(x), x)))
    both = lambda x: lax.cond(x > 0, chain(MOST // 4), jnp.sin, x)
    assert may_be_too_long(jaxpr_of(lambda x: jnp.sin(both(x))))


def rolled(x):
    return jnp.roll(x, 1)


@pytest.mark.parametrize("link", [rolled, lambda x: x[np.roll(np.arange(8), 1)]], ids=["concatenate", "gather"])
def test_a_chain_that_moves_elements_compiles(link: Callable[[Any], Any]) -> None:
    """Fused, 400 end the process."""
    x = np.arange(8.0, dtype=np.float32)
    assert jx.jit(chain(402, link))(x).tolist() == np.roll(x, 402).tolist()


def test_a_chain_that_computes_its_operands_again_is_not_fused() -> None:
    def better_not_fused(f) -> bool:
        return is_better_not_fused(jx.make_jaxpr(f)(jnp.ones(4)).jaxpr)

    assert better_not_fused(chain(MOST_FUSED + 1, rolled)) and not better_not_fused(chain(MOST_FUSED, rolled))
    assert better_not_fused(chain(MOST_FUSED + 1, lambda x: x / x.sum()))
    assert better_not_fused(chain(2, jx.jit(chain(MOST_FUSED // 2 + 1, rolled))))
    assert not better_not_fused(chain(2 * MOST_FUSED, lambda x: rolled(x) @ jnp.eye(4)))
    beside_a_product = lambda x: x / x.sum() + x @ jnp.eye(4)  # the product's operand is in memory
    assert not better_not_fused(chain(2 * MOST_FUSED, beside_a_product))
    assert not better_not_fused(chain(2 * MOST_FUSED, jx.jit(beside_a_product)))
    assert not better_not_fused(lambda x: [jnp.roll(x, i) for i in range(2 * MOST_FUSED)])
    assert not better_not_fused(lambda x: lax.fori_loop(0, 1000, lambda _, x: rolled(x), x))
    assert needs(jx.make_jaxpr(chain(MOST_FUSED + 1, rolled))(jnp.ones(4)).jaxpr) == NOT_FUSED.value


OLDER = {"xla_cpu_use_fusion_emitters": False}


def sine_of(x, times):
    for _ in range(times):
        x = jnp.sin(x)
    return x


older = pytest.mark.skipif(not HAS_OLDER_EMITTER, reason="this XLA has no older emitter")


@older
def test_a_compiler_that_would_end_the_process_is_not_given_the_program() -> None:
    """Without the refusal this is a segmentation fault."""
    long = lambda x: sine_of(x, 8_000)
    with pytest.raises(ValueError, match=r"8,0\d\d operations one after the other.*fori_loop"):
        jx.jit(long, compiler_options=OLDER)(jnp.ones(3))
    inside = lambda x: jx.jit(chain(3_000))(jx.jit(chain(3_000))(x))
    with pytest.raises(ValueError, match=r"6,0\d\d operations"):
        jx.jit(inside, compiler_options=OLDER)(jnp.ones(3))


def test_the_refusal_counts_what_is_one_after_the_other() -> None:
    from jitscope.xla import hlo_module
    from jitscope.xla.chains import longest

    def length(f) -> int:
        return longest(hlo_module.computations(hlo_module.unoptimized(jx.jit(f).lower(1.0).bytecode())))

    assert length(chain(50)) in (51, 52) and length(lambda x: [jnp.sin(x + i) for i in range(50)]) < 8
    assert 100 <= length(lambda x: jx.jit(chain(50))(jx.jit(chain(50, jnp.cos))(x))) <= 110
    assert length(lambda x: chain(20)(lax.fori_loop(0, 9, lambda i, c: chain(30)(c), x))) < 45


@older
def test_the_variable_that_chooses_it_counts_too(monkeypatch) -> None:
    program = "import jitscope as jx, jitscope.numpy as jnp\ndef f(x):\n    for _ in range(8_000):\n        x = x + x\n    return x\njx.jit(f)(jnp.ones(3))"
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_use_fusion_emitters=false")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and "ValueError: this program has 8,001 operations" in done.stderr, done.stderr[-2000:]
