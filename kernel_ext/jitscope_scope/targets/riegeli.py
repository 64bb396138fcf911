"""Riegeli, the file format of records in which jaxlib's executables for GPUs lie (google/riegeli, riegeli_records_file_format.md): blocks of
64 KiB, each with a header that stands between the bytes of what was written."""

from __future__ import annotations


_BLOCK, _HEADER = 1 << 16, 24
_SIGNATURE = bytes.fromhex("83af70d10d884a3f")
"""How the header of a file's first block begins."""


def without_headers(data: bytes) -> bytes:
    """The bytes from the first file of records on, as they were written; all of the data where there is no such file."""
    start = data.find(_SIGNATURE)
    if start < 0:
        return data
    return b"".join(data[at + _HEADER : at + _BLOCK] for at in range(start, len(data), _BLOCK))
