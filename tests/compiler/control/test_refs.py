"""Mutable arrays: reading and changing them, in programs and in the control flow of programs. Values are NumPy's; texts and which
calls are errors are what JAX 0.10.2 answered."""

import copy
import pickle
import re

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, random, ref as jref
from jitscope_scope import observe


INDICES = [
    ...,
    (),
    None,
    0,
    -1,
    slice(1, 3),
    slice(None, None, 2),
    (slice(None), 1),
    (..., 0),
    (1, slice(0, 2)),
    (2, 3),
    np.array([0, 2, 1]),
    (np.array([0, 1]), np.array([3, 0])),
    (slice(1, None), np.array([0, -1])),
    np.array([True, False, True]),
    [2, 0],
]


def start():
    return np.arange(12, dtype=np.float32).reshape(3, 4)


def plain(index):
    return ... if index is None else index


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("compiled", [False, True])
def test_reading_and_changing_at_an_index(index, compiled):
    wanted = start()
    new = -np.arange(np.asarray(wanted[plain(index)]).size, dtype=np.float32).reshape(wanted[plain(index)].shape)

    def steps(ref, new):
        seen = [ref[index]]
        ref[index] = new
        seen.append(ref[...])
        jref.addupdate(ref, index, new + 1)
        seen.append(ref[...])
        seen.append(jref.swap(ref, index, 2 * new))
        return seen

    ref = jx.new_ref(start())
    found = (jx.jit(steps) if compiled else steps)(ref, new)
    expected = [wanted[plain(index)].copy()]
    wanted[plain(index)] = new
    expected.append(wanted.copy())
    wanted[plain(index)] += new + 1
    expected.append(wanted.copy())
    expected.append(wanted[plain(index)].copy())
    wanted[plain(index)] = 2 * new
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(ref[...], wanted)


@pytest.mark.parametrize("compiled", [False, True])
def test_an_index_that_is_computed(compiled):
    def f(ref, i, js):
        ref[i] += 1.0
        ref[js, i] = jnp.ones(2)
        return ref[i, 1:3], ref[js]

    ref = jx.new_ref(start())
    found = (jx.jit(f) if compiled else f)(ref, jnp.int32(-1), jnp.array([0, 2]))
    wanted = start()
    wanted[-1] += 1
    wanted[[0, 2], -1] = 1
    np.testing.assert_array_equal(found[0], wanted[-1, 1:3])
    np.testing.assert_array_equal(found[1], wanted[[0, 2]])
    np.testing.assert_array_equal(ref[...], wanted)


def test_names_and_looks():
    ref = jx.new_ref(jnp.arange(3.0))
    assert repr(ref) == "Ref([0., 1., 2.], dtype=float32)"
    assert repr(jx.typeof(ref)) == "Ref{float32[3]}"
    assert jx.typeof(ref) == jref.AbstractRef(jx.typeof(jnp.zeros(3)))
    assert (ref.shape, ref.dtype, ref.ndim, ref.size, len(ref)) == ((3,), np.float32, 1, 3, 3)
    assert isinstance(ref, jx.Ref) and not isinstance(ref, jx.Array)
    assert jref.get(ref, 1) == 1 and jref.set(ref, 1, 5.0) is None and ref[1] == 5
    ref.addupdate(2.0, 0)
    assert ref[0] == 2
    other = copy.deepcopy(ref)
    read_back = pickle.loads(pickle.dumps(ref))
    ref[...] = jnp.zeros(3)
    np.testing.assert_array_equal(other[...], [2, 5, 2])
    np.testing.assert_array_equal(read_back[...], [2, 5, 2])


def test_parts_by_at():
    ref = jx.new_ref(jnp.arange(6.0))
    part = ref.at[1:5].at[::2]
    np.testing.assert_array_equal(part[...], [1, 3])
    assert part.shape == (2,)
    part[1] = 9.0
    ref.at[4:][...] = jnp.array([7.0, 8.0])
    part.addupdate(1.0, 0)
    np.testing.assert_array_equal(ref[...], [0, 2, 2, 9, 7, 8])


def test_values_of_another_dtype():
    half = jx.new_ref(jnp.zeros((), "bfloat16"))
    half[...] = 1.5
    half[...] += 1.0
    assert half[...] == 2.5 and half.dtype == jnp.bfloat16
    for ref, value in [
        (jx.new_ref(jnp.zeros(2)), jnp.zeros(2, "int32")),
        (jx.new_ref(jnp.zeros(2)), jnp.zeros(2, "bfloat16")),
        (jx.new_ref(jnp.zeros((), "complex64")), 1.0),
        (jx.new_ref(1), 1.5),
        (jx.new_ref(1.0), 1),
    ]:
        with pytest.raises(ValueError, match="Invalid dtype for `swap`"):
            ref[...] = value
    with pytest.raises(ValueError, match="Invalid dtype for `addupdate`"):
        jref.addupdate(jx.new_ref(jnp.zeros(2)), 0, 1)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1)], ids=str)
