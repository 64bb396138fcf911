"""Runs of equations of one call of a user's function, or of one named scope."""

from __future__ import annotations

import dis
import functools
import itertools
from collections.abc import Mapping, Sequence
from types import CodeType

from ..stacks import EquationOrigin, Frame, Stack
from .blocks import Block, Item, leaves
from .names import function_name, library_name, name_of_line


MANY_CALLS = 6
"""So many calls from one place are gathered."""


def shared_depth(stacks: Sequence[Stack]) -> int:
    """How many calls all stacks have in common."""
    first, depth = stacks[0], min(map(len, stacks))
    for stack in stacks[1:]:
        while depth and (
            stack[: depth - 1] != first[: depth - 1] or stack[depth - 1].code is not first[depth - 1].code
        ):
            depth -= 1
    return max(depth - 1, 0)


def runs(places: Sequence[EquationOrigin], start: int = 0) -> list[Item]:
    """The equations as nested runs; the first `start` calls are left out. Where a call and a named scope begin together, the
    longer one is outside."""
    return _Runs(dict(enumerate(places))).between(0, len(places), start, 0)


MANY_OF_A_CALL = 6
"""So many equations that one call of a library wrote are a group."""


class _Runs:
    def __init__(self, places: Mapping[int, EquationOrigin]):
        self.places = places

    def between(self, start: int, end: int, depth: int, named: int) -> list[Item]:
        """`depth` calls and `named` scopes are around the run already."""
        items: list[Item] = []
        at, own = start, None
        while at < end:
            if self.places[at] is own:
                items.append(at)
                at += 1
                continue
            call_end, scope_end = self.call_end(at, end, depth), self.scope_end(at, end, named)
            if call_end is None and scope_end is None:
                own = self.places[at]
            elif call_end is None or (scope_end is not None and scope_end >= call_end):
                assert scope_end is not None
                inside = self.between(at, scope_end, depth, named + 1)
                items.append(Block("named scope", self.places[at].scopes[named], inside))
                at = scope_end
            else:
                inside = self.between(at, call_end, depth + 1, named)
                items.append(Block("function", self.label(at, depth), inside, [self.places[at].stack[depth]]))
                at = call_end
        items = _together(items)
        self.count(items, depth)
        return self.calls(items, depth, named)

    def count(self, items: Sequence[Item], depth: int) -> None:
        """How many calls from one place are among items: where something stands between them, a group may go on with the call before."""
        sites = [(_site(item), item) for item in items if isinstance(item, Block) and not item.several]
        beside: dict[tuple[str, Frame], list[Block]] = {}
        for site, block in sites:
            if site is not None:
                beside.setdefault(site, []).append(block)
        for own in beside.values():
            if len(own) > 1:
                times = len(own) if all(self.apart(*two, depth) for two in itertools.pairwise(own)) else 0
                for block in own:
                    block.times = times

    def apart(self, first: Block, second: Block, depth: int) -> bool:
        """Whether two groups at one place are certainly two calls."""
        place = self.places[leaves([first])[-1]]
        last, now = (self.places[n].stack[depth + 1] for n in (leaves([first])[-1], leaves([second])[0]))
        return _another_call(last.code, last.offset, now.offset, place.backward)

    def label(self, at: int, depth: int) -> str:
        place = self.places[at]
        name = self.name(place.stack[depth + 1].code)
        return f"{name} (backward)" if place.backward else name

    def name(self, code: CodeType) -> str:
        return function_name(code)

    def calls(self, items: list[Item], depth: int, named: int) -> list[Item]:
        """The items with the equations of one call of a library's function as one block, where there are many."""
        found: list[Item] = []
        for frame, same in itertools.groupby(items, lambda item: self.own_frame(item, depth)):
            own = list(same)
            if frame is None or len(own) < MANY_OF_A_CALL:
                found += own
                continue
            first, last = leaves(own)[0], leaves(own)[-1]
            inside = _LibraryRuns(self.places, first, last + 1, frame).between(first, last + 1, 0, named)
            label = name_of_line([frame])
            if not label or len(own) == len(items):
                found += inside
                continue
            backward = " (backward)" if self.places[first].backward else ""
            found.append(Block("line", label + backward, inside, [frame]))
        return found

    def own_frame(self, item: Item, depth: int) -> Frame | None:
        """Where the function that `depth` calls lead to called a library's for an equation."""
        if isinstance(item, Block):
            return None
        place = self.places[item]
        return place.stack[depth] if len(place.stack) == depth + 1 and place.library else None

    def scope_end(self, at: int, end: int, named: int) -> int | None:
        """Where the run of a named scope ends; None: there is no scope."""
        first = self.places[at].scopes
        if len(first) <= named:
            return None
        for i in range(at + 1, end):
            scopes = self.places[i].scopes
            if scopes is not first and (len(scopes) <= named or scopes[named] != first[named]):
                return i
        return end

    def call_end(self, at: int, end: int, depth: int) -> int | None:
        """Where a run of one call ends; None: the equation is the caller's own. In code without loops each instruction runs
        once: where the run steps back, another call begins. Calls of code with loops cannot be told apart."""
        stack, backward = self.places[at].stack, self.places[at].backward
        if len(stack) < depth + 2:
            return None
        caller, inside = stack[depth], stack[depth + 1]
        last, before = inside.offset, stack
        for i in range(at + 1, end):
            other = self.places[i]
            if other.stack is before and other.backward == backward:
                continue
            before = other.stack
            if other.backward != backward or len(before) < depth + 2 or before[depth] != caller:
                return i
            now = before[depth + 1]
            if now.code is not inside.code or _another_call(inside.code, last, now.offset, backward):
                return i
            last = now.offset
        return end


