"""The public functions' signatures say what goes in and what comes out: how much of them is unknown, and never more than that."""

from __future__ import annotations

import pytest

from tests.compiler.annotations import Count, measure, public_modules, unknown


KNOWN = frozenset({"PyTree", "Params", "Updates", "State"})
"""Aliases of `Any` that count as known, since any value is right there: `PyTree` (jitscope.typing), a tree of whatever the function's
caller has as leaves; the others are such trees, by what optimizers use them for (jitscope.optimizers)."""

TABLE = {
    "jitscope": (3, 9),
    "jitscope.api_util": (0, 3),
    "jitscope.debug": (4, 0),
    "jitscope.dtypes": (0, 1),
    "jitscope.example_libraries.optimizers": (0, 9),
    "jitscope.experimental.compute_on": (1, 0),
    "jitscope.experimental.hijax": (1, 2),
    "jitscope.experimental.jet": (0, 1),
    "jitscope.experimental.serialize_executable": (0, 1),
    "jitscope.experimental.shard_map": (3, 1),
    "jitscope.experimental.sparse": (13, 4),
    "jitscope.export": (4, 4),
    "jitscope.extend": (85, 34),
    "jitscope.extend.backend": (1, 1),
    "jitscope.extend.core": (26, 13),
    "jitscope.extend.linear_util": (1, 2),
    "jitscope.extend.lowering_rules": (0, 1),
    "jitscope.ffi": (2, 1),
    "jitscope.interpreters.ad": (11, 10),
    "jitscope.interpreters.batching": (2, 0),
    "jitscope.interpreters.mlir": (25, 32),
    "jitscope.interpreters.partial_eval": (0, 1),
    "jitscope.interpreters.tables": (1, 1),
    "jitscope.interpreters.xla": (0, 1),
    "jitscope.ir": (24, 15),
    "jitscope.lax": (0, 1),
    "jitscope.numpy": (0, 2),
    "jitscope.profiler": (0, 1),
    "jitscope.ref": (6, 6),
    "jitscope.sharding": (2, 1),
    "jitscope.stages": (3, 2),
    "jitscope.tree": (7, 9),
    "jitscope.tree_util": (6, 7),
}
"""Of each module: how many parameters are unknown, and how many results. What is not here has none."""


TREES = (187, 61)
"""Parameters and results, of all modules together, of which no more is said than that they are trees."""


def _modules() -> list[str]:
    return [*public_modules("jitscope"), "jitscope_kernel"]


@pytest.mark.parametrize("module", _modules())
def test_no_more_is_unknown_than_the_table_says_and_no_less(module: str) -> None:
    count, most = measure(module, KNOWN), TABLE.get(module, (0, 0))
    found = count.parameters, count.results
    assert found[0] <= most[0] and found[1] <= most[1], "\n".join(
        ["give these types (parameters, results that are unknown):", *unknown(module, KNOWN)]
    )
    assert found == most, f"better than the table says: write {found} for {module} there"


def test_the_table_has_public_modules_only() -> None:
    assert set(TABLE) <= set(_modules())


def _total(known: frozenset[str]) -> Count:
    total = Count()
    for module in _modules():
        total.add(measure(module, known))
    return total


def test_trees_are_no_way_out() -> None:
    """How many parameters and results are known as trees of anything alone: a new one is a function that takes trees."""
    without, total = _total(frozenset()), _total(KNOWN)
    assert (without.parameters - total.parameters, without.results - total.results) == TREES


def test_few_parameters_are_unknown() -> None:
    total = _total(KNOWN)
    assert total.parameters < 0.05 * total.of_parameters
    assert total.results < 0.11 * total.of_results
