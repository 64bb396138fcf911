"""Every public function against JAX's recorded answers and NumPy: dtypes, values, gradients, maps, errors, signatures.

`make test` takes a fifteenth of the functions, some of each file of samples, `make test-all` all.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

import jitscope as jx
from tests.extent import ALL, as_users, full
from tests.oracle import comparing, coverage, names, public, samples
from tests.oracle.library import Library


LIBRARY = Library("jitscope")


TAKE_LONG = frozenset(
    """
    Array.__getitem__ Array.at image.resize image.scale_and_translate lax.betainc lax.igamma_grad_a nn.logsumexp
    numpy.insert numpy.linalg.lstsq numpy.nanquantile numpy.polydiv numpy.polyfit numpy.quantile numpy.searchsorted
    random.ball random.beta random.binomial random.chisquare random.dirichlet random.f random.gamma random.generalized_normal
    random.loggamma random.multinomial random.poisson random.t
    scipy.linalg.solve_sylvester scipy.ndimage.map_coordinates scipy.sparse.linalg.bicgstab scipy.special.gammaincc
    scipy.special.hyp2f1 scipy.special.owens_t scipy.stats.beta.logcdf scipy.stats.chi2.cdf scipy.stats.gamma.logcdf
    scipy.stats.norm.logsf scipy.stats.truncnorm.logcdf scipy.stats.truncnorm.logsf
    """.split()
)
"""Functions whose programs take XLA many seconds: `make test` has others of their files. Those that draw are in test_random_distributions."""


def _cases() -> Iterator[ParameterSet]:
    """All functions. Of each file `make test` has a fifteenth, and one at least if one is quick; always the same ones, some of them compiled as users
    compile them."""
    for file in samples.files():
        functions = samples.functions(file)
        order = sorted(functions, key=lambda f: zlib.crc32(f.name.encode()))
        quick = [f for f in order if f.name not in TAKE_LONG]
        few = [f for f in quick if zlib.crc32(f.name.encode()) % 15 == 0] or quick[:1]
        for f in functions:
            marks = [as_users] * (zlib.crc32(f.name.encode()) % 4 == 0 and f.name not in TAKE_LONG)
            yield pytest.param(f, id=f"{f.file}-{f.name}", marks=marks if f in few else [*marks, full])


@pytest.mark.parametrize("function", list(_cases()))
def test_samples(function: samples.Function) -> None:
    one = not ALL and function.name in TAKE_LONG and "float32" in function.dtypes
    found = comparing.faults(LIBRARY, function, dtypes=["float32"] * one)
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
