"""Jaxprs print as JAX's do, character by character; texts of JAX 0.10 are in recorded/api.json."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest

import jitscope as jx
from jitscope.core.avals import ShapedArray
from jitscope.core.jaxpr import Literal
from jitscope.core.printing import Names, literal_text, variable_names
from jitscope.ops import elementwise, indexing, linear, reduce
from jitscope.ops.dot import dot_general
from tests.compiler import shown
from tests.compiler.programs import add, mul, sin


RECORDED = json.loads((Path(__file__).parent / "recorded" / "api.json").read_text(encoding="utf-8"))["jaxprs"]


def operations() -> SimpleNamespace:
    """Our operations, by the names that `shown` uses."""
    o = SimpleNamespace(jit=jx.jit, grad=jx.grad, vmap=jx.vmap, jvp=jx.jvp)
    for name in ("sin cos exp mul add sub neg rem lt gt eq max sqrt rsqrt pow floor ceil sign abs is_finite real imag complex "
                 "clamp select_n").split():  # fmt: skip
        setattr(o, name, getattr(elementwise, f"{name}_p", None) or getattr(linear, f"{name}_p"))
    o.and_, o.or_, o.not_ = elementwise.and_p, elementwise.or_p, elementwise.not_p
    o.integer_pow = lambda x, y: elementwise.integer_pow_p(x, y=y)
    o.convert_element_type = lambda x, dtype: linear.convert(x, dtype)
    o.broadcast_in_dim = lambda x, shape, dims: linear.broadcast_in_dim_p(x, shape=shape, broadcast_dimensions=dims)
    o.reshape, o.transpose = linear.reshape, linear.transpose
    o.rev = lambda x, dimensions: linear.rev_p(x, dimensions=dimensions)
    o.squeeze = lambda x, dimensions: linear.squeeze_p(x, dimensions=dimensions)
    o.slice = lambda x, a, b, c: linear.slice_p(x, start_indices=a, limit_indices=b, strides=c)
    o.pad = lambda x, value, config: linear.pad_p(x, value, padding_config=config)
    o.concatenate = lambda xs, dimension: linear.concatenate_p(*xs, dimension=dimension)
    o.reduce_sum = lambda x, axes: linear.reduce_sum_p(x, axes=axes)
    for name in ("reduce_max", "reduce_min", "reduce_prod"):
        setattr(o, name, lambda x, axes, name=name: getattr(reduce, f"{name}_p")(x, axes=axes))
    for name in ("argmax", "argmin"):
        setattr(o, name, lambda x, axis, name=name: getattr(reduce, f"{name}_p")(
            x, axes=(axis,), index_dtype=np.dtype("int32")))  # fmt: skip
    o.cumsum = lambda x, axis: reduce.cumsum_p(x, axis=axis, reverse=False)
    o.dot_general = dot_general
    o.iota = lambda dtype, shape, dimension: indexing.iota_p(dtype=dtype, shape=shape, dimension=dimension)
    return o


# We have no parameters for sharding yet.
SHARDING = re.compile(r" (out_)?sharding=None")


@pytest.mark.parametrize("name", shown.PROGRAMS)
def test_a_jaxpr_prints_as_in_jax(name):
    fun, args = shown.PROGRAMS[name](operations())
    assert str(jx.make_jaxpr(fun)(*args)) == SHARDING.sub("", RECORDED[name])


def test_all_recorded_programs_are_compared():
    assert set(RECORDED) == set(shown.PROGRAMS)


def test_long_lines_of_arguments_are_broken():
    text = str(jx.make_jaxpr(lambda *xs: mul(xs[0], xs[1]))(*[np.ones(3, np.float32)] * 20))
    assert max(map(len, text.splitlines())) < 88
    assert text.splitlines()[1].startswith("    i:f32[3]")


def test_names_of_variables():
    names = variable_names()
    listed = [next(names) for _ in range(26 + 26 * 26)]
    assert listed[:2] + listed[25:28] == ["a", "b", "z", "ba", "bb"]
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("value, text", [
    (np.float32(0.1), "0.10000000149011612:f32[]"), (np.float16(0.1), "0.0999755859375:f16[]"), (np.int8(-3), "-3:i8[]"),
    (np.bool_(True), "True:bool[]"), (np.complex64(1 - 2j), "(1-2j):c64[]"), (np.float32("nan"), "nan:f32[]"),
    (np.asarray(0.1, ml_dtypes.bfloat16)[()], "0.10009765625:bf16[]"),
])  # fmt: skip
def test_literals(value, text):
    assert literal_text(Literal(value, ShapedArray((), np.asarray(value).dtype))) == text


def test_programs_that_hold_each_other_many_times_are_printed_once():
    f = jx.jit(lambda x: sin(x))
    for _ in range(12):
        f = jx.jit(functools.partial(lambda g, x: add(g(x), g(x)), f))
    text = str(jx.make_jaxpr(f)(1.0))
    assert text.count("= sin") == 1 and len(text.splitlines()) < 80
    assert len(set(Names(jx.make_jaxpr(f)(1.0).jaxpr).shared.values())) == 12


def test_names_of_shared_programs_are_no_variables():
    @jx.jit
    def b(x):
        return sin(x)

    text = str(jx.make_jaxpr(lambda x: add(b(x), b(x)))(1.0))
    assert text.startswith("let b = { lambda ; a:f32[]. let c:f32[] = sin a in (c,) } in\n")
