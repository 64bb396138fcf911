"""The tests that `make test-versions` runs with several releases of jaxlib, and what some of these cannot be asked.

Chosen are the files whose answers come from jaxlib's interfaces or from XLA's texts: each primitive lowered, run and differentiated,
calls and their options, what XLA says of a program, the disk, Python callbacks, processes. Left out are those that compose the
same operations (the library over NumPy and SciPy, generated programs) or stop before anything is compiled.
"""

from __future__ import annotations

import pytest

from jitscope.xla import cpu_tuning, versions


SELECTED = frozenset(
    """
    array callback_runs callbacks cost cpu_tuning custom_derivatives debugging devices disk_cache disk_damage disk_processes
    documents dtypes errors export fft guards hlo_documents jit jit_options kernel_shares kernel_times lax lifetimes linalg
    passes printing process random rules scopes small_loops special stages symbolic_export transforms versions xla
    """.split()
)
"""tests/compiler/test_NAME.py"""


tuned = pytest.mark.skipif(
    not cpu_tuning.SMALL_LOOPS.holds(),
    reason=f"small loops are not tuned to jaxlib {versions.JAXLIB}: XLA's own limit is taken",
)
guarded = pytest.mark.skipif(
    not cpu_tuning.LIBRARY_FOR_PRODUCTS_ALONE.holds(),
    reason=f"jaxlib {versions.JAXLIB} merges no logarithms: programs need no guard there",
)
