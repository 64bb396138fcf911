"""Numbers and texts as messages tell them."""

from __future__ import annotations

import re
from collections.abc import Sequence


def cut(text: str, most: int) -> str:
    """The text if it has no more characters than `most`, else its beginning, with `…` as the last of them."""
    return text if len(text) <= most else text[: most - 1] + "…"


def counted(count: int, noun: str) -> str:
    """`1 kernel`, `2,000 copies`, `3 boxes`."""
    return f"{count:,} {noun if count == 1 else several(noun)}"


def several(noun: str) -> str:
    """The plural of an English noun that has a regular one."""
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("x", "s", "ch", "sh")) else f"{noun}s"


def duration(seconds: float) -> str:
    """`1.2 s`, `95 ms`, `2.75 µs`: three digits."""
    rounded = float(f"{seconds:.3g}")  # 999.9 µs is 1 ms
    unit, scale = next(((unit, scale) for unit, scale in (("s", 1.0), ("ms", 1e-3)) if rounded >= scale), ("µs", 1e-6))
    return f"{_digits(rounded / scale)} {unit}"


def size(count: float) -> str:
    """`12 bytes`, `4.1 kB`, `1 MB`, `1.12 TB`: three digits, steps of a thousand."""
    rounded = float(f"{count:.3g}")  # 999,999 bytes are 1 MB
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if rounded >= scale:
            return f"{_digits(rounded / scale)} {unit}"
    return counted(int(count), "byte")


def _digits(value: float) -> str:
    """Three significant digits, or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def listed(names: Sequence[str]) -> str:
    """`a, b`, `a, b, c and 2 more`."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def root_of(path: str) -> str:
    """The name that a path begins with: `params` of `params['w'].x`."""
    return path.split("[")[0].split(".")[0]


def sentence(text: str) -> str:
    """An advice as a sentence of its own; code that it begins with stays as it is."""
    text = re.sub(_BEGINNING, lambda found: found[0].upper(), text)
    return f"{text}{'' if text.endswith('.') else '.'}" if text else ""


_BEGINNING = r"^[a-z](?=[a-z]*[ ,:;](?!=))"
