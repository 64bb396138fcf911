"""What each equation of a program computes: a table of all values, those that are not finite first, each with a closer look."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from .. import words
from ..escapes import clean
from ..quantities import number, origin, percent
from ..view import inline
from ..view.chart_svg import nice
from ..view.parts import (
    Action,
    Axis,
    Chart,
    Column,
    Content,
    Facts,
    Heatmap,
    Number,
    Part,
    Place,
    Ref,
    Row,
    Section,
    Sentence,
    Series,
    Table,
    Text,
)
from ..words import Document, plural


NAME = "Values"
_NOT_FINITE = Column("not finite", "text", "elements that are NaN or infinite")
_COLUMNS = (
    Column("value", "text", "the operation that gives it, or the argument"),
    Column("type", "code"),
    Column("min", "number"),
    Column("max", "number"),
    Column("mean", "number"),
    Column("std", "number", "standard deviation"),
    Column("largest", "number", "the largest absolute value"),
    Column("zeros", "number"),
    _NOT_FINITE,
    Column("#", "number", "in the order of evaluation"),
    Column("line", "text", "that made it"),
)
_FIRST = 60
_LEAST = -sys.float_info.max
"""What no number is less than: where there is no number."""
_NOBODY = "Nobody asked for the histogram and the picture of this value while the kernel ran."


def view(document: Document) -> Iterator[Part]:
    """The parts of a document of values."""
    known = {(row["path"], row["result"]) for row in document["rows"]}
    yield from (_closer(document, one, one) for one in document["details"] if (one["path"], one["result"]) not in known)
    yield Sentence(clean(document["sentence"]), "headline")
    for said in (document["differs"], *_loops(document), *document["remarks"]):
        if said:
            yield Sentence(clean(said), "note")
    yield _table(document)
    yield Sentence(
        f"{words.cost(document['cost'])} Statistics leave out NaN and Inf.", "note", origin(document["cost"])
    )


def _loops(document: Document) -> Iterator[str]:
    """Which iterations were looked at, where not all were."""
    for loop in document["loops"]:
        if loop["looked"] != "all":
            count = f"{loop['count']:,}" if loop["count"] is not None else "more"
            looked = clean(loop["looked"])
            yield f"Of the loop {clean(loop['path'])} with {count} iterations, these were looked at: {looked}."


# --- the table --------------------------------------------------------------------------------------------------------


def _table(document: Document) -> Table:
    rows = document["rows"]
    here = words.only_home(document["lines"])
    details = {(one["path"], one["result"]): one for one in document["details"]}
    order = sorted(range(len(rows)), key=lambda at: _rank(rows[at]))
    looked = [at for at in order if (rows[at]["path"], rows[at]["result"]) in details]
    opened = document["first_bad"] if document["first_bad"] is not None else next(iter(looked), None)
    columns = [one for one in _COLUMNS if one is not _NOT_FINITE or any(is_bad(row) for row in rows)]
    found = [
        _row(document, at, columns, details.get((rows[at]["path"], rows[at]["result"])), here, at == opened)
        for at in order
    ]
    return Table("Values", tuple(columns), tuple(found), first=_FIRST, empty="The program computes nothing.")


def _rank(row: Document) -> tuple[bool, bool, bool]:
    """What is not finite first, then what the program computes, what it was given, what it wrote."""
    return not is_bad(row), bool(row.get("written")), not _is_computed(row)


def _is_computed(row: Document) -> bool:
    return row["path"].startswith("e")


def _row(document: Document, at: int, columns: list[Column], detail: Document | None, here: str, opened: bool) -> Row:
    row = document["rows"][at]
    place = _place(document, row, here)
    cells: tuple[Content, ...] = (
        (inline.strong(name(row)), *_muted(f" {times(row)}" if times(row) else "")),
        clean(row["type"]),
        *(_figure(row[name]) for name in ("min", "max", "mean", "std")),
        _figure(magnitude(row)),
        Text(zeros(row), order=row["zeros"] / row["size"] if row["size"] else -1.0),
        *((_not_finite(row),) if _NOT_FINITE in columns else ()),
        inline.count(at + 1, "muted"),
        place or "",
    )
    ref = Ref((row["path"],), position=place.position if place else None)
    if not _is_computed(row):
        ref = Ref(node=row["path"])
    return Row(cells, ref, parts=(_facts(row), _closer(document, row, detail)), opened=opened, title=_told(row))


def _not_finite(row: Document) -> Text:
    return Text(marks(row), "bad", order=float(row["nan"] + row["inf"])) if is_bad(row) else Text("", order=0.0)


def _muted(text: str) -> tuple[Text, ...]:
    return (inline.muted(text),) if text else ()


def _told(row: Document) -> str:
    bad = f", {marks(row)}" if is_bad(row) else ""
    around = f" {times(row)}" if times(row) else ""
    return (
        f"{name(row)}{around}, {clean(row['type'])}, from {figure(row['min'])} to {figure(row['max'])}, mean {figure(row['mean'])}, "
        f"{zeros(row)} zeros{bad}"
    )


def _place(document: Document, row: Document, here: str) -> Place | None:
    position = dict(enumerate(document["lines"])).get(row["line"])
    return position and inline.place(position, here)


def _figure(value: float | None) -> Text:
    return Text(figure(value), order=_LEAST if value is None else value)


def is_bad(row: Document) -> bool:
    """Whether something in it is not finite."""
    return bool(row["nan"] or row["inf"])


def magnitude(row: Document) -> float | None:
    """The largest absolute value of a row; None where there is none."""
    return None if row["min"] is None or row["max"] is None else max(abs(row["min"]), abs(row["max"]))


def figure(value: float | None) -> str:
    """A number without a unit; "–" where there is none."""
    return "–" if value is None else number(value, "") or "0"


def zeros(row: Document) -> str:
    """The share of zeros; all of them are told from nearly all."""
    share = row["zeros"] / row["size"] if row["size"] else None
    return "–" if share is None else "> 99 %" if 0.995 <= share < 1 else percent(share)


def marks(row: Document) -> str:
    """`✕ 3 NaN, 1 Inf, since iteration 5`; "" where all is finite."""
    parts = [f"{row[name]:,} {word}" for name, word in (("nan", "NaN"), ("inf", "Inf")) if row[name]]
    since = f", since iteration {row['first_bad']:,}" if row["iterations"] and row["first_bad"] is not None else ""
    return f"✕ {', '.join(parts)}{since}" if parts else ""


def name(row: Document) -> str:
    """`exp`, or `scan, result 2`."""
    return f"{clean(row['label'])}, result {row['result']}" if row["result"] else clean(row["label"])


def times(row: Document) -> str:
    """`(in 9 iterations, on 8 devices)`, or `(10 times)` in a loop's condition: how many iterations it was made in, and of how many devices each has its own."""
    asked = "cond_jaxpr" in row["path"].split("/")  # a loop's condition is asked once more than its body runs
    made = plural(row["iterations"], "time") if asked else f"in {plural(row['iterations'] or 0, 'iteration')}"
    found = [made] if row["iterations"] else []
    found += [devices(row)] if row["devices"] else []
    return f"({', '.join(found)})" if found else ""


