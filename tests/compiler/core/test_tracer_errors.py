"""The traps of tracing that end in an error: the message names the line, the argument, and what to write instead, and the
traceback shows the user's frames."""

from __future__ import annotations

import functools
import linecache
import math
import operator
import pickle
import sys
import traceback
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import errors, lax
from jitscope.core import source
from jitscope_scope.source_code import rewrites
from tests.compiler.programs import floats, in_new_process


X = floats(3)
_numbers = count()


def cell(text: str) -> dict[str, Any]:
    """Run a program text like a notebook cell."""
    name = f"<trap {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"jx": jx, "jnp": jnp, "np": np, "lax": lax, "math": math, "functools": functools, "X": X,
                             "__name__": "trap"}  # fmt: skip
    exec(compile(text, name, "exec"), scope)
    return scope


# Every trap: the cell, the call, the error, the line it names, what it says of the value, what to write.
TRAPS = {
    "if": ("def f(x):\n    y = jnp.sin(x)\n    s = y.sum()\n    if s > 0:\n        return x\n    return -x", "f(X)",
           errors.TracerBoolConversionError, "line 4 of f, columns 8-12: if s > 0:", "argument x of f", "return jnp.where(s > 0, x, -x)"),
    "if else assignment": ("def f(x):\n    if x > 0:\n        y = 1.0\n    else:\n        y = x * 2\n    return y", "f(1.0)",
           errors.TracerBoolConversionError, "line 2 of f", "argument x", "y = jnp.where(x > 0, 1.0, x * 2)"),
    "if without else": ("def f(x):\n    y = x\n    if x > 0:\n        y = 1.0\n    return y", "f(1.0)",
           errors.TracerBoolConversionError, "line 3 of f", "argument x", "y = jnp.where(x > 0, 1.0, y)"),
    "if of dicts": ("def f(x):\n    p = {'w': x}\n    if x.sum() > 0:\n        return p\n    return {'w': -x}", "f(X)",
           errors.TracerBoolConversionError, "line 3 of f", "argument x", "let `lax.cond` choose by `x.sum() > 0` between two functions"),
    "if of names that hold dicts": ("def f(x):\n    p, q = {'w': x}, {'w': -x}\n    return p if x.sum() > 0 else q", "f(X)",
           errors.TracerBoolConversionError, "line 3 of f", "argument x", "let `lax.cond` choose by `x.sum() > 0` between two functions"),
    "if with more": ("def f(x):\n    if x > 0:\n        x += 1\n        x *= 2\n    return x", "f(1.0)",
           errors.TracerBoolConversionError, "line 2 of f", "argument x", "let `lax.cond` choose by `x > 0` between two functions"),
    "ternary": ("def f(x): return x if x.sum() > 0 else -x", "f(X)",
           errors.TracerBoolConversionError, "line 1 of f", "argument x", "jnp.where(x.sum() > 0, x, -x)"),
    "assert": ("def f(x):\n    assert x > 0\n    return x", "f(1.0)", errors.TracerBoolConversionError, "line 2 of f", "argument x", "static"),
    "while": ("def f(x):\n    while x < 10 and not x > 3:\n        x = x + 1\n    return x", "f(1.0)",
           errors.TracerBoolConversionError, "line 2 of f", "argument x", "one function of these gives `(x < 10) & (~(x > 3))`, another their next values"),
    "and": ("def f(x): return (x > 0) and (x < 1)", "f(0.5)", errors.TracerBoolConversionError, "line 1 of f", "argument x", "(x > 0) & (x < 1)"),
    "or": ("def f(x):\n    y = x < 0 or x > 1\n    return y", "f(0.5)", errors.TracerBoolConversionError, "line 2 of f", "argument x", "(x < 0) | (x > 1)"),
    "not": ("def f(flag): return not flag", "f(True)", errors.TracerBoolConversionError, "line 1 of f", "argument flag", "jnp.logical_not(flag)"),
    "chain": ("def f(x): return 0 < x < 1", "f(0.5)", errors.TracerBoolConversionError, "line 1 of f", "argument x", "(0 < x) & (x < 1)"),
    "max": ("def f(x): return max(x, 0.0)", "f(0.5)", errors.TracerBoolConversionError, "line 1 of f", "argument x", "jnp.maximum(x, 0.0)"),
    "min of three": ("def f(x): return min(x, 0.0, 1.0)", "f(0.5)", errors.TracerBoolConversionError, "line 1 of f", "argument x",
           "jnp.minimum(jnp.minimum(x, 0.0), 1.0)"),
    "sorted": ("def f(x): return sorted(x)", "f(X)", errors.TracerBoolConversionError, "line 1 of f", "argument x", "jnp.sort(x)"),
    "any": ("def f(x): return any(x > 0)", "f(X)", errors.TracerBoolConversionError, "line 1 of f", "argument x", "jnp.any(x > 0)"),
    "in": ("def f(x): return 3 in x", "f(X)", errors.TracerBoolConversionError, "line 1 of f", "argument x", "(x == 3).any()"),
    "not in": ("def f(x): return 3 not in x", "f(X)", errors.TracerBoolConversionError, "line 1 of f", "argument x", "(x != 3).all()"),
    "several elements": ("def f(x):\n    if x > 0:\n        return x\n    return -x", "f(X)", ValueError, "line 2 of f", "3 elements",
           "return jnp.where(x > 0, x, -x)"),
    "flag": ("def f(x, train):\n    if train:\n        return x\n    return -x", "f(X, True)", errors.TracerBoolConversionError,
           "line 2 of f", "argument train of f", "static_argnames='train'"),
    "text": ("def f(x, mode): return x", "f(X, 'relu')", TypeError, "in line 1 of call", "argument mode of f", "static_argnames='mode'"),
    "key of a dict": ("def f(i):\n    table = {0: 1.0}\n    return table[i]", "f(0)", TypeError, "line 3 of f, columns 12-19",
           "unhashable type: 'JaxprTracer'", "jnp.array(values)[i]"),
    "one column": ("def f(x):\n    if x: return x", "f(1.0)", errors.TracerBoolConversionError, "line 2 of f, column 8: if x", "argument x", "lax.cond"),
    "range": ("def f(x, n):\n    for i in range(n):\n        x = x + i\n    return x", "f(1.0, 3)", errors.TracerIntegerConversionError,
           "line 2 of f, columns 14-21", "argument n of f", "make it a `lax.fori_loop` from `0` to `n`, whose body is a function of `i`"),
    "range from": ("def f(x, n):\n    for k in range(2, n):\n        x = x + k\n    return x", "f(1.0, 3)", errors.TracerIntegerConversionError,
           "line 2 of f", "static_argnames='n'", "make it a `lax.fori_loop` from `2` to `n`, whose body is a function of `k`"),
    "list of functions": ("L = [jnp.sin, jnp.cos]\ndef f(x, i): return L[i](x)", "f(1.0, 1)", errors.TracerIntegerConversionError, "line 2 of f",
           "argument i", "lax.switch(i, L, x)"),
    "collected": ("def f(x, n): return [x * i for i in range(n)]", "f(1.0, 3)", errors.TracerIntegerConversionError, "line 1 of f",
           "argument n", "make `n` static: how many values are collected is a shape"),
    "appended": ("def f(x, n):\n    out = []\n    for i in range(n):\n        out.append(x)\n    return out", "f(1.0, 3)",
           errors.TracerIntegerConversionError, "line 3 of f", "argument n", "make `n` static: how many values"),
    "left": ("def f(x):\n    for v in x:\n        if v > 0:\n            return v\n    return x[0]", "f(X)", errors.TracerBoolConversionError,
           "line 3 of f", "argument x", "a loop of Python cannot be left where `v > 0` is not known"),
    "skipped": ("def f(x):\n    s = 0.\n    for v in x:\n        if v > 0:\n            continue\n        s += v\n    return s", "f(X)",
           errors.TracerBoolConversionError, "line 4 of f", "argument x",
           "write `s = jnp.where(v > 0, s, s + v)` in place of `continue` and of what comes after it"),
    "skipped lines": ("def f(x):\n    for v in x:\n        if v > 0:\n            continue\n        w = v\n        x = x + w\n    return x", "f(X)",
           errors.TracerBoolConversionError, "line 3 of f", "argument x", "what comes after `continue` cannot be left out where `v > 0` is not known"),
    "kept by value": ("def f(x):\n    kept = []\n    for v in x:\n        if v > 0:\n            kept.append(v)\n    return kept", "f(X)",
           errors.TracerBoolConversionError, "line 4 of f", "argument x", "how many elements there are cannot depend on `v > 0`, a value"),
    "list index": ("L = [1, 2]\ndef f(i): return L[i]", "f(1)", errors.TracerIntegerConversionError, "line 2 of f", "argument i", "jnp.array(L)[i]"),
    "mask": ("def f(x): return x[x > 0]", "f(X)", errors.NonConcreteBooleanIndexError, "line 1 of f", "mask", "jnp.where(x > 0, x, 0)"),
    "mask and sum": ("def f(x): return x[x > 0].sum()", "f(X)", errors.NonConcreteBooleanIndexError, "line 1 of f", "mask",
           "jnp.where(x > 0, x, 0).sum()"),
    "mask and mean": ("def f(x): return x[x > 0].mean()", "f(X)", errors.NonConcreteBooleanIndexError, "line 1 of f", "mask",
           "jnp.mean(x, where=x > 0)"),
    "nonzero": ("def f(x): return jnp.nonzero(x)", "f(X)", errors.ConcretizationTypeError, "line 1 of f", "depends on values", "size=n"),
    "unique": ("def f(x): return jnp.unique(x)", "f(X)", errors.ConcretizationTypeError, "line 1 of f", "depends on values", "size=n"),
    "where": ("def f(x): return jnp.where(x > 0)", "f(X)", errors.ConcretizationTypeError, "line 1 of f", "depends on values", "size=n"),
    "shape": ("def f(n): return jnp.zeros(n)", "f(3)", (TypeError, errors.JAXTypeError), "line 1 of f", "argument n of f", "static_argnames='n'"),
    "arange": ("def f(n): return jnp.arange(n)", "f(3)", errors.ConcretizationTypeError, "line 1 of f", "argument n of f", "static_argnames='n'"),
    "reshape": ("def f(x, n): return x.reshape(n, -1)", "f(X, 3)", TypeError, "line 1 of f", "argument n of f", "static_argnames='n'"),
    "axis": ("def f(x, n): return x.sum(axis=n)", "f(X, 0)", TypeError, "line 1 of f", "argument n of f", "static_argnames='n'"),
    "slice": ("def f(x, i): return x[i:i + 2]", "f(X, 0)", IndexError, "line 1 of f", "bounds of a slice", "lax.dynamic_slice_in_dim(x, i, 2)"),
    "slice to": ("def f(x, n): return x[:n]", "f(X, 2)", IndexError, "line 1 of f", "bounds of a slice",
           "jnp.where(jnp.arange(x.shape[0]) < n, x, 0)"),
    "slice from": ("def f(x, n): return x[n:]", "f(X, 2)", IndexError, "line 1 of f", "bounds of a slice",
           "jnp.where(jnp.arange(x.shape[0]) >= n, x, 0)"),
    "np": ("def f(x): return np.sin(x)", "f(X)", errors.TracerArrayConversionError, "line 1 of f", "argument x", "jnp.sin(x)"),
    "np.linalg": ("def f(x): return np.linalg.norm(x, axis=0)", "f(X)", errors.TracerArrayConversionError, "line 1 of f", "argument x",
           "jnp.linalg.norm(x, axis=0)"),
    "math": ("def f(x): return math.exp(x) + 1", "f(1.0)", errors.ConcretizationTypeError, "line 1 of f", "argument x", "jnp.exp(x)"),
    "math renamed": ("def f(x): return math.atan2(x, 2.0)", "f(1.0)", errors.ConcretizationTypeError, "line 1 of f", "argument x", "jnp.arctan2(x, 2.0)"),
    "float": ("def f(x): return float(x)", "f(1.0)", errors.ConcretizationTypeError, "line 1 of f", "argument x", "x.astype(float)"),
    "int": ("def f(x): return int(x + 1)", "f(1.0)", errors.ConcretizationTypeError, "line 1 of f", "argument x", "(x + 1).astype(int)"),
    "item": ("def f(x): return x.sum().item()", "f(X)", errors.ConcretizationTypeError, "line 1 of f", "argument x", "write `x.sum()`"),
    "complex": ("def f(x): return complex(x)", "f(1.0)", errors.ConcretizationTypeError, "line 1 of f", "argument x", "static_argnames"),
    "tolist": ("def f(x): return x.tolist()", "f(X)", errors.ConcretizationTypeError, "line 1 of f", "argument x", "static_argnames"),
    "in a tree": ("def f(t): return bool(t['a'][1])", "f({'a': [X, True]})", errors.TracerBoolConversionError, "line 1 of f",
           "argument t['a'][1]", "static"),
    "by name": ("def f(x, *, flag): return x if flag else -x", "f(X, flag=True)", errors.TracerBoolConversionError, "line 1 of f",
           "argument flag", "static_argnames='flag'"),
    "assignment": ("def f(x):\n    x[0] = 1.0\n    return x", "f(X)", TypeError, "line 2 of f", "in place", "x = x.at[0].set(1.0)"),
    "in-place operation": ("def f(x):\n    x[1:] += 2\n    return x", "f(X)", TypeError, "line 2 of f", "in place", "x = x.at[1:].add(2)"),
    "returns text": ("def f(x): return {'a': [x, 'text']}", "f(X)", TypeError, "line 1 of call", "at result['a'][1]", "compute other things outside"),
    "static list": ("def f(x, shape): return x", "f(X, [2, 2])", ValueError, "shape", "cannot be hashed", "a tuple for a list"),
    "an object": ("class M: pass\ndef f(m): return m", "f(M())", TypeError, "line 1 of call", "argument m of f", "register"),
}  # fmt: skip
STATIC = {"static list": {"static_argnames": "shape"}}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_names_the_line_the_value_and_the_way_out(name):
    text, call, kind, line, value, fix = TRAPS[name]
    scope = cell(text)
    scope["f"] = jx.jit(scope["f"], **STATIC.get(name, {}))
    code = cell(f"def call(f, M=None): return {call}")["call"]
    with pytest.raises(kind) as caught:
        code(scope["f"], scope.get("M"))
    message = str(caught.value)
    assert line in message and value in message and fix in message, message


