"""Flatbuffers: tables of numbered fields in bytes, which readers may know only some of.

A table begins with the distance back to its layout: two sizes, then for each field where it lies in the table (0: it does
not). Fields are numbers, or distances ahead to texts, vectors and other tables.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from ..named_tuple import NamedTuple


class Number(NamedTuple):
    """A field or element with the struct letter of its type: b B h H i I q Q ?"""

    letter: str
    value: int


class Numbers(NamedTuple):
    """A vector of numbers of one type."""

    letter: str
    values: Sequence[int]


Table = dict[int, Any]
"""Fields by number: a Number, Numbers, bytes, text, a Table, or a list of texts or Tables. None is left out."""


def write(root: Table, mark: bytes) -> bytes:
    """The bytes of a table; `mark` (4 bytes) says what file it is."""
    out = bytearray(4) + mark
    struct.pack_into("<I", out, 0, _table(out, root))
    return bytes(out)


def _pad(out: bytearray, to: int) -> None:
    out.extend(bytes(-len(out) % to))


def _table(out: bytearray, fields: Table) -> int:
    fields = {n: v for n, v in fields.items() if v is not None}
    places, size = {}, 4
    for n, value in sorted(fields.items(), key=lambda pair: -_width(pair[1])):
        size += -size % _width(value)
        places[n] = size
        size += _width(value)
    _pad(out, 2)
    layout = len(out)
    slots = [places.get(n, 0) for n in range(max(fields, default=-1) + 1)]
    out.extend(struct.pack(f"<{len(slots) + 2}H", 4 + 2 * len(slots), size, *slots))
    _pad(out, 8)
    start = len(out)
    out.extend(struct.pack("<i", start - layout) + bytes(size - 4))
    for n, value in fields.items():
        at = start + places[n]
        if isinstance(value, Number):
            struct.pack_into("<" + value.letter, out, at, value.value)
        else:
            struct.pack_into("<I", out, at, _object(out, value) - at)
    return start


def _width(value: Any) -> int:
    return struct.calcsize(value.letter) if isinstance(value, Number) else 4


def _object(out: bytearray, value: Any) -> int:
    """Append what a field points to; where it begins."""
    if isinstance(value, dict):
        return _table(out, value)
    _pad(out, 8)
    start = len(out)
    if isinstance(value, str):
        text = value.encode()
        out.extend(struct.pack("<I", len(text)) + text + b"\0")
    elif isinstance(value, (bytes, bytearray)):
        out.extend(struct.pack("<I", len(value)) + value)
    elif isinstance(value, Numbers):
        out.extend(struct.pack(f"<I{len(value.values)}{value.letter}", len(value.values), *value.values))
    else:
        out.extend(struct.pack("<I", len(value)) + bytes(4 * len(value)))
        for i, item in enumerate(value):
            at = start + 4 + 4 * i
            struct.pack_into("<I", out, at, _object(out, item) - at)
    return start


class Reader:
    """A table in bytes. Methods raise struct.error or ValueError where the bytes are no such thing."""

    def __init__(self, data: bytes, at: int | None = None):
        self.data = data
        self.at = struct.unpack_from("<I", data, 0)[0] if at is None else at
        layout = self.at - self._number("i", self.at)
        if layout < 0:
            raise ValueError("a table without layout")
        count = (self._number("H", layout) - 4) // 2
        self.places = struct.unpack_from(f"<{max(count, 0)}H", data, layout + 4)

    def _number(self, letter: str, at: int) -> int:
        return struct.unpack_from("<" + letter, self.data, at)[0]

    def _place(self, field: int) -> int | None:
        place = self.places[field] if field < len(self.places) else 0
        return self.at + place if place else None

    def _ahead(self, at: int) -> int:
        distance = self._number("I", at)
        if distance == 0:
            raise ValueError("something points to itself")
        return at + distance

    def _bytes(self, start: int) -> bytes:
        size = self._number("I", start)
        found = self.data[start + 4 : start + 4 + size]
        if len(found) != size:
            raise ValueError("something is cut off")
        return found

    def number(self, field: int, letter: str, default: int = 0) -> int:
        at = self._place(field)
        return default if at is None else self._number(letter, at)

    def bytes(self, field: int) -> bytes:
        at = self._place(field)
        return b"" if at is None else self._bytes(self._ahead(at))

    def text(self, field: int) -> str:
        return self.bytes(field).decode()

    def table(self, field: int) -> Reader | None:
        at = self._place(field)
        return None if at is None else Reader(self.data, self._ahead(at))

    def numbers(self, field: int, letter: str) -> tuple[int, ...]:
        at = self._place(field)
        if at is None:
            return ()
        start = self._ahead(at)
        return struct.unpack_from(f"<{self._number('I', start)}{letter}", self.data, start + 4)

    def _items(self, field: int) -> list[int]:
        at = self._place(field)
        if at is None:
            return []
        start = self._ahead(at)
        count = self._number("I", start)
        if start + 4 + 4 * count > len(self.data):
            raise ValueError("a vector is cut off")
        return [self._ahead(start + 4 + 4 * i) for i in range(count)]

    def tables(self, field: int) -> list[Reader]:
        return [Reader(self.data, at) for at in self._items(field)]

    def texts(self, field: int) -> list[str]:
        return [self._bytes(at).decode() for at in self._items(field)]