def test_values_of_another_shape(shape):
    ref = jx.new_ref(jnp.zeros(4))
    with pytest.raises(ValueError, match="Invalid shape for `swap`"):
        ref[:2] = jnp.zeros(shape)


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (4, ValueError),
        (-5, ValueError),
        ((0, 0), ValueError),
        (slice(None, None, -1), ValueError),
        ("a", TypeError),
        (1.0, TypeError),
    ],
    ids=str,
)
def test_what_is_no_index(index, error):
    with pytest.raises(error):
        jx.new_ref(jnp.zeros(4))[index]


def test_a_reference_is_no_array():
    ref = jx.new_ref(jnp.ones(3))
    for f in (
        jnp.sin,
        jnp.asarray,
        np.asarray,
        lambda r: lax.add(r, r),
        lambda r: r + 1,
        list,
        bool,
        float,
        jx.new_ref,
    ):
        with pytest.raises(TypeError):
            f(ref)
    with pytest.raises(TypeError, match="read it first"):
        jx.jit(lambda r: jnp.sin(r))(ref)
    for x in ([1.0], {"a": 1}, "a", None):
        with pytest.raises(TypeError):
            jx.new_ref(x)


def test_random_keys():
    ref = jx.new_ref(random.key(0))
    ref[...] = random.fold_in(ref[...], 1)
    np.testing.assert_array_equal(random.key_data(ref[...]), random.key_data(random.fold_in(random.key(0), 1)))


# Memory --------------------------------------------------------------------------------------------------------------


def test_changes_are_made_in_place():
    ref = jx.new_ref(jnp.arange(300.0))
    ref[0] = 1.0
    at = ref.unsafe_buffer_pointer()
    ref[1] = 2.0
    assert ref.unsafe_buffer_pointer() == at
    sin_in_place = jx.jit(lambda r: r.__setitem__(..., jnp.sin(r[...])))
    sin_in_place(ref)
    sin_in_place(ref)
    assert ref.unsafe_buffer_pointer() == at
    np.testing.assert_allclose(ref[...][:2], np.sin(np.sin([1, 2])), rtol=1e-6)


def test_nobody_else_sees_the_changes():
    x = jnp.arange(300.0)
    ref = jx.new_ref(x)
    ref[0] = 7.0
    seen = ref[...]
    view = np.asarray(seen)
    ref[0] = 8.0
    jx.jit(lambda r: r.__setitem__(0, 9.0))(ref)
    assert (x[0], seen[0], view[0], ref[0]) == (0, 7, 7, 9)
    last = jx.freeze(ref)
    assert last[0] == 9


def test_reading_alone_keeps_the_memory():
    ref = jx.new_ref(jnp.arange(300.0))
    ref[0] = 1.0
    at = ref.unsafe_buffer_pointer()
    assert jx.jit(lambda r: r[...].sum())(ref) == np.arange(300).sum() + 1
    assert ref.unsafe_buffer_pointer() == at


def test_a_given_away_argument_beside_a_reference():
    ref, x = jx.new_ref(jnp.zeros(300)), jnp.ones(300)
    y = jx.jit(lambda r, x: (r.__setitem__(..., x), x + 1)[1], donate_argnums=1)(ref, x)
    assert x.is_deleted() and y[0] == 2 and ref[0] == 1


# Programs ------------------------------------------------------------------------------------------------------------


def test_calls_are_answered_by_the_aval():
    traces = []

    @jx.jit
    def f(r):
        traces.append(r.shape)
        r[...] += 1.0

    a, b, c = jx.new_ref(jnp.zeros(3)), jx.new_ref(jnp.ones(3)), jx.new_ref(jnp.zeros(4))
    for ref in (a, b, c, a, b):
        f(ref)
    assert traces == [(3,), (4,)]
    assert (a[0], b[0], c[0]) == (2, 3, 1)
    with pytest.raises(TypeError):
        f(jnp.zeros(3))


