"""What changed from one state of a program to the next, instruction by instruction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from jitscope.xla.hlo_module import Computation, Instruction

from .states import NOTHING_COMPUTED, State, shown


Kind = Literal["removed", "added", "changed", "rewired", "fused", "moved"]
"""`rewired`: it does the same with other operands; `changed`: it does something else, or with another shape or layout."""


@dataclass(frozen=True, slots=True)
class Change:
    """One instruction before and after (None where it is not there), and the computations it stands in."""

    kind: Kind
    before: Instruction | None
    after: Instruction | None
    where_before: str | None
    where_after: str | None

    @property
    def computes(self) -> bool:
        """Whether it is about something that is computed, not only brought along."""
        return any(i is not None and i.opcode not in NOTHING_COMPUTED for i in (self.before, self.after))


def changes_between(old: State, new: State) -> list[Change]:
    """What a pass did, in the order of the new program, removed instructions where they stood.

    Instructions of one computation are the same if they have the same name. One that is gone from a computation and appears in
    another with the same opcode, shape and origin has gone there: into a fusion (copies that a pass made for several fusions are
    that one operation, fused), or else moved, as out of a loop. Where several could be meant, nothing is claimed.
    """
    found = [change for name in _names(old, new) for change in _in(name, old, new)]
    gone = _by_look(change for change in found if change.kind == "removed")
    came = _by_look(change for change in found if change.kind == "added")
    pairs: dict[int, Change] = {}
    dropped: set[int] = set()
    for look, before in gone.items():
        after = came.get(look, [])
        into = [change for change in after if change.where_after in new.fused]
        if into and len(into) >= len(before):
            dropped.update(map(id, before))
            pairs.update({id(b): _joined("fused", a, b) for a, b in zip(_cycled(before, len(into)), into)})
        elif len(before) == len(after) == 1:
            dropped.add(id(before[0]))
            pairs[id(after[0])] = _joined("moved", before[0], after[0])
    return [pairs.get(id(change), change) for change in found if id(change) not in dropped]


def counts_of(changes: Iterable[Change]) -> dict[Kind, int]:
    """How many operations were removed, added, …; of an operation that was fused in several places, one."""
    seen: dict[Kind, set[int]] = defaultdict(set)
    for change in changes:
        if change.computes:
            seen[change.kind].add(id(change.before if change.kind == "fused" else change))
    return {kind: len(of) for kind, of in seen.items()}


def merged(old: State, new: State, changes: Iterable[Change]) -> dict[int, Instruction]:
    """Of instructions that were removed (by `id`), the one that gave the same value and is read in their place now: what common
    subexpression elimination keeps."""
    gone = {id(change.before) for change in changes if change.kind == "removed"}
    found: dict[int, Instruction] = {}
    for name, computation in old.computations.items():
        if name in new.computations and any(id(i) in gone for i in computation.instructions):
            found.update(_replaced(computation, new.computations[name], gone))
    return found


def _replaced(old: Computation, new: Computation, gone: set[int]) -> dict[int, Instruction]:
    equal = _equals(old, gone)
    reads = {i.name: i.operands for i in new.instructions}
    found: dict[int, Instruction] = {}
    followed: set[str] = set()  # merged themselves, or reading now what was kept
    for user in reversed(old.instructions):
        for name in user.operands:
            if name in equal and (user.name in followed or equal[name][1].name in reads.get(user.name, ())):
                followed.add(name)
        if user.name in followed:
            gone_one, kept = equal[user.name]
            found[id(gone_one)] = kept
    return found


def _equals(computation: Computation, gone: set[int]) -> dict[str, tuple[Instruction, Instruction]]:
    """The instructions that are gone, by name, each with the first that gives the same value and is not."""
    known: dict[tuple[object, ...], Instruction] = {}
    same: dict[str, str] = {}
    found = {}
    for i in computation.instructions:
        if i.opcode == "parameter":
            continue
        value = (i.opcode, i.type, i.literal, i.attributes, tuple(same.get(name, name) for name in i.operands))
        first = known.setdefault(value, i)
        if first is not i:
            same[i.name] = first.name
            if id(i) in gone and id(first) not in gone:
                found[i.name] = (i, first)
    return found


def _names(old: State, new: State) -> list[str]:
    return [*(name for name in old.computations if name not in new.computations), *new.computations]


def _in(name: str, old: State, new: State) -> list[Change]:
    """What changed in one computation."""
    before, after = old.computations.get(name), new.computations.get(name)
    lefts = {i.name: i for i in before.instructions} if before else {}
    rights = {i.name: i for i in after.instructions} if after else {}
    found = []
    for key, left in lefts.items():
        if key not in rights:
            found.append(Change("removed", left, None, name, None))
    for key, right in rights.items():
        left = lefts.get(key)
        if left is None:
            found.append(Change("added", None, right, None, name))
        elif left is not right and shown(left) != shown(right):
            found.append(Change("changed" if _does(left) != _does(right) else "rewired", left, right, name, name))
    return found


def _does(i: Instruction) -> str:
    return shown(i._replace(operands=(), name="", called=()))


def _by_look(changes: Iterable[Change]) -> dict[tuple[str, str, str], list[Change]]:
    """Changes by what can tell an instruction in another place: opcode, type and origin."""
    found = defaultdict(list)
    for change in changes:
        i = change.before or change.after
        assert i is not None
        if i.op_name and i.opcode not in NOTHING_COMPUTED:
            found[i.opcode, shown(i).partition(" = ")[2].partition(" ")[0], i.op_name].append(change)
    return found


def _joined(kind: Kind, before: Change, after: Change) -> Change:
    return Change(kind, before.before, after.after, before.where_before, after.where_after)


def _cycled(items: list[Change], count: int) -> list[Change]:
    return [items[n % len(items)] for n in range(count)]
