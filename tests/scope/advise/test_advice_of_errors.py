"""What is advised for an error mends that error, and not another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scope.advise.programs import HEADER
from tests.scope.advise.test_check import ran


ADVICE = {
    "a gradient of a vector": ("jax.grad(lambda x: x ** 2)(jnp.ones(2))", "Sum the result, or take jax.jacrev"),
    "a gradient of a complex number": ("jax.grad(lambda x: x * 1j)(1.0)", "Take the real part of the result"),
    "a gradient of nothing": (
        "def f(x):\n    y = x\njax.grad(f)(1.0)",
        "Return the number that is to be differentiated",
    ),
    "a gradient by an integer": ("jax.grad(lambda x: x)(jnp.arange(3))", "Pass floats"),
    "a dataclass, which has no hash": (
        "import dataclasses\n@dataclasses.dataclass\nclass State:\n    x: float\njax.jit(lambda s: s.x)(State(1.0))",
        "To make State a tree, write @jax.tree_util.register_dataclass above @dataclass.",
    ),
    "a set, which has no hash": ("jax.jit(lambda s: 1.0)({1, 2})", ""),
    "a write to a view": ("x = jnp.ones(3)\nrows = np.asarray(x).reshape(3, 1)\nrows += 1", "Make `rows` a copy"),
    "a write to a view without a name": ("x = jnp.ones(3)\nnp.asarray(x)[0] = 1", "Write `x = x.at[index].set(value)`"),
    "any() of a condition": (
        "jax.jit(lambda x: 1.0 if any(v > 0 for v in x) else 0.0)(jnp.ones(2))",
        "Write `jnp.where(jnp.any(jnp.array([v > 0 for v in x])), 1.0, 0.0)`.",
    ),
    "any() beside another truth": (
        "jax.jit(lambda x, y: any(v > 0 for v in x) and y > 0)(jnp.ones(2), 1.0)",
        "Write `jnp.any(jnp.array([v > 0 for v in x])) & (y > 0)`.",
    ),
}


@pytest.mark.parametrize("name", ADVICE)
def test_what_is_advised_mends_the_error(name: str, tmp_path: Path) -> None:
    text, advised = ADVICE[name]
    file = tmp_path / "program.py"
    file.write_text(HEADER + text + "\n")
    fixes = [one.one.fix.text for one in ran(file)]
    assert [fix.startswith(advised) and bool(fix) == bool(advised) for fix in fixes] == [True], fixes
