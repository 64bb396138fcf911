"""What a worker can measure: each measure prepares its data once and then gives bursts, in seconds per repetition."""

from collections import deque
from collections.abc import Callable
from contextlib import contextmanager
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from programs import PROGRAMS, STAGED
from whole_programs import WHOLE_MEASURES


Burst = Callable[[int], dict[str, float]]
"""From a number of repetitions to figures by name ("" where there is only one), in seconds per repetition."""


class Library(NamedTuple):
    """One of the two: `J` is jitscope or jax, `jnp` its numpy. `clock` measures all but programs that XLA runs on threads of
    its own, `threads` those: their CPU time says nothing, for they spin while they wait, unless there is only one."""

    name: str
    J: Any
    jnp: Any
    clock: Callable[[], float]
    threads: Callable[[], float]

    def array(self, x: Any) -> Any:
        """NumPy arrays, or trees of them, on the device."""
        return self.J.device_put(x)

    def lowered(self, traced: Any) -> Any:
        """The lowered stage with its module made: ours makes it when somebody asks."""
        stage = traced.lower()
        if self.name == "jitscope":
            stage.bytecode()
        return stage

    @contextmanager
    def ledger_off(self) -> Any:
        """Without listeners to the compiler's records (of jitscope)."""
        from jitscope.core import records

        listeners = records._listeners[:]
        records._listeners.clear()
        try:
            yield
        finally:
            records._listeners.extend(listeners)


def loop(statement: str, lib: Library, clock: Any = None, **names: Any) -> Burst:
    """A burst that repeats a statement and waits for the last result; like `timeit`, but garbage is collected as always."""
    source = f"""
def burst(count):
    start = clock()
    for _ in repeat(None, count):
        result = {statement}
    block(result)
    return {{"": (clock() - start) / count}}
"""
    scope = {
        "J": lib.J,
        "jnp": lib.jnp,
        "clock": clock or lib.clock,
        "repeat": repeat,
        "block": lib.J.block_until_ready,
    }
    scope |= names
    exec(source, scope)
    return scope["burst"]


# Calls of compiled functions ------------------------------------------------------------------------------------------


def call_1_array(lib: Library) -> Burst:
    x = lib.array(np.ones(8, np.float32))
    return loop("f(x)", lib, f=lib.J.jit(lambda x: x + 1), x=x)


def execution(lib: Library) -> Burst:
    """What is left of a call of one array if nothing is checked and nothing put together (of ours; theirs is a call)."""
    x = lib.array(np.ones(8, np.float32))
    f = lib.J.jit(lambda x: x + 1)
    if lib.name == "jax":
        return loop("f(x)", lib, f=f, x=x)
    executable = f.lower(x).compile().runtime_executable()
    return loop("run(bufs).consume_with_handlers(handlers) and f", lib, f=f(x), bufs=[x.buf], run=executable.raw_execute,
                handlers=executable.handlers)  # fmt: skip


def call_2_arrays(lib: Library) -> Burst:
    x = lib.array(np.ones(8, np.float32))
    return loop("f(x, y)", lib, f=lib.J.jit(lambda x, y: x + y), x=x, y=x + 1)


def call_tree(lib: Library) -> Burst:
    leaf = np.ones(8, np.float32)
    tree = {f"layer{i}": {"w": leaf + i, "b": leaf - i, "scale": leaf * i} for i in range(7)}
    return loop("f(tree)", lib, f=lib.J.jit(lambda t: {k: {n: x + 1 for n, x in d.items()} for k, d in t.items()}),
                tree=lib.array(tree))  # fmt: skip


def call_tree_to_one(lib: Library) -> Burst:
    leaf = np.ones(8, np.float32)
    tree = {f"layer{i}": {"w": leaf + i, "b": leaf - i, "scale": leaf * i} for i in range(7)}
    return loop("f(tree)", lib, f=lib.J.jit(lambda t: sum(x for d in t.values() for x in d.values())),
                tree=lib.array(tree))  # fmt: skip


def call_keywords(lib: Library) -> Burst:
    x = lib.array(np.ones(8, np.float32))
    return loop("f(x, scale=y)", lib, f=lib.J.jit(lambda x, scale: x * scale), x=x, y=x + 1)


