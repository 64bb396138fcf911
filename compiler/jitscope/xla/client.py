"""The process's CPU client, its devices, and getting data in and out of their buffers.

A *buffer* is jaxlib's runtime array. Never truth-test one (jax, when present, gives it `__bool__`), never call
`np.asarray` on one (a deleted one becomes an object array), and ask for its state through the functions below only:
jaxlib crashes on several questions about a deleted buffer.
"""

import math
import os
import threading
from functools import cache, lru_cache
from typing import Any

import numpy as np

from . import dlpack, forks
from .dtypes import PACKED, PLAIN, SUPPORTED, acceptable
from .errors import DeletedBufferError, ForkedProcessError, XlaError, deleted, translate
from .runtime import RuntimeFailure, _jax, xc


__all__ = [
    "Aval", "DeletedBufferError", "Device", "ForkedProcessError", "SingleDevice", "XlaError", "aval_of", "block_until_ready",
    "copy_to_device", "cpu_devices", "default_device", "delete", "device_count", "device_named", "device_of", "device_of_sharding",
    "from_dlpack", "get_client", "is_deleted", "is_device", "is_ready", "live_buffers", "nbytes", "pointer", "put",
    "set_device_count", "sharding_of", "to_dlpack", "to_numpy",
]  # fmt: skip

Buffer = Any
Device = _jax.Device
"""The class of devices."""

_COPY = xc.HostBufferSemantics.IMMUTABLE_ONLY_DURING_CALL  # the default aliases aligned numpy arrays
_batched_device_put = xc.batched_device_put
_client = None
_home: "tuple[SingleDevice, list[Device]] | None" = None
_lock = threading.Lock()


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


class SingleDevice(xc.SingleDeviceSharding):
    """All of an array on one device; get it from `sharding_of`."""

    memory_kind = None

    def _to_xla_hlo_sharding(self, ndim: int):
        return xc.HloSharding.replicate()


@forks.guard
def get_client() -> Any:
    """The process's CPU client, made at the first call with `device_count()` devices.

    Raises ForkedProcessError in a child forked after the client was made, ValueError for bad environment variables.
    """
    return _client if _client is not None else _make_client()


def _make_client() -> Any:
    global _client, _home
    with _lock:
        if _client is None:
            check_platforms(os.environ.get("JAX_PLATFORMS") or "cpu")
            client = xc.make_cpu_client(num_devices=device_count())
            forks.started(client)
            _home = _placement(_first_choice(client.local_devices()))
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
    """How many devices the CPU counts as: what `set_device_count` said, else JITSCOPE_NUM_CPU_DEVICES, else 1.

    JITSCOPE_CPU_DEVICES is read too. Raises ValueError for a text that is no positive integer.
    """
    if _client is not None:
        return len(_client.local_devices())
    if _count is not None:
        return _count
    name = next((name for name in _COUNT_VARIABLES if name in os.environ), None)
    text = "1" if name is None else os.environ[name]
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


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)  # a thread that held it in the parent is gone


def cpu_devices() -> list[Device]:
    """The host devices of this process."""
    return get_client().local_devices()


def default_device() -> Device:
    """The device that `put` takes when none is given."""
    return (_home or _make_home())[1][0]


@forks.guard
def _make_home() -> "tuple[SingleDevice, list[Device]]":
    get_client()
    assert _home is not None
    return _home


@cache
def _placement(device: Device) -> "tuple[SingleDevice, list[Device]]":
    return SingleDevice(device), [device]


def sharding_of(device: Device) -> SingleDevice:
    """The sharding of arrays that are on `device` alone, one object per device."""
    return _placement(device)[0]


@forks.guard
def put(x: np.ndarray, device: Device | None = None) -> Buffer:
    """A buffer on `device` (default: the default device) with a copy of `x`, of the same shape and dtype.

    Writing to `x` afterwards does not change the buffer. Any strides and byte order will do; float64 stays float64.
    Raises TypeError for dtypes without an XLA counterpart.
    """
    if type(x) is not np.ndarray or x.dtype not in SUPPORTED:
        x = acceptable(x)
    sharding, devices = (_home or _make_home()) if device is None else _placement(device)
    return _batched_device_put(
        aval_of(x.shape, x.dtype), sharding, [x], devices, enable_x64=True, host_buffer_semantics=_COPY
    )


def to_numpy(buf: Buffer, dtype: np.dtype | None = None) -> np.ndarray:
    """The buffer's contents as a read-only array; waits until they are there.

    No copy is made, except for dtypes that are packed on the device (int4, …). The array keeps the buffer alive, and
    while it exists the buffer's memory is not reused by a donation. `dtype` is the buffer's, by default as it says.
    Raises DeletedBufferError, or XlaError when the computation that was to fill the buffer failed.
    """
    try:
        return np.asarray(memoryview(buf))
    except BufferError:
        return _read_otherwise(buf, buf.aval.dtype if dtype is None else dtype)


def _to_numpy_in_child(buf, dtype=None):
    if not is_ready(buf):
        forks.refuse()
    try:
        return np.asarray(memoryview(buf))
    except BufferError:
        return _read_otherwise(buf, buf.aval.dtype if dtype is None else dtype)


forks.guard(to_numpy, instead=_to_numpy_in_child)


