"""What options of `%%jit` show below the cell's own view: each program against an earlier one, for other chips, compiled in other ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress

from jitscope_scope import observe
from jitscope_scope.testing import limit_compilations
from jitscope_widgets.words import reason

from . import output
from .versus import Versus, title_of


def show(
    rows: Sequence[observe.Row],
    versus: Versus | None,
    target: str | None = None,
    tuning: Collection[str] = (),
    budget: limit_compilations | None = None,
) -> None:
    """What `--vs`, `--target`, `--tune`, `--untune` and, of another library's programs, `--max-compiles` asked for, of the programs of
    a cell."""
    if not rows:
        return
    if budget is not None:
        _count(rows, budget.most)
    if versus is not None:
        _compare(versus, rows)
    if target is not None:
        _aim(rows, target, versus)
    if tuning:
        from .tuning import show_rows

        show_rows(rows, tuning)


def without_programs(
    versus: Versus | None,
    target: str | None = None,
    tuning: Collection[str] = (),
    instruments: Sequence[str] = (),
    nans: bool = False,
) -> str:
    """What to say of a cell without an error that compiled no program, for which these options could show something; "" where none was
    given. What asks about a call takes functions that are not jitted, and those that were compiled before."""
    asked = [f"%{one} f(x)" for one in ("tune", "untune") if one in tuning]
    asked = [one.replace("%untune", "%tune --untune") for one in asked]
    asked += [f"%{one} f(x)" if one in _MAGICS else f"jitscope.inspect(f)(x).{one}" for one in instruments]
    asked += [f"%fusion --target={target} f(x)"] * (target is not None) + ["%nans f(x)"] * nans
    asked += [f"jitscope.inspect({versus.name})(x).compare(jitscope.inspect(f)(x))"] if versus is not None else []
    if not asked:
        return ""
    return f"jitscope: options of %%jit look at what the cell compiles, and this one compiled no program. Of any call: {', '.join(asked)}"


_MAGICS = {"profile", "memory", "passes", "values", "transformations", "communication"}


def _count(rows: Sequence[observe.Row], most: int) -> None:
    """What another library compiled more often than was allowed: it cannot be stopped on its way."""
    made = [row for row in rows if row.library and row.what in ("compiled", "recompiled") and not row.loaded]
    counts = Counter((row.library, row.title) for row in made)
    for (library, title), count in counts.items():
        if count > most:
            output.say(
                f"{library} compiled {title} {count} times, more than --max-compiles {most}; {library} is not stopped by it."
            )


def _aim(rows: Sequence[observe.Row], target: str, versus: Versus | None) -> None:
    """The programs as the compilers of other chips make them; with an earlier function, beside its."""
    from .on_target import show_for, show_versus

    if versus is None:
        for row in rows:
            show_for(row, target)
        return
    with suppress(observe.Unavailable):  # said with the comparison on the CPU
        for earlier, row in versus.pairs(list(rows)):
            show_versus(earlier, row, title_of(earlier, row), target)


def _compare(versus: Versus, rows: Sequence[observe.Row]) -> None:
    try:
        for document in versus.comparisons(list(rows)):
            output.show(document)
    except Exception as problem:
        output.say(f"jitscope: the comparison with {versus.name} cannot be shown: {reason(problem)}")
