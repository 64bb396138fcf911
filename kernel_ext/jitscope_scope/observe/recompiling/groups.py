"""Compilations and traces that were made again, in groups: one for each function and cause."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from jitscope.core.source import Position, is_internal
from jitscope.core.words import root_of

from ...annotations import Cause
from ..differences import STATIC_DATA, Difference
from ..ledger import Row
from ..stacks import is_installed


def is_compiled(row: Row) -> bool:
    """Whether a row was compiled, and not loaded from a cache on disk or served by a known program."""
    return row.what in ("recompiled", "compiled") and not row.loaded


@dataclass
class Group:
    """What was made again of one function for one cause, oldest first. `bases` are the programs it was compared with."""

    cause: Cause
    rows: list[Row] = field(default_factory=list)
    bases: list[Row] = field(default_factory=list)

    @property
    def function(self) -> str:
        """The name of the function."""
        return self.rows[0].function

    @property
    def title(self) -> str:
        """The function's name with the transformations of it, as in "grad of f"."""
        return self.rows[0].title

    @property
    def history(self) -> list[Row]:
        """The programs it was compared with and those made again, in the order of the session."""
        return sorted([*self.bases, *self.rows], key=lambda row: row.id)

    @property
    def compilations(self) -> int:
        """How often it was compiled again."""
        return sum(map(is_compiled, self.rows))

    @property
    def retraces(self) -> int:
        """How often it was traced again for a program that was known, or that a cache on disk had."""
        return len(self.rows) - self.compilations

    @property
    def noun(self) -> str:
        """What its history is made of: "compilations", or "traces" where one of them compiled nothing."""
        return "compilations" if all(row.what != "reused" and not row.loaded for row in self.history) else "traces"

    @property
    def seconds(self) -> float:
        """Seconds lost: to trace, lower and compile again."""
        return sum(row.spent for row in self.rows)

    @property
    def quiet(self) -> bool:
        """Whether the user wanted it so: a cell that was run again."""
        return self.cause == "redefined"

    @property
    def changes(self) -> list[Difference]:
        """The first change, for this cause, of each argument, option or captured value."""
        found: dict[str, Difference] = {}
        for row in self.rows:
            for one in row.differences:
                if one.part == self.cause:
                    found.setdefault(one.path, one)
        return list(found.values())

    @property
    def paths(self) -> list[str]:
        """The arguments, options or captured values that changed for this cause."""
        return [one.path for one in self.changes]

    def sites(self) -> dict[Position, list[Row]]:
        """The user's calls that paid, those that lost most first."""
        found: dict[Position, list[Row]] = {}
        for row in self.rows:
            if row.call_site is not None:
                found.setdefault(row.call_site, []).append(row)
        return dict(sorted(found.items(), key=lambda item: -sum(row.spent for row in item[1])))


WATCHING = frozenset(("debug_nans", "debug_infs", "debug_key_reuse", "sharp_bits"))
"""Options that look at what runs; a program is made for it."""


def is_wanted(row: Row) -> bool:
    """Whether the user wanted it so: a cell was run again, or an option is on that looks at what runs."""
    return row.cause == "redefined" or bool(row.differences and {one.path for one in row.differences} <= WATCHING)


_KINDS = frozenset(("shape", "tree structure", "sharding", "device"))
"""What tells one kind of arguments from another that is there on purpose."""


def occasional(row: Row) -> bool:
    """Whether a row is the second kind of arguments of a function, after one call with the first, from another line: two programs
    are right, whether the function object is one or not. On another mesh each kind is. A flag has a program for True and one for False."""
    base = row.against
    if row.number in (0, 2) and row.differences and all(map(_of_a_flag, row.differences)):  # 0: its program was known
        return True
    parts = {one.part for one in row.differences} - {"function", "closure"}
    if not parts or not parts <= _KINDS or base is None or row.calls_before > 1:
        return False
    if row.number > 2 and not any(one.part == "sharding" and _meshes(one) for one in row.differences):
        return False
    sides = [(one.place.file, one.place.line) for one in (base, row) if one.place is not None]
    return len(set(sides)) == 2


def _of_a_flag(one: Difference) -> bool:
    return one.part == "static value" and all(side.startswith(("True", "False")) for side in (one.before, one.after))


def _meshes(one: Difference) -> bool:
    """Whether an array is cut over another mesh."""
    before, after = (text.partition(" of Mesh")[2] for text in (one.before, one.after))
    return bool(before and after) and before != after


def another_model(row: Row) -> list[str]:
    """What is static inside of the arguments whose shapes changed and changed with these: `model.width_size`; none where the arrays
    alone changed."""
    roots = {root_of(one.path) for one in row.differences if one.part == "shape"}
    own = [one for one in row.differences if root_of(one.path) in roots]
    values = [one.path for one in own if one.part == "static value" and "." in one.path]
    data = [one for one in own if one.part == "tree structure" and one.detail.startswith(STATIC_DATA)]
    told = [*values, *(f"the {STATIC_DATA} of {one.path}" for one in data)]
    return told or [f"what the layers of {root} take and give" for root in roots if _is_of_widths(row, root)]


def is_apart(row: Row) -> bool:
    """Whether a row has another remedy than others of its cause: it is another model, or of structures the static data alone changed."""
    if row.cause == "shape":
        return bool(another_model(row))
    own = [one.detail for one in row.differences if one.part == row.cause == "tree structure"]
    return bool(own) and all(detail.startswith(STATIC_DATA) for detail in own)


def _is_of_widths(row: Row, root: str) -> bool:
    """Whether the arrays that changed lie in the parts of an object of another library's modules, `model.linear1.w`, and some changed their
    first axis alone, others a later one: what one layer gives is what the next one takes."""
    inside = [one for one in row.differences if one.part == "shape" and root_of(one.path) == root]
    nested = row.signature is not None and root in dict(row.signature.classes)
    nested = nested and all(one.path.count(".") > 1 and "[" not in one.path.split(".")[0] for one in inside)
    return nested and len({one.detail == "axis 0" for one in inside}) == 2


def is_repeat(row: Row) -> bool:
    """Whether a row is of something made again that the user's own calls paid for."""
    if row.nested or row.derived or not row.cause or row.what not in ("recompiled", "reused", "compiled"):
        return False
    if (row.what == "compiled" and row.cause != "redefined") or row.cause == "class":
        return False
    return not _of_the_library(row)


def _of_the_library(row: Row) -> bool:
    if not row.direct and (row.position is None or is_installed(row.position.file)):
        return True
    if row.call_site is not None and is_internal(row.call_site.file):
        return True
    if row.call_site is None:  # a thread may run a function by itself
        return row.position is None or is_internal(row.position.file)
    if row.position is not None:
        return is_internal(row.position.file)
    made = row.signature.made if row.signature else None
    return made is not None and (made.kind == "nested function" or row.function.startswith("_"))


def groups(rows: Iterable[Row]) -> list[Group]:
    """The groups among rows of the ledger, those that lost most time first; of other models there is one beside that of other data, and of
    other static data one beside that of other structures."""
    found: dict[tuple[Any, str, bool], Group] = {}
    for row in rows:
        if is_repeat(row):
            group = found.setdefault((row.identity, row.cause, is_apart(row)), Group(cast("Cause", row.cause)))
            group.rows.append(row)
    for group in found.values():
        own = {row.id for row in group.rows}
        bases = {row.against.id: row.against for row in group.rows if row.against is not None}
        group.bases = [base for id, base in bases.items() if id not in own]
    return sorted(found.values(), key=lambda group: -group.seconds)
