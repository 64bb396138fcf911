"""Operations made and given their rules one by one, as libraries written for JAX do: `core.Primitive` and the tables of
`interpreters`. What they compute is compared with NumPy."""

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.extend import core as extend_core
from jitscope.extend.core import primitives
from jitscope.interpreters import ad, batching, mlir


X = np.array([0.5, 1.5, -2.0], np.float32)


def cube_with_rules():
    """x ** 3, all rules given."""
    p = extend_core.Primitive("cube")
    p.def_impl(lambda x: np.asarray(x) ** 3)
    p.def_abstract_eval(lambda x: jx.core.ShapedArray(x.shape, x.dtype))
    mlir.register_lowering(p, mlir.lower_fun(lambda x: x * x * x, multiple_results=False))
    ad.defjvp(p, lambda t, x: 3 * x * x * t)
    batching.defvectorized(p)
    return p


def test_an_operation_with_rules_given_one_by_one():
    p = cube_with_rules()
    assert type(p.bind(X)) is np.ndarray  # the function given to def_impl ran, nothing was compiled
    np.testing.assert_allclose(p.bind(X), X**3)
    np.testing.assert_allclose(jx.jit(p.bind)(X), X**3)
    np.testing.assert_allclose(jx.grad(lambda x: p.bind(x).sum())(X), 3 * X**2)
    np.testing.assert_allclose(jx.jit(jx.vmap(jx.grad(p.bind)))(X), 3 * X**2)
    np.testing.assert_allclose(jx.vmap(jx.hessian(p.bind))(X), 6 * X, rtol=1e-6)
    assert [eqn.primitive for eqn in jx.make_jaxpr(p.bind)(X).eqns] == [p]


def test_an_operation_with_several_results_and_parameters():
    p = extend_core.Primitive("split_at")
    p.multiple_results = True
    p.def_impl(lambda x, *, at: [x[:at], x[at:]])
    p.def_abstract_eval(lambda x, *, at: [x.update(shape=(at,)), x.update(shape=(x.shape[0] - at,))])
    mlir.register_lowering(p, mlir.lower_fun(lambda x, *, at: [x[:at], x[at:]]))
    ad.deflinear2(p, lambda cts, x, *, at: [jnp.concatenate([ad.instantiate_zeros(ct) for ct in cts])])
    batching.primitive_batchers[p] = lambda args, dims, *, at: (
        jx.vmap(lambda x: [x[:at], x[at:]], in_axes=dims[0])(args[0]),
        [0, 0],
    )
    first, second = jx.jit(lambda x: p.bind(x, at=1))(X)
    assert first.tolist() == [0.5] and second.tolist() == [1.5, -2.0]
    gradient = jx.grad(lambda x: (p.bind(x, at=1)[1] ** 2).sum())(X)
    assert gradient.tolist() == [0.0, 3.0, -4.0]
    rows = np.stack([X, 10 * X], axis=1)
    found = jx.jit(jx.vmap(lambda x: p.bind(x, at=2), in_axes=1))(rows)
    np.testing.assert_array_equal(found[0], rows.T[:, :2])
    np.testing.assert_array_equal(found[1], rows.T[:, 2:])


def test_a_lowering_rule_that_builds_operations():
    from jaxlib.mlir.dialects import stablehlo as hlo

    p = extend_core.Primitive("twice_plus_one")
    p.def_abstract_eval(lambda x: x)

    def lower(ctx, x):
        assert ctx.avals_in[0].shape == (3,) and ctx.avals_out[0].dtype == np.float32
        one = hlo.broadcast_in_dim(
            mlir.aval_to_ir_type(ctx.module_context, ctx.avals_out[0]),
            mlir.ir_constant(np.float32(1)),
            mlir.dense_int_array([]),
        )
        return hlo.AddOp(hlo.add(x, x), one).results

    mlir.register_lowering(p, lower, platform="cpu")
    np.testing.assert_allclose(jx.jit(p.bind)(X), 2 * X + 1)
    np.testing.assert_allclose(p.bind(jnp.asarray(X)), 2 * X + 1)  # without def_impl it is compiled by itself


