"""Pytrees: maps, prefixes, and classes that users register. (There and back: test_tree_util.py.)"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import tree


def test_map_over_several_trees_follows_the_first():
    x, y = {"a": 1, "b": (2, None)}, {"a": [10], "b": ({"c": 20}, None)}
    assert tree.map(lambda a, b: (a, b), x, y) == {"a": (1, [10]), "b": ((2, {"c": 20}), None)}
    with pytest.raises(ValueError):
        tree.map(lambda a, b: a, x, {"a": 1})
    with pytest.raises(ValueError):
        tree.map(lambda a, b: a, (1, 2), (1, 2, 3))


def test_is_leaf_stops_early():
    x = {"a": (1, 2), "b": None}
    assert tree.leaves(x, is_leaf=lambda v: isinstance(v, tuple)) == [(1, 2)]
    assert tree.leaves(x, is_leaf=lambda v: v is None) == [1, 2, None]
    assert tree.map(lambda v: len(v), x, is_leaf=lambda v: isinstance(v, tuple)) == {"a": 2, "b": None}


def test_reduce_all_and_transpose():
    assert tree.reduce(lambda a, b: a + b, {"a": 1, "b": [2, 3]}) == 6
    assert tree.reduce(lambda a, b: a + b, (), 5) == 5
    assert tree.all([True, {"a": 1}]) and not tree.all([True, 0]) and tree.all(None)
    x = {"a": (1, 2), "b": (3, 4)}
    turned = tree.transpose(tree.structure({"a": 0, "b": 0}), tree.structure((0, 0)), x)
    assert turned == ({"a": 1, "b": 3}, {"a": 2, "b": 4})


def test_dicts_with_keys_that_do_not_sort():
    with pytest.raises((ValueError, TypeError)):
        tree.flatten({1: 0, "a": 1})


def test_broadcast_prefix():
    structure = tree.structure({"a": (1, 2), "b": [3], "c": None})
    assert tree.broadcast_prefix(7, structure, "p") == [7, 7, 7]
    assert tree.broadcast_prefix({"a": (0, None), "b": 1, "c": 5}, structure, "p") == [0, None, 1]
    assert tree.broadcast_prefix(None, structure, "p") == [None, None, None]
    for wrong in ({"a": 0}, (0, 0), {"a": (0, 0, 0), "b": 1, "c": 0}):
        with pytest.raises(ValueError, match="in_axes must be a prefix"):
            tree.broadcast_prefix(wrong, structure, "in_axes")


# Registration ---------------------------------------------------------------------------------------------------------


@tree.register_pytree_node_class
class Pair:
    def __init__(self, left, right, label):
        self.left, self.right, self.label = left, right, label

    def tree_flatten(self):
        return (self.left, self.right), self.label

    @classmethod
    def tree_unflatten(cls, label, children):
        left, right = children
        return cls(left, right, label)


@dataclasses.dataclass
class State:
    weights: object
    step: object
    name: str = dataclasses.field(default="s", metadata={"static": True})


tree.register_dataclass(State)


@tree.register_static
@dataclasses.dataclass(frozen=True)
class Config:
    scale: float


class Keyed:
    def __init__(self, w):
        self.w = w


tree.register_pytree_with_keys(Keyed, lambda k: ([(tree.GetAttrKey("w"), k.w)], None), lambda _, xs: Keyed(*xs))


def test_static_data_is_part_of_the_structure():
    seen = []
    f = jx.jit(lambda p, c: seen.append((p.label, c.scale)) or p.left)
    for label, scale in (("a", 1.0), ("a", 1.0), ("b", 1.0), ("b", 2.0)):
        f(Pair(1.0, 2.0, label), Config(scale))
    assert seen == [("a", 1.0), ("b", 1.0), ("b", 2.0)]


def test_paths_of_registered_classes():
    assert tree.leaf_paths({"s": State(1, 2), "k": Keyed([1])}) == ["['k'].w[0]", "['s'].weights", "['s'].step"]


def test_wrong_registrations():
    with pytest.raises(ValueError):
        tree.register_pytree_node(Pair, lambda x: ((), None), lambda a, b: None)
    with pytest.raises(ValueError, match="step"):
        tree.register_dataclass(dataclasses.make_dataclass("D", ["weights", "step"]), ["weights"], [])


def test_our_registry_is_our_own():
    """Registering here does not touch the trees of other users of jaxlib."""
    from jitscope.xla import pytrees

    other = pytrees.new_registry()
    assert len(other.flatten(Pair(1, 2, "p"))[0]) == 1 and len(tree.leaves(Pair(1, 2, "p"))) == 2


def test_classes_that_take_arrays_alone_are_made_of_arrays_alone() -> None:
    class OfArrays:
        def __init__(self, a):
            if not hasattr(a, "shape"):
                raise TypeError(f"not an array: {a!r}")
            self.a = a

    tree.register_pytree_node(OfArrays, lambda t: ((t.a,), None), lambda _, children: OfArrays(*children))
    t = OfArrays(jnp.arange(3.0))

    def same(x):
        return x

    assert jx.vmap(same)(t).a.shape == (3,) and jx.vmap(same, in_axes=(0,), out_axes=0)(t).a.shape == (3,)
    assert jx.device_put(t).a.shape == jx.lax.map(same, t).a.shape == jx.lax.cond(True, same, same, t).a.shape
    assert jx.lax.scan(lambda c, x: (c, x), t, t)[1].a.shape == jx.checkpoint(same)(t).a.shape
    assert jx.lax.while_loop(lambda c: c.a[0] < 3, lambda c: OfArrays(c.a + 1), t).a[0] == 3
    assert jx.jit(same)(t).a.shape == jx.grad(lambda t: (t.a**2).sum())(t).a.shape == jx.vjp(same, t)[1](t)[0].a.shape


OLD = """
import dataclasses
@tree.register_dataclass
@dataclasses.dataclass
class Old:
    v: object