def test_the_expression_is_marked():
    scope = cell("def f(x):\n    y = (jnp.sin(x) if x.sum() > 0 else x)\n    return y")
    with pytest.raises(errors.TracerBoolConversionError) as caught:
        jx.jit(scope["f"])(X)
    lines = str(caught.value).splitlines()
    at = next(i for i, text in enumerate(lines) if "line 2 of f" in text)
    marks = lines[at + 1]
    assert lines[at][marks.index("^") : marks.rindex("^") + 1] == "x.sum() > 0"


def test_the_chain_has_its_lines_and_columns():
    scope = cell("def f(a, b):\n    c = a * b\n    d = jnp.sin(c)\n    return float(d + 1)")
    with pytest.raises(errors.ConcretizationTypeError) as caught:
        jx.jit(scope["f"])(1.0, 2.0)
    message = str(caught.value)
    parts = ["line 4 of f, columns 12-23: return float(d + 1)", "line 4 of f, columns 18-22", "line 3 of f, columns 9-18: d = jnp.sin(c)",
             "line 2 of f, columns 9-13: c = a * b", "depends on argument a of f: f32[], argument b of f: f32[]"]  # fmt: skip
    places = [message.index(part) for part in parts]
    assert places == sorted(places), message


def test_a_line_of_the_chain_ends_as_the_sentence_goes_on():
    """Whatever the code itself ends in."""
    scope = cell(
        "def f(xs):\n    y = (jnp.sin(xs),\n        1)\n    for x in y[0]:\n        z = x * 2\n        return float(z)"
    )
    with pytest.raises(errors.ConcretizationTypeError) as caught:
        jx.jit(scope["f"])(X)
    message = str(caught.value)
    columns = ", columns 14-17" if sys.version_info >= (3, 13) else ""  # before, a loop's place is all of its lines
    assert f"line 4 of f{columns}: for x in y[0],\n    from a value computed in line 2 of f" in message
    assert "y = (jnp.sin(xs)\n    (it depends on argument xs" in message


