"""The primitives, each with its rules in one place; `families` holds the rules that many share.

`linear` comes first: the closed set whose rules name each other. Every other file imports only `families` and files
before it: elementwise, reduce, dot, indexing, sort, rng, collective, exchanges.
"""

from ..core.late import late as _late


__getattr__, __dir__ = _late(globals(), {"jitscope.segment": "segment_max segment_min segment_prod segment_sum"})
"""`jax.ops` has these functions of `numpy`: the only import of what stands above."""