def test_bilinear_and_reducing_operations():
    p = extend_core.Primitive("dot3")
    p.def_abstract_eval(lambda x, y: x.update(shape=()))
    mlir.register_lowering(p, mlir.lower_fun(lambda x, y: (x * y).sum(), multiple_results=False))
    ad.defbilinear(p, lambda ct, x, y: ct * y, lambda ct, x, y: ct * x)
    np.testing.assert_allclose(jx.grad(p.bind)(X, 2 * X), 2 * X)
    np.testing.assert_allclose(jx.jacrev(jx.grad(p.bind, 1))(X, X), np.eye(3))

    r = extend_core.Primitive("total")
    r.def_abstract_eval(lambda x, *, axes: x.update(shape=tuple(n for i, n in enumerate(x.shape) if i not in axes)))
    mlir.register_lowering(r, mlir.lower_fun(lambda x, *, axes: x.sum(axes), multiple_results=False))
    batching.defreducer(r)
    x = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    for dim in range(3):
        found = jx.vmap(lambda x: r.bind(x, axes=(1,)), in_axes=dim)(x)
        np.testing.assert_allclose(found, np.moveaxis(x, dim, 0).sum(2))


def test_batch_rules_that_ask_for_the_axis():
    p = extend_core.Primitive("times_size")
    p.def_abstract_eval(lambda x: x)
    mlir.register_lowering(p, mlir.lower_fun(lambda x: x, multiple_results=False))
    seen = []

    def rule(size, name, _, args, dims):
        seen.append((size, name))
        return args[0] * size, dims[0]

    batching.axis_primitive_batchers[p] = rule
    assert jx.vmap(p.bind, axis_name="i")(X).tolist() == (3 * X).tolist()
    batching.fancy_primitive_batchers[p] = lambda axis, args, dims: (args[0] + axis.size, dims[0])
    assert jx.vmap(p.bind)(X).tolist() == (3 + X).tolist()
    assert seen == [(3, "i")]


def test_tables_show_the_rules_of_every_operation():
    sin_p, neg_p = primitives.sin_p, lax.neg_p
    assert sin_p in ad.primitive_jvps and sin_p not in ad.primitive_transposes and neg_p in ad.primitive_transposes
    primal, tangent = ad.primitive_jvps[sin_p]((jnp.float32(0.0),), (jnp.float32(2.0),))
    assert (float(primal), float(tangent)) == (0.0, 2.0)
    out, dim = batching.primitive_batchers[sin_p]((jnp.zeros((2, 3)),), (1,))
    assert out.shape == (2, 3) and dim == 1
    with pytest.raises(KeyError):
        ad.primitive_transposes[sin_p]
    with pytest.raises(NotImplementedError, match="transpose"):
        ad.get_primitive_transpose(sin_p)


def test_a_rule_put_in_place_of_another_and_taken_back():
    f = jx.jit(jx.grad(lambda x: lax.sin(x)))
    assert float(f(0.0)) == 1.0
    ad.primitive_jvps[primitives.sin_p] = lambda primals, tangents, **params: (primals[0], 5 * tangents[0])
    try:
        assert float(f(0.0)) == 5.0
    finally:
        del ad.primitive_jvps[primitives.sin_p]
    assert float(f(0.0)) == 1.0


def test_rules_of_the_library_give_zeros_which_are_trees_here():
    np.testing.assert_array_equal(jx.grad(lambda x: jnp.frexp(x)[0].sum())(jnp.array([1.5, 3.0])), [0.5, 0.25])
    draws = jx.jvp(lambda a: jx.random.gamma(jx.random.key(0), a), (jnp.float32(2.0),), (jnp.float32(1.0),))
    assert np.isfinite(draws).all() and draws[1] > 0


def test_zeros_and_linear_operands_pass_through_trees():
    aval = jx.core.ShapedArray((2,), jnp.float32)
    leaves, treedef = jx.tree.flatten({"a": ad.Zero(aval), "b": 1.0, "c": ad.UndefinedPrimal(aval)})
    assert leaves == [1.0]
    again = treedef.unflatten([2.0])
    assert again["a"].aval is aval and ad.is_undefined_primal(again["c"])


def test_effects_keep_an_equation_and_missing_rules_are_named():
    p = extend_core.Primitive("noted")
    noted = extend_core.Effect()
    p.def_effectful_abstract_eval(lambda x: (x, {noted}))
    jaxpr = jx.make_jaxpr(lambda x: (p.bind(x), x)[1])(X)
    assert jaxpr.effects == {noted} and len(jaxpr.eqns) == 1
    with pytest.raises(NotImplementedError, match="'noted' has no jvp rule"):
        jx.grad(p.bind)(1.0)


def test_impl_may_take_parameters_without_a_hash():
    p = extend_core.Primitive("with_list")
    p.def_impl(lambda x, *, numbers: x + sum(numbers))
    assert p.bind(jnp.float32(1), numbers=[1, 2]).item() == 4


@pytest.mark.parametrize("name", [n for n in dir(primitives) if n.endswith("_p")])
def test_operations_are_found_by_name(name):
    assert isinstance(getattr(primitives, name), extend_core.Primitive)
