"""What a recompilation is compared with, and what is said of differences that come together."""

import pytest

from jitscope_scope import observe
from jitscope_scope.advise.recompiling import edited
from jitscope_scope.advise.run.misses import recompilations_paid
from jitscope_scope.observe.recompiling.groups import groups
from jitscope_scope.observe.recompiling.remedies import remedy
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
    assert card["fix"]["text"].startswith("Give x a dtype, .astype(jnp.float32). By the keys ")
    (bit,) = recompilations_paid(row for row in ledger)
    assert f"{bit.message} {bit.fix.text}".count("weakly typed") == 1, "the reason is given once"


def test_a_weak_type_of_several_arguments_is_told_in_one_sentence() -> None:
    text = "f = jax.jit(lambda x, y: x * y * UNIQUE)\nfor s in (1.0, jnp.float32(1.0)):\n    f(s, s)\n"
    _, ledger = run(HEADER + text)
    (bit,) = recompilations_paid(row for row in ledger)
    assert "x, y changed weak type: f32, weak" in bit.message and not bit.evidence


@pytest.mark.parametrize(
    ("function", "calls", "said"),
    [
        ("lambda t: jax.tree.leaves(t)[0]", "{'a': x}, {'a': x, 'b': x}, (x,)", "t changed structure: {'a'} → {'a', 'b'} → tuple of 1 array"),
        ("lambda t: t[0]", "*([x] * n for n in range(1, 7)),", "t changed structure: list of 1 array → list of 2 arrays → … → list of 6 arrays"),
        ("lambda t: t['a']", "{'a': x}, {'a': x, 'b': x}", "t gained t['b']"),
        ("lambda t: jax.tree.leaves(t)[0]", "x, [x, x]", "t changed structure: array → list of 2 arrays"),
        ("lambda t: jax.tree.leaves(t)[0]", "{'a': x}, x", "t changed structure: {'a'} → array"),
    ],
)  # fmt: skip
def test_the_ways_in_which_one_structure_changed_are_all_told(function: str, calls: str, said: str) -> None:
    text = f"x = jnp.ones(3)\nf = jax.jit({function})\nfor t in ({calls}):\n    f(t)\n"
    _, ledger = run(HEADER + text)
    (card,) = observe.recompilations_document(ledger, "")["cards"]
    assert card["because"] == said


def test_a_static_value_of_several_types_is_not_said_to_need_one_program() -> None:
    text = "f = jax.jit(lambda x, n: x * n * UNIQUE, static_argnums=1)\nx = jnp.ones(3)\nfor n in {}:\n    f(x, n)\n"
    said = []
    for values in ("(1, 1.0, True)", "(1, 2)"):
        _, ledger = run(HEADER + text.format(values))
        (card,) = observe.recompilations_document(ledger, "")["cards"]
        said.append(card["fix"]["text"])
    assert "one program serves all values of one type (the calls gave int, float, bool)." in said[0]
    assert "one program serves all values." in said[1]


SIZES = {
    "each axis to what it needs": (
        "f(jnp.ones((n, 2)), jnp.ones(3 * n))",
        (40, 41, 52),
        "axis 0 of a to 64 (all sizes so far fit in it) and axis 0 of b to the next of 2 sizes (128, 256) and mask",
    ),
    "a power of two that was given": (
        "f(jnp.ones((n, 2)), jnp.ones(n))",
        (61, 62, 64),
        "axis 0 of a and axis 0 of b to 64 (the largest size so far) and mask",
    ),
    "two of each": ("f(jnp.ones((n, 2)), jnp.ones(n + 1))", (5, 7), "axis 0 of a to 7 and axis 0 of b to 8 and mask"),
    "many": ("f([jnp.ones(n)] * 5, jnp.ones(2))", (5, 7), "axis 0 of a[0], axis 0 of a[1], axis 0 of a[2] and 2 more to 7 and"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "sizes", "told"), SIZES.values(), ids=SIZES)
