"""The primitives, each with its rules in one place; `families` holds the rules that many share.

`linear` comes first: the closed set whose rules name each other. Every other file imports only `families` and files
before it: elementwise, reduce, dot, indexing, sort, rng, collective, exchanges.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..core.late import late as _late


if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from jitscope.segment import (
        segment_max as segment_max,
        segment_min as segment_min,
        segment_prod as segment_prod,
        segment_sum as segment_sum,
    )
else:
    _late(globals(), {"jitscope.segment": "segment_max segment_min segment_prod segment_sum"})
"""`jax.ops` has these functions of `numpy`: the only import of what stands above."""
