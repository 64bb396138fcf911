"""Texts for users have the library's names as the user's code calls them."""

import pytest

import jitscope as jx
from jitscope_scope.source_code.names import imported, imported_by


TEXT = "Write `jnp.where(a, b, c)`, lax.cond or jax.random.split(key); @partial(jax.jit, static_argnums=0)."
OWN = {
    "import jitscope as js\nfrom jitscope import numpy as np2": "Write `np2.where(a, b, c)`, js.lax.cond or js.random.split(key); "
    "@partial(js.jit, static_argnums=0).",
    "import functools\nimport jax.numpy as jnp\nfrom jax import jit, random": "Write `jnp.where(a, b, c)`, lax.cond or "
    "random.split(key); @functools.partial(jit, static_argnums=0).",
    "import jax\nfrom functools import partial as p": "Write `jax.numpy.where(a, b, c)`, jax.lax.cond or jax.random.split(key); "
    "@p(jax.jit, static_argnums=0).",
    "import jitscope.numpy as jnp": "Write `jnp.where(a, b, c)`, lax.cond or jitscope.random.split(key); "
    "@partial(jitscope.jit, static_argnums=0).",
    "": TEXT,
    "no Python": TEXT,
}


@pytest.mark.parametrize("program", OWN)
def test_a_text_has_the_names_of_the_program(program: str) -> None:
    assert imported_by(program).own(TEXT) == OWN[program]


def test_names_that_run_are_known_as_well() -> None:
    from jitscope import numpy as np2

    assert imported({"js": jx, "np2": np2}).own(TEXT) == imported_by(next(iter(OWN))).own(TEXT)


def test_what_is_said_of_the_other_library_stays() -> None:
    text = "write jitscope.numpy in place of jax.numpy"
    assert imported_by("import jax.numpy as jnp").own(text) == "write jitscope.numpy in place of jnp"


def test_an_error_has_the_names_of_the_code_that_runs() -> None:
    from jitscope import numpy as np2

    with pytest.raises(jx.errors.TracerBoolConversionError) as caught:
        jx.jit(lambda x: x if x > 0 else np2.sin(x))(1.0)
    assert "np2.where(x > 0, x, np2.sin(x))" in str(caught.value)
    assert "jx.lax.cond between computations" in str(caught.value)

    class Line:
        pass

    with pytest.raises(TypeError, match=r"@jx\.tree_util\.register_dataclass"):
        jx.jit(lambda line: line)(Line())


@pytest.mark.parametrize(
    ("imports", "random"),
    [
        ("import jitscope as jax", "jax.random"),
        ("from jitscope import random", "random"),
        ("from jitscope import random as r", "r"),
        ("import jitscope.random", "jitscope.random"),
        ("from jitscope.random import key, normal", "jitscope.random"),
    ],
)
def test_advice_on_keys_has_the_name_of_the_module(imports: str, random: str) -> None:
    name = "" if "key" in imports else f"{random}."
    text = f"{imports}\nk = {name}key(0)\nfor _ in range(2):\n    {name}normal(k)\n"
    with jx.debug_key_reuse(True), pytest.raises(jx.errors.KeyReuseError) as caught:
        exec(compile(text, "<program>", "exec"), {"__name__": "program"})
    assert f"key, own = {random}.split(key)" in (said := str(caught.value)) and f", {random}.clone(key)" in said
