"""How the structure of a call is told: in the user's names, from the text that real trees print."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from functools import partial
from typing import Any

import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import tree_util
from jitscope_scope.observe.ledger import Ledger
from jitscope_scope.observe.signature_texts import result_text
from jitscope_scope.observe.structures import call_of


Pair = collections.namedtuple("Pair", "x y")


@partial(tree_util.register_dataclass, data_fields=["w"], meta_fields=["note"])
@dataclasses.dataclass
class Layer:
    w: Any
    note: Any


def model(params: Any, x: Any = 0.0, scale: Any = 1.0) -> Any:
    return jnp.ones(2)


def several(*args: Any, **named: Any) -> Any:
    return jnp.ones(2)


CALLS = [
    (several, ((1.0,), {}), ((1.0, 2.0), {}), "args is given in another way: args[0] by position → args[0] and args[1] by position"),
    (model, (({"w": 1.0},), {}), (({"w": 1.0, "b": 2.0},), {}), "params changed structure: {'w'} → {'b', 'w'}"),
    (model, ((1.0, 2.0), {}), ((1.0,), {"x": 2.0}), "the arguments are given in another way: params and x by position → params by position, x by name"),
    (model, ((1.0, [1.0]), {}), ((1.0, (1.0,)), {}), "x changed structure: list of 1 array → tuple of 1 array"),
    (model, ((), {"params": {"w": (1.0,)}}), ((), {"params": {"w": (1.0, 2.0)}}),
     "params changed structure: {'w': tuple of 1 array} → {'w': tuple of 2 arrays}"),
    (model, (({"l": [{"w": 1.0}] * 3},), {}), (({"l": [{"w": 1.0}, None]},), {}),
     "params changed structure: {'l': list of 3 × {'w'}} → {'l': list of ({'w'}, None)}"),
    (model, ((Pair(1.0, 2.0),), {}), ((Pair(1.0, [2.0]),), {}), "params changed structure: Pair of 2 arrays → Pair of (array, list of 1 array)"),
    (model, ((Layer(1.0, "a]"),), {}), ((Layer(1.0, "b'[("),), {}), "params changed structure: Layer['a]'] → Layer[\"b'[(\"] (static data)"),
    (model, ((1.0, ()), {}), ((1.0, {"a": 1.0}), {}), "x changed structure: empty tuple → {'a'}"),
]  # fmt: skip


@pytest.mark.parametrize("fun, first, second, said", CALLS)
def test_a_structure_is_told_in_the_names_of_the_program(fun: Any, first: Any, second: Any, said: str) -> None:
    with contextlib.closing(Ledger()) as ledger:
        f = jx.jit(lambda *args, **named: fun(*args, **named)) if fun is several else jx.jit(fun)
        for args, named in (first, second):
            f(*args, **named)
    assert f"because {said}" in list(ledger)[-1].because


@pytest.mark.parametrize(
    "value",
    [collections.OrderedDict(a=1, b=[2, None]), collections.defaultdict(list, a=1), {"c": 2, "a, b: {": ({}, [])},
     tree_util.Partial(len, 3), Layer(Layer(1, (1, 2)), "\\'"), Pair({"it's": 1}, 2)],
)  # fmt: skip
def test_what_is_read_of_a_tree_is_what_it_holds(value: Any) -> None:
    with contextlib.closing(Ledger()) as ledger:
        jx.jit(lambda x, *, y: jnp.ones(2))(value, y=(value,))
    (row,) = ledger
    call = call_of(row.signature) if row.signature else None
    assert call is not None
    (node,) = call.positional
    definition = tree_util.tree_structure(value)
    assert call.form == (1, ["y"]) and call.named["y"].children == (node,)

    def shape(definition: Any) -> list:
        return [(shape(child), child.num_leaves) for child in definition.children()]

    def read(node: Any) -> list:
        return [(read(child), child.leaves) for child in node.children]

    assert read(node) == shape(definition) and node.leaves == definition.num_leaves


@pytest.mark.parametrize(
    ("result", "told"),
    [
        (lambda x: ([x] * 11, {"w": [x] * 7, "b": x}, x + 1), "(11 arrays, 8 arrays, f32[3])"),
        (lambda x: {"grads": [x] * 7, "loss": x}, "(7 arrays, f32[3])"),
        (lambda x: ([x] * 2, x), "(f32[3], f32[3], f32[3])"),
        (lambda x: {"w": [x] * 7}, "7 arrays"),
        (lambda x: [x] * 8, f"({', '.join(['f32[3]'] * 8)})"),
        (lambda x: [x] * 13, "13 arrays"),
    ],
)
def test_trees_of_results_are_told_by_their_number(result, told):
    assert result_text(jx.jit(result).trace(jnp.ones(3)).jaxpr.jaxpr) == told
