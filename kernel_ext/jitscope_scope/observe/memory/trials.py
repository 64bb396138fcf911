"""What a change of a program would do to its memory, told by compiling the changed program; nothing is estimated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jitscope.backend.compile import lower_closed
from jitscope.backend.donating import usable
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import ClosedJaxpr
from jitscope.xla import hlo_module
from jitscope.xla.dumps import Source, compiled_once_more

from ...annotations import ChangeKind, MemoryChange, Position, Quantity, TriedChange
from ..cost import work_of
from ..ledger import Row
from ..timing import quantity
from .checkpoints import Place, checkpointed_again, places_of
from .lifetimes import KINDS, buffers_of, curve_of
from .plan import plan_of, text_of


def changes_of(row: Row, positions: Mapping[str, Position]) -> list[MemoryChange]:
    """The changes that can be tried: to donate an argument of the call, where a result can take memory of it that it does not take
    already, and to checkpoint what is differentiated. `positions` gives the source position of each equation's path."""
    donations = [_change("donation", f"donate:{name}", f"donate {name}", None) for name in _donations(row)]
    places = _places(row)
    return [
        *donations,
        *(_change("checkpoint", ident, place.text, positions.get(place.path)) for ident, place in places.items()),
    ]


def _change(what: ChangeKind, ident: str, text: str, position: Position | None) -> MemoryChange:
    return {"id": ident, "text": text, "what": what, "edits": [], "position": position, "tried": None}


def _places(row: Row) -> dict[str, Place]:
    """The places for `checkpoint`, by the ids of the changes."""
    if row.library or row.again is None or row.jaxpr is None or row.takes is None:
        return {}
    return {f"checkpoint:{place.path or 'all'}": place for place in places_of(row.jaxpr)}


def try_change(row: Row, change: str) -> TriedChange:
    """What came of a change: the most bytes in use, the bytes that XLA reserves, and those of temporaries and of arguments that results
    take; the floating-point operations of a run, and of one without the change; in how many seconds it was compiled. Raises
    Unavailable for a change that cannot be tried."""
    donations, places = {f"donate:{name}": taken for name, taken in _donations(row).items()}, _places(row)
    known, closed, takes = row.entry, row.closed, row.takes
    if change not in {**donations, **places} or closed is None or known is None or takes is None:
        raise Unavailable(f"{change!r} cannot be tried; there are {', '.join([*donations, *places]) or 'no changes'}")
    if change in donations:
        lowered = lower_closed(closed, donations[change])
        note = f"what is given as {change.removeprefix('donate:')} is gone after the call"
    else:
        lowered = lower_closed(checkpointed_again(row, places[change]), takes.donated)
        note = "values inside are computed again for the derivative instead of kept"
    told = compiled_once_more(Source.of(known)._replace(lowered=lowered))
    plan = plan_of(told)
    curve = curve_of(plan, buffers_of(plan))
    return {
        "peak": curve.at(curve.peak()),
        "reserved": sum(map(plan.total, KINDS)),
        "temporary": plan.total("temporary"),
        "aliased": sum(a.size for a in plan.allocations if a.aliased),
        "flops": _flops(hlo_module.from_text(text_of(told, "after_optimizations.txt"))),
        "flops_before": _flops(hlo_module.optimized(known.executable)),
        "seconds": quantity(told.seconds, "s", note="compiled with the change, not run"),
        "note": note,
    }


def verdict(result: TriedChange, peak: int, reserved: float) -> TriedChange:
    """What came of a change, which says so where neither of these bytes, those of the program as it is, became fewer."""
    fewer = [now < before for now, before in ((result["peak"], peak), (result["reserved"], reserved))]
    if any(fewer):
        return result
    return {**result, "note": f"this does not help here; {result['note']}"}


def _flops(module: Any) -> Quantity:
    work = work_of(module)
    return quantity(work.flops, "flop", "modelled", work.why)


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