def _read_otherwise(buf: Buffer, dtype: np.dtype) -> np.ndarray:
    block_until_ready([buf])
    shape = buf.aval.shape
    if dtype in PLAIN:
        raise XlaError("the buffer could not be read")
    if 0 in shape:
        return _read_only(np.empty(shape, dtype))
    if dtype in PACKED:
        return _read_only(_unpacked(buf, dtype))
    return np.asarray(_Memory(_capsule(buf), f"<u{dtype.itemsize}", shape)).view(dtype)


def _capsule(buf: Buffer, stream: int | None = None) -> Any:
    """A DLPack capsule of the buffer's memory, which outlives the buffer.

    It is made of another object for the same memory: where the very buffer that a capsule was made of goes first, the
    process aborts.
    """
    try:
        return _jax.buffer_to_dlpack_managed_tensor(_alias(buf), stream=stream)
    except RuntimeFailure as error:
        raise translate(error, [buf]) from None


def _alias(buf: Buffer) -> Buffer:
    return buf._rewrap_with_aval_and_sharding(buf.aval, buf._sharding)


class _Memory:
    """A buffer's memory through numpy's array interface; arrays made from it hold it, and it holds the capsule.

    The DLPack capsule is what tells XLA about the view: without it a donation would overwrite what the view shows.
    jaxlib's own `unsafe_buffer_pointer` looks for jax at the first question about each buffer, so the address is taken
    from the capsule, too.
    """

    __slots__ = ("__array_interface__", "capsule")

    def __init__(self, capsule: Any, typestr: str, shape: tuple[int, ...]):
        self.capsule = capsule
        data = (dlpack.address(self.capsule), True)
        self.__array_interface__ = {"version": 3, "typestr": typestr, "shape": shape, "data": data}


def _unpacked(buf: Buffer, dtype: np.dtype) -> np.ndarray:
    from .packed import read

    return read(buf, dtype)


def _read_only(x: np.ndarray) -> np.ndarray:
    x.flags.writeable = False
    return x


def _check_alive(buf: Buffer) -> None:
    if buf.is_deleted():
        raise deleted(buf)


def is_deleted(buf: Buffer) -> bool:
    """Whether the buffer was deleted or donated."""
    return buf.is_deleted()


def delete(buf: Buffer) -> None:
    """Free the buffer's memory now; deleting twice is allowed.

    Said to another object for the same memory: the very object would lose what it points to, which crashes a thread that is
    just reading it.
    """
    if not buf.is_deleted():
        _alias(buf).delete()


def is_ready(buf: Buffer) -> bool:
    """Whether the contents are there. Raises DeletedBufferError."""
    _check_alive(buf)  # jaxlib crashes on the question otherwise
    return buf.is_ready()


def block_until_ready(bufs: list[Buffer]) -> None:
    """Wait for the contents of all buffers. Raises DeletedBufferError, or XlaError for a failed computation."""
    for buf in bufs:
        _check_alive(buf)
    try:
        xc.batched_block_until_ready(bufs)
    except RuntimeFailure as error:
        raise translate(error) from None


def _block_in_child(bufs):
    if not all(is_ready(buf) for buf in bufs):
        forks.refuse()


forks.guard(block_until_ready, instead=_block_in_child)


def pointer(buf: Buffer) -> int:
    """The address of the contents, once they are there.

    Raises DeletedBufferError, XlaError for a failed computation, TypeError for dtypes that are packed on the device.
    """
    block_until_ready([buf])
    if buf.aval.dtype in PACKED:
        raise TypeError(f"buffers of dtype {buf.aval.dtype} have no address for their elements")
    return dlpack.address(_capsule(buf))


def nbytes(buf: Buffer) -> int:
    """The bytes the contents take on the device (packed dtypes: as packed). Raises DeletedBufferError."""
    _check_alive(buf)
    bits = PACKED.get(buf.aval.dtype)
    return buf.on_device_size_in_bytes() if bits is None else -(-math.prod(buf.aval.shape) * bits // 8)


def device_of(buf: Buffer) -> Device:
    """The device of a buffer that is on a single one."""
    return buf._sharding._device


@forks.guard
def copy_to_device(buf: Buffer, device: Device) -> Buffer:
    """A copy of the buffer on `device`. Raises DeletedBufferError."""
    _check_alive(buf)
    copies = xc.batched_copy_array_to_devices_with_sharding(
        [buf], [xc.DeviceList((device,))], [sharding_of(device)], [xc.ArrayCopySemantics.ALWAYS_COPY]
    )
    return copies[0]


def live_buffers() -> list[Buffer]:
    """All live buffers of this process; none when no client was made."""
    return [] if _client is None else _client.live_arrays()


def to_dlpack(buf: Buffer, stream: int | None = None) -> Any:
    """A DLPack capsule that shares the buffer's memory. Raises DeletedBufferError, XlaError for dtypes without DLPack."""
    _check_alive(buf)
    block_until_ready([buf])
    return _capsule(buf, stream)


def from_dlpack(x: Any, device: Device | None = None) -> Buffer:
    """A buffer with a copy of what `x` (an object with `__dlpack__`, in host memory) holds.

    Raises TypeError for dtypes without an XLA counterpart, ValueError for memory that is not the host's.
    """
    return put(dlpack.read(x), device)
