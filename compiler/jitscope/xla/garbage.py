"""What runs of programs leave behind in jaxlib.

A run holds Python objects (where it was called) that XLA lets go of in threads which may not free them. They wait, about
100 bytes a run, until `collect` is called: every so many runs (a loop of calls makes nothing that Python's own collector
would count), and whenever Python collects.
"""

import gc
from itertools import cycle
from typing import Any

from .runtime import _jax


collect = _jax.collect_garbage

due = cycle(bytes(1023) + b"\x01").__next__
"""Asked at each run: whether to collect now. It costs 15 ns."""


def _with_python(phase: str, info: Any) -> None:
    if phase == "stop":
        collect()


gc.callbacks.append(_with_python)
