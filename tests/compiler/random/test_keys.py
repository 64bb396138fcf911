"""Random keys: made, moved about, told apart from numbers; and `debug_key_reuse`, beside what JAX says (recorded)."""

from __future__ import annotations

import copy
import gc
import pickle
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import dtypes, lax, random
from jitscope.backend import key_reuse
from jitscope.core.errors import KeyReuseError, TypePromotionError
from jitscope.ops import rng


KEY = random.key(0)
KEYS = random.split(KEY, 4)
WORDS = np.asarray(random.key_data(KEYS))


def words(keys: Any) -> np.ndarray:
    return np.asarray(random.key_data(keys))


# Functions ------------------------------------------------------------------------------------------------------------


SAMPLERS = {
    "bits": lambda k: random.bits(k, (3,)),
    "uniform": lambda k: random.uniform(k, (3,)),
    "normal": lambda k: random.normal(k, (3,)),
    "bernoulli": lambda k: random.bernoulli(k, 0.5, (3,)),
    "randint": lambda k: random.randint(k, (3,), 0, 100),
}


@pytest.mark.parametrize("name", SAMPLERS)
def test_raw_keys_draw_what_typed_ones_draw(name: str) -> None:
    draw = SAMPLERS[name]
    wanted = np.asarray(draw(KEY))
    raw = random.PRNGKey(0)
    assert raw.dtype == np.uint32 and raw.shape == (2,) and (raw == random.key_data(KEY)).all()
    for key in (raw, np.asarray(raw), random.wrap_key_data(raw), random.clone(KEY), random.clone(raw)):
        np.testing.assert_array_equal(draw(key), wanted)
        np.testing.assert_array_equal(jx.jit(draw)(key), wanted)
    rows = jx.vmap(draw)(KEYS)
    np.testing.assert_array_equal(rows, [draw(k) for k in KEYS])
    np.testing.assert_array_equal(jx.vmap(draw)(random.key_data(KEYS)), rows)
    np.testing.assert_array_equal(lax.scan(lambda c, k: (c, draw(k)), 0, KEYS)[1], rows)
    with pytest.raises(ValueError, match=name):
        draw(KEYS)
    with pytest.raises(TypeError, match="random key is needed"):
        draw(jnp.ones(2))


def test_making_keys() -> None:
    assert random.key_impl(KEY) == random.key_impl(random.PRNGKey(0)) == "threefry2x32"
    assert random.key(3, impl="threefry2x32").dtype == KEY.dtype == random.key(3, dtype=KEY.dtype).dtype
    assert (jx.vmap(random.key)(np.arange(3)) == jnp.stack([random.key(i) for i in range(3)])).all()
    assert random.wrap_key_data(WORDS, dtype=KEY.dtype).shape == (4,)
    assert random.fold_in(KEY, np.uint8(3)) == random.fold_in(KEY, 3) and random.fold_in(KEY, 3) != random.fold_in(
        KEY, 4
    )
    for wrong, error in (
        (lambda: random.key(1.5), TypeError),
        (lambda: random.key(2**70), OverflowError),
        (lambda: random.key(0, impl="dice"), ValueError),
        (lambda: random.key(0, impl="threefry2x32", dtype=KEY.dtype), ValueError),
        (lambda: random.split(KEYS), ValueError),
        (lambda: random.fold_in(KEYS, 1), ValueError),
        (lambda: random.fold_in(KEY, np.arange(3)), TypeError),
        (lambda: random.wrap_key_data(jnp.ones(2)), TypeError),
        (lambda: random.key_data(jnp.ones(3)), TypeError),
        (lambda: random.clone(1.0), TypeError),
    ):
        with pytest.raises(error):
            wrong()


@pytest.mark.parametrize("impl", sorted(rng.GENERATORS))
def test_no_keys_and_many(impl: str) -> None:
    key = random.key(1, impl=impl)
    none = random.split(key, 0)
    assert none.shape == (0,) and none.dtype == key.dtype and jx.vmap(random.normal)(none).shape == (0,)
    many = random.split(key, (3, 5))
    assert many.shape == (3, 5) and len({tuple(row) for row in words(many).reshape(15, -1).tolist()}) == 15
    assert random.bits(key, (0, 2)).shape == (0, 2) and random.key_impl(many) == impl


# Keys as elements of arrays -------------------------------------------------------------------------------------------

