"""Quantities as people read them: three significant digits with a unit, and whether they were measured.

A measured value stands plain, a modelled one after "≈", an unknown one is "?".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from .plain import clean


_TIME = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
_SIZE = ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"))
_WORK = ((1.0, "flop"), (1e3, "kflop"), (1e6, "Mflop"), (1e9, "Gflop"), (1e12, "Tflop"))

_SCALES = {
    "s": _TIME,
    "seconds": _TIME,
    "B": _SIZE,
    "bytes": _SIZE,
    "flop": _WORK,
    "flops": _WORK,
}


def show(quantity: Mapping[str, Any] | None) -> str:
    """A quantity of a document in a few characters: `61.3 ms`, `≈ 8.19 kB`, `?`."""
    value = amount(quantity)
    if quantity is None or value is None:
        return "?"
    shown = number(value, clean(quantity.get("unit", "")))
    return f"≈ {shown}" if quantity.get("origin") == "modelled" else shown


def origin(quantity: Mapping[str, Any] | None) -> str:
    """Where a quantity comes from, for the hover: `measured: median of 100 runs`."""
    if quantity is None:
        return "unknown"
    where = str(quantity.get("origin", "unknown"))
    note = str(quantity.get("note", ""))
    return f"{where}: {note}" if note else where


def amount(quantity: Mapping[str, Any] | None) -> float | None:
    """The value of a quantity, None when nobody knows it."""
    if quantity is None or quantity.get("origin") == "unknown":
        return None
    value = quantity.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def seconds(value: float) -> str:
    """A time: `210 µs`."""
    return number(value, "s")


def size(value: float) -> str:
    """A size in bytes: `5.12 kB`."""
    return number(value, "B")


def number(value: float, unit: str) -> str:
    """`value` with three significant digits, in the multiple of `unit` that keeps it short."""
    scale = _SCALES.get(unit)
    if scale is None:
        return f"{_digits(value)} {unit}".rstrip()
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {'s' if scale is _TIME else scale[0][1]}"
    rounded = float(f"{value:.2e}")
    factor, name = max((step for step in scale if abs(rounded) >= step[0]), default=scale[0])
    if factor == 1.0 and scale is not _TIME and float(value).is_integer():
        return f"{int(value)} {name}"
    return f"{_digits(value / factor)} {name}"


def _digits(value: float) -> str:
    """Three significant digits, whole numbers in full, no zeros at the end."""
    exponent = math.floor(math.log10(abs(value))) if value and math.isfinite(value) else 0
    if not math.isfinite(value) or not -4 < exponent < 7:
        return f"{value:.3g}"
    shown = f"{value:.{max(0, 2 - exponent)}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown
