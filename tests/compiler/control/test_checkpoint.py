"""checkpoint: what is kept, what is computed twice, and that the results stay the same."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.ad_checkpoint import (
    Offloadable,
    Recompute,
    Saveable,
    checkpoint_name,
    print_saved_residuals,
    saved_residuals,
)
from jitscope.core.jaxpr import walk
from tests.compiler.programs import steps
from tests.compiling import once


policies = jx.checkpoint_policies
XS = np.array([0.3, -0.7, 1.9], np.float32)


def operations(closed: Any) -> Counter[str]:
    """How often each operation stands in a program, at all levels."""
    return Counter(eqn.primitive.name for _, eqn in walk(closed.jaxpr))


# What is kept --------------------------------------------------------------------------------------------------------


def test_residuals_are_told_with_their_lines(capsys: pytest.CaptureFixture) -> None:
    def f(x, scale):
        y = checkpoint_name(jnp.sin(x["a"]), "y")
        return jnp.exp(y * 3.0) * scale

    print_saved_residuals(jx.checkpoint(f, policy=policies.save_only_these_names("y")), {"a": XS}, scale=2.0)
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["f32[3] from the argument x['a']", "f32[] from the argument scale"]
    assert re.fullmatch(
        r"f32\[3\] named 'y' from .*test_checkpoint\.py:\d+:\d+ \(test_[a-z_]*\.<locals>\.f\)", lines[2]
    )
    everything = saved_residuals(jx.jit(lambda x: jnp.exp(jnp.sin(x))), jx.ShapeDtypeStruct((3,), np.float32))
    assert all(where.startswith("output of jitted function '<lambda>'") for _, where in everything)
    constant = saved_residuals(lambda x: x * jnp.asarray(XS), XS)
    assert [where for _, where in constant] == ["from a constant"]


def test_what_is_saved_is_not_computed_twice() -> None:
    f = lambda x, w: jnp.sum(jnp.sin(checkpoint_name(jnp.sin(x @ w), "y")))
    w = np.ones((3, 3), np.float32)
    counts = {
        name: operations(jx.make_jaxpr(jx.grad(jx.checkpoint(f, policy=policy), 1))(XS, w))
        for name, policy in (("all", policies.everything_saveable), ("none", None), ("dots", policies.dots_saveable),
                             ("y", policies.save_only_these_names("y")))
    }  # fmt: skip
    sines, products = ({name: c[op] for name, c in counts.items()} for op in ("sin", "dot_general"))
    # Forward: two sines and one product; back: one product for w, and anew what was not saved.
    assert sines == {"all": 2, "none": 3, "dots": 3, "y": 2}
    assert products == {"all": 2, "none": 3, "dots": 2, "y": 3}


def test_policies_look_into_jitted_functions() -> None:
    inner = jx.jit(lambda x, w: jnp.sin(x @ w))
    f = jx.checkpoint(lambda x, w: jnp.sum(inner(jnp.sin(x), w)), policy=policies.dots_saveable)
    kept = [aval.shape for aval, _ in saved_residuals(f, XS, np.ones((3, 4), np.float32))]
    assert sorted(kept) == [(3,), (3, 4), (4,)]
    counts = operations(jx.make_jaxpr(jx.grad(f, 1))(XS, np.ones((3, 4), np.float32)))
    assert counts["dot_general"] == 2


@pytest.mark.parametrize(
    "policy", [policies.dots_saveable, policies.save_only_these_names("y"), None], ids=["dots", "names", "none"]
)
def test_policies_look_into_loops(policy: Any) -> None:
    def f(x, ws):
        layer = lambda x, w: (jnp.sin(checkpoint_name(jnp.sin(x @ w), "y")), jnp.cos(x))
        x, ys = lax.scan(layer, x, ws)
        return jnp.sum(jnp.sin(x)) + jnp.sum(ys)

    args = XS, np.full((4, 3, 3), 0.3, np.float32)
    g = jx.checkpoint(f, policy=policy)
    for wrap in (lambda f: f, jx.jit):
        for got, want in zip(wrap(jx.grad(g, (0, 1)))(*args), jx.grad(f, (0, 1))(*args)):
            np.testing.assert_allclose(got, want, 1e-5, 1e-6)
    slopes = [jx.grad(lambda x, h=h: jnp.sum(jx.grad(h)(x, args[1])))(XS) for h in (f, g)]
    np.testing.assert_allclose(*slopes, 1e-4, 1e-6)
    mapped = jx.vmap(jx.grad(g), (0, None))(np.stack([XS, 2 * XS]), args[1])
    np.testing.assert_allclose(mapped[1], jx.grad(f)(2 * XS, args[1]), 1e-4, 1e-6)
    counts = operations(jx.make_jaxpr(jx.grad(g))(*args))
    # Forward and back there is a product each; what is not saved is computed anew from a third.
    assert counts["dot_general"] == (2 if policy is policies.dots_saveable else 3)


BRANCHES = {
    "cond": lambda x, w: lax.cond(
        x.sum() > 0,
        lambda: jnp.sin(checkpoint_name(jnp.sin(x @ w), "a")),
        lambda: jnp.cos(checkpoint_name(jnp.tanh(x @ w), "b")),
    ),
    "switch": lambda x, w: lax.switch(
        jnp.int32(x.sum()), [lambda: jnp.sin(x @ w), lambda: x @ w, lambda: jnp.zeros((5, 4))]
    ),
    "cond in scan": lambda x, w: (
        lax.scan(lambda c, _: (lax.cond(c.sum() > 0, lambda: jnp.sin(c @ jnp.eye(3)), lambda: c), None), x, length=2)[0]
        @ w
    ),
}
SAVED = {  # beside the arguments, in JAX
    ("cond", None): [],
    ("cond", policies.dots_saveable): [(5, 4)],
    ("cond", policies.save_only_these_names("a")): [(5, 4)],
    ("cond", policies.save_only_these_names("c")): [],
    ("cond", policies.save_from_both_policies(policies.dots_saveable, policies.save_only_these_names("a"))): [(5, 4)]
    * 2,
    ("switch", policies.dots_with_no_batch_dims_saveable): [(5, 4)],
    ("cond in scan", policies.dots_saveable): [(2, 5, 3)],
    ("cond in scan", policies.save_only_these_names("a")): [],
}


@pytest.mark.parametrize("name, policy", SAVED)
def test_policies_look_into_branches(name: str, policy: Any) -> None:
    f = lambda x, w: jnp.sum(BRANCHES[name](x, w))
    g = jx.checkpoint(f, policy=policy)
    w = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    for sign in (1, -1):
        x = sign * np.linspace(-0.2, 1, 15, dtype=np.float32).reshape(5, 3)
        for wrap in (lambda f: f, jx.jit):
            for got, want in zip(wrap(jx.grad(g, (0, 1)))(x, w), jx.grad(f, (0, 1))(x, w)):
                np.testing.assert_allclose(got, want, 1e-5, 1e-6)
        kept = [aval.shape for aval, where in saved_residuals(g, x, w) if "argument" not in where]
        assert sorted(kept) == SAVED[name, policy]


def test_offloaded_values_are_saved() -> None:
    f = lambda x, w: jnp.sum(jnp.sin(checkpoint_name(jnp.sin(checkpoint_name(x @ w, "product")), "y")))
    w = np.linspace(-1, 1, 9, dtype=np.float32).reshape(3, 3)
    memories = {"offload_src": "device", "offload_dst": "pinned_host"}
    by_name = policies.save_and_offload_only_these_names
    for policy, count in (
        (policies.offload_dot_with_no_batch_dims(**memories), 1),
        (by_name(names_which_can_be_saved=["y"], names_which_can_be_offloaded=["product"], **memories), 2),
        (by_name(names_which_can_be_saved=[], names_which_can_be_offloaded=["y"], **memories), 1),
        (lambda *_, **__: Offloadable("device", "pinned_host"), 2),
        (lambda prim, *_, **__: Saveable if prim.name == "dot_general" else Recompute, 1),
    ):
        g = jx.checkpoint(f, policy=policy)
        np.testing.assert_allclose(once(jx.grad(g))(XS, w), jx.grad(f)(XS, w), 1e-6)
        assert len([1 for _, where in saved_residuals(g, XS, w) if "argument" not in where]) == count
    same = lambda: by_name(names_which_can_be_saved=["y"], names_which_can_be_offloaded=["z"], **memories)
    assert same() == same() and hash(same()) == hash(same())
    with pytest.raises(ValueError, match="'y' cannot be saved and offloaded"):
        by_name(names_which_can_be_saved=["y"], names_which_can_be_offloaded=["y"], **memories)
    with pytest.raises(ValueError, match="True or False"):
        both = policies.save_from_both_policies(
            policies.offload_dot_with_no_batch_dims("a", "b"), policies.dots_saveable
        )
        jx.grad(jx.checkpoint(f, policy=both))(XS, w)


def test_barriers_by_argument() -> None:
    for apart in (True, (True, False), (False, {"a": False})):
        g = jx.checkpoint(lambda x, p: jnp.sin(x) * p["a"], prevent_cse=apart)
        np.testing.assert_allclose(jx.grad(g)(0.5, {"a": 2.0}), 2 * np.cos(0.5), 1e-6)
    with pytest.raises(ValueError, match="prevent_cse must be a prefix"):
        jx.checkpoint(jnp.sin, prevent_cse=(True, False))(1.0)
    with pytest.raises(TypeError, match="prevent_cse must be True or False"):
        jx.checkpoint(jnp.sin, prevent_cse="yes")(1.0)


def test_a_program_that_keeps_less_needs_less_memory() -> None:
    def block(x, w):
        for _ in range(6):
            x = jnp.sin(x @ w)
        return x

    def chain(block):
        def f(x, w):
            for _ in range(6):
                x = block(x, w)
            return jnp.sum(x)

        return f

    x, w = np.ones((1000, 32), np.float32), np.full((32, 32), 0.1, np.float32)
    compiled = {
        name: jx.jit(jx.grad(chain(wrapped), (0, 1))).lower(x, w).compile()
        for name, wrapped in (("plain", block), ("checkpoint", jx.checkpoint(block)),
                              ("merged", jx.checkpoint(block, prevent_cse=False)))
    }  # fmt: skip
    memory = {name: c.memory_analysis().temp_size_in_bytes for name, c in compiled.items()}
    assert memory["checkpoint"] < 0.4 * memory["plain"]
    assert memory["merged"] > 0.9 * memory["plain"]  # the compiler sees through it
    found = [c(x, w) for c in compiled.values()]
    for other in found[1:]:
        for a, b in zip(found[0], other):
            np.testing.assert_allclose(a, b, 1e-5, 1e-4)


@pytest.mark.parametrize("dtype", [np.int32, np.bool_, np.float16, np.complex64, jnp.bfloat16, np.uint8])
def test_the_hidden_condition_holds_for_all_values(dtype: Any) -> None:
    """What the compiler may not see through is made of an operand's bits; the branch must be taken whatever they are."""

    @jx.checkpoint
    def f(first, x):
        odd = jnp.isnan(jnp.abs(first).astype(np.float32))
        return jnp.sin(jnp.sin(x)) * (1.0 + 0.0 * jnp.sum(odd))

    (eqn,) = [e for e in jx.make_jaxpr(jx.grad(f, 1))(jnp.zeros(2, dtype), 2.0).eqns if e.params.get("differentiated")]
    assert eqn.invars[0].aval.dtype == dtype
    for value in (0, 1, -1, np.inf, -np.inf, np.nan):
        if np.dtype(dtype).kind in "iub" and not np.isfinite(value):
            continue
        with np.errstate(all="ignore"):
            first = np.asarray([value] * 2).astype(dtype)
        np.testing.assert_allclose(jx.jit(jx.grad(f, 1))(first, 2.0), np.cos(np.sin(2.0)) * np.cos(2.0), 1e-5)


