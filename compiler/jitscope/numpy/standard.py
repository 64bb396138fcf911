"""What the Python array API standard asks a namespace about itself."""

from __future__ import annotations

from typing import Any

from ..core import dtypes as core_dtypes
from ..core.config import settings
from ..xla import client
from . import dtypes


class ArrayNamespaceInfo:
    """What the namespace can do, where its arrays can be, and which dtypes they have."""

    def capabilities(self) -> dict[str, Any]:
        """What may be asked: "boolean indexing" and "data-dependent shapes" are there, but not while tracing: False,
        as nobody can rely on them. "max dimensions" is how many axes an array may have."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self) -> Any:
        """Where new arrays are; None: not bound to a device, they go along with others."""
        return settings().default_device

    def devices(self) -> list[Any]:
        """All that functions take as `device=`: None (not bound to one) and the devices."""
        return [None, *client.cpu_devices()]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of new arrays of each kind; they are the same on all devices."""
        real, whole = core_dtypes.default_float(), core_dtypes.default_int()
        return {
            "real floating": real,
            "complex floating": core_dtypes.complex_of(real),
            "integral": whole,
            "indexing": whole,
        }

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, Any]:
        """The dtypes of the standard that arrays can have, by name: of one kind, several, or all (None). Those of 64
        bits are there with `enable_x64`. Raises ValueError for an unknown kind."""
        names = "bool int8 int16 int32 uint8 uint16 uint32 float32 complex64".split()
        if settings().enable_x64:
            names += "int64 uint64 float64 complex128".split()
        every = {name: core_dtypes.canonicalize(name) for name in names}
        return {n: d for n, d in every.items() if kind is None or dtypes.isdtype(d, kind)}


def __array_namespace_info__() -> ArrayNamespaceInfo:
    """What the array API standard asks about the namespace: its capabilities, devices and dtypes."""
    return ArrayNamespaceInfo()
