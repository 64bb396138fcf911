"""Small programs of many kinds of operations, for arguments of any dtype: what XLA's rewrites do to names depends on both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn


DTYPES = ("float32", "bfloat16", "float16", "float8_e4m3fn", "int8")
FLOATS = DTYPES[:4]


class Kind(NamedTuple):
    """A function of arrays of these shapes, in one of these dtypes."""

    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]

    def arguments(self, dtype: str) -> list[jx.Array]:
        random = np.random.default_rng(0)
        return [jnp.asarray(random.uniform(1, 9, shape).astype("float32")).astype(dtype) for shape in self.shapes]


KINDS: dict[str, Kind] = {}


def kind(*shapes: tuple[int, ...], dtypes: tuple[str, ...] = DTYPES) -> Callable[[Callable[..., Any]], None]:
    def keep(function: Callable[..., Any]) -> None:
        KINDS[function.__name__] = Kind(function, shapes, dtypes)

    return keep


@kind((64, 32), (32, 48))
def matmul(x, w):
    return jnp.tanh(x @ w) * 2


@kind((64, 128))
def softmax(x):
    return nn.softmax(x * 2, -1)


@kind((64, 128), (128,))
def layernorm(x, g):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(variance + 1) * g


@kind((256, 64))
def cumsum(x):
    return jnp.cumsum(x * 2, 0) + 1


@kind((256, 64))
def cumsum_of_the_last_axis(x):
    return jnp.exp(jnp.cumsum(x, 1) - x)


@kind((64, 256))
def cumprod(x):
    y = jnp.cumprod(x, 0)
    return jnp.where(y > 1, y, 0)


@kind((32, 32))
def cummax(x):
    return lax.cummax(x + 1, axis=0) * x


@kind((64, 64))
def window(x):
    return lax.reduce_window(x * 2, jnp.array(0, x.dtype), lax.add, (2, 2), (2, 2), "VALID") + 3


@kind((64, 64))
def window_of_maxima(x):
    return lax.reduce_window(x, jnp.array(0, x.dtype), lax.max, (3, 3), (1, 1), "SAME") - x


@kind((2, 16, 16, 4), (3, 3, 4, 8))
def convolution(x, w):
    y = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jnp.maximum(y, 1) * 2


@kind((16, 8), (8, 8), dtypes=FLOATS)
def scan(xs, w):
    def step(carry, x):
        carry = jnp.tanh(carry @ w + x)
        return carry, carry * 2

    return lax.scan(step, xs[0], xs)


@kind((32, 8), (8, 8))
def scatter(x, u):
    return x.at[jnp.arange(8) * 2].add(u * 2) + 1


@kind((32, 8))
def gather(x):
    return jnp.sqrt(x[jnp.array([3, 1, 2])] + 1) * 2


@kind((64, 32))
def sort(x):
    return jnp.sort(x * 2, 0) + 1


@kind((64, 32))
def argsort(x):
    return jnp.argsort(x, 1), x + 1


@kind((64,))
def random_numbers(x):
    return x * jx.random.normal(jx.random.key(1), (64,), jnp.float32).astype(x.dtype)


@kind((64, 64))
def sum_of_all(x):
    return (x * 2).sum() + x.max()


@kind((64, 64))
def sums_of_axes(x):
    return (x + 1).sum(0) * 2, jnp.prod(x, 1) - 1


@kind((64, 64))
def there_and_back(x):
    return jnp.exp(x.astype(jnp.float32)).astype(x.dtype) + x


@kind((256, 128), (128, 512), dtypes=("float32", "bfloat16", "float16"))
def selu_and_sort(x, w):
    z = x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)
    y = jnp.where(z > 0, z, 1.67 * (jnp.exp(z) - 1))
    y = y * 1.05
    return jnp.sort(jnp.cumsum(y, axis=0).T, axis=-1).astype(jnp.float32), y


@kind((8, 16, 8), (8, 8))
def attention(x, w):
    s = (x @ w) @ x.transpose(0, 2, 1)
    e = jnp.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ x


@kind((16, 8), (8, 4), dtypes=FLOATS)
def gradient(x, w):
    return jx.grad(lambda w: (jnp.tanh(x @ w) ** 2).sum().astype(jnp.float32))(w)


@kind((16, 8))
def while_loop(x):
    return lax.while_loop(lambda state: state[0] < 5, lambda state: (state[0] + 1, state[1] * state[1] + x), (0, x))


@kind((16, 8), dtypes=FLOATS)
def cond(x):
    return lax.cond(x.sum() > 3, lambda x: jnp.sin(x) * 2, lambda x: x - 1, x)


@kind((32, 32))
def clip_and_round(x):
    return jnp.clip(jnp.round(x * 3), 0, 5) % 2


@kind((64, 8))
def segment_sum(x):
    return jx.ops.segment_sum(x, jnp.arange(64) // 8, 8) * 2


@kind((64, 8))
def top_k(x):
    values, indices = lax.top_k(x.T, 3)
    return values * 2, indices


@kind((16, 16), (16, 16))
def pad_and_concatenate(x, y):
    return jnp.concatenate([jnp.pad(x, 1)[:16, :16], y]) * 2


@kind((16, 16))
def associative_scan(x):
    return lax.associative_scan(jnp.add, x * 2) + 1


@kind((16, 4, 4))
def vmapped(x):
    return jx.vmap(lambda m: (m @ m) + m.T)(x)


@kind((64, 64))
def reduction_by_a_function(x):
    return lax.reduce(x * 2, jnp.array(0, x.dtype), lambda a, b: lax.max(a, b) + a, (0,)) + 1


@kind((33, 65))
def logsumexp(x):
    return nn.logsumexp(x * 2, axis=1)


@kind((33, 65))
def deviation(x):
    return jnp.std(x, axis=0) * 2
