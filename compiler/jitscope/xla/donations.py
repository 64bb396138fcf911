"""Which call took a buffer's memory: asked when somebody uses the buffer afterwards."""

from collections import deque
from collections.abc import Callable
from typing import Any

from ..named_tuple import NamedTuple


class Story(NamedTuple):
    """Who took a buffer's memory, in words, and the position of the call that gave it."""

    text: str
    where: Any


_taken: deque[tuple[list[Any], Callable[[int], Story]]] = deque(maxlen=256)


def note(bufs: list[Any], story: Callable[[int], Story]) -> None:
    """Remember that these buffers were donated; `story(i)` says to whom. The last few calls are remembered."""
    _taken.append((bufs, story))


def story_of(buf: Any) -> Story | None:
    """Who took the buffer's memory; None if that is not known."""
    for bufs, story in reversed(_taken):
        for i, one in enumerate(bufs):
            if one is buf:
                return story(i)
    return None
