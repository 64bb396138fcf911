"""Random numbers: ranges, shapes, keys and bits. (JAX's bits: tests/oracle/cases/random_draws.py.)"""

from __future__ import annotations

import numpy as np
import pytest

import jitscope as jx
from jitscope import random
from jitscope.backend.array import to_array
from jitscope.ops import counter_based, generators, rng
from tests.compiler.programs import steps
from tests.oracle import there
from tests.oracle.cases.random_draws import DRAWS, WIDE_DRAWS


def values_of(x) -> np.ndarray:
    return np.asarray(random.key_data(x) if isinstance(x.aval.dtype, rng.KeyDType) else x)


BEYOND = [
    *("randint int32 beyond", "randint uint32 whole", "randint uint32 beyond", "randint uint32 half"),
    *("x64 randint int64 beyond", "x64 randint uint64 whole", "x64 randint uint64 beyond", "x64 randint uint64 half"),
]
"""Draws that JAX refuses, compiled or not."""


@pytest.mark.parametrize("name", BEYOND)
def test_bounds_that_jax_cannot_be_given(name):
    """Numbers handed to a program are int32 or int64; where they are part of one they may be anything."""
    draw = {**DRAWS, **WIDE_DRAWS}[name]
    with jx.enable_x64(name.startswith("x64")):
        with pytest.raises(OverflowError, match="does not fit"):
            draw(random)
        drawn = values_of(jx.jit(lambda: draw(random))())
    assert drawn.shape == (30,) and len(set(drawn.tolist())) > 20


def test_compiled_bits_are_the_same():
    for draw in (lambda: random.bits(random.key(5), (3, 2)), lambda: random.uniform(random.key(5), (7,)),
                 lambda: random.randint(random.key(5), (9,), 0, 1000)):  # fmt: skip
        np.testing.assert_array_equal(jx.jit(draw)(), draw())
    key = random.key(5)
    for draw in (
        lambda key: random.normal(key, (40,)),
        lambda key: random.uniform(key, (99,), minval=-2.5, maxval=7.25),
    ):
        np.testing.assert_allclose(jx.jit(draw)(key), draw(key), rtol=1e-6)  # contracted or not, as vectors fall


@pytest.mark.parametrize("draw", [
    lambda k: random.bits(k, (3,)), lambda k: random.uniform(k, (2, 2)), lambda k: random.normal(k),
    lambda k: random.randint(k, (4,), 0, 9), lambda k: random.key_data(random.split(k, 3)),
    lambda k: random.key_data(random.fold_in(k, 4)), lambda k: random.bernoulli(k, 0.4, (5,))])  # fmt: skip
def test_mapped_over_keys_is_a_loop(draw):
    keys = random.split(random.key(1), 4)
    loop = np.stack([np.asarray(draw(k)) for k in keys])
    np.testing.assert_array_equal(jx.vmap(draw)(keys), loop)
    np.testing.assert_array_equal(jx.jit(jx.vmap(draw))(keys), loop)
    old = random.split(random.PRNGKey(1), 4)
    np.testing.assert_array_equal(jx.vmap(draw)(old), loop)


def test_mapped_over_what_is_folded_in():
    folded = jx.vmap(lambda i: random.key_data(random.fold_in(random.key(2), i)))(np.arange(4))
    loop = [np.asarray(random.key_data(random.fold_in(random.key(2), i))) for i in range(4)]
    np.testing.assert_array_equal(folded, np.stack(loop))


