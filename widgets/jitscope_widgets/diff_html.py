"""The programs before and after fusion side by side: one table row for each group of changes."""

from __future__ import annotations

from collections.abc import Sequence

from . import code
from .changes import Group, fold, groups
from .plain import escape
from .words import Document, plural


_SIGNS = {"changed": ("−", "+"), "removed": ("−", ""), "added": ("", "+"), "fused": ("−", "+")}


def diff(rows: Sequence[Document], most: int | None = None) -> str:
    """The comparison as a table: whole, or the first `most` groups of changes without the unchanged lines between them."""
    found = groups(rows)
    body = "".join(
        _changed(group) if group.kind != "same" else _unchanged(group, brief=most is not None) for group in found[:most]
    )
    left = found[most:] if most is not None else ()
    if more := sum(len(group.rows) for group in left if group.kind != "same"):
        body += f'<tr><td colspan="2" class="dim">and {plural(more, "more changed line")}</td></tr>'
    return f'<table class="diff"><tbody><tr><th>before</th><th>after</th></tr>{body}</tbody></table>'


def _unchanged(group: Group, brief: bool) -> str:
    if brief:
        return f'<tr><td colspan="2" class="dim">{plural(len(group.rows), "unchanged line")}</td></tr>'
    first, folded, last = fold(group.rows)
    inside = _both(first)
    if folded:
        count = plural(len(folded), "unchanged line")
        inside += f"<details><summary>{count}</summary>{_both(folded)}</details>{_both(last)}"
    return f'<tr><td colspan="2">{inside}</td></tr>'


def _both(rows: Sequence[Document]) -> str:
    lines = [row["left"] or row["right"] for row in rows]
    return code.numbered((str(line["number"]), line["text"], "") for line in lines)


def _changed(group: Group) -> str:
    before, after = _SIGNS[group.kind]
    caption = f"<p>{escape(group.caption)}</p>" if group.caption else ""
    left, right = _side(group.side("left"), before), _side(group.side("right"), after)
    return f"<tr><td{_tint(left, 'was')}>{left}</td><td{_tint(right, 'is')}>{caption}{right}</td></tr>"


def _tint(side: str, name: str) -> str:
    return f' class="{name}"' if side else ""


def _side(lines: Sequence[Document], sign: str) -> str:
    if not lines:
        return ""
    return code.numbered((f"{sign} {line['number']}".strip(), line["text"], "") for line in lines)