def test_trees_names_and_statics():
    @jx.jit
    def f(state, x, *, scale):
        state["n"][...] += 1
        state["sum"][...] += scale * x
        return state["n"][...] * x

    state = {"n": jx.new_ref(jnp.int32(0)), "sum": jx.new_ref(jnp.zeros(2))}
    for i in range(3):
        np.testing.assert_array_equal(f(state, jnp.ones(2), scale=2.0), [i + 1, i + 1])
    assert state["n"][...] == 3
    np.testing.assert_array_equal(state["sum"][...], [6, 6])


def test_captured_references():
    count, unread = jx.new_ref(jnp.int32(0)), jnp.arange(100.0)

    @jx.jit
    def f(x):
        count[...] += 1
        return x + unread.sum() + count[...]

    assert [float(f(0.0)) for _ in range(3)] == [4951, 4952, 4953]
    assert count[...] == 3


def test_nested_calls_and_captured_ones_inside():
    a, b = jx.new_ref(jnp.float32(1)), jx.new_ref(jnp.float32(2))

    @jx.jit
    def outer(a):
        jx.jit(lambda x, y: x.__setitem__(..., y[...] + 1))(a, b)
        jx.jit(lambda y: y.__setitem__(..., a[...] * 2))(b)
        return a[...] + b[...]

    assert outer(a) == 9 and (a[...], b[...]) == (3, 6)


def test_references_of_its_own():
    @jx.jit
    def f(x):
        ref = jx.new_ref(x)
        ref[0] += 1.0
        ref[...] = ref[...] * 2
        return jx.freeze(ref)

    np.testing.assert_array_equal(f(jnp.arange(3.0)), [2, 2, 4])
    np.testing.assert_array_equal(jx.jit(jx.jit(f))(jnp.arange(3.0)), [2, 2, 4])
    assert "OwnRefs" in repr(jx.make_jaxpr(f)(jnp.arange(3.0)).effects)
    unread = jx.make_jaxpr(lambda x: (f(x), x)[1])(jnp.arange(3.0))
    assert not unread.jaxpr.live()[0]


def test_a_write_is_no_dead_code():
    ref = jx.new_ref(jnp.zeros(2))
    closed = jx.make_jaxpr(lambda: ref.__setitem__(0, 1.0))()
    assert len(closed.jaxpr.live()[0]) == len(closed.eqns) == 1
    assert [e.effects for e in closed.eqns] == [closed.effects]
    assert repr(set(closed.effects)) == "{Write<0>}"


def test_stages():
    ref = jx.new_ref(jnp.zeros(3))
    lowered = jx.jit(lambda r: r.__setitem__(..., r[...] + 1)).lower(ref)
    compiled = lowered.compile()
    compiled(ref)
    compiled(ref)
    np.testing.assert_array_equal(ref[...], [2, 2, 2])
    assert "stablehlo.add" in lowered.as_text()
    with pytest.raises(TypeError):
        compiled(jnp.zeros(3))
    assert jx.eval_shape(lambda r: r[0], ref).shape == ()
    assert jx.eval_shape(lambda r: r[:2], jx.typeof(ref)).shape == (2,)
    like = jx.ShapeDtypeStruct((3,), "float32", is_ref=True)
    assert like != jx.ShapeDtypeStruct((3,), "float32") and like.aval is jx.typeof(ref)
    assert jx.eval_shape(lambda r: (r.__setitem__(0, 1.0), r[...])[1], like).shape == (3,)
    jx.jit(lambda r: r.__setitem__(0, 7.0)).lower(like).compile()(ref)
    assert ref[0] == 7


def test_without_compilation():
    ref = jx.new_ref(jnp.zeros(3))
    with jx.disable_jit():
        jx.jit(lambda r: r.__setitem__(0, 1.0))(ref)
        lax.fori_loop(0, 3, lambda i, c: (ref.__setitem__(i, ref[i] + 1), c)[1], 0)
    np.testing.assert_array_equal(ref[...], [2, 1, 1])


def test_with_checks_for_nans():
    ref = jx.new_ref(jnp.ones(3))
    with jx.debug_nans(True):
        jx.jit(lambda r: r.__setitem__(..., r[...] * 2))(ref)
    np.testing.assert_array_equal(ref[...], [2, 2, 2])


# Control flow --------------------------------------------------------------------------------------------------------

BOTH = pytest.mark.parametrize("compiled", [False, True])


def runs(f, compiled):
    return jx.jit(f) if compiled else f


