"""Callbacks: what they must stand beyond what JAX promises. (What JAX does: tests/oracle/cases/callbacks.py.)"""

from __future__ import annotations

import gc
import weakref
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import debug, lax
from jitscope.core import records
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import walk
from jitscope.errors import CallbackResultError
from jitscope.experimental import io_callback
from jitscope_scope.observe.ledger import ledger
from jitscope_scope.observe.timing import measure_steady, timing_document
from tests.oracle.cases import callbacks
from tests.oracle.library import Library


pytestmark = pytest.mark.timeout(120)
F32 = np.float32
S = jx.ShapeDtypeStruct


def scalar(dtype: Any = F32) -> Any:
    return S((), dtype)


JITSCOPE = Library("jitscope")


# As in JAX ------------------------------------------------------------------------------------------------------------

# Where effects have no promised order JAX's come as they come; ours come in the order of the program.


def test_where_we_differ_from_jax(capsys):
    got = callbacks.told(JITSCOPE, callbacks.in_place(JITSCOPE, "io", "vmap cond of one for all"))
    assert (got["results"][0].tolist(), got["seen"]) == ([1.0, 3.0, 5.0], ["0.5", "1.5", "2.5"])
    with pytest.raises(ValueError, match="vmap of an ordered io_callback"):
        callbacks.in_place(JITSCOPE, "io ordered", "vmap cond of one for all")([])
    with pytest.raises(KeyError, match="key"):
        callbacks.question(JITSCOPE, "an exception")([])
    debug.print("{{a}} {}", 1)
    assert capsys.readouterr().out == "{a} 1\n"


# Order ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ordered", [False, True])
def test_effects_come_in_program_order_through_calls_loops_and_branches(ordered, capsys):
    @jx.jit
    def inner(x):
        debug.print("inner {}", x, ordered=ordered)
        return x + 1

    def loop(i, x):
        x = lax.cond(i == 1, lambda x: (debug.print("one", ordered=ordered), inner(x))[1], inner, x)
        debug.print("turn {}", i, ordered=ordered)
        return x

    @jx.jit
    def outer(x):
        debug.print("first", ordered=ordered)
        x = inner(x)
        x = lax.fori_loop(0, 3, loop, x)
        x = lax.while_loop(lambda c: (debug.print("test {}", c, ordered=ordered), c < 6)[1], inner, x)
        debug.print("last", ordered=ordered)
        return x

    assert float(outer(0.0)) == 6
    want = (
        "first|inner 0.0|inner 1.0|turn 0|one|inner 2.0|turn 1|inner 3.0|turn 2|test 4.0|inner 4.0|test 5.0|inner 5.0"
    )
    want += "|test 6.0|last"
    assert capsys.readouterr().out.splitlines() == want.split("|")


def test_programs_one_after_the_other_keep_the_order():
    seen: list[int] = []
    f = jx.jit(lambda x: (io_callback(lambda a: seen.append(int(a)), None, x, ordered=True), x)[1])
    for i in range(30):
        f(i)
    jx.effects_barrier()
    assert seen == list(range(30))


def test_examples_that_choose_differently_have_their_own_effects(capsys):
    def f(x):
        big, small = (lambda x, w=w: (debug.print(w + " {}", x), x * 2)[1] for w in ("big", "small"))
        return lax.cond(x > 1, big, small, x)

    for run in (jx.vmap(f), jx.jit(jx.vmap(f)), jx.vmap(jx.grad(f))):
        run(jnp.arange(4.0))
        assert capsys.readouterr().out.splitlines() == ["small 0.0", "small 1.0", "big 2.0", "big 3.0"]

    def count_up(x):
        return lax.while_loop(lambda c: c < 3, lambda c: (debug.print("at {}", c), c + 1)[1], x)

    assert jx.vmap(count_up)(jnp.array([2.0, 5.0, 1.0])).tolist() == [3, 5, 3]
    assert capsys.readouterr().out.splitlines() == ["at 2.0", "at 1.0", "at 2.0"]
    with pytest.raises(ValueError, match="vmap of an ordered io_callback in cond"):
        write = lambda x: io_callback(lambda a: a, scalar(), x, ordered=True)
        jx.vmap(lambda x: lax.cond(x > 1, write, write, x))(jnp.arange(4.0))


def test_what_runs_twice_shows_once(capsys):
    def count_up(x):
        return lax.while_loop(lambda c: c < 3, lambda c: (debug.print("at {}", c), c + 1)[1], x)

    for f in (count_up, jx.jit(count_up)):
        out, push = jx.linearize(f, 1.0)
        assert (float(out), float(push(2.0))) == (3, 2)
        assert capsys.readouterr().out.splitlines() == ["at 1.0", "at 2.0"]
    jx.grad(jx.checkpoint(lambda x: (debug.print("kept {}", x), jnp.sin(x))[1]))(1.0)
    assert capsys.readouterr().out == "kept 1.0\n"


