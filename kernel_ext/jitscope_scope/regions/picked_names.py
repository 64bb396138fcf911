"""Names of what a mask picks: which may stand for the expression, and which get a whole array of their own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import naming


if TYPE_CHECKING:
    from .masks import Masks


def kept(body: list[ast.stmt], masks: Masks) -> set[str]:
    """Names of picked values that are arrays of their own and that each turn binds before it uses them, there alone."""
    turn = body[-1].body if len(body) == 1 and isinstance(body[-1], (ast.For, ast.While)) else body
    found: set[str] = set()
    for k, s in enumerate(turn):
        match s:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in masks.names:
                one = masks.picked(value)
                if one is None or not one.copied or one.index is None:
                    continue
                changing = naming.bound(turn) | (set() if one.start is not None else naming.stored_into(turn))
                if naming.loaded([one.mask]) & changing:
                    continue
                stores = naming.uses(name, body)
                given = [t for b in turn for t in naming.targets_of(b) if isinstance(t, ast.Name) and t.id == name]
                used = naming.loaded(turn[: k + 1]) | naming.stored_into(turn[:k])
                if name not in used and sum(isinstance(n.ctx, ast.Store) for n in stores) == len(given):
                    found.add(name)
                    masks.wholes[name] = one  # others may be made of it
    masks.wholes.clear()
    return found


def bound_once(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """What names are bound to that one plain assignment binds, and nothing else."""
    nodes = [n for s in body for n in ast.walk(s)]
    stores = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    given = [(t.id, n.value) for n in nodes if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)]
    return {name: value for name, value in given if stores.count(name) == 1}


def held(body: list[ast.stmt], masks: Masks) -> dict[str, ast.Assign]:
    """Names of picked values, each bound once in a turn, by values that the rest of the turn leaves alone."""
    found: dict[str, ast.Assign] = {}
    for turn in _turns(body):
        for k, s in enumerate(turn):
            match s:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if (one := masks.picked(value)) is not None:
                    while_used = turn[k:] if one.copied else turn[k : _last_use(name, turn)]
                    later = naming.bound(turn[k:]) | naming.stored_into(while_used)
                    others = naming.uses(name, body)
                    inside = sum(isinstance(n, ast.Name) and n.id == name for b in turn for n in ast.walk(b))
                    stores = [n for n in others if isinstance(n.ctx, ast.Store)]
                    early = naming.loaded(turn[: k + 1]) | naming.stored_into(turn)
                    alone = len(stores) == 1 and inside == len(others) and not _changes_outside(value, turn, body)
                    if alone and not naming.loaded([value]) & later and name not in early:
                        found[name] = s
    return found


def _last_use(name: str, turn: list[ast.stmt]) -> int:
    """How many statements come before the last store that may change a view after it was read; a plain statement stores when it has read."""
    last = max(k for k, s in enumerate(turn) if naming.uses(name, [s]))
    return last if isinstance(turn[last], (ast.Assign, ast.AugAssign)) else last + 1


def _turns(body: list[ast.stmt]) -> list[list[ast.stmt]]:
    """The turns of loops that stand in one another, or one after the other; the statements themselves where there are none."""
    found = [body] if not (len(body) == 1 and isinstance(body[0], (ast.For, ast.While))) else []
    for s in body:
        if isinstance(s, (ast.For, ast.While)):
            found += [s.body, *(t for t in _turns(s.body) if t is not s.body)]
    return found


def _changes_outside(value: ast.expr, turn: list[ast.stmt], body: list[ast.stmt]) -> bool:
    """Whether what a value is made of is bound or stored into by others than a turn, the heads of the loops around it, and statements of theirs
    after which the turn's loop is always come to."""
    here = {id(n) for b in turn for n in ast.walk(b)}
    own = naming.loaded([value])
    before = _come_before(turn, body)
    for s in (n for b in body for n in ast.walk(b) if isinstance(n, ast.stmt) and id(n) not in here):
        around = isinstance(s, (ast.For, ast.While)) and any(id(n) in here for n in ast.walk(s))
        if not around and id(s) not in before and own & {naming.root_of(t) for t in naming.targets_of(s)}:
            return True
    return False


def _come_before(turn: list[ast.stmt], body: list[ast.stmt]) -> set[int]:
    """The plain statements of the loops around a turn from which nothing leaves before the turn's loop, which has as many turns each time."""
    found: set[int] = set()
    loops = [n for b in body for n in ast.walk(b) if isinstance(n, (ast.For, ast.While)) and _holds(n, turn)]
    changing = naming.bound(body) | naming.stored_into(body)
    inner = {id(n) for n in loops if isinstance(n, ast.For) and not naming.loaded([n.iter]) & changing}
    for around in loops:
        inside = [n for n in loops if n is not around and any(n is m for m in ast.walk(around))]
        at = next((k for k, s in enumerate(around.body) if s in inside), 0)
        if {id(n) for n in inside} <= inner:
            while at > 0 and isinstance(around.body[at - 1], (ast.Assign, ast.AugAssign, ast.Expr)):
                at -= 1
                found.add(id(around.body[at]))
    return found


def _holds(loop: ast.For | ast.While, turn: list[ast.stmt]) -> bool:
    return any(isinstance(n, (ast.For, ast.While)) and n.body is turn for n in ast.walk(loop))
