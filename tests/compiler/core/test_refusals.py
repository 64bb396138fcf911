"""What is refused before it ends the process, or gives a wrong result without a word."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.backend.disk.folder import Unusable, open_mine, prepare
from jitscope.errors import CallbackResultError
from tests.compiler.programs import in_new_process


# Sizes beyond any memory: XLA ends the process ------------------------------------------------------------------------

BIG = 2**31
HUGE: dict[str, Callable[[], Any]] = {
    "zeros": lambda: jnp.zeros(2**62),
    "a product that wraps to 0": lambda: jnp.zeros((2**32, 2**32)),
    "full": lambda: jnp.full((BIG, BIG, 3), 1.0),
    "broadcast_to": lambda: jnp.broadcast_to(jnp.ones(1), (BIG, BIG)),
    "iota": lambda: lax.iota("int32", 2**62),
    "pad": lambda: jnp.pad(jnp.ones(3), 2**60),
    "tile": lambda: jnp.tile(jnp.ones(3), 2**60),
    "repeat": lambda: jnp.repeat(jnp.ones(3), 2**60),
    "an outer product": lambda: jnp.ones((1, 1, 1)) * jnp.broadcast_to(jnp.ones(1), (BIG, BIG, 2)),
    "vmap": lambda: jx.vmap(lambda x: jnp.broadcast_to(x, (BIG, BIG)))(jnp.ones(3)),
    "random": lambda: jx.random.bits(jx.random.key(0), (BIG, BIG)),
}


@pytest.mark.parametrize("name", HUGE)
def test_sizes_beyond_any_memory(name: str) -> None:
    for run in (HUGE[name], jx.jit(HUGE[name]), lambda: jx.make_jaxpr(HUGE[name])()):
        with pytest.raises(MemoryError, match=r"shape \(.*larger than any memory(.|\n)*in line"):
            run()
    assert float(jnp.sin(0.0)) == 0


# Masks ----------------------------------------------------------------------------------------------------------------

MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
TAKEN: dict[str, Callable[[Any], Any]] = {
    "asarray": jnp.asarray, "array": jnp.array, "a list": lambda m: jnp.array([m, m]), "device_put": jx.device_put,
    "add": lambda m: jnp.ones(3) + m, "add from the left": lambda m: m + jnp.ones(3), "sum": jnp.sum, "lax": lax.sin,
    "jit": jx.jit(lambda x: x), "a tree": lambda m: jx.jit(lambda x: x)({"a": [m]}), "closure": lambda m: jx.jit(lambda x: x + m)(1.0),
    "result": lambda m: jx.jit(lambda x: m)(1.0), "grad": jx.grad(lambda x: x.sum()), "vmap": jx.vmap(lambda x: x),
    "scan": lambda m: lax.scan(lambda c, x: (c + x, x), 0.0, m), "index": lambda m: jnp.ones(3)[m.astype(int)],
    "set": lambda m: jnp.ones(3).at[:].set(m), "concatenate": lambda m: jnp.concatenate([jnp.ones(3), m]), "from_dlpack": jnp.from_dlpack,
    "callback": lambda m: jx.pure_callback(lambda: m.astype("float32"), jx.ShapeDtypeStruct((3,), "float32")),
}  # fmt: skip


@pytest.mark.parametrize("how", TAKEN)
def test_masked_arrays(how: str) -> None:
    with pytest.raises((ValueError, CallbackResultError), match="mask"):
        TAKEN[how](MASKED)


# Trees that do not end ------------------------------------------------------------------------------------------------


def test_trees_without_end_are_refused_and_the_process_goes_on() -> None:
    """jaxlib's walk would leave Python's count of calls used up: the next call of anything would fail."""
    done = in_new_process("""
        import jitscope as jx

        class Self: pass
        class New: pass
        class Bad: pass
        def fail(x): raise KeyError("here")
        jx.tree_util.register_pytree_node(Self, lambda x: ((x,), None), lambda _, xs: Self())
        jx.tree_util.register_pytree_node(New, lambda x: ((New(),), None), lambda _, xs: New())
        jx.tree_util.register_pytree_node(Bad, fail, lambda _, xs: Bad())
        held, keyed, deep = [], {}, []
        held.append(held)
        keyed["a"] = keyed
        for _ in range(50_000):
            deep = [deep]
        walks = [jx.tree.leaves, jx.tree.structure, lambda t: jx.tree.map(id, t), jx.tree_util.tree_flatten_with_path,
                 lambda t: jx.tree.leaves(t, is_leaf=lambda x: x is None), jx.jit(lambda x: 0), jx.grad(lambda x: 0.0)]

        def calls(n):
            return n and 1 + calls(n - 1)

        for tree in (held, keyed, deep, Self(), New()):
            for walk in walks:
                for _ in range(3):
                    try:
                        walk(tree)
                    except RecursionError as error:
                        assert "nested too deeply, or contains itself" in str(error)
                    else:
                        raise AssertionError
                    assert calls(800) == 800
        for _ in range(400):
            try:
                jx.tree.leaves([[[[[Bad()]]]]])
            except KeyError as error:
                assert error.args == ("here",)
        assert calls(800) == 800
        try:
            calls(2000)
        except RecursionError:
            print("good")
    """)
    assert done == "good"


# The folder of programs ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs here")
def test_a_fifo_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    fifo = str(tmp_path / "small.pack")
    os.mkfifo(fifo)
    for flags in (os.O_RDONLY, os.O_RDWR):
        with pytest.raises(PermissionError):
            open_mine(fifo, flags)
    with pytest.raises(OSError):
        open_mine(fifo, os.O_WRONLY)


@pytest.mark.skipif(os.name != "posix", reason="access is told by lists here")
def test_a_folder_that_everybody_may_write_to_is_refused(tmp_path: Path) -> None:
    for mode in (0o777, 0o702):
        tmp_path.chmod(mode)
        with pytest.raises(Unusable, match="everybody may write"):
            prepare(str(tmp_path))
    tmp_path.chmod(0o755)
    assert Path(prepare(str(tmp_path))).is_dir()


# Functions that wrap each other ----------------------------------------------------------------------------------------


def test_functions_that_wrap_each_other() -> None:
    done = in_new_process("""
        import jitscope as jx

        def f(x): return x + 1
        def g(x): return x + 2
        f.__wrapped__, g.__wrapped__ = g, f
        print(jx.jit(f)(1.0), jx.grad(g)(1.0), jx.vmap(f)(jx.numpy.ones(1)))
    """)
    assert done == "2.0 1.0 [2.]"
