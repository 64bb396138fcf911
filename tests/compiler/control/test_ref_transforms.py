"""Mutable arrays under transformations. Oracles: the same function without references, derivatives by hand, and what JAX 0.10.2
does where it can."""

import numpy as np
import pytest
from _pytest.mark import ParameterSet

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import ad, lax
from tests.extent import full


# References made inside: the function is pure ---------------------------------------------------------------------------


def with_ref(x):
    ref = jx.new_ref(x)
    ref[...] = ref[...] * jnp.sin(x)
    ref[0] += x[1]
    return ref[...].sum() * ref[1]


def without_ref(x):
    y = x * jnp.sin(x)
    y = y.at[0].add(x[1])
    return y.sum() * y[1]


def loop_with_ref(x):
    ref, rows = jx.new_ref(x), jx.new_ref(jnp.zeros((3, 2)))

    def body(c, i):
        ref[...] = jnp.sin(ref[...]) * c[0]
        rows[i] = ref[...] * x
        return c + i * x, ref[1]

    c, ys = lax.scan(body, x, jnp.arange(3))
    return (rows[...] ** 2).sum() + ys.sum() + c[1] * ref[0]


def loop_without_ref(x):
    value, rows, ys, c = x, [], [], x
    for i in range(3):
        value = jnp.sin(value) * c[0]
        rows.append(value * x)
        c = c + i * x
        ys.append(value[1])
    return (jnp.stack(rows) ** 2).sum() + jnp.stack(ys).sum() + c[1] * value[0]


def choice_with_ref(x):
    ref = jx.new_ref(x)
    lax.cond(x[0] > 0, lambda: ref.__setitem__(0, x[1] ** 2), lambda: ref.addupdate(x[0] * x[1], 1))
    lax.fori_loop(0, 2, lambda i, _: ref.__setitem__(i, ref[1 - i] * ref[i]), None)
    return ref[0] + 3 * ref[1]


def choice_without_ref(x):
    a, b = jnp.where(x[0] > 0, x[1] ** 2, x[0]), jnp.where(x[0] > 0, x[1], x[1] + x[0] * x[1])
    a = b * a
    return a + 3 * (a * b)


PAIRS = [(with_ref, without_ref), (loop_with_ref, loop_without_ref), (choice_with_ref, choice_without_ref)]
X = np.array([0.7, -1.3], np.float32)
TRANSFORMS = {
    "call": lambda f: f,
    "jit": jx.jit,
    "grad": jx.grad,
    "jit of grad": lambda f: jx.jit(jx.grad(f)),
    "grad of jit": lambda f: jx.grad(jx.jit(f)),
    "jacfwd": jx.jacfwd,
    "hessian": jx.hessian,
    "grad of grad": lambda f: jx.grad(lambda x: jx.grad(f)(x)[0]),
    "vmap": lambda f: lambda x: jx.vmap(f)(jnp.stack([x, 2 * x, -x])),
    "vmap of grad": lambda f: lambda x: jx.vmap(jx.grad(f))(jnp.stack([x, 2 * x, -x])),
    "grad of vmap": lambda f: jx.grad(lambda x: jx.vmap(f)(jnp.stack([x, 2 * x, -x])).sum()),
    "vmap of jit": lambda f: lambda x: jx.vmap(jx.jit(f))(jnp.stack([x, 2 * x, -x])),
    "jvp": lambda f: lambda x: jx.jvp(f, (x,), (jnp.ones(2),)),
    "linearize": lambda f: lambda x: jx.linearize(f, x)[1](jnp.ones(2)),
    "checkpoint": lambda f: jx.grad(jx.checkpoint(f)),
    "in a loop": lambda f: lambda x: lax.map(f, jnp.stack([x, -x])),
    "grad in a loop": lambda f: jx.jit(lambda x: lax.map(jx.grad(f), jnp.stack([x, -x]))),
}


def transformed() -> list[ParameterSet]:
    """Each transformation with each pair; at `make test` with one of the three, in turn."""
    return [
        pytest.param(pair, name, id=f"{pair[0].__name__}-{name}", marks=() if (i + j) % len(PAIRS) == 0 else full)
        for i, pair in enumerate(PAIRS)
        for j, name in enumerate(TRANSFORMS)
    ]


