"""Mistakes with references: which calls are errors, and what they say; texts and documents."""

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.errors import UnexpectedTracerError


# Errors --------------------------------------------------------------------------------------------------------------


def body_of(ref):
    return {
        "jit": lambda: jx.jit(lambda: {"hi": ref})(),
        "scan": lambda: lax.scan(lambda c, x: (c, ref), 0, jnp.arange(3)),
        "carry": lambda: lax.scan(lambda c, x: (c, x), ref, jnp.arange(3)),
        "cond": lambda: lax.cond(True, lambda: jx.new_ref(1.0), lambda: jx.new_ref(2.0)),
        "while": lambda: lax.while_loop(lambda c: True, lambda c: c, ref),
        "fori": lambda: lax.fori_loop(0, 3, lambda i, c: c, ref),
        "shape": lambda: jx.eval_shape(lambda: jx.new_ref(1.0)),
        "function with rules": lambda: jx.jit(with_rules(lambda x: ref, lambda x: (ref, ())))(1.0),
        "residuals": lambda: jx.grad(with_rules(lambda x: x, lambda x: (x, jx.new_ref(x))))(1.0),
    }


def with_rules(f, fwd):
    ruled = jx.custom_vjp(f)
    ruled.defvjp(fwd, lambda residuals, g: (g,))
    return ruled


@pytest.mark.parametrize("where", body_of(None))
def test_references_cannot_be_returned(where):
    with pytest.raises(ValueError, match="returned a mutable array reference of type Ref"):
        body_of(jx.new_ref(1.0))[where]()


def test_returned_references_are_told_apart():
    ref = jx.new_ref(jnp.arange(3))
    with pytest.raises(
        ValueError, match=r"traced for jit returned a mutable array reference[^\n]*\n\n.*was created on line"
    ):
        jx.jit(jx.new_ref)(jnp.arange(3))
    with pytest.raises(ValueError, match="was passed in as the argument x_ref"):
        jx.jit(lambda x_ref: x_ref)(ref)
    with pytest.raises(ValueError, match=r"result\['hi'\]"):
        jx.jit(lambda x_ref: {"hi": x_ref})(ref)


def test_one_reference_by_two_names():
    ref = jx.new_ref(0.0)
    both = jx.jit(lambda x_ref, y_ref: x_ref[...] + y_ref[...])
    for _ in range(2):
        with pytest.raises(ValueError, match="appeared at both x_ref and y_ref"):
            both(ref, ref)
    assert both(ref, jx.new_ref(1.0)) == 1
    with pytest.raises(ValueError, match="appeared at both x_ref and y_ref"):
        both(ref, ref)
    with pytest.raises(ValueError, match="closed over and passed as the argument y_ref"):
        jx.jit(lambda y_ref: ref[...] + y_ref[...])(ref)
    with pytest.raises(ValueError, match="appeared at both"):
        jx.jit(lambda r: both(r, r))(ref)
    with pytest.raises(ValueError, match="closed over and passed"):
        jx.jit(lambda r: jx.jit(lambda y: r[...] + y[...])(r))(ref)
    with pytest.raises(ValueError, match="appeared at both"):
        lax.cond(True, lambda a, b: a[...], lambda a, b: b[...], ref, ref)
    with pytest.raises(ValueError, match="closed over and passed"):
        lax.cond(True, lambda y: ref[...] + y[...], lambda y: ref[...], ref)
    xs = jx.new_ref(jnp.zeros(3))
    with pytest.raises(ValueError, match="appeared at both"):
        jx.vmap(lambda a, b: None)(xs, xs)
    with pytest.raises(ValueError, match="closed over and passed"):
        lax.scan(lambda c, x: (c, x[...] + xs[0]), 0, xs)
    assert ref[...] == 0

    @jx.custom_vjp
    def ruled(x_ref, y_ref):
        return None

    ruled.defvjp(lambda x_ref, y_ref: (None, None), lambda _, g: (None, None))
    for call in (ruled, jx.jit(ruled), lambda x, _: jx.jit(lambda x: ruled(x, x))(x)):
        with pytest.raises(ValueError, match="appeared at both x_ref and y_ref"):
            call(ref, ref)


def test_frozen_and_freed():
    def ended(end):
        ref = jx.new_ref(1.0)
        end(ref)
        return ref

    for end in (jx.freeze, jx.free_ref):
        for use in (
            lambda r: r[...],
            lambda r: r.__setitem__(..., 2.0),
            jx.freeze,
            lambda r: jx.jit(lambda x: x[...])(r),
            lambda r: jx.jit(lambda: r[...])(),
        ):
            with pytest.raises(ValueError, match="frozen or freed"):
                use(ended(end))
    with pytest.raises(ValueError, match="frozen or freed"):
        jx.jit(lambda: ended(jx.freeze)[...])()
    captured = jx.new_ref(1.0)
    f = jx.jit(lambda: captured[...])
    assert f() == 1
    jx.free_ref(captured)
    with pytest.raises(ValueError, match="frozen or freed"):
        f()
    assert repr(captured) == "Ref(ended, Ref{f32[]})"


def test_only_the_maker_freezes():
    ref = jx.new_ref(1.0)
    for f in (lambda: jx.jit(jx.freeze)(ref), lambda: jx.jit(lambda: jx.freeze(ref))()):
        with pytest.raises(ValueError, match="only the function that made a reference"):
            f()
    assert ref[...] == 1


def test_leaks():
    kept = []
    jx.jit(lambda x: kept.append(jx.new_ref(x)))(1.0)
    with pytest.raises(UnexpectedTracerError, match="reference"):
        kept[0][...]
    ref = jx.new_ref(0.0)
    jx.jit(lambda x: ref.__setitem__(..., x))(3.0)
    assert ref[...] == 3
    values = []
    jx.jit(lambda x: values.append(x))(1.0)
    with pytest.raises(UnexpectedTracerError):
        ref[...] = values[0]


def test_a_failed_trace_changes_nothing():
    ref = jx.new_ref(jnp.zeros(2))

    def f():
        ref[0] = 1.0
        raise KeyError

    with pytest.raises(KeyError):
        jx.jit(f)()
    np.testing.assert_array_equal(ref[...], [0, 0])
