"""The language of programs under JAX's names: `core`, `extend.core`, `extend.linear_util`, `api_util`, `partial_eval`,
`test_util`."""

import importlib

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import api_util, core, lax
from jitscope.extend import core as extend_core, linear_util as lu
from jitscope.interpreters import mlir, partial_eval as pe
from jitscope.test_util import check_grads


def test_avals_from_any_spelling_of_shape_and_dtype():
    aval = core.ShapedArray([2, 3], jnp.float32)
    assert aval is core.ShapedArray((2, 3), np.dtype("float32")) and isinstance(aval, core.AbstractValue)
    assert core.ShapedArray((2, 3), "float32") is aval and aval.str_short() == "float32[2,3]"
    assert core.ShapedArray((), jnp.int32).to_tangent_aval().dtype == jx.float0
    assert extend_core.mapped_aval(2, 0, aval).shape == (3,) and extend_core.unmapped_aval(5, 1, aval).shape == (
        2,
        5,
        3,
    )


def test_which_transformation_is_at_work():
    state = extend_core.get_opaque_trace_state()
    seen = []

    def f(x):
        seen.append(extend_core.get_opaque_trace_state(convention="flax"))
        seen.append(
            (extend_core.unsafe_am_i_under_a_jit_DO_NOT_USE(), extend_core.unsafe_am_i_under_a_vmap_DO_NOT_USE())
        )
        assert isinstance(x, core.Tracer) and not isinstance(1.0, core.Tracer)
        return x

    jx.jit(f)(1.0)
    jx.vmap(f)(jnp.ones(2))
    assert state == extend_core.get_opaque_trace_state() and state != seen[0] != seen[2]
    assert (seen[1], seen[3]) == ((True, False), (False, True))


def test_jaxprs_have_jaxs_names():
    closed = jx.make_jaxpr(lambda x: jx.jit(lambda y: y * 2.0)(x))(1.0)
    (eqn,) = closed.eqns
    (inner,) = extend_core.jaxprs_in_params(eqn.params)
    assert isinstance(inner, extend_core.Jaxpr) and [*extend_core.subjaxprs(closed.jaxpr)] == [inner]
    (mul,) = inner.eqns
    assert isinstance(mul.invars[1], extend_core.Literal) and mul.invars[1].val == 2.0
    twice = extend_core.new_jaxpr_eqn(mul.invars, mul.outvars, lax.add_p, {}, extend_core.no_effects)
    other = closed.replace(jaxpr=inner.replace(eqns=[twice]))
    assert core.eval_jaxpr(other.jaxpr, other.consts, 5.0) == [7.0]
    for part in (closed, inner, mul):
        with pytest.raises(TypeError, match="unknown"):
            part.replace(unknown=1)
    assert extend_core.valid_jaxtype(1.0) and not extend_core.valid_jaxtype("x")
    with pytest.raises(jx.errors.ConcretizationTypeError):
        jx.jit(lambda x: extend_core.concrete_or_error(int, x))(1)


def test_what_is_known_while_tracing():
    """As JAX 0.10 answers `jax.core.is_concrete`: derivatives outside of jit have values, what vmap maps has none."""
    assert all(map(core.is_concrete, (jnp.ones(3), 3.0, "x", np.ones(2))))
    seen = []
    look = lambda x: seen.append(core.is_concrete(x)) or x
    jx.jit(look)(1.0), jx.grad(look)(1.0), jx.vmap(look)(jnp.ones(3)), jx.jit(jx.grad(look))(1.0)
    assert seen == [False, True, False, False]