@BOTH
def test_scan_with_a_captured_reference(compiled):
    ref, seen = jx.new_ref(jnp.int32(0)), jx.new_ref(jnp.zeros(5, "int32"))

    def f():
        def body(i, x):
            ref[...] += x
            seen[i] = ref[...] * 10
            return i + 1, ref[...]

        return lax.scan(body, 0, jnp.arange(5))[1]

    np.testing.assert_array_equal(runs(f, compiled)(), np.cumsum(np.arange(5)))
    assert ref[...] == 10
    np.testing.assert_array_equal(seen[...], 10 * np.cumsum(np.arange(5)))


@BOTH
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 2, True])
def test_scan_over_a_reference(compiled, reverse, unroll):
    ref, read = jx.new_ref(jnp.arange(5.0)), jx.new_ref(jnp.arange(10.0).reshape(5, 2))

    def f(ref):
        def body(c, parts):
            x, y = parts
            x[...] = 2 * x[...] + c
            return c + 1, y[1]

        return lax.scan(body, 0.0, (ref, read), reverse=reverse, unroll=unroll)

    last, ys = runs(f, compiled)(ref)
    turns = np.arange(5)[::-1] if reverse else np.arange(5)
    np.testing.assert_array_equal(ref[...], 2 * np.arange(5) + turns)
    np.testing.assert_array_equal(ys, np.arange(10).reshape(5, 2)[:, 1])
    np.testing.assert_array_equal(read[...], np.arange(10).reshape(5, 2))
    assert last == 5


@BOTH
def test_while_loop(compiled):
    total, limit = jx.new_ref(0.0), jx.new_ref(10.0)

    def f(x):
        def body(i):
            total[...] += i
            return i + x

        return lax.while_loop(lambda i: (i < limit[...]) & (total[...] < 9.0), body, x)

    assert runs(f, compiled)(2.0) == 8.0
    assert total[...] == 12.0 and limit[...] == 10


@BOTH
def test_fori_loop_and_map(compiled):
    ref = jx.new_ref(jnp.zeros(4))

    def f():
        lax.fori_loop(0, 4, lambda i, c: (ref.__setitem__(i, ref[i - 1] + 1), c)[1], ())
        return lax.map(lambda x: (ref.__setitem__(0, ref[0] + x), ref[0])[1], jnp.arange(3.0))

    np.testing.assert_array_equal(runs(f, compiled)(), [1, 2, 4])
    np.testing.assert_array_equal(ref[...], [4, 2, 3, 4])


@BOTH
def test_branches_change_different_references(compiled):
    a, b = jx.new_ref(jnp.zeros(2)), jx.new_ref(0.0)

    def f(i, x):
        def first(x):
            a[0] = x
            return x

        def second(x):
            b[...] += a[0]
            return -x

        return lax.switch(i, [first, second, lambda x: 0 * x], x)

    run = runs(f, compiled)
    assert [float(run(i, x)) for i, x in [(0, 2.0), (1, 3.0), (1, 4.0), (2, 5.0)]] == [2, -3, -4, 0]
    np.testing.assert_array_equal(a[...], [2, 0])
    assert b[...] == 4
    run = runs(lambda p: lax.cond(p, lambda: b.__setitem__(..., 1.0), lambda: b.__setitem__(..., 2.0)), compiled)
    run(True)
    assert b[...] == 1
    run(False)
    assert b[...] == 2


@BOTH
def test_loops_in_loops(compiled):
    grid = jx.new_ref(jnp.zeros((3, 4)))

    def f():
        def row(i, _):
            lax.fori_loop(0, 4, lambda j, c: (grid.__setitem__((i, j), grid[i, j] + 10.0 * i + j), c)[1], ())
            return lax.cond(i > 0, lambda: grid.addupdate(1.0, (i, 0)), lambda: None)

        lax.fori_loop(0, 3, row, None)

    runs(f, compiled)()
    wanted = 10 * np.arange(3)[:, None] + np.arange(4.0)
    wanted[1:, 0] += 1
    np.testing.assert_array_equal(grid[...], wanted)


# Texts and documents -------------------------------------------------------------------------------------------------


