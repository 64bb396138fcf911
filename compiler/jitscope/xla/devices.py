"""The process's CPU client and its devices."""

import os
import re
import threading
from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from . import forks
from .runtime import _jax, xc


__all__ = ["Aval", "Client", "Device", "SingleDevice", "all_devices", "aval_of", "client_of", "cpu_devices", "default_device", "device_count",
           "device_named", "device_of_sharding", "get_client", "is_device", "named_placement", "set_device_count",
           "sharding_of"]  # fmt: skip

if TYPE_CHECKING:  # jaxlib says nothing of its types

    class Device:
        """A device of a client."""

        id: int
        process_index: int
        local_hardware_id: int | None
        host_id: int
        task_id: int
        platform: str
        device_kind: str
        client: Any

        def memory(self, kind: str, /) -> Any: ...
        def default_memory(self) -> Any: ...
        def addressable_memories(self) -> list[Any]: ...
        def memory_stats(self) -> dict[str, int] | None: ...
        def live_buffers(self) -> list[Any]: ...
else:
    Device = _jax.Device
Client = _jax.Client
"""The class of devices' clients."""

_client = None
home: "tuple[SingleDevice, list[Device]] | None" = None
_maker: "Callable[[], Any] | None" = None
_lock = threading.Lock()


def make_client_by(make: "Callable[[], Any]") -> None:
    """Have the client made so, when it is needed: of several processes that compute together."""
    global _maker
    _maker = make


class Aval:
    """What jaxlib wants to know of an array: shape (tuple of int), dtype (np.dtype), ndim, weak_type."""

    __slots__ = ("dtype", "ndim", "shape", "weak_type")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype):
        self.shape = shape
        self.dtype = dtype
        self.ndim = len(shape)
        self.weak_type = False

    def __repr__(self) -> str:
        return f"Aval({self.shape}, {self.dtype})"


aval_of = lru_cache(maxsize=4096)(Aval)
"""aval_of(shape, dtype): the interned Aval; dtype must be an np.dtype."""


_REPLICATED = xc.HloSharding.replicate()  # asked for at each array made


class SingleDevice(xc.SingleDeviceSharding):
    """All of an array on one device; get it from `sharding_of`."""

    memory_kind: str | None = None
    said: Any = None  # what a user knows it by, if that is not the device
    __eq__, __hash__ = object.__eq__, object.__hash__  # those of one device that are known otherwise are not the same

    def _to_xla_hlo_sharding(self, ndim: int):
        return _REPLICATED


@forks.guard
def get_client() -> Any:
    """The process's CPU client, made at the first call with `device_count()` devices.

    Raises ForkedProcessError in a child forked after the client was made, ValueError for bad environment variables.
    """
    return _client if _client is not None else _make_client()


def client_of(device: Any) -> Any:
    """The client that compiles for a device, or for several: the process's own, but for another library's GPU or TPU."""
    return get_client() if getattr(device, "platform", "cpu") == "cpu" else device.client


def _make_client() -> Any:
    global _client, home
    with _lock:
        if _client is None:
            check_platforms(os.environ.get("JAX_PLATFORMS") or "cpu")
            client = _maker() if _maker is not None else xc.make_cpu_client(num_devices=device_count())
            forks.note_threads(client)
            home = placement(_first_choice(client.local_devices()))
            _client = client
    return _client


_ACCELERATORS = frozenset(("cuda", "rocm", "gpu", "tpu", "METAL", "metal", "oneapi"))


def check_platforms(platforms: str) -> None:
    """What JAX_PLATFORMS says: names between commas. Raises RuntimeError for one that nobody knows, and where the CPU is not
    among them."""
    names = platforms.split(",")
    unknown = [name for name in names if name != "cpu" and name not in _ACCELERATORS]
    if unknown or "cpu" not in names:
        raise RuntimeError(
            f"there is no backend {(unknown or names)[0]!r}, which JAX_PLATFORMS={platforms} asks for: this release runs on "
            "'cpu'"
        )


_COUNT_VARIABLES = ("JITSCOPE_NUM_CPU_DEVICES", "JITSCOPE_CPU_DEVICES")
_count: int | None = None


