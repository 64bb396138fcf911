"""Riegeli, the file format of records in which jaxlib's executables for GPUs lie (google/riegeli, riegeli_records_file_format.md): chunks of
records, written through blocks of 64 KiB, each with a header that stands between the bytes of what was written."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from .snappy import block, number


_BLOCK, _BLOCK_HEADER = 1 << 16, 24
_CHUNK_HEADER = 40
_SIGNATURE = bytes.fromhex("83af70d10d884a3f")
"""How the header of a file's first block begins."""


def records(data: bytes) -> Iterator[bytes]:
    """The records of the first such file that stands in the data, those of a chunk one after the other; none where they are not packed by
    Snappy."""
    start = data.find(_SIGNATURE)
    if start < 0:
        return
    written = b"".join(data[at + _BLOCK_HEADER : at + _BLOCK] for at in range(start, len(data), _BLOCK))
    for content in _chunks(written):
        sizes, at = number(content, 1)
        if content[:1] == b"\0":  # not packed
            yield content[at + sizes :]
        elif content[:1] == b"s":
            _, at = number(content, at + sizes)
            if (found := block(content, at)) is not None:
                yield found


def _chunks(written: bytes) -> Iterator[bytes]:
    """The contents of simple chunks, until there is no chunk any more."""
    at = 0
    while at + _CHUNK_HEADER <= len(written):
        _, size, _, kind, _ = struct.unpack_from("<5Q", written, at)
        begin = at + _CHUNK_HEADER
        if kind & 0xFF not in b"smprt" or begin + size > len(written):
            return
        if kind & 0xFF == ord("r"):
            yield written[begin : begin + size]
        at = begin + max(size, kind >> 8)