def scanned(xs):
    def body(carry, x):
        total, count = carry
        return (total * 1.0 if total > x else total, count), x

    return lax.scan(body, (0.0, 0), xs)


def repeated(n):
    def grow(i, state):
        low, (high, *others) = state
        return (low, (float(high), *others))

    return lax.fori_loop(0, n, grow, (0.0, (1.0, 2.0)))


def counted(xs):
    def body(s, x):
        return {"n": int(s["n"])}, x

    return lax.scan(body, {"n": 0}, xs)


INNER = {
    "scan": (scanned, X, "(it depends on total in body (carry[0]): f32[], x in body: f32[])"),
    "a loop with a counter": (repeated, 3, "high in grow (state[1][0])"),
    "a dict": (counted, X, "s['n'] in body"),
    "map": (lambda xs: lax.map(lambda row: row if row > 0 else -row, xs), X, "row in <lambda>: f32[]"),
}


@pytest.mark.parametrize("name", INNER)
def test_what_loops_hand_on_has_the_users_names(name):
    fun, given, text = INNER[name]
    for call in (fun, jx.jit(fun)):
        with pytest.raises(errors.ConcretizationTypeError) as caught:
            call(given)
        assert text in str(caught.value)
        assert "static_argnames='" not in str(caught.value)  # nothing that a loop hands on is an argument of jit's


