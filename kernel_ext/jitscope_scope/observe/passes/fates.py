"""What became of each equation: the passes in which its operations were fused, merged with equal ones, or lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .changes import Change, merged
from .states import State


What = Literal["fused", "library", "merged", "gone"]


@dataclass(frozen=True, slots=True)
class Fate:
    """Something that happened to the operations of one equation.

    state: the number of the state in which it shows; what: `fused` into kernels, all that was outside of them (`library`: into a
    call of a routine), `merged` with equal operations of other equations, or `gone`: no operation bears its name any more, either
    because nothing needs its value or because it was rewritten into something without a name; into: names of the kernels, or paths
    of the other equations.
    """

    path: str
    state: int
    what: What
    into: tuple[str, ...] = ()


def fates_of(states: Sequence[State], changes: Sequence[Sequence[Change]]) -> list[Fate]:
    """All of a program's, in the order of states; `changes[k]` lead from state k to state k + 1."""
    found: list[Fate] = []
    before = _Places(states[0])
    for number, (old, new, between) in enumerate(zip(states, states[1:], changes), 1):
        if between:
            after = _Places(new)
            found += _between(before, after, number, _merged(old, new, between))
            before = after
    return found


class _Places:
    """Where the operations of each equation are in one state: outside of fusions, and in which of them. A bitcast computes nothing:
    outside it counts only for equations of which nothing else is left."""

    def __init__(self, state: State):
        self.outside: set[str] = set()
        self.kernels: dict[str, dict[str, None]] = {}
        bitcasts: set[str] = set()
        for computation, i in state.computing():
            kernel = state.fused.get(computation.name)
            for path in state.paths(computation.name, i):
                if kernel is None:
                    (bitcasts if i.opcode == "bitcast" else self.outside).add(path)
                else:
                    self.kernels.setdefault(path, {})[kernel] = None
        self.outside |= bitcasts - self.kernels.keys()
        self.library = {i.name for _, i in state.instructions() if i.opcode == "fusion" and i.kind == "kCustom"}

    @property
    def paths(self) -> set[str]:
        return self.outside | self.kernels.keys()


def _between(before: _Places, after: _Places, number: int, equal: Mapping[str, tuple[str, ...]]) -> list[Fate]:
    found = []
    for path in sorted(before.paths - after.paths, key=_order):
        into = equal.get(path, ())
        found.append(Fate(path, number, "merged" if into else "gone", into))
    for path in sorted((before.outside - after.outside) & after.kernels.keys(), key=_order):
        into = tuple(after.kernels[path])
        found.append(Fate(path, number, "library" if after.library.issuperset(into) else "fused", into))
    return found


def _merged(old: State, new: State, changes: Sequence[Change]) -> dict[str, tuple[str, ...]]:
    """Equations whose removed operations all had equals that stay, with the equations of those."""
    equal = merged(old, new, changes)
    kept: dict[str, dict[str, None]] = {}
    lost: set[str] = set()
    for change in changes:
        if change.kind != "removed" or not change.computes:
            continue
        same = equal.get(id(change.before))
        if same is None:
            lost.update(change.paths)
        else:
            others = old.paths(*same)
            for path in change.paths:
                kept.setdefault(path, {}).update((other, None) for other in others if other != path)
    return {path: tuple(others) for path, others in kept.items() if path not in lost and others}


def _order(path: str) -> list[int]:
    return [int("".join(filter(str.isdigit, step)) or 0) for step in path.split("/")]
