"""Names that a branch on a value makes stand for one array (`if lower: best = x`): the region notes whether they do in the end, and the one is
bound to the other's array only then; and such as a branch puts last into a list."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from . import naming
from .bounds import own_part
from .parts import EditText, placed_at
from .watching import Visit


Pair = tuple[str, str]


def noted(
    body: naming.Statements, visit: Visit, live: set[str], name: str
) -> tuple[naming.Statements, Visit, dict[str, Pair]]:
    """The statements with a flag for each two names that may be one array in the end because a branch was taken, what was seen with them, and
    the names by flag; nothing of it where no branch decides."""
    pairs = [p for p in _under_branches(body) if set(p) <= live and _may_be_one(p, visit)]
    if not pairs:
        return body, visit, {}
    flags = {f"{name}_{a}_is_{b}": (a, b) for a, b in dict.fromkeys(pairs)}
    new = [t for s in body for t in _noted(copy.deepcopy(s), flags)]
    before = {
        flag: visit.live.get(a) is not None and visit.live.get(a) is visit.live.get(b) for flag, (a, b) in flags.items()
    }
    after = {flag: visit.ends.get(a) is visit.ends.get(b) for flag, (a, b) in flags.items()}
    apart = {a: np.array(visit.ends[a]) for flag, (a, _) in flags.items() if after[flag]}
    ends = {**visit.ends, **apart, **after}
    return (
        tuple(new),
        replace(visit, values={**visit.values, **before}, after={**visit.after, **after}, ends=ends),
        flags,
    )


def _under_branches(body: naming.Statements) -> list[Pair]:
    found = []
    for s in naming.statements(body):
        if isinstance(s, ast.If):
            found += [p for t in naming.statements([*s.body, *s.orelse]) for p in _made_one(t)]
    return found


def _made_one(s: ast.stmt) -> list[Pair]:
    """The names that an assignment gives another name's array to, each with the other."""
    if not isinstance(s, ast.Assign):
        return []
    names = [t.id for t in naming.targets_of(s) if isinstance(t, ast.Name)]
    parts = {n: own_part(s, n) for n in names}
    return [(n, p.id) for n, p in parts.items() if isinstance(p, ast.Name) and p.id not in names]


def _may_be_one(pair: Pair, visit: Visit) -> bool:
    a, b = (visit.ends.get(n) for n in pair)
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    return not any(a is v for v in visit.live.values())


def _noted(s: ast.stmt, flags: Mapping[str, Pair]) -> list[ast.stmt]:
    """A statement with the flags of the names that it binds after it."""
    for block in ("body", "orelse"):
        if isinstance(inner := getattr(s, block, None), list):
            setattr(s, block, [t for one in inner for t in _noted(one, flags)])
    if not isinstance(s, (ast.Assign, ast.AnnAssign)):
        return [s]
    names, made = {t.id for t in naming.targets_of(s) if isinstance(t, ast.Name)}, _made_one(s)
    told = [f"{flag} = {pair in made}" for flag, pair in flags.items() if names & {*pair}]
    return [s, *(placed_at(ast.parse(text).body[0], s) for text in told)]


def restored(edit: EditText, flags: Mapping[str, Pair], values: Mapping[str, object]) -> EditText:
    """The edit that binds the names to one array where their flag says so: to that which a list has last, where it does."""
    known = lambda pair: all(n in values for n in pair)
    start = [f"{flag} = {a} is {b}" if known((a, b)) else f"{flag} = False" for flag, (a, b) in flags.items()]
    taken = {line.strip().partition(" = ")[0] for line in edit.call if line.endswith("[-1]")}
    end = []
    for flag, (a, b) in flags.items():
        end += [f"if {flag}:", f"    {b} = {a}" if a in taken else f"    {a} = {b}"]
    reads = tuple(n for n in edit.reads if n not in flags)
    return replace(edit, call=(*start, *edit.call, *end, f"del {', '.join(flags)}"), reads=reads)
