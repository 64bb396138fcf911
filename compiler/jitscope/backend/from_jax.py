"""Arrays of JAX as ours."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.avals import aval_of, not_an_array
from ..core.config import settings
from ..core.errors import DeletedArrayError
from ..core.jax_values import jax_kind
from ..xla import client
from .array import Array, one_device, stays


def array_from_jax(x: Any) -> Array:
    """An array of JAX as one of ours, which shares its memory. Where JAX was told on which device it is to be, ours is on the one of
    the same number.

    Raises TypeError for what is no array of JAX and for those that are not in the memory of one CPU device, DeletedArrayError.
    """
    if jax_kind(x) is None:
        raise TypeError(not_an_array(x))
    aval = aval_of(x)  # raises for keys and tracers
    if x.is_deleted():
        raise DeletedArrayError(f"the array of JAX ({aval.short()}) was deleted or donated to a computation of JAX")
    devices = sorted(x.devices(), key=lambda device: device.id)
    if len(devices) > 1 or devices[0].platform != "cpu":
        place = f"{len(devices)} devices" if len(devices) > 1 else f"the device {devices[0]}"
        raise TypeError(
            f"an array of JAX ({aval.short()}) on {place} is not taken as it is. What to do: bring it to the host's memory, "
            "jitscope.numpy.asarray(jax.device_get(x))"
        )
    value = np.asarray(x)
    if one_device() or not x.committed:
        return Array(client.share(value, settings().default_device), aval)
    ours = {device.id: device for device in client.cpu_devices()}.get(devices[0].id)
    if ours is None:
        raise TypeError(
            f"an array of JAX ({aval.short()}) is on the device {devices[0]}, which jitscope does not have. What to do: "
            "jitscope.numpy.asarray(jax.device_get(x))"
        )
    return stays(Array(client.share(value, ours), aval))
