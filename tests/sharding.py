"""Parts of the tests that together are all, for machines that share the work: `pytest --shard 2/6`."""

from __future__ import annotations

import re
import zlib


def parsed(text: str) -> tuple[int, int]:
    """The number of the part, from 1, and of the parts. Raises ValueError for what is no part."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    part, parts = map(int, found.groups()) if found else (0, 0)
    if not 1 <= part <= parts:
        raise ValueError(f"--shard is to be such as 2/6, the second of six parts, not {text!r}")
    return part, parts


def belongs(test: str, part: int, parts: int) -> bool:
    """Whether the test of that id is in the part. It depends on the id alone: the same on each machine, whatever else is there."""
    return zlib.crc32(test.encode()) % parts == part - 1
