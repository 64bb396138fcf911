"""trace → lower → compile, each looked at; and positions: from an HLO instruction back to the line that wrote it."""

from __future__ import annotations

import linecache
import re
from types import SimpleNamespace

import numpy as np
import pytest

import jitscope as jx
from jitscope.backend.compile import compile_jaxpr
from jitscope.core import source
from jitscope.core.errors import UnexpectedTracerError
from jitscope.core.jaxpr import walk
from jitscope.xla import hlo_module
from jitscope_scope.observe import positions_of
from jitscope_scope.observe.hlo_flow import paths_in
from tests.compiler import programs
from tests.compiler.programs import add, cos, floats, matmul, mul, sin, steps, tanh, total


X = floats(3)


def scaled(x, n, tree):
    return {"out": mul(sin(x), float(n)), "rest": tree["b"]}


@pytest.fixture
def stages():
    traced = jx.jit(scaled, static_argnums=1).trace(X, 2, {"a": X, "b": jx.ShapeDtypeStruct((2,), np.int8)})
    lowered = traced.lower()
    return SimpleNamespace(traced=traced, lowered=lowered, compiled=lowered.compile())


def test_stages_answer_by_jaxs_names(stages) -> None:
    assert stages.lowered.compiler_ir("hlo").as_hlo_text().startswith("HloModule")
    info = stages.lowered.args_info
    assert [a.shape for a in jx.tree.leaves(info)] == [(3,), (3,), (2,)] and not any(
        a.donated for a in jx.tree.leaves(info)
    )
    one = jx.numpy.ones(1).sharding
    assert stages.compiled.input_shardings == ((one, {"a": None, "b": one}), {})  # nobody reads a
    assert set(jx.tree.leaves(stages.compiled.output_shardings)) == {one}
    described = jx.ShapeDtypeStruct((2,), np.int32, weak_type=True)
    assert not jx.numpy.zeros_like(described).weak_type and jx.numpy.result_type(described, np.int8) == np.int32
    assert jx.ShapeDtypeStruct.like(jx.numpy.asarray(1.5)) == jx.ShapeDtypeStruct((), np.float32, weak_type=True)
    weak = jx.typeof(1.5)
    assert str(weak) == "~float32[]" and repr(weak) == "ShapedArray(float32[], weak_type=True)"
    assert (
        str(weak.strip_weak_type()) == "float32[]"
        and weak.str_short() == "float32[]"
        and weak.str_short(True) == "f32[]"
    )


# What the stages show -------------------------------------------------------------------------------------------------


def test_tracing_shows_the_jaxpr_and_runs_nothing(stages):
    assert [e.primitive.name for e in stages.traced.jaxpr.eqns] == ["sin", "mul"]
    assert stages.traced.jaxpr.jaxpr.debug.arg_names == ("x", "tree['a']", "tree['b']")
    assert stages.traced.out_info == {
        "out": jx.ShapeDtypeStruct((3,), np.float32),
        "rest": jx.ShapeDtypeStruct((2,), np.int8),
    }
    assert stages.traced.fun_name == "scaled" and "2 equations" in repr(stages.traced)
    assert [a.short() for a in jx.tree.leaves(stages.traced.in_avals)] == ["f32[3]", "f32[3]", "i8[2]"]
    assert jx.jit(sin).eval_shape(X) == jx.ShapeDtypeStruct((3,), np.float32)


def test_lowering_shows_stablehlo_and_hlo(stages):
    text = stages.lowered.as_text()
    assert (
        "module @jit_scaled attributes" in text
        and "stablehlo.sine %arg0 : tensor<3xf32>" in text
        and "loc(" not in text
    )
    assert text.count("%arg") > 0 and "tensor<2xi8>" in text  # the unread argument is gone, the other stays
    assert 'loc("e0 sin"(' in stages.lowered.as_text(debug_info=True)
    assert "loc(\"tree['b']\")" in stages.lowered.as_text(debug_info=True)
    hlo = stages.lowered.as_text("hlo")
    assert "sine(" in hlo and "metadata" not in hlo
    assert 'op_name="e0 sin"' in stages.lowered.as_text("hlo", debug_info=True)
    assert stages.lowered.out_info == stages.traced.out_info
    with pytest.raises(ValueError, match="stablehlo"):
        stages.lowered.as_text("llvm")


def test_programs_that_run_say_nothing_of_files(stages):
    assert b".py" not in stages.lowered.bytecode()
    assert "source_file" not in stages.compiled.as_text() and ".py" not in stages.compiled.as_text()
    for dialect in ("stablehlo", "hlo"):
        assert "test_stages.py" in stages.lowered.as_text(dialect, debug_info=True)


