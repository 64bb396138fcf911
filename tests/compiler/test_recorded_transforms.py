"""Transformations and control flow against results and jaxprs of real JAX, in recorded/transforms.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from tests.compiler.transform_cases import CASES


RECORDED = json.loads((Path(__file__).parent / "recorded" / "transforms.json").read_text(encoding="utf-8"))["programs"]
TABLE = SimpleNamespace(jx=jx, jnp=jnp, lax=lax)
PRECISION = {"float16": 2e-3, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-11}
# We have no parameters for sharding yet.
SHARDING = re.compile(r" (out_)?sharding=None")


def array(recorded: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(bytes.fromhex(recorded["hex"]), recorded["dtype"]).reshape(recorded["shape"])


def assert_same(got: Any, recorded: dict[str, Any], where: str) -> None:
    aval = got.aval if hasattr(got, "aval") else jnp.asarray(got).aval
    weak = aval.weak_type or isinstance(got, (bool, int, float, complex))
    assert (aval.dtype.name, weak, list(aval.shape)) == tuple(recorded[k] for k in ("dtype", "weak", "shape")), where
    precision = PRECISION.get(aval.dtype.name, 0)
    np.testing.assert_allclose(np.asarray(got), array(recorded), rtol=precision, atol=precision, err_msg=where)


@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_jax(name):
    case, wanted = CASES[name], RECORDED[name]
    with jx.enable_x64(case.wide):
        if "error" in wanted:
            with pytest.raises(Exception) as caught:
                case.fun(TABLE, *case.args)
            assert wanted["error"] in [c.__name__ for c in type(caught.value).__mro__]
            return
        found = jx.tree.leaves(case.fun(TABLE, *case.args))
        assert len(found) == len(wanted["results"])
        for i, (got, recorded) in enumerate(zip(found, wanted["results"])):
            assert_same(got, recorded, f"result {i}")


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.shown])
def test_jaxprs_are_those_of_jax(name):
    case = CASES[name]
    text = str(jx.make_jaxpr(lambda *args: case.fun(TABLE, *args))(*case.args))
    assert text == SHARDING.sub("", RECORDED[name]["jaxpr"])


def test_all_recorded_programs_are_compared():
    assert set(RECORDED) == set(CASES) and len(CASES) >= 60
    assert sum("error" in r for r in RECORDED.values()) >= 3
