"""Programs that are compiled for chips that are not here, with what they are called with: those of the tour, the large ones of
tests/programs and examples/programs, and kinds of operations of their own. `SHARDED` are for eight devices."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.sharding import AxisType, NamedSharding, P


Call = tuple[Callable[..., Any], tuple[Any, ...]]


def _numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("f")


def softmax(x: Any) -> Any:
    e = jnp.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layer(x: Any, w: Any) -> Any:
    y = jnp.tanh(x) * 2
    return y.T @ w, y.sum(0), jnp.exp(y)


def layer_norm(x: Any, g: Any) -> Any:
    mean = x.mean(1, keepdims=True)
    var = ((x - mean) ** 2).mean(1, keepdims=True)
    return (x - mean) / jnp.sqrt(var + 1e-5) * g


def attention(q: Any, k: Any, v: Any) -> Any:
    s = jnp.einsum("bqd,bkd->bqk", q, k) / 8.0
    return jnp.einsum("bqk,bkd->bqd", jx.nn.softmax(s), v)


def training(w: Any, v: Any, x: Any) -> Any:
    loss = lambda w, v: jnp.mean((jnp.tanh(x @ w) @ v) ** 2)
    a, b = jx.grad(loss, (0, 1))(w, v)
    return w - 0.1 * a, v - 0.1 * b


def recurrence(x: Any, w: Any) -> Any:
    return jx.lax.scan(lambda h, row: (jnp.tanh(h @ w + row), h.sum()), x[0], x)


def ordered(x: Any) -> Any:
    return jnp.sort(x, axis=1).cumsum(1)


def dense(x: Any, w: Any, b: Any) -> Any:
    z = x @ w + b
    return 1.05 * jnp.where(z > 0, z, 1.67 * (jnp.exp(z) - 1))


def digits(params: Any, images: Any, labels: Any) -> Any:
    def loss(params: Any) -> Any:
        z = dense(images, params["w1"], params["b1"]) @ params["w2"] + params["b2"]
        z = z - z.max(axis=1, keepdims=True)
        log_p = z - jnp.log(jnp.exp(z).sum(axis=1, keepdims=True))
        return -jnp.where(labels[:, None] == jnp.arange(10), log_p, 0).sum(axis=1).mean()

    value, gradient = jx.value_and_grad(loss)(params)
    return jx.tree.map(lambda p, g: p - 0.2 * g, params, gradient), value


def convolution(x: Any, w: Any, b: Any) -> Any:
    made = jx.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jnp.maximum(made + b, 0).mean((1, 2))


def filtered(x: Any) -> Any:
    found = jnp.fft.rfft(x)
    return jnp.fft.irfft(found * jnp.exp(-jnp.arange(found.shape[-1]) / 32.0))


def embedded(table: Any, words: Any) -> Any:
    rows = table[words]
    counts = jnp.zeros(table.shape[0]).at[words.ravel()].add(1.0)
    return rows.mean(1), counts


_PARAMS = {"w1": _numbers(64, 32), "b1": _numbers(32), "w2": _numbers(32, 10), "b2": _numbers(10)}
_LABELS = (np.arange(64) % 10).astype("i")


def _own(function: Callable[..., Any], *arguments: Any) -> Callable[[], Call]:
    return lambda: (function, arguments)


def _example(name: str, **sizes: Any) -> Callable[[], Call]:
    def made() -> Call:
        module = import_module(f"examples.programs.{name}")
        return module.make(jx, jnp), module.arguments(**sizes)

    return made


def _large(name: str) -> Callable[[], Call]:
    def made() -> Call:
        module = import_module(f"tests.programs.{name}")
        return module.program, module.arguments()

    return made


def _newton() -> Call:
    module = import_module("examples.programs.newton_cg")
    problem = module.PROBLEMS["logistic"]
    return module.solver(problem, jx, jnp), (module.start(problem), *problem.data())


def _on_a_mesh(shape: tuple[int, ...], names: tuple[str, ...], *layouts: Any) -> list[Any]:
    mesh = jx.make_mesh(shape, names, axis_types=(AxisType.Auto,) * len(names))
    return [NamedSharding(mesh, layout) for layout in layouts]


def _step(w: Any, v: Any, x: Any) -> Any:
    return training(w, v, x)


def _data_parallel() -> Call:
    rows, whole = _on_a_mesh((8,), ("data",), P("data", None), P())
    w, v, x = (_numbers(*shape) for shape in ((256, 128), (128, 64), (512, 256)))
    return jx.jit(_step), (jx.device_put(w, whole), jx.device_put(v, whole), jx.device_put(x, rows))


def _two_axes() -> Call:
    """Rows of the batch over one axis, the hidden units over the other."""
    rows, columns, across = _on_a_mesh((4, 2), ("data", "model"), P("data", None), P(None, "model"), P("model", None))
    w, v, x = (_numbers(*shape) for shape in ((256, 128), (128, 64), (512, 256)))
    return jx.jit(_step), (jx.device_put(w, columns), jx.device_put(v, across), jx.device_put(x, rows))


PROGRAMS: dict[str, Callable[[], Call]] = {
    "softmax": _own(softmax, _numbers(1024, 1024)),
    "layer": _own(layer, _numbers(512, 256), _numbers(512, 128)),
    "layer norm": _own(layer_norm, _numbers(512, 1024), _numbers(1024)),
    "attention": _own(attention, _numbers(8, 128, 64), _numbers(8, 128, 64), _numbers(8, 128, 64)),
    "training step": _own(training, _numbers(256, 512), _numbers(512, 64), _numbers(128, 256)),
    "scan": _own(recurrence, _numbers(16, 128), _numbers(128, 128)),
    "sort": _own(ordered, _numbers(64, 512)),
    "layer of the tour": _own(dense, _numbers(64, 20), _numbers(20, 7), _numbers(7)),
    "step of the tour": _own(digits, _PARAMS, _numbers(64, 64), _LABELS),
    "convolution": _own(convolution, _numbers(4, 32, 32, 16), _numbers(3, 3, 16, 32), _numbers(32)),
    "Fourier transform": _own(filtered, _numbers(32, 512)),
    "gather and scatter": _own(embedded, _numbers(1000, 64), np.arange(256, dtype="i").reshape(16, 16)),
    "Black-Scholes": _example("black_scholes", options=20_000),
    "bodies": _example("nbody"),
    "Newton-CG": _newton,
    "all convolutional": _example("allconv", count=4, width=0.25),
    "transformer": _large("transformer"),
    "LSTM": _large("lstm"),
    "residual network": _large("resnet"),
    "5,000 operations": _large("unrolled"),
}

SHARDED: dict[str, Callable[[], Call]] = {
    "step over 8 devices": _data_parallel,
    "step over 4 × 2 devices": _two_axes,
}
