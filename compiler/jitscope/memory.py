"""`jitscope.memory`: kinds of memory by name, `device_put(x, jx.memory.Space.Host)`."""

from .core.memory_spaces import MemorySpace as Space


__all__ = ["Space"]
