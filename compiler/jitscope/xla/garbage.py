"""What runs of programs leave behind in jaxlib.

A run holds Python objects (where it was called) that XLA lets go of in threads which may not free them. They wait, about
100 bytes a run, until `collect` is called: every so many runs. (Not when Python's collector runs: a loop of calls makes nothing
that it would count, and an interrupt that arrives in one of its callbacks is lost.)
"""

from itertools import cycle

from .runtime import _jax


collect = _jax.collect_garbage

due = cycle(bytes(1023) + b"\x01").__next__
"""Asked at each run: whether to collect now. It costs 15 ns."""
