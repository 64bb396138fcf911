"""Numbers as messages tell them."""


def counted(count: int, noun: str) -> str:
    """`1 kernel`, `2,000 copies`."""
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else several}"


def duration(seconds: float) -> str:
    """`1.2 s`, `95 ms`, `2.75 µs`: three digits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