def devices(row: Document) -> str:
    """`on 8 devices`, or `the same on 8 devices`; "" where it is one value for all."""
    found = row["devices"]
    return "" if found is None else f"{'the same ' if found['alike'] else ''}on {plural(found['count'], 'device')}"


# --- a closer look ----------------------------------------------------------------------------------------------------


def _closer(document: Document, value: Document, detail: Document | None) -> Section:
    """The pictures of one value: the live page finds it by its name, also beside the graph. `value` is a row, or the detail itself where
    the kernel answered with that alone."""
    parts = [*(_pictures(detail) if detail else ()), *_ask(document, value, detail)]
    return Section("", tuple(parts), name=f"value {value['path']}:{value['result']}")


def _facts(row: Document) -> Facts:
    entries: list[tuple[str, Content]] = [(name, figure(row[name])) for name in ("min", "max", "mean", "std")]
    entries += [("zeros", zeros(row)), ("elements", f"{row['size']:,}")]
    asked = "cond_jaxpr" in row["path"].split("/")
    entries += [("times" if asked else "iterations", f"{row['iterations']:,}")] if row["iterations"] else []
    entries += [("devices", f"{row['devices']['count']:,}")] if row["devices"] else []
    return Facts(tuple(entries))


def _pictures(detail: Document) -> Iterator[Part]:
    if detail["iteration"] is not None:
        yield Sentence(f"Iteration {detail['iteration']:,} (from 0):", "note")
    if alike := _alike(detail):
        yield Sentence(f"Every element is {alike}.")
    elif detail["histogram"] and detail["histogram"]["counts"]:
        yield _histogram(detail["histogram"])
    if detail["picture"] and detail["picture"]["cells"]:
        yield _picture(detail["picture"])
    if detail["first"]:
        where = f" on {clean(detail['parts'][0]['place'])}" if detail["parts"] else ""
        yield Sentence((f"First elements{where}: ", inline.code(clean(", ".join(detail["first"])))))
    if detail["parts"]:
        yield _devices(detail)