def call_static(lib: Library) -> Burst:
    def f(x, n, mode):
        return x * n if mode == "times" else x + n

    x = lib.array(np.ones(8, np.float32))
    return loop("f(x, 3, mode='times')", lib, f=lib.J.jit(f, static_argnums=1, static_argnames="mode"), x=x)


def call_scalar(lib: Library) -> Burst:
    x = lib.array(np.ones(8, np.float32))
    return loop("f(x, 0.5)", lib, f=lib.J.jit(lambda x, rate: x * rate), x=x)


def call_numpy(lib: Library) -> Burst:
    return loop("f(x)", lib, f=lib.J.jit(lambda x: x + 1), x=np.ones(8, np.float32))


# One operation at a time ----------------------------------------------------------------------------------------------

# No matrix products: how soon a thread of XLA's wakes up would decide.
EAGER_OPERATIONS = (
    "a + b", "a + 1", "a * b", "-a", "jnp.sin(a)", "a < b", "jnp.where(mask, a, b)", "a.astype(jnp.int32)",
    "jnp.sum(m)", "jnp.sum(m, axis=0)", "jnp.mean(m, axis=1)", "m.max()", "jnp.argmax(m, axis=1)", "jnp.any(mask)",
)  # fmt: skip
EAGER_STRUCTURE = (
    "a[0]", "m[0]", "a[2:5]", "m[1:3, ::2]", "a[None, :]", "a[index]", "a.at[0].set(1.0)",
    "jnp.reshape(m, (16, 4))", "m.reshape(-1)", "m.T", "jnp.concatenate([a, b])", "jnp.stack([a, b])",
    "jnp.zeros((8, 8))", "jnp.ones(8)", "jnp.full((8,), 2.0)", "jnp.arange(8)", "jnp.linspace(0.0, 1.0, 8)",
    "jnp.array([1.0, 2.0, 3.0])", "jnp.asarray(host)",
)  # fmt: skip


def eager(statement: str) -> Callable[[Library], Burst]:
    def prepare(lib: Library) -> Burst:
        host = np.linspace(0.0, 1.0, 8, dtype=np.float32)
        a, m = lib.array(host), lib.array(np.ones((8, 8), np.float32))
        names = {"a": a, "b": a + 1, "m": m, "mask": lib.array(host > 0.5), "index": lib.array(np.array([3, 1, 2])),
                 "host": host}  # fmt: skip
        return loop(statement, lib, **names)

    return prepare


def eager_grad(lib: Library) -> Burst:
    jnp = lib.jnp
    return loop("J.grad(f)(x)", lib, f=lambda x: jnp.sum(jnp.sin(x) * x), x=lib.array(np.ones(8, np.float32)))


def eager_mlp_grad(lib: Library) -> Burst:
    jnp = lib.jnp

    def loss(params, x):
        for w in params:
            x = jnp.tanh(x @ w)
        return jnp.mean(x**2)

    params = lib.array([0.1 * np.ones((16, 16), np.float32) for _ in range(3)])
    x = lib.array(np.ones((4, 16), np.float32))
    return loop("J.value_and_grad(f)(params, x)", lib, lib.threads, f=loss, params=params, x=x)


def eager_jit_grad(lib: Library) -> Burst:
    jnp = lib.jnp
    f = lib.J.jit(lambda x: jnp.sum(jnp.sin(x) * x))
    return loop("J.grad(f)(x)", lib, f=f, x=lib.array(np.ones(8, np.float32)))


def eager_vmap(lib: Library) -> Burst:
    jnp = lib.jnp
    return loop("J.vmap(f)(xs)", lib, f=lambda x: jnp.sum(jnp.sin(x) * x), xs=lib.array(np.ones((16, 8), np.float32)))


def eager_vmap_two(lib: Library) -> Burst:
    jnp = lib.jnp
    shift, xs = lib.array(np.ones(8, np.float32)), lib.array(np.ones((16, 8), np.float32))
    return loop(
        "J.vmap(f, in_axes=(None, 0))(shift, xs)", lib, f=lambda s, x: jnp.maximum(s - x, 0.0), shift=shift, xs=xs
    )


def eager_vmap_grad(lib: Library) -> Burst:
    jnp = lib.jnp
    return loop("J.vmap(J.grad(f))(xs)", lib, f=lambda x: jnp.sum(jnp.sin(x) * x),
                xs=lib.array(np.ones((16, 8), np.float32)))  # fmt: skip


