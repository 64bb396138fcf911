"""`jitscope.experimental.layout`: how arrays lie in memory. It comes in a later release; code that only asks whether something
is a format runs."""

from typing import Any

from ..core.errors import later


class Layout:
    """The order of an array's axes in memory. Making one raises NotImplementedError."""

    def __init__(self, *_: Any, **__: Any):
        raise later(f"jitscope.experimental.layout.{type(self).__name__}")


class Format(Layout):
    """A layout on devices. Making one raises NotImplementedError."""


__all__ = ["Format", "Layout"]