@pytest.mark.parametrize(("pair", "transform"), transformed())
def test_references_of_its_own_change_no_transformation(pair, transform):
    f, plain = map(TRANSFORMS[transform], pair)
    for a, b in zip(jx.tree.leaves(f(X)), jx.tree.leaves(plain(X)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


# References that carry values out ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["grad", "jit of grad", "grad of jit", "jvp", "linearize", "vmap of grad"])
def test_values_carried_out(how):
    count, last = jx.new_ref(jnp.int32(0)), jx.new_ref(0.0)

    def f(x, last):
        count[...] += 1
        last[...] = lax.stop_gradient(x) * 3
        return jnp.sin(x)

    of = {
        "grad": lambda: jx.grad(f)(2.0, last),
        "jit of grad": lambda: jx.jit(jx.grad(f))(2.0, last),
        "grad of jit": lambda: jx.grad(jx.jit(f))(2.0, last),
        "jvp": lambda: jx.jvp(lambda x: f(x, last), (2.0,), (1.0,))[1],
        "linearize": lambda: jx.linearize(lambda x: f(x, last), 2.0)[1](1.0),
        "vmap of grad": lambda: jx.grad(lambda x: (f(x, last), jx.vmap(jnp.sin)(x * jnp.ones(1))[0])[1])(2.0),
    }[how]
    for i in range(2):
        np.testing.assert_allclose(of(), np.cos(2), rtol=1e-6)
        assert (count[...], last[...]) == (i + 1, 6)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_differentiated_loop_that_counts(compiled):
    ref, amounts = jx.new_ref(jnp.int32(0)), jnp.arange(3)

    def f(x):
        def body(c, _):
            ref[...] += amounts.sum()
            return jnp.sin(c) * x, ref[...]

        c, counts = lax.scan(body, x, length=4)
        return c, counts

    derivative = jx.grad(f, has_aux=True)
    _, counts = (jx.jit(derivative) if compiled else derivative)(1.0)
    np.testing.assert_array_equal(counts, [3, 6, 9, 12])
    assert ref[...] == 12


def test_what_is_differentiated_cannot_be_carried_out():
    ref = jx.new_ref(0.0)
    for f in (lambda x: (ref.__setitem__(..., x), x)[1], jx.jit(lambda x: (ref.addupdate(x * x), x)[1])):
        for derivative in (jx.grad(f), jx.jit(jx.grad(f)), lambda x, f=f: jx.jvp(f, (x,), (x,))):
            with pytest.raises(ValueError, match="differentiated value on a non-differentiated"):
                derivative(2.0)
    assert ref[...] == 0


TAKES_A_PART = {
    "jit": lambda f, part: jx.jit(f)(part),
    "jit of a tree": lambda f, part: jx.jit(lambda t: f(t["part"]))({"part": part}),
    "checkpoint": lambda f, part: jx.checkpoint(f)(part),
    "cond": lambda f, part: lax.cond(True, f, lambda part: 0.0, part),
    "switch": lambda f, part: lax.switch(1, [lambda part: 0.0, f], part),
    "while": lambda f, part: lax.fori_loop(0, 1, lambda i, _: f(part), 0.0),
    "scan": lambda f, part: lax.scan(lambda c, x: (c + f(x), None), 0.0, part)[0],
    "vmap": lambda f, part: jx.vmap(f)(part).sum(),
    "grad": lambda f, part: jx.grad(lambda x: jx.jit(lambda part, x: f(part) * x)(part, x))(1.0),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("how", TAKES_A_PART)
def test_parts_as_arguments(how, compiled):
    def f(part):
        old = part[...].sum()
        part[...] = part[...] * 3
        return old

    def run(whole, i):
        return TAKES_A_PART[how](f, whole.at[i].at[1:])

    ref, wanted = jx.new_ref(np.arange(12.0).reshape(3, 4)), np.arange(12.0).reshape(3, 4)
    assert (jx.jit(run) if compiled else run)(ref, 1) == wanted[1, 1:].sum()
    wanted[1, 1:] *= 3
    np.testing.assert_array_equal(ref[...], wanted)


def test_parts_that_may_not_be_passed():
    ref = jx.new_ref(jnp.zeros(4))
    two = jx.jit(lambda a, b: a[...] + b[...])
    with pytest.raises(ValueError, match="only one reference"):
        two(ref.at[:2], ref.at[2:])
    with pytest.raises(ValueError, match="cannot be returned"):
        jx.jit(lambda: ref.at[0])()
    with pytest.raises(TypeError, match="freeze takes a reference"):
        jx.freeze(ref.at[0])


@pytest.mark.parametrize("how", [lambda f: f, jx.jit, jx.checkpoint, lambda f: jx.jit(jx.checkpoint(f))])
def test_a_reference_that_holds_no_derivatives(how):
    """d(y²)/dy, and 1 + y² in the reference, as in JAX."""

    def f(y, ref):
        out = y * y
        ref[...] += out
        return out + ref[...] - 1

    ref = jx.new_ref(1.0, kind="no_grad_no_remat")
    assert jx.grad(how(f))(2.0, ref) == 4
    assert ref[...] == 5
    with pytest.raises(ValueError, match="non-differentiated array reference"):
        jx.grad(how(f))(2.0, jx.new_ref(1.0))


def test_checkpoint_writes_once():
    ref = jx.new_ref(jnp.int32(0))

    def f(x):
        ref[...] += 1
        return jnp.sin(jnp.sin(x))

    derivative = jx.grad(jx.checkpoint(f))(1.0)
    np.testing.assert_allclose(derivative, np.cos(np.sin(1)) * np.cos(1), rtol=1e-6)
    assert ref[...] == 1


# vmap -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_mapped_references(compiled, axis):
    start = np.arange(6, dtype=np.float32).reshape(2, 3)
    ref = jx.new_ref(jnp.asarray(start if axis == 0 else start.T))

    def f(r, x, i):
        r[0] = x
        r[i] += 10.0
        r[jnp.array([1, 2])] *= 2.0
        lax.fori_loop(0, 3, lambda j, _: r.addupdate(j * x, j), None)
        return r[...], r[-1]

    mapped = jx.vmap(f, in_axes=(axis, 0, 0))
    xs, places = np.array([5.0, 6.0], np.float32), np.array([1, 2])
    whole, last = (jx.jit(mapped) if compiled else mapped)(ref, xs, places)
    wanted = start.copy()
    for row, x, i in zip(wanted, xs, places):
        row[0] = x
        row[i] += 10
        row[1:] *= 2
        row += np.arange(3) * x
    np.testing.assert_allclose(whole, wanted)
    np.testing.assert_allclose(last, wanted[:, -1])
    np.testing.assert_allclose(ref[...] if axis == 0 else ref[...].T, wanted)


def test_mapped_twice():
    points, out = np.arange(12, dtype=np.float32).reshape(3, 4), jx.new_ref(jnp.zeros((3, 3)))

    def distance(x, y, place):
        assert place.shape == () and x.shape == (4,)
        place[...] = jnp.sum((x - y) ** 2)

    jx.vmap(jx.vmap(distance, (0, None, 0)), (None, 0, 0))(points, points, out)
    np.testing.assert_allclose(out[...], ((points[:, None] - points) ** 2).sum(-1))


def test_the_text_of_mapped_reads_and_writes():
    ref = jx.new_ref(jnp.ones((3, 4)))
    shown = str(jx.make_jaxpr(jx.vmap(lambda r, x: r.__setitem__(0, x)))(ref, jnp.arange(3.0)))
    assert shown == "{ lambda ; a:Ref{f32[3,4]} b:f32[3]. let a[:,0] <- b in () }"
    shown = str(jx.make_jaxpr(jx.vmap(lambda r: r[1:3], in_axes=1, out_axes=1))(ref))
    assert shown == "{ lambda ; a:Ref{f32[3,4]}. let b:f32[2,4] <- a[1:,:] in (b,) }"


def test_captured_references_are_read_not_written_by_examples():
    ref, rows = jx.new_ref(2.0), jx.new_ref(jnp.zeros(3))
    np.testing.assert_array_equal(jx.vmap(lambda x: ref[...] * x)(jnp.arange(3.0)), [0, 2, 4])
    jx.vmap(lambda r, x: r.__setitem__(..., ref[...] * x))(rows, jnp.arange(3.0))
    np.testing.assert_array_equal(rows[...], [0, 2, 4])
    for f in (
        lambda x: ref.__setitem__(..., x),
        lambda x: ref.__setitem__(..., 1.0),
        jx.jit(lambda x: ref.addupdate(x)),
    ):
        with pytest.raises(ValueError, match="vmapped value on an unbatched array reference"):
            jx.vmap(f)(jnp.arange(3.0))
    with pytest.raises(ValueError, match="unbatched"):
        jx.vmap(lambda r, x: r.__setitem__(..., x), in_axes=(None, 0))(ref, jnp.arange(3.0))
    assert ref[...] == 2


# Derivatives with respect to references -----------------------------------------------------------------------------------


def square(ref):
    ref[...] = jnp.sin(ref[...])
    return ref[...] ** 2


@pytest.mark.parametrize("f", [square, jx.jit(square)], ids=["plain", "jit"])
def test_vjp_with_respect_to_a_reference(f):
    ref, grad = jx.new_ref(2.0), jx.new_ref(100.0)
    y, pull = jx.vjp(f, ref)
    np.testing.assert_allclose([y, ref[...]], [np.sin(2) ** 2, np.sin(2)], rtol=1e-6)
    assert pull.with_refs(grad)(1.0) == (ad.GradRef(),)
    np.testing.assert_allclose(grad[...], 100 + 2 * np.sin(2) * np.cos(2), rtol=1e-6)
    with pytest.raises(ValueError, match="with_refs"):
        pull(1.0)
    with pytest.raises(ValueError, match="with_refs"):
        jx.grad(f)(ref)


def test_jvp_with_a_reference_as_tangent():
    ref, tangent = jx.new_ref(3.0), jx.new_ref(2.0)
    y, t = jx.jvp(lambda r: (r.__setitem__(..., r[...] ** 2), r[...])[1], (ref,), (tangent,))
    assert [float(x) for x in (y, t, ref[...], tangent[...])] == [9, 12, 9, 12]
    with pytest.raises(TypeError, match="tangent is a reference"):
        jx.jvp(lambda r: r[...], (ref,), (1.0,))


def test_places_for_cotangents():
    _, pull = jx.vjp(lambda d, s: d["a"] * s + d["b"], {"a": 1.0, "b": 2.0}, 3.0)
    a = jx.new_ref(10.0)
    out = pull.with_refs({"a": a, "b": ad.DontWant()}, ad.GradValue())(2.0)
    assert out == ({"a": ad.GradRef(), "b": ad.DidntWant()}, 2.0) and a[...] == 16
    for wrong in (
        (ad.DontWant(), ad.GradValue()),
        (a,),
        (None, a),
        ({"a": jx.new_ref(jnp.zeros(3)), "b": ad.DontWant()}, ad.GradValue()),
        ({"a": 1.0, "b": ad.DontWant()}, ad.GradValue()),
    ):
        with pytest.raises(ValueError, match="with_refs"):
            pull.with_refs(*wrong)(1.0)


def test_what_is_not_wanted_is_not_computed():
    pull = jx.vjp(lambda w, x: w @ x, jnp.ones((4, 4)), jnp.ones(4))[1]
    count = lambda f: str(jx.make_jaxpr(f)()).count("dot_general")
    assert count(lambda: pull(jnp.ones(4))) == 2
    one = pull.with_refs(ad.GradValue(), ad.DontWant())
    assert count(lambda: one(jnp.ones(4))) == 1
    np.testing.assert_array_equal(one(jnp.ones(4))[0], np.ones((4, 4)))


@pytest.mark.parametrize("compiled", [False, True])
def test_gradients_of_parts_of_a_batch_are_summed_in_a_reference(compiled):
    def loss(ws, x):
        return jnp.mean(lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, ws)[0])

    def whole(ws, batch):
        grad = jx.new_ref(jnp.zeros_like(ws))

        def part(_, x):
            value, pull = jx.vjp(lambda ws: loss(ws, x), ws)
            pull.with_refs(grad)(jnp.ones_like(value))
            return (), value

        _, losses = lax.scan(part, (), batch)
        return jx.freeze(grad), losses

    rng = np.random.default_rng(0)
    ws, batch = (rng.normal(size=s).astype("float32") for s in ((3, 4, 4), (5, 7, 4)))
    grads, losses = (jx.jit(whole) if compiled else whole)(ws, batch)
    np.testing.assert_allclose(grads, jx.grad(lambda ws: sum(loss(ws, x) for x in batch))(ws), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(losses, [loss(ws, x) for x in batch], rtol=1e-5)


# Rules of one's own -------------------------------------------------------------------------------------------------------


@jx.custom_vjp
def stash(ref, x):
    return x


def keep(ref, g):
    ref[...] = g
    return None, g


stash.defvjp(lambda ref, x: (x, ref), keep)


def stashing(x, ref):
    return jnp.sin(stash(ref, x * 2))


@pytest.mark.parametrize("inner", [lambda f: f, jx.jit], ids=["plain", "jit"])
@pytest.mark.parametrize("outer", [lambda f: f, jx.jit], ids=["plain", "jit"])
def test_a_rule_that_writes_on_the_way_back(inner, outer):
    ref = jx.new_ref(0.0)
    np.testing.assert_allclose(outer(inner(stashing))(0.5, ref), np.sin(1), rtol=1e-6)
    assert ref[...] == 0
    np.testing.assert_allclose(outer(jx.grad(inner(stashing)))(0.5, ref), 2 * np.cos(1), rtol=1e-6)
    np.testing.assert_allclose(ref[...], np.cos(1), rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_a_rule_that_keeps_a_history(compiled):
    history = jx.new_ref(jnp.zeros(5))

    @jx.custom_vjp
    def scaled(x, ref):
        return x

    def back(ref, g):
        ref[:] = jnp.roll(ref[:], 1).at[0].set(jnp.max(jnp.abs(g)))
        return g / jnp.max(ref[:]), None

    scaled.defvjp(lambda x, ref: (x, ref), back)
    loss = lambda x, y: 3 * scaled(jnp.dot(x, y), history)
    loss = jx.jit(loss) if compiled else loss
    for i in range(3):
        gx, gy = jx.grad(loss, (0, 1))(jnp.ones(5), 2 * jnp.ones(5))
        np.testing.assert_allclose([gx[0], gy[0]], [2, 1])
        np.testing.assert_array_equal(history[...], [3.0] * (i + 1) + [0.0] * (4 - i))


def test_functions_with_rules_that_read_references():
    ref = jx.new_ref(2.0)

    @jx.custom_jvp
    def f(x):
        return x * 3

    f.defjvp(lambda primals, tangents: (f(primals[0]), tangents[0] * 3 * ref[...]))
    assert jx.grad(f)(1.0) == 6
    assert jx.jit(jx.grad(lambda x: jnp.where(x > 0, f(x), 0)))(1.0) == 6


# Other things that look at programs -----------------------------------------------------------------------------------------


def test_checkify():
    ref = jx.new_ref(jnp.zeros(3))

    def f(x):
        ref[0] = x
        jx.checkify.check(x > 0, "negative")
        own = jx.new_ref(x)
        own[...] = jnp.sqrt(own[...])
        return own[...]

    for checked in (jx.checkify.checkify(f), jx.checkify.checkify(jx.jit(f)), jx.jit(jx.checkify.checkify(f))):
        error, out = checked(4.0)
        assert error.get() is None and out == 2 and ref[0] == 4
        assert "negative" in jx.checkify.checkify(f)(-1.0)[0].get() and ref[0] == -1


def test_linear_functions():
    def f(x):
        ref = jx.new_ref(x)
        ref[0] = 3 * x[1]
        return ref[...]

    np.testing.assert_array_equal(jx.linear_transpose(f, jnp.ones(2))(jnp.array([1.0, 10.0]))[0], [0, 13])


def test_export():
    exported = jx.export.export(jx.jit(with_ref))(X)
    np.testing.assert_allclose(exported.call(X), without_ref(X), rtol=1e-6)
    ref = jx.new_ref(1.0)
    with pytest.raises(NotImplementedError, match="references"):
        jx.export.export(jx.jit(lambda r: r[...]))(ref)
    with pytest.raises(NotImplementedError, match="references"):
        jx.export.export(jx.jit(lambda: ref[...]))()


def test_effects_in_order():
    from jitscope.experimental import io_callback

    seen, ref = [], jx.new_ref(0.0)

    def f():
        def body(c, _):
            ref[...] += 1.0
            io_callback(lambda v: seen.append(float(v)), None, ref[...], ordered=True)
            return c, None

        lax.scan(body, 0, length=3)

    jx.jit(f)()
    jx.effects_barrier()
    assert seen == [1, 2, 3] and ref[...] == 3


def test_conditions_that_differ_between_examples():
    ref = jx.new_ref(jnp.zeros((2, 3)))

    def f(r, n):
        lax.while_loop(lambda i: i < n, lambda i: (r.addupdate(1.0, i), i + 1)[1], 0)
        lax.cond(n > 1, lambda: r.__setitem__(0, 7.0), lambda: r.__setitem__(2, 9.0))

    jx.vmap(f)(ref, jnp.array([1, 3]))
    np.testing.assert_array_equal(ref[...], [[1, 0, 9], [7, 1, 1]])


def test_forward_and_backward_apart():
    ref = jx.new_ref(0.0)
    forward, backward = jx.fwd_and_bwd(lambda x, r: (r.__setitem__(..., 3.0), x * x)[1], 0)
    out, residuals = forward(2.0, ref)
    assert (out, ref[...], backward(residuals, 1.0)) == (4, 3, 4)