def test_a_branch_of_effects_alone_stays_in_the_primal(capsys):
    def f(x):
        lax.cond(x > 0, lambda: debug.print("positive"), lambda: None)
        return x * x

    for g in (jx.grad(f), jx.jit(jx.grad(f)), jx.grad(jx.jit(f))):
        assert float(g(2.0)) == 4
        assert capsys.readouterr().out == "positive\n"


def test_tangents_can_be_printed(capsys):
    @jx.custom_jvp
    def f(x):
        return x * x

    @f.defjvp
    def _(primals, tangents):
        (x,), (t,) = primals, tangents
        debug.print("x {} t {}", x, t)
        return f(x), 2 * x * t

    assert float(jx.jvp(f, (3.0,), (1.0,))[1]) == 6
    assert capsys.readouterr().out == "x 3.0 t 1.0\n"
    assert float(jx.grad(f)(3.0)) == 6  # a linear program that is transposed prints nothing
    assert capsys.readouterr().out == ""


# Results are believed only when they fit --------------------------------------------------------------------------------

BROKEN: dict[str, tuple[Any, Any, str]] = {
    "short": (np.zeros(3, F32), S((4,), F32), r"returned f32\[3\] where f32\[4\] was promised"),
    "dtype": (np.zeros(4, np.int32), S((4,), F32), r"returned i32\[4\] where f32\[4\] was promised"),
    "scalar": (1.0, S((4,), F32), r"returned f32\[\] where f32\[4\] was promised"),
    "none": (None, scalar(), "returned None where one array was promised.*\n.*return one array"),
    "pair": ((1.0, 2.0), scalar(), r"returned \(\*, \*\) where one array was promised"),
    "one for a pair": (1.0, (scalar(), scalar()), r"returned float where \(\*, \*\) was promised"),
    "text": ("abc", scalar(), "is not an array"),
    "object": (object(), scalar(), "is not an array"),
    "ragged": (np.array([[1], [1, 2]], object), S((2,), F32), "is not an array"),
    "deep": (
        (1.0, {"b": [0.0, np.zeros(2, F32)]}),
        (scalar(), {"b": [scalar(), S((3,), F32)]}),
        r"at result\[1\]\['b'\]\[1\]",
    ),
    "keys of dicts": ({"b": 1.0}, {"a": scalar()}, r"returned \{'b': \*\} where \{'a': \*\} was promised"),
    "for nothing": (3, None, "returned int where None was promised.*\n.*return None"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("place", ["eager", "jit", "scan", "vmap"])
def test_results_that_do_not_fit_raise_before_xla_sees_them(name, place):
    value, promised, message = BROKEN[name]

    def f(x):
        return io_callback(lambda a: value, promised, x)

    run = {
        "eager": lambda: f(1.0),
        "jit": lambda: jx.jit(f)(1.0),
        "scan": lambda: lax.scan(lambda c, x: (c, f(x)), 0.0, jnp.ones(2)),
        "vmap": lambda: jx.vmap(f)(jnp.ones(2)),
    }[place]
    with pytest.raises(CallbackResultError, match=f"the callback <lambda> .*{message}") as caught:
        run()
    assert "called by io_callback in line" in str(caught.value) and "what to do:" in str(caught.value)


def test_the_mapped_form_must_have_the_mapped_shape():
    def f(x):
        return jx.pure_callback(lambda a: np.asarray(a).sum(), scalar(), x, vmap_method="broadcast_all")

    assert float(f(jnp.ones(3))) == 3
    with pytest.raises(CallbackResultError, match=r"returned f32\[\] where f32\[2\] was promised"):
        jx.jit(jx.vmap(f))(jnp.ones((2, 3)))


@pytest.mark.parametrize(
    ("promised", "error", "message"),
    [
        (3, TypeError, "result_shape_dtypes must be a tree of objects with a shape and a dtype"),
        (scalar(np.float64), ValueError, "64-bit dtypes are off"),
        (SimpleNamespace(shape=(), dtype=np.dtype("datetime64[s]")), TypeError, "which no array has"),
    ],
)
def test_promises_that_cannot_be_kept(promised, error, message):
    with pytest.raises(error, match=message):
        jx.pure_callback(lambda: 0, promised)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="vmap_method must be one of"):
        jx.pure_callback(lambda: 0.0, scalar(), vmap_method="wrong")
    with pytest.raises(TypeError, match="something that is not an array"):
        jx.pure_callback(lambda a: 0.0, scalar(), "text")
    with pytest.raises(NotImplementedError, match="later release"):
        jx.pure_callback(lambda: 0.0, scalar(), sharding=object())
    with pytest.raises(NotImplementedError, match="vmap_method='sequential'"):
        jx.vmap(lambda x: jx.pure_callback(lambda a: a, scalar(), x))(jnp.ones(2))
    for differentiate in (jx.grad, lambda f: jx.jit(jx.grad(f))):
        with pytest.raises(ValueError, match="pure_callback cannot be differentiated") as caught:
            differentiate(lambda x: jx.pure_callback(lambda a: a, scalar(), x))(1.0)
        assert "differentiate(lambda x" in str(caught.value) and "custom_jvp" in str(caught.value)


DTYPES = (
    "bool int8 uint8 int16 uint16 int32 uint32 float16 bfloat16 float32 complex64 float8_e4m3fn float8_e5m2 int4 uint4 "
    "float4_e2m1fn"
).split()


@pytest.mark.parametrize("name", DTYPES)
def test_values_of_every_dtype_arrive_and_return(name):
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    wide = np.complex64 if dtype.kind == "c" else np.float32
    x = np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)
    seen: list[Any] = []

    def host(a):
        seen.append((a.dtype, np.asarray(a).astype(wide).tolist()))
        return np.asarray(a).T  # not in row-major order

    def f(x):
        return jx.pure_callback(host, S((3, 2), dtype), x)

    for run in (f, jx.jit(f), jx.jit(lambda x: f(x.T.T))):
        got = run(jnp.asarray(x))
        assert got.dtype == dtype and not got.aval.weak_type
        np.testing.assert_array_equal(np.asarray(got).astype(wide), x.T.astype(wide))
    assert seen[0] == seen[1] == seen[2]


