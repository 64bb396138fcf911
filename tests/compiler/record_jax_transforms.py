"""Write down what JAX answers for the programs of transform_cases: `python record_jax_transforms.py`, where jax 0.10.2 is.

Writes recorded/transforms.json: of each result its dtype, weak type, shape and bytes, or which error; and jaxprs. The suite
reads that and needs no jax.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import numpy as np
from jax import lax  # pyright: ignore[reportMissingImports]


HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from transform_cases import CASES, Case  # noqa: E402


def table() -> SimpleNamespace:
    return SimpleNamespace(jx=jax, jnp=jnp, lax=lax)


def described(x: Any) -> dict[str, Any]:
    """A result as JSON: what it is, and its bytes."""
    weak = isinstance(x, (bool, int, float, complex)) or getattr(getattr(x, "aval", None), "weak_type", False)
    array = np.asarray(jnp.asarray(x))
    return {"dtype": array.dtype.name, "weak": bool(weak), "shape": list(array.shape), "hex": array.tobytes().hex()}


def recorded(case: Case) -> dict[str, Any]:
    """What JAX gives."""
    with jax.enable_x64(case.wide):
        try:
            outs = [described(x) for x in jax.tree.leaves(case.fun(table(), *case.args))]
        except Exception as error:
            return {"error": type(error).__name__}
        found: dict[str, Any] = {"results": outs}
        if case.shown:
            found["jaxpr"] = str(jax.make_jaxpr(lambda *args: case.fun(table(), *args))(*case.args))
    return found


def main() -> None:
    found = {"jax": jax.__version__, "programs": {name: recorded(case) for name, case in CASES.items()}}
    text = json.dumps(found, indent=1, ensure_ascii=False)
    (HERE / "recorded" / "transforms.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
