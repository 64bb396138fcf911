"""Which of JAX's answers are there: the tests of the others are skipped, and the summary of a run tells how many these are."""

from __future__ import annotations

from typing import Any

import pytest

from tests.oracle import recorded, samples, tables


ABSENT = f"jax {recorded.JAX} has not been asked: `make answers`"


def answer(file: str, name: str) -> Any:
    """What JAX answered to a sample's function or to a case; a test without is skipped."""
    found = recorded.load(file).get(name)
    return pytest.skip(ABSENT) if found is None else found


def told() -> str:
    """Of how many samples and cases the answers are there."""
    functions, tabled = samples.every(), list(tables.tables())
    asked = sum(len(f.samples) for f in functions), sum(len(set(t.names) - t.different.keys()) for t in tabled)
    there = (
        sum(len(f.samples) for f in functions if f.name in recorded.load(f.file)),
        sum(len(t.recorded.keys() - t.different.keys()) for t in tabled),
    )
    if there == asked:
        return f"JAX's answers to all {asked[0]:,} samples and {asked[1]:,} cases are there."
    return (
        f"JAX's answers to {there[0]:,} of {asked[0]:,} samples and {there[1]:,} of {asked[1]:,} cases are there, and no others "
        "are compared: `make answers` asks jax for them."
    )
