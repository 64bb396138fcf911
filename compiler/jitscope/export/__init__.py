"""`jitscope.export`: compiled functions as bytes that outlive the process and the Python code they came from.

exported = export.export(jit(f))(jx.ShapeDtypeStruct((3,), "float32"))
data = exported.serialize(vjp_order=1)              # portable StableHLO, with its pullback
g = export.deserialize(data).call                   # elsewhere: f's source does not exist there
jit(grad(lambda x: g(x).sum()))(x)
"""

from .artifact import ArtifactError as ArtifactError
from .exporting import Exported as Exported, deserialize as deserialize, export as export
from .trees import (
    register_namedtuple_serialization as register_namedtuple_serialization,
    register_pytree_node_serialization as register_pytree_node_serialization,
)


def default_export_platform() -> str:
    """The platform functions are exported for if none is named."""
    return "cpu"


__all__ = [
    "ArtifactError",
    "Exported",
    "default_export_platform",
    "deserialize",
    "export",
    "register_namedtuple_serialization",
    "register_pytree_node_serialization",
]
