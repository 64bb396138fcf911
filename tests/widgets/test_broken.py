"""Broken documents: fields that are missing or of another type, cycles, nothing at all and very much never raise."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from jitscope_widgets import display_bundle, text
from tests.extent import ALL
from tests.widgets import documents as made


WRONG: tuple[Any, ...] = (None, 7, "text", [], {}, [None], -1.5, True, {"kind": "graph"})


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inner for place in _places(item, (*path, key)))]


def _broken(document: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    """A copy in which some fields are gone and others hold something else."""
    broken = copy.deepcopy(document)
    for place in chance.sample(_places(broken)[1:], 3):
        at: Any = broken
        try:
            for key in place[:-1]:
                at = at[key]
            if chance.random() < 0.5:
                del at[place[-1]]
            else:
                at[place[-1]] = chance.choice(WRONG)
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took it away
    return broken


@pytest.mark.parametrize("document", made.every_kind(), ids=lambda document: document["kind"])
def test_broken_documents_are_shown_or_said_to_be_broken(document: dict[str, Any]) -> None:
    chance = random.Random(document["kind"])
    for _ in range(60 if ALL else 15):
        shown = display_bundle(_broken(document, chance))
        assert shown["text/html"].startswith('<div class="jitscope"') and shown["text/plain"]


@pytest.mark.parametrize("document", [None, 7, "text", [], {}, {"kind": []}, {"kind": "cell", "version": "1"}])
def test_what_is_no_document_is_said(document: Any) -> None:
    assert display_bundle(document)["text/plain"]


def _shown_graph(nodes: list[Any], edges: list[Any]) -> str:
    shown = display_bundle(made.layer_compilation() | {"graph": made.graph(nodes, edges)})
    assert "could not be made" not in shown["text/html"] + shown["text/plain"]
    assert len(shown["text/html"]) <= 1_000_000
    return shown["text/html"]


def test_cycles_of_scopes_and_of_values() -> None:
    ring = [made.node(f"n{at}", scope=f"n{(at + 1) % 50}") for at in range(50)]
    around = [made.edge(f"n{at}", f"n{(at + 1) % 50}") for at in range(50)]
    assert "<svg" in _shown_graph(ring, around)


def test_scopes_in_scopes_in_scopes() -> None:
    nest = [made.node(f"n{at}", "scope", scope=f"n{at - 1}" if at else None, paths=[f"e{at}"]) for at in range(400)]
    assert "<svg" in _shown_graph(nest, [made.edge("n0", "n399")])


def test_groups_that_hold_each_other() -> None:
    nodes = [
        made.node("a", "group", what="repeat", scope="b"),
        made.node("b", "group", what="instance", scope="a"),
        made.node("c", "group", what="instance", scope="a"),
        made.node("d", scope="c"),
    ]
    assert "<svg" in _shown_graph(nodes, [made.edge("d", "a")])


@pytest.mark.parametrize("count", [0, 100_000])
def test_no_nodes_and_very_many(count: int) -> None:
    nodes = [made.node(f"e{at}", label=f"op{at % 7}") for at in range(count)]
    _shown_graph(nodes, [made.edge(f"e{at}", f"e{at + 1}") for at in range(count - 1)])


def test_the_text_of_a_large_output_is_short() -> None:
    graph = made.graph([made.node(f"e{at}", text=f"v{at}:f32[8] = sin v{at - 1}") for at in range(20_000)], [])
    said = display_bundle(graph)["text/plain"]
    assert len(said) < 31_000
    assert said.splitlines()[-1].endswith("left out of the saved output to keep it small; repr() gives all)")
    lines = said.count("\n")
    assert f"({len(text(graph).splitlines()) - lines:,} more lines" in said


def test_three_hundred_compilations_are_grouped_in_every_form() -> None:
    document = made.cell(*[made.layer_compilation() | {"id": at} for at in range(300)])
    shown = display_bundle(document)
    assert len(shown["text/html"]) <= 1_000_000
    assert shown["text/html"].count("<summary><b>layer</b>") == 2
    assert "298 more compilations" in shown["text/html"]
    assert "298 more compilations: %ledger lists them" in shown["text/plain"]
