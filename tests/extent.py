"""How much runs: `make test` a fixed part, `make test-all` (JITSCOPE_TESTS=all) everything.

What is left out of the part is marked `full`, so that pytest counts it as deselected; what draws examples draws fewer. Which tests
these are depends on the tree alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet
from jaxlib.version import __version__ as JAXLIB


ALL = os.environ.get("JITSCOPE_TESTS") == "all"

full = pytest.mark.full
"""Marks what `make test` leaves out: it repeats, on other dtypes, programs or examples, what the rest of a file checks."""


QUICK: dict[str, bool | int] = {
    "xla_backend_optimization_level": 0,
    **({"xla_cpu_use_fusion_emitters": False} if JAXLIB.startswith("0.10.") else {}),  # gone since 0.11
    "xla_cpu_parallel_codegen_split_count": 1,
}
"""XLA's options for programs of which only the values matter: they compile in less than half the time."""

QUICK_FILES = frozenset(
    f"tests/{file}.py"
    for file in """
    advise/test_check advise/test_nans advise/test_repair compiler/test_api compiler/test_array compiler/test_array_api
    compiler/test_bad_input compiler/test_branches_under_vmap compiler/test_call_tree compiler/test_callback_runs compiler/test_callbacks
    compiler/test_checkify compiler/test_checkpoint compiler/test_control_flow compiler/test_control_flow_results compiler/test_convolutions
    compiler/test_custom_derivatives compiler/test_custom_vmap compiler/test_debugging compiler/test_dtypes compiler/test_errors
    compiler/test_experimental compiler/test_extend_core compiler/test_extending compiler/test_fft compiler/test_float0
    compiler/test_freshness compiler/test_hunt compiler/test_hunt_planted compiler/test_hypothesis_numpy
    compiler/test_image compiler/test_indexing compiler/test_initializers compiler/test_jet compiler/test_jit compiler/test_keys
    compiler/test_lax compiler/test_linalg compiler/test_linalg_derivatives compiler/test_linear_solve compiler/test_mapping compiler/test_nn
    compiler/test_numpy compiler/test_ode compiler/test_operators compiler/test_ops compiler/test_optimizers compiler/test_products
    compiler/test_promotion compiler/test_random compiler/test_random_distributions compiler/test_recompiling compiler/test_reducing
    compiler/test_ref_errors compiler/test_ref_transforms compiler/test_refs compiler/test_rules compiler/test_scipy_linalg
    compiler/test_scipy_optimize compiler/test_scipy_signal compiler/test_scipy_sparse compiler/test_scipy_spatial compiler/test_scipy_stats
    compiler/test_slices_from_anywhere compiler/test_special compiler/test_structures compiler/test_symbolic_export
    compiler/test_symbolic_shapes compiler/test_testing compiler/test_tracer_errors compiler/test_transformations compiler/test_transforms
    compiler/test_ufuncs compiler/test_used_by_libraries compiler/test_weak_types
    examples/test_programs kernel_ext/test_cell kernel_ext/test_sharp_bits kernel_ext/test_watch kernel_ext/test_wrapping
    oracle/test_cases oracle/test_library
    """.split()
)
"""Files whose tests compare values, and nothing that XLA made. `make test` compiles their programs quickly, and those of the tests
that watch jax, and some that begin processes; `make test-all` compiles everything as users do."""


as_users = pytest.mark.as_users
"""Marks tests of these files that are compiled as users compile, always."""


def quick(test: pytest.Item) -> bool:
    """Whether a test's programs are compiled quickly."""
    return not ALL and _compares_values(test.path) and test.get_closest_marker("as_users") is None


@cache
def _compares_values(file: Path) -> bool:
    return any(file.as_posix().endswith(name) for name in QUICK_FILES)


def flags(**options: bool | int) -> dict[str, str]:
    """The variable XLA_FLAGS of a process with these options besides."""
    named = " ".join(f"--{name}={str(value).lower()}" for name, value in options.items())
    return {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {named}"}


def some(values: Iterable[str], always: str) -> list[ParameterSet]:
    """Values to be tested, those not in `always` (separated by blanks) with the mark."""
    return [pytest.param(value, marks=() if value in always.split() else full) for value in values]


def one_in(count: int, values: Iterable[Any]) -> list[ParameterSet]:
    """Values to be tested, names or things with a `name`: the first of each `count`, the others with the mark."""
    return [
        pytest.param(value, id=getattr(value, "name", value), marks=() if at % count == 0 else full)
        for at, value in enumerate(values)
    ]


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
