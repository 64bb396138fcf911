"""Quantities as people read them: three significant digits with a unit (`numbers.json`), and whether they were measured.

A measured value stands plain, a modelled one after "≈", an unknown one is "?".
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .escapes import clean


_TABLE: dict[str, Any] = json.loads(Path(__file__).with_name("numbers.json").read_text(encoding="utf-8"))
_UNITS: dict[str, list[tuple[float, str]]] = _TABLE["units"]
_NAMES: dict[str, str] = _TABLE["names"]


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


def percent(share: float) -> str:
    """A share of a whole: `41 %`, `1.2 %`."""
    if 0 < share < 0.0005:
        return "< 0.1 %"
    return f"{100 * share:.{0 if share >= 0.0995 or not share else 1}f} %"


def size(value: float) -> str:
    """A size in bytes: `5.12 kB`."""
    return number(value, "B")


def number(value: float, unit: str) -> str:
    """`value` with three significant digits, in the multiple of `unit` that keeps it short."""
    scale = _UNITS.get(_NAMES.get(unit, unit))
    if scale is None:
        return f"{_digits(value)} {unit}".rstrip()
    base = next(name for factor, name in scale if factor == 1)
    if value == 0 or not math.isfinite(value):
        return f"{value:g} {base}"
    rounded = float(f"{value:.2e}")  # 999.9 µs is 1 ms
    factor, name = next((step for step in scale if abs(rounded) >= step[0]), scale[-1])
    return f"{_digits(rounded / factor)} {name}"


def _digits(value: float) -> str:
    """Three significant digits, no zeros at the end; very large and small ones with their power of ten."""
    rounded = float(f"{value:.2e}")
    if not math.isfinite(rounded):
        return f"{value:g}"
    exponent = math.floor(math.log10(abs(rounded))) if rounded else 0
    if not -4 < exponent < 7:
        mantissa, _, power = f"{rounded:.2e}".partition("e")
        return f"{_bare(mantissa)}e{int(power)}"
    return _bare(f"{rounded:,.{max(0, 2 - exponent)}f}")


def _bare(shown: str) -> str:
    return shown.rstrip("0").rstrip(".") if "." in shown else shown
