"""What share of the time belongs to a line or a named scope. A kernel's time cannot be split among the equations it computes: each
gets at least what kernels of its own take, and at most what all take that it has a part in."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar


Key = TypeVar("Key", bound=Hashable)


class Bounds(NamedTuple):
    """The least and the most that is known of a share."""

    least: float
    most: float


def bounds_of(
    kernels: Iterable[tuple[float, Sequence[str]]], owners: Mapping[str, Sequence[Key]], innermost: bool = False
) -> dict[Key, Bounds]:
    """The bounds of each owner of equations, from kernels given as (share, paths of the equations they compute).

    `owners` tells to whom an equation belongs, by path; what is inside an equation belongs to its owners, too, unless only the
    `innermost` that have owners count.
    """
    found: dict[Key, Bounds] = {}
    for share, paths in kernels:
        each = [owners_of(path, owners, innermost) for path in paths]
        alone = set.intersection(*each) if each else set()
        for key in set().union(*each):
            least, most = found.get(key, (0.0, 0.0))
            found[key] = Bounds(least + share * (key in alone), most + share)
    return found


def owners_of(path: str, owners: Mapping[str, Sequence[Key]], innermost: bool) -> set[Key]:
    """To whom the equation at a path belongs."""
    found: set[Key] = set()
    while path and not (found and innermost):
        found.update(owners.get(path, ()))
        path = path.rpartition("/")[0]
    return found