def test_lines_of_several_rows_have_no_columns():
    scope = cell("def f(x):\n    return float(\n        x\n        + 1)")
    with pytest.raises(errors.ConcretizationTypeError, match="line 2 of f: return float"):
        jx.jit(scope["f"])(1.0)


def test_a_function_that_calls_itself_is_not_to_choose_by_where():
    def down(n):
        if n < 1:
            return n
        return down(n - 1)

    with pytest.raises(errors.TracerBoolConversionError) as caught:
        jx.jit(down)(3)
    assert (
        "of a function that says whether it goes on and one that makes a step: `down` would call itself without end"
        in str(caught.value)
    )


@pytest.mark.parametrize("text", ["def f(x: return", "", "def f(x):\n    return x\n"])
def test_advice_is_silent_where_the_source_says_nothing(text):
    name = f"<advice {next(_numbers)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    for kind in rewrites._REWRITES:
        assert rewrites.rewrite(source.Position(name, 1, 1, 4, 9, "f"), kind) == ""
        assert rewrites.rewrite(source.Position("no such file", 3, 3, 0, 5, "f"), kind) == ""
        assert rewrites.rewrite(None, kind) == ""


def test_errors_without_source():
    scope: dict[str, Any] = {"jnp": jnp}
    exec("def f(x):\n    return float(x)", scope)
    with pytest.raises(errors.ConcretizationTypeError, match="argument x of f"):
        jx.jit(scope["f"])(1.0)


