"""Fixes: what to do in words, and what its edits make of the lines. The counterpart of fixes.ts, without its button."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import NamedTuple

from . import words
from .escapes import clean, clean_lines, escape, prose
from .words import Document
from .wrap import wrap


_AROUND = 2  # unchanged lines that are kept beside a changed one


class Line(NamedTuple):
    """A line of the difference: "-" goes, "+" comes, " " stays; "…" stands for unchanged lines left out. `number` is
    that of the cell as it was run, which a line that comes has none of."""

    sign: str
    number: int | None
    text: str


def before(fix: Document) -> list[str] | None:
    """The lines from the first edit's to the last one's, as they were run; None where nobody knows them."""
    edits = fix["edits"]
    known = fix.get("before")
    if not edits:
        return None
    if known is not None:
        return known if _fits(edits, len(known)) else None
    position = fix["position"]
    alone = all(edit["line"] == edit["end_line"] == edits[0]["line"] for edit in edits)
    if alone and position is not None and position["line"] == edits[0]["line"] and position["text"]:
        return [position["text"]]
    return None


def _fits(edits: list[Document], lines: int) -> bool:
    """Whether edits are of so many lines, as documents promise."""
    first = min(edit["line"] for edit in edits)
    return all(edit["line"] <= edit["end_line"] < first + lines for edit in edits)


def after(fix: Document) -> list[str] | None:
    """The same lines with the edits made in them."""
    lines = before(fix)
    if lines is None:
        return None
    first = first_line(fix)
    lines = list(lines)
    for edit in sorted(fix["edits"], key=lambda one: (one["line"], one["column"]), reverse=True):
        start, end = edit["line"] - first, edit["end_line"] - first
        head, tail = lines[start][: edit["column"]], lines[end][edit["end_column"] :]
        lines[start : end + 1] = (head + edit["text"] + tail).split("\n")
    return lines


def first_line(fix: Document) -> int:
    """The number of the first line that the edits touch."""
    return min(edit["line"] for edit in fix["edits"])


def difference(fix: Document) -> list[Line]:
    """The edits line by line; empty where there are none or the lines are not known."""
    old, new = before(fix), after(fix)
    if not old or new is None:
        return []
    first = first_line(fix)
    return list(_folded(list(_lines(old, new, first))))


def _lines(old: list[str], new: list[str], first: int) -> Iterator[Line]:
    for kind, start, end, other, last in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from (Line(" ", first + start + at, text) for at, text in enumerate(old[start:end]))
            continue
        yield from (Line("-", first + start + at, text) for at, text in enumerate(old[start:end]))
        yield from (Line("+", None, text) for text in new[other:last])


def _folded(lines: list[Line]) -> Iterator[Line]:
    changed = [at for at, line in enumerate(lines) if line.sign != " "]
    kept = {at + by for at in changed for by in range(-_AROUND, _AROUND + 1)}
    hidden = False
    for at, line in enumerate(lines):
        if at in kept:
            yield line
        elif not hidden:
            yield Line("…", None, "")
        hidden = at not in kept


def fix_html(fix: Document) -> str:
    """Words, difference and proof as static HTML."""
    parts = [f"<p><b>Fix:</b> {prose(fix['text'])}</p>"]
    names = {"-": ' class="was"', "+": ' class="is"'}
    rows = "".join(
        f"<span{names.get(line.sign, '')}><i>{'' if line.number is None else line.number}</i> "
        f"{'−' if line.sign == '-' else line.sign} {escape(line.text)}\n</span>"
        for line in difference(fix)
    )
    parts += [f"<pre>{rows}</pre>"] if rows else []
    parts += [f'<p class="dim">✓ {prose(fix["checked"])}</p>'] if fix["checked"] else []
    return f'<div class="fix">{"".join(parts)}</div>'


def fix_text(fix: Document, width: int) -> list[str]:
    """The same as lines of text."""
    first, *more = clean_lines(fix["text"])
    lines = wrap(f"fix: {first}".rstrip(), width, "     ")
    lines += [part for line in more for part in wrap(f"     {line}", width, "     ")]
    for line in difference(fix):
        number = "" if line.number is None else line.number
        lines += wrap(f"  {number:>4} {line.sign} {clean(line.text)}", width, " " * 11)
    return lines + (wrap(f"  checked: {clean(fix['checked'])}", width, "    ") if fix["checked"] else [])


def where(fix: Document) -> str:
    """The lines of the cell that the edits touch: `In [3], line 2`."""
    first, last = first_line(fix), max(edit["end_line"] for edit in fix["edits"])
    numbers = f"line {first}" if first == last else f"lines {first}-{last}"
    return f"{words.home(fix['position'])}, {numbers}" if fix["position"] else numbers
