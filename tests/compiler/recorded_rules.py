"""The comparison of programs with rules of their own with what real JAX gave for them."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import jitscope
import jitscope.numpy as jnp
from jitscope import ad_checkpoint, custom_batching, custom_derivatives, lax, tree
from tests.compiler.rule_cases import CASES


MODULES = SimpleNamespace(
    jax=jitscope,
    jnp=jnp,
    lax=lax,
    batching=custom_batching,
    derivatives=custom_derivatives,
    ad_checkpoint=ad_checkpoint,
)
RECORDED = json.loads((Path(__file__).parent / "recorded" / "rules.json").read_text(encoding="utf-8"))
TOLERANCE = {"bfloat16": 2e-2}


def names(*kinds: str) -> list[str]:
    """The cases of these kinds (`jvp`, `vjp`, …)."""
    return [name for name in CASES if name.split(":")[0].split(" ")[0] in kinds]


def compare(name: str) -> None:
    """Results equal JAX's in value, dtype, shape and weak type; where JAX raises, the error is of the same class."""
    wanted = RECORDED["results"][name]
    if isinstance(wanted, str):
        try:
            CASES[name](MODULES)
        except Exception as error:
            assert type(error).__name__ == wanted, error
            assert str(error).endswith((".", "!")) or len(str(error)) > 20
            return
        raise AssertionError(f"JAX raises {wanted}")
    found = tree.leaves(CASES[name](MODULES))
    assert len(found) == len(wanted)
    for i, (x, want) in enumerate(zip(found, wanted)):
        _compare(x, want, f"result {i} of {name}")


ANY_WEAKNESS = {"jvp: of complex numbers", "vjp: in scan and cond", "checkpoint: in scan, and scan in it"}
"""Here whether the gradient of a number is weak depends on how it was computed; it was computed otherwise."""


def _compare(x: Any, want: dict[str, Any], what: str) -> None:
    aval = getattr(x, "aval", None)
    x = np.asarray(x)
    # JAX hands some numbers and NumPy arrays on as they are, and so do we.
    if aval is not None and want["dtype"] is not None:
        weak = aval.weak_type if what.split(" of ", 1)[1] in ANY_WEAKNESS else want["weak"]
        own, jax = (aval.dtype.name, aval.weak_type), (want["dtype"], weak)
        assert own == jax, f"{what}: {own}, in JAX {jax}"
    assert list(x.shape) == want["shape"], what
    if x.dtype == jitscope.float0:
        return
    values = np.stack([x.real, x.imag], -1) if x.dtype.kind == "c" else x
    tolerance = TOLERANCE.get(want["dtype"], 2e-5)
    np.testing.assert_allclose(values.astype(np.float64).ravel(), want["values"], tolerance, tolerance, err_msg=what)
