"""Jaxprs print as JAX's do, character by character (tests/oracle/cases/printing.py); here what they are of what only we have."""

from __future__ import annotations

import functools

import ml_dtypes
import numpy as np
import pytest

import jitscope as jx
from jitscope.core.avals import ShapedArray
from jitscope.core.jaxpr import Literal, equations_in
from jitscope.core.printing import Names, literal_text, variable_names
from tests.compiler.programs import add, mul, sin


# We have no parameters for sharding yet.


def test_long_lines_of_arguments_are_broken():
    text = str(jx.make_jaxpr(lambda *xs: mul(xs[0], xs[1]))(*[np.ones(3, np.float32)] * 20))
    assert max(map(len, text.splitlines())) < 88
    assert text.splitlines()[1].startswith("    i:f32[3]")


def test_a_jaxpr_that_occurs_many_times_is_looked_at_once():
    f = jx.jit(sin)
    for _ in range(40):
        f = jx.jit(lambda x, inner=f: inner(inner(x)))
    assert sum(1 for _ in equations_in(jx.make_jaxpr(f)(np.float32(1)).jaxpr)) == 1 + 2 * 40 + 1


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
