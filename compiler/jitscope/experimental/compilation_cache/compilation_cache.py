"""The folder of the cache on disk, by the names JAX has for it; the option `compilation_cache_dir` is the same."""

from __future__ import annotations

import os

from ...core.config import config


def set_cache_dir(path: str | os.PathLike[str]) -> None:
    """Keep compiled programs in this folder from now on. Whoever can write to it can run code here: share it with nobody you
    do not trust."""
    config.update("compilation_cache_dir", path)


def reset_cache() -> None:
    """Keep compiled programs in the usual folder again."""
    config.update("compilation_cache_dir", None)