MOVES = {
    "element": (lambda k: k[1], lambda w: w[1]),
    "last": (lambda k: k[-1], lambda w: w[-1]),
    "slice": (lambda k: k[1:4:2], lambda w: w[1:4:2]),
    "new axis": (lambda k: k[None, :, None], lambda w: w[None, :, None]),
    "index array": (lambda k: k[np.array([2, 0])], lambda w: w[[2, 0]]),
    "traced index": (lambda k: k[jnp.asarray(2)], lambda w: w[2]),
    "reshape": (lambda k: k.reshape(2, 2), lambda w: w.reshape(2, 2, 2)),
    "ravel": (lambda k: k.reshape(2, 2).ravel(), lambda w: w),
    "transpose": (lambda k: k.reshape(2, 2).T, lambda w: w.reshape(2, 2, 2).transpose(1, 0, 2)),
    "stack": (lambda k: jnp.stack([k[0], k[2]]), lambda w: w[[0, 2]]),
    "concatenate": (lambda k: jnp.concatenate([k, k[:1]]), lambda w: w[[0, 1, 2, 3, 0]]),
    "array": (lambda k: jnp.array([k[0], k[1]]), lambda w: w[:2]),
    "broadcast": (lambda k: jnp.broadcast_to(k, (2, 4)), lambda w: np.stack([w, w])),
    "where": (lambda k: jnp.where(np.array([1, 0, 1, 0], bool), k, k[::-1]), lambda w: w[[0, 2, 2, 0]]),
    "set": (lambda k: k.at[1].set(k[3]), lambda w: w[[0, 3, 2, 3]]),
    "set several": (lambda k: k.at[np.array([0, 1])].set(k[2:]), lambda w: w[[2, 3, 2, 3]]),
    "flip": (lambda k: jnp.flip(k), lambda w: w[::-1]),
    "roll": (lambda k: jnp.roll(k, 1), lambda w: np.roll(w, 1, 0)),
    "repeat": (lambda k: jnp.repeat(k, 2), lambda w: np.repeat(w, 2, 0)),
    "tile": (lambda k: jnp.tile(k, 2), lambda w: np.tile(w, (2, 1))),
    "take": (lambda k: jnp.take(k, np.array([3, 3]), axis=0), lambda w: w[[3, 3]]),
    "squeeze": (lambda k: jnp.squeeze(k[None]), lambda w: w),
    "moveaxis": (lambda k: jnp.moveaxis(k.reshape(2, 2), 0, 1), lambda w: w.reshape(2, 2, 2).transpose(1, 0, 2)),
    "copy": (lambda k: k.copy(), lambda w: w),
    "zeros_like": (lambda k: jnp.zeros_like(k), np.zeros_like),
    "empty_like": (lambda k: jnp.empty_like(k), np.zeros_like),
    "full": (lambda k: jnp.full((2,), k[0]), lambda w: w[[0, 0]]),
    "zeros": (lambda k: jnp.zeros(2, k.dtype), lambda w: w[:2] * 0),
    "split": (lambda k: jnp.split(k, 2)[1], lambda w: w[2:]),
    "unstack": (lambda k: jnp.unstack(k)[2], lambda w: w[2]),
    "device_put": (lambda k: jx.device_put(k), lambda w: w),
}  # fmt: skip


@pytest.mark.parametrize("name", MOVES)
def test_keys_move_as_other_elements_do(name: str) -> None:
    move, oracle = MOVES[name]
    for run in (move, jx.jit(move)):
        moved = run(KEYS)
        assert jnp.issubdtype(moved.dtype, dtypes.prng_key)
        np.testing.assert_array_equal(words(moved), oracle(WORDS))
    both = jnp.stack([KEYS, KEYS[::-1]])
    np.testing.assert_array_equal(words(jx.vmap(move)(both)), [oracle(WORDS), oracle(WORDS[::-1])])