def test_many_elements_are_drawn_as_few_are():
    """Programs for many elements are built otherwise; an element depends on its index alone."""
    key, keys = random.key(3), random.split(random.key(4), 3)
    for impl in (lambda fun: fun, jx.jit):
        for few, many in ((random.bits(key, (40,)), impl(lambda k: random.bits(k, (2000,)))(key)[:40]),
                          (random.bits(key, (40,), np.uint8), impl(lambda k: random.bits(k, (50, 40), np.uint8))(key)[0]),
                          (random.key_data(random.split(key, 9)), random.key_data(impl(lambda k: random.split(k, 3000))(key))[:9])):  # fmt: skip
            np.testing.assert_array_equal(few, many)
        rows = impl(jx.vmap(lambda k: random.bits(k, (1500,))))(keys)
        np.testing.assert_array_equal(rows[:, :20], [random.bits(k, (20,)) for k in keys])
        folded = impl(jx.vmap(lambda i: random.key_data(random.fold_in(key, i))))(np.arange(2000))
        np.testing.assert_array_equal(folded[:9], [random.key_data(random.fold_in(key, i)) for i in range(9)])
    together = jx.jit(lambda k: (random.bits(random.split(k)[1], (2000,)), random.normal(k, (300, 5)).sum(-1)))(key)
    np.testing.assert_array_equal(together[0], random.bits(random.split(key)[1], (2000,)))
    np.testing.assert_allclose(together[1], np.asarray(random.normal(key, (300, 5))).sum(-1), rtol=1e-4, atol=1e-5)


def test_both_forms_of_keys_give_the_same():
    old, new = random.PRNGKey(11), random.key(11)
    assert old.aval.short() == "u32[2]" and new.aval.short() == "key<fry>[]"
    np.testing.assert_array_equal(random.bits(old, (4,)), random.bits(new, (4,)))
    np.testing.assert_array_equal(random.split(old), random.key_data(random.split(new)))
    np.testing.assert_array_equal(random.key_data(random.wrap_key_data(old)), old)
    assert random.key_impl(new) == "threefry2x32" and random.clone(new).aval is new.aval


def test_keys_go_through_transformations():
    noisy = lambda x, key: random.uniform(key, (), minval=x, maxval=2.0)
    gradient = jx.grad(noisy, argnums=(0, 1), allow_int=True)(1.0, random.key(3))
    u = float(random.uniform(random.key(3)))
    np.testing.assert_allclose(gradient[0], 1 - u, rtol=1e-5)
    assert gradient[1].dtype == jx.core.dtypes.float0

    @jx.jit
    def step(state):
        key, own = random.split(state["key"])
        return {"key": key, "x": random.uniform(own)}

    state = {"key": random.key(0), "x": to_array(0.0)}
    seen = []
    with steps() as counted:
        for _ in range(4):
            state = step(state)
            seen.append(float(state["x"]))
    assert len(set(seen)) == 4 and counted["compile"] <= 2
    mapped = jx.vmap(lambda k, x: k, in_axes=(0, None), out_axes=0)(random.split(random.key(0), 3), 1.0)
    assert mapped.aval.short() == "key<fry>[3]" and len(list(mapped)) == 3


@pytest.mark.parametrize("name", [n for n in DRAWS if (n.startswith("randint u") or "int32" in n) and n not in BEYOND])
def test_integers_of_ranges_known_while_tracing_are_the_same(name):
    found = values_of(jx.jit(lambda: DRAWS[name](random))())
    assert found.ravel().tolist() == there.answer("random_draws", name)["values"][0]


# The counters ---------------------------------------------------------------------------------------------------------


def both_words(shape):
    high, low = (np.asarray(w).astype(np.uint64) for w in generators.counters(shape))
    return (high << np.uint64(32)) | low


@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (2, 3, 4), (0, 3)], ids=str)
def test_counters_count(shape):
    size = int(np.prod(shape))
    np.testing.assert_array_equal(both_words(shape), np.arange(size, dtype=np.uint64).reshape(shape))


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4), (7,)], ids=str)
def test_the_way_for_many_elements_counts_the_same(shape):
    high, low = generators._wide_counters(shape)
    np.testing.assert_array_equal(low, np.arange(np.prod(shape)).reshape(shape))
    assert not np.asarray(high).any()