def test_the_text_of_programs():
    ref = jx.new_ref(jnp.arange(5.0))

    def f(a):
        a[...] += 1.0
        a[0] += 1
        a[1:3] = jnp.zeros(2)
        jref.addupdate(a, ..., jnp.ones(5))
        jref.addupdate(a, 2, 1.0)
        x = jref.swap(a, ..., jnp.ones(5))
        return a[...], x

    assert str(jx.make_jaxpr(f)(ref)) == (
        "{ lambda ; a:Ref{f32[5]}. let\n"
        "    b:f32[5] <- a[...]\n"
        "    c:f32[5] = add b 1.0:f32[]\n"
        "    a[...] <- c\n"
        "    d:f32[] <- a[0]\n"
        "    e:f32[] = add d 1.0:f32[]\n"
        "    a[0] <- e\n"
        "    f:f32[2] = broadcast_in_dim 0.0:f32[]\n"
        "    a[1:3] <- f\n"
        "    g:f32[5] = broadcast_in_dim 1.0:f32[]\n"
        "    a[...] += g\n"
        "    a[2] += 1.0:f32[]\n"
        "    h:f32[5] = broadcast_in_dim 1.0:f32[]\n"
        "    i:f32[5], a[...] <- a[...], h\n"
        "    j:f32[5] <- a[...]\n"
        "  in (j, i) }"
    )
    m = jx.new_ref(jnp.ones((3, 4)))
    assert str(jx.make_jaxpr(lambda i: (m[i, 1:2], m[i], m[:, i], m[-1]))(1)) == (
        "{ lambda a:Ref{f32[3,4]}; b:i32[]. let\n"
        "    c:f32[1] <- a[b,1:2]\n"
        "    d:f32[4] <- a[b,:]\n"
        "    e:f32[3] <- a[:,b]\n"
        "    f:f32[4] <- a[-1,:]\n"
        "  in (c, d, e, f) }"
    )


def test_documents_of_a_program_with_references():
    ref = jx.new_ref(jnp.zeros(50))

    def counted(x, r):
        r[:3] += jnp.sin(x)

        def body(c, y):
            r[0] = c
            return c + y, r[1]

        return lax.scan(body, jnp.float32(0), r[...])[1]

    ledger = observe.Ledger()
    f = jx.jit(counted)
    f(jnp.ones(3), ref)
    document = observe.compilation_document(list(ledger)[-1])
    ledger.close()
    assert document["function"] == "counted"
    assert "Ref{f32[50]}" in document["jaxpr"]
    nodes = {node["id"]: node for node in document["graph"]["nodes"]}
    assert nodes["in1"]["types"] == ["Ref{f32[50]}"]
    assert [nodes[f"e{i}"]["label"] for i in range(4)] == ["get", "sin", "add", "swap"]
    assert re.search(r"\[:3\] <- \w$", nodes["e3"]["text"])
    assert nodes["e3"]["positions"][0]["text"].strip() == "r[:3] += jnp.sin(x)"
    members = {path for kernel in document["fusion"]["kernels"] for path in kernel["paths"]}
    assert members and members <= set(nodes)


def test_measuring_changes_nothing():
    ledger, captured, passed, x = observe.Ledger(), jx.new_ref(jnp.zeros(50)), jx.new_ref(jnp.zeros(50)), jnp.ones(50)

    def f(x, r):
        captured[...] += x
        r[...] += captured[...]

    jx.jit(f)(x, passed)
    jx.jit(lambda x: captured.addupdate(x))(x)
    lax.fori_loop(0, 3, lambda i, c: (passed.__setitem__(i, c[0]), c)[1], x)
    rows = [row for row in ledger if row.jaxpr is not None and row.entry is not None]
    ledger.close()
    assert len(rows) >= 3
    for row in rows:
        assert observe.measure_steady(row, budget=0.01)["steady"]["runs"] >= 1
    np.testing.assert_array_equal(captured[...], np.full(50, 2))
    np.testing.assert_array_equal(passed[...], np.ones(50))


def test_checked_programs():
    ref, other = jx.new_ref(jnp.zeros(3)), jx.new_ref(0.0)

    @jx.jit
    def f(x, r):
        own = jx.new_ref(x)
        lax.cond(x > 0, lambda: other.__setitem__(..., x), lambda: r.__setitem__(0, own[...]))
        return lax.while_loop(lambda i: i < other[...], lambda i: (r.addupdate(1.0, 1), i + 1)[1], 0.0)

    with jx.enable_checks(True):
        assert f(2.0, ref) == 2
    np.testing.assert_array_equal(ref[...], [0, 2, 0])


def test_what_is_read_of_a_number_is_not_weak():
    """As from JAX 0.12 on: a reference of 4. stays float32 whatever is added to it."""
    ref = jx.new_ref(4.0)
    assert repr(ref) == "Ref(4., dtype=float32)" and not ref[...].weak_type

    def f(x):
        ref = jx.new_ref(4.0)
        ref[...] = ref[...] + x
        return ref[...]

    for given in (1, jnp.bfloat16(1), 1.0):
        for run in (f, jx.jit(f)):
            found = run(given)
            assert found.dtype == jnp.float32 and not found.weak_type and found == 5
