"""How much runs: `make test` a fixed part, `make test-all` (JITSCOPE_TESTS=all) everything.

What is left out of the part is marked `full`, so that pytest counts it as deselected; what draws examples draws fewer. Which tests
these are depends on the tree alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest
from _pytest.mark import ParameterSet


ALL = os.environ.get("JITSCOPE_TESTS") == "all"

full = pytest.mark.full
"""Marks what `make test` leaves out: it repeats, on other dtypes, programs or examples, what the rest of a file checks."""


def some(values: Iterable[str], always: str) -> list[ParameterSet]:
    """Values to be tested, those not in `always` (separated by blanks) with the mark."""
    return [pytest.param(value, marks=() if value in always.split() else full) for value in values]


def examples(count: int) -> int:
    """So many examples for hypothesis; a third of them at `make test`."""
    return count if ALL else -(-count // 3)


def chosen(items: list[pytest.Item], named: bool) -> list[pytest.Item]:
    """The tests of a run: all, or those without the mark. Tests that are asked for by name run."""
    return items if ALL or named else [item for item in items if item.get_closest_marker("full") is None]