def test_keys_compare_iterate_copy_and_print() -> None:
    assert (KEYS == KEYS).tolist() == [True] * 4 and not (KEYS != KEYS).any()
    assert (KEYS == KEYS[0]).tolist() == [True, False, False, False]
    assert (jx.jit(lambda a, b: a != b)(KEYS, KEYS[::-1])).all() and jx.vmap(lambda a: a == KEYS[1])(KEYS)[1]
    half = random.wrap_key_data(jnp.array([[1, 2], [1, 3], [4, 2]], "uint32"))
    assert (half == half[0]).tolist() == [True, False, False] and (half != half[0]).tolist() == [False, True, True]
    assert jnp.array_equal(KEYS, KEYS) and not jnp.array_equal(KEYS, KEYS[::-1])
    assert len(KEYS) == 4 and all(k.shape == () and k.dtype is KEYS.dtype for k in KEYS)
    assert [words(k).tolist() for k in KEYS] == WORDS.tolist() and [words(k).tolist() for (k,) in [KEYS[1:2]]] == [
        [*WORDS[1]]
    ]
    with jx.transfer_guard("disallow"):  # nothing is moved
        assert len([*KEYS, *jnp.arange(3)]) == 7
    for again in (pickle.loads(pickle.dumps(KEYS)), copy.deepcopy(KEYS), copy.copy(KEYS), jx.device_get(KEYS)):
        assert again.dtype is KEYS.dtype and (words(again) == WORDS).all()
    assert repr(KEYS).startswith("Array((4,), dtype=key<fry>) overlaying:") and KEYS.nbytes == 32 and KEYS.itemsize == 8


@pytest.mark.parametrize(
    "wrong",
    [
        lambda k: k + 1,
        lambda k: k * k,
        lambda k: -k,
        lambda k: k @ k,
        lambda k: k < k,
        lambda k: jnp.sum(k),
        lambda k: jnp.max(k),
        lambda k: jnp.mean(k),
        lambda k: jnp.sin(k),
        lambda k: jnp.sort(k),
        lambda k: jnp.cumsum(k),
        lambda k: k.astype("uint32"),
        lambda k: k.view("uint32"),
        lambda k: k.at[0].set(1),
        lambda k: k.at[0].add(k[0]),
        lambda k: jnp.where(True, k, 0),
        lambda k: jnp.concatenate([k, jnp.ones(3)]),
        lambda k: jx.grad(lambda k: 1.0)(k),
    ],
)
def test_keys_are_no_numbers(wrong: Any) -> None:
    for run in (wrong, jx.jit(wrong)):
        with pytest.raises((TypeError, TypePromotionError), match="key"):
            run(KEYS)


@pytest.mark.parametrize("wrong", [np.asarray, bool, int, float, lambda k: k.item(), lambda k: k.tolist(), hash])
def test_keys_are_not_read(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"key|unhashable"):
        wrong(KEY)


# Reuse ----------------------------------------------------------------------------------------------------------------


def message_of(run: Any) -> str:
    with jx.debug_key_reuse(True), pytest.raises(KeyReuseError) as error:
        run()
    return str(error.value)


def test_both_lines_are_named() -> None:
    key = random.key(1)

    def eagerly() -> None:
        random.normal(key)  # first
        random.uniform(key)  # second

    assert "# first" in (text := message_of(eagerly)) and text.index("# first") < text.index("# second")
    assert "random.split(key)" in text and "random.clone" in text

    @jx.jit
    def compiled(key: Any) -> Any:
        a = random.normal(key)  # first
        return a + random.bits(key)  # second

    assert "# first" in (text := message_of(lambda: compiled(random.key(2)))) and "of compiled" in text
    assert text.index("# first") < text.index("# second")

    @jx.jit
    def drawn(key: Any) -> Any:
        return random.normal(key)  # inside

    def calls() -> None:
        own = random.key(3)
        drawn(own)  # call 1
        drawn(own)  # call 2

    text = message_of(calls)
    assert text.count("# inside") == 2 and text.index("# call 1") < text.index("# call 2")

    def loop() -> None:
        own = random.key(4)
        lax.fori_loop(0, 3, lambda i, c: c + random.normal(own), 0.0)  # in the loop

    assert "# in the loop" in (text := message_of(loop)) and "the same line once more" in text

    def twice_as_arguments() -> None:
        own = random.key(5)
        jx.jit(lambda a, b: random.normal(a) + random.normal(b))(own, own)

    assert "twice_as_arguments" in message_of(twice_as_arguments)


def test_the_option_may_come_late_and_go_again() -> None:
    key = random.key(6)
    draw = jx.jit(random.normal)
    assert draw(key) == draw(key) == random.normal(key)
    with jx.debug_key_reuse():
        assert draw(key) == random.normal(random.clone(key))
        with pytest.raises(KeyReuseError):
            draw(key)
        with jx.debug_key_reuse(False):
            draw(key)
    assert draw(key) == draw(key)


