"""Layers as pairs of functions: `init(key, input_shape)` gives the output's shape and the parameters, `apply(params, inputs,
rng=key)` the output. Functions with capital letters make layers; some of those names are layers themselves."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import api, lax, nn, numpy as jnp, random
from ..core.annotations import Initializer


Layer = tuple[Callable[..., Any], Callable[..., Any]]

glorot, glorot_normal = nn.initializers.glorot_normal, nn.initializers.glorot_normal
normal, randn = nn.initializers.normal, nn.initializers.normal
ones, zeros = nn.initializers.ones, nn.initializers.zeros


def Dense(out_dim: int, W_init: Initializer | None = None, b_init: Initializer | None = None) -> Layer:
    """Each output a weighted sum of all inputs, and a number: [..., n] to [..., out_dim], with parameters [n, out_dim]
    and [out_dim]."""
    weights_of, bias_of = W_init or glorot_normal(), b_init or normal()

    def init(rng, input_shape):
        first, second = random.split(rng)
        params = weights_of(first, (input_shape[-1], out_dim)), bias_of(second, (out_dim,))
        return (*input_shape[:-1], out_dim), params

    def apply(params, inputs, **_):
        weights, bias = params
        return jnp.dot(inputs, weights) + bias

    return init, apply


def _convolution(
    convolve: Callable[..., Any],
    dimension_numbers: Any,
    out_chan: int,
    filter_shape: Sequence[int],
    strides: Any = None,
    padding: Any = "VALID",
    W_init: Any = None,
    b_init: Any = None,
) -> Layer:
    """A layer that convolves with filters and adds a number to each channel; `dimension_numbers` names the axes of inputs,
    filters and outputs."""
    inputs, filters, outputs = dimension_numbers
    steps = strides or (1,) * len(filter_shape)

    def run(x, w):
        return convolve(x, w, steps, padding, dimension_numbers=dimension_numbers)

    weights_of = W_init or glorot_normal(filters.index("I"), filters.index("O"))
    bias_of = b_init or normal(1e-6)

    def init(rng, input_shape):
        sizes = iter(filter_shape)
        known = {"O": out_chan, "I": input_shape[inputs.index("C")]}
        shape = tuple(known[c] if c in known else next(sizes) for c in filters)
        first, second = random.split(rng)
        params = weights_of(first, shape), bias_of(second, tuple(out_chan if c == "C" else 1 for c in outputs))
        like = [api.ShapeDtypeStruct(tuple(s), params[0].dtype) for s in (input_shape, shape)]
        return api.eval_shape(run, *like).shape, params

    def apply(params, x, **_):
        return run(x, params[0]) + params[1]

    return init, apply


GeneralConv = functools.partial(_convolution, lax.conv_general_dilated)
GeneralConvTranspose = functools.partial(_convolution, lax.conv_transpose)
Conv = functools.partial(GeneralConv, ("NHWC", "HWIO", "NHWC"))
Conv1DTranspose = functools.partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))
ConvTranspose = functools.partial(GeneralConvTranspose, ("NHWC", "HWIO", "NHWC"))


def BatchNorm(
    axis: int | Sequence[int] = (0, 1, 2),
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    beta_init: Initializer = zeros,
    gamma_init: Initializer = ones,
) -> Layer:
    """Inputs [n, ..., c] brought to mean 0 and variance 1 over `axis`, then scaled and moved, in the same shape (Ioffe
    and Szegedy, 2015)."""
    over: tuple[int, ...] = (axis,) if jnp.isscalar(axis) else tuple(axis)  # pyright: ignore[reportAssignmentType, reportArgumentType]

    def init(rng, input_shape):
        shape = tuple(n for i, n in enumerate(input_shape) if i not in over)
        first, second = random.split(rng)
        return input_shape, (beta_init(first, shape) if center else (), gamma_init(second, shape) if scale else ())

    def apply(params, x, **_):
        beta, gamma = params
        where = tuple(None if i in over else slice(None) for i in range(x.ndim))
        out = nn.standardize(x, over, epsilon=epsilon)
        out = gamma[where] * out if scale else out
        return out + beta[where] if center else out

    return init, apply


def elementwise(fun: Callable[..., Any], **fun_kwargs: object) -> Layer:
    """A layer without parameters that applies `fun`."""
    return lambda rng, input_shape: (input_shape, ()), lambda params, inputs, **_: fun(inputs, **fun_kwargs)


Tanh, Relu, Exp = elementwise(jnp.tanh), elementwise(nn.relu), elementwise(jnp.exp)
LogSoftmax, Softmax = elementwise(nn.log_softmax, axis=-1), elementwise(nn.softmax, axis=-1)
Softplus, Sigmoid, Elu = elementwise(nn.softplus), elementwise(nn.sigmoid), elementwise(nn.elu)
LeakyRelu, Selu, Gelu = elementwise(nn.leaky_relu), elementwise(nn.selu), elementwise(nn.gelu)
Identity = elementwise(lambda x: x)


def _pooling(combine: Any, start: float, mean: bool, doc: str) -> Callable[..., Layer]:
    def layer(window_shape: Any, strides: Any = None, padding: Any = "VALID", spec: str | None = None) -> Layer:
        window, steps = list(window_shape), list(strides or (1,) * len(window_shape))
        for i in sorted((0, len(window) + 1) if spec is None else (spec.index("N"), spec.index("C"))):
            window.insert(i, 1)
            steps.insert(i, 1)

        def run(x):
            out = lax.reduce_window(x, start, combine, tuple(window), tuple(steps), padding)
            if not mean:
                return out
            return out / lax.reduce_window(jnp.ones_like(x), start, combine, tuple(window), tuple(steps), padding)

        def init(rng, input_shape):
            return api.eval_shape(run, api.ShapeDtypeStruct(tuple(input_shape), jnp.float32)).shape, ()

        return init, lambda params, inputs, **_: run(inputs)

    layer.__doc__ = doc
    return layer


MaxPool = _pooling(lax.max, -jnp.inf, False, "The largest element of each window.")
SumPool = _pooling(lax.add, 0.0, False, "The sum of each window.")
AvgPool = _pooling(lax.add, 0.0, True, "The mean of each window, of the elements that are there.")

Flatten: Layer = (
    lambda rng, shape: ((shape[0], math.prod(shape[1:])), ()),
    lambda params, inputs, **_: jnp.reshape(inputs, (inputs.shape[0], -1)),
)
"""All axes but the first as one."""


def FanOut(num: int) -> Layer:
    """The input [...], `num` times."""
    return lambda rng, shape: ([shape] * num, ()), lambda params, inputs, **_: [inputs] * num


FanInSum: Layer = (lambda rng, shapes: (shapes[0], ()), lambda params, inputs, **_: sum(inputs))
"""The sum of several inputs."""


def FanInConcat(axis: int = -1) -> Layer:
    """Several inputs [..., n] joined along `axis`, [..., n + m]."""

    def init(rng, shapes):
        at, shape = axis % len(shapes[0]), list(shapes[0])
        shape[at] = sum(s[at] for s in shapes)
        return tuple(shape), ()

    return init, lambda params, inputs, **_: jnp.concatenate(inputs, axis)


def Dropout(rate: float, mode: str = "train") -> Layer:
    """Elements [...] set to zero at random; `rate` of them are kept, and divided by it (Srivastava and others, 2014).
    In another mode than "train" all are. Raises ValueError without `rng`."""

    def apply(params, inputs, *, rng=None, **_):
        if rng is None:
            raise ValueError("Dropout draws random numbers: call apply(params, inputs, rng=key)")
        if mode != "train":
            return inputs
        return jnp.where(random.bernoulli(rng, rate, inputs.shape), inputs / rate, 0)

    return lambda rng, shape: (shape, ()), apply


def _keys(rng: Any, count: int) -> Any:
    return (None,) * count if rng is None else random.split(rng, count)


def serial(*layers: Layer) -> Layer:
    """Layers one after the other."""

    def init(rng, input_shape):
        params = []
        for start, _ in layers:
            rng, own = random.split(rng)
            input_shape, made = start(own, input_shape)
            params.append(made)
        return input_shape, params

    def apply(params, inputs, *, rng=None, **kwargs):
        for (_, run), own, key in zip(layers, params, _keys(rng, len(layers))):
            inputs = run(own, inputs, rng=key, **kwargs)
        return inputs

    return init, apply


def parallel(*layers: Layer) -> Layer:
    """Layers beside each other, each with an input of its own."""

    def init(rng, shapes):
        made = [start(key, shape) for (start, _), key, shape in zip(layers, random.split(rng, len(layers)), shapes)]
        return tuple(shape for shape, _ in made), tuple(params for _, params in made)

    def apply(params, inputs, *, rng=None, **kwargs):
        runs = zip(layers, params, inputs, _keys(rng, len(layers)))
        return [run(own, x, rng=key, **kwargs) for (_, run), own, x, key in runs]

    return init, apply


def shape_dependent(make_layer: Callable[[Any], Layer]) -> Layer:
    """A layer that is made when the shape of its input is known."""

    def init(rng, input_shape):
        return make_layer(input_shape)[0](rng, input_shape)

    def apply(params, inputs, **kwargs):
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init, apply