def test_operands_without_elements() -> None:
    f = jx.checkpoint(lambda e, x: (jnp.sin(e), jnp.sin(jnp.sin(x))))
    back = jx.jit(lambda e, x, ct: jx.vjp(f, e, x)[1](ct))
    found = back(np.zeros((0, 2), np.float32), XS, (np.zeros((0, 2), np.float32), np.ones(3, np.float32)))
    assert found[0].shape == (0, 2)
    np.testing.assert_allclose(found[1], np.cos(np.sin(XS)) * np.cos(XS), 1e-5)
    empty = jx.jit(jx.grad(lambda e: jnp.sum(jx.checkpoint(jnp.sin)(e))))(np.zeros((0,), np.float32))
    assert empty.shape == (0,)


# How it is written and traced ----------------------------------------------------------------------------------------


def test_it_prints_as_one_equation() -> None:
    text = str(jx.make_jaxpr(jx.checkpoint(jnp.sin))(1.0))
    assert "= remat2[" in text and "differentiated=False" in text and "policy=None" in text
    named = jx.checkpoint(jnp.sin, policy=policies.save_only_these_names("b", "a"), prevent_cse=False)
    text = str(jx.make_jaxpr(jx.grad(lambda x: named(named(x))))(1.0))
    assert "differentiated=True" in text and "save_only_these_names('a', 'b')" in text and "prevent_cse=False" in text