def test_counters_beyond_32_bits():
    """Elements of arrays too large to make: what an index contributes, word by word."""
    generator = np.random.default_rng(0)
    indices = generator.integers(0, 2**32, 200, dtype=np.uint64)
    strides = [1, 2**16, 2**31 + 7, 2**32 - 1, 12345678901 % 2**32]
    for stride in strides:
        high, low = generators._multiply_wide(to_array_of(indices), stride)
        found = (np.asarray(high).astype(np.uint64) << np.uint64(32)) | np.asarray(low)
        wanted = [int(i) * stride % 2**64 for i in indices]
        assert found.tolist() == wanted


def to_array_of(x: np.ndarray):
    return jx.device_put(x.astype(np.uint32))


def test_a_shape_of_more_than_2_to_the_32_elements_is_staged_right():
    """Traced, not run: the program of a row taken out of a huge array of bits."""
    shape = (2**20, 2**13)
    jaxpr = jx.make_jaxpr(lambda: generators.counters(shape))()
    assert [a.short() for a in jaxpr.out_avals] == ["u32[1048576,8192]"] * 2
    assert "mul" in str(jaxpr)  # strides enter
    sliced = both_words_at(shape, 2**20 - 1, 5)
    assert sliced == (2**20 - 1) * 2**13 + 5


def both_words_at(shape, row, column):
    """Element [row, column] of the counters of `shape`, from the arithmetic of its axes on one index each."""
    high, low, stride = 0, 0, int(np.prod(shape, dtype=object))
    for size, index in zip(shape, (row, column)):
        stride //= size
        product_high, product_low = generators._multiply_wide(to_array_of(np.array([index])), stride & 0xFFFFFFFF)
        product = (int(np.asarray(product_high)[0]) << 32) + int(np.asarray(product_low)[0])
        total = (high << 32) + low + product + (index * (stride >> 32) << 32)
        high, low = total >> 32, total & 0xFFFFFFFF
    return (high << 32) + low


def test_threefry_on_published_vectors():
    """Known answers of Threefry-2x32 with 20 rounds (Salmon et al.)."""
    vectors = {
        (0, 0, 0, 0): (0x6B200159, 0x99BA4EFE),
        (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF): (0x1CB996FC, 0xBB002BE7),
        (0x13198A2E, 0x03707344, 0x243F6A88, 0x85A308D3): (0xC4923A9C, 0x483DF7A0),
    }
    for words, wanted in vectors.items():
        out = generators.threefry2x32_p(*[np.uint32(w) for w in words])
        assert tuple(int(x) for x in out) == wanted


