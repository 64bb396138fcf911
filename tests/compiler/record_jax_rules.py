"""Record what real JAX gives for the programs of rule_cases: `python tests/compiler/record_jax_rules.py`, in an
environment with jax 0.10. Writes recorded/rules.json; the suite reads it and needs no jax.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.ad_checkpoint  # pyright: ignore[reportMissingImports]
import jax.custom_batching  # pyright: ignore[reportMissingImports]
import jax.custom_derivatives  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import numpy as np
from jax import lax  # pyright: ignore[reportMissingImports]


HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from residual_cases import RESIDUALS  # noqa: E402
from rule_cases import CASES  # noqa: E402


MODULES = SimpleNamespace(
    jax=jax, jnp=jnp, lax=lax, batching=jax.custom_batching, derivatives=jax.custom_derivatives,
    ad_checkpoint=jax.ad_checkpoint,
)  # fmt: skip


def written(x: Any) -> dict[str, Any]:
    """An array: its dtype, weak type, shape, and values as floats."""
    untouched = not isinstance(x, jax.Array)  # a number or NumPy array that JAX hands on as it is
    weak = bool(getattr(x, "weak_type", False))
    x = np.asarray(x)
    values = np.stack([x.real, x.imag], -1) if x.dtype.kind == "c" else x
    return {"dtype": None if untouched else x.dtype.name, "weak": weak, "shape": list(x.shape),
            "values": values.astype(np.float64).ravel().tolist() if x.dtype != jax.dtypes.float0 else []}  # fmt: skip


def recorded(case: Any) -> Any:
    try:
        return [written(x) for x in jax.tree.leaves(case(MODULES))]
    except Exception as error:
        return type(error).__name__


def residuals(case: Any) -> list[str]:
    """What is kept: shapes, and the kind of source without the place in the file."""
    f, args = case(MODULES)
    found = jax._src.ad_checkpoint.saved_residuals(f, *args)
    return sorted(f"{aval.str_short(short_dtypes=True)} {where.split(' from /')[0]}" for aval, where in found)


def main() -> None:
    warnings.simplefilter("ignore")
    content = {"jax": jax.__version__, "results": {name: recorded(case) for name, case in CASES.items()},
               "residuals": {name: residuals(case) for name, case in RESIDUALS.items()}}  # fmt: skip
    text = json.dumps(content, indent=0, ensure_ascii=False)
    (HERE / "recorded" / "rules.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
