"""Random keys, and operations that move them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jitscope.core.dtypes import bool_, int32, uint32
from jitscope.ops import counter_based, elementwise as el, generators, indexing as ix, linear as li, rng

from .indexing import CLIP, FILL, scattered
from .registry import SHAPES, Draw, Sample, samples


def _keys(words: Any) -> Any:
    return rng.random_wrap_p(words, impl=rng.threefry)


def _on_keys(fun: Callable[..., Any]) -> Callable[..., Any]:
    """A function of keys as one of their words."""
    return lambda words, *others: rng.random_unwrap_p(fun(_keys(words), *others))


def whole(x: Any) -> Any:
    return x if x.dtype == int32 else el.floor_p(x)


def _cipher(k1, k2, x1, x2):
    with np.errstate(over="ignore"):
        k1, k2, x1, x2 = (np.asarray(v, np.uint32) for v in np.broadcast_arrays(k1, k2, x1, x2))
        keys = (k1, k2, k1 ^ k2 ^ np.uint32(0x1BD11BDA))
        x1, x2 = x1 + k1, x2 + k2
        for i in range(5):
            for r in ((13, 15, 26, 6), (17, 29, 16, 24))[i % 2]:
                x1 = x1 + x2
                x2 = x1 ^ ((x2 << np.uint32(r)) | (x2 >> np.uint32(32 - r)))
            x1 = x1 + keys[(i + 1) % 3]
            x2 = x2 + keys[(i + 2) % 3] + np.uint32(i + 1)
    return [x1, x2]


def _counted(words, shape):
    """Words of key and counter for each key × each element of `shape`."""
    keys = words.shape[:-1]
    k = [words[..., i].reshape(*keys, *[1] * len(shape)) for i in range(2)]
    low = np.arange(math.prod(shape), dtype=np.uint32).reshape(shape)
    return _cipher(*[np.broadcast_to(v, (*keys, *shape)) for v in (*k, np.uint32(0), low)])


KEY_SHAPES = (("scalar", ()), ("empty", (0,)), ("rank 2", (2, 3)), ("ones", (1,)))


@samples(rng.threefry2x32_p, "u")
def _(draw, dtype):
    for label, shape in SHAPES.items():
        yield Sample(label, [draw.bits(shape) for _ in range(4)], _cipher, result=[uint32, uint32])
    args = [draw.bits(()), draw.bits(()), draw.bits((4,)), draw.bits((4,))]
    yield Sample("scalar keys", args, _cipher, result=[uint32, uint32])


def _mod(*words: Any) -> list[np.ndarray]:
    return [np.asarray(w, np.uint64) & np.uint64(2**32 - 1) for w in np.broadcast_arrays(*words)]


def _as_words(words: Sequence[Any]) -> list[np.ndarray]:
    return [np.asarray(w).astype(np.uint32) for w in words]


def _philox2x32(k, a, b):
    k, a, b = _mod(k, a, b)
    for i in range(10):
        product, (bumped,) = a * np.uint64(0xD256D193), _mod(k + np.uint64(i * 0x9E3779B9))
        a, b = _mod((product >> np.uint64(32)) ^ b ^ bumped, product)
    return _as_words([a, b])


def _philox4x32(k, l, a, b, c, d):
    k, l, a, b, c, d = _mod(k, l, a, b, c, d)
    for i in range(10):
        first, second = a * np.uint64(0xD2511F53), c * np.uint64(0xCD9E8D57)
        k_now, l_now = _mod(k + np.uint64(i * 0x9E3779B9), l + np.uint64(i * 0xBB67AE85))
        shift = np.uint64(32)
        a, b, c, d = _mod((second >> shift) ^ b ^ k_now, second, (first >> shift) ^ d ^ l_now, first)
    return _as_words([a, b, c, d])


def _threefry4x32(*words):
    k, x = _mod(*words)[:4], _mod(*words)[4:]
    k = [*k, k[0] ^ k[1] ^ k[2] ^ k[3] ^ np.uint64(0x1BD11BDA)]
    x = _mod(*[a + b for a, b in zip(x, k)])
    turns = [(10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20)]
    for i in range(20):
        for to, by, n in zip((0, 2), ((1, 3), (3, 1))[i % 2], turns[i % 8]):
            x[to] = _mod(x[to] + x[by])[0]
            x[by] = x[to] ^ _mod(x[by] << np.uint64(n) | x[by] >> np.uint64(32 - n))[0]
        if i % 4 == 3:
            t = i // 4 + 1
            x = _mod(*[a + k[(t + j) % 5] + np.uint64(t if j == 3 else 0) for j, a in enumerate(x)])
    return _as_words(x)


for _hash, _oracle, _operands, _results in (
    (counter_based.philox2x32_p, _philox2x32, 3, 2),
    (counter_based.philox4x32_p, _philox4x32, 6, 4),
    (counter_based.threefry4x32_p, _threefry4x32, 8, 4),
):

    @samples(_hash, "u")
    def _(draw, dtype, oracle=_oracle, operands=_operands, results=_results):
        for label, shape in SHAPES.items():
            yield Sample(label, [draw.bits(shape) for _ in range(operands)], oracle, result=[uint32] * results)


@samples(rng.random_seed_p, "iu")
def _(draw, dtype):
    for label, shape in KEY_SHAPES:
        yield Sample(label, [draw.bits(shape)], lambda s: np.stack([np.zeros_like(s).astype(np.uint32), s.astype(np.uint32)], -1),
                     fun=lambda s: rng.random_unwrap_p(rng.random_seed_p(s, impl=rng.threefry)), result=uint32)  # fmt: skip


for _primitive in (rng.random_wrap_p, rng.random_unwrap_p):

    @samples(_primitive, "u")
    def _(draw, dtype):
        for label, shape in KEY_SHAPES:
            yield Sample(label, [draw.bits((*shape, 2))], lambda w: w, fun=_on_keys(lambda k: k), result=uint32)


@samples(rng.random_clone_p, "u")
def _(draw, dtype):
    for label, shape in KEY_SHAPES:
        yield Sample(label, [draw.bits((*shape, 2))], lambda w: w, fun=_on_keys(rng.random_clone_p), result=uint32)


@samples(rng.random_bits_p, "u")
def _(draw, dtype):
    for label, shape in KEY_SHAPES:
        for width, result in ((8, np.uint8), (16, np.uint16), (32, np.uint32)):

            def oracle(words, result=result):
                high, low = _counted(words, (2, 3))
                return (high ^ low).astype(result)

            yield Sample(f"{label} {width}", [draw.bits((*shape, 2))], oracle, result=np.dtype(result),
                         fun=lambda w, width=width: rng.random_bits_p(_keys(w), bit_width=width, shape=(2, 3)))  # fmt: skip


@samples(rng.random_split_p, "u")
def _(draw, dtype):
    for label, shape in KEY_SHAPES:
        yield Sample(label, [draw.bits((*shape, 2))], lambda w: np.stack(_counted(w, (2,)), -1), result=uint32,
                     fun=_on_keys(lambda k: rng.random_split_p(k, shape=(2,))))  # fmt: skip


DRAWN = {8: [[100, 215], [190, 1], [123, 150]],
         32: [[512747620, 1298009047], [1267190206, 761827841], [1383286907, 1639995030]]}  # fmt: skip
"""What JAX's rng_bit_generator draws from the state 1, 2, 3, 4."""