def test_the_errors_of_gradients_name_the_call():
    for call, text in (("jx.grad(lambda x: x**2)(3)", "argument 0 of <lambda> is i32[]"),
                       ("jx.grad(lambda x: x**2)(X)", "jacrev"), ("jx.grad(lambda x: (x, x))(1.0)", "has_aux=True")):  # fmt: skip
        code = cell(f"def call():\n    return {call}")["call"]
        with pytest.raises(TypeError) as caught:
            code()
        assert text in str(caught.value) and f"line 2 of call, columns 12-{11 + len(call)}: return {call}" in str(
            caught.value
        )


def test_an_escaped_tracer_names_where_it_was_made_and_used():
    kept = SimpleNamespace()
    scope = cell("def f(x):\n    kept.value = jnp.sin(x) * 2\n    return x")
    scope["kept"] = kept
    jx.jit(scope["f"])(X)
    use = cell("def use(v):\n    return v + 1")["use"]
    with pytest.raises(errors.UnexpectedTracerError) as caught:
        use(kept.value)
    message = str(caught.value)
    assert "line 2 of f, columns 18-31: kept.value = jnp.sin(x) * 2" in message
    assert "line 2 of use, columns 12-16: return v + 1" in message
    assert isinstance(caught.value, TypeError)


# Tracebacks ----------------------------------------------------------------------------------------------------------


def broken(x):
    return x + jnp.ones(7)


