"""The document of a program's values: what they are, where the first one that is not finite comes from, pictures of some."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from jitscope.core.jaxpr import ClosedJaxpr, Jaxpr, Var, running, subpath, walk
from jitscope.core.words import counted

from ...annotations import (
    DevicePart,
    Histogram,
    Picture,
    Position,
    Statistics,
    ValueDetail,
    ValueOrigin,
    ValueRow,
    ValuesDocument,
)
from ..timing import quantity
from .evaluation import Follower, Loop
from .summary import Summary, first_values, histogram, numbers, picture, places_of


SMALL = 100
"""Values up to which all of a program have their histogram and picture in its document; of more, those that are not finite, the
results, and the largest."""
NOT_FINITE = 8
RESULTS = 16
"""Values of those kinds that a larger program's document has histograms and pictures of."""


class Values(Follower):
    """Follows an evaluation: sums up every value, and looks closer at those of which `closer` says so."""

    def __init__(
        self,
        closed: ClosedJaxpr,
        all_of_them: bool,
        kind: Callable[[Any], str] | None = None,
        written: Collection[tuple[str, int]] = (),
    ):
        self.written = written
        self.kind = kind or _kind
        self.names = _names(closed)
        results = list(dict.fromkeys(a for a in closed.jaxpr.outvars if isinstance(a, Var)))
        self.of_results = {key for var in results[-RESULTS:] for key in _makers(closed.jaxpr, var, "")}
        self.all_of_them = all_of_them
        self.asked: tuple[str, int] | None = None
        self.iteration: int | None = None
        self.rows: dict[tuple[str, int], ValueOrigin] = {}
        self.summaries: dict[tuple[str, int], Summary] = {}
        self.details: dict[tuple[str, int], ValueDetail] = {}
        self.not_finite = 0

    def made(self, path: str, result: int, value: Any, iterations: tuple[int, ...]) -> None:
        key = path, result
        x = numbers(value)
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = self._row(key, value)
            self.summaries[key] = Summary()
        if iterations:
            row["iterations"] = (row["iterations"] or 0) + 1
        places = places_of(value)
        alike = bool(places) and x is not None and all(one.tobytes() == x[0].tobytes() for one in x[1:])
        if places:
            known = row["devices"]
            row["devices"] = {"count": len(places), "alike": alike and (known is None or known["alike"])}
        if x is None:
            return
        summary = self.summaries[key]
        bad = summary.nan + summary.inf
        summary.add(x)
        if bad == 0 and summary.nan + summary.inf:
            row["first_bad"] = iterations[-1] if iterations else 0
            self.not_finite += 1
        if self._closer(key, summary, iterations):
            iteration = iterations[-1] if iterations else None
            self.details[key] = detail(key, x[0, ...] if alike else x, iteration, () if alike else places)

    def _closer(self, key: tuple[str, int], summary: Summary, iterations: tuple[int, ...]) -> bool:
        if self.asked is not None:
            return key == self.asked and (self.iteration is None or not iterations or iterations[-1] == self.iteration)
        if self.all_of_them or key in self.of_results:
            return True
        return bool(summary.nan + summary.inf) and (self.not_finite <= NOT_FINITE or key in self.details)

    def _row(self, key: tuple[str, int], value: Any) -> ValueOrigin:
        return {
            "path": key[0],
            "result": key[1],
            "label": self.names.get(key[0], key[0]),
            "type": self.kind(value),
            "iterations": None,
            "devices": None,
            "first_bad": None,
        }

    def document(
        self,
        title: str,
        positions: Mapping[str, Position],
        loops: Sequence[Loop],
        remarks: Sequence[str],
        seconds: float,
        differs: str,
        results: Sequence[Any] | None,
    ) -> ValuesDocument:
        """What was heard, as plain data; `results` are the program's, None where it did not come to its end."""
        lines: list[Position] = []
        place: dict[int, int] = {}
        rows: list[ValueRow] = []
        for key, row in self.rows.items():
            position = positions.get(key[0])
            if position is not None and id(position) not in place:
                place[id(position)] = len(lines)
                lines.append(position)
            found: ValueRow = {
                **row,
                "line": None if position is None else place[id(position)],
                **_statistics(self.summaries[key]),
            }
            if key in self.written and not_finite(found):
                found["written"] = True
            rows.append(found)
        first = next((n for n, row in enumerate(rows) if not_finite(row) and not row.get("written")), None)
        finite = results is not None and all(x is None or bool(np.isfinite(x).all()) for x in map(numbers, results))
        left_out = first is not None and finite
        document: ValuesDocument = {
            "kind": "values",
            "version": 1,
            "title": title,
            "sentence": _sentence(rows, first, lines, left_out),
            "rows": rows,
            "first_bad": first,
            "details": list(self.details.values()),
            "loops": [{"path": loop.path, "count": loop.count, "looked": loop.looked} for loop in loops],
            "lines": lines,
            "differs": differs,
            "remarks": list(remarks),
            "cost": quantity(seconds, "s", note="the program was run equation by equation, and once as it is compiled"),
        }
        if left_out:
            document["left_out"] = True
        return document


