"""Record what real JAX answers to the expressions of linalg_cases: `python tests/compiler/record_jax_linalg.py`, in an
environment with jax 0.10. Writes recorded/linalg.json; the suite reads it and needs no jax."""

from __future__ import annotations

import importlib
import inspect
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

import linalg_cases as cases  # noqa: E402


def signatures() -> dict[str, list[list[str]]]:
    functions = {"lax.fft": jax.lax.fft}
    for module in cases.MODULES:
        room = vars(importlib.import_module(f"jax.{module}"))
        functions |= {f"{module}.{name}": x for name, x in room.items() if not name.startswith("_")}
    plain = {name: x for name, x in functions.items() if inspect.isfunction(inspect.unwrap(x))}
    return {
        name: [[p.name, p.kind.name, "" if p.default is p.empty else repr(p.default)] for p in parameters_of(x)]
        for name, x in sorted(plain.items())
    }


def parameters_of(function: Any) -> Any:
    return inspect.signature(function).parameters.values()


def names(dtype: str) -> dict[str, Any]:
    importlib.import_module("jax.scipy.linalg")
    rooms = {"la": jnp.linalg, "sl": jax.scipy.linalg, "ll": jax.lax.linalg, "fft": jnp.fft, "np": jnp, "jx": jax,
             "lax": jax.lax}  # fmt: skip
    return rooms | {name: jnp.asarray(x) for name, x in cases.arrays(dtype).items()}


def number(x: Any) -> Any:
    return [number(x.real), number(x.imag)] if isinstance(x, complex) else x if isinstance(x, int) else repr(x)


def written(x: Any) -> Any:
    if not hasattr(x, "dtype"):
        return x if isinstance(x, (int, str, bool)) else number(x)
    return {"dtype": x.dtype.name, "weak": bool(x.aval.weak_type), "shape": list(x.shape),
            "values": [number(v) for v in np.asarray(x).ravel().tolist()]}  # fmt: skip


def described(x: Any) -> str:
    return f"{x.dtype.name}{'*' if x.aval.weak_type else ''}{list(x.shape)}" if hasattr(x, "dtype") else repr(x)


def answer(expr: str, known: dict[str, Any], show: Any) -> Any:
    try:
        return [show(x) for x in jax.tree.leaves(cases.evaluate(expr, known))]
    except Exception as error:
        return type(error).__name__


def main() -> None:
    warnings.simplefilter("ignore")
    with jax.enable_x64(True):
        known = names("float64")
        values = {expr: answer(expr, known, written) for expr in cases.table(cases.VALUES)}
        errors = {expr: answer(expr, known, described) for expr in cases.table(cases.ERRORS)}
    dtypes = {}
    for kind in cases.KINDS:
        x = jnp.asarray(np.array([[2, 1], [1, 3]]), kind)
        known = names("float32") | {"x": x}
        parts = [part.strip() for line in cases.table(cases.DTYPES) for part in cases.parts(line)]
        dtypes[kind] = {part: answer(part, known, described) for part in parts}
    tables = {"jax": jax.__version__, "signatures": signatures(), "values": values, "errors": errors, "dtypes": dtypes}
    text = json.dumps(tables, indent=0, ensure_ascii=False)
    (HERE / "recorded" / "linalg.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