def test_axes_are_padded_to_sizes_of_their_own(call: str, sizes: tuple[int, ...], told: str) -> None:
    text = "f = jax.jit(lambda a, b: jnp.sum(a[0]) * UNIQUE + b.sum())\n"
    text += "".join(f"n = {n}\n{call}\n" for n in sizes)
    (group,) = groups(run(HEADER + text)[1])
    found = remedy(group)
    assert found is not None and f"Pad {told}" in found.text, found


def test_a_call_is_compared_with_the_one_that_differs_in_fewest_axes() -> None:
    text = "f = jax.jit(lambda x: x * UNIQUE)\nf(jnp.ones((8, 6)))\nf(jnp.ones((8, 3)))\nf(jnp.ones((5, 6)))\n"
    _, ledger = run(HEADER + text)
    assert [one.differences[0].sentence() for one in ledger if one.what == "recompiled"] == [
        "x changed shape: f32[8,6] → f32[8,3] (axis 1)",
        "x changed shape: f32[8,6] → f32[5,6] (axis 0)",
    ]
    (card,) = observe.recompilations_document(ledger, "", edited)["cards"]
    assert "; one program for each is right where all shapes come often." in card["fix"]["text"]


def test_sizes_that_stay_while_another_changes_grow_or_shrink() -> None:
    for sizes, told in (((5, 4, 4, 2), "shrinks from 5 to 2"), ((2, 3, 3, 5), "grows from 2 to 5")):
        loop = f"for k, n in enumerate({sizes}):\n    f(jnp.ones(n), jnp.ones(k + 1))\n"
        _, ledger = run(f"{HEADER}f = jax.jit(lambda x, y: x.sum() * y * UNIQUE)\n{loop}")
        (card,) = observe.recompilations_document(ledger, "")["cards"]
        assert card["because"] == f"axis 0 of x {told}, 3 sizes (1 more axis as well)"


def test_of_two_functions_in_a_line_each_is_told() -> None:
    text = "f = jax.jit(lambda x: x * UNIQUE)\ng = jax.jit(lambda x: x + UNIQUE)\nfor n in (2, 3, 4):\n    f(jnp.ones(n)), g(jnp.ones(n))\n"
    _, ledger = run(HEADER + text)
    bits = recompilations_paid(row for row in ledger)
    assert [(" again 2 times in this line (" in one.message, one.span.column) for one in bits] == [
        (True, 4),
        (True, 20),
    ]


def test_lines_that_call_one_function_are_given_one_advice() -> None:
    text = "f = jax.jit(lambda x: x * UNIQUE)\nfor n in (3, 5, 6, 7):\n    f(jnp.ones(n))\nfor n in (30, 40, 50):\n    f(jnp.ones(n))\n"
    _, ledger = run(HEADER + text)
    first, second = recompilations_paid(row for row in ledger)
    (card,) = observe.recompilations_document(ledger, "")["cards"]
    assert card["fix"] is not None and card["fix"]["text"].startswith(first.fix.text)
    assert first.fix == second.fix and "next of 4 sizes (4, 8, 32, 64)" in first.fix.text


def test_a_bound_of_a_loop_need_not_be_static() -> None:
    text = """
f = jax.jit(lambda x, n: jax.lax.fori_loop(0, n + 1, lambda i, x: x * UNIQUE, x), static_argnums=1)
for n in (1, 2, 3):
    f(jnp.ones(5), n)
"""
    _, ledger = run(HEADER + text)
    (card,) = observe.recompilations_document(ledger, "")["cards"]
    assert card["fix"]["text"].startswith("n only says how often a jax.lax.fori_loop runs: do not make it static")
    _, ledger = run(HEADER + text.replace("x * UNIQUE", "x * UNIQUE * n"))
    (card,) = observe.recompilations_document(ledger, "")["cards"]
    assert card["fix"]["text"].startswith("n decides what the program is")
