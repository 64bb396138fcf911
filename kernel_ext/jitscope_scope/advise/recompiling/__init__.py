"""Edits of the user's own code that spare recompilations. Each is run on the recorded calls before it is offered (`checking`)."""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from jitscope.core.source import edits_typed, lines_of

from ...observe.recompiling.cards import EditRefusal, FileEdit
from ...observe.recompiling.groups import Group
from ...source_code.edits import applied
from . import arguments, filling, hoisting, padding, statics
from .checking import StillRuns, Wrong, prove
from .sites import ProposedEdit, UncheckedEdit, silent_sites


_EDITS: dict[str, Callable[[Group], ProposedEdit | None]] = {
    "shape": padding.padded,
    "tree structure": filling.filled,
    "none": filling.filled,
    "donation": statics.kept,
    "dtype": arguments.converted,
    "weak type": arguments.converted,
    "call form": arguments.by_position,
    "static value": statics.traced,
    "static object": statics.compared,
    "function": hoisting.hoisted,
    "closure": hoisting.passed,
}


_OF_RECORDED_CALLS = ("shape", "tree structure", "none")
"""Causes whose edits change what some calls pass, and may take the program from others."""

_LATER = "An edit is looked for once the cell has run."

_known: OrderedDict[Any, FileEdit | EditRefusal | None] = OrderedDict()
_MOST_KNOWN = 64


def edited(group: Group) -> FileEdit | EditRefusal | None:
    """The edits that do what the remedy of a group says, after they were run on its recorded calls; those that give another result, that
    need no fewer programs, or that cannot be run are refused. None where it takes more than editing, or where the code does not tell."""
    key = (group.cause, *(row.id for row in group.history))
    if key not in _known:
        found = _edited(group)
        if isinstance(found, EditRefusal) and found.why == _LATER:
            return found  # and it is asked again
        _known[key] = found
        while len(_known) > _MOST_KNOWN:
            _known.popitem(last=False)
    return _known[key]


def _edited(group: Group) -> FileEdit | EditRefusal | None:
    make = _EDITS.get(group.cause)
    try:
        found = make(group) if make else None
        if found is None or not found.edits:
            return None
        if group.cause in _OF_RECORDED_CALLS and silent_sites(group, found.code):
            return EditRefusal(
                "No edit is offered: other lines call it too, and which program they found is not recorded.", False
            )
        ast.parse(applied(found.code.text, found.edits))
        edits = edits_typed(found.code.file, [edit.parts for edit in found.edits])
        if not edits:
            return None
        proof = prove(group, found)
    except (SyntaxError, ValueError, RecursionError):
        return None
    except StillRuns:
        return EditRefusal(_LATER, False)
    except UncheckedEdit as error:
        return EditRefusal(f"No edit is offered, since none could be run on the recorded calls: {error}.", False)
    except Wrong as error:
        return EditRefusal(f"No edit is offered: run on the recorded calls, {error}.", True)
    if proof.programs >= len(group.history):
        return EditRefusal("No edit is offered: run on the recorded calls, it needs as many programs.", True)
    return FileEdit(found.text, found.code.file, lines_of(found.code.file), edits, proof.programs, proof.exact)
