"""BLAKE2 by its own module: `hashlib` would load OpenSSL with it, a twentieth of the time that importing jitscope takes."""

from __future__ import annotations

from typing import TYPE_CHECKING


__all__ = ["blake2b"]

if TYPE_CHECKING:
    from hashlib import blake2b
else:
    try:
        from _blake2 import blake2b
    except ImportError:  # no CPython, or one built without it
        from hashlib import blake2b
