"""What a change of a program would do to its memory, told by compiling the changed program; nothing is estimated."""

from __future__ import annotations

import re
from typing import Any

from jitscope.xla.dumps import Source, compiled_once_more

from ...backend.compile import lower_closed
from ...backend.donating import usable
from ...core.jaxpr import ClosedJaxpr
from ..ledger import Row
from ..timing import quantity
from .lifetimes import KINDS, buffers_of, curve_of
from .plan import plan_of


Document = dict[str, Any]


def changes_of(row: Row) -> list[Document]:
    """The changes that can be tried: to donate an argument of the call, where a result can take memory of it that it does not take
    already."""
    return [
        {
            "id": f"donate:{name}",
            "text": f"donate {name}",
            "what": "donation",
            "edits": [],
            "position": None,
            "tried": None,
        }
        for name in _donations(row)
    ]


def tried(row: Row, change: str) -> Document:
    """What came of a change: the most bytes in use, the bytes that XLA reserves, and those of temporaries and of arguments that results
    take; in how many seconds. Raises LookupError for a change that cannot be tried."""
    donations = _donations(row)
    name = change.removeprefix("donate:")
    closed = row.closed
    if name not in donations or closed is None or row.entry is None:
        raise LookupError(
            f"{change!r} cannot be tried; there are {', '.join(f'donate:{one}' for one in donations) or 'no changes'}"
        )
    known = row.entry
    taken = donations[name]
    told = compiled_once_more(Source(lower_closed(closed, taken), known.executable, known.overrides))
    plan = plan_of(told)
    curve = curve_of(plan, buffers_of(plan))
    return {
        "peak": curve.at(curve.peak()),
        "reserved": sum(map(plan.total, KINDS)),
        "temporary": plan.total("temporary"),
        "aliased": sum(a.size for a in plan.allocations if a.aliased),
        "seconds": quantity(told.seconds, "s", note="compiled with the change, not run"),
        "note": f"what is given as {name} is gone after the call",
    }


def _donations(row: Row) -> dict[str, list[int]]:
    """By argument of the call, the numbers of all arrays that would be donated: those of the argument that a result can take, and
    those that are donated already."""
    closed, signature, takes = row.closed, row.signature, row.takes
    if row.library:
        return {}  # a program of another library cannot be lowered anew here
    if closed is None or signature is None or takes is None or len(signature.leaves) != len(closed.in_avals):
        return {}
    of_name: dict[str, list[int]] = {}
    for number, leaf in enumerate(signature.leaves):
        of_name.setdefault(re.split(r"[.\[]", leaf.path, maxsplit=1)[0], []).append(number)
    found = {}
    for name, numbers in of_name.items():
        taken = _usable(closed, [*takes.donated, *numbers], takes.arguments[1])
        if set(taken) - set(takes.donated):
            found[name] = taken
    return found


def _usable(closed: ClosedJaxpr, numbers: list[int], kept: list[int]) -> list[int]:
    return list(usable(closed, sorted(set(numbers)), kept)[0])
