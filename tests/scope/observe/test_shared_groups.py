"""Groups in the graph of two compared programs: what both have is in one, and all can be closed."""

from __future__ import annotations

import graphlib
from random import Random

import pytest

import jitscope as jx
import jitscope.numpy as jnp
from tests.extent import full
from tests.scope.observe.test_comparing import X, compared, side


def first_part(x, y):
    return jnp.sin(x) * y, y + x


def second_part(x, y):
    a, b = first_part(x, y)
    return a - b, jnp.cos(a)


@jx.jit
def called(x, y):
    return first_part(jnp.exp(x), y)


PARTS = [first_part, second_part, called, lambda x, y: (jnp.tanh(x), y), lambda x, y: (y, x * 3)]


def made_of(parts):
    def program(x, y):
        for part, scope in parts:
            with jx.named_scope(f"scope{scope}"):
                x, y = PARTS[part](x, y)
        return x, y

    return program


def cycle_in(graph, closed):
    """A cycle in a graph in which some groups are closed, found by other means."""
    scopes = {node["id"]: node["scope"] for node in graph["nodes"]}

    def shown(ident):
        found = ident
        while ident is not None:
            found, ident = (ident if ident in closed else found), scopes[ident]
        return found

    before = {}
    for edge in graph["edges"]:
        start, end = shown(edge["from"]), shown(edge["to"])
        if start != end:
            before.setdefault(end, set()).add(start)
    try:
        graphlib.TopologicalSorter(before).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


@pytest.mark.parametrize("seed", [n if n < 6 else pytest.param(n, marks=full) for n in range(24)])
def test_groups_of_both_can_be_closed(seed):
    """Whichever are closed, values flow through no group and back into it."""
    random = Random(seed)
    parts = [(random.randrange(5), random.randrange(2)) for _ in range(random.randrange(2, 8))]
    other = list(parts)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(other) + 1)
        match random.randrange(3):
            case 0:
                other.insert(at, (random.randrange(5), random.randrange(2)))
            case 1 if at < len(other):
                other.pop(at)
            case _:
                random.shuffle(other)
    programs = [made_of(each) for each in (parts, other)]
    if seed % 3 == 0:
        programs = [jx.grad(lambda x, y, f=f: sum(out.sum() for out in f(x, y)), (0, 1)) for f in programs]
    graph = compared(*(side(f, X, X + 1) for f in programs), limit=0.01)["joint"]["graph"]
    groups = [node["id"] for node in graph["nodes"] if node["kind"] == "group"]
    some_of = (random.sample(groups, random.randrange(len(groups) + 1)) for _ in range(5))
    for closed in [set(groups), *({each} for each in groups), *map(set, some_of)]:
        assert cycle_in(graph, closed) is None, closed
    scopes = {node["id"]: node["scope"] for node in graph["nodes"]}
    for group in (node for node in graph["nodes"] if node["kind"] == "group" and node["what"] != "tree"):
        inside = [node for node in graph["nodes"] if node["paths"] and group["id"] in around(node["id"], scopes)]
        assert group["count"] == len(inside) > 1


def around(ident, scopes):
    while (ident := scopes[ident]) is not None:
        yield ident


def test_calls_and_named_scopes_of_both_are_groups():
    def program(last):
        def f(x, y):
            with jx.named_scope("layer"):
                x, y = second_part(x, y)
            return last(*first_part(x, y))

        return side(f, X, X)

    def plus(x, y):
        z = jnp.cos(x) * 5
        return z + y

    document = compared(program(lambda x, y: x * y), program(plus), limit=0.01)
    graph = document["joint"]["graph"]
    scopes = {node["id"]: node["scope"] for node in graph["nodes"]}
    labels = {node["id"]: node["label"] for node in graph["nodes"]}
    groups = {node["label"]: node for node in graph["nodes"] if node["kind"] == "group"}
    # `second_part` and "layer" hold the same: one of them
    assert {label: group["count"] for label, group in groups.items()} == {
        "layer": 5, "first_part": 3, "plus": 3
    }  # fmt: skip
    added = [node["id"] for node in graph["nodes"] if node.get("mark") == "added"]
    assert {labels[scopes[ident]] for ident in added} == {"plus"}