def test_loops_whose_every_round_takes_another_key_pass() -> None:
    keys = random.split(random.key(7), 4)
    with jx.debug_key_reuse(True):
        own = random.split(random.key(8), 4)
        rows = lax.fori_loop(0, 4, lambda i, c: c.at[i].set(random.normal(own[i])), jnp.zeros(4))
        with pytest.raises(KeyReuseError):
            jx.vmap(random.normal)(own)
        others = random.split(random.key(8), 4)
        np.testing.assert_array_equal(jx.vmap(random.normal)(others), rows)
        with pytest.raises(KeyReuseError):
            lax.fori_loop(0, 4, lambda i, c: c + random.normal(keys[i]) + random.uniform(keys[i]), 0.0)
        with pytest.raises(KeyReuseError):
            lax.fori_loop(0, 4, lambda i, c: c + random.normal(keys[0]), 0.0)


def test_keys_that_are_gone_are_forgotten() -> None:
    gc.collect()
    before = len(key_reuse._used), len(key_reuse._labels), len(key_reuse._alive)
    with jx.debug_key_reuse(True):
        key = random.key(9)
        for _ in range(5):
            key, own = random.split(key)
            random.normal(own)
        del key, own
    gc.collect()
    assert (len(key_reuse._used), len(key_reuse._labels), len(key_reuse._alive)) == before


def test_seeds_and_numbers_as_jax_takes_them():
    assert random.key_data(random.key(True)).tolist() == random.key_data(random.key(1)).tolist() == [0, 1]
    assert random.key_data(random.key(-(2**63))).tolist() == [0, 0]
    for wrong in (2**63, 2**64 - 1, -(2**63) - 1):
        for make in (random.key, random.PRNGKey):
            with pytest.raises(OverflowError, match="int64"):
                make(wrong)
    for wrong in (np.arange(3), [1, 2], 1.0, "a", None):
        with pytest.raises(TypeError):
            random.key(wrong)
    np.testing.assert_array_equal(
        jx.vmap(random.PRNGKey)(np.arange(3)), np.stack([random.PRNGKey(i) for i in range(3)])
    )
    key = random.key(0)
    for wrong in (-1, 2**32):
        with pytest.raises(OverflowError, match="uint32"):
            random.fold_in(key, wrong)
    with pytest.raises(TypeError, match="real"):
        random.fold_in(key, 1j)
    assert (random.fold_in(key, 2**32 - 1) == random.fold_in(key, np.uint32(2**32 - 1))).all()


def test_integers_of_four_bits():
    key = random.key(0)
    wide = random.randint(key, (9,), -8, 7, "int8")
    assert random.randint(key, (9,), -8, 7, jnp.int4).astype("int8").tolist() == wide.tolist()
    assert wide.tolist() == [-4, -8, -6, 5, 3, 4, 4, 0, -5]  # JAX's answer
    assert random.randint(key, (9,), 0, 15, jnp.uint4).astype("int8").tolist() == [4, 0, 2, 13, 11, 12, 12, 8, 3]
    assert random.rademacher(key, (3,), jnp.int4).astype("int8").tolist() == [-1, -1, 1]
    for draw in (lambda: random.uniform(key, None), lambda: random.randint(key, None, 0, 3)):
        with pytest.raises(TypeError, match="None"):
            draw()


@pytest.mark.parametrize("name", sorted(rng.GENERATORS))
def test_the_dtype_of_keys_by_the_name_of_their_generator(name: str) -> None:
    made = random.key(3, dtype=name)
    assert made.dtype == random.key_dtype(name) == random.key(3, impl=name).dtype
    assert random.wrap_key_data(random.key_data(made), dtype=name) == made
    with pytest.raises(ValueError, match="there is no generator 'mersenne'"):
        random.key(3, dtype="mersenne")
    with pytest.raises(TypeError, match="the name of a generator"):
        random.key(3, dtype=np.float32)


def test_keys_are_put_along_devices() -> None:
    keys = random.split(random.key(1), len(jx.devices()))
    sharded = jx.device_put_sharded(list(keys), jx.devices())
    assert sharded.dtype == keys.dtype and bool((sharded == keys).all())
    repeated = jx.device_put_replicated(keys[0], jx.devices())
    assert repeated.shape == keys.shape and bool((repeated == keys[0]).all())


def test_what_is_no_key_is_said_before_what_an_old_one_is() -> None:
    with jx.legacy_prng_key("error"):
        with pytest.raises(TypeError, match="a random key is needed"):
            random.uniform(np.zeros(3, np.uint32))
        with pytest.raises(ValueError, match="a raw uint32 key"):
            random.uniform(np.zeros(2, np.uint32))
