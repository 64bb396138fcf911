"""Bad input: each gives an error that says what, where in the user's code, and what to do; and nothing is broken after."""

from __future__ import annotations

import asyncio
import contextvars
import linecache
import re
import traceback
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.core.errors import (
    ConcretizationTypeError,
    DeletedArrayError,
    UnexpectedTracerError,
    XlaError,
)
from jitscope.core.primitive import Primitive
from jitscope.core.trace import evaluating
from jitscope.ops.families import pure
from tests.compiler.programs import add, floats, mul, sin, total


X = floats(3)


@pytest.fixture(autouse=True)
def _everything_works_afterwards():
    yield
    assert evaluating()
    np.testing.assert_allclose(jx.jit(lambda x: mul(sin(x), 3.0))(X), 3 * np.sin(X), rtol=1e-6)
    np.testing.assert_allclose(jx.grad(lambda x: total(mul(x, x)))(X), 2 * X, rtol=1e-6)


# A value that is not known --------------------------------------------------------------------------------------------


def branch(x, train):
    if train:
        return sin(x)
    return x


def test_long_chains_are_cut():
    def f(x):
        for _ in range(3):
            x = sin(x)
        y = add(x, 1.0)
        y = add(y, 2.0)
        y = add(y, 3.0)
        y = add(y, 4.0)
        y = add(y, 5.0)
        return float(y)

    with pytest.raises(ConcretizationTypeError) as caught:
        jx.jit(f)(1.0)
    assert "…" in str(caught.value) and len(str(caught.value)) < 1500


# Escaped tracers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "transform", [jx.jit, jx.vmap, lambda f: jx.grad(lambda x: total(f(x))), lambda f: lambda x: jx.jvp(f, (x,), (x,))]
)
def test_tracers_that_escape_are_met_with_a_reason(transform):
    kept = SimpleNamespace()

    def f(x):
        kept.value = sin(x)
        return x

    transform(f)(X)
    for use in (lambda: sin(kept.value), lambda: jx.jit(sin)(kept.value), lambda: jx.jit(lambda y: add(y, kept.value))(X[0]),
                lambda: jx.vmap(lambda y: add(y, kept.value))(X), lambda: jx.grad(lambda y: total(add(y, kept.value)))(X),
                lambda: jx.make_jaxpr(sin)(kept.value) and sin(kept.value)):  # fmt: skip
        with pytest.raises(UnexpectedTracerError, match="after its trace had ended") as caught:
            use()
        assert "return the value from the function" in str(caught.value)
    if transform is jx.jit:
        assert "kept.value = sin(x)" in str(caught.value)
        with pytest.raises(UnexpectedTracerError, match="after its trace had ended"):
            jx.make_jaxpr(lambda y: add(y, kept.value))(X)


# Wrong results and arguments ------------------------------------------------------------------------------------------


def bad(x):
    return {"fine": x, "wrong": [x, "text"]}


@pytest.mark.parametrize("value", ["text", object(), {1, 2}, lambda: 1, np.array(["a"]), np.array([None]), int])
def test_results_that_are_no_arrays(value):
    for wrap in (jx.jit, jx.vmap, lambda f: jx.jit(jx.jit(f)), lambda f: jx.vmap(jx.jit(f))):
        with pytest.raises(
            TypeError, match=r"wanted returned, at result\['deep'\]\[1\], something that is not an array"
        ):

            def wanted(x):
                return {"deep": [x, value]}

            wrap(wanted)(X)


@pytest.mark.parametrize("call, texts", [
    (lambda: jnp.ones(3) + jnp.ones(4), ["(3,)", "(4,)", "add"]),
    (lambda: jx.jit(lambda a, b: a + b)(X, floats(4)), ["(3,)", "(4,)", "add"]),
    (lambda: jx.jit(lambda a, b: add(a, b))(X, floats(4)), ["f32[3]", "f32[4]", "add"]),
    (lambda: floats(2, 3) @ jnp.ones((2, 3)), ["(2, 3) and (2, 3)"]),
    (lambda: jnp.ones((2, 3)).reshape(4), ["(2, 3)", "(4,)"]),
    (lambda: jnp.concatenate([jnp.ones((2, 3)), jnp.ones((3, 2))]), ["(2, 3)", "(3, 2)"]),
    (lambda: jnp.sum(jnp.ones(3), axis=2), ["axis 2"]),
    (lambda: jnp.sin([1.0]), ["list", "jnp.array"]),
    (lambda: jnp.ones(3) + "text", ["str"]),
    (lambda: jnp.ones(3) + None, ["None"]),
])  # fmt: skip
def test_wrong_shapes_and_operands(call, texts):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert all(text in str(caught.value) for text in texts), str(caught.value)