def test_flat_functions():
    tree = {"a": 1.0, "b": (2.0, 3.0)}
    flat, treedef = jx.tree.flatten(((tree,), {}))
    info = api_util.debug_info("test", lambda t: t, (tree,), {})
    fun, out_tree = api_util.flatten_fun(lu.wrap_init(lambda t: {"s": t["a"] + t["b"][1]}, debug_info=info), treedef)
    with pytest.raises(lu.StoreException):
        out_tree()
    assert fun.call_wrapped(*flat) == [4.0] and out_tree() == jx.tree.structure({"s": 0})
    fixed, rest = api_util.argnums_partial(lu.wrap_init(lambda x, y, z: x + 10 * y + 100 * z), (0, 2), (1, 2, 3))
    assert rest == (1, 3) and fixed.call_wrapped(*rest) == 321

    whole = jx.tree.structure(((1, {"a": 2, "b": (3, 4)}), {"k": 5, "j": (6,)}))  # what jax 0.12.0.1 answers:
    assert api_util.donation_vector((1,), ("k",), whole) == (False, True, True, True, False, True)
    assert api_util.flatten_axes("axes", jx.tree.structure((1, (2, 3))), (0, None)) == [0, None, None]
    with pytest.raises(ValueError, match="axes"):
        api_util.flatten_axes("axes", jx.tree.structure((1, (2, 3))), (0,))
    assert api_util.rebase_donate_argnums((5, 2), (3, 1)) == (1, 3)
    with pytest.raises(ValueError, match="donated"):
        api_util.rebase_donate_argnums((1,), (1,))

    @lu.transformation_with_aux
    def counted(scale, *args):
        out = yield tuple(scale * x for x in args), {}
        yield out, len(args)

    wrapped, count = counted(
        lu.wrap_init(lambda x, y: x - y),
    )
    assert wrapped.call_wrapped(2, 5, 3) == 4 and count() == 2


def test_rules_are_for_platforms_that_there_are():
    with pytest.raises(NotImplementedError, match="fake"):
        mlir.register_lowering(extend_core.Primitive("unnamed"), lambda ctx, x: x, platform="fake")


def test_partial_values():
    aval = core.ShapedArray((3,), jnp.float32)
    fun = lu.wrap_init(lambda known, unknown: [jnp.sin(known), known + unknown], debug_info=None)
    jaxpr, out, residuals = pe.trace_to_jaxpr_nounits(
        fun, [pe.PartialVal.known(jnp.ones(3)), pe.PartialVal.unknown(aval)]
    )
    assert out[0].is_known() and out[1] == (aval, None)
    np.testing.assert_allclose(out[0].get_known(), np.sin(np.ones(3)), rtol=1e-6)
    assert jaxpr.constvars == [] and len(jaxpr.eqns) == 1
    assert core.eval_jaxpr(jaxpr, [], *residuals, jnp.full(3, 4.0))[0].tolist() == [5.0, 5.0, 5.0]


def test_check_grads_finds_wrong_rules():
    check_grads(lambda x, y: {"a": jnp.sin(x) * y, "b": (x**2).sum()}, (np.arange(3.0, dtype=np.float32), np.float32(2)), 2,
                modes=("fwd", "rev", "lin"))  # fmt: skip
    check_grads(lambda z: jnp.exp(z) * jnp.conj(z), (np.complex64(1 + 0.3j),), 2)

    @jx.custom_jvp
    def wrong(x):
        return x**2

    wrong.defjvp(lambda primals, tangents: (primals[0] ** 2, 3 * tangents[0] * primals[0]))
    for mode in ("fwd", "rev", "lin"):
        with pytest.raises(AssertionError):
            check_grads(wrong, (1.5,), 1, modes=(mode,))
    with pytest.raises(ValueError, match="sideways"):
        check_grads(wrong, (1.5,), 1, modes=("sideways",))


def test_check_grads_with_a_tolerance_for_each_dtype() -> None:
    x = np.linspace(0.5, 2, 6, dtype=np.float32)

    @jx.custom_jvp
    def nearly(x):
        return x**2

    nearly.defjvp(lambda primals, tangents: (primals[0] ** 2, 2.1 * tangents[0] * primals[0]))
    check_grads(nearly, (x,), 1, atol={np.float32: 0.1}, rtol={np.float32: 0.1})
    check_grads(nearly, (x,), 1, atol={np.float32: 0.1, np.float64: 1e-9}, rtol=0.1)
    for tolerance in ({np.float32: 1e-3}, {np.float64: 0.1}, None):
        with pytest.raises(AssertionError):
            check_grads(nearly, (x,), 1, atol=tolerance, rtol=tolerance)
    for dtype in (jnp.bfloat16, np.float16):
        check_grads(lambda x: jnp.broadcast_to(3 * x, (2, 6)), (x.astype(dtype),), 2, eps=1.0)


