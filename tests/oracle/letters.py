"""What expressions of `cases/` may name beside the rooms of a library: operands by letter, and ways to write others."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy

from tests.oracle.library import Library


def of(o: Library, which: str, wide: bool) -> dict[str, Any]:
    """The operands of a set (`linalg`, `nn`), as arrays of the library; and `key`."""
    dtype = "float64" if wide else "float32"
    found = {"linalg": linalg, "nn": nn}[which](dtype) if which else {}
    return {name: o.jnp.asarray(x) for name, x in found.items()} | {"key": o.random.key(3 if which == "nn" else 0)}


def linalg(dtype: str) -> dict[str, numpy.ndarray]:
    """The operands, by letter: `a` square, `b` another, `s` positive definite, `t` tall, `w` wide, `m` a batch, `u` and
    `v` vectors, `k` singular, `z` empty, `c` complex, `h` complex Hermitian, `r` upper triangular, `i` integers."""
    random = numpy.random.default_rng(7)
    draw = lambda *shape: random.normal(size=shape)
    a, b = draw(4, 4) + 2 * numpy.eye(4), draw(4, 4)
    c = draw(3, 3) + 1j * draw(3, 3)
    k = numpy.array([[1.0, 2, 0, 1], [2, 1, 1, 0], [3, 3, 1, 1], [0, 1, 0, 2]])
    found = {"a": a, "b": b, "s": a @ a.T + numpy.eye(4), "t": draw(5, 3), "w": draw(2, 4)}
    found |= {"m": draw(2, 3, 3) + 2 * numpy.eye(3), "u": draw(4), "v": draw(3), "k": k, "z": draw(0, 0)}
    found |= {"r": numpy.triu(a), "n": draw(3, 2), "e": draw(2, 3, 4, 2, 3)}
    found = {name: x.astype(dtype) for name, x in found.items()}
    wide = "complex128" if dtype == "float64" else numpy.complex64
    complexes = {"c": c, "h": c @ c.conj().T + numpy.eye(3), "y": draw(3) + 1j * draw(3)}
    found |= {name: x.astype(wide) for name, x in complexes.items()}
    wide_int = numpy.int64 if dtype == "float64" else numpy.int32
    return found | {"i": numpy.array([[2, 1], [1, 3]], wide_int), "o": numpy.zeros((3, 0), dtype)}


def nn(dtype: str) -> dict[str, numpy.ndarray]:
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


def rooms(o: Library) -> dict[str, Any]:
    """Short names of rooms, and ways to write operands."""
    jx, np = o.jx, o.jnp

    class Says:
        """What is an array by its own word."""

        def __init__(self, values: Any):
            self.values = values

        def __jax_array__(self) -> Any:
            return np.asarray(self.values)

    def arr(*values: Any, d: str = "float32") -> Any:
        return np.asarray(numpy.asarray(values).astype(d))

    def some(shape: Any, d: str = "float32", positive: bool = False) -> Any:
        random = numpy.random.default_rng(0)
        if d == "bool":
            return np.asarray(random.random(shape) < 0.5)
        if "int" in d:
            return np.asarray(random.integers(0 if d.startswith("u") else -5, 6, shape).astype(d))
        x = abs(random.normal(size=shape)) + 0.1 if positive else 1.5 * random.normal(size=shape)
        return np.asarray((x + 1j * random.normal(size=shape) if d.startswith("complex") else x).astype(d))

    def under(context: Any, function: Any) -> Any:
        with context:
            return function()

    return {
        "la": np.linalg,
        "sl": o.scipy.linalg,
        "ll": o.lax.linalg,
        "fft": np.fft,
        "image": o.image,
        "ops": o.ops,
        "Says": Says,
        "arr": arr,
        "some": some,
        "under": under,
        "jit": lambda function, *args: jx.jit(function)(*args),
        "strict": lambda: jx.numpy_dtype_promotion("strict"),
        "raises": lambda: jx.numpy_rank_promotion("raise"),
        "wide": lambda: jx.enable_x64(True),
    }
