"""Numbers and texts as messages tell them."""

from __future__ import annotations

from collections.abc import Sequence


def cut(text: str, most: int) -> str:
    """The text if it has no more characters than `most`, else its beginning, with `…` as the last of them."""
    return text if len(text) <= most else text[: most - 1] + "…"


def counted(count: int, noun: str) -> str:
    """`1 kernel`, `2,000 copies`."""
    several = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{count:,} {noun if count == 1 else several}"


def duration(seconds: float) -> str:
    """`1.2 s`, `95 ms`, `2.75 µs`: three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def size(count: float) -> str:
    """`12 bytes`, `4.1 kB`, `1.1 TB`: steps of a thousand."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return counted(int(count), "byte")


def listed(names: Sequence[str]) -> str:
    """`a, b`, `a, b, c and 2 more`."""
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def root_of(path: str) -> str:
    """The name that a path begins with: `params` of `params['w'].x`."""
    return path.split("[")[0].split(".")[0]
