"""The static look: sharp bits found in code that is not run. Each file has the detectors of one topic.

A detector says only what the code makes certain; what a trace or a run can tell better is left to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from ...source_code.names import Names
from ...source_code.text import Cell, Code
from ..catalogue import CATALOGUE
from ..code.walk import Event, Walk
from ..diagnostic import Diagnostic, distinct
from ..silencing import heard
from . import (
    branching,
    buffers,
    functions,
    generators,
    growing,
    host,
    kept_state,
    keys,
    masks,
    modules,
    numbers,
    optimizers,
    outside,
    shapes,
    side_effects,
    slopes,
    timing,
    updates,
)
from .diagnostics import short
from .proving import without_refuted_edits


OfEvents = Callable[[Event, Walk], Iterator[Diagnostic]]
OfPrograms = Callable[[Walk], Iterator[Diagnostic]]

OF_EVENTS: tuple[OfEvents, ...] = (
    branching.truths, branching.loops, branching.types, host.calls, host.indices, host.arrays, shapes.indices, shapes.calls,
    side_effects.prints, side_effects.stores, side_effects.names, side_effects.environment, side_effects.calls,
    updates.assignments, updates.calls, updates.views, updates.dropped, kept_state.defaults, kept_state.by_hash, growing.arrays, generators.unseeded,
)  # fmt: skip
OF_PROGRAMS: tuple[OfPrograms, ...] = (
    branching.orders, functions.made_in_loops, functions.unhashable, functions.methods, numbers.integers, keys.used_twice,
    keys.not_threaded, keys.same_for_leaves, outside.stale, side_effects.raises_in_branches, outside.donated, buffers.overwritten, timing.clocks,
    updates.rebound, kept_state.cached, optimizers.states, masks.masks, modules.lost_changes, modules.outer_streams, modules.equal_members, modules.shared_masks, modules.static_arrays,
    slopes.zeros,
)  # fmt: skip


def look(text: str, file: str, cells: Sequence[Cell] = (), known: Names | None = None) -> list[Diagnostic]:
    """The sharp bits in a program's text, in its order; none where it is not valid Python. `cells` are its cells, if it is a
    notebook, `known` the imports of cells before it."""
    try:
        code = Code(text, file, cells, known)
        return without_refuted_edits(_look(code), code, _look)
    except (SyntaxError, ValueError, RecursionError):
        return []


def _look(code: Code) -> list[Diagnostic]:
    if not any(dotted.split(".")[0] == "jax" for dotted in code.names.table.values()):
        return []
    found: list[Diagnostic] = []

    def listen(event: Event, walk: Walk) -> None:
        for detector in OF_EVENTS:
            found.extend(_as_sure(one, event, walk) for one in detector(event, walk))

    walk = Walk(code, listen)
    walk.run()
    for detector in OF_PROGRAMS:
        found.extend(detector(walk))
    unmet = [one for one in found if CATALOGUE[one.id].severity != "error" or not walk.failures.meet(one.span)]
    return heard([one.in_names(code.names) for one in distinct(unmet)], code.text)


def _as_sure(one: Diagnostic, event: Event, walk: Walk) -> Diagnostic:
    """What happens only where a test of the program lets it through, which no look can know, is not certain."""
    if one.severity == "info" or not walk.conditions:
        return one
    where, test = walk.code.line_told(walk.conditions[-1], event.node), short(walk.code, walk.conditions[-1])
    return replace(one, message=f"{one.message} It is traced only where `{test}` ({where}) lets it.", lower="info")