TRANSFORMS = {
    "jit": lambda: jx.jit(broken)(X),
    "nested": lambda: jx.jit(lambda x: jx.vmap(jx.jit(broken))(x))(floats(2, 3)),
    "grad": lambda: jx.grad(broken)(X),
    "value_and_grad": lambda: jx.value_and_grad(broken)(X),
    "vmap": lambda: jx.vmap(broken)(floats(2, 3)),
    "jvp": lambda: jx.jvp(broken, (X,), (X,)),
    "vjp": lambda: jx.vjp(broken, X),
    "linearize": lambda: jx.linearize(broken, X),
    "jacfwd": lambda: jx.jacfwd(broken)(X),
    "jacrev": lambda: jx.jacrev(broken)(X),
    "hessian": lambda: jx.hessian(broken)(X),
    "make_jaxpr": lambda: jx.make_jaxpr(broken)(X),
    "eval_shape": lambda: jx.eval_shape(broken, X),
    "lower": lambda: jx.jit(broken).lower(X),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_tracebacks_show_the_users_frames(name):
    with pytest.raises(ValueError, match="add") as caught:
        TRANSFORMS[name]()
    frames = traceback.extract_tb(caught.value.__traceback__)
    inside = [frame.filename for frame in frames]
    assert inside[: len(inside) - inside[::-1].index(__file__)] == [__file__] * (
        len(inside) - inside[::-1].index(__file__)
    )
    assert all(not source.is_internal(frame.filename) for frame in frames)
    assert frames[-1].name == "broken" and frames[0].name == "test_tracebacks_show_the_users_frames"
    with jx.traceback_filtering("off"), pytest.raises(ValueError, match="add") as caught:
        TRANSFORMS[name]()
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert any(source.is_internal(frame.filename) for frame in frames)
    assert "broken" in [frame.name for frame in frames]


def test_mistakes_of_the_library_are_shown_whole(monkeypatch):
    def users(x):
        raise KeyError("the user's own")

    with pytest.raises(KeyError) as caught:
        jx.jit(users)(X)
    assert not any(source.is_internal(f.filename) for f in traceback.extract_tb(caught.value.__traceback__))
    without_rule = jx.custom_vjp(lambda x: x)
    with pytest.raises(AttributeError, match="give it some with defvjp") as caught:
        jx.jit(without_rule)(X)
    assert not any(source.is_internal(f.filename) for f in traceback.extract_tb(caught.value.__traceback__))
    # An error of ours: the last frame is dispatch.py's, since what it calls has none.
    monkeypatch.setattr(source, "position_of_function", operator.attrgetter("missing"))
    with pytest.raises(AttributeError) as caught:
        jx.jit(lambda x: x)(X)
    assert "dispatch.py" in [Path(f.filename).name for f in traceback.extract_tb(caught.value.__traceback__)]


def test_pullbacks_fold_too():
    _, pullback = jx.vjp(jnp.sin, X)
    with pytest.raises(ValueError, match="must agree") as caught:
        pullback(floats(4))
    assert [f.name for f in traceback.extract_tb(caught.value.__traceback__)] == ["test_pullbacks_fold_too"]


def test_a_script_prints_the_users_lines_alone():
    printed = in_new_process(
        """
        import traceback
        import jitscope as jx, jitscope.numpy as jnp
        def inner(x):
            return x + jnp.ones(7)
        try:
            jx.jit(lambda x: jx.grad(lambda y: inner(y).sum())(x))(jnp.ones(3))
        except ValueError:
            print(traceback.format_exc().count("/jitscope/"), traceback.format_exc().count('File "<string>"'))
        """
    )
    assert printed == "0 4"


def test_later_releases_say_so():
    with pytest.raises(NotImplementedError, match=r"lax\.ppermute"):
        jx.lax.psend(1.0, "i", [(0, 1)])
    assert not isinstance(1, jx.sharding.Sharding)


def test_values_while_tracing_are_not_pickled():
    with pytest.raises(jx.errors.ConcretizationTypeError, match="pickled"):
        jx.jit(pickle.dumps)(0)


def test_a_part_of_an_argument_is_not_made_static() -> None:
    """`static_argnames` takes no `*s`, and a dictionary has no hash."""
    for of, args in ((lambda *s: jnp.zeros(s), (2, 3)), (lambda d: jnp.zeros(d["n"]), ({"n": 2},))):
        with pytest.raises(TypeError, match="pass it as an argument of its own that is static") as caught:
            jx.jit(of)(*args)
        assert "static_argnames='" not in str(caught.value)
    with pytest.raises(TypeError, match=r"make the argument it stems from static \(static_argnames='n'"):
        jx.jit(lambda n: jnp.zeros(n))(2)
