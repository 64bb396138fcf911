"""The tests that `make test-versions` runs with several releases of jaxlib.

Chosen are the files whose answers come from jaxlib's interfaces or from XLA's texts: each primitive lowered, run and differentiated,
calls and their options, what XLA says of a program, the disk, Python callbacks, processes. Left out are those that compose the
same operations (the library over NumPy and SciPy, generated programs) or stop before anything is compiled.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest


SELECTED = frozenset(
    """
    array callback_runs callbacks conv_forms conv_parts cost cpu_forms cpu_tuning custom_derivatives debugging devices disk_cache
    disk_damage disk_processes documents doubled dtypes errors export fft guards hlo_documents jit jit_options
    kernel_shares kernel_times lax library_types lifetimes linalg nan_of_max passes printing process radix_sort random
    rewrites rules scopes short_axes small_loops special stages stencils symbolic_export transforms tuned versions xla
    """.split()
)
"""test_NAME.py in a folder of tests/compiler or tests/scope."""


def mark(items: Iterable[pytest.Item]) -> None:
    """Give the tests of these files their mark."""
    for item in items:
        if item.path.stem.removeprefix("test_") in SELECTED and not {"compiler", "scope"}.isdisjoint(item.path.parts):
            item.add_marker(pytest.mark.jaxlib)
