"""Every public function against JAX's recorded answers and NumPy: dtypes, values, gradients, maps, errors, signatures.

`make test` takes a tenth of the functions, `make test-all` all.
"""

from __future__ import annotations

import inspect
import zlib
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

import jitscope as jx
from tests.extent import full
from tests.oracle import comparing, coverage, names, samples
from tests.oracle.library import Library


LIBRARY = Library("jitscope")


def _case(f: samples.Function) -> ParameterSet:
    """A function as a case: a tenth of them, always the same ones, in every run."""
    return pytest.param(f, id=f"{f.file}-{f.name}", marks=full if zlib.crc32(f.name.encode()) % 10 else ())


FUNCTIONS = [_case(f) for f in samples.every()]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_samples(function: samples.Function) -> None:
    found = comparing.faults(LIBRARY, function)
    jx.clear_caches()
    assert not found, "\n".join([f"{len(found)} faults", *found[:30]])


@pytest.mark.parametrize("module", names.MODULES)
def test_every_name_is_there(module: str) -> None:
    missing = [
        name
        for name in names.public()[module]
        if not coverage.has(LIBRARY, f"{module}.{name}") and f"{module}.{name}" not in names.LEFT_OUT
    ]
    assert not missing, f"{module} lacks {', '.join(missing)}"


def test_every_function_has_samples() -> None:
    sampled = {f.name for f in samples.every()}
    functions = {f"{m}.{n}" for m in names.public() for n, kind in names.public()[m].items() if kind == "function"}
    missing = sorted(functions - sampled - {*names.LEFT_OUT, *names.LATER, *names.SEVERAL_DEVICES})
    assert not missing, f"{len(missing)} functions have no samples: {', '.join(missing)}"


def test_what_is_of_several_devices_is_compared_there() -> None:
    cases = "".join(path.read_text() for path in (Path(__file__).parents[1] / "many_devices").glob("*.py"))
    assert not [name for name in names.SEVERAL_DEVICES if name not in cases]


def test_what_is_left_out_is_not_there() -> None:
    present = [name for name in names.LEFT_OUT if coverage.has(LIBRARY, name)]
    assert not present, f"these are said to be left out: {present}"


@pytest.mark.parametrize("name", names.LATER)
def test_what_only_other_platforms_have_says_so(name: str) -> None:
    function = LIBRARY.function(name)
    parameters = inspect.signature(function).parameters.values()
    given = {p.name: None for p in parameters if p.default is p.empty}
    with pytest.raises(NotImplementedError, match="runtime for CPUs"):
        function(**given)