def test_a_decorator_with_and_without_arguments() -> None:
    @jx.checkpoint
    def f(x):
        """Doc."""
        return x * 2

    @jx.remat(policy=policies.dots_saveable, static_argnames="double")
    def g(x, double=False):
        return x * (4 if double else 2)

    assert (f.__name__, f.__doc__) == ("f", "Doc.")
    assert (float(f(3.0)), float(g(3.0)), float(g(3.0, double=True)), float(jx.grad(g)(3.0, True))) == (6, 6, 12, 4)


def test_static_arguments_may_be_anything() -> None:
    f = jx.checkpoint(lambda x, options: x * options["scale"], static_argnums=1)
    assert float(f(3.0, {"scale": 2})) == 6  # a dict cannot be hashed
    assert float(f(3.0, {"scale": 4})) == 12
    g = jx.checkpoint(lambda f, x: f(x), static_argnums=(0,))
    assert float(jx.grad(lambda x: g(jnp.sin, x))(0.0)) == 1.0
    with pytest.raises(ValueError, match="there is no argument 3"):
        jx.checkpoint(lambda x: x, static_argnums=3)


def test_it_is_traced_once_for_each_kind_of_argument() -> None:
    traced = []

    def f(x):
        traced.append(x.shape)
        return jnp.sin(x)

    for _ in range(3):
        jx.checkpoint(f)(1.0)
        jx.grad(lambda x: jx.checkpoint(f)(x))(2.0)
    assert traced == [()]
    jx.checkpoint(f)(XS)
    assert traced == [(), (3,)]


