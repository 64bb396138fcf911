"""Loops in code: of blocks and the ways between them, whichever language they are written in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(slots=True)
class Loop:
    """A natural loop: the blocks from which a way leads back to its header without leaving it.

    header: the block through which all ways into it lead; blocks: all of it, in the order of the code; parent: which loop (by its
    place in the list) is the next one round it; depth: 1 for an outermost one; innermost: no other loop is in it.
    """

    header: int
    blocks: tuple[int, ...]
    parent: int | None = None
    depth: int = 1
    innermost: bool = True


def loops_of(ways: Sequence[Sequence[int]]) -> list[Loop]:
    """The natural loops of code whose block `i` leads to the blocks `ways[i]`, and which begins with block 0; outer ones first.

    A way back is one to a block that dominates it (Aho, Lam, Sethi and Ullman, Compilers, 9.6). Loops with several entries have no
    such way and are not found.
    """
    above = _dominators(ways)
    before = [[other for other in others if other in above] for others in _turned(ways)]
    found: dict[int, set[int]] = {}
    for block, following in enumerate(ways):
        for header in following:
            if _dominates(above, header, block):
                found.setdefault(header, {header}).update(_into(before, header, block))
    loops = [Loop(header, tuple(sorted(blocks))) for header, blocks in found.items()]
    loops.sort(key=lambda loop: (-len(loop.blocks), loop.header))
    for at, loop in enumerate(loops):
        for outer in range(at - 1, -1, -1):
            if loop.header in loops[outer].blocks:
                loop.parent, loop.depth = outer, loops[outer].depth + 1
                loops[outer].innermost = False
                break
    return loops


def depths_of(count: int, loops: Sequence[Loop]) -> list[int]:
    """In how many loops each of `count` blocks is."""
    depths = [0] * count
    for loop in loops:
        for block in loop.blocks:
            depths[block] = max(depths[block], loop.depth)
    return depths


def _turned(ways: Sequence[Sequence[int]]) -> list[list[int]]:
    before: list[list[int]] = [[] for _ in ways]
    for block, following in enumerate(ways):
        for other in following:
            before[other].append(block)
    return before


def _into(before: Sequence[Sequence[int]], header: int, last: int) -> set[int]:
    """The blocks from which `last` is reached without passing the header."""
    found, waiting = {last}, [last] if last != header else []
    while waiting:
        for block in before[waiting.pop()]:
            if block not in found and block != header:
                found.add(block)
                waiting.append(block)
    return found


def _order(ways: Sequence[Sequence[int]]) -> list[int]:
    """The blocks that can be reached, each before those it leads to but for ways back."""
    seen, done = {0}, []
    stack = [(0, iter(ways[0]))] if ways else []
    while stack:
        block, rest = stack[-1]
        following = next((other for other in rest if other not in seen), None)
        if following is None:
            done.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(ways[following])))
    return done[::-1]


def _dominators(ways: Sequence[Sequence[int]]) -> dict[int, int]:
    """The immediate dominator of each block that can be reached, of the first one itself (Cooper, Harvey and Kennedy, A Simple, Fast
    Dominance Algorithm, 2001)."""
    order = _order(ways)
    place = {block: at for at, block in enumerate(order)}
    before = _turned(ways)
    above: dict[int, int] = {0: 0} if order else {}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            known = [other for other in before[block] if other in above and other in place]
            nearest = known[0]
            for other in known[1:]:
                nearest = _meeting(above, place, nearest, other)
            if above.get(block) != nearest:
                above[block] = nearest
                changed = True
    return above


def _meeting(above: dict[int, int], place: dict[int, int], one: int, other: int) -> int:
    while one != other:
        while place[one] > place[other]:
            one = above[one]
        while place[other] > place[one]:
            other = above[other]
    return one


def _dominates(above: dict[int, int], header: int, block: int) -> bool:
    while block in above:
        if block == header:
            return True
        if block == 0:
            return False
        block = above[block]
    return False