def test_compiling_shows_optimised_hlo_costs_and_memory(stages):
    assert "fusion" in stages.compiled.as_text() and "is_scheduled=true" in stages.compiled.as_text()
    x = floats(32, 32)
    compiled = jx.jit(lambda x: matmul(x, x)).lower(x).compile()
    assert compiled.cost_analysis()["flops"] == 2 * 32**3
    memory = compiled.memory_analysis()
    assert memory["argument"] == memory["output"] == 4 * 32**2 and memory["peak"] >= 8 * 32**2
    assert jx.jit(lambda x: matmul(x, x)).lower(x).cost_analysis()["flops"] == 2 * 32**3
    donated = jx.jit(lambda x: add(x, 1.0), donate_argnums=0).lower(x)
    assert donated.compile().memory_analysis()["alias"] == 4 * 32**2
    assert "jax.buffer_donor" in donated.as_text()


def test_compiled_programs_run(stages):
    tree = {"a": X, "b": np.ones(2, np.int8)}
    for args in ((X, tree), (X, 2, tree)):
        out = stages.compiled(*args)
        np.testing.assert_allclose(out["out"], 2 * np.sin(X), rtol=1e-6)
    by_name = jx.jit(lambda a, b: add(a, b)).lower(X, b=X).compile()
    np.testing.assert_allclose(by_name(X, b=X), X * 2)
    for wrong in (lambda: by_name(X, X), lambda: by_name(b=X, a=X)):
        with pytest.raises(TypeError, match="structure"):
            wrong()
    assert stages.compiled.out_info == stages.traced.out_info


@pytest.mark.parametrize("args, kwargs, text", [
    ((X, 2), {}, "structure"),
    ((X, 3, {"a": X, "b": np.ones(2, np.int8)}), {}, "static"),
    ((X, {"a": X}), {}, "structure"),
    ((X, 2, {"a": X}), {}, "structure"),
    ((X[:2], {"a": X, "b": np.ones(2, np.int8)}), {}, r"compiled for x: f32\[3\]; it got f32\[2\]"),
    ((X, {"a": X, "b": np.ones(2, np.int32)}), {}, r"tree\['b'\]: i8\[2\]; it got i32\[2\]"),
    ((X, {"a": X, "b": "text"}), {}, "str"),
])  # fmt: skip
def test_compiled_programs_check_their_arguments(stages, args, kwargs, text):
    """Execution itself compares nothing but sizes in bytes."""
    with pytest.raises(TypeError, match=text):
        stages.compiled(*args, **kwargs)


def test_same_bytes_other_dtype_is_refused():
    compiled = jx.jit(lambda x: add(x, x)).lower(np.ones(4, np.float32)).compile()
    for wrong in (
        np.ones(4, np.int32),
        np.ones((2, 2), np.float32),
        np.ones(2, np.complex64),
        jx.random.split(jx.random.key(0)),
    ):
        with pytest.raises(TypeError, match=r"f32\[4\]"):
            compiled(wrong)


def test_compiled_programs_cannot_be_transformed(stages):
    compiled = jx.jit(lambda x: sin(x)).lower(1.0).compile()
    for use in (lambda: jx.jit(compiled)(1.0), lambda: jx.grad(compiled)(1.0), lambda: jx.vmap(compiled)(X)):
        with pytest.raises(TypeError, match="compiled"):
            use()


def test_stages_of_functions_that_capture_tracers():
    with pytest.raises(UnexpectedTracerError):
        jx.grad(lambda x: jx.jit(lambda y: mul(x, y)).lower(1.0).compile()(1.0))(2.0)


def test_calls_and_stages_share_programs():
    f = jx.jit(lambda x: mul(cos(x), 2.5))
    with steps() as seen:
        f(X)
        f.lower(X).compile()(X)
        f.trace(jx.ShapeDtypeStruct((3,), np.float32)).lower().compile()
    assert (seen["trace"], seen["compile"]) == (1, 1)


def test_recompiling_after_the_caches_were_cleared():
    lowered = jx.jit(lambda x: mul(cos(x), 3.5)).lower(X)
    first = lowered.compile()
    jx.clear_caches()
    np.testing.assert_array_equal(lowered.compile()(X), first(X))


# Positions ------------------------------------------------------------------------------------------------------------

