"""Programs with callbacks: their results, what the callbacks saw (`seen`), and what was printed."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.oracle.library import Library


# Every kind of callback in every place ---------------------------------------------------------------------------------


def _noting(seen: list[Any]) -> Callable[[Any], Any]:
    def note(a):
        seen.append(float(a))
        return np.asarray(a) * np.float32(2)

    return note


def _like(o: Any, x: Any) -> Any:
    return o.jx.ShapeDtypeStruct(o.jnp.shape(x), np.float32)


def _after(x: Any, _: Any) -> Any:
    return x + x


KINDS: dict[str, Callable[..., Any]] = {
    "pure": lambda o, seen, x: o.jx.pure_callback(_noting(seen), _like(o, x), x, vmap_method="sequential"),
    "pure unrolled": lambda o, seen, x: o.jx.pure_callback(
        _noting(seen), _like(o, x), x, vmap_method="sequential_unrolled"
    ),
    "io": lambda o, seen, x: o.experimental.io_callback(_noting(seen), _like(o, x), x),
    "io ordered": lambda o, seen, x: o.experimental.io_callback(_noting(seen), _like(o, x), x, ordered=True),
    "print": lambda o, seen, x: _after(x, o.debug.print("saw {}", x)),
    "print ordered": lambda o, seen, x: _after(x, o.debug.print("saw {x}", x=x, ordered=True)),
    "callback": lambda o, seen, x: _after(x, o.debug.callback(_noting(seen), x)),
    "callback ordered": lambda o, seen, x: _after(x, o.debug.callback(_noting(seen), x, ordered=True)),
}

X = np.float32(1.5)
XS = np.array([0.5, 1.5, 2.5], np.float32)


def _ruled(o: Any, f: Any) -> Any:
    """The function with a derivative of its own: that of the sine."""
    g = o.jx.custom_jvp(f)
    g.defjvp(lambda xs, ts: (f(*xs), o.jnp.cos(xs[0]) * ts[0]))
    return g


PLACES: dict[str, Callable[..., Any]] = {
    "eager": lambda o, f: f(X),
    "jit": lambda o, f: o.jx.jit(f)(X),
    "jit in jit": lambda o, f: o.jx.jit(lambda x: o.jx.jit(f)(x) + o.jx.jit(f)(x + 1))(X),
    "vmap": lambda o, f: o.jx.vmap(f)(XS),
    "jit vmap": lambda o, f: o.jx.jit(o.jx.vmap(f))(XS),
    "vmap jit": lambda o, f: o.jx.vmap(o.jx.jit(f))(XS),
    "vmap vmap": lambda o, f: o.jx.vmap(o.jx.vmap(f))(np.stack([XS, XS + 4])),
    "vmap of one for all": lambda o, f: o.jx.vmap(lambda x, y: f(y) + x, in_axes=(0, None))(XS, X),
    "scan": lambda o, f: o.lax.scan(lambda c, x: (f(c) - x, f(x)), X, XS),
    "jit scan": lambda o, f: o.jx.jit(lambda xs: o.lax.scan(lambda c, x: (f(c) - x, f(x)), X, xs))(XS),
    "scan reverse": lambda o, f: o.lax.scan(lambda c, x: (c + f(x), None), X, XS, reverse=True, unroll=2),
    "vmap scan": lambda o, f: o.jx.vmap(lambda x: o.lax.scan(lambda c, y: (f(c) - y, c), x, XS[:2]))(XS),
    "cond taken": lambda o, f: o.jx.jit(lambda x: o.lax.cond(x > 0, f, lambda x: x, x))(X),
    "cond not taken": lambda o, f: o.jx.jit(lambda x: o.lax.cond(x < 0, f, lambda x: x, x))(X),
    "cond eager": lambda o, f: o.lax.cond(X > 0, f, lambda x: x, X),
    "vmap cond of one for all": lambda o, f: o.jx.vmap(lambda x: o.lax.cond(X > 0, f, lambda x: x, x))(XS),
    "switch in scan": lambda o, f: o.lax.scan(
        lambda c, i: (o.lax.switch(i, [f, lambda x: x - 1, lambda x: f(x + 1)], c), c),
        X,
        np.array([0, 1, 2, 0], np.int32),
    ),
    "while": lambda o, f: o.jx.jit(lambda x: o.lax.while_loop(lambda c: c < 20, f, x))(X),
    "while condition": lambda o, f: o.jx.jit(lambda x: o.lax.while_loop(lambda c: f(c) < 20, lambda c: c + 3, x))(X),
    "fori": lambda o, f: o.lax.fori_loop(0, 3, lambda i, c: f(c), X),
    "map": lambda o, f: o.lax.map(f, XS),
    "jvp": lambda o, f: o.jx.jvp(lambda x: o.jnp.sin(f(x)), (X,), (X,)),
    "grad": lambda o, f: o.jx.grad(lambda x: o.jnp.sin(f(x)))(X),
    "jit grad": lambda o, f: o.jx.jit(o.jx.grad(lambda x: o.jnp.sin(f(x))))(X),
    "grad jit": lambda o, f: o.jx.grad(o.jx.jit(lambda x: o.jnp.sin(f(x))))(X),
    "vmap grad": lambda o, f: o.jx.vmap(o.jx.grad(lambda x: o.jnp.sin(f(x))))(XS),
    "grad of a constant": lambda o, f: o.jx.grad(lambda x: f(o.lax.stop_gradient(x)) * x)(X),
    "grad scan": lambda o, f: o.jx.grad(lambda x: o.lax.scan(lambda c, y: (f(c * y), None), x, XS)[0])(X),
    "grad cond": lambda o, f: o.jx.grad(lambda x: o.lax.cond(x > 0, f, lambda x: x, x))(X),
    "linearize": lambda o, f: o.jx.linearize(lambda x: o.jnp.sin(f(x)), X)[1](X),
    "custom_jvp": lambda o, f: o.jx.grad(_ruled(o, f))(X),
    "jit custom_jvp": lambda o, f: o.jx.jit(o.jx.grad(_ruled(o, f)))(X),
    "vmap grad custom_jvp": lambda o, f: o.jx.vmap(o.jx.grad(_ruled(o, f)))(XS),
}

_FULL = ("pure", "io", "io ordered", "print", "print ordered")
_FEW = ("vmap", "jit vmap", "vmap scan", "jit scan", "while condition", "grad scan")
GRID = [(kind, place) for kind in KINDS for place in PLACES if kind in _FULL or place in _FEW]

# Single questions ------------------------------------------------------------------------------------------------------

_2x3 = np.arange(6, dtype=np.float32).reshape(2, 3)


def _shapes(o: Any, seen: list[Any], method: Any, in_axes: Any, *args: Any, twice: bool = False) -> Any:
    """What the function is called with under vmap: `f(x, y)` sums x (a vector) and y (a scalar)."""

    def host(x, y):
        x, y = np.asarray(x), np.asarray(y)
        seen.append((x.shape, y.shape))
        return (x.sum(-1) + y).astype(np.float32), {"double": (x * np.float32(2))}

    def f(x, y):
        promised = o.jx.ShapeDtypeStruct((), np.float32), {"double": o.jx.ShapeDtypeStruct((3,), np.float32)}
        return o.jx.pure_callback(host, promised, x, y, vmap_method=method)

    mapped = o.jx.vmap(f, in_axes=in_axes)
    return (o.jx.vmap(mapped, in_axes=(0, None)) if twice else mapped)(*args)


def _given(o: Any, seen: list[Any], value: Any, promised: Any = np.float32, shape: Any = (), **kwargs: Any) -> Any:
    return o.jx.jit(lambda: o.jx.pure_callback(lambda: value, o.jx.ShapeDtypeStruct(shape, promised), **kwargs))()


def _type(seen: list[Any]) -> Callable[[Any], Any]:
    def host(a):
        seen.append([str(a.dtype), np.shape(a), str((a / 2).dtype), str((a + 1).dtype)])
        return np.zeros((), np.float32)

    return host


QUESTIONS: dict[str, Callable[..., Any]] = {
    **{
        f"{method} {axes} {'twice' if twice else ''}": lambda o, seen, method=method, axes=axes, twice=twice: _shapes(
            o,
            seen,
            method,
            axes,
            np.stack([_2x3, _2x3 + 1, _2x3]) if twice else _2x3 if axes[0] == 0 else _2x3[0],
            np.arange(2, dtype=np.float32) if axes[1] == 0 else X,
            twice=twice,
        )
        for method in ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all", None, "wrong")
        for axes, twice in (((0, 0), False), ((0, None), False), ((None, 0), False), ((0, None), True))
    },
    "legacy_vectorized": lambda o, seen: _shapes(o, seen, "legacy_vectorized", (0, 0), _2x3, np.ones(2, np.float32)),
    "a Python float": lambda o, seen: _given(o, seen, 0.5),
    "a Python int": lambda o, seen: _given(o, seen, 3, np.int32),
    "an int where a float is promised": lambda o, seen: _given(o, seen, 3),
    "a bool": lambda o, seen: _given(o, seen, True, np.bool_),
    "float64": lambda o, seen: _given(o, seen, np.float64(2.5)),
    "a wrong shape": lambda o, seen: _given(o, seen, np.zeros(3, np.float32)),
    "a wrong dtype": lambda o, seen: _given(o, seen, np.int8(3)),
    "None": lambda o, seen: _given(o, seen, None),
    "text": lambda o, seen: _given(o, seen, "text"),
    "two for one": lambda o, seen: _given(o, seen, (np.float32(1), np.float32(2))),
    "a list for an array": lambda o, seen: _given(o, seen, [1.0, 2.0], np.float32, (2,)),
    "a 64-bit dtype": lambda o, seen: o.jx.pure_callback(lambda: 1.0, o.jx.ShapeDtypeStruct((), np.float64)),
    "a list for a tuple": lambda o, seen: o.jx.pure_callback(
        lambda: [np.float32(1), np.int32(2)],
        (o.jx.ShapeDtypeStruct((), np.float32), o.jx.ShapeDtypeStruct((), np.int32)),
    ),
    "a named tuple": lambda o, seen: o.jx.pure_callback(
        np.linalg.slogdet, (o.jx.ShapeDtypeStruct((), np.float32),) * 2, np.eye(2, dtype=np.float32) * 3
    ),
    "keywords": lambda o, seen: o.jx.pure_callback(
        lambda a, *, b: np.asarray(a) - np.asarray(b["c"]), o.jx.ShapeDtypeStruct((3,), np.float32), XS, b={"c": X}
    ),
    "what it is given": lambda o, seen: [
        o.jx.jit(lambda x: o.jx.pure_callback(_type(seen), o.jx.ShapeDtypeStruct((), np.float32), x))(x)
        for x in (XS, np.arange(3, dtype=np.int32), np.float16(1), 2.0, 3, True)
    ],
    "io that gives nothing": lambda o, seen: o.jx.jit(
        lambda x: o.experimental.io_callback(lambda a: seen.append(float(a)), None, x)
    )(X),
    "io whose result is not read": lambda o, seen: o.jx.jit(
        lambda x: (o.experimental.io_callback(_noting(seen), o.jx.ShapeDtypeStruct((), np.float32), x), x)[1]
    )(X),
    "pure whose result is not read": lambda o, seen: o.jx.jit(
        lambda x: (o.jx.pure_callback(_noting(seen), o.jx.ShapeDtypeStruct((), np.float32), x), x)[1]
    )(X),
    "a result of debug.callback": lambda o, seen: o.debug.callback(lambda a: "anything", X),
    "not callable": lambda o, seen: o.debug.callback(3, X),
    "callback with text": lambda o, seen: o.jx.jit(
        lambda x: o.debug.callback(lambda *a, **k: seen.append(str((a, k))), "text", x, None, flag=str, n=[x, "b"])
    )(X),
    "options first": lambda o, seen: o.jx.jit(lambda x: o.debug.callback(ordered=True)(_noting(seen), x))(X),
    "options first, with arguments": lambda o, seen: o.debug.callback(x=X),
    "an exception": lambda o, seen: o.jx.jit(lambda: o.debug.callback(lambda: {}["key"]))(),
}

PRINTS: dict[str, Callable[..., Any]] = {
    "plain": lambda p, x: p("hello"),
    "positional": lambda p, x: p("{} and {}", x, x.sum()),
    "numbered": lambda p, x: p("{1} {0}", x[0], x[1]),
    "named": lambda p, x: p("{a} {b}", a=x, b=x[0]),
    "spec": lambda p, x: p("{:.3f}|{a:>8}|{b:e}", x[0], a=x[1], b=x[2]),
    "attribute": lambda p, x: p("{x.shape} {x.dtype}", x=x),
    "trees": lambda p, x: p("{} {t}", {"a": x[0], "b": [x[1]]}["a"], t=x),
    "whole trees": lambda p, x: p("{} {t}", {"a": x[0], "b": [x[1], None]}, t=(x, x[2])),
    "an object's text": lambda p, x: p("{!r} {!s}", x, x[0]),
    "text": lambda p, x: p("{} {}", "some text", x[0]),
    "numbers": lambda p, x: p("{} {} {}", 1, 2.5, True),
    "braces": lambda p, x: p("{{literal}} {}", x[0]),
    "a matrix": lambda p, x: p("m\n{}", x.reshape(1, 3)),
    "too few": lambda p, x: p("{} {}", x),
    "unknown name": lambda p, x: p("{a}", b=x),
    "unused": lambda p, x: p("{}", x, x),
    "unused name": lambda p, x: p("nothing", a=x),
    "unchecked": lambda p, x: p("nothing", x, skip_format_check=True),
    "options first": lambda p, x: p(ordered=True)("{}", x),
    "options first, with arguments": lambda p, x: p(x=x),
}

# Running them ----------------------------------------------------------------------------------------------------------

# Where effects have no promised order JAX's come as they come; ours come in the order of the program.
UNORDERED = {"pure", "pure unrolled", "io", "print", "callback"}
DIFFERENT = {
    "io in vmap cond of one for all": "JAX does not vmap a cond with io_callback; where all take one branch it is plain",
    "io ordered in vmap cond of one for all": "JAX raises NotImplementedError",
    "an exception": "JAX raises its own error; here the callback's exception comes back as itself",
    "printing: braces": "JAX prints a format that begins with {{ unformatted",
}


def told(o: Library, run: Callable[[list[Any]], Any], ordered: bool = True) -> dict[str, Any]:
    """Results, what callbacks saw, and what was printed."""
    seen: list[Any] = []
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        leaves = [np.asarray(x) for x in o.tree.leaves(run(seen))]
        o.jx.effects_barrier()
    sort = list if ordered else sorted
    return {"results": leaves, "seen": sort(map(repr, seen)), "printed": sort(out.getvalue().splitlines())}


def in_place(o: Library, kind: str, place: str) -> Callable[[list[Any]], Any]:
    return lambda seen: PLACES[place](o, lambda x: KINDS[kind](o, seen, x))


def question(o: Library, name: str) -> Callable[[list[Any]], Any]:
    return lambda seen: QUESTIONS[name](o, seen)


def printing(o: Library, name: str) -> Callable[[list[Any]], Any]:
    def both(seen: list[Any]) -> None:
        PRINTS[name](o.debug.print, o.jnp.asarray(XS))
        o.jx.jit(lambda x: PRINTS[name](o.debug.print, x))(XS)

    return both


def _case(make: Callable[..., Any], *args: str) -> Callable[[Library], Any]:
    return lambda o: told(o, make(o, *args), args[0] not in UNORDERED)


CASES = {
    **{f"{kind} in {place}": _case(in_place, kind, place) for kind, place in GRID},
    **{name: _case(question, name) for name in QUESTIONS},
    **{f"printing: {name}": _case(printing, name) for name in PRINTS},
}
