"""Below a cell that met a NaN in an array of jax's stands how to hunt it."""

import jax.numpy as jnp
import pytest

from jitscope_kernel import nan_hints


x = -jnp.ones(3)
GIVEN = "y = jnp.log(x)\n"
HUNT = "%nans jnp.log(x)"
TOLD = {
    "the last value": GIVEN + "y",
    "print": GIVEN + "print(y)",
    "print among others": GIVEN + "print('loss', y)",
    "a text": GIVEN + "text = f'{y}'",
    "a text with a format": GIVEN + "print(f'loss {y}')",
    "repr": GIVEN + "text = repr(y)",
    "a number": "y = jnp.log(x).sum()\nz = float(y)",
    "an item": "y = jnp.log(x).sum()\nz = y.item()",
    "a printed number": "y = jnp.log(x).sum()\nprint(float(y))",
    "in a loop": "for i in range(2):\n    y = jnp.log(x)\n    print(i, y)",
    "of a name that a function has for itself": GIVEN + "print(y)\ndef other():\n    y = 3",
}
FROM_ITSELF = {
    "in a loop": "y = -jnp.ones(3)\nfor i in range(2):\n    y = jnp.log(y)\ny",
    "in lines": "y = -jnp.ones(3)\ny = jnp.log(y)\ny",
}
SILENT = {
    "a good array": "y = jnp.exp(x)\nprint(y)",
    "not printed": GIVEN,
    "given again": GIVEN + "print(x)\ny = jnp.log(x)",
    "another value": "y = jnp.exp(x)\nprint(y)\ny = jnp.log(x)",
    "in a function that is not called": GIVEN + "def show():\n    print(y)",
    "meant": GIVEN + "print(y, jnp.isnan(y))",
    "no array": "y = len('abc')\nprint(y)",
}


def offered(cell):
    import ast

    names = {"jnp": jnp, "x": x}
    body = ast.parse(cell).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
    result = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last is not None else None
    return nan_hints.offer(cell, result, None, names)


@pytest.mark.parametrize("case", TOLD)
def test_a_nan_is_told(case, capsys):
    assert HUNT in offered(TOLD[case])


@pytest.mark.parametrize("case", SILENT)
def test_nothing_is_said_without_one(case, capsys):
    assert offered(SILENT[case]) == ""


@pytest.mark.parametrize("case", FROM_ITSELF)
def test_no_call_is_named_that_read_what_is_gone(case):
    """The array that it was made of has the name no longer, and what gave that its first value gave no NaN."""
    assert offered(FROM_ITSELF[case]).endswith(": %nans and the call that made it")


def test_the_call_of_a_loop_is_named_that_gave_the_name_its_last_value():
    assert offered("y = jnp.exp(x)\nfor i in range(2):\n    y = jnp.log(x)\ny").endswith(HUNT)
