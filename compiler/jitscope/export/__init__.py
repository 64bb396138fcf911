"""`jitscope.export`: compiled functions as bytes that outlive the process and the Python code they came from.

exported = export.export(jit(f))(jx.ShapeDtypeStruct((3,), "float32"))
data = exported.serialize(vjp_order=1)              # portable StableHLO, with its pullback
g = export.deserialize(data).call                   # elsewhere: f's source does not exist there
jit(grad(lambda x: g(x).sum()))(x)
b, n = export.symbolic_shape("b, n")                # sizes that are known when it is called
export.export(jit(f))(jx.ShapeDtypeStruct((b, 2 * n), "float32"))
"""

from ..symbolic.dimension import is_symbolic_dim, symbolic_dim_bounds
from ..symbolic.scope import SymbolicScope
from ..symbolic.shapes import symbolic_shape
from .checks import DisabledSafetyCheck
from .exported import *
from .exporting import *
from .serializing import ArtifactError
from .specs import symbolic_args_specs
from .trees import *


__all__ = [
           "ArtifactError",
           "DisabledSafetyCheck",
           "Exported",
           "SymbolicScope",
           "default_export_platform",
           "deserialize",
           "export",
           "is_symbolic_dim",
           "maximum_supported_calling_convention_version",
           "minimum_supported_calling_convention_version",
           "register_namedtuple_serialization",
           "register_pytree_node_serialization",
           "symbolic_args_specs",
           "symbolic_dim_bounds",
           "symbolic_shape",
]  # fmt: skip
