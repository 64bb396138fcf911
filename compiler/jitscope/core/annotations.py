"""The types that annotations name, for all rooms.

Annotations are texts when a program runs, so nothing is loaded for them, and rooms below may name what rooms above define: type checkers
and editors read the types, Python gets names. Who needs a type itself, for `isinstance` say, imports it from where it is defined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from ..api.arrays import Array as Array
    from ..lax.products import DotDimensionNumbers as DotDimensionNumbers, PrecisionLike as PrecisionLike
    from ..numpy._signatures import Axes as Axes
    from ..typing import (
        ArrayLike as ArrayLike,
        DTypeLike as DTypeLike,
        PyTree as PyTree,
        SupportsArray as SupportsArray,
        SupportsDLPack as SupportsDLPack,
        SupportsDType as SupportsDType,
        SupportsShape as SupportsShape,
    )
    from ..xla.client import Device as Device
    from ..xla.pytrees import PyTreeDef as PyTreeDef
    from .meshes import AbstractMesh as AbstractMesh, Mesh as Mesh
    from .primitive import Primitive as Primitive
    from .shardings import NamedSharding as NamedSharding, PartitionSpec as PartitionSpec, Sharding as Sharding
else:
    Array = ArrayLike = Axes = DTypeLike = Device = DotDimensionNumbers = PrecisionLike = PyTree = PyTreeDef = Any
    AbstractMesh = Mesh = NamedSharding = PartitionSpec = Primitive = Sharding = Any
    SupportsArray = SupportsDLPack = SupportsDType = SupportsShape = Any
