"""Memory that the operating system hands out anew: page faults of this process, and what asks the C library for larger pages.

glibc gives blocks of more than 32 MiB back as soon as they are free, also what a program needs for one call alone (M_MMAP_THRESHOLD in mallopt(3)): each call meets
their pages for the first time. With the tunable glibc.malloc.hugetlb=1 it asks for pages of 2 MiB where Linux leaves that to programs.
"""

from __future__ import annotations

import os
import platform
import sys
from pathlib import Path


_LARGE_PAGES = "glibc.malloc.hugetlb"


def page_faults() -> int:
    """How many pages this process has met for the first time so far; 0 where that was not looked at, on other systems than Linux."""
    if sys.platform != "linux":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def tunables_for_large_pages() -> str:
    """What GLIBC_TUNABLES has to be when Python starts, so that memory comes in larger pages; "" where that changes nothing."""
    set_already = os.environ.get("GLIBC_TUNABLES", "")
    if _page_mode() != "madvise" or platform.libc_ver()[0] != "glibc" or _LARGE_PAGES in set_already:
        return ""
    return f"{set_already}:{_LARGE_PAGES}=1".lstrip(":")


def _page_mode() -> str:
    """Linux's word for when memory comes in large pages (always, madvise, never); "" on other systems."""
    try:
        modes = Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text(encoding="ascii")
    except OSError:
        return ""
    return next((mode.strip("[]") for mode in modes.split() if mode.startswith("[")), "")