_EXACT = 2.0**53
"""Below, floats tell whole numbers apart."""


def _alike(detail: Document) -> str:
    """The number that all elements are, "" where they differ, or are not finite. (The histogram has complex numbers by their magnitude, and
    integers as floats.)"""
    found, picture = detail["histogram"], detail["picture"]
    if any("j" in one for one in detail["first"]) or (found and abs(found["low"]) >= _EXACT):
        return ""
    bad = picture and set(picture["cells"]) & {"n", "i"}
    same = found and found["counts"] and found["low"] == found["high"] and not found["log"] and not bad
    return figure(found["low"]) if same else ""


def _histogram(histogram: Document) -> Chart:
    counts, low, high, is_log = histogram["counts"], histogram["low"], histogram["high"], histogram["log"]
    grows = is_log and 0 < low <= high
    steps = [n / len(counts) for n in range(len(counts))]
    if grows:
        edges = tuple(low ** (1 - step) * high**step for step in steps)
    else:
        edges = tuple(low * (1 - step) + high * step for step in steps)
    beside = f"; {histogram['zeros']:,} zeros beside" if is_log and histogram["zeros"] else ""
    title = f"magnitude, logarithmic{beside}" if is_log else "value"
    most = max(*counts, 1)
    summary = f"Histogram ({title}) from {figure(low)} to {figure(high)}, at most {plural(most, 'element')} in a bin."
    across = Axis(title, low, high if high > low else low + 1, scale="log" if grows else "linear")
    return Chart(
        "Histogram",
        summary,
        across,
        Axis("elements in a bin", 0, nice(float(most))),
        (Series("elements", "bars", edges, tuple(map(float, counts))),),
        small=True,
    )


def _picture(picture: Document) -> Heatmap:
    low, high = figure(picture["low"]), figure(picture["high"])
    bad = "; ✕: NaN or Inf" if set(picture["cells"]) & {"n", "i"} else ""
    scale = f"faint {low}, strong {high}{bad}" if picture["low"] != picture["high"] else f"{low} everywhere{bad}"
    folded = clean(picture["folded"])
    return Heatmap(
        "Picture of the array",
        f"Picture of the array: {folded}; {scale}.",
        picture["columns"],
        picture["cells"],
        f"{scale}. {folded}",
    )


def _devices(detail: Document) -> Table:
    columns = (Column("device"), *(Column(title, "number") for title in ("min", "max", "mean")), Column("not finite"))
    rows = [
        Row(
            (
                clean(one["place"]),
                *(_figure(one[name]) for name in ("min", "max", "mean")),
                ", ".join(f"✕ {one[name]:,} {word}" for name, word in (("nan", "NaN"), ("inf", "Inf")) if one[name]),
            )
        )
        for one in detail["parts"]
    ]
    return Table("The value on each device", columns, tuple(rows))


def _ask(document: Document, value: Document, detail: Document | None) -> Iterator[Part]:
    """What has the kernel look closer, at another iteration."""
    loops = [loop for loop in document["loops"] if value["path"].startswith(f"{loop['path']}/")]
    options = {"path": value["path"], "result": value["result"]}
    section = f"value {value['path']}:{value['result']}"
    if loops:
        last = max((loops[-1]["count"] or value.get("iterations") or 1) - 1, 0)
        at = detail["iteration"] if detail and detail["iteration"] is not None else last
        asked = Number("iteration", "Iteration", 0, last, at)
        yield Action("Look at this iteration", "looking …", options, section, asked, "" if detail else _NOBODY)
    elif detail is None:
        yield Action("Histogram and picture", "looking …", options, section, without=_NOBODY)
