"""Record what real JAX answers to the expressions of nn_cases: `python tests/compiler/record_jax_nn.py`, in an environment with jax
0.10. Writes recorded/nn.json; the suite reads it and needs no jax."""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import numpy as np


HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import nn_cases as cases  # noqa: E402


def rooms() -> dict[str, Any]:
    named = {"nn": "nn", "init": "nn.initializers", "image": "image", "ops": "ops"}
    found = {name: importlib.import_module(f"jax.{module}") for name, module in named.items()}
    return found | {"np": jnp, "jx": jax, "lax": jax.lax}


def number(x: Any) -> Any:
    return [number(x.real), number(x.imag)] if isinstance(x, complex) else x if isinstance(x, int) else repr(x)


def written(x: Any) -> dict[str, Any]:
    plain = np.asarray(x)
    plain = plain if plain.dtype.kind in "biufc" else plain.astype(np.float32)
    # Nine digits are enough for single precision.
    shorten = plain.dtype.kind == "f" and x.dtype.itemsize <= 4
    values = [float(f"{v:.9g}") if shorten else v for v in plain.ravel().tolist()]
    return {
        "dtype": x.dtype.name,
        "weak": bool(x.aval.weak_type),
        "shape": list(x.shape),
        "values": list(map(number, values)),
    }


def answer(expr: str, known: dict[str, Any], compiled: bool = True) -> Any:
    letters = cases.letters_of(expr, known["letters"])
    run = lambda given: cases.evaluate(expr, known["rooms"] | given)
    try:
        return [written(jnp.asarray(x)) for x in jax.tree.leaves((jax.jit(run) if compiled else run)(letters))]
    except Exception as error:
        return type(error).__name__


def names(dtype: str) -> dict[str, Any]:
    letters = {name: jnp.asarray(x) for name, x in cases.arrays(dtype).items()}
    return {"rooms": rooms(), "letters": letters | {"key": jax.random.key(3)}}


def main() -> None:
    warnings.simplefilter("ignore")
    known = names("float32")
    tables: dict[str, Any] = {"jax": jax.__version__, "nn": {expr: answer(expr, known) for expr in cases.EXPRESSIONS}}
    tables["errors"] = {expr: answer(expr, known, False) for expr in cases.ERRORS.strip().splitlines()}
    with jax.enable_x64(True):
        known = names("float64")
        tables["wide"] = {expr: answer(expr, known) for expr in cases.WIDE}
    text = json.dumps(tables, indent=0, ensure_ascii=False)
    (HERE / "recorded" / "nn.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
