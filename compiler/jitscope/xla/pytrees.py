"""jaxlib's pytree machinery with a registry of our own."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from . import recursion
from .runtime import _jax


_pytree = _jax.pytree

if TYPE_CHECKING:  # jaxlib says nothing of its types

    class PyTreeDef:
        """The structure of a tree."""

        num_leaves: int
        num_nodes: int

        def unflatten(self, leaves: Iterable[Any], /) -> Any: ...
        def flatten_up_to(self, tree: Any, /) -> list[Any]: ...
        def children(self) -> list[PyTreeDef]: ...
        def compose(self, inner: PyTreeDef, /) -> PyTreeDef: ...
        def node_data(self) -> tuple[Any, Any] | None: ...
        def walk(
            self, of_node: Callable[..., Any], of_leaf: Callable[[Any], Any] | None, leaves: Iterable[Any], /
        ) -> Any: ...
        def serialize_using_proto(self) -> bytes: ...
        def from_iterable_tree(self, tree: Any, /) -> Any: ...
        @staticmethod
        def deserialize_using_proto(registry: Any, data: bytes) -> PyTreeDef: ...
        @staticmethod
        def from_node_data_and_children(
            registry: Any, node_data: tuple[Any, Any] | None, children: Iterable[PyTreeDef]
        ) -> PyTreeDef: ...
else:
    PyTreeDef = _pytree.PyTreeDef
PyTreeRegistry = _pytree.PyTreeRegistry
SequenceKey = _pytree.SequenceKey
DictKey = _pytree.DictKey
GetAttrKey = _pytree.GetAttrKey
FlattenedIndexKey = _pytree.FlattenedIndexKey


def new_registry(module: str = "", name: str = "") -> Any:
    """A registry that knows tuple, list, dict, namedtuple and None (an empty subtree), apart from every other one.

    `.flatten(tree, is_leaf=None)` → (leaves, treedef); `.flatten_with_path(tree, is_leaf=None)` → ([(path, leaf)],
    treedef), where `is_leaf` is asked with path and subtree.
    Dicts are taken in the order of their sorted keys. Treedefs compare and hash across registries; they pickle by
    reference to their registry, if that is found as `name` in `module`.
    """
    registry = PyTreeRegistry()
    registry.kinds = {tuple, list, dict, type(None)}  # jaxlib before 0.10 does not tell
    if name:
        registry.__module__, registry.__name__ = module, name
    return registry


def register(
    registry: Any,
    kind: type,
    flatten: Callable[[Any], tuple[Iterable[Any], Hashable]],
    unflatten: Callable[[Hashable, Iterable[Any]], Any],
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Hashable]] | None = None,
) -> None:
    """Make `kind` a node: flatten(node) → (children, metadata), unflatten(metadata, children) → node.

    The metadata must be hashable; that is not checked. Raises ValueError when the type is registered already.
    """
    registry.register_node(kind, flatten, unflatten, flatten_with_keys)
    registry.kinds.add(kind)


def register_dataclass(registry: Any, kind: type, data_fields: Sequence[str], meta_fields: Sequence[str]) -> None:
    """Make a dataclass a node whose children are `data_fields` and whose metadata are `meta_fields`."""
    registry.register_dataclass_node(kind, list(data_fields), list(meta_fields))
    registry.kinds.add(kind)


def is_node(registry: Any, kind: type) -> bool:
    """Whether values of the type are nodes; for a namedtuple, whether it was registered."""
    return kind in registry.kinds


def all_leaves(registry: Any, items: Iterable[Any]) -> bool:
    """Whether none of the items is a node."""
    return _pytree.all_leaves(registry, items)


def treedef_tuple(registry: Any, treedefs: Sequence[Any]) -> Any:
    """The structure of a tuple of trees of the given structures."""
    return _pytree.treedef_tuple(registry, list(treedefs))


def after_failure(error: BaseException) -> BaseException:
    """What to raise where jaxlib could not walk through a tree; the count of calls, which that leaves wrong, is mended."""
    recursion.mend()
    if isinstance(error, (SystemError, RecursionError)):
        return RecursionError(
            "the tree is nested too deeply, or contains itself: a list that holds itself, or a class whose flatten function gives "
            "the object as its own child"
        )
    return error
