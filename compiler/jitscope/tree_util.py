"""Pytrees under the names of `jax.tree_util`; what they do stands in `jitscope.tree`."""

from typing import Any

from .tree import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    Partial,
    PyTreeDef,
    SequenceKey,
    all as tree_all,
    all_leaves,
    broadcast as tree_broadcast,
    default_registry,
    flatten as tree_flatten,
    flatten_one_level,
    flatten_one_level_with_keys,
    flatten_with_path as tree_flatten_with_path,
    is_tree_node,
    keystr,
    leaves as tree_leaves,
    leaves_with_path as tree_leaves_with_path,
    map as tree_map,
    map_with_path as tree_map_with_path,
    reduce as tree_reduce,
    reduce_associative as tree_reduce_associative,
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    register_pytree_with_keys,
    register_pytree_with_keys_class,
    register_static,
    structure as tree_structure,
    transpose as tree_transpose,
    treedef_children,
    treedef_is_leaf,
    treedef_tuple,
    unflatten as tree_unflatten,
)


KeyEntry = Any
"""One step of a path: a DictKey, SequenceKey, GetAttrKey, FlattenedIndexKey, or what a registered class gives."""
KeyPath = tuple[KeyEntry, ...]
"""The path of a leaf."""

__all__ = ["DictKey", "FlattenedIndexKey", "GetAttrKey", "KeyEntry", "KeyPath", "Partial", "PyTreeDef", "SequenceKey",
           "all_leaves", "default_registry", "flatten_one_level", "flatten_one_level_with_keys", "is_tree_node",
           "keystr", "register_dataclass", "register_pytree_node", "register_pytree_node_class",
           "register_pytree_with_keys", "register_pytree_with_keys_class", "register_static", "tree_all",
           "tree_broadcast", "tree_flatten", "tree_flatten_with_path", "tree_leaves", "tree_leaves_with_path",
           "tree_map", "tree_map_with_path", "tree_reduce", "tree_reduce_associative", "tree_structure",
           "tree_transpose", "tree_unflatten", "treedef_children", "treedef_is_leaf", "treedef_tuple"]  # fmt: skip