def test_fresh_policies_and_functions_compile_nothing_new() -> None:
    def run(scale):
        f = jx.checkpoint(lambda x: jnp.sin(jnp.sin(x) * 1.5), policy=lambda *_, **__: False)
        return jx.jit(jx.grad(lambda x: f(x) * scale))(0.3)

    run(2.0)
    with steps() as found:
        run(2.0)
    assert found["compile"] == 0


def test_captured_values_are_differentiated() -> None:
    slope = jx.grad(lambda w: jx.checkpoint(lambda x: jnp.sin(x * w))(2.0))
    for wrapped in (slope, jx.jit(slope)):
        np.testing.assert_allclose(wrapped(3.0), 2 * np.cos(6.0), 1e-5)
    mapped = jx.vmap(lambda w: jx.checkpoint(lambda x: jnp.sin(x * w))(2.0))
    np.testing.assert_allclose(mapped(XS), np.sin(2 * XS), 1e-5)


def test_named_axes() -> None:
    f = jx.checkpoint(lambda x: lax.psum(jnp.sin(x), "i") * x)
    found = jx.grad(lambda xs: jnp.sum(jx.vmap(f, axis_name="i")(xs)))(XS)
    np.testing.assert_allclose(found, np.sin(XS).sum() + np.cos(XS) * XS.sum(), 1e-5)


