"""Symbolic dimensions: their arithmetic and what is decided about them, as in JAX; their solution from shapes."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import export
from jitscope.errors import InconclusiveDimensionOperation
from jitscope.symbolic.dimension import evaluated, extent, is_static, max_dim, min_dim
from jitscope.symbolic.solving import solve
from tests.oracle.cases import symbolic as cases


def test_what_is_decided_holds_for_all_sizes():
    """Evaluated at numbers that meet the constraints, each answer that was given is right."""
    python: dict[str, Any] = {
        "+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y, "//": lambda x, y: x // y,
        "%": lambda x, y: x % y, "max": max, "min": min,
    }  # fmt: skip
    checked = 0
    for constraints, left, right in cases.expressions(11, 220):
        scope = export.SymbolicScope(constraints)
        names = dict(zip("abc", export.symbolic_shape("a, b, c", scope=scope)))

        def of(x: Any, values: dict[str, Any], apply: dict[str, Any]) -> Any:
            if isinstance(x, int):
                return x
            return values[x] if isinstance(x, str) else apply[x[0]](of(x[1], values, apply), of(x[2], values, apply))

        try:
            x, y = (of(e, names, {**python, "max": max_dim, "min": min_dim}) for e in (left, right))
            greater = x >= y
        except (InconclusiveDimensionOperation, ZeroDivisionError):
            greater = None
        for numbers in itertools.product((1, 2, 3, 4, 8, 12), repeat=3):
            values = dict(zip("abc", numbers))
            if any(not holds(c, values) for c in constraints):
                continue
            try:
                a, b = (of(e, values, python) for e in (left, right))
            except ZeroDivisionError:
                continue
            if greater is not None:
                assert greater == (a >= b), (constraints, left, right, values)
                assert evaluated(x, values) == a and evaluated(x - y, values) == a - b
                checked += 1
    assert checked > 1000


def holds(constraint: str, values: dict[str, int]) -> bool:
    text = (
        constraint.replace("floordiv(a, 2)", "(a // 2)").replace("mod(a, 4)", "(a % 4)").replace("mod(a, 2)", "(a % 2)")
    )
    return eval(text, {"max": max}, values)


def test_equal_expressions_are_one():
    a, b = export.symbolic_shape("a, b")
    assert (a + b) * (a - b) == a * a - b * b and hash(2 * a + b) == hash(b + a + a)
    assert a - a == 0 and type(a - a + 3) is int and (a + b - a) == b
    assert (6 * a + 4) // 2 == 3 * a + 2 and (6 * a + 5) % 2 == 1 and (a * b) // b == a
    assert str(2 * a**2 - b + 1) == "2*a^2 - b + 1" and str(a % 3 - 7) == "mod(a, 3) - 7"
    assert a != b and a != 3 and a != "a" and {a: 1}[a + 0] == 1
    assert copy.deepcopy(a) is a
    assert jx.ShapeDtypeStruct((a, 2), "float32") == jx.ShapeDtypeStruct((a, 2), "float32")


def test_scopes_do_not_mix():
    (a,), (b,) = export.symbolic_shape("a"), export.symbolic_shape("a")
    assert a != b
    for mix in (lambda: a + b, lambda: a >= b, lambda: a * b, lambda: max_dim(a, b)):
        with pytest.raises(ValueError, match=r"(?s)Invalid mixing of symbolic scopes.*test_symbolic_shapes"):
            mix()
    with pytest.raises(ValueError, match="when exporting f"):
        export.export(jx.jit(f))(*[jx.ShapeDtypeStruct((d,), "float32") for d in (a, b)])
    scope = export.SymbolicScope(["a >= 3"])
    assert export.symbolic_shape("a", scope=scope) == export.symbolic_shape("a", scope=scope)
    with pytest.raises(ValueError, match="both a `scope` and `constraints`"):
        export.symbolic_shape("a", scope=scope, constraints=["a >= 2"])


def f(x, y):
    return x + y


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (["a >= 2", "a <= 1"], "Unsatisfiable"),
        (["a == 2", "a == 3"], "Unsatisfiable"),
        (["a > 2"], "must contain one of"),
        (["a + b == 3"], "left-hand-side must be"),
        ("a >= 2", "should be a sequence of strings"),
        ([3], "must be a string"),
        (["a + >= 2"], "syntax error"),
    ],
)
def test_constraints_that_are_none(constraints, message):
    with pytest.raises(ValueError, match=message):
        scope = export.SymbolicScope(constraints)
        bool(export.symbolic_shape("a", scope=scope)[0] >= 0)


def test_no_numbers_while_tracing():
    (a,) = export.symbolic_shape("a")
    with pytest.raises(InconclusiveDimensionOperation, match="'a' used in a context that requires a constant"):
        int(a)
    with pytest.raises(TypeError, match="'a' cannot be interpreted as an integer"):
        range(a)
    with pytest.raises(InconclusiveDimensionOperation, match=r"(?s)'a' > '1' is inconclusive.*constraint"):
        bool(a > 1)
    with pytest.raises(InconclusiveDimensionOperation, match="'a - 1' is zero is inconclusive"):
        bool(a - 1)
    assert bool(a) and a >= 1 and not a < 1 and a + 1 > a
    with pytest.raises(ValueError, match="non-integer powers"):
        a**1.5
    with pytest.raises(NotImplementedError, match="symbolic dimension a has no value here"):
        a.dimension_as_value()
    assert export.is_symbolic_dim(a) and not export.is_symbolic_dim(3)


@pytest.mark.parametrize("part", [slice(None), slice(1, None), slice(None, -1), slice(None, None, 2), slice(None, None, -1),
                                  slice(2, 5), slice(-3, None), slice(4, 1, -1), slice(-1, 0, -2)])  # fmt: skip
def test_slices_of_a_symbolic_axis(part):
    (n,) = export.symbolic_shape("n", constraints=["n >= 6"])
    start, length, step = extent(part, n)
    for size in (6, 7, 11):
        values = {"n": size}
        assert evaluated(length, values) == len(range(size)[part])
        if len(range(size)[part]):
            assert evaluated(start, values) == range(size)[part][0] and step == (part.step or 1)


@pytest.mark.parametrize(
    ("specs", "sizes"),
    [
        (["a, b"], {"a": 3, "b": 4}),
        (["2*a + 1"], {"a": 5}),
        (["a, a + b", "b*a"], {"a": 2, "b": 7}),
        (["a*b", "b", "a"], {"a": 3, "b": 5}),
        (["a", "b - a"], {"a": 3, "b": 5}),
        (["a, floordiv(a, 2), mod(a, 3)"], {"a": 11}),
    ],
)
def test_variables_follow_from_shapes(specs, sizes):
    scope = export.SymbolicScope()
    shapes = [export.symbolic_shape(spec, scope=scope) for spec in specs]
    solution = solve(shapes, [f"args[{i}]" for i in range(len(shapes))])
    actual = [[evaluated(d, sizes) for d in shape] for shape in shapes]
    assert solution.at(actual) == sizes
    for i, j in ((i, j) for i, shape in enumerate(actual) for j in range(len(shape))):
        wrong = [list(shape) for shape in actual]
        wrong[i][j] = -5
        with pytest.raises(ValueError, match=r"Input shapes do not match .*args\[0\]"):
            solution.at(wrong)


def test_variables_that_do_not_follow_are_named():
    a, b = export.symbolic_shape("a, b")
    with pytest.raises(ValueError, match=r"Cannot solve for values of dimension variables \{'(a|b)', '(a|b)'\}.*a\*b"):
        solve([(a * b,)], ["args[0]"])
    with pytest.raises(ValueError, match="linear uni-variate"):
        export.export(jx.jit(jnp.sin))(jx.ShapeDtypeStruct((a**2,), "float32"))


def test_traces_have_symbolic_shapes():
    b, n = export.symbolic_shape("b, n")
    x = jx.ShapeDtypeStruct((b, n), np.float32)
    out = jx.eval_shape(lambda x: (x.reshape(-1), jnp.concatenate([x, x[1:]]), x.T @ x), x)
    assert [o.shape for o in out] == [(b * n,), (2 * b - 1, n), (n, n)]
    assert "f32[b,n]" in str(jx.make_jaxpr(lambda x: x + x.shape[0])(x))
    traced = jx.jit(lambda x: x.sum(0)).trace(x)
    assert traced.out_info.shape == (n,) and "tensor<?x?xf32>" in traced.lower().as_text()
    lowered = jx.jit(lambda x: x + jnp.arange(x.shape[1])).lower(x)
    assert "get_dimension_size" in lowered.as_text()
    with pytest.raises(NotImplementedError, match=r"symbolic dimensions.*export"):
        lowered.compile()
    assert x.size == b * n and not is_static(x.shape)
    with pytest.raises(ValueError, match=r"add: shapes \(b, n\) and \(n, b\) do not broadcast"):
        jx.eval_shape(lambda x: x + x.T, x)


def test_specs_of_trees():
    args = ({"x": np.zeros((3, 4), np.float32)}, [np.zeros(5, np.int32), 1.5])
    found = export.symbolic_args_specs(args, ({"x": "b, ..."}, ["_", ""]))
    assert [str(s.shape) for s in jx.tree.leaves(found)] == ["(b, 4)", "(5,)", "()"]
    assert [s.dtype.name for s in jx.tree.leaves(found)] == ["float32", "int32", "float32"]
    one = export.symbolic_args_specs(args[0], "b, c", constraints=["b >= c"])
    assert one["x"].shape[0] >= one["x"].shape[1]
    none = export.symbolic_args_specs(args, None)
    assert none[0]["x"].shape == (3, 4)
    with pytest.raises(ValueError, match="shapes_specs"):
        export.symbolic_args_specs(args, ({"y": "b"}, None))
    with pytest.raises(ValueError, match="different size 7"):
        export.symbolic_args_specs(args[0], "7, b")


def test_shapes_as_values_of_an_exported_function():
    spec = jx.ShapeDtypeStruct(export.symbolic_shape("a, b"), "float32")
    exported = export.export(jx.jit(lambda x: jx.lax.shape_as_value((*x.shape, 7))))(spec)
    for shape in ((2, 5), (4, 1)):
        found = exported.call(np.ones(shape, np.float32))
        assert found.dtype == np.int32 and found.tolist() == [*shape, 7]
