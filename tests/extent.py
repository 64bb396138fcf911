"""How much runs: `make test` a fixed part, `make test-all` (JITSCOPE_TESTS=all) everything.

What is left out of the part is marked `full`, so that pytest counts it as deselected; what draws examples draws fewer. Which tests
these are depends on the tree alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from jaxlib.version import __version__ as JAXLIB


ALL = os.environ.get("JITSCOPE_TESTS") == "all"

full = pytest.mark.full
"""Marks what `make test` leaves out: it repeats, on other dtypes, programs or examples, what the rest of a file checks."""


UNOPTIMIZED: dict[str, bool | int] = {
    "xla_backend_optimization_level": 0,
    "xla_cpu_parallel_codegen_split_count": 1,
}
"""XLA's options for the same program with plain machine code: what XLA says of it stays, and it compiles in two thirds of the time."""

QUICK: dict[str, bool | int] = {
    **UNOPTIMIZED,
    **({"xla_cpu_use_fusion_emitters": False} if JAXLIB.startswith("0.10.") else {}),  # gone since 0.11
}
"""XLA's options for programs of which only the values matter."""

_QUICK = {
    "compiler/api": "api bad_input checkify debugging",
    "compiler/backend": "array jit",
    "compiler/control": (
        "branches_under_vmap callback_runs callbacks checkpoint control_flow control_flow_results custom_derivatives "
        "custom_vmap linear_solve mapping ref_errors ref_transforms refs"
    ),
    "compiler/core": "dtypes errors float0 promotion tracer_errors weak_types",
    "compiler/extend": "experimental extend_core extending jet symbolic_export used_by_libraries",
    "compiler/lax": "lax",
    "compiler/nn": "image initializers nn optimizers",
    "compiler/numpy": (
        "array_api hypothesis_numpy indexing linalg linalg_derivatives numpy operators products reducing "
        "slices_from_anywhere ufuncs"
    ),
    "compiler/ops": "convolutions fft ops rules",
    "compiler/random": "keys random random_distributions",
    "compiler/scipy": "ode scipy_linalg scipy_optimize scipy_signal scipy_sparse scipy_spatial scipy_stats",
    "compiler/special": "special",
    "compiler/symbolic": "symbolic_shapes",
    "compiler/transforms": "transforms",
    "examples": "programs",
    "kernel_ext": "cell sharp_bits watch wrapping",
    "oracle": "cases library",
    "scope/advise": "check nans repair",
    "scope/nans": "hunt hunt_planted",
    "scope/observe": "call_tree freshness structures transformations",
    "scope/recompiling": "recompiling testing",
}
QUICK_FILES = frozenset(f"tests/{folder}/test_{name}.py" for folder, names in _QUICK.items() for name in names.split())
"""Files whose tests compare values, and nothing that XLA made. `make test` compiles their programs quickly, and those of the tests
that watch jax, and some that begin processes; `make test-all` compiles everything as users do."""

_OPTIMIZED = {
    "compiler/backend": "guards jit_options long_chains refused_options short_axes short_loops small_loops tuned vector_width",
    "compiler/ops": "choices conv_forms conv_parts cpu_forms doubled nan_of_max radix_sort stencils",
    "compiler/transforms": "generated",
    "compiler/xla": "cpu_tuning",
    "kernel_ext": "profile tuning",
    "oracle": "optimized_cases",
    "scope/observe": "comparing kernel_shares kernel_times machine profile",
    "scope/tune": "deciding space tuning",
}
OPTIMIZED_FILES = frozenset(
    f"tests/{folder}/test_{name}.py" for folder, names in _OPTIMIZED.items() for name in names.split()
)
"""Files whose tests look at machine code or at how long it takes, or have any program at all: plain machine code rounds a number that two kernels
compute in two ways, so that a maximum may equal none of its operands. The others are compiled to plain machine code at `make test`."""


as_users = pytest.mark.as_users
"""Marks tests of other files that are compiled as users compile, always."""


class Way(Enum):
    """How programs are compiled, the quickest first."""

    QUICK = 0
    UNOPTIMIZED = 1
    AS_USERS = 2

    @property
    def options(self) -> dict[str, bool | int]:
        """XLA's."""
        return {Way.QUICK: QUICK, Way.UNOPTIMIZED: UNOPTIMIZED, Way.AS_USERS: {}}[self]


def way(test: pytest.Item) -> Way:
    """How a test's programs are compiled."""
    if ALL or test.get_closest_marker("as_users") is not None:
        return Way.AS_USERS
    return _way(test.path)


@cache
def _way(file: Path) -> Way:
    name = file.as_posix()
    if name.endswith(tuple(QUICK_FILES)):
        return Way.QUICK
    return Way.AS_USERS if name.endswith(tuple(OPTIMIZED_FILES)) else Way.UNOPTIMIZED


def flags(**options: bool | int) -> dict[str, str]:
    """The variable XLA_FLAGS of a process with these options besides."""
    named = " ".join(f"--{name}={str(value).lower()}" for name, value in options.items())
    return {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {named}"}


def some(values: Iterable[str], always: str) -> list[ParameterSet]:
    """Values to be tested, those not in `always` (separated by blanks) with the mark."""
    return [pytest.param(value, marks=() if value in always.split() else full) for value in values]


def one_in(count: int, values: Iterable[Any]) -> list[ParameterSet]:
    """Values to be tested, names, things with a `name`, numbers or tuples of names: the first of each `count`, the others with the mark."""
    return [
        pytest.param(value, id=_id(value), marks=() if at % count == 0 else full) for at, value in enumerate(values)
    ]


def _id(value: Any) -> str:
    name = getattr(value, "name", value)
    return " of ".join(name) if isinstance(name, tuple) else str(name)


def looks(*widths: int) -> pytest.MarkDecorator:
    """Parameters `dark` and `width` of a view: `make test` has the narrowest width in the dark and the others in the light."""
    cases = [
        pytest.param(
            dark,
            width,
            id=f"{'dark' if dark else 'light'}-{width}",
            marks=() if dark == (width == min(widths)) else full,
        )
        for width in widths
        for dark in (False, True)
    ]
    return pytest.mark.parametrize(("dark", "width"), cases)


def examples(count: int) -> int:
    """So many examples for hypothesis; a third of them at `make test`."""
    return count if ALL else -(-count // 3)


def chosen(items: list[pytest.Item], named: bool) -> list[pytest.Item]:
    """The tests of a run: all, or those without the mark. Tests that are asked for by name run."""
    return items if ALL or named else [item for item in items if item.get_closest_marker("full") is None]
