"""What is said of a cell in which nothing was compiled, and where an error of it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType

from jitscope.core import source
from jitscope_scope.source_code.frames import entries, position_of
from jitscope_widgets.documents.annotations import CellDocument

from .jax_cells import LEFT_ALONE
from .wrapping import Plan


def why_nothing(
    plans: Sequence[Plan], document: CellDocument, failed: list[str], told: bool, values: Mapping[str, object]
) -> str:
    """One sentence for a cell in which nothing was compiled; "" where what is `told` of its error says so. `values` are what names stand
    for after the cell."""
    compiled = [one.name for plan in plans for one in plan.compiled]
    names = ", ".join(dict.fromkeys(name for name in compiled if callable(values.get(name))))
    if document["error"] and failed and told:
        return ""
    if failed:  # where the cell has no error, it caught it
        return f"{failed[-1]} could not be traced."
    if document["error"]:
        return "Nothing was compiled before the error."
    if document["reused"]:
        return "Nothing had to be compiled: the programs were there already."
    if compiled and not names:
        return (
            "Nothing was compiled: the cell calls none of its functions, and their names stand for something else now."
        )
    if compiled:
        return f"Nothing was compiled yet: {names} will be when first called with arrays."
    if any(one.reason == LEFT_ALONE for plan in plans for one in plan.left_alone):
        return "Nothing was compiled: jax compiles what is jitted when it is first called, unless disable_jit is on."
    if document["left_alone"]:
        return "Nothing was compiled: every definition in this cell stays Python."
    return (
        "Nothing was compiled: this cell defines no function, and what it calls was compiled before or is not compiled."
    )


def innermost(traceback: TracebackType | None, place_of: Callable[[str], object]) -> source.Position | None:
    """The innermost place of an error in a notebook cell, else in code that is not the library's own."""
    places = [position_of(one) for one in entries(traceback)]
    outside = [where for where in places if not source.is_internal(where.file)]
    in_cells = [where for where in outside if place_of(where.file)]
    return next(reversed(in_cells or outside), None)
