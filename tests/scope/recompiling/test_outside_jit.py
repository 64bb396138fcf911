"""What is compiled outside jit for each type of arguments."""

from __future__ import annotations

import pytest

from jitscope_scope import observe
from tests.scope.recompiling.test_recompiling import run


OUTSIDE = """
import jitscope as jx, jitscope.numpy as jnp
from jitscope import lax

@jx.jit
def loss(w, x):
    return jnp.sum(jnp.tanh(x * w) * UNIQUE)

def total(x):
    return lax.scan(lambda c, t: (c * t + UNIQUE, c), 1.0, x)[0]

for n in (3, 4, 5):
    CALL
"""


@pytest.mark.parametrize(
    ("call", "titles", "again", "types"),
    [
        ("jx.grad(loss)(2.0, jnp.ones(n))", "forward pass and backward pass of loss", 4, [["f32[3]", "f32[4]", "f32[5]"]]),
        ("jx.vmap(loss)(jnp.ones(n), jnp.ones((n, 2)))", "vmap of loss", 2, [["f32[3]", "f32[4]", "f32[5]"], ["f32[3,2]", "f32[4,2]", "f32[5,2]"]]),
        ("total(jnp.ones(n))", "scan", 2, [["f32[3]", "f32[4]", "f32[5]"]]),
        ("total(jnp.ones(3) * n)", None, 0, []),
        ("jx.jit(total)(jnp.ones(3) * n)", None, 0, []),
    ],
)  # fmt: skip
def test_programs_made_outside_jit_for_each_type(
    call: str, titles: str | None, again: int, types: list[list[str]]
) -> None:
    """The programs that a loop over three sizes needs, counted by hand; none for three values of one size."""
    ledger = run(OUTSIDE.replace("CALL", call))[1]
    cards = [one for one in observe.recompilations_document(ledger, "")["cards"] if one["cause"] == "outside jit"]
    assert [(one["function"], one["compilations"]) for one in cards] == ([(titles, again)] if titles else [])
    assert [row["cells"] for one in cards for row in one["matrix"]["rows"]] == types
