"""Snappy, in which jaxlib's executables for GPUs are packed (the format: google/snappy, format_description.txt)."""

from __future__ import annotations

from collections.abc import Iterator


LARGEST = 1 << 24
"""Larger blocks are not unpacked: this takes a second for some MB."""


def block(data: bytes, start: int) -> bytes | None:
    """The content of the block that begins at a place; None where there is none, or it is too large."""
    size, at = number(data, start)
    if not 0 <= size <= LARGEST:
        return None
    out = bytearray()
    for length, back, literal in _pieces(data, at):
        if back is None:
            out += data[literal : literal + length]
        elif 0 < back <= len(out):
            while length > 0:  # it may read what it writes
                piece = out[-back:][:length]
                out += piece
                length -= len(piece)
        else:
            return None
        if len(out) >= size:
            return bytes(out) if len(out) == size else None
    return None


def number(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first, and where it ends; -1 where there is none."""
    value = 0
    for n, byte in enumerate(data[at : at + 5]):
        value |= (byte & 127) << (7 * n)
        if byte < 128:
            return value, at + n + 1
    return -1, at


def _pieces(data: bytes, at: int) -> Iterator[tuple[int, int | None, int]]:
    """(length, how far back, where the literal is): copies of what was written, or (back is None) bytes of the data."""
    while at < len(data):
        tag = data[at]
        kind, high = tag & 3, tag >> 2
        at += 1
        if kind == 0:
            extra = max(0, high - 59)
            length = 1 + (int.from_bytes(data[at : at + extra], "little") if extra else high)
            at += extra
            if at + length > len(data):
                return
            yield length, None, at
            at += length
        elif kind == 1:
            yield 4 + (high & 7), ((tag >> 5) << 8) | int.from_bytes(data[at : at + 1], "little"), 0
            at += 1
        else:
            width = 2 if kind == 2 else 4
            yield 1 + high, int.from_bytes(data[at : at + width], "little"), 0
            at += width
