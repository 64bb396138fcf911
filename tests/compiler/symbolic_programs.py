"""Programs that are exported with symbolic dimensions: (function, specs of its arguments, sizes to call it at)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.scipy import linalg as sla, special


SIZES = ({"b": 3, "n": 4}, {"b": 5, "n": 2}, {"b": 1, "n": 3})
I32, U32 = "int32", "uint32"
KEY = ("2", U32)
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}


def program(name: str, function: Callable[..., Any], *specs: Any) -> None:
    """Specs are texts, of floats, or (text, dtype)."""
    PROGRAMS[name] = function, specs


def _key(data: Any) -> Any:
    return jx.random.wrap_key_data(data)


def _convolved(x: Any, w: Any, strides: tuple[int, int] = (1, 1), padding: Any = "SAME") -> Any:
    return lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _attention(x: Any, wq: Any, wk: Any, wv: Any, wo: Any) -> Any:
    batch, length, _ = x.shape
    q, k, v = ((x @ w).reshape(batch, length, 2, -1).transpose(0, 2, 1, 3) for w in (wq, wk, wv))
    scores = q @ k.transpose(0, 1, 3, 2) / jnp.sqrt(q.shape[-1])
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    x = x + (jx.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(batch, length, -1) @ wo
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)


def _step_of_training(x: Any, y: Any, w1: Any, w2: Any) -> Any:
    def loss(weights: Any) -> Any:
        scores = jx.nn.relu(x @ weights[0]) @ weights[1]
        return -jnp.mean(jnp.sum(jx.nn.one_hot(y, 4) * jx.nn.log_softmax(scores), -1))

    value, slopes = jx.value_and_grad(loss)((w1, w2))
    return value, [w - 0.1 * d for w, d in zip((w1, w2), slopes)]


program("elementwise", lambda x, y: jnp.where(x > 0, jnp.sin(x) * y, jnp.clip(x, -1, 1)), "b,n", "n")
program("broadcasting", lambda x, y: x * y + jnp.broadcast_to(y, (2, *y.shape)), "b,1", "b,n")
program("special functions", lambda x: special.erf(x) + special.gammaln(jnp.abs(x) + 1), "b,n")
program("reductions", lambda x: [x.sum(0), x.mean(), x.max(1), x.argmin(1), x.std(0), (x > 0).any(), x.prod(1)], "b,n")
program("norms", lambda x: [jnp.linalg.norm(x, axis=1), jnp.median(x, 0), jnp.percentile(x, 30.0, axis=0)], "b,n")
program("reshape", lambda x: [x.reshape(-1), x.reshape(x.shape[0], -1), x.ravel(), x[None, :, None]], "b,n,2")
program("split an axis", lambda x: [x.reshape(x.shape[0] // 2, 2, -1), *jnp.split(x, 2)], "2*b,n")
program("transpose", lambda x: [x.T, jnp.moveaxis(x, 0, -1), jnp.swapaxes(x, 0, 1)], "b,n,2")
program("joining", lambda x, y: [jnp.concatenate([x, y]), jnp.stack([x, x], -1), jnp.vstack([x, y]), jnp.hstack([x, x])],
        "b,n", "n,n")  # fmt: skip
program("padding", lambda x: [jnp.pad(x, 1), lax.pad(x, 0.0, ((1, 2, 1), (0, x.shape[0], 0))), jnp.pad(x, 1, mode="edge")],
        "b,n")  # fmt: skip
program("repeating", lambda x: [jnp.tile(x, (2, 3)), jnp.repeat(x, 3, axis=0), jnp.roll(x, 1, 0), jnp.flip(x)], "b,n")
program("slices", lambda x: [x[1:], x[:-1], x[-1], x[:, 0], x[::2], x[::-1], x[..., 1:], x[:1]], "b,n")
program("slices at sizes", lambda x: [x[: x.shape[0] // 2], x[x.shape[0] // 2 :], x[x.shape[0] - 1]], "2*b,n")
program("dynamic slices", lambda x, i: [lax.dynamic_slice(x, (i, 0), (1, x.shape[1])), lax.dynamic_index_in_dim(x, i, 0),
        lax.dynamic_slice_in_dim(x, i, x.shape[0] - 1, 0), lax.dynamic_update_slice(x, x[:1] * 0, (i, 0)), x[i]],
        "b,n", ("", I32))  # fmt: skip
program("gather", lambda x, i: [x[i], jnp.take(x, i, 0, mode="clip"), x[jnp.arange(x.shape[0]), i], x.at[i].get(mode="fill")],
        "b,n", ("b", I32))  # fmt: skip
program("gather along", lambda x, i: jnp.take_along_axis(x, i, 1), "b,n", ("b,n", I32))
program("scatter", lambda x, i: [x.at[i].add(1.0), x.at[0].set(2.0), x.at[1:].set(0.0), x.at[:, 0].multiply(3.0)],
        "b,n", ("b", I32))  # fmt: skip
program("segments", lambda x, i: jx.ops.segment_sum(x, i, num_segments=x.shape[0]), "b,n", ("b", I32))
program("products", lambda x, y, z: [x @ y, jnp.dot(x, y), jnp.tensordot(x, y, 1), jnp.einsum("bi,ij,jk->bk", x, y, z),
        jnp.outer(x[:, 0], z[0])], "b,n", "n,3", "3,2")  # fmt: skip
program("batched products", lambda x, y: [x @ y, jnp.einsum("bij,bjk->bik", x, y)], "b,2,n", "b,n,3")
program("convolution", lambda x, w: [_convolved(x, w), _convolved(x, w, (2, 2), "VALID")], "b,8,8,3", "3,3,3,4")
program(
    "convolution over symbolic space",
    lambda x, w: [_convolved(x, w), _convolved(x, w, (2, 2))],
    "b,n+2,n+2,3",
    "3,3,3,4",
)
program("convolution's gradient", lambda x, w: jx.grad(lambda x, w: (_convolved(x, w) ** 2).sum(), (0, 1))(x, w),
        "b,8,8,3", "3,3,3,4")  # fmt: skip
program("pooling", lambda x: [lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
        lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")], "b,n+2,n+2,3")  # fmt: skip
program("running", lambda x: [jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 0, reverse=True)], "b,n")
program("sorting", lambda x: [jnp.sort(x, 0), jnp.argsort(x, 1), lax.top_k(x, 1), lax.sort_key_val(x, -x)], "b,n")
program("the greatest half", lambda x: lax.top_k(x, x.shape[1] // 2), "b,2*n")
program(
    "searching",
    lambda x, y: [jnp.searchsorted(jnp.sort(x), y), jnp.bincount(jnp.abs(y).astype(int), length=4)],
    "b",
    "n",
)
program(
    "nonzero",
    lambda x, y: [
        *jnp.nonzero(x > 0, size=3),
        jnp.unique(x, size=3),
        jnp.argwhere(y > 0, size=2),
        jnp.insert(y, 1, 0.0, axis=1),
    ],
    "b",
    "b,n",
)
program("ranges", lambda x: [jnp.arange(x.shape[0]), jnp.arange(1, x.shape[1], dtype="float32"), lax.iota("int32", x.shape[0]),
        jnp.arange(0, x.shape[0] + 2 * x.shape[1], 2), lax.broadcasted_iota("int32", x.shape, 1)], "b,n")  # fmt: skip
program("filled", lambda x: [jnp.zeros(x.shape) + jnp.full(x.shape, 2.0), jnp.eye(x.shape[0]), jnp.tri(x.shape[1]),
        jnp.ones((x.shape[0] ** 2 + 1,)), jnp.linspace(0.0, 1.0, x.shape[0] + 1)], "b,n")  # fmt: skip
program("triangles", lambda x: [jnp.tril(x @ x.T), jnp.diag(x[0]), jnp.trace(x @ x.T), jnp.diagonal(x @ x.T)], "b,n")
program("sizes as values", lambda x: [x / x.shape[0], jnp.array(x.shape[0]) * x, x.shape[0] * 2 + x, jnp.sqrt(x.shape[1]),
        jnp.float32(x.size), jnp.array([1, x.shape[0]]), jnp.maximum(x.shape[0], 3), x.shape[0] / x.shape[1], x.sum() / x.size,
        jnp.asarray(x.shape[0] // 2 + x.shape[1] % 3)], "b,n")  # fmt: skip
program("random", lambda k, x: [jx.random.uniform(_key(k), x.shape), jx.random.normal(_key(k), (x.shape[0], 2)),
        jx.random.key_data(jx.random.split(_key(k), x.shape[0])), jx.random.randint(_key(k), x.shape, 0, 10),
        jx.random.bernoulli(_key(k), 0.5, x.shape), jx.random.categorical(_key(k), x)], KEY, "b,n")  # fmt: skip
program("scan", lambda x: [lax.scan(lambda c, y: (c + y, c * y), jnp.zeros(x.shape[1]), x, reverse=r) for r in (False, True)],
        "b,n")  # fmt: skip
program("scan's gradient", lambda x: jx.grad(lambda x: lax.scan(lambda c, y: (jnp.sin(c + y), c * y), x[0], x)[0].sum())(x),
        "b,n")  # fmt: skip
program("loops", lambda x: [lax.fori_loop(0, x.shape[0], lambda i, a: a + x[i] * i, x[0]), lax.map(lambda y: y * y.sum(), x),
        lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1] * 2), (0, x))], "b,n")  # fmt: skip
program("branches", lambda x, i: [lax.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - x.shape[0], x),
        lax.switch(i, [lambda x: x, lambda x: x.at[0].set(0.0), jnp.sin], x)], "b,n", ("", I32))  # fmt: skip
program("vmap", lambda x, w, i: [jx.vmap(lambda r: jnp.sin(r) * r.sum())(x), jx.vmap(lambda r: w @ r)(x),
        jx.vmap(lambda r, j: r[j])(x, i), jx.vmap(jx.vmap(jnp.multiply, (None, 0)), (0, None))(x[:, 0], x[0])],
        "b,n", "3,n", ("b", I32))  # fmt: skip
program("gradients", lambda x, i: [jx.grad(lambda x: jnp.sum(jnp.sin(x) ** 2) / x.shape[0])(x),
        jx.grad(lambda x: (x[1:] * x[:-1]).sum() + (x[i] ** 2).sum())(x), jx.grad(lambda x: jnp.cumsum(x, 0).max(0).sum())(x),
        jx.grad(lambda x: (jnp.sort(x, 0) * jnp.arange(x.shape[0])[:, None]).sum())(x), jx.jvp(jnp.sin, (x,), (x,)),
        jx.grad(lambda x: jx.checkpoint(lambda x: jnp.sin(jnp.tanh(x)))(x).sum())(x)], "b,n", ("b", I32))  # fmt: skip
program("second derivatives", lambda x: [jx.hessian(lambda x: (x**3).sum())(x), jx.jacfwd(jnp.sin)(x)], "b")
program("nested jit", lambda x: jx.jit(lambda y: jx.jit(lambda z: z * z.shape[0])(y[1:]).sum() + y)(x), "b,n")
program("cholesky", lambda x: [jnp.linalg.cholesky(x @ x.mT + 5 * jnp.eye(3)),
        jnp.linalg.cholesky(x[0].T @ x[0] + 5 * jnp.eye(x.shape[2]))], "b,3,n")  # fmt: skip
program("solving", lambda a, x: [jnp.linalg.solve(a + 3 * jnp.eye(3), x), jnp.linalg.inv(a + 3 * jnp.eye(3)), jnp.linalg.det(a),
        sla.solve_triangular(jnp.tril(a) + 3 * jnp.eye(3), x, lower=True)], "b,3,3", "b,3,n")  # fmt: skip
program("solving symbolic systems", lambda a, x: [jnp.linalg.solve(a + 3 * jnp.eye(a.shape[0]), x), sla.lu(a)[2],
        sla.solve_triangular(jnp.tril(a) + 3 * jnp.eye(a.shape[0]), x, lower=True)], "n,n", "n,b")  # fmt: skip
program("decompositions", lambda a: [jnp.abs(jnp.linalg.qr(a)[1]), jnp.linalg.svd(a, compute_uv=False),
        jnp.linalg.eigvalsh(a.mT @ a)], "b,4,3")  # fmt: skip
program(
    "decompositions of any shape",
    lambda a: [jnp.linalg.svd(a, full_matrices=False)[1], jnp.abs(jnp.linalg.qr(a)[1])],
    "b,n",
)
program("eigenvalues", lambda a: [jnp.linalg.eigvalsh(a + a.T), jnp.sort(jnp.abs(jnp.linalg.eigvals(a)))], "n,n")
program("fourier", lambda x: [jnp.abs(jnp.fft.fft(x)), jnp.fft.irfft(jnp.fft.rfft(x))], "b,8")
program("dtypes", lambda x: [x.astype(I32), x.astype("bfloat16").astype("float32"), lax.bitcast_convert_type(x, U32),
        jnp.abs(lax.complex(x, x))], "b,n")  # fmt: skip
program("resized", lambda x: jx.image.resize(x, (x.shape[0], 4, 4, 3), "bilinear"), "b,8,8,3")
program("a dense network", lambda x, w, v, u: jx.nn.log_softmax(jnp.tanh(x @ w + v) @ u), "b,n", "n,16", "16", "16,4")
program("training", _step_of_training, "b,n", ("b", I32), "n,16", "16,4")
program("attention", _attention, "b,n,8", "8,8", "8,8", "8,8", "8,8")
program("attention's gradient", lambda *xs: jx.grad(lambda *xs: _attention(*xs).sum(), (0, 1, 4))(*xs),
        "b,n,8", "8,8", "8,8", "8,8", "8,8")  # fmt: skip
program("attention of the library", lambda q: jx.nn.dot_product_attention(q, q, q, is_causal=True), "b,n,2,4")
