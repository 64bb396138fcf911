"""Whose memory it is: views outlive arrays, numbers stay what they are, and what is over leaves nothing behind."""

from __future__ import annotations

import copy
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.forgetful_caches import RecencyCache
from jitscope.errors import DeletedArrayError
from tests.compiler.programs import in_new_process, needs_proc
from tests.extent import some


DTYPES = ["float32", "int8", "bool", "complex64", "bfloat16", "float8_e4m3fn", "int4"]


# Views ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("end", ["delete", "donate", "drop"])
def test_views_keep_the_memory(dtype: str, end: str) -> None:
    """Whichever goes first, the values stay, and the process as well."""
    wide = dtype not in ("bfloat16", "float8_e4m3fn", "int4")
    for how in (np.asarray, np.from_dlpack, lambda x: x.__dlpack__()) if wide else (np.asarray,):
        values = np.arange(1, 7).astype(getattr(ml_dtypes, dtype, dtype))
        x = jnp.asarray(values)
        views = [how(x), how(x)]
        if end == "delete":
            x.delete(), x.delete()
        elif end == "donate":
            y = jx.jit(lambda a: ~a if a.dtype == bool else a + a, donate_argnums=0)(x)
            assert y.shape == (6,)
        del x
        new = [jnp.zeros(6, dtype) for _ in range(20)]
        for view in views:
            if isinstance(view, np.ndarray):
                assert view.tobytes() == values.tobytes()
        del views, new


def test_reading_in_one_thread_what_another_deletes() -> None:
    """It reads the values or is told that they are gone."""
    wrong: list[BaseException] = []

    def read() -> None:
        try:
            for _ in range(300):
                assert np.from_dlpack(x)[0] == 1 and np.asarray(y)[0] == 1
        except DeletedArrayError:
            pass
        except BaseException as error:
            wrong.append(error)

    for _ in range(100):
        x, y = jnp.ones(64), jnp.ones(64, "bfloat16")
        threads = [threading.Thread(target=read) for _ in range(3)]
        [t.start() for t in threads]
        x.delete(), y.delete()
        [t.join() for t in threads]
    assert not wrong


def test_what_comes_from_another_array_is_its_own() -> None:
    for make in (copy.copy, jx.dlpack.from_dlpack, jnp.from_dlpack, jx.jit(lambda a: a), jnp.copy):
        x = jnp.arange(3.0)
        y = make(x)
        x.delete()
        np.testing.assert_array_equal(y, [0, 1, 2])


# Numbers --------------------------------------------------------------------------------------------------------------


def uses_of(number: Any) -> list[Any]:
    x = jnp.ones(3)
    plus = jx.jit(lambda a, b: a + b)
    values = [x + number, x > number, jnp.sin(number), jnp.asarray(number), plus(x, number), plus(number, number),
              jnp.where(x > 0, number, 1), jnp.maximum(x, number), jx.device_put(number)]  # fmt: skip
    return [np.asarray(v).tolist() for v in values]


def freed(x: Any) -> None:
    for leaf in jx.tree.leaves(x):
        leaf.delete()


def more(a: Any, b: Any) -> Any:
    return jx.tree.map(lambda x: x + 1, (a, b))


ENDS: dict[str, Callable[[Any], Any]] = {
    "donated": lambda n: jx.jit(more, donate_argnums=0)(n, jnp.ones(3)),
    "donated in a tree": lambda n: jx.jit(more, donate_argnums=0)({"k": [n]}, jnp.ones(3)),
    "donated by name": lambda n: jx.jit(more, donate_argnames="b")(jnp.ones(3), b=n),
    "donated and passed": lambda n: jx.jit(more, donate_argnums=0)(n, n),
    "donated twice": lambda n: jx.jit(more, donate_argnums=(0, 1))(n, n),
    "donated to a compiled stage": lambda n: jx.jit(more, donate_argnums=0).lower(n, jnp.ones(3)).compile()(n, jnp.ones(3)),
    "device_put": lambda n: freed(jx.device_put(n)),
    "device_put of a tree": lambda n: freed(jx.device_put({"a": n, "b": [n, np.float32(n)]})),
    "asarray": lambda n: freed(jnp.asarray(n)),
    "jit": lambda n: freed(jx.jit(lambda a: (a, n))(n)),
    "value_and_grad": lambda n: freed(jx.value_and_grad(lambda a: 1.0 * a)(float(n))),
    "vjp": lambda n: freed(jx.vjp(lambda a: a, float(n))[0]),
    "jvp": lambda n: freed(jx.jvp(lambda a: a, (float(n),), (float(n),))),
    "fori_loop": lambda n: freed(lax.fori_loop(0, 0, lambda i, c: c, n)),
    "functions that change nothing": lambda n: freed([jnp.real(n), jnp.ravel(n), jnp.conj(n), lax.stop_gradient(jnp.asarray(n))]),
}  # fmt: skip


