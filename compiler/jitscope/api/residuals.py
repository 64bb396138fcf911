"""What a pullback keeps: arguments as they were, which a caller may set anew, and values that were computed from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .. import tree
from ..core.messages import message_here
from ..named_tuple import NamedTuple
from ._flat import as_values
from .markers import Marker


__all__ = ["NotNeeded", "NotSaveable"]


class NotNeeded(Marker):
    """Stands for an argument that the way back does not need."""


class NotSaveable(Marker):
    """Stands for an argument that the way back needs and that was not to be kept."""


class ResidualPlaces(NamedTuple):
    """Where each residual is: (True, i) for leaf number `i` of the arguments, (False, i) for number `i` of the others."""

    places: tuple[tuple[bool, int], ...]

    def residuals(self, args_res: Any, others: Sequence[Any], in_tree: Any, name: str) -> tuple[Any, ...]:
        """The residuals in their order. Raises ValueError where one was not kept and not set since."""
        given = _by_leaf(args_res, in_tree)
        missing = [i for own, i in self.places if own and (given[i] is None or isinstance(given[i], NotSaveable))]
        if missing:
            paths = tree.paths_in(in_tree)
            told = ", ".join(f"args{paths[i]}" for i in dict.fromkeys(missing))
            raise ValueError(
                message_here(
                    f"the pullback of {name} needs arguments that it did not keep, as vjp was told with saveable_args, or that were "
                    f"taken out of args_res (not-saveable): {told}",
                    "set f_vjp.args_res[i] to the argument before the call",
                )
            )
        return tuple(as_values([given[i]])[0] if own else others[i] for own, i in self.places)


def kept_by(
    values: Sequence[Any], residuals: Sequence[Any], in_tree: Any, saveable: Sequence[bool]
) -> tuple[ResidualPlaces, list[Any], list[Any]]:
    """Where the residuals are, what is kept of the arguments (`values`, their leaves), and the other residuals."""
    numbers = {id(x): i for i, x in enumerate(values)}
    others: list[Any] = []
    places: list[tuple[bool, int]] = []
    for r in residuals:
        if id(r) in numbers:
            places.append((True, numbers[id(r)]))
        else:
            places.append((False, len(others)))
            others.append(r)
    used = {i for own, i in places if own}
    leaves = [
        NotNeeded() if i not in used else x if s else NotSaveable() for i, (x, s) in enumerate(zip(values, saveable))
    ]
    kept = _in_tuples(in_tree, iter(leaves))
    return ResidualPlaces(tuple(places)), list(kept), others


def _is_leaf(structure: Any) -> bool:
    return structure.num_leaves == 1 and not structure.children()


def _in_tuples(structure: Any, leaves: Iterator[Any]) -> Any:
    if _is_leaf(structure):
        return next(leaves)
    return tuple(_in_tuples(child, leaves) for child in structure.children())


def _by_leaf(args_res: Any, in_tree: Any) -> list[Any]:
    """What is there for each leaf of the arguments; None for those of an argument that was taken out."""
    found: list[Any] = []
    parts = list(args_res) if isinstance(args_res, (list, tuple)) else []
    for k, child in enumerate(in_tree.children()):
        part = parts[k] if k < len(parts) else None
        leaves = tree.leaves(part, is_leaf=lambda x: isinstance(x, (NotNeeded, NotSaveable)))
        found += leaves if len(leaves) == child.num_leaves else [None] * child.num_leaves
    return found


def flags(given: Any, structure: Any, name: str) -> list[bool]:
    """A flag for each leaf of a structure, out of a bool, a prefix of the structure with bools, or a tuple of tuples and bools.
    Raises ValueError for anything else."""
    if isinstance(given, bool):
        return [given] * structure.num_leaves
    try:
        found = tree.broadcast_prefix(given, structure, name)
        if all(isinstance(f, bool) for f in found):
            return list(found)
    except ValueError:
        pass
    return _spread(given, structure, name)


def _spread(given: Any, structure: Any, name: str) -> list[bool]:
    if isinstance(given, bool):
        return [given] * structure.num_leaves
    if not isinstance(given, tuple):
        raise ValueError(
            f"{name} is a prefix of the arguments with bools, or a tuple-tree of bools; it holds {given!r}"
        )
    if _is_leaf(structure):
        raise ValueError(f"{name} has a tuple {given!r} where the arguments have a leaf: one bool stands there")
    children = structure.children()
    if len(children) != len(given):
        raise ValueError(
            f"{name} has {len(given)} parts where the arguments have {len(children)}: the number of children must agree"
        )
    return [f for part, child in zip(given, children) for f in _spread(part, child, name)]
