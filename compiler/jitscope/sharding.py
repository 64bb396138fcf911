"""`jitscope.sharding`: how arrays are laid out over several devices. It comes in a later release; the names are here to
say so (NotImplementedError), and to let code run that only asks whether something is a sharding, or whether there is a mesh."""

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


class _Unconstrained:
    def __repr__(self) -> str:
        return "UNCONSTRAINED"


class PartitionSpec(tuple):
    """Which mesh axes an array's axes are spread over: for each a name, a tuple of names, or None. Plain data."""

    UNCONSTRAINED = _Unconstrained()
    __slots__ = ()

    def __new__(cls, *partitions: Any) -> "PartitionSpec":
        return super().__new__(cls, partitions)

    def __repr__(self) -> str:
        return f"PartitionSpec({', '.join(map(repr, self))})"

    def __reduce__(self) -> Any:
        return PartitionSpec, tuple(self)


P = PartitionSpec


class AbstractMesh:
    """The shape of a mesh and the names of its axes. Here it is empty: nothing is spread over devices."""

    empty = True
    axis_names: tuple[str, ...] = ()
    axis_sizes: tuple[int, ...] = ()
    axis_types: tuple[Any, ...] = ()

    def __init__(self, axis_sizes: Any = (), axis_names: Any = (), *_: Any, **__: Any):
        if axis_sizes or axis_names:
            raise later("jitscope.sharding.AbstractMesh")

    @property
    def shape(self) -> dict[str, int]:
        return {}


def get_abstract_mesh() -> AbstractMesh:
    """The mesh in force: there is none, so it is empty."""
    return AbstractMesh()


def reshard(xs: Any, out_shardings: Any) -> Any:
    """Values in another layout. Raises NotImplementedError."""
    raise later("reshard")


class Mesh(Sharding):
    """Devices in a grid with named axes. Making one raises NotImplementedError."""


__all__ = [
    "AbstractMesh",
    "Mesh",
    "NamedSharding",
    "P",
    "PartitionSpec",
    "Sharding",
    "SingleDeviceSharding",
    "get_abstract_mesh",
    "reshard",
]  # fmt: skip