def test_an_interpreter_of_jaxprs_binds_every_equation() -> None:
    def f(x):
        y = jx.jit(jnp.sin)(x) * 2.0
        z = lax.cond(y.sum() > 0, jnp.exp, jnp.cos, y)
        return lax.scan(lambda c, a: (c + a, jx.nn.relu(c)), 0.0, z)

    closed = jx.make_jaxpr(f)(jnp.arange(3.0))

    def interpret(*args):
        env = dict(zip(closed.jaxpr.invars, args)) | dict(zip(closed.jaxpr.constvars, closed.consts))
        for eqn in closed.jaxpr.eqns:
            params = eqn.primitive.get_bind_params(eqn.params)
            given = [x.val if isinstance(x, extend_core.Literal) else env[x] for x in eqn.invars]
            outs = eqn.primitive.bind(*given, **params)
            env |= zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs])
        return [env[v] for v in closed.jaxpr.outvars]

    for run in (interpret, jx.jit(interpret)):
        for got, expected in zip(run(jnp.arange(3.0)), f(jnp.arange(3.0))):
            np.testing.assert_allclose(got, expected, rtol=1e-6)


def test_an_operation_is_evaluated_where_something_is_traced() -> None:
    from jitscope.interpreters import xla

    assert jx.jit(lambda x: x * int(xla.apply_primitive(lax.add_p, 2, 3)))(2.0) == 10


def test_interpreters_find_safe_map_where_jaxs_page_takes_it() -> None:
    from jitscope._src.util import safe_map

    env: dict[str, int] = {}
    safe_map(env.__setitem__, ["a", "b"], [1, 2])
    assert safe_map(env.__getitem__, "ab") == [1, 2]
    with pytest.raises(ValueError):
        safe_map(max, [1, 2], [3])


def test_the_page_about_primitives_finds_operations_and_transformations() -> None:
    from jitscope._src import api
    from jitscope._src.lax import lax as operations

    assert operations is lax and importlib.import_module("jitscope._src.lax.lax") is lax
    assert api.grad(lambda a, b: operations.add(operations.mul(a, a), b))(2.0, 10.0) == 4
    assert (api.jit, api.vmap, api.jvp) == (jx.jit, jx.vmap, jx.jvp)


def test_programs_without_what_nobody_reads() -> None:
    def f(x, y, z):
        return jnp.sin(x), y * 2.0, jnp.cos(z)

    closed = jx.make_jaxpr(f)(1.0, 2.0, 3.0)
    less, used = pe.dce_jaxpr(closed.jaxpr, [True, False, False])
    assert used == [True, False, False] and [e.primitive.name for e in less.eqns] == ["sin"]
    np.testing.assert_allclose(core.eval_jaxpr(less, closed.consts, 1.0), [np.sin(1.0)], rtol=1e-6)
    less, used = pe.dce_jaxpr(closed.jaxpr, [False, True, False], instantiate=[False, False, True])
    assert used == [False, True, True] and len(less.invars) == 2
    assert core.eval_jaxpr(less, closed.consts, 2.0, 3.0) == [4.0]
    assert pe.dce_jaxpr(closed.jaxpr, True)[1] == [True] * 3


def test_a_program_keeps_its_values_when_parts_of_it_go() -> None:
    held = np.arange(3.0, dtype=np.float32)
    whole = jx.make_jaxpr(lambda x, y: (jnp.sin(x) * held, jnp.cos(y)))(1.0, 2.0)
    less, used = pe.dce_jaxpr(whole, [True, False])
    assert used == [True, False]
    np.testing.assert_allclose(core.eval_jaxpr(less, less.consts, 3.0)[0], np.sin(3.0) * held, rtol=1e-6)
    with pytest.raises(TypeError):
        whole.replace(outvar=[])


def test_what_somebody_sees_stays() -> None:
    seen = []
    closed = jx.make_jaxpr(lambda x: (jx.debug.callback(seen.append, x), x + 1)[1])(1.0)
    less, used = pe.dce_jaxpr(closed.jaxpr, False)
    core.eval_jaxpr(less, closed.consts, 5.0)
    jx.effects_barrier()
    assert used == [True] and seen == [5.0]
