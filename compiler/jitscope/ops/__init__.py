"""The primitives, each with its rules in one place; `families` holds the rules that many share.

`linear` comes first: the closed set whose rules name each other. Every other file imports only `families` and files
before it: elementwise, reduce, dot, indexing, sort, rng, collective.
"""

import importlib as _importlib
from typing import Any as _Any


_SEGMENTS = ("segment_max", "segment_min", "segment_prod", "segment_sum")
"""`jax.ops` has these functions of numpy's room: the one way up."""


def __getattr__(name: str) -> _Any:
    if name in _SEGMENTS:
        return getattr(_importlib.import_module("jitscope.segment"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SEGMENTS})
