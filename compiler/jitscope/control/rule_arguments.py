"""How the arguments and results of a function with rules of its own lie as flat operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..core.avals import ShapedArray, aval_of, not_an_array
from ..core.references import Reference
from ..core.staging import returned_reference
from ..core.trace import Tracer
from .bodies import check_leaves


class Arguments:
    """How the arguments of one call lie: those set apart (`apart`, with the tracers among their leaves taken out), then
    the others, as the tuple `in_tree`. Flat operands are the `num_apart` tracers, then the leaves of the others."""

    __slots__ = ("_apart", "_names", "_order", "in_tree", "num_apart")

    def __init__(self, apart: dict[int, tuple[list[Any], Any]], order: list[int], in_tree: Any, names: list[str]):
        self._apart, self._order, self.in_tree, self._names = apart, order, in_tree, names
        self.num_apart = sum(x is _TAKEN for leaves, _ in apart.values() for x in leaves)

    @staticmethod
    def split(
        args: tuple, apart_from: Sequence[int], name: Callable[[int], str], called: str, advice: str
    ) -> tuple[Arguments, list[Any]]:
        """How `args` of the function that is `called` so lie, those at `apart_from` set apart, and their flat operands.
        `name` tells what the argument at a position is called, `advice` ends the TypeError for a leaf that is not an array."""
        taken: list[Any] = []
        apart = {}
        for i in apart_from:
            leaves, structure = tree.flatten(args[i])
            taken += [x for x in leaves if isinstance(x, Tracer)]
            apart[i] = [_TAKEN if isinstance(x, Tracer) else x for x in leaves], structure
        order = [i for i in range(len(args)) if i not in apart]
        leaves, in_tree = tree.flatten(tuple([args[i] for i in order]))
        found = Arguments(apart, order, in_tree, [name(i) for i in order])
        for x, path in zip(leaves, found.leaf_names() if any(not hasattr(x, "aval") for x in leaves) else ()):
            try:
                aval_of(x)
            except TypeError:
                raise TypeError(
                    f"{path} of {called} is something that is not an array: {not_an_array(x)}.{advice}"
                ) from None
        return found, [*taken, *leaves]

    def leaf_names(self) -> list[str]:
        """The leaves of the arguments that are not set apart, as they read in the function: `params['w']`."""
        return [name + path for name, sub in zip(self._names, self.in_tree.children()) for path in tree.paths_in(sub)]

    def set_apart(self, flat: Sequence[Any]) -> list[Any]:
        """The arguments set apart, in order, from flat operands."""
        taken = iter(flat)
        return [s.unflatten([next(taken) if x is _TAKEN else x for x in xs]) for xs, s in self._apart.values()]

    def trees(self, flat: Sequence[Any]) -> tuple:
        """The other arguments, from flat operands (or what stands for them)."""
        return self.in_tree.unflatten(flat[self.num_apart :])

    def full(self, apart: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        """All arguments by position."""
        found = dict(zip(self._apart, apart)) | dict(zip(self._order, others))
        return [found[i] for i in range(len(found))]


_TAKEN = object()


class Results:
    """The structure and avals of a function's results, known once it or its rule ran."""

    __slots__ = ("avals", "tree")

    def __init__(self):
        self.tree: Any = None
        self.avals: list[ShapedArray] = []

    def flatten(self, out: Any, what: str) -> list[Any]:
        """The flat results; they must be like those known. `what` names who gives them."""
        leaves, structure = tree.flatten(out)
        for i, leaf in enumerate(leaves):
            if isinstance(leaf, Reference):
                raise returned_reference(leaf, what.removesuffix(" gives"), tree.leaf_paths(out)[i])
        avals = result_avals(leaves, out, what)
        if self.tree is None:
            self.tree, self.avals = structure, avals
        elif structure != self.tree:
            raise TypeError(f"{what} a result of structure {structure}, the function itself one of {self.tree}")
        for i, (own, other) in enumerate(zip(avals, self.avals)):
            if (own.shape, own.dtype) != (other.shape, other.dtype):
                path = tree.leaf_paths(out)[i]
                raise TypeError(
                    f"{what} {own.short()} at result{path}, where the function itself gives {other.short()}"
                )
        return leaves


def result_avals(leaves: Sequence[Any], whole: Any, what: str) -> list[ShapedArray]:
    """The avals of results. Raises TypeError for what is not an array."""
    return check_leaves(leaves, whole, f"{what}, at result")
