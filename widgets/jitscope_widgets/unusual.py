"""What stands out of a compilation, in the one line that is seen first."""

from __future__ import annotations

from .quantities import percent
from .words import Document, here_of, home, lines


_MUCH = 0.3  # of the kernels' time, in one line


def unusual(compilation: Document) -> str:
    """A NaN, or a line that takes much of the measured time; "" where nothing of this is known."""
    found = compilation.get("instruments") or {}
    here = here_of(compilation) if "source" in compilation else ""
    return next((said for name in TELLING if (said := stands_out(found.get(name), here))), "")


def stands_out(document: Document | None, here: str = "") -> str:
    """What the document of an instrument says of a program that its line tells, too; lines that are not `here` with their cell."""
    return TELLING[document["kind"]](document, here) if document and document["kind"] in TELLING else ""


def _line(position: Document, here: str) -> str:
    return lines([position], here or home(position))


def _first_nan(values: Document, here: str) -> str:
    row = next((row for row in values.get("rows", ()) if row["nan"] and not row.get("written")), None)
    if row is None or values.get("left_out"):  # `where` chose others: nobody has to mend that
        return ""
    positions = dict(enumerate(values["lines"]))
    return f"first NaN: {_line(positions[row['line']], here)}" if row["line"] in positions else "NaN"


def _slow(profile: Document, here: str) -> str:
    own_lines = [line for line in profile.get("lines", ()) if line["own"]]
    if len(own_lines) < 2:  # of one line nobody asks
        return ""
    most = max(own_lines, key=lambda line: _middle(line["own"]))
    own = most["own"]
    if own["least"] < _MUCH:
        return ""
    known = percent(own["least"]) == percent(own["most"])
    share = percent(own["least"]) if known else f"~ {percent(_middle(own))}"
    return f"{_line(most['position'], here)}: {share} of the time"


def _middle(bounds: Document) -> float:
    return bounds.get("estimate", bounds["least"])


TELLING = {"values": _first_nan, "profile": _slow}
"""Instruments of which something stands out, the most important first."""