def _kind(value: Any) -> str:
    aval = getattr(value, "aval", None)
    return aval.short() if aval is not None else f"{np.asarray(value).dtype}[{','.join(map(str, np.shape(value)))}]"


def _names(closed: ClosedJaxpr) -> dict[str, str]:
    """What a value is called: the argument, or the operation."""
    found = {f"in{i}": closed.jaxpr.debug.argument(i) for i in range(len(closed.jaxpr.invars))}
    found |= {f"const{i}": f"constant {i}" for i in range(len(closed.jaxpr.constvars))}
    return found | {path: str(eqn.params.get("name") or eqn.primitive.name) for path, eqn in walk(closed.jaxpr)}


def _makers(jaxpr: Jaxpr, var: Any, prefix: str) -> Iterator[tuple[str, int]]:
    """The equations that a value may come from, as path and number of the result: its own, or those inside of calls and branches."""
    for i, eqn in enumerate(jaxpr.eqns):
        if var not in eqn.outvars:
            continue
        path, number = f"{prefix}e{i}", eqn.outvars.index(var)
        yield path, number
        for segment, sub in running(eqn) if eqn.params else ():
            if len(sub.jaxpr.outvars) == len(eqn.outvars):
                yield from _makers(sub.jaxpr, sub.jaxpr.outvars[number], subpath(path, segment))


def _statistics(summary: Summary) -> Statistics:
    known = summary.finite > 0
    return {
        "size": summary.size,
        "min": _number(summary.low) if known else None,
        "max": _number(summary.high) if known else None,
        "mean": _number(summary.mean) if known else None,
        "std": _number(summary.std) if known else None,
        "zeros": summary.zeros,
        "nan": summary.nan,
        "inf": summary.inf,
    }


def _number(x: float) -> float | None:
    """Five digits; None for what no finite number can tell (a sum that overflows)."""
    return float(f"{x:.5g}") if math.isfinite(x) else None


def detail(key: tuple[str, int], x: np.ndarray, iteration: int | None, places: Sequence[str] = ()) -> ValueDetail:
    """A closer look at one array; where its first axis lies along devices, whose `places` in the mesh these are, at each part."""
    bars, small = histogram(x), picture(x, bool(places))
    return {
        "path": key[0],
        "result": key[1],
        "iteration": iteration,
        "histogram": None
        if bars is None
        else cast("Histogram", {**bars._asdict(), "low": float(f"{bars.low:.6g}"), "high": float(f"{bars.high:.6g}")}),
        "picture": None
        if small is None
        else cast("Picture", {**small._asdict(), "low": float(f"{small.low:.6g}"), "high": float(f"{small.high:.6g}")}),
        "first": first_values(x[0, ...] if places else x),
        "parts": [_part(place, x[i, ...]) for i, place in enumerate(places)],
    }


def _part(place: str, x: np.ndarray) -> DevicePart:
    """What one device has."""
    summary = Summary()
    summary.add(x)
    figures = _statistics(summary)
    return cast(
        "DevicePart", {"place": place, **{name: figures[name] for name in ("min", "max", "mean", "nan", "inf")}}
    )


def not_finite(row: Statistics) -> bool:
    """Whether any of the numbers is NaN or infinite."""
    return bool(row["nan"] or row["inf"])


def _sentence(rows: Sequence[ValueRow], first: int | None, lines: Sequence[Position], left_out: bool) -> str:
    count = counted(len(rows), "value")
    copies = sum(bool(row.get("written")) for row in rows)
    if first is None:
        of = (
            f" but those of {copies:,}, copies of a NaN or infinity that the program has as a constant"
            if copies
            else ""
        )
        return f"{count}; all their numbers are finite{of}."
    bad = sum(map(not_finite, rows)) - copies
    row = rows[first]
    what = "NaN" if row["nan"] else "an infinity"
    beside = f", beside {counted(copies, 'copy')} of one that the program has as a constant" if copies else ""
    where = None if row["line"] is None else lines[row["line"]]
    within = f" of {where['function']}" if where and where["function"].isidentifier() else ""
    at = f" in line {where['line']}{within}" if where else ""
    after = ", and no result has any" if left_out else ""
    return f"{count}, {bad:,} of them with NaN or infinity{beside}; the first with {what} is {row['label']}{at}{after}."