def device_count() -> int:
    """How many devices the CPU counts as: what `set_device_count` said, else JITSCOPE_NUM_CPU_DEVICES, else what XLA_FLAGS
    says, else 1.

    JITSCOPE_CPU_DEVICES is read too. Raises ValueError for a text that is not a positive integer.
    """
    if _client is not None:
        return len(_client.local_devices())
    if _count is not None:
        return _count
    name = next((name for name in _COUNT_VARIABLES if name in os.environ), None)
    if name is None:
        in_flags = re.findall(r"--xla_force_host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
        return int(in_flags[-1]) if in_flags else 1
    text = os.environ[name]
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"{name} must be a positive integer, not {text!r}")
    return int(text)


def set_device_count(count: int) -> None:
    """Decide how many devices the CPU counts as. Raises RuntimeError once the client is made with another number."""
    global _count
    if _client is not None and count != device_count():
        raise RuntimeError(
            f"num_cpu_devices cannot become {count}: the {device_count()} there are in use already. Set it before the "
            "first array is made and the first function compiled, or in the environment as JITSCOPE_NUM_CPU_DEVICES"
        )
    _count = count


def _first_choice(devices: list[Device]) -> Device:
    wanted = os.environ.get("JITSCOPE_DEFAULT_DEVICE", "").strip()
    try:
        return _named(wanted, devices) if wanted else devices[0]
    except ValueError as error:
        raise ValueError(f"the environment variable JITSCOPE_DEFAULT_DEVICE is {error}, not {wanted!r}") from None


def is_device(x: Any) -> bool:
    """Whether it is one of the runtime's devices."""
    return isinstance(x, _jax.Device)


def device_of_sharding(x: Any) -> Device | None:
    """The device of an array's sharding; None for what is none, or of several."""
    return x._device if isinstance(x, xc.SingleDeviceSharding) else None


def device_named(name: str) -> Device:
    """The device called "cpu" (the first), "cpu:0", "cpu:1", … Raises ValueError naming those there are."""
    return _named(name, cpu_devices())


def _named(name: str, devices: list[Device]) -> Device:
    found = {f"cpu:{i}": device for i, device in enumerate(devices)}
    if name != "cpu" and name not in found:
        raise ValueError(f"the name of a device, one of {', '.join(found)}")
    return found["cpu:0" if name == "cpu" else name]


def _new_lock() -> None:
    global _lock
    _lock = threading.Lock()


forks.run_in_children(_new_lock)  # a thread that held it in the parent is gone


def cpu_devices() -> list[Device]:
    """The host devices of this process."""
    return get_client().local_devices()


def default_device() -> Device:
    """The device that `put` takes when none is given."""
    return (home or make_home())[1][0]


@forks.guard
def make_home() -> "tuple[SingleDevice, list[Device]]":
    """Where arrays go by default, once the client is made: sharding and devices as `placement` gives them."""
    get_client()
    assert home is not None
    return home


@cache
def placement(device: Device) -> "tuple[SingleDevice, list[Device]]":
    """The sharding of arrays on one device, and the list of its devices; one object for each device."""
    return SingleDevice(device), [device]


def sharding_of(device: Device) -> SingleDevice:
    """The sharding of arrays that are on `device` alone, one object per device."""
    return placement(device)[0]


@cache
def placement_in(device: Device, kind: str | None) -> SingleDevice:
    """As `sharding_of`, of arrays in a kind of memory."""
    made = SingleDevice(device, memory_kind=kind)
    made.memory_kind = kind
    return made


@cache
def named_placement(device: Device, said: Any) -> SingleDevice:
    """As `sharding_of`, of arrays that a user put there, and of what is computed of them: known by the device or by a mesh of it."""
    made = SingleDevice(device)
    made.said = said
    return made


def all_devices() -> list[Device]:
    """The devices of all processes."""
    return get_client().devices()


def live_arrays() -> list[Any]:
    """The client's live buffers; none when no client was made."""
    return [] if _client is None else _client.live_arrays()
