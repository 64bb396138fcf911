"""What changed from one state of a program to the next, instruction by instruction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import Literal, NamedTuple

from jitscope.xla.hlo_module import Computation, Instruction

from .states import HOLDERS, NOTHING_COMPUTED, State, shown


Kind = Literal["removed", "added", "changed", "rewired", "fused", "moved"]
"""`rewired`: it does the same with other operands; `changed`: it does something else, or with another shape or layout."""


@dataclass(frozen=True, slots=True)
class Change:
    """One instruction before and after (None where it is not there), the computations it stands in, and the paths of the equations
    it stems from."""

    kind: Kind
    before: Instruction | None
    after: Instruction | None
    where_before: str | None
    where_after: str | None
    paths: tuple[str, ...]

    @property
    def one(self) -> Instruction:
        """The instruction as it is now, or as it was last."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def computes(self) -> bool:
        """Whether it is about something that is computed, not only brought along."""
        return any(i is not None and i.opcode not in NOTHING_COMPUTED for i in (self.before, self.after))


def changes_between(old: State, new: State) -> list[Change]:
    """What a pass did, in the order of the new program, removed instructions where they stood.

    What is gone from a computation and appears in another with the same opcode, type and origin has gone there: into a fusion
    (copies that a pass made for several fusions are that one operation, fused), or else moved, as out of a loop. Where several
    could be meant, nothing is claimed.
    """
    found = [change for left, right in paired(old, new) for change in _in(left, right, old, new)]
    gone = _by_look(change for change in found if change.kind == "removed")
    came = _by_look(change for change in found if change.kind == "added")
    pairs: dict[int, Change] = {}
    dropped: set[int] = set()
    for look, before in gone.items():
        after = came.get(look, [])
        into = [change for change in after if change.where_after in new.fused]
        if into and len(into) >= len(before):
            dropped.update(map(id, before))
            pairs.update({id(a): _joined("fused", b, a) for b, a in zip(cycle(before), into)})
        elif len(before) == len(after) == 1 and before[0].one.op_name:
            dropped.add(id(before[0]))
            there = before[0].where_before == after[0].where_after
            alike = _does(before[0].one) == _does(after[0].one)
            kind = "moved" if not there else "rewired" if alike else "changed"
            pairs[id(after[0])] = _joined(kind, before[0], after[0])
    return [pairs.get(id(change), change) for change in found if id(change) not in dropped]


class Tally(NamedTuple):
    """How many operations of a state were removed, added, …; of an operation that was fused in several places, one, the others are
    `copied`. `fusions` came less those that went: they hold operations and are none. So do `holders`: loops, conditionals
    and calls."""

    of: Mapping[Kind, int]
    copied: int
    fusions: int
    holders: Mapping[tuple[str, Kind], int]


def tally(changes: Iterable[Change], old: State, new: State) -> Tally:
    """Counts the changes as `State.operations` counts what there is: what a state has is what it had, less `removed`, with `added` and
    `copied`."""
    seen: dict[Kind, set[int]] = defaultdict(set)
    copied = fusions = 0
    holders: Counter[tuple[str, Kind]] = Counter()
    for change in changes:
        if change.one.opcode in HOLDERS:
            holders[change.one.opcode.replace("while", "loop"), change.kind] += 1
        if change.one.opcode == "fusion":
            fusions += (change.kind == "added") - (change.kind == "removed")
        was, now = old.counts(change.where_before, change.before), new.counts(change.where_after, change.after)
        if not (was or now):
            continue
        kind = (
            change.kind
            if was == now or change.before is None or change.after is None
            else "added"
            if now
            else "removed"
        )
        one = id(change.before if kind == "fused" else change)
        copied += one in seen[kind]
        seen[kind].add(one)
    return Tally({kind: len(of) for kind, of in seen.items() if of}, copied, fusions, holders)


def merged(old: State, new: State, changes: Iterable[Change]) -> dict[int, tuple[str, Instruction]]:
    """Of instructions that were removed (by `id`), the one that gave the same value and is read in their place now, with its
    computation: what common subexpression elimination keeps."""
    gone = {id(change.before) for change in changes if change.kind == "removed"}
    found = {}
    for left, right in paired(old, new):
        if left and right and any(id(i) in gone for i in left.instructions):
            found.update({i: (left.name, kept) for i, kept in _replaced(left, right, gone).items()})
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