CELL = """
def layer(x, w):
    y = matmul(x, w)
    return sin(add(y, 1.0))

inner = jit(layer)
small = jit(lambda v: mul(cos(v), v))

def model(x, w):
    for _ in range(9):
        x = add(x, 0.5)
    h = inner(x, w)
    a = mul(h, h)
    b = inner(a, w)
    c = small(b)
    return total(mul(c,
                     exp(c)))

def outer(x, w):
    g = grad(model)(x, w)
    v = vmap(lambda row: mul(sin(row), row))(g)
    return add(tanh(v), cos(g))
"""


def cell(text: str, filename: str):
    """Run a program text like a notebook cell."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    scope = {**vars(programs), "jit": jx.jit, "grad": jx.grad, "vmap": jx.vmap, "matmul": jx.numpy.matmul,
             "total": jx.numpy.sum}  # fmt: skip
    exec(compile(text, filename, "exec"), scope)
    return SimpleNamespace(**{k: v for k, v in scope.items() if not k.startswith("__")})


def text_at(position) -> str:
    """The source from the beginning to the end of a position, on one line."""
    lines = linecache.getlines(position["file"])[position["line"] - 1 : position["end_line"]]
    if len(lines) == 1:
        return lines[0][position["column"] : position["end_column"]]
    return " ".join([lines[0][position["column"]:].strip(), *[line.strip() for line in lines[1:-1]],
                     lines[-1][: position["end_column"]].strip()])  # fmt: skip


def test_equations_stand_where_their_calls_are():
    made = cell(CELL, "<positions 1>")
    jaxpr = jx.make_jaxpr(made.model)(floats(4, 3), floats(3, 3)).jaxpr
    positions = positions_of(jaxpr)
    for path, eqn in walk(jaxpr):
        written = text_at(positions[path])
        expected = {"jit": ("inner(", "small("), "dot_general": ("matmul(",), "reduce_sum": ("total(",)}.get(
            eqn.primitive.name, (f"{eqn.primitive.name}(",))  # fmt: skip
        assert written.startswith(expected), (path, written)
    assert positions["e9"]["function"] == "model" and text_at(positions["e9"]) == "inner(x, w)"
    assert positions["e9/e0"]["function"] == "layer" and positions["e9/e0"]["line"] == 3
    last = next(path for path, eqn in walk(jaxpr) if eqn.primitive.name == "reduce_sum")
    assert (
        text_at(positions[last]) == "total(mul(c, exp(c)))"
        and positions[last]["end_line"] == positions[last]["line"] + 1
    )


def instructions(compiled) -> list[tuple[str, tuple[str, ...]]]:
    """Opcode and paths of the instructions of the optimised program that come from equations."""
    text = hlo_module.text(hlo_module.optimized(compiled._program.executable), metadata=True)
    found = []
    for line in text.splitlines():
        name = re.search(r'op_name="([^"]*)"', line)
        code = re.search(r"= \S+ ([a-z\-]+)\(", line)
        if name and code and code.group(1) != "parameter" and paths_in(name.group(1)):
            found.append((code.group(1), paths_in(name.group(1))))
    return found


OPCODES = {"sine": "sin(", "cosine": "cos(", "tanh": "tanh(", "exponential": "exp(", "dot": "matmul("}


@pytest.mark.parametrize("name", ["model", "outer"])
def test_optimised_instructions_lead_back_to_their_lines(name):
    made = cell(CELL, f"<positions 2 {name}>")
    x, w = floats(4, 3), floats(3, 3)
    fun = getattr(made, name)
    compiled = jx.jit(fun).lower(x, w).compile()
    jaxpr = compiled._stage.jaxpr.jaxpr
    positions = positions_of(jaxpr)
    equations = dict(walk(jaxpr))
    found = instructions(compiled)
    assert len(found) > 10
    checked = 0
    for opcode, paths in found:
        for path in paths:
            assert path in equations and path in positions, (opcode, path)
        if opcode in OPCODES:
            texts = [text_at(positions[p]) for p in paths]
            primitives = {equations[p].primitive.name for p in paths}
            # A derivative's cosine stands at the sine it is the derivative of.
            assert any(OPCODES[opcode] in t for t in texts) or primitives & {"cos", "sin", "mul", "neg"}, (
                opcode,
                texts,
            )
            assert any(t.startswith(("sin(", "cos(", "tanh(", "exp(", "matmul(", "total(")) for t in texts), (
                opcode,
                texts,
            )
            checked += 1
    assert checked > 3


def test_equations_of_derivatives_stand_at_what_was_differentiated():
    made = cell(CELL, "<positions 3>")
    jaxpr = jx.make_jaxpr(jx.grad(made.model))(floats(4, 3), floats(3, 3)).jaxpr
    positions = positions_of(jaxpr)
    lines = {positions[path]["text"].strip() for path, eqn in walk(jaxpr) if eqn.primitive.name == "dot_general"}
    assert lines == {"y = matmul(x, w)"}
    assert all(p["file"] == "<positions 3>" for p in positions.values())


def test_names_of_called_equations_survive_inlining():
    """XLA's inliner does not prefix a callee's name that begins like the call's: e1 in e1, e10 in e1."""
    inner = jx.jit(lambda x: [x := (sin, cos)[i % 2](x) for i in range(12)][-1])

    def outer(x):
        x = mul(x, 2.0)
        x = inner(x)  # e1, which holds e0, e1, …, e10, e11
        return jx.jit(lambda y: mul(inner(y), tanh(y)))(x)  # e2 holds e0, which holds e0, …, and e1

    compiled = jx.jit(outer).lower(X).compile()
    jaxpr = compiled._stage.jaxpr.jaxpr
    expected = {path for path, eqn in walk(jaxpr) if eqn.primitive.name != "jit"}
    found = {path for _, paths in instructions(compiled) for path in paths}
    assert {"e0", "e1/e1", "e1/e10", "e1/e11", "e2/e0/e0", "e2/e0/e11", "e2/e1"} <= found <= expected


