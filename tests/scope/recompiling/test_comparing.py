"""What a recompilation is compared with, and what is said of differences that come together."""

from jitscope_scope import observe
from jitscope_scope.advise.recompiling import edited
from tests.scope.recompiling.test_recompiling import HEADER, run


def test_a_dtype_that_changed_with_the_shape_is_told_with_the_padding() -> None:
    _, ledger = run(HEADER + "f = jax.jit(lambda x: x * UNIQUE)\nf(jnp.arange(5))\nf(jnp.ones(3))\n")
    (card,) = observe.recompilations_document(ledger, "", edited)["cards"]
    assert card["because"] == "axis 0 of x is 5, then 3"
    said = " By the keys of the recorded calls that alone spares nothing: the dtype of x changed as well."
    assert said in card["fix"]["text"]


def test_of_keys_as_far_away_the_one_of_as_many_axes_is_compared_with() -> None:
    text = """
f = jax.jit(lambda x, y: (x.sum() + y.sum()) * UNIQUE)
for rows, y in ((64, (64, 1)), (64, (64,)), (50, (50, 1)), (40, (40, 1))):
    f(jnp.ones((rows, 3)), jnp.ones(y))
"""
    _, ledger = run(HEADER + text)
    last = [row for row in ledger if not row.nested][-2:]
    assert [[one.detail for one in row.differences] for row in last] == [["axis 0", "axis 0"]] * 2


def test_an_array_that_is_weakly_typed_is_no_number_to_write_as_an_array() -> None:
    text = (
        "f = jax.jit(lambda x: x * UNIQUE)\nfor x in (jnp.where(jnp.arange(3) > 1, 1.0, 0.0), jnp.ones(3)):\n    f(x)\n"
    )
    _, ledger = run(HEADER + text)
    (card,) = observe.recompilations_document(ledger, "")["cards"]
    assert "an array is not" not in card["because"]
    assert card["fix"]["text"].startswith("Give x a dtype, .astype(jnp.float32): ")
