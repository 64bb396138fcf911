"""Write down what JAX says about the expressions of numpy_cases: dtype, weak type, shape, or which error.

Run it in an environment with jax: `python tests/compiler/record_jax.py [numpy_results] [promotion]`. The suite reads the
result and needs no jax.
"""

import json
import sys
import warnings
from itertools import product
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from numpy_cases import DTYPES, SHAPES, arguments, cases


def described(value) -> str:
    return f"{value.dtype.name}{'*' if value.weak_type else ''}{list(value.shape)}"


def result_of(expr: str, dtype: str, shape: tuple[int, ...]) -> str:
    x, y, m = arguments(dtype, shape)
    try:
        return described(
            jax.eval_shape(
                lambda x, y, m: jnp.asarray(eval(expr, {"np": jnp, "onp": np, "x": x, "y": y, "m": m})),
                jnp.asarray(x, dtype),
                jnp.asarray(y, dtype),
                jnp.asarray(m),
            )
        )
    except Exception as error:
        return type(error).__name__


def expressions() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for _, case in cases():
        found[case.expr] = {
            dtype: [result_of(case.expr, dtype, shape) for shape in SHAPES.values()] for dtype in DTYPES
        }
    return found


PROMOTED = (
    "bool",
    "int4",
    "uint4",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "bfloat16",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "float4_e2m1fn",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
)
WEAK = {"int*": 1, "float*": 1.0, "complex*": 1j}


def promotion(x64: bool, mode: str = "standard") -> dict[str, str]:
    with jax.enable_x64(x64), jax.numpy_dtype_promotion(mode):
        values = {name: jnp.zeros((), name) for name in PROMOTED} | {name: jnp.asarray(v) for name, v in WEAK.items()}
        table = {}
        for (a, x), (b, y) in product(values.items(), values.items()):
            try:
                out = jax.eval_shape(jnp.add, x, y)
                table[f"{a} {b}"] = f"{out.dtype.name}{'*' if out.weak_type else ''}"
            except Exception as error:
                table[f"{a} {b}"] = type(error).__name__
    return table


def promotions() -> dict[str, dict[str, str]]:
    return {
        f"{bits} {mode}": promotion(bits == "x64", mode) for bits in ("x32", "x64") for mode in ("standard", "strict")
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    folder = Path(__file__).parent / "recorded"
    folder.mkdir(exist_ok=True)
    np.seterr(all="ignore")
    tables = {"numpy_results": expressions, "promotion": promotions}
    for name in sys.argv[1:] or tables:
        (folder / f"{name}.json").write_text(json.dumps(tables[name](), indent=0) + "\n")