@samples(rng.rng_bit_generator_p, "u")
def _(draw, dtype):
    for width, bits in DRAWN.items():
        unsigned = np.dtype(f"uint{width}")
        # One state draws for a whole batch, so a loop over states is another thing.
        yield Sample(f"{width} bits", [np.array([1, 2, 3, 4], np.uint32)],
                     lambda s, bits=bits, unsigned=unsigned: [s + np.array([0, 0, 2, 0], np.uint32), np.array(bits, unsigned)],
                     {"shape": (3, 2), "dtype": unsigned, "algorithm": 0}, result=[uint32, unsigned],
                     rules=["abstract", "lower"])  # fmt: skip


@samples(generators.rng_uniform_p, "if")
def _(draw, dtype):
    low, high = np.asarray(3, dtype), np.asarray(4 if dtype == int32 else 3.5, dtype)
    yield Sample("within", [low, high], lambda a, b: np.full((2, 5), 3).astype(a.dtype),
                 fun=lambda a, b: whole(generators.rng_uniform_p(a, b, shape=(2, 5))), rules=["abstract", "lower"])  # fmt: skip


@samples(rng.random_fold_in_p, "u")
def _(draw, dtype):
    for label, shape in KEY_SHAPES:
        oracle = lambda w, data: np.stack(_cipher(w[..., 0], w[..., 1], np.uint32(0), data), -1)
        args = [draw.bits((*shape, 2)), draw.bits(shape)]
        yield Sample(label, args, oracle, fun=_on_keys(rng.random_fold_in_p), result=uint32)