@pytest.mark.parametrize("value", [[1], {"a": 1}, {1}, X, np.zeros(2)])
def test_static_arguments_that_cannot_be_hashed(value):
    f = jx.jit(branch, static_argnames="train")
    for call in (lambda: f(X, value), lambda: f(X, train=value), lambda: f(train=value, x=X)):
        with pytest.raises(
            ValueError, match=r"static argument train of branch is of type .* cannot be hashed.*a tuple for a list"
        ):
            call()
    with pytest.raises(ValueError, match="static argument train"):
        jx.jit(branch, static_argnums=1).lower(X, value)


def test_deleted_arrays_and_what_was_made_from_them():
    x = jx.device_put(floats(50))
    y, closed_over = add(x, x), jx.jit(lambda y: add(y, x))
    closed_over(floats(50))
    x.delete()
    np.testing.assert_allclose(y, 2 * floats(50))
    for use in (lambda: closed_over(floats(50)), lambda: jx.jit(lambda y: mul(y, x))(floats(50)), lambda: add(x, 1.0),
                lambda: jx.grad(lambda y: total(mul(y, x)))(floats(50)), lambda: jnp.sum(x)):  # fmt: skip
        with pytest.raises(DeletedArrayError, match="deleted"):
            use()


def test_a_rule_that_is_missing_is_named_with_the_line():
    class Bare(Primitive):
        def abstract(self, x, /):
            return pure(x)

    bare_p = Bare("bare")
    for name, call in {"batch": lambda: jx.vmap(lambda x: bare_p(x))(X), "jvp": lambda: jx.grad(lambda x: bare_p(x))(1.0),
                       "lower": lambda: jx.jit(lambda x: bare_p(x))(X)}.items():  # fmt: skip
        with pytest.raises(NotImplementedError, match=f"primitive 'bare' has no {name} rule") as caught:
            call()
        assert caught.type is NotImplementedError  # JAX's page on primitives asks for this very class
        if name != "lower":
            assert "bare_p(x)" in str(caught.value)


def test_the_users_own_errors_pass_unchanged():
    class Mine(Exception):
        pass

    def f(x):
        sin(x)
        raise Mine("here")

    for transform in (
        jx.jit,
        jx.vmap,
        jx.grad,
        lambda f: jx.jit(jx.vmap(jx.grad(f))),
        lambda f: lambda x: jx.vjp(f, x),
    ):
        with pytest.raises(Mine, match="here") as caught:
            transform(f)(X)
        frames = traceback.extract_tb(caught.value.__traceback__)
        assert (frames[-1].name, frames[-1].line) == ("f", 'raise Mine("here")')


DIFFERING = {
    "two arguments": (
        lambda: jx.vmap(lambda a, b: a + b)(floats(3, 2), floats(4, 2)),
        "argument a (f32[3,2], axis 0) has 3, argument b (f32[4,2], axis 0) has 4.",
    ),
    "a part of a tree": (
        lambda: jx.vmap(lambda p, q: p["w"] + q, in_axes=(0, 1))({"v": floats(3), "w": floats(3, 2)}, floats(4, 2)),
        "argument p['v'] (f32[3], axis 0) and 1 more have 3, argument q (f32[4,2], axis 1) has 2.",
    ),
    "more arguments": (
        lambda: jx.vmap(lambda a, *rest: a)(floats(2), floats(2), floats(5)),
        "argument a (f32[2], axis 0) and 1 more have 2, argument rest[1] (f32[5], axis 0) has 5.",
    ),
    "a size": (
        lambda: jx.vmap(lambda a: a, axis_size=4)(floats(3)),
        "argument a (f32[3], axis 0) has 3, axis_size has 4.",
    ),
}


@pytest.mark.parametrize("case", DIFFERING)
def test_mapped_axes_that_differ_are_told_by_name_with_the_line(case):
    call, expected = DIFFERING[case]
    with pytest.raises(ValueError) as caught:
        call()
    said = str(caught.value)
    assert f"differ in size: {expected}" in said and f"in line {call.__code__.co_firstlineno} of <lambda>" in said
    assert "what to do: " in said and "in_axes=(0, None)" in said


@pytest.mark.parametrize("module", [jnp, jx.lax, jx.nn, jx.random])
def test_a_name_that_a_module_lacks_is_asked_for_in_the_users_line(module):
    with pytest.raises(AttributeError, match="has no attribute 'sine'") as caught:
        jx.jit(lambda a: module.sine(a))(1.0)
    assert {frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)} == {__file__}


# Endless recursion ----------------------------------------------------------------------------------------------------


# What execution itself does not check ---------------------------------------------------------------------------------


