"""What errors of loops say of the functions they were given."""

import pytest


LOOPS = {
    "lax.fori_loop(0, 3, lambda v: v + 1, x)": "fori_loop calls its function as body_fun(i, val): ",
    "lax.fori_loop(0, 3, lambda v, i: v.at[i].set(0.0), x)": "Here v is the number, and i what it carries.",
    "lax.fori_loop(0, 3, lambda i, v: v.at[v].set(0.0), x)": "",
    "lax.scan(lambda c: (c, c), x, x)": "scan calls its function as f(carry, x): ",
    "lax.scan(f=lambda c: (c, c), init=x, xs=x)": "scan calls its function as f(carry, x): ",
    "lax.scan(lambda v, carry: (carry + 1, v[100]), x.sum(), x)": "Here v is what it carries, and carry the slice.",
    "lax.scan(lambda v, c: (c + v.sum(), v), x.sum(), jnp.ones((4, 3)))": "Here v is what it carries, and c the slice.",
    "lax.scan(lambda c, v: (c[100], v), x, x)": "",
    "lax.while_loop(lambda s: s[0] < 3, lambda i, v: (i + 1, v), (0, x))": "while_loop calls each of its functions as ",
    "lax.cond(True, lambda: x, lambda v: v, x)": "cond calls each of its functions with the operands ",
    "lax.fori_loop(0, 3, lambda i, v: add(v), x)": "",
    "add(x)": "",
}


@pytest.mark.parametrize("call", LOOPS)
def test_an_error_of_a_loop_says_what_its_function_is_given(shell, call):
    shell.cell("from jitscope import lax\nx = jnp.ones(3)\ndef add(a, b):\n    return a + b")
    ran = shell.cell(call)
    notes = getattr(ran.exception, "__notes__", [])
    assert ran.error and (LOOPS[call] in notes[-1] and notes[-1] in ran.traceback if LOOPS[call] else not notes)