def paired(old: State, new: State) -> list[tuple[Computation | None, Computation | None]]:
    """The computations of both states in the order of the new one, those that are gone first. Passes that rewrite one make a copy of
    another name with the old one in it (`body` becomes `wide.body.clone`): where that leaves no choice, it is the same."""
    gone = [name for name in old.computations if name not in new.computations]
    came = [name for name in new.computations if name not in old.computations]
    renamed = {}
    for name in gone:
        copies = [other for other in came if name in other]
        if len(copies) == 1 and sum(other in copies[0] for other in gone) == 1:
            renamed[copies[0]] = name
    lost = [(old.computations[name], None) for name in gone if name not in renamed.values()]
    kept = [(old.computations.get(renamed.get(name, name)), found) for name, found in new.computations.items()]
    return [*lost, *kept]


def _in(left: Computation | None, right: Computation | None, old: State, new: State) -> list[Change]:
    """What changed in one computation."""
    same = same_in(left, right) if left and right else {}
    kept = {id(i) for i in same.values()}
    found: list[Change] = []
    if left is not None:
        gone = [i for i in left.instructions if id(i) not in kept]
        found += [Change("removed", i, None, left.name, None, old.paths(left.name, i)) for i in gone]
    if left is right or right is None:
        return found
    names = {i.name: same[id(i)].name for i in right.instructions if id(i) in same}
    for i in right.instructions:
        before, paths = same.get(id(i)), new.paths(right.name, i)
        if before is None:
            found.append(Change("added", None, i, None, right.name, paths))
        elif before is not i and (kind := _difference(before, i, names)):
            assert left is not None
            found.append(Change(kind, before, i, left.name, right.name, paths))
    return found


def same_in(left: Computation, right: Computation) -> dict[int, Instruction]:
    """The instructions of a computation (by `id`) that were there before, with what they were: those of the same name, or, where the
    computation is a copy whose instructions have new names, those that stem from the same equation and look alike."""
    names = {i.name: i for i in left.instructions}
    if left.name == right.name:
        return {id(i): names[i.name] for i in right.instructions if i.name in names}
    lefts, rights = _alike(left), _alike(right)
    return {
        id(i): before
        for look, found in rights.items()
        if len(found) == len(lefts.get(look, ()))
        for i, before in zip(found, lefts[look])
    }


def _alike(computation: Computation) -> dict[tuple[object, ...], list[Instruction]]:
    found = defaultdict(list)
    for i in computation.instructions:
        kind = "" if i.opcode in NOTHING_COMPUTED else i.type
        found[i.opcode, kind, i.op_name, i.literal if i.opcode in ("parameter", "constant") else i.attributes].append(i)
    return found


def _difference(before: Instruction, after: Instruction, names: Mapping[str, str]) -> Kind | None:
    """How an instruction changed; None where it only has another name, or reads something that has another name."""
    if _does(before) != _does(after):
        return "changed"
    return "rewired" if before.operands != tuple(names.get(name, name) for name in after.operands) else None


def _does(i: Instruction) -> str:
    return shown(i._replace(operands=(), name="", called=()))


def _by_look(changes: Iterable[Change]) -> dict[tuple[object, ...], list[Change]]:
    """Changes by what can tell an instruction in another place: opcode, type and origin. (Of loops and branches not the type: passes
    change what they carry.) Of those without an origin, which passes make, that they do the same."""
    found = defaultdict(list)
    for change in changes:
        i = change.one
        if i.op_name and i.opcode not in NOTHING_COMPUTED:
            kind = "" if i.opcode in ("while", "conditional") else _type(i)
            found[i.opcode, kind, change.paths or i.op_name].append(change)
        elif i.opcode not in (*NOTHING_COMPUTED, "fusion"):
            found["", _does(i)].append(change)
    return found


def _type(i: Instruction) -> str:
    return shown(i).partition(" = ")[2].partition(f" {i.opcode}(")[0]


def _joined(kind: Kind, before: Change, after: Change) -> Change:
    return Change(kind, before.before, after.after, before.where_before, after.where_after, after.paths)
