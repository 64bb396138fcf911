"""Programs over eight devices of one process, beside what JAX 0.10.2 gave (`recorded.json`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tests.many_devices.cases_of_divisions
import tests.many_devices.cases_of_documentation
import tests.many_devices.cases_of_exports
import tests.many_devices.cases_of_formats
import tests.many_devices.cases_of_inputs
import tests.many_devices.cases_of_nesting
import tests.many_devices.cases_of_one_device
import tests.many_devices.cases_of_open_sums
import tests.many_devices.cases_of_partitioning
import tests.many_devices.cases_of_parts
import tests.many_devices.cases_of_places
import tests.many_devices.cases_of_refusals
import tests.many_devices.cases_of_spread_operations
import tests.many_devices.cases_of_types
import tests.many_devices.cases_of_ways  # noqa: F401  (more cases)
from tests.extent import one_in
from tests.many_devices.cases import CASES
from tests.many_devices.several import said_by


RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())


@pytest.fixture(scope="module")
def ours(request: pytest.FixtureRequest) -> dict[str, Any]:
    names = [item.callspec.params["name"] for item in request.session.items if item.path == request.path]  # pyright: ignore[reportAttributeAccessIssue]
    return said_by("run", "jitscope", *names, timeout=600, quickly=True)


@pytest.mark.parametrize("name", one_in(3, CASES))
def test_as_in_jax(ours: dict[str, Any], name: str) -> None:
    assert "raised" not in RECORDED[name], RECORDED[name]
    assert not (isinstance(ours[name], dict) and "raised" in ours[name]), ours[name]["raised"]
    compare(ours[name], RECORDED[name], name)


def compare(found: Any, wanted: Any, where: str) -> None:
    assert type(found) is type(wanted), (where, found, wanted)
    if isinstance(wanted, dict) and set(wanted) == {"dtype", "values"}:
        assert found["dtype"] == wanted["dtype"], where
        one, other = np.asarray(found["values"]), np.asarray(wanted["values"])
        assert one.shape == other.shape, (where, one.shape, other.shape)
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=1e-5, err_msg=where)
    elif isinstance(wanted, dict):
        assert found.keys() == wanted.keys(), where
        for key in wanted:
            compare(found[key], wanted[key], f"{where}.{key}")
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), (where, found, wanted)
        for i, (a, b) in enumerate(zip(found, wanted)):
            compare(a, b, f"{where}[{i}]")
    elif isinstance(wanted, float):
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5, err_msg=where)
    else:
        assert found == wanted, (where, found, wanted)
