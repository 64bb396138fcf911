"""What compiled programs hold of the process: memory mappings (a dozen each, of which Linux gives a limited number), and
memory."""

from __future__ import annotations

import ctypes
import os


def share_used() -> float:
    """The share of the mappings this process may have that it has, from 0 to 1; 0 where the system does not tell."""
    try:
        with open("/proc/sys/vm/max_map_count") as limit, open("/proc/self/maps", "rb") as maps:
            return maps.read().count(b"\n") / int(limit.read())
    except (OSError, ValueError):
        return 0.0


def give_back() -> None:
    """Hand the memory of deleted programs back to the system, where the C library can: it keeps half a megabyte of each."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)
