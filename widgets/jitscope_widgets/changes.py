"""The rows of a before/after comparison in groups: runs of unchanged lines, and what became one kernel together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .words import Document


@dataclass
class Group:
    """Neighbouring rows that belong together; each `changed` row is a group of its own."""

    kind: str
    caption: str
    rows: list[Document] = field(default_factory=list)

    def side(self, name: str) -> list[Document]:
        """The lines on the `left` or the `right`."""
        return [row[name] for row in self.rows if row[name]]


def groups(rows: Iterable[Document]) -> list[Group]:
    """The rows of a fusion document, grouped."""
    found: list[Group] = []
    for row in rows:
        if not found or not _goes_on(found[-1], row):
            found.append(Group(row["kind"], row["caption"]))
        found[-1].rows.append(row)
    return found


def fold(run: Sequence[Document], around: int = 2, at_least: int = 4) -> tuple[Sequence[Document], ...]:
    """A run of unchanged rows in three parts: the first ones, those to fold away, the last ones."""
    if len(run) < 2 * around + at_least:
        return run, (), ()
    return run[:around], run[around : len(run) - around], run[len(run) - around :]


def _goes_on(group: Group, row: Document) -> bool:
    if group.kind == "fused":
        starts_anew = row["right"] is not None and any(earlier["right"] for earlier in group.rows)
        return row["kind"] == "fused" and row["caption"] in ("", group.caption) and not starts_anew
    return group.kind == row["kind"] != "changed" and group.caption == row["caption"]