KNOWN_ANSWERS = {
    "philox2x32": [
        ("00000000 00000000 00000000", "ff1dae59 6cd10df2"),
        ("ffffffff ffffffff ffffffff", "2c3f628b ab4fd7ad"),
        ("13198a2e 243f6a88 85a308d3", "dd7ce038 f62a4c12"),
    ],
    "philox4x32": [
        ("0 0 0 0 0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff " * 6, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("a4093822 299f31d0 243f6a88 85a308d3 13198a2e 03707344", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
    "threefry4x32": [
        ("0 " * 8, "9c6ca96a e17eae66 fc10ecd4 5256a7d8"),
        ("ffffffff " * 8, "2a881696 57012287 f6c7446e a16a6732"),
        (
            "a4093822 299f31d0 082efa98 ec4e6c89 243f6a88 85a308d3 13198a2e 03707344",
            "59cd1dbb b8879579 86b5d00c ac8b6d84",
        ),
    ],
}
"""Of Random123, the program beside the paper of Salmon et al.: words of key and counter, and what they are hashed to."""


@pytest.mark.parametrize("name", KNOWN_ANSWERS)
def test_hashes_of_counters_on_published_vectors(name: str) -> None:
    primitive = getattr(counter_based, f"{name}_p")
    for words, wanted in KNOWN_ANSWERS[name]:
        out = primitive(*[np.uint32(int(w, 16)) for w in words.split()])
        assert [int(x) for x in out] == [int(w, 16) for w in wanted.split()]


# Distributions --------------------------------------------------------------------------------------------------------


def test_uniform_numbers_fill_their_range():
    for low, high in ((0.0, 1.0), (-3.0, 5.0), (2.0, 2.0)):
        drawn = np.asarray(random.uniform(random.key(1), (20000,), minval=low, maxval=high))
        assert drawn.min() >= low and (drawn.max() < high or low == high)
        np.testing.assert_allclose(drawn.mean(), (low + high) / 2, atol=0.1)


def test_normal_numbers_are_normal():
    drawn = np.sort(np.asarray(random.normal(random.key(2), (20000,))))
    assert abs(drawn.mean()) < 0.02 and abs(drawn.std() - 1) < 0.02
    quantiles = np.quantile(drawn, [0.025, 0.16, 0.5, 0.84, 0.975])
    np.testing.assert_allclose(quantiles, [-1.96, -0.994, 0, 0.994, 1.96], atol=0.04)


def test_integers_are_uniform():
    drawn = np.asarray(random.randint(random.key(3), (30000,), -3, 4))
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == list(range(-3, 4)) and counts.min() > 4000


# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call, kind, text", [
    (lambda: random.key(1.5), TypeError, "integer"), (lambda: random.key("a"), TypeError, "str"),
    (lambda: random.key(2**70), OverflowError, "int64"),
    (lambda: random.key(1, impl="other"), ValueError, "threefry2x32"),
    (lambda: random.bits(1.0), TypeError, "f32[]"), (lambda: random.uniform(np.zeros(3, np.uint32)), TypeError, "u32[3]"),
    (lambda: random.bits(random.split(random.key(0))), ValueError, "one key"),
    (lambda: random.split(random.split(random.key(0))), ValueError, "vmap"),
    (lambda: random.fold_in(random.key(0), np.arange(3)), TypeError, "i32[3]"),
    (lambda: random.uniform(random.key(0), (2,), int), ValueError, "floats"),
    (lambda: random.normal(random.key(0), (2,), bool), ValueError, "floats"),
    (lambda: random.randint(random.key(0), (2,), 0, 5, float), TypeError, "integers"),
    (lambda: random.bits(random.key(0), (2,), np.int32), ValueError, "unsigned"),
    (lambda: random.bits(random.key(0), (-1,)), ValueError, "negative"),
    (lambda: np.asarray(random.key(0)), TypeError, "key_data"),
])  # fmt: skip
def test_wrong_use_is_explained(call, kind, text):
    with pytest.raises(kind) as caught:
        call()
    assert text in str(caught.value), str(caught.value)


def test_a_number_drawn_for_all_elements_has_a_kernel_of_its_own():
    """In one loop with what is drawn for each element, LLVM looks at each of the 2**40 ways through two hashes in a row."""

    def flipped(key):
        coin, noise = jx.random.split(key)
        return jx.random.randint(coin, (), 0, 2) * 1.0 + jx.random.normal(noise, (4,))

    lowered = jx.jit(flipped).lower(jx.random.key(0))
    assert lowered.as_text().count("stablehlo.case") == 4, "two splits, the high and the low bits of the coin"
    with jx.disable_jit():
        alone = flipped(jx.random.key(0))
    np.testing.assert_allclose(lowered.compile()(jx.random.key(0)), alone, rtol=1e-6)


def test_keys_that_are_split_have_a_kernel_of_their_own():
    """So it is where all elements share a key that several splits lead to."""

    def drawn(key):
        return jx.random.normal(jx.random.split(jx.random.split(jx.random.split(key)[0])[1], 6)[3], (4,))

    lowered = jx.jit(drawn).lower(jx.random.key(0))
    assert lowered.as_text().count("stablehlo.case") == 3
    with jx.disable_jit():
        alone = drawn(jx.random.key(0))
    np.testing.assert_allclose(lowered.compile()(jx.random.key(0)), alone, rtol=1e-6)