"""


def test_a_second_registration_names_the_first() -> None:
    class Pair:
        pass

    def register() -> None:
        tree.register_pytree_node(Pair, lambda p: ((), None), lambda _, c: Pair())

    register()
    line = register.__code__.co_firstlineno + 1
    with pytest.raises(ValueError, match=rf"Pair is registered as a pytree already, by line {line} of test_tree\.py"):
        register()
    with pytest.raises(ValueError, match="list is registered as a pytree already: "):
        tree.register_pytree_node(list, lambda x: (x, None), lambda _, c: [*c])


def test_classes_of_one_name_are_told_apart_by_where_they_were_registered() -> None:
    first, second = ({"tree": tree, "__name__": "cells"} for _ in range(2))
    exec(compile(OLD, "first.py", "exec", dont_inherit=True), first)
    exec(compile("\n" + OLD, "second.py", "exec", dont_inherit=True), second)
    with pytest.raises(ValueError, match=r"has the Old of line 3 of first\.py where this one has the Old of line 4 of"):
        tree.map(lambda a, b: a + b, first["Old"](1.0), second["Old"](2.0))
    second["Old"].__qualname__ = "Other"
    with pytest.raises(ValueError, match=r"has an Old where this one has an Old$"):
        tree.map(lambda a, b: a + b, first["Old"](1.0), second["Old"](2.0))


class Cached:
    """Says in its static data what its child is like."""

    def __init__(self, leaves: list, structure: Any):
        self.leaves, self.structure = leaves, structure


def _cached(x: Any) -> Cached:
    return Cached(*tree.flatten(x))


tree.register_pytree_node(
    Cached,
    lambda x: (x.leaves, x.structure),
    lambda structure, leaves: _cached(structure.unflatten(leaves)),
)


def test_transposing_nodes_that_say_what_they_hold() -> None:
    rows = tree.transpose(
        tree.structure(_cached({"a": 1, "b": 2})), tree.structure([0, 0]), _cached({"a": [3, 4], "b": [5, 6]})
    )
    assert [tree.leaves(row) for row in rows] == [[3, 5], [4, 6]]
    assert [row.structure for row in rows] == [tree.structure({"a": 0, "b": 0})] * 2
    with pytest.raises(TypeError, match="one inner tree has the structure"):
        tree.transpose(tree.structure((1, 2)), tree.structure([0, 0]), ((3, 4), (5, 6)))


def test_the_function_in_a_partial_equals_itself() -> None:
    inside = functools.partial(max, 1)
    one, other = tree.Partial(inside, 2), tree.Partial(inside, 2)
    assert one.func == inside == one.func == other.func
    assert hash(one.func) == hash(other.func) == hash(inside)
    assert tree.structure(one) == tree.structure(other)


def test_fields_that_init_does_not_take() -> None:
    @dataclasses.dataclass
    class Layer:
        w: float
        count: int = dataclasses.field(default=0, init=False)

    with pytest.raises(ValueError, match=r"differ in \['count'\]"):
        tree.register_dataclass(Layer)
    tree.register_dataclass(Layer, drop_fields=["count"])
    assert tree.leaves(Layer(2.0)) == [2.0]


def test_static_keeps_what_its_metadata_say() -> None:
    assert tree.static(metadata={"unit": "m"}).metadata == {"static": True, "unit": "m"}
    assert tree.static(metadata={"static": False}).metadata == {"static": False}


def test_a_program_that_takes_unravel_is_traced_once() -> None:
    traces = []

    def run(flat: Any, unravel: Any) -> Any:
        traces.append(flat)
        return unravel(flat + 1)

    jitted, x = jx.jit(run, static_argnums=1), (np.arange(2.0, dtype=np.float32), np.float32(3))
    for _ in range(2):
        flat, unravel = jx.flatten_util.ravel_pytree(x)
        out = jitted(flat, unravel)
    assert len(traces) == 1
    np.testing.assert_array_equal(out[0], [1, 2])
    assert jx.jit(run)(flat, unravel)[1] == 4
