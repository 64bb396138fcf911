"""Where the memory of a value is, as types in JAX name it."""

from __future__ import annotations

import enum


class MemorySpace(enum.Enum):
    """The device's memory, the host's, or either. On a CPU they are one memory, and every value's is the device's."""

    Device = enum.auto()
    Host = enum.auto()
    Any = enum.auto()

    def __repr__(self) -> str:
        return f"MemorySpace.{self.name}"

    @property
    def kind(self) -> str:
        """As shardings name it. Raises ValueError for Any, which is no place."""
        if self is MemorySpace.Any:
            raise ValueError(
                "memory.Space.Any is no place that values can be put into: name memory.Space.Device or memory.Space.Host"
            )
        return "device" if self is MemorySpace.Device else "pinned_host"
