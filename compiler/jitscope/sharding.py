"""`jitscope.sharding`: how arrays are laid out over several devices. All of it comes in a later release; the names are here
to say so (NotImplementedError), and to let code that only asks whether something is a sharding run."""

from typing import Any

from .api.many_devices import later


class Sharding:
    """A layout over devices. Making one raises NotImplementedError."""

    def __init__(self, *_: Any, **__: Any):
        raise later(f"jitscope.sharding.{type(self).__name__}")


class NamedSharding(Sharding):
    """A layout by names of mesh axes. Making one raises NotImplementedError."""


class SingleDeviceSharding(Sharding):
    """All on one device, which `jit(..., device=...)` and `device_put(x, device)` take as it is. Making one raises
    NotImplementedError."""


class PartitionSpec(Sharding):
    """Which mesh axes an array's axes are spread over. Making one raises NotImplementedError."""


class Mesh(Sharding):
    """Devices in a grid with named axes. Making one raises NotImplementedError."""


__all__ = ["Mesh", "NamedSharding", "PartitionSpec", "Sharding", "SingleDeviceSharding"]