def test_layouts_that_xla_would_choose_do_not_matter():
    x = jnp.arange(12.0).reshape(3, 4)
    f = jx.jit(lambda x: jx.pure_callback(lambda a: np.asarray(a) + 1, S((4, 3), F32), x.T) @ x)
    np.testing.assert_allclose(f(x), (np.asarray(x).T + 1) @ np.asarray(x))


def test_empty_arrays_keys_and_64_bits(capsys):
    assert jx.jit(lambda x: jx.pure_callback(lambda a: a, S((0, 3), F32), x))(jnp.zeros((0, 3))).shape == (0, 3)
    assert jx.vmap(lambda x: jx.pure_callback(lambda a: a, scalar(), x, vmap_method="sequential"))(
        jnp.ones(0)
    ).shape == (0,)
    jx.vmap(lambda x: debug.print("{}", x))(jnp.ones(0))
    keys = jx.random.split(jx.random.key(7), 3)
    f = lambda k: jx.pure_callback(lambda k: k, S(k.shape, k.dtype), k, vmap_method="sequential")
    for run in (f, jx.jit(f), jx.vmap(f), jx.jit(jx.vmap(f))):
        np.testing.assert_array_equal(jx.random.key_data(run(keys)), jx.random.key_data(keys))
    jx.jit(lambda k: debug.print("{}", k))(keys[0])
    assert "key<fry>" in capsys.readouterr().out
    with pytest.raises(CallbackResultError, match="where keys, key<fry>"):
        jx.pure_callback(lambda k: jx.random.key_data(k), S((3,), keys.dtype), keys)
    with pytest.raises(CallbackResultError, match=r"returned key<fry>\[2\] where keys, key<fry>\[3\], were promised"):
        jx.jit(lambda k: jx.pure_callback(lambda k: k[:2], S((3,), k.dtype), k))(keys)
    with jx.enable_x64(True):
        f64 = jx.jit(lambda x: jx.pure_callback(lambda a: jnp.sin(a) + 1.0, scalar(np.float64), x))
        assert float(f64(np.float64(1.0))) == np.sin(1.0) + 1.0


# Programs ---------------------------------------------------------------------------------------------------------------


def steps(run: Any) -> list[str]:
    found: list[str] = []
    stop = records.listen(lambda record: found.append(record.step))
    try:
        run()
    finally:
        stop()
    return found


def test_the_same_callback_compiles_once():
    def host(a):
        return a

    def make():
        return jx.jit(lambda x: (debug.print("{} {}", x, "text"), jx.pure_callback(host, scalar(), x))[1])

    made = [make() for _ in range(2)]
    assert "compile" in steps(lambda: made[0](1.0))
    again = steps(lambda: made[1](1.0))
    assert "compile" not in again and "reuse" in again


