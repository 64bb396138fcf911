"""What the views of a program's values say."""

from __future__ import annotations

from collections.abc import Sequence

from . import words
from .plain import clean
from .quantities import number, percent
from .sentences import say
from .words import Document, plural


def order(document: Document) -> Sequence[Document]:
    """The rows with NaN or infinity first, in the order of evaluation, then those with the largest magnitudes."""
    bad = [row for row in document["rows"] if row["nan"] or row["inf"]]
    rest = [row for row in document["rows"] if not (row["nan"] or row["inf"])]
    return [*bad, *sorted(rest, key=lambda row: -magnitude(row))]


def magnitude(row: Document) -> float:
    """The largest absolute value of a row; -1 where there is none."""
    return -1.0 if row["min"] is None or row["max"] is None else max(abs(row["min"]), abs(row["max"]))


def figure(value: float | None) -> str:
    """A number without a unit; "–" where there is none."""
    return "–" if value is None else number(value, "") or "0"


def zeros(row: Document) -> str:
    """The share of zeros."""
    return percent(row["zeros"] / row["size"]) if row["size"] else "–"


def marks(row: Document) -> str:
    """`✕ 3 NaN, 1 Inf, since iteration 5`; "" where all is finite."""
    parts = [f"{row[name]:,} {word}" for name, word in (("nan", "NaN"), ("inf", "Inf")) if row[name]]
    since = f", since iteration {row['first_bad']:,}" if row["iterations"] and row["first_bad"] is not None else ""
    return f"✕ {', '.join(parts)}{since}" if parts else ""


def name(row: Document) -> str:
    """`exp`, or `scan, result 2`, with the number of iterations that it was made in, and of the devices of which each has its own."""
    result = f", result {row['result']}" if row["result"] else ""
    times = [f"in {plural(row['iterations'], 'iteration')}"] if row["iterations"] else []
    times += [devices(row)] if row["devices"] else []
    told = f" ({', '.join(times)})" if times else ""
    return f"{clean(row['label'])}{result}{told}"


def devices(row: Document) -> str:
    """`on 8 devices`, or `the same on 8 devices`; "" where it is one value for all."""
    found = row["devices"]
    return "" if found is None else f"{'the same ' if found['alike'] else ''}on {plural(found['count'], 'device')}"


def parts(detail: Document) -> list[tuple[str, str]]:
    """Each device with the figures of its part."""
    return [
        (
            clean(one["place"]),
            f"{figure(one['min'])} to {figure(one['max'])}, mean {figure(one['mean'])}"
            + "".join(f", ✕ {one[name]:,} {word}" for name, word in (("nan", "NaN"), ("inf", "Inf")) if one[name]),
        )
        for one in detail["parts"]
    ]


def line(document: Document, row: Document, here: str) -> str:
    """The line that made a value, with its text."""
    position = dict(enumerate(document["lines"])).get(row["line"])
    return "" if position is None else f"{words.lines([position], here)}: {clean(position['text']).strip()}"


def loops(document: Document) -> list[str]:
    """Which iterations were looked at, where not all were."""
    said = []
    for loop in document["loops"]:
        if loop["looked"] != "all":
            count = f"{loop['count']:,}" if loop["count"] is not None else "more"
            said.append(
                say("iterations looked at", loop=clean(loop["path"]), count=count, looked=clean(loop["looked"]))
            )
    return said