def test_arguments_called_like_paths_are_not_taken_for_equations():
    compiled = jx.jit(lambda e0, e1: mul(sin(e1), cos(e0))).lower(X, X).compile()
    assert {p for _, paths in instructions(compiled) for p in paths} <= {"e0", "e1", "e2"}


def test_a_program_does_not_change_when_the_code_above_it_does():
    args = floats(4, 3), floats(3, 3)
    jx.clear_caches()
    for number, above in enumerate(("", "# a comment\n\n\n", "z = 1\n" * 40)):
        made = cell(above + CELL, f"<moved {number}>")
        with steps() as seen:
            compiled = jx.jit(made.outer)
            compiled(*args)
        assert (seen["trace"] > 0, seen["compile"]) == (True, 1 if number == 0 else 0)
        jaxpr = compiled.trace(*args).jaxpr.jaxpr
        lines = {p["line"] - above.count("\n") for p in positions_of(jaxpr).values()}
        assert lines <= set(range(3, CELL.count("\n") + 1))
        assert {p["file"] for p in positions_of(jaxpr).values()} == {f"<moved {number}>"}


def test_positions_after_a_hit_are_those_of_the_new_code():
    one = cell("f = lambda x: sin(x)", "<hit 1>")
    other = cell("\n\n\nf = lambda x: (\n    sin(x))", "<hit 2>")
    jx.jit(one.f)(X)
    position = positions_of(jx.jit(other.f).trace(X).jaxpr.jaxpr)["e0"]
    assert (position["file"], position["line"], position["column"], position["text"]) == (
        "<hit 2>",
        5,
        4,
        "    sin(x))",
    )


def test_internal_frames_are_left_out():
    jaxpr = jx.make_jaxpr(lambda x: jx.numpy.mean(jx.numpy.where(x > 0, x, 0.0)) + jx.random.uniform(jx.random.key(0)))(
        X
    )
    positions = positions_of(jaxpr.jaxpr)
    assert {p["file"] for p in positions.values()} == {__file__} and len(positions) == len(list(walk(jaxpr.jaxpr)))
    assert not source.is_internal(__file__) and source.is_internal(source.__file__)
    assert source.is_internal(functools_file())


def functools_file() -> str:
    import functools

    return functools.__file__


def test_equal_jaxprs_share_one_function_in_the_module():
    inner = jx.jit(lambda x: sin(x))
    text = jx.jit(lambda x: add(inner(x), inner(cos(x)))).lower(X).as_text()
    assert text.count("func.func private") == 1 and text.count("call @") == 2
    twins = jx.jit(lambda x: add(jx.jit(lambda x: sin(x))(x), jx.jit(lambda x: cos(x))(x))).lower(X).as_text()
    assert twins.count("func.func private") == 2  # two functions of one name


def test_programs_with_odd_names_lower():
    def f(x):
        return total(x)

    for name in ("<lambda>", "a b", "ünï", "1st", "", "main", "x" * 500, 'a"b\\c\n'):
        f.__name__ = name
        fresh = jx.jit(lambda x, f=f: f(x))
        fresh._name = name
        assert float(jx.jit(f)(X)) == pytest.approx(float(X.sum()))
        assert float(compile_jaxpr(jx.make_jaxpr(f)(X)).run([jx.device_put(X).buf])[0]) == pytest.approx(float(X.sum()))
