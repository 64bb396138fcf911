"""Expressions about dtypes, trees and keys whose outcome real JAX has told. Imports neither library.

They are written for names that both have: `jnp`, `dtypes`, `tree`, `tu` (tree_util), `random`, and what is defined here.
"""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np


Point = namedtuple("Point", "x y")

CATEGORIES = tuple(
    "generic number integer signedinteger unsignedinteger inexact floating complexfloating flexible character".split()
)
DTYPES = tuple(
    "bool int4 uint4 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bfloat16 float16 float32 float64 complex64 "
    "complex128 float4_e2m1fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 "
    "float8_e5m2fnuz float8_e8m0fnu".split()
)
TYPES = {"bool": bool, "int": int, "float": float, "complex": complex}


def promoted() -> dict[str, Any]:
    """What `promote_types` is asked about, by name."""
    return {n: np.dtype(n if n in np.sctypeDict else getattr(ml_dtypes, n)) for n in DTYPES} | {
        f"type {n}": t for n, t in TYPES.items()
    }


def names(jnp: Any, dtypes: Any, key: Any) -> dict[str, Any]:
    """What `issubdtype` is asked about, by name."""
    found: dict[str, Any] = {f"dtype {n}": np.dtype(n if n in np.sctypeDict else getattr(ml_dtypes, n)) for n in DTYPES}
    found |= {f"jnp.{n}": getattr(jnp, n) for n in ("float32", "int4", "float8_e5m2", "bool_")}
    found |= {f"type {n}": t for n, t in TYPES.items()} | {n: getattr(jnp, n) for n in CATEGORIES}
    return found | {"extended": dtypes.extended, "prng_key": dtypes.prng_key, "key dtype": key.dtype, "None": None}


def outcome(make: Callable[..., Any], *args: Any) -> str:
    """The result as text, or the name of the error."""
    try:
        return repr(make(*args))
    except Exception as error:
        return type(error).__name__


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

DTYPE_EXPRESSIONS = (
    "dtypes.canonicalize_dtype(float)",
    "dtypes.canonicalize_dtype('int64')",
    "dtypes.canonicalize_dtype(None)",
    "dtypes.canonicalize_dtype(key.dtype)",
    "str(dtypes.canonicalize_dtype(key.dtype, allow_extended_dtype=True))",
    "dtypes.canonicalize_dtype(dtypes.float0)",
    *[f"dtypes.scalar_type_of({x})" for x in ("1", "True", "2.0", "1j", "np.float32(1)", "np.zeros(2, 'int8')",
      "jnp.ones(2, 'bfloat16')", "'float16'", "jnp.int4", "float", "key", "dtypes.float0")],
    "dtypes.result_type(1, return_weak_type_flag=True)",
    "dtypes.result_type(1, np.float16, return_weak_type_flag=True)",
    "dtypes.result_type()",
    "dtypes.result_type('int4', 1)",
    *[f"dtypes.itemsize_bits({x})" for x in ("jnp.int4", "jnp.float8_e5m2", "'bool'", "float",
      "jnp.float4_e2m1fn", "jnp.bfloat16", "key.dtype")],
    "jnp.promote_types('int8', float)",
    "jnp.promote_types(int, 'uint8')",
    "jnp.promote_types('bfloat16', 'float16')",
    "jnp.result_type(np.int8(1), 2.5)",
    "jnp.result_type(jnp.ones(2, 'int8'), 2)",
    "jnp.result_type(key)",
    "jnp.result_type(key, key).name",
    "jnp.can_cast('int8', 'int16')",
    "jnp.isdtype(jnp.bfloat16, 'real floating')",
    "jnp.isdtype('int8', ('bool', 'integral'))",
    "jnp.finfo('int8')",
    "jnp.iinfo('float32')",
    "jnp.iinfo(jnp.int4).min, jnp.iinfo(jnp.uint4).max",
)  # fmt: skip
