"""How much runs: `make test` a fixed part, `make test-all` (JITSCOPE_TESTS=all) everything.

What is left out of the part is marked `full`, so that pytest counts it as deselected; what draws examples draws fewer. Which tests
these are depends on the tree alone.
"""

from __future__ import annotations

import os
from collections import Counter
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
    return {"XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {named}".strip()}  # XLA takes a blank for a file


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


_ONE_IN = {
    "browser/test_keyboard": "test_keys_reach_all_of_a_pane_and_leave_it:2 test_enter_picks_what_escape_lets_go:2",
    "browser/test_site": "test_pages_can_be_read:2",
    "browser/test_stepper": "test_each_step_shows_its_line_and_the_tape_up_to_it:2",
    "browser/test_targets": "test_it_can_be_read:2",
    "compiler/backend/test_guards": "test_elementwise_operations_on_multiples_are_summed_rightly:3",
    "compiler/control/test_branches_under_vmap": "test_the_branch_not_taken_has_no_derivative:3",
    "compiler/control/test_checkpoint": ("test_policies_look_into_branches:3 test_policies_look_into_loops:2"),
    "compiler/control/test_control_flow": "test_scan_and_its_gradients:3 test_scan_of_examples:2",
    "compiler/control/test_custom_derivatives": "test_composes:3",
    "compiler/control/test_custom_vmap": "test_composes:3",
    "compiler/control/test_ref_transforms": (
        "test_mapped_references:2 test_references_of_its_own_change_no_transformation:3"
    ),
    "compiler/control/test_refs": "test_reading_and_changing_at_an_index:3",
    "compiler/core/test_dtypes": (
        "test_arithmetic_comparisons_reductions:6 test_conversions_are_numpys:4 "
        "test_floats_differentiate_in_their_own_dtype:3"
    ),
    "compiler/core/test_lifetimes": "test_a_number_stays_what_it_is:3",
    "compiler/core/test_promotion": "test_numbers_give_way_to_arrays:3",
    "compiler/core/test_weak_types": "test_as_in_jax:4",
    "compiler/extend/test_jet": "test_series_of_the_operations:3",
    "compiler/extend/test_symbolic_export": "test_programs_at_several_sizes:6",
    "compiler/nn/test_image": "test_segments_are_numpys:3",
    "compiler/nn/test_nn": "test_derivatives_to_second_order:3",
    "compiler/numpy/test_array_api": (
        "test_calls:2 test_functions_of_one_array:3 test_functions_of_two_arrays:3 test_dtype_functions:3 "
        "test_python_numbers_take_the_dtype_of_the_array:3"
    ),
    "compiler/numpy/test_indexing": "test_every_form_is_written_as_numpy_writes:3",
    "compiler/numpy/test_linalg": "test_against_numpy:4",
    "compiler/numpy/test_linalg_derivatives": "test_twice_and_mapped:3",
    "compiler/numpy/test_numpy": (
        "test_eager_values:6 test_compiled_values:4 test_derivatives:3 test_long_rows_are_repeated:3 "
        "test_mapped_values:3"
    ),
    "compiler/numpy/test_reducing": (
        "test_a_window_sees_what_lies_under_it:3 "
        "test_derivatives_of_windows_agree_with_differences_and_with_each_other:3"
    ),
    "compiler/numpy/test_ufuncs": "test_at_with_any_index:3",
    "compiler/ops/test_choices": "test_results_are_numpys_with_nan_anywhere:3",
    "compiler/ops/test_conv_forms": "test_long_convolutions_of_vectors:3",
    "compiler/ops/test_conv_parts": "test_results_and_gradients:2",
    "compiler/ops/test_cpu_forms": "test_any_and_all_are_told_by_a_number:3",
    "compiler/ops/test_doubled": "test_results_are_nearer_than_those_of_xla:3",
    "compiler/ops/test_fft": "test_frequencies:3 test_transforms_are_numpys:2",
    "compiler/ops/test_nan_of_max": "test_one_nan_is_seen:4",
    "compiler/ops/test_small_floats": "test_results_are_those_of_float32_rounded_once:3",
    "compiler/ops/test_small_systems": "test_triangles:3",
    "compiler/ops/test_sort_networks": "test_results_are_numpys:3",
    "compiler/random/test_keys": "test_keys_move_as_other_elements_do:3 test_raw_keys_draw_what_typed_ones_draw:3",
    "compiler/random/test_random": (
        "test_mapped_over_keys_is_a_loop:3 test_integers_of_ranges_known_while_tracing_are_the_same:4"
    ),
    "compiler/random/test_random_distributions": (
        "test_numbers_are_distributed_as_scipy_says:4 test_derivatives_hold_the_level_fixed:2 "
        "test_outside_of_jit_each_is_one_program:3 test_no_key_is_used_twice:3"
    ),
    "compiler/scipy/test_scipy_linalg": (
        "test_exponentials:3 test_companions_are_scipys:3 test_polar:3 test_forms_are_what_they_say:2 "
        "test_convolution_matrices:4"
    ),
    "compiler/scipy/test_scipy_optimize": "test_a_search_ends_in_a_minimum_as_low_as_scipys:3",
    "compiler/scipy/test_scipy_signal": "test_written_out_and_sliding_convolutions_agree:3",
    "compiler/scipy/test_scipy_sparse": "test_derivatives_are_those_of_the_solution:2",
    "compiler/scipy/test_scipy_stats": (
        "test_a_distribution_function_grows_by_the_density:3 test_the_functions_of_a_distribution_agree:4 "
        "test_loc_and_scale_move_and_stretch:3 test_probabilities_add_up_to_one:2 "
        "test_numbers_and_numpy_arrays_inside_of_a_compiled_function:4"
    ),
    "compiler/scipy/test_sparse": "test_products_are_those_of_scipy:2",
    "compiler/special/test_special": (
        "test_values_are_those_of_scipy:4 test_derivatives_are_those_of_scipys_function:6"
    ),
    "compiler/transforms/test_residuals": "test_derivatives_are_as_without:3",
    "compiler/xla/test_xla": "test_constants_hold_what_they_were_given:4",
    "examples/test_lessons": "test_a_lesson_runs_and_its_questions_check_themselves:3",
    "examples/test_programs": "test_all_levels_reach_the_same_elbo:2",
    "jaxwatch/test_checking": "test_a_run_shows_the_same_in_jaxs_spelling:6 test_a_run_sees_through_libraries:2",
    "jaxwatch/test_edits": "test_an_edit_that_is_offered_keeps_the_results_and_its_count:4",
    "jaxwatch/test_programs": "test_a_program_is_the_same_and_shown_truly:4",
    "jaxwatch/test_reading": "test_texts_are_those_of_the_unwatched_program:4",
    "kernel_ext/test_edited_errors": "test_an_edit_with_a_check_mark_gives_what_was_meant:6",
    "many_devices/test_cases": "test_as_in_jax:2",
    "oracle/test_library": "test_samples:3",
    "scope/advise/test_check": "test_a_run_finds_what_is_due_and_edits_mend_it:2",
    "scope/advise/test_nans": "test_the_cause_and_a_fix_that_removes_the_nan:2",
    "scope/advise/test_why": "test_an_example_steps_on_it_and_what_to_write_instead_does_not:2",
    "scope/observe/test_odd_programs": "test_every_instrument_says_something_or_why_not:4",
    "scope/regions/test_programs": "test_edits_keep_the_program:8",
    "widgets/test_without_jaxlib": "test_a_saved_document_is_shown_without_a_compiler:3",
    "scope/advise/test_repair": "test_each_kind_is_offered_and_runs:2 test_masks_choose_along_the_first_axis_of_arrays_of_any_rank:3",
}
"""Tests of many cases that take long, by their files, and of how many cases `make test` has one: the first, and so on. The others repeat
it on other dtypes, functions or programs."""

_COUNTS = {
    f"tests/{file}.py::{name}": int(count)
    for file, counts in _ONE_IN.items()
    for name, _, count in (each.partition(":") for each in counts.split())
}


def mark_repeated(items: Iterable[pytest.Item]) -> None:
    """Mark cases of the tests in `_ONE_IN`; those that are marked already do not count."""
    seen: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        if test in _COUNTS and item.get_closest_marker("full") is None:
            if seen[test] % _COUNTS[test]:
                item.add_marker(full)
            seen[test] += 1


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
    """So many examples for hypothesis; a twelfth of them at `make test`."""
    return count if ALL else -(-count // 12)


def chosen(items: list[pytest.Item], named: bool) -> list[pytest.Item]:
    """The tests of a run: all, or those without the mark. Tests that are asked for by name run."""
    return items if ALL or named else [item for item in items if item.get_closest_marker("full") is None]
