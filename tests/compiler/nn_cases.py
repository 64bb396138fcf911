"""Expressions over nn that JAX was asked, too, beyond what samples ask (tests/oracle): bfloat16, second derivatives,
Hessians, 64 bits. `record_jax_nn.py` writes down what it says; `test_nn.py` compares.

In an expression `nn`, `init`, `image` and `ops` are these rooms; `np` is the module of array functions, `jx` that of transformations,
`lax` lax. The letters are arrays (`arrays`), `key` is a random key.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy


ELEMENTWISE = (
    "celu elu gelu hard_sigmoid hard_silu hard_tanh identity leaky_relu log1mexp log_sigmoid mish relu relu6 selu sigmoid silu "
    "soft_sign softplus sparse_plus sparse_sigmoid squareplus tanh"
).split()


def arrays(dtype: str) -> dict[str, numpy.ndarray]:
    """The operands, by letter: `x` extreme numbers, `v` ordinary ones, `h` in half the precision, `i` integers, `b` booleans, `c`
    complex; `a` [3, 4] with the mask `m`, `n` a mask of one row, `e` empty; `q` [2, 5, 4, 8], `k`, `s` [2, 6, 2, 8] for attention,
    with bias `d`, mask `g` and lengths `t`, `u`; `p` an image [5, 7, 2], `r` integers; `o` rows with the numbers `j`."""
    random = numpy.random.default_rng(5)
    big = numpy.array(
        [
            -numpy.inf,
            -1e4,
            -100,
            -3,
            -1,
            -0.5,
            -1e-3,
            -0.0,
            0,
            1e-3,
            0.25,
            1,
            2,
            3,
            6,
            7,
            100,
            1e4,
            numpy.inf,
            numpy.nan,
        ]
    )
    draw = lambda *shape: random.normal(size=shape)
    found = {
        "x": big, "v": numpy.array([-4.5, -1.5, -0.3, 0.2, 0.9, 2.5, 5.5, 8]), "a": draw(3, 4) * 3, "e": draw(0, 4),
        "q": draw(2, 5, 4, 8), "k": draw(2, 6, 2, 8), "s": draw(2, 6, 2, 8), "d": draw(2, 4, 5, 6), "p": draw(5, 7, 2),
        "o": draw(6, 2),
    }  # fmt: skip
    found = {name: x.astype(dtype) for name, x in found.items()}
    whole = "int64" if dtype == "float64" else "int32"
    return found | {
        "h": big.astype(ml_dtypes.bfloat16 if dtype == "float32" else "float32"),
        "i": numpy.array([-10000, -7, -1, 0, 1, 2, 6, 7, 30000], whole),
        "b": numpy.array([True, False]),
        "c": numpy.array([0.5 + 1j, -2 - 0.25j], "complex64"),
        "m": numpy.array([[1, 0, 1, 1], [0, 0, 0, 1], [1, 1, 1, 1]], bool),
        "n": numpy.array([True, False, True, True]),
        "g": random.random((2, 1, 5, 6)) > 0.3,
        "t": numpy.array([3, 5], "int32"),
        "u": numpy.array([6, 2], "int32"),
        "r": random.integers(0, 255, (4, 3)).astype("uint8"),
        "j": numpy.array([0, 2, 2, -1, 4, 0], "int32"),
        "l": numpy.array([1, 0, 3, -2, 5], "int32"),
    }


def _elementwise() -> list[str]:
    return [
        expr
        for name in ELEMENTWISE
        for expr in (
            *(f"nn.{name}({letter})" for letter in "xhibce"),
            f"nn.{name}(1.5)",
            f"jx.vmap(jx.grad(nn.{name}))(x)",
            f"jx.vmap(jx.grad(jx.grad(nn.{name})))(v)",
            # Where abs has a corner, the second derivative of soft_sign is either one.
            *(f"jx.vmap(jx.grad(jx.grad(nn.{name})))(np.float32([-40, 0, 40]))" for _ in range(name != "soft_sign")),
            f"jx.vmap(jx.grad(nn.{name}))(h)",
            f"jx.jvp(nn.{name}, (v,), (v,))",
        )
    ]


def _table(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


NN = """
nn.celu(v, 2.)
nn.celu(x, alpha=np.abs(x[:1]*0 + 0.5))
nn.elu(v, alpha=0.5)
nn.elu(h, np.float32(0.5))
nn.leaky_relu(v, negative_slope=0.2)
nn.leaky_relu(i, 2)
nn.squareplus(v, b=9)
nn.squareplus(h, 1.0)
nn.gelu(x, approximate=False)
nn.gelu(h, False)
nn.gelu(i, approximate=False)
nn.gelu(1.5, approximate=False)
jx.vmap(jx.grad(lambda y: nn.gelu(y, False)))(x)
jx.vmap(jx.grad(jx.grad(lambda y: nn.gelu(y, False))))(v)
jx.grad(nn.squareplus, 1)(2., 3.)
jx.grad(nn.celu, (0, 1))(-2., 3.)
jx.grad(nn.elu, (0, 1))(-2., 3.)
jx.grad(nn.leaky_relu, (0, 1))(-2., 3.)
nn.glu(a)
nn.glu(a, -1)
nn.glu(a[:2], axis=0)
nn.glu(e, 1)
nn.glu(h[:4])
nn.swish(v)
nn.hard_swish(v)
nn.logsumexp(a)
nn.logsumexp(a, 1)
nn.logsumexp(a, axis=(0, -1), keepdims=True)
nn.logsumexp(a, -1, where=m)
nn.logsumexp(a, 0, where=n)
nn.logsumexp(a, 0, where=m & False)
nn.logsumexp(a, 1, b=m)
nn.logsumexp(a, 1, b=a)
nn.logsumexp(a, 1, b=a, return_sign=True)
nn.logsumexp(a, b=-1.0, return_sign=True, keepdims=True)
nn.logsumexp(i), nn.logsumexp(b), nn.logsumexp(h[1:-2]), nn.logsumexp(c), nn.logsumexp(c, b=c), nn.logsumexp(c, return_sign=True)
nn.logsumexp(2.5), nn.logsumexp(e), nn.logsumexp(e, 0), nn.logsumexp(x), nn.logsumexp(x[:-1]), nn.logsumexp(x[:1]), nn.logsumexp(x[1:-2])
jx.grad(nn.logsumexp)(a)
jx.grad(lambda y: nn.logsumexp(y, where=m))(a)
jx.hessian(nn.logsumexp)(a[0])
jx.grad(nn.logsumexp)(x[:-2])
jx.grad(lambda y, z: nn.logsumexp(y, b=z), (0, 1))(a[0], np.abs(a[1]))
nn.logmeanexp(a)
nn.logmeanexp(a, 0)
nn.logmeanexp(a, axis=-1, where=m, keepdims=True)
nn.logmeanexp(a, (0, 1), n)
nn.logmeanexp(i), nn.logmeanexp(h[1:-2]), nn.logmeanexp(e), nn.logmeanexp(1.5)
jx.grad(nn.logmeanexp)(a)
nn.log_softmax(a)
nn.log_softmax(a, 0)
nn.log_softmax(a, axis=(0, 1))
nn.log_softmax(a, None)
nn.log_softmax(a, -2, where=m)
nn.log_softmax(a, where=n)
nn.log_softmax(i), nn.log_softmax(h[1:-2]), nn.log_softmax(e), nn.log_softmax(x), nn.log_softmax(x[1:-2]), nn.log_softmax(x[:-2])
jx.grad(lambda y: nn.log_softmax(y)[1, 2])(a)
jx.grad(lambda y: nn.log_softmax(y, where=m)[0, 2])(a)
jx.hessian(lambda y: nn.log_softmax(y)[2])(a[0])
nn.softmax(a)
nn.softmax(a, 0)
nn.softmax(a, axis=(0, 1))
nn.softmax(a, None)
nn.softmax(a, -2, where=m)
nn.softmax(a, where=n)
nn.softmax(i), nn.softmax(h[1:-2]), nn.softmax(e), nn.softmax(e, 0), nn.softmax(x), nn.softmax(x[1:-2]), nn.softmax(x[:-2]), nn.softmax(x[:1])
jx.grad(lambda y: nn.softmax(y)[1, 2])(a)
jx.grad(lambda y: nn.softmax(y, 0, where=m)[0, 2])(a)
jx.hessian(lambda y: nn.softmax(y)[2])(a[0])
jx.jacfwd(nn.softmax)(a[0])
jx.jvp(lambda y: nn.softmax(y, (0, 1)), (a,), (a,))
jx.vmap(nn.softmax, 1)(a), jx.vmap(lambda y, w: nn.softmax(y, where=w))(a, m)
nn.standardize(a)
nn.standardize(a, 0)
nn.standardize(a, axis=(0, 1), algorithm='stable')
nn.standardize(a, None, where=m)
nn.standardize(a, -1, 0.5, 2.0, 1e-3)
nn.standardize(a, mean=a[:, :1], epsilon=1.)
nn.standardize(a, variance=a[0] ** 2, where=m)
nn.standardize(i), nn.standardize(h[1:-2]), nn.standardize(b), nn.standardize(a + 10), nn.standardize(a + 10, algorithm='stable')
jx.grad(lambda y: nn.standardize(y)[0, 1])(a)
jx.hessian(lambda y: nn.standardize(y, algorithm='stable')[1])(a[0])
nn.one_hot(i, 8)
nn.one_hot(l, 4, axis=0)
nn.one_hot(l[:4].reshape(2, 2), 3, dtype=np.int32, axis=-2)
nn.one_hot(l, 4, dtype=bool)
nn.one_hot(l, 4, dtype=np.bfloat16, axis=1)
nn.one_hot(3, 5), nn.one_hot([1, 2], 3), nn.one_hot(r, 4), nn.one_hot(l, 0), nn.one_hot(np.zeros((0,), int), 3)
jx.vmap(lambda y: nn.one_hot(y, 6))(l)
jx.vmap(lambda y: nn.one_hot(l, 5, axis='i'), axis_name='i')(l)
nn.dot_product_attention(q, k, s)
nn.dot_product_attention(q[0], k[0], s[0])
nn.dot_product_attention(q, k, s, d)
nn.dot_product_attention(q, k, s, d[:1, :1], g)
nn.dot_product_attention(q, k, s, None, np.repeat(g, 4, 1))
nn.dot_product_attention(q, k, s, mask=g[:, :, :1])
nn.dot_product_attention(q, k, s, scale=0.25, is_causal=True)
nn.dot_product_attention(q, k, s, local_window_size=1)
nn.dot_product_attention(q, k, s, local_window_size=(2, 0), implementation='xla')
nn.dot_product_attention(q, k, s, query_seq_lengths=t)
nn.dot_product_attention(q, k, s, key_value_seq_lengths=u)
nn.dot_product_attention(q, k, s, d, g, query_seq_lengths=t, key_value_seq_lengths=u, is_causal=True, local_window_size=3)
nn.dot_product_attention(q, k, s, is_causal=True, query_seq_lengths=t, return_residual=True)
nn.dot_product_attention(q[0], k[0], s[0], return_residual=True)
nn.dot_product_attention(q[:, :, :2], k, s, mask=g & False)
nn.dot_product_attention(*[y.astype(np.bfloat16) for y in (q, k, s)])
nn.dot_product_attention(q[:, :0], k, s)
jx.grad(lambda *z: (nn.dot_product_attention(*z, is_causal=True) ** 2).sum(), (0, 1, 2, 3))(q, k, s, d)
jx.grad(lambda y: (jx.grad(lambda y: (nn.dot_product_attention(y, k, s, mask=g) ** 2).sum())(y) ** 2).sum())(q)
jx.grad(lambda y: sum(z.sum() for z in nn.dot_product_attention(y, k, s, return_residual=True)))(q)
jx.vmap(nn.dot_product_attention)(q, k, s)
"""
ERRORS = """
nn.relu('text')
nn.elu([1.0])
nn.sigmoid(None)
nn.sigmoid(i)
nn.silu(b)
nn.glu(1.0)
nn.softmax(a, 5)
nn.softmax(a, (0, 0))
nn.log_softmax(a, -3)
nn.softmax(a, where=np.ones((3, 5), bool))
nn.logsumexp(a, 2)
nn.logsumexp([1.0])
nn.standardize(a, algorithm='exact')
nn.standardize(a, 2)
nn.one_hot(l, 2.5)
nn.one_hot(l, 4, axis=2)
jx.jit(lambda n: nn.one_hot(l, n))(3)
jx.vmap(lambda y: nn.one_hot(y, 3, axis='i'), axis_name='i')(l)
nn.dot_product_attention(q, k, s[:, :-1])
nn.dot_product_attention(q, k, s.astype(np.float16))
nn.dot_product_attention(q[:, :, :3], k, s)
nn.dot_product_attention(q[:1], k, s)
nn.dot_product_attention(q, k, s, mask=d)
nn.dot_product_attention(q, k, s, key_value_seq_lengths=t[:1])
nn.dot_product_attention(q, k, s, implementation='fast')
nn.dot_product_attention(q, k, s, implementation='cudnn')
nn.scaled_matmul(a, a, a, a)
nn.scaled_matmul(k[:, :, 0], s[:, :, 0, :4], k[:, :, 0], s[:, :, 0])
nn.scaled_matmul(k[:, :, 0], s[:, :, 0], k[:, :, 0, :4], s[:, :, 0])
nn.get_scaled_dot_general_config('int4')
"""
EXPRESSIONS = _elementwise() + _table(NN)
WIDE = [f"nn.{name}(x)" for name in ELEMENTWISE] + _table("""
nn.softmax(a, where=m)
nn.log_softmax(a)
nn.logsumexp(a, 1, b=a, return_sign=True)
nn.standardize(a), nn.one_hot(i, 8), nn.logmeanexp(a, 0, where=m)
image.resize(p, (8, 3, 2), 'lanczos5')
image.scale_and_translate(p, (8, 6, 2), (0, 1), np.array([2.0, 0.7]), np.array([-1.0, 0.4]), 'cubic')
init.uniform()(key, (3, 4)), init.he_uniform()(key, (3, 4))
init.he_normal()(key, (3, 4)), init.orthogonal()(key, (3, 4))
ops.segment_sum(o, j, 5)
""")
"""Those asked with 64 bits, too."""


def evaluate(expr: str, names: dict[str, Any]) -> Any:
    return eval(expr, dict(names))


def letters_of(expr: str, names: dict[str, Any]) -> dict[str, Any]:
    """The arrays that an expression uses."""
    used = compile(expr, "expression", "eval")
    found: set[str] = set()
    stack = [used]
    while stack:
        code = stack.pop()
        found |= {*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars}
        stack += [c for c in code.co_consts if hasattr(c, "co_names")]
    return {name: x for name, x in names.items() if name in found}
