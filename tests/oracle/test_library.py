"""Every public function against JAX's recorded answers and NumPy: dtypes, values, gradients, maps, errors, signatures.

`make test` takes a fifteenth of the functions, some of each file of samples, in three dtypes (part.py), `make test-all` all.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

import jitscope as jx
from tests.extent import ALL, as_users, full
from tests.oracle import comparing, coverage, names, part, public, recorded, samples, there
from tests.oracle.library import Library


LIBRARY = Library("jitscope")


def _cases() -> Iterator[ParameterSet]:
    """All functions; some of those that `make test` has are compiled as users compile them."""
    for file in samples.files():
        for f in samples.functions(file):
            marks = [as_users] * (part.hashed(f.name) % 12 == 0 and f.name not in part.TAKE_LONG)
            yield pytest.param(
                f, id=f"{f.file}-{f.name}", marks=marks if f.name in part.functions(file) else [*marks, full]
            )


@pytest.mark.parametrize("function", list(_cases()))
def test_samples(function: samples.Function) -> None:
    there.answer(function.file, function.name)
    found = comparing.faults(LIBRARY, function, dtypes=() if ALL else part.dtypes(function))
    jx.clear_caches()
    assert not found, "\n".join([f"{len(found)} faults", *found[:30]])


@pytest.mark.parametrize("file", samples.files())
def test_what_git_keeps_is_what_is_asked(file: str) -> None:
    """And what is told of the functions in docs/coverage.md is what the answers that are there tell."""
    assert recorded.kept(file).keys() == part.functions(file)
    for name, entry in recorded.load(file).items():
        assert coverage.lacks(entry) == {kind for kind in coverage.KINDS if name in coverage.lacking()[kind]}, name


@pytest.mark.parametrize("module", names.MODULES)
def test_every_name_is_there(module: str) -> None:
    missing = [
        name
        for name in names.public()[module]
        if not coverage.has(LIBRARY, f"{module}.{name}") and f"{module}.{name}" not in names.LEFT_OUT
    ]
    assert not missing, f"{module} lacks {', '.join(missing)}"


@pytest.mark.parametrize("module", public.MODULES)
def test_names_and_parameters_are_those_of_jax(module: str) -> None:
    assert [each for each in public.lacking(LIBRARY.function, module) if each not in names.LEFT_OUT] == []


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
