"""The kernels of a program by block, alike together, by line and one by one: each kernel once in every order."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_scope import observe
from jitscope_scope.observe.groups.kernels import Origins, grouped_operations
from jitscope_scope.observe.groups.order import together
from jitscope_widgets.view.as_text import as_text
from jitscope_widgets.view.inline import words
from jitscope_widgets.view.parts import Grouped, Row
from jitscope_widgets.views import view_of
from tests.programs import lstm, transformer
from tests.programs.rows import row_of


def _block(x: Any, w: Any) -> Any:
    scores = jnp.tanh(x @ w)
    return x + scores / scores.sum(axis=1, keepdims=True)


def _network(x: Any, weights: Any) -> Any:
    for w in weights:
        x = _block(x, w)
    return jnp.sort(x, axis=0) @ weights[0]


@pytest.fixture(scope="module")
def document() -> Any:
    row = row_of(_network, jnp.ones((8, 8)), [jnp.ones((8, 8)) * k for k in range(9)])
    return observe.compilation_document(row)["fusion"]


def _ways(document: Any) -> dict[str, tuple[Row, ...]]:
    (grouped,) = [part for part in view_of(document) if isinstance(part, Grouped)]
    return {way: table.rows for way, table in grouped.ways}


def _leaves(rows: tuple[Row, ...]) -> Iterator[str]:
    for row in rows:
        if row.rows:
            yield from _leaves(row.rows)
        else:
            yield from row.ref.kernels


def test_every_order_has_each_kernel_once(document: Any) -> None:
    ways = _ways(document)
    assert list(ways) == ["by block", "alike together", "by line", "one by one"]
    (of_xla,) = re.findall(r"→ (\d+) kernels", document["summary"]["sentence"])
    names = Counter(kernel["name"] for kernel in document["kernels"])
    assert len(names) == int(of_xla) > 12 and set(names.values()) == {1}
    for way, rows in ways.items():
        assert Counter(_leaves(rows)) == names, way


def test_what_repeats_is_one_block(document: Any) -> None:
    (block,) = [row for row in _ways(document)["by block"] if words(row.cells[0]).endswith("× 9")]
    paths = {kernel["name"]: kernel["paths"] for kernel in document["kernels"]}
    lines = {kernel["name"]: {place["function"] for place in kernel["positions"]} for kernel in document["kernels"]}
    assert all(paths[name] and lines[name] == {"_block"} for name in block.ref.kernels)
    alone = {name for name in lines if lines[name] == {"_block"}}
    assert len(block.ref.kernels) == sum(map(len, (row.ref.kernels for row in block.rows))) <= len(alone)


def _widths(x: Any, weights: Any) -> Any:
    for w in weights:
        x = jnp.sort(x @ w, axis=0)
        x = _block(x, w.T @ w)
    return x


def _loop_in_it(x: Any, w: Any) -> Any:
    for _ in range(2):
        x = jnp.cumsum(jnp.sin(x), axis=0) / (x @ w)
    return x


def _looped(x: Any, weights: Any) -> Any:
    for w in weights:
        x = jnp.sort(x @ w, axis=0)
        x = _loop_in_it(x, w.T @ w)
    return x


@pytest.mark.parametrize(("program", "label"), [(_widths, "_block × 4"), (_looped, "_loop_in_it")])
def test_calls_from_one_place_are_one_block(program: Any, label: str) -> None:
    """They are not equal, and other things stand between them; in a loop a second call is not told from the first one's next turn."""
    widths = [8, 6, 5, 4, 3]
    row = row_of(program, jnp.ones((8, 8)), [jnp.ones(shape) for shape in itertools.pairwise(widths)])
    ways = _ways(observe.compilation_document(row)["fusion"])
    (block,) = [row for row in ways["by block"] if words(row.cells[0]).startswith(label.split()[0])]
    assert words(block.cells[0]) == label and len(block.ref.kernels) >= 4


def test_the_backward_pass_of_a_named_scope_is_told_from_itself() -> None:
    def loss(x: Any, weights: Any) -> Any:
        for n, w in enumerate(weights):
            with jx.named_scope(f"Block_{n}"):
                x = _block(x, w)
        return jnp.sort(x, axis=0).sum()

    row = row_of(jx.grad(loss, argnums=1), jnp.ones((8, 8)), [jnp.eye(8) * 2] * 2)
    labels = [words(row.cells[0]) for row in _ways(observe.compilation_document(row)["fusion"])["by block"]]
    shown = {label.split(" ›")[0] for label in labels}
    assert {"Block_0", "Block_1", "Block_0 (backward)", "Block_1 (backward)"} <= shown, labels


def test_shares_of_groups_are_those_of_their_kernels(document: Any) -> None:
    kernels = [{**kernel, "share": 1 / len(document["kernels"])} for kernel in document["kernels"]]
    for way, rows in _ways({**document, "kernels": kernels}).items():
        total = sum(row.cells[3].order for row in rows)  # type: ignore[union-attr]
        assert total == pytest.approx(1.0), way


def test_few_kernels_are_a_list() -> None:
    fusion = observe.compilation_document(row_of(lambda x: jnp.sort(x * 2) + 1, jnp.ones(9)))["fusion"]
    assert fusion is not None
    assert not any(isinstance(part, Grouped) for part in view_of(fusion))