@pytest.mark.parametrize("number", [0, 2.25])
@pytest.mark.parametrize("end", ENDS)
def test_a_number_stays_what_it_is(number: Any, end: str) -> None:
    """Numbers are kept on the device for the next use; nobody can give that memory away or free it."""
    before, other = uses_of(number), jx.device_put(number)
    for _ in range(2):
        ENDS[end](number)
        assert uses_of(number) == before
    assert other == number


# What is left behind --------------------------------------------------------------------------------------------------


def grows(program: str, limit: float) -> str:
    """What is wrong where `work()` of a program, when it ran once before, takes more MiB for good than a limit, in each of three runs:
    memory that a machine under load hands out in larger pieces is no leak. It runs in a process of its own."""
    return in_new_process(f"""
import gc
import numpy as np, jitscope as jx, jitscope.numpy as jnp
from jitscope import lax

def used():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20

{textwrap.dedent(program)}
work()
grown = []
while len(grown) < 3 and min(grown, default={limit}) >= {limit}:
    before = used()
    work()
    grown.append(used() - before)
print(grown if min(grown) >= {limit} else "")
""")  # fmt: skip


@needs_proc
@pytest.mark.parametrize(
    "call", some(["f(x)", "x + x", "jnp.sin(x)", "g(x, k=x)", "lax.neg(x)"], always="f(x) jnp.sin(x)")
)
def test_many_calls_leave_nothing(call: str) -> None:
    """A hundred bytes were left of each, until somebody waited for an array."""
    program = f"""
        x, f, g = jnp.ones(3), jx.jit(lambda x: x + 1), jx.jit(lambda x, k: (x, k))
        gc.disable()
        def work():
            for _ in range(40_000):
                {call}
    """
    assert not grows(program, 1.5)


@needs_proc
def test_programs_go_with_their_functions() -> None:
    """A third of a megabyte stayed of each."""
    program = """
        def work(numbers=iter(range(1000))):
            for _ in range(45):
                k = next(numbers)
                jx.jit(lambda x: jnp.cos(x * (k + 0.5)).sum())(jnp.ones(3))
    """
    assert not grows(program, 7)


def test_what_is_made_of_a_program_is_bounded() -> None:
    """A jaxpr remembers its derivatives, maps and programs, under keys that users may choose."""
    f = jx.jit(lambda x: x * 2.0)
    closed = jx.make_jaxpr(f)(jnp.ones(2)).eqns[0].params["jaxpr"]
    for n in range(400):
        jx.eval_shape(jx.vmap(f), jx.ShapeDtypeStruct((n + 1, 2), "float32"))
    assert 0 < len(closed.derived) <= 256


def test_a_cache_forgets_what_was_not_used_for_longest() -> None:
    cache = RecencyCache(8)
    for i in range(100):
        cache.keep(i, str(i))
        if cache.get(0) is None:
            assert cache.again(0) == "0"
    assert len(cache) + len(cache.old) <= 8 and cache.get(99) == "99"
    assert cache.again(50) is None
    cache.clear()
    assert cache.get(0) is None and cache.again(0) is None


def test_a_first_call_leaves_no_cycles() -> None:
    code = """
    import gc
    import jitscope as jx, jitscope.numpy as jnp
    x = jnp.ones(3)
    jx.jit(lambda x: x.sum())(x)
    gc.collect()
    gc.disable()
    jx.jit(lambda x: jnp.where(x > 0, jnp.sin(x), x) @ x)(x).block_until_ready()
    print(gc.collect())
    """
    assert in_new_process(code) == "0"