# The stages of a compilation ------------------------------------------------------------------------------------------


def stages(program: str, alive: int = 0) -> Callable[[Library], Burst]:
    """Tracing and lowering of a function object that was never seen; so many stay alive with their traces."""

    def prepare(lib: Library) -> Burst:
        make, args = PROGRAMS[program].make, lib.array(PROGRAMS[program].arguments())
        clock, kept = lib.clock, deque(maxlen=alive)

        def burst(count: int) -> dict[str, float]:
            trace = lower = 0.0
            for _ in range(count):
                fun = make(lib.J, lib.jnp)
                start = clock()
                traced = lib.J.jit(fun).trace(*args)
                middle = clock()
                lib.lowered(traced)
                lower += clock() - middle
                kept.append(traced)
                trace += middle - start
            return {"trace": trace / count, "lower": lower / count, "both": (trace + lower) / count}

        burst(1)
        return burst

    return prepare


def compilation(program: str) -> Callable[[Library], Burst]:
    """From the lowered program to machine code, with all caches empty."""

    def prepare(lib: Library) -> Burst:
        make, args = PROGRAMS[program].make, lib.array(PROGRAMS[program].arguments())

        def burst(count: int) -> dict[str, float]:
            seconds = 0.0
            for _ in range(count):
                lib.J.clear_caches()
                lowered = lib.lowered(lib.J.jit(make(lib.J, lib.jnp)).trace(*args))
                start = lib.clock()
                lowered.compile()
                seconds += lib.clock() - start
            return {"": seconds / count}

        return burst

    return prepare


def steady(program: str) -> Callable[[Library], Burst]:
    """A compiled program, run until its results are there, again and again."""

    def prepare(lib: Library) -> Burst:
        args = lib.array(PROGRAMS[program].arguments())
        fun = lib.J.jit(PROGRAMS[program].make(lib.J, lib.jnp))
        return loop("block(f(*args))", lib, lib.threads, f=fun, args=args)

    return prepare


# The ledger -----------------------------------------------------------------------------------------------------------


def with_and_without(burst_of: Callable[[Library], Burst], which: str | None = None) -> Callable[[Library], Burst]:
    """A measure of jitscope alone: figures "on" and "off", with and without listeners to its records."""

    def prepare(lib: Library) -> Burst:
        from jitscope_scope.observe import ledger

        ledger()
        burst = burst_of(lib)
        turn = [False]

        def both(count: int) -> dict[str, float]:
            turn[0] = not turn[0]
            figures = {}
            for state in ("on", "off") if turn[0] else ("off", "on"):
                if state == "on":
                    figures[state] = burst(count)[which or ""]
                else:
                    with lib.ledger_off():
                        figures[state] = burst(count)[which or ""]
            return figures

        return both

    return prepare


MEASURES: dict[str, Callable[[Library], Burst]] = {
    "call:1 array": call_1_array,
    "call:2 arrays": call_2_arrays,
    "call:21-leaf dict": call_tree,
    "call:21-leaf dict to one array": call_tree_to_one,
    "call:keywords": call_keywords,
    "call:static arguments": call_static,
    "call:array and number": call_scalar,
    "call:NumPy array": call_numpy,
    "call:XLA's part of 1 array": execution,
    "grad:small function": eager_grad,
    "grad:3-layer MLP": eager_mlp_grad,
    "grad:jitted function": eager_jit_grad,
    "vmap:small function": eager_vmap,
    "vmap:one of two arguments": eager_vmap_two,
    "vmap:of a gradient": eager_vmap_grad,
    "ledger:call": with_and_without(call_2_arrays),
    "ledger:trace": with_and_without(stages("mlp", alive=100), "trace"),
}
MEASURES |= {f"eager:{text}": eager(text) for text in EAGER_OPERATIONS + EAGER_STRUCTURE}
MEASURES |= {f"stages:{name}": stages(name) for name in STAGED}
MEASURES |= {f"compile:{name}": compilation(name) for name in STAGED}
MEASURES |= {f"steady:{name}": steady(name) for name in PROGRAMS}
MEASURES |= WHOLE_MEASURES
