"""Caches that forget what was not used, or was made, for longest, at no cost for what is found."""

from __future__ import annotations

from itertools import islice
from typing import Any


def make_room(cache: dict[Any, Any], most: int) -> bool:
    """Drop an eighth of a cache of `most` entries, those that have been in it for longest; whether it was full."""
    full = len(cache) >= most
    for key in list(islice(cache, most // 8 if full else 0)):
        cache.pop(key, None)  # another thread may have been first
    return full


class RecencyCache(dict[Any, Any]):
    """A cache of at most so many entries. What is used stays: where half of them are new, those older that were not asked
    for since are forgotten.

    Read it as a dict; for what is not in it ask `again`, and `keep` what had to be made.
    """

    __slots__ = ("most", "old")

    def __init__(self, most: int):
        super().__init__()
        self.most = most
        self.old: dict[Any, Any] = {}

    def again(self, key: Any) -> Any:
        """What was kept under the key a while ago, or None."""
        value = self.old.get(key)
        return None if value is None else self.keep(key, value)

    def keep(self, key: Any, value: Any) -> Any:
        """File a value, and give it."""
        if len(self) >= self.most // 2:
            self.age()
        self[key] = value
        return value

    def age(self) -> None:
        """Forget what was not used since this was called before."""
        self.old = dict(self)
        super().clear()

    def clear(self) -> None:
        """Forget everything."""
        super().clear()
        self.old.clear()


class DerivationCache(dict[Any, Any]):
    """What is made of a program again and again, under any keys; the oldest goes first."""

    __slots__ = ()
    MOST = 256

    def __setitem__(self, key: Any, value: Any) -> None:
        make_room(self, self.MOST)
        super().__setitem__(key, value)