def test_functions_go_with_their_programs():
    class Function:
        def __call__(self, a):
            return np.asarray(a)

    f = Function()
    gone = weakref.ref(f)
    g = jx.jit(lambda x, f=f: jx.pure_callback(f, scalar(), x))
    h = jx.jit(lambda x, g=g: lax.scan(lambda c, y: (jx.jit(g)(c), y), x, jnp.ones(3))[0])
    assert float(h(2.0)) == float(g(2.0)) == 2
    del f
    gc.collect()
    assert gone() is not None and float(g(3.0)) == 3
    del g, h
    jx.clear_caches()
    gc.collect()
    assert gone() is None


def test_only_programs_that_call_python_pay():
    plain = jx.jit(lambda x: lax.fori_loop(0, 3, lambda i, c: jnp.sin(c), x)).lower(1.0)
    assert plain.as_text().count("%arg") and "custom_call" not in plain.as_text()
    assert not plain.compile().runtime_executable().calls_python
    printing = jx.jit(lambda x: debug.print("{}", x)).lower(1.0)
    assert printing.as_text().count("xla_ffi_python_cpu_callback") == 1
    assert printing.compile().runtime_executable().calls_python


def test_unread_calls_go_and_effects_stay():
    def f(x):
        jx.pure_callback(lambda a: a, scalar(), x)
        io_callback(lambda a: a, scalar(), x)
        debug.print("{}", x)
        return x

    text = jx.jit(f).lower(1.0).as_text()
    assert text.count("@xla_ffi_python_cpu_callback") == 2
    names = [
        eqn.primitive.name
        for _, eqn in walk(jx.make_jaxpr(jx.jit(jx.grad(lambda x: f(lax.stop_gradient(x)) * x)))(1.0).jaxpr)
    ]
    assert (names.count("io_callback"), names.count("debug_print")) == (1, 1)


def test_jaxprs_show_callbacks_and_effects():
    def save(a):
        return a

    closed = jx.make_jaxpr(lambda x: (debug.print("a {}", x), io_callback(save, scalar(), x, ordered=True))[1])(1.0)
    assert "debug_print[callback=print('a {}') ordered=False] a" in " ".join(str(closed).split())
    assert "io_callback[callback=save ordered=True] a" in " ".join(str(closed).split())
    assert sorted(map(str, closed.effects)) == ["Debug", "OrderedIO"]


def test_donation_and_python_mode(capsys):
    f = jx.jit(lambda x: (debug.print("sum {}", x.sum()), x + 1)[1], donate_argnums=0)
    x = jnp.ones(3)
    assert f(x).tolist() == [2, 2, 2] and x.is_deleted()
    with jx.disable_jit():
        lax.scan(lambda c, y: (debug.print("c {}", c), (c + y, None))[1], 0.0, jnp.ones(2))
    assert capsys.readouterr().out.splitlines() == ["sum 3.0", "c 0.0", "c 1.0"]


def test_programs_with_callbacks_are_not_run_to_be_measured():
    ran: list[float] = []
    f = jx.jit(lambda x: (debug.callback(lambda a: ran.append(float(a)), x), x + 1)[1])
    f(1.0)
    row = next(row for row in reversed(ledger().rows.values()) if row.entry is not None)
    assert not timing_document(row)["can_measure"]
    with pytest.raises(Unavailable, match="calls Python functions"):
        measure_steady(row)
    assert ran == [1.0]


def test_exporting_is_refused():
    for f in (lambda x: debug.print("{}", x), lambda x: jx.pure_callback(lambda a: a, scalar(), x)):
        with pytest.raises(NotImplementedError, match="calls Python functions"):
            jx.export.export(jx.jit(f))(1.0)


def test_print_options_and_log(capsys, caplog):
    with np.printoptions(precision=2):
        f = jx.jit(lambda x: debug.print("{}", x))
        f(jnp.array([1 / 3]))
    f(jnp.array([2 / 3]))  # the options of its trace
    assert capsys.readouterr().out == "[0.33]\n[0.67]\n"
    with caplog.at_level("INFO", logger="jitscope.debug"):
        jx.jit(lambda x: debug.log("value {}", x))(1.0)
    (record,) = caplog.records
    assert (record.getMessage(), record.levelname, record.filename) == ("value 1.0", "INFO", "test_callbacks.py")


def test_an_fstring_is_recognised():
    with pytest.raises(ValueError, match="If it is an f-string"):
        jx.jit(lambda x: debug.print(f"{x.shape}", x=x))(1.0)
