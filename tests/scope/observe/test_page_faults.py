"""Memory that the operating system hands out anew in each call, as a profile tells it."""

from __future__ import annotations

import resource
import sys
from typing import Any

import numpy as np
import pytest

import jitscope.numpy as jnp
from jitscope import lax
from jitscope_scope import observe
from jitscope_scope.observe.rerunning import rerun_of
from jitscope_widgets import validate
from jitscope_widgets.views.profile import wording
from tests.programs.rows import row_of


def _faults(row: Any) -> int:
    """Page faults of one call, counted here."""
    rerun = rerun_of(row)
    buffers = rerun.prepared()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    rerun.run(buffers)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(sys.platform != "linux", reason="memory that is given back at once is glibc's way")
def test_memory_that_is_handed_out_in_each_call() -> None:
    def repeated(x: Any) -> Any:
        return lax.fori_loop(0, 2, lambda _, y: y * 2, jnp.broadcast_to(x, (8, x.size))).sum()

    row = row_of(repeated, np.ones(2_000_000, np.float32))
    document = observe.look(row, "profile", limit=0.5)
    validate(document)
    fresh, seen = document["fresh"], sorted(_faults(row) for _ in range(5))[2]
    assert fresh["faults"] == pytest.approx(seen, rel=0.05)
    assert fresh["size"]["value"] >= 50e6 and seen * resource.getpagesize() >= 50e6
    assert f"{fresh['faults']:,} page faults" in wording.sentences(document)[2]


def test_a_small_program_is_handed_none() -> None:
    document = observe.look(row_of(lambda x: jnp.sin(x) + 1, np.ones(10, np.float32)), "profile", limit=0.2)
    assert "fresh" not in document and not any("page fault" in one for one in wording.sentences(document))
