"""The types that annotations name, for all rooms.

Annotations are texts when a program runs, so nothing is loaded for them, and rooms below may name what rooms above define: type checkers
and editors read the types, Python gets names. Who needs a type itself, for `isinstance` say, imports it from where it is defined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .late import any_names


if TYPE_CHECKING:
    from ..api.arrays import Array as Array
    from ..backend.arguments import Arguments as Arguments
    from ..backend.caches import TraceEntry as TraceEntry
    from ..backend.compile import Program as Program
    from ..backend.dispatch import JitFunction as JitFunction
    from ..backend.function_objects import FunctionObject as FunctionObject
    from ..backend.input_layouts import Orders as Orders
    from ..backend.rewriting import Rewrite as Rewrite
    from ..backend.spread_calls import Shardings as Shardings
    from ..backend.stages import LoweredStage as LoweredStage, TracedStage as TracedStage
    from ..control.refs import Ref as Ref
    from ..lax.products import DotDimensionNumbers as DotDimensionNumbers, PrecisionLike as PrecisionLike
    from ..nn.initializers import Initializer as Initializer
    from ..numpy._signatures import *
    from ..optimizers.base import Number as Number, ScalarOrSchedule as ScalarOrSchedule
    from ..scipy.sparse.vectors import SupportsMatmul as SupportsMatmul
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
    from .avals import ShapedArray as ShapedArray
    from .config import Config as Config
    from .formats import Format as Format
    from .jaxpr import Var as Var
    from .manual_axis_type import ManualAxisType as ManualAxisType
    from .meshes import AbstractMesh as AbstractMesh, Mesh as Mesh
    from .operators import Index as Index
    from .primitive import HigherOrder as HigherOrder, Primitive as Primitive
    from .shardings import NamedSharding as NamedSharding, PartitionSpec as PartitionSpec, Sharding as Sharding
    from .source import Position as Position
    from .staging import JaxprTrace as JaxprTrace
    from .trace import Trace as Trace, Tracer as Tracer
else:
    any_names(globals())
