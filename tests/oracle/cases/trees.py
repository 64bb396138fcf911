"""Questions about trees."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

from tests.oracle.library import Library
from tests.oracle.programs import outcome
from tests.oracle.results import Plain


Point = namedtuple("Point", "x y")


@dataclasses.dataclass
class Fields:
    a: Any
    b: Any
    mode: str = dataclasses.field(default="m", metadata={"static": True})


class Node:
    def __init__(self, *parts: Any):
        self.parts = parts

    def tree_flatten_with_keys(self) -> Any:
        return [(f"part{i}", x) for i, x in enumerate(self.parts)], len(self.parts)

    @classmethod
    def tree_unflatten(cls, _: int, parts: Any) -> Node:
        return cls(*parts)

    def __repr__(self) -> str:
        return f"Node{self.parts}"


@functools.cache
def register(tu: Any) -> None:
    """Make the classes here known to a library."""
    tu.register_dataclass(Fields)
    tu.register_pytree_with_keys_class(Node)


TREES = {
    "leaf": 1,
    "none": None,
    "empty": ((), [], {}),
    "dict": {"b": 1, "a": (2, [3, None])},
    "point": Point(Point(1, None), {"k": 2}),
    "ordered": OrderedDict([("z", 1), ("a", {"q": 2})]),
    "default": defaultdict(list, {"z": 1, "a": [2, 3]}),
    "fields": Fields({"w": 1}, [2, 3], "mode"),
    "node": Node(1, Node(), {"k": Node(2)}),
    "partial": functools.partial(max, 1),
    "ints": {10: 1, 2: 2},
}

EXPRESSIONS = (
    "tu.tree_flatten(t)",
    "tu.tree_structure(t)",
    "tu.tree_leaves(t, is_leaf=lambda x: x is None)",
    "[tu.keystr(p) for p, _ in tu.tree_leaves_with_path(t) if not isinstance(t, Point)]",
    "[tu.keystr(p, simple=True, separator='/') for p, _ in tu.tree_flatten_with_path(t)[0] if not isinstance(t, Point)]",
    "tu.tree_map(lambda x: -x if isinstance(x, int) else x, t)",
    "tu.tree_map(lambda x, y: (x, y), t, t)",
    "tu.tree_map(lambda x, y: (x, y), t, {'b': 1})",
    "tu.tree_map(lambda x, y: (x, y), {'b': 1, 'a': 2}, t)",
    "tu.tree_leaves(tu.tree_map_with_path(lambda p, x: len(p), t))",
    "tu.tree_flatten(t, is_leaf=lambda x: isinstance(x, (dict, Node)))",
    "tu.tree_leaves_with_path(t, is_leaf=lambda p, x: len(p) == 1, is_leaf_takes_path=True)[0][1]",
    "tu.tree_reduce(lambda a, b: f'({a}{b})', t)",
    "tu.tree_reduce(lambda a, b: f'({a}{b})', t, 'i')",
    "tu.tree_reduce_associative(lambda a, b: f'({a}{b})', t, identity='e')",
    "tu.tree_reduce_associative(lambda a, b: f'({a}{b})', (t, t, t, 9))",
    "tu.tree_reduce_associative(lambda a, b: a, ())",
    "tu.tree_all(t)",
    "tu.all_leaves([t])",
    "tu.all_leaves([t], is_leaf=lambda x: True)",
    "tu.is_tree_node(type(t))",
    "list(tu.flatten_one_level(t)[0])",
    "getattr(data := tu.flatten_one_level(t)[1], '__name__', data)",
    "tu.treedef_children(tu.tree_structure(t))",
    "tu.treedef_is_leaf(tu.tree_structure(t))",
    "tu.treedef_tuple([tu.tree_structure(t), tu.tree_structure(0)])",
    "tu.tree_unflatten(tu.tree_structure(t), range(tu.tree_structure(t).num_leaves))",
    "tu.tree_unflatten(tu.tree_structure(t), [1] * 7)",
    "tu.tree_broadcast(5, t)",
    "tu.tree_broadcast(t, t)",
    "tu.tree_broadcast({'b': 1, 'a': 2}, t)",
    "tu.tree_broadcast(t, 5)",
    "tu.tree_broadcast((7, None), (t, t), is_leaf=lambda x: x is None)",
    "tu.tree_transpose(tu.tree_structure(t), tu.tree_structure((0, 0)), tu.tree_map(lambda x: (x, -1), t))",
    "tu.tree_transpose(tu.tree_structure([0, 0]), None, [t, t])",
    "tu.tree_transpose(tu.tree_structure([0, 0]), None, [t, (t, t)])",
    "tree.static(default=3).metadata['static']",
    "tu.Partial(max, t, 1)",
    "tu.tree_flatten(tu.Partial(max, t, key=None))[0]",
    "tu.tree_leaves(tu.Partial(functools.partial(max, 1), t))",
    "tu.register_dataclass(int)",
    "tu.register_dataclass(Fields, ['a'])",
    "tu.register_dataclass(dataclasses.make_dataclass('D', ['a', 'b']), ['a'], [])",
    "tu.register_dataclass(dataclasses.make_dataclass('D', ['a', 'b']), ['a', 'b'], ['b'])",
    "tu.register_dataclass(dataclasses.make_dataclass('D', ['a', 'b']), ['a'], [], drop_fields=['b']).__name__",
    "tu.register_pytree_node_class(type('C', (), {}))",
)

PAIRS = "tu.tree_transpose(tu.tree_structure(t), tu.tree_structure((0, 0)), tu.tree_map(lambda x: (x, -1), t))"
UNLIKE = "tu.tree_transpose(tu.tree_structure([0, 0]), None, [t, (t, t)])"
OURS = {
    # JAX fails where the outer tree has no leaves, though the inner structure is given,
    f"none: {PAIRS}": "(None, None)",
    f"empty: {PAIRS}": "(((), [], {}), ((), [], {}))",
    # and lets inner trees of different structure pass if they have no leaves.
    f"none: {UNLIKE}": "TypeError",
    f"empty: {UNLIKE}": "TypeError",
}


_ORDERED = re.compile(r"OrderedDict\(\{'z': (.*?), 'a': (\{.*?\})\}\)")
"""How Python since 3.12 prints the tree called "ordered"."""


def _answer(o: Library, expr: str, name: str) -> Plain:
    register(o.tree_util)
    text = outcome(eval, expr, {**globals(), "tu": o.tree_util, "tree": o.tree, "t": TREES[name]})
    text = text.replace(f"{o.root}.tree_util.Partial(", "Partial(")  # so Python since 3.13 prints partial functions
    return Plain(_ORDERED.sub(r"OrderedDict([('z', \1), ('a', \2)])", text))


CASES = {
    f"{name}: {expr}": lambda o, expr=expr, name=name: _answer(o, expr, name) for expr in EXPRESSIONS for name in TREES
}


def section(name: str) -> str:
    return name.partition(": ")[2]