def test_values_of_one_size_never_meet_the_wrong_program():
    """Arguments are compared by size in bytes only, so the key must tell all kinds apart."""
    values = [np.arange(4, dtype=np.int32), np.arange(4, dtype=np.uint32), np.arange(4, dtype=np.float32),
              np.arange(4, dtype=np.float32).reshape(2, 2), np.arange(2, dtype=np.complex64), np.arange(8, dtype=np.int16),
              np.arange(8, dtype=np.float16), np.arange(16, dtype=np.int8), np.arange(16) % 2 == 0]  # fmt: skip
    f = jx.jit(lambda x: (x, add(x, x)) if x.aval.dtype != bool else (x, x))
    for _ in range(2):
        for value in values:
            same, double = f(value)
            assert np.asarray(same).dtype == value.dtype
            np.testing.assert_array_equal(same, value)
            np.testing.assert_array_equal(double, value if value.dtype == bool else value + value)
    with jx.enable_x64():
        for value in (np.arange(2.0), np.arange(2), np.arange(4, dtype=np.float32), np.arange(1, dtype=np.complex128)):
            same, double = f(value)
            assert np.asarray(same).dtype == value.dtype
            np.testing.assert_array_equal(double, value + value)


def test_key_arrays_are_not_their_words():
    f = jx.jit(lambda x: x)
    key, words = jx.random.key(3), jx.random.PRNGKey(3)
    assert f(key).aval.short() == "key<fry>[]" and f(words).aval.short() == "u32[2]"
    with pytest.raises(TypeError, match="key<fry>"):
        add(key, key)


def test_options_that_do_not_exist():
    with pytest.raises(AttributeError, match=r"no option is called 'zzz'; there are .*enable_x64"):
        jx.config.update("zzz", True)
    with pytest.raises(AttributeError, match="did you mean 'enable_x64'"):
        jx.config.update("enable_x46", True)
    with pytest.raises(ValueError, match="'strict'"):
        jx.config.update("numpy_dtype_promotion", "loose")
    with pytest.raises(AttributeError):
        jx.core.config.override(nothing=1).__enter__()
    wrong: list[dict[str, Any]] = [{"static_argnums": "a"}, {"static_argnames": 1}, {"donate_argnums": 1.5}]
    for options in wrong:
        with pytest.raises(TypeError, match="argnums are ints"):
            jx.jit(branch, **options)
    with pytest.raises(TypeError, match="jit takes a function"):
        jx.jit(3)  # pyright: ignore


def test_async_cells_do_not_see_each_others_traces():
    async def run() -> list:
        async def one(k):
            seen = []

            def f(x):
                seen.append(x)
                return mul(sin(x), float(k))

            out = jx.jit(f)(X)
            await asyncio.sleep(0)
            return np.asarray(out)

        return await asyncio.gather(*[one(k) for k in range(5)])

    outs = asyncio.run(run())
    for k, out in enumerate(outs):
        np.testing.assert_allclose(out, np.sin(X) * k, rtol=1e-6)


def test_another_context_evaluates():
    """A generator or callback that runs in a context of its own while a trace is on."""
    outside = contextvars.copy_context()

    def f(x):
        assert outside.run(evaluating)
        assert not evaluating()
        return sin(x)

    jx.jit(f)(X)


def test_lines_of_notebook_cells():
    text = "def f(x):\n    y = sin(x)\n    return float(y)\n"
    lines: list[str] = list(text.splitlines(keepends=True))
    linecache.cache["<ipython-input-3>"] = (len(text), None, lines, "<ipython-input-3>")
    scope = {"sin": sin}
    exec(compile(text, "<ipython-input-3>", "exec"), scope)
    with pytest.raises(ConcretizationTypeError, match=r"in line 3 of f, columns 12-19: return float\(y\)"):
        jx.jit(scope["f"])(1.0)


def test_memory_that_is_not_there_is_told_with_the_line():
    side = 1 << 24  # 281 TB: no address space holds them
    shape = (side, side // 4)
    big = jx.jit(lambda x: jnp.sort(jnp.sin(x * jnp.arange(side))[:, None] * jnp.arange(side // 4), axis=0)[0])
    with pytest.raises(XlaError, match="there is not enough memory to run <lambda>") as caught:
        big(2.0)
    with pytest.raises(XlaError, match="there is not enough memory to run <lambda>"):
        jx.jit(lambda x: big(x)[0], donate_argnums=0)(jnp.float32(2))
    assert caught.value.status == "RESOURCE_EXHAUSTED"
    assert re.search(
        r"16\.8 MB for what it returns and \d+(\.\d)? TB for what it computes in between", str(caught.value)
    )
    assert ": big(2.0)" in str(caught.value)
    with pytest.raises(XlaError, match=r"281 TB for what it returns and 0 bytes"):
        jnp.ones(shape)
    with pytest.raises(XlaError, match="RESOURCE_EXHAUSTED"):
        jnp.asarray(np.broadcast_to(np.float32(1), shape))
    np.testing.assert_array_equal(jnp.ones(3) + 1, [2, 2, 2])