def test_finite_differences_to_second_order() -> None:
    with jx.enable_x64():
        f = lambda x: float(np.sum(np.sin(np.exp(np.sin(x)) * x)))
        g = jx.checkpoint(lambda x: jnp.sum(jnp.sin(jnp.exp(jnp.sin(x)) * x)), policy=policies.dots_saveable)
        x, h = np.array([0.3, -0.7]), 1e-4
        unit = np.eye(2) * h
        gradient = [(f(x + e) - f(x - e)) / (2 * h) for e in unit]
        np.testing.assert_allclose(jx.grad(g)(x), gradient, 1e-6)
        bends = [
            [(f(x + a + b) - f(x + a - b) - f(x - a + b) + f(x - a - b)) / (4 * h * h) for a in unit] for b in unit
        ]
        for second in (jx.hessian(g), jx.jacrev(jx.jacrev(g)), jx.jacfwd(jx.jacfwd(g))):
            np.testing.assert_allclose(second(x), bends, 1e-5, 1e-6)


# What goes wrong -----------------------------------------------------------------------------------------------------


def test_wrong_calls_are_explained() -> None:
    with pytest.raises(TypeError, match="takes a function"):
        jx.checkpoint(3)
    with pytest.raises(TypeError, match="prevent_cse must be True or False"):
        jx.checkpoint(jnp.sin, prevent_cse=1)
    with pytest.raises(TypeError, match="something that is not an array"):
        jx.checkpoint(lambda x: x)("text")
    with pytest.raises(TypeError, match=r"returned, at result\['a'\], something that is not an array"):
        jx.checkpoint(lambda x: {"a": "text"})(1.0)
    with pytest.raises(TypeError, match="takes a string"):
        checkpoint_name(1.0, 3)


def test_python_that_needs_values_is_pointed_to_static_arguments() -> None:
    with pytest.raises(jx.errors.ConcretizationTypeError) as caught:
        jx.checkpoint(lambda x, flag: x if flag else -x)(1.0, True)
    assert any("static_argnums" in note for note in caught.value.__notes__)


def test_policies_that_give_no_answer() -> None:
    with pytest.raises(TypeError, match="must return True"):
        jx.grad(jx.checkpoint(jnp.sin, policy=lambda *_, **__: None))(1.0)
    with pytest.raises(ValueError, match="True or False"):
        jx.grad(
            jx.checkpoint(jnp.sin, policy=policies.save_from_both_policies(lambda *_, **__: 1, lambda *_, **__: 0))
        )(1.0)
    with pytest.raises(TypeError, match="separate strings"):
        policies.save_only_these_names(["a", "b"])


def test_equal_policies_are_equal() -> None:
    assert policies.save_only_these_names("a", "b") == policies.save_only_these_names("b", "a")
    assert policies.save_only_these_names("a") != policies.save_any_names_but_these("a")
    either = policies.save_from_both_policies(policies.dots_saveable, policies.save_only_these_names("a"))
    assert either == policies.save_from_both_policies(policies.dots_saveable, policies.save_only_these_names("a"))
    assert repr(either) == "save_from_both_policies(dots_saveable, save_only_these_names('a'))"
