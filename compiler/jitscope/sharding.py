"""`jitscope.sharding`: how arrays are laid out over several devices."""

from .api.many_devices import auto_axes as auto_axes, explicit_axes as explicit_axes, reshard as reshard
from .core.avals import ManualAxisType as ManualAxisType
from .core.meshes import (
    AbstractDevice as AbstractDevice,
    AbstractMesh as AbstractMesh,
    AxisType as AxisType,
    Mesh as Mesh,
    get_abstract_mesh as get_abstract_mesh,
    get_mesh as get_mesh,
    set_mesh as set_mesh,
    use_abstract_mesh as use_abstract_mesh,
)
from .core.shardings import (
    NamedSharding as NamedSharding,
    P as P,
    PartitionSpec as PartitionSpec,
    Sharding as Sharding,
    SingleDeviceSharding as SingleDeviceSharding,
    make_single_device_sharding as make_single_device_sharding,
)
