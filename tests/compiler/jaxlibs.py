"""What some releases of jaxlib cannot be asked."""

from __future__ import annotations

import pytest

from jitscope.xla import cpu_tuning, versions


tuned = pytest.mark.skipif(
    not cpu_tuning.SMALL_LOOPS.holds(),
    reason=f"small loops are not tuned to jaxlib {versions.JAXLIB}: XLA's own limit is taken",
)
stores_in_place = pytest.mark.skipif(
    versions.JAXLIB.startswith("0.10."),
    reason=f"XLA of jaxlib {versions.JAXLIB} copies an array that a loop reads and stores into, in each turn",
)
guarded = pytest.mark.skipif(
    not cpu_tuning.LIBRARY_FOR_PRODUCTS_ALONE.holds(),
    reason=f"jaxlib {versions.JAXLIB} merges no logarithms: programs need no guard there",
)
