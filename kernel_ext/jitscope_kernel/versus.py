"""`%%jit --vs NAME`: the functions of a cell against an earlier function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jitscope_scope import jaxwatch, observe
from jitscope_scope.observe.comparing.document import comparison_of
from jitscope_scope.observe.comparing.sides import side_of
from jitscope_widgets.documents.annotations import ComparisonDocument

from .user_calls import is_jitted, wraps_jitted


def rows_of(ledger: observe.Ledger, name: str | None, function: Any = None) -> list[observe.Row]:
    """The rows of what is called so (all for None), or else of the code of a function that has this name for the user:
    `f = jit(lambda x: …)`."""
    rows = ledger.function_rows(name)
    at = jaxwatch.definition(function) if not rows and callable(function) else None
    places = [(row, row.position) for row in ledger] if at is not None else []
    return rows or [row for row, place in places if place and at and (place.file, place.line) == (at.file, at.line)]


class Versus:
    """The programs there are of a function before a cell runs; they are kept while it does, as the cell may define it anew."""

    def __init__(self, name: str, ledger: observe.Ledger, names: Mapping[str, Any]) -> None:
        self.name = name
        self._function = names.get(name)
        self._held: list[tuple[observe.Row, Any]] = []
        for row in reversed(rows_of(ledger, name, names.get(name))):
            if (entry := row.entry) is not None and not row.nested:
                self._held.append((row, entry))

    def comparisons(self, rows: list[observe.Row]) -> list[ComparisonDocument]:
        """One of each pair; raises what `pairs` raises."""
        return [self._compared(earlier, row) for earlier, row in self.pairs(rows)]

    def pairs(self, rows: list[observe.Row]) -> list[tuple[observe.Row, observe.Row]]:
        """Each program of the cell with one of the earlier function that takes the same. Raises Unavailable with a sentence where there is
        none."""
        if not self._held:
            raise observe.Unavailable(
                f"{self.name} is not jitted, and has no program: jit it and call it in an earlier cell, or ask for "
                f"jitscope.inspect({self.name})(x).compare(jitscope.inspect(f)(x))"
                if callable(self._function) and not is_jitted(self._function) and not wraps_jitted(self._function)
                else f"there is no program of {self.name} from before this cell: call it first, in an earlier cell"
            )
        named = [row for row in rows if row.function == self.name] or rows
        pairs = [(earlier, row) for row in named if (earlier := self._like(row)) is not None]
        if not pairs:
            raise observe.Unavailable(
                f"no function of this cell was compiled for arguments of the shapes and dtypes that {self.name} had before it, with the same "
                "transformations"
            )
        return pairs

    def _like(self, row: observe.Row) -> observe.Row | None:
        """The newest program of the earlier function for arguments like the row's, with the same transformations: a gradient is no function
        that another one takes the place of."""
        wanted = _takes(row), _transformed(row)
        return next(
            (one for one, _ in self._held if one is not row and (_takes(one), _transformed(one)) == wanted), None
        )

    @staticmethod
    def _compared(earlier: observe.Row, row: observe.Row) -> ComparisonDocument:
        return comparison_of(side_of(earlier, row.given, title_of(earlier, row)), side_of(row))


def title_of(earlier: observe.Row, row: observe.Row) -> str:
    """What an earlier program is called beside a row's."""
    return f"{earlier.title} (before)" if earlier.title == row.title else earlier.title_with_line


def _takes(row: observe.Row) -> Any:
    return [str(v.aval) for v in row.jaxpr.invars] if row.jaxpr else row.id


def _transformed(row: observe.Row) -> str:
    """What the row's title says beside the name of its function: `grad of `."""
    return row.title.replace(row.function, "", 1)