def test_a_loop_s_body_is_not_put_into_what_the_loop_is_in() -> None:
    """A scan in a function: XLA's loop stands in the function, and its body holds the function that the scan repeats."""
    row = row_of(lstm.program, *lstm.arguments(steps=5))
    fusion = observe.compilation_document(row)["fusion"]
    for graph in [fusion[level] for level in ("before", "after")]:
        nodes = {node["id"]: node for node in graph["nodes"]}
        inside = {node["label"] for node in nodes.values() if node["kind"] == "group" and _is_in_a_loop(node, nodes)}
        assert not {label for label in inside if label.startswith(("run", "scan"))}, graph["title"]
        assert sum(node["label"] == "while of scan × 5" for node in nodes.values()) == 2
    profile = observe.look(row, "profile", limit=0.1)
    for kernels in (fusion["kernels"], profile["kernels"]):
        loops = [kernel["label"] for kernel in kernels if kernel["kind"] == "loop"]
        assert set(loops) == {"while of scan × 5"}
    told = " ".join(as_text(view_of(profile), 200))
    assert "while of scan × 5" in told and not re.search(r"\bwhile\b(?! of)", told)


def _is_in_a_loop(node: Any, nodes: Any) -> bool:
    while node["scope"] is not None:
        node = nodes[node["scope"]]
        if node["label"].startswith("while"):
            return True
    return False


@pytest.mark.parametrize(
    ("chains", "readers", "order"),
    [
        ("AABB", {}, "0123"),
        ("ABAB", {}, "0213"),
        ("ABAB", {1: [2]}, "0132"),  # the second of A reads the first of B
        ("ABA", {0: [1], 1: [2]}, "012"),
        (["A", "B", "AC", "B", "AC"], {}, "02413"),
        ("AB", {0: [1], 1: [0]}, "01"),  # no order is one in which values flow
    ],
)
def test_what_is_of_one_origin_comes_together(chains: Any, readers: dict[int, list[int]], order: str) -> None:
    names = [f"n{number}" for number in range(len(chains))]
    told = {names[giver]: {names[one] for one in own} for giver, own in readers.items()}
    assert "".join(map(str, together(names, [tuple(chain) for chain in chains], told))) == order


def test_the_parts_of_a_large_program_are_a_few_groups_before_and_after_passes() -> None:
    """XLA has the operations of a function among those of others, and fuses those of several."""
    document = observe.compilation_document(row_of(transformer.program, *transformer.arguments()))["fusion"]
    for level in ("before", "after"):
        boxes = [n for n in document[level]["nodes"] if n["scope"] is None and n["kind"] not in ("input", "output")]
        labels = [node["label"] for node in boxes if node["kind"] == "group" and node["what"] != "tree"]
        assert labels.count("model") <= 2 and labels.count("model (backward)") <= 2 and "model" in labels, level
        assert len(boxes) <= 30, level


def _node(ident: str, kind: str, scope: str | None = None, paths: tuple[str, ...] = ()) -> Any:
    return {"id": ident, "kind": kind, "label": ident, "scope": scope, "paths": [*paths], "positions": []}


@pytest.mark.parametrize(("others", "where"), [(40, {"fused": "B", "copy": "B", "zero": "A"}), (2, {})])
def test_of_a_long_level_what_has_several_origins_or_none_is_in_a_group_too(others: int, where: dict[str, str]) -> None:
    """A kernel is where its last operation is, and a copy of no known origin where it is read; of a short level both stand outside."""
    jaxpr = [_node("A", "group"), _node("B", "group")]
    jaxpr += [_node(f"{group}/{n}", "equation", group, (f"{group}/{n}",)) for group in "AB" for n in range(others)]
    own = [_node(f"{group}{n}", "instruction", None, (f"{group}/{n}",)) for group in "AB" for n in range(others)]
    zero, copy, fused = _node("zero", "constant"), _node("copy", "instruction"), _node("fused", "fusion")
    members = [_node("first", "instruction", "fused", ("A/0",)), _node("last", "instruction", "fused", ("B/0",))]
    mixed = [
        node
        for n in range(others)
        for node in (fused | {"id": f"f{n}"}, *(m | {"id": f"{m['id']}{n}", "scope": f"f{n}"} for m in members))
    ]
    edges = [
        {"from": a, "to": b}
        for a, b in (("zero", "A0"), ("zero", "B0"), ("A0", "first"), ("copy", "last"), ("last", "B1"))
    ]
    nodes = [zero, copy, *own, fused, *members, *mixed]
    found = grouped_operations(nodes, edges, Origins({"nodes": jaxpr}))  # type: ignore[arg-type,typeddict-item]
    named = {node["id"]: node for node in found}
    scopes = {ident: named[ident]["scope"] for ident in ("fused", "copy", "zero")}
    assert {ident: named[scope]["label"] for ident, scope in scopes.items() if scope} == where
    assert {named["first"]["scope"], named["last"]["scope"]} == {"fused"}
    told = {node["label"]: node.get("others") for node in found if node["kind"] == "group"}
    assert told == ({"A": None, "B": ["A/0"]} if where else {"A": None})  # the two of B are apart
    assert sorted(node["id"] for node in found if node["kind"] != "group") == sorted(node["id"] for node in nodes)