def keyed(primitive: Any, shape: Sequence[int], params: dict[str, Any], oracle: Callable[..., Any],
          others: Callable[[Draw], list[Any]] = lambda draw: [], arrange: Any = None) -> None:  # fmt: skip
    """Register a sample on keys of `shape` of an operation that moves elements; the oracle gets their words, u32[..., 2]."""

    @samples(primitive, "u")
    def _(draw, dtype):
        call = lambda k, *rest: primitive(*(arrange(k, *rest) if arrange else (k, *rest)), **params)
        yield Sample("keys", [draw.bits((*shape, 2)), *others(draw)], oracle, fun=_on_keys(call), result=uint32)


keyed(li.broadcast_in_dim_p, (3,), {"shape": (2, 3), "broadcast_dimensions": (1,)}, lambda w: np.stack([w, w]))
keyed(li.reshape_p, (2, 3), {"new_sizes": (6,)}, lambda w: w.reshape(6, 2))
keyed(li.squeeze_p, (1, 3), {"dimensions": (0,)}, lambda w: w[0])
keyed(li.transpose_p, (2, 3), {"permutation": (1, 0)}, lambda w: w.transpose(1, 0, 2))
keyed(li.slice_p, (5,), {"start_indices": (1,), "limit_indices": (5,), "strides": (2,)}, lambda w: w[1:5:2])
keyed(li.rev_p, (3,), {"dimensions": (0,)}, lambda w: w[::-1])
keyed(li.concatenate_p, (3,), {"dimension": 0}, lambda w: np.concatenate([w, w]), arrange=lambda k: (k, k))
keyed(li.select_n_p, (3,), {}, lambda w, p: np.where(p[:, None], w[::-1], w), lambda draw: [draw((3,), dtype=bool_)],
      arrange=lambda k, p: (p, k, li.rev_p(k, dimensions=(0,))))  # fmt: skip
keyed(ix.dynamic_slice_p, (4, 2), {"slice_sizes": (2, 2)}, lambda w, i: w[min(i, 2) :][:2], lambda draw: [draw((), 0, 4, int32)],
      arrange=lambda k, i: (k, i, np.int32(0)))  # fmt: skip
keyed(ix.dynamic_update_slice_p, (4,), {}, lambda w, i: np.concatenate([w[:i], w[3:], w[i + 1 :]]), lambda draw: [draw((), 0, 3, int32)],
      arrange=lambda k, i: (k, li.slice_in_dim(k, 3, 4), i))  # fmt: skip


for _compare, _same in ((el.eq_p, True), (el.ne_p, False)):

    @samples(_compare, "u")
    def _(draw, dtype, compare=_compare, same=_same):
        words = draw.among((4, 2), [1, 2])
        oracle = lambda x, y, same=same: (x == y).all(-1) == same
        for label, other in (("keys", draw.among((4, 2), [1, 2])), ("one key", np.array([1, 2], np.uint32))):
            yield Sample(label, [words, other], oracle, result=bool_,
                         fun=lambda x, y, compare=compare: compare(_keys(x), _keys(y)))  # fmt: skip


def _key_or_fill(w, i, mode):
    return w[np.clip(i, 0, 3)] if mode is CLIP or 0 <= i < 4 else np.full(2, 2**32 - 1, np.uint32)


_PROMISES = {"indices_are_sorted": False, "unique_indices": False}
for _mode in (CLIP, FILL):
    keyed(ix.gather_p, (4,), {"dimension_numbers": ix.GatherDimensionNumbers((), (0,), (0,)), "slice_sizes": (1,), "mode": _mode,
                              "fill_value": None, **_PROMISES},
          lambda w, i, m=_mode: np.stack([_key_or_fill(w, j, m) for j in i[:, 0]]), lambda draw: [draw((5, 1), -2, 5, int32)])  # fmt: skip
keyed(ix.scatter_p, (4,), {"dimension_numbers": ix.ScatterDimensionNumbers((), (0,), (0,)), "mode": FILL, **_PROMISES},
      lambda w, i: scattered(lambda old, new: new)(w, i, w[:2], ix.ScatterDimensionNumbers((1,), (0,), (0,)), (1, 2), FILL),
      lambda draw: [draw((2, 1), -1, 5, int32)], arrange=lambda k, i: (k, i, li.slice_in_dim(k, 0, 2)))  # fmt: skip
