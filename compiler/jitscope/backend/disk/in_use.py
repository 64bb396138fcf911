"""The folder that the options name: opened once, and warned of once where it cannot be used."""

from __future__ import annotations

import sys
import threading
import warnings

from ...core.config import value_of
from ...xla.forks import run_in_children
from .folder import Unusable, default_folder
from .store import Store


_stores: dict[tuple[str | None, int], Store | None] = {}
_lock = threading.Lock()


def store() -> Store | None:
    """The folder in use; None where the cache is off or its folder cannot be used."""
    if not value_of("compilation_cache"):
        return None
    root, limit = value_of("compilation_cache_dir"), value_of("compilation_cache_max_size")
    if limit == 0:
        return None
    try:
        return _stores[root, limit]
    except KeyError:
        return _open(root, limit)


def _open(root: str | None, limit: int) -> Store | None:
    why = ""
    with _lock:
        if (root, limit) not in _stores:
            made = None
            try:
                made = Store(root or default_folder(), limit)
            except Unusable as error:
                why = str(error)
            _stores[root, limit] = made
    if why:
        warn(why)
    return _stores[root, limit]


def forget() -> None:
    """Open the folders again when they are needed. In a forked child, locks may be held by threads that are not there any
    more."""
    global _lock
    _lock = threading.Lock()
    _stores.clear()


run_in_children(forget)


def warn(why: str) -> None:
    """Tell the user why nothing is kept."""
    text = (
        f"compiled programs are not kept on disk: {why}. Name a folder of yours in JITSCOPE_COMPILATION_CACHE_DIR, or "
        "switch this off with JITSCOPE_COMPILATION_CACHE=0"
    )
    if threading.current_thread() is threading.main_thread():
        warnings.warn(text, UserWarning, stacklevel=2)
        return
    try:
        warnings.warn(text, UserWarning, stacklevel=2)
    except UserWarning:  # an error would be lost in this thread
        print(f"jitscope: {text}", file=sys.stderr)