class _LibraryRuns(_Runs):
    """The same within one call of a library's function, at `caller`: runs of calls of what it calls."""

    def __init__(self, places: Mapping[int, EquationOrigin], start: int, end: int, caller: Frame):
        super().__init__({at: _inside(places[at], caller) for at in range(start, end)})
        self.caller = caller

    def name(self, code: CodeType) -> str:
        return library_name(code)

    def count(self, items: Sequence[Item], depth: int) -> None:
        """Nothing: that they were called from one place of the user's says nothing of the library's."""

    def calls(self, items: list[Item], depth: int, named: int) -> list[Item]:
        """What blocks hold was called where the user called the library."""
        for item in items:
            if isinstance(item, Block) and item.calls:
                item.calls = [self.caller]
        return items


def _inside(place: EquationOrigin, caller: Frame) -> EquationOrigin:
    return place._replace(stack=(caller, *place.library))


def _together(items: list[Item]) -> list[Item]:
    """Many calls from one place, one after the other, as one block."""
    found: list[Item] = []
    for site, same in itertools.groupby(items, _site):
        calls = list(same)
        if site is not None and len(calls) >= MANY_CALLS:
            label, caller = site
            found.append(Block("function", f"{label}, {len(calls):,} calls", calls, [caller], several=True))
        else:
            found += calls
    return found


def _site(item: Item) -> tuple[str, Frame] | None:
    return (item.label, item.calls[0]) if isinstance(item, Block) and item.what == "function" else None


def _another_call(code: CodeType, last: int, now: int, backward: bool) -> bool:
    """Whether an equation at the offset `now` cannot belong to the call that the one before it, at `last`, belongs to: time went
    back, and no loop goes round both. (A backward pass goes through a call from its end.)"""
    low, high = sorted((last, now))
    steps_back = now > last if backward else now < last
    return steps_back and not any(start <= low and high <= end for start, end in loops_of(code))


@functools.lru_cache(4096)
def loops_of(code: CodeType) -> list[tuple[int, int]]:
    """The loops in a function: offsets of the first instruction and of the one that jumps back."""
    instructions = dis.get_instructions(code)
    return [(i.argval, i.offset) for i in instructions if "JUMP_BACKWARD" in i.opname]
