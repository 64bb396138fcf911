"""Memory mappings: each compiled program holds a dozen, and Linux gives a process a limited number of them."""

from __future__ import annotations


def share_used() -> float:
    """The share of the mappings this process may have that it has, from 0 to 1; 0 where the system does not tell."""
    try:
        with open("/proc/sys/vm/max_map_count") as limit, open("/proc/self/maps", "rb") as maps:
            return maps.read().count(b"\n") / int(limit.read())
    except (OSError, ValueError):
        return 0.0
