"""What options of `%%jit` show below the cell's own view: each program against an earlier one, for other chips, compiled in other ways."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from jitscope_scope import observe
from jitscope_widgets.words import reason

from . import output
from .versus import Versus


def show(
    rows: Sequence[observe.Row], versus: Versus | None, target: str | None = None, tuning: Collection[str] = ()
) -> None:
    """What `--vs`, `--target`, `--tune` and `--untune` asked for, of the programs of a cell."""
    if versus is not None and rows:
        _compare(versus, rows)
    if target is not None:
        from .on_target import show_for

        for row in rows:
            show_for(row, target)
    if tuning:
        from .tuning import show_rows

        show_rows(rows, tuning)


def _compare(versus: Versus, rows: Sequence[observe.Row]) -> None:
    try:
        for document in versus.comparisons(list(rows)):
            output.show(document)
    except Exception as problem:
        output.say(f"jitscope: the comparison with {versus.name} cannot be shown: {reason(problem)}")
