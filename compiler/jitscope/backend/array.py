"""`Array`: an immutable array on a device."""

from __future__ import annotations

import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Self

import numpy as np

from ..core import config, dtypes, meshes_in_force, notices
from ..core.annotations import Device, Sharding
from ..core.avals import ShapedArray, aval_of, from_protocol, is_python_scalar, physical, refuse_masked
from ..core.config import settings
from ..core.dtypes import canonicalize
from ..core.errors import DeletedArrayError
from ..core.forgetful_caches import make_room
from ..core.formats import Format, Layout
from ..core.jax_values import asked_by_jax, jax_kind
from ..core.messages import immutable_message
from ..core.operators import Operators
from ..core.part_types import sums_of
from ..core.references import Reference
from ..core.staging import capturing, constant_atom
from ..core.trace import Tracer
from ..xla import client
from . import conversions
from .guarding import guard


_LONG = 1 << 20
"""Bytes of an array whose `repr` has no values, as in JAX."""


class Array(Operators):
    """An array: `buf` is the runtime's buffer, `aval` says shape, dtype and weak type.

    Operators and methods are NumPy's, with JAX's promotion; arrays cannot be changed, `x.at[i].set(v)` gives a new one.
    Work is asynchronous: `block_until_ready()` waits. Raises DeletedArrayError where the memory was donated or freed.
    """

    __slots__ = ("__weakref__", "aval", "buf")

    def __init__(self, buf: Any, aval: ShapedArray):
        self.buf = buf
        self.aval = aval

    # Values

    def __array__(self, dtype: Any = None, context: Any = None, copy: bool | None = None) -> np.ndarray:
        if self.aval.mark is not None:
            self._check_summed()
        value = client.to_numpy(self.buf, self.aval.dtype)
        if value.dtype is not self.aval.dtype:
            value = self._otherwise(value)
        if dtype is not None and np.dtype(dtype) != value.dtype:
            return value.astype(dtype)
        return value.copy() if copy else value

    def __buffer__(self, flags: int, /) -> memoryview:
        """The memory itself, read-only: `memoryview(x)`, `bytes(x)`, `file.write(x)`; from Python 3.12 on. Raises BufferError for
        dtypes that are not Python's, for keys, and where several devices hold the array."""
        if self.aval.mark is None and getattr(self.aval.dtype, "isbuiltin", 0) == 1:
            return client.memory_of(self.buf)
        raise BufferError(f"{self.aval.short()} has no form in Python's buffer protocol")

    def _check_summed(self) -> None:
        """Raises NotImplementedError where the devices have terms of a sum that is still to be taken."""
        if terms := sums_of(self.aval).unreduced:
            raise NotImplementedError(
                f"{self.aval.short()} has no value yet: its sum over {', '.join(sorted(map(str, terms)))} is still to be taken. What to do: "
                "jitscope.sharding.reshard(x, spec)"
            )

    def _otherwise(self, value: np.ndarray) -> np.ndarray:
        """What is seen of an array of another dtype than its memory has."""
        if isinstance(self.aval.dtype, dtypes.ExtendedDType):
            raise TypeError(f"{self.aval.short()} holds keys, which have no NumPy form: use random.key_data(keys)")
        return np.zeros(self.aval.shape, dtypes.float0) if self.aval.dtype == dtypes.float0 else value

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        """A capsule that shares the memory (with `copy`, a copy of it). Raises BufferError for another device than the host,
        for arrays over several devices and for key arrays."""
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array is in the host's memory (1, 0), not on device {dl_device}")
        if isinstance(self.aval.dtype, dtypes.ExtendedDType):
            raise BufferError(f"{self.aval.short()} holds keys, which have no DLPack form: use random.key_data(keys)")
        if client.is_spread(self.buf):
            raise BufferError(
                f"{self.aval.short()} is spread over {self.place}, and DLPack shares the memory of one device: take np.asarray(x), or the "
                "parts, [s.data for s in x.addressable_shards]"
            )
        return client.to_dlpack(client.copy_to_device(self.buf, self.place) if copy else self.buf, stream)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def _scalar(self, what: str) -> Any:
        if self.aval.shape:
            one = "; x.item() is its element" if self.aval.size == 1 else ""
            raise TypeError(f"only an array without axes can become {what}; this one is {self.aval.short()}{one}")
        return np.asarray(self)[()]

    def __bool__(self) -> bool:
        if self.aval.size != 1:
            raise ValueError(f"the truth of {self.aval.short()} is ambiguous: use .any() or .all()")
        return bool(np.asarray(self).reshape(())[()])

    def __int__(self) -> int:
        return int(self._scalar("an int"))

    def __float__(self) -> float:
        value = float(self._scalar("a float"))
        if notices.number_listeners:
            notices.tell_number(value)
        return value

    def __complex__(self) -> complex:
        return complex(self._scalar("a complex"))

    def __index__(self) -> int:
        if self.aval.shape or not dtypes.is_integer(self.aval.dtype):
            raise TypeError(f"only an integer scalar can be an index; this is {self.aval.short()}")
        return int(np.asarray(self)[()])

    def item(self, *args: int) -> Any:
        """The element (at the given index) as a Python scalar. Raises ValueError for several elements without an index,
        IndexError, TypeError for keys, DeletedArrayError."""
        value = np.asarray(self).item(*args)
        if notices.number_listeners:
            notices.tell_number(value)
        return value

    def tolist(self) -> Any:
        """The elements as nested lists of Python scalars. Raises TypeError for keys, DeletedArrayError."""
        return np.asarray(self).tolist()

    def tobytes(self, order: str = "C") -> bytes:
        """The elements as bytes, in the given order of NumPy's ("C": the last axis fastest). Raises ValueError for another
        order, TypeError for keys, DeletedArrayError."""
        return np.asarray(self).tobytes(order)  # pyright: ignore[reportArgumentType]

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("a scalar has no len()")
        return self.aval.shape[0]

    def __iter__(self) -> Iterator[Self]:
        if not self.aval.shape:
            raise TypeError("a scalar cannot be iterated over")
        if capturing() is not None:
            return iter(constant_atom(self))
        stays = not one_device() and self.committed and self.is_fully_replicated  # other rows go by the host, as in JAX
        keys = isinstance(self.aval.dtype, dtypes.ExtendedDType)
        told_apart = keys and (not one_device() or settings().debug_key_reuse or settings().sharp_bits)
        if stays or told_apart or config.guarding:
            return (self.__getitem__(i) for i in range(self.aval.shape[0]))  # pyright: ignore[reportReturnType]
        weak = self.aval.weak_type
        if not keys:
            return (array_from_numpy(np.asarray(row), weak) for row in np.asarray(self))  # pyright: ignore[reportReturnType]
        one, words = self.aval.update(shape=self.aval.shape[1:]), np.asarray(Array(self.buf, physical(self.aval)))
        return (Array(array_from_numpy(row).buf, one) for row in words)  # pyright: ignore[reportReturnType]

    @property
    def __jax_array__(self) -> Any:
        """For functions of JAX that take objects with an array inside: what makes a copy of it as an array of JAX."""
        if asked_by_jax(sys._getframe(1)) is None:
            raise AttributeError("__jax_array__ is for JAX")
        return lambda: sys.modules["jax"].numpy.asarray(np.asarray(self), dtype=self.aval.dtype)

    # Text

    def __repr__(self) -> str:
        if self.is_deleted():
            return f"Array(deleted, {self.aval.short()})"
        if isinstance(self.aval.dtype, dtypes.ExtendedDType):
            below = Array(self.buf, physical(self.aval))
            return f"Array({self.aval.shape}, dtype={self.aval.dtype.name}) overlaying:\n{np.asarray(below)}"
        weak = ", weak_type=True" if self.aval.weak_type else ""
        if self.aval.mark is not None and sums_of(self.aval).unreduced:
            return f"Array(shape={self.aval.shape}, dtype={self.aval.dtype.name}{weak}, sharding={self.sharding})"
        if self.nbytes >= _LONG:
            return f"Array(shape={self.aval.shape}, dtype={self.aval.dtype.name}{weak})"
        if notices.number_listeners and self.aval.size:
            notices.tell_text(np.asarray(self))
        value = (
            np.array2string(np.asarray(self), prefix="Array(", separator=", ")
            if self.aval.size
            else f"[], shape={self.aval.shape}"
        )
        return f"Array({value}, dtype={self.aval.dtype.name}{weak})"

    def __str__(self) -> str:
        if isinstance(self.aval.dtype, dtypes.ExtendedDType) or self.is_deleted() or sums_of(self.aval).unreduced:
            return repr(self)
        value = np.asarray(self)
        if notices.number_listeners:
            notices.tell_text(value)
        return str(value)

    def __format__(self, format_spec: str) -> str:
        if isinstance(self.aval.dtype, dtypes.ExtendedDType) or (self.aval.shape and not format_spec):
            return format(str(self), format_spec)
        if self.aval.shape:
            raise TypeError(
                f"the format {format_spec!r} is for one number, this is {self.aval.short()}: use x.tolist()"
            )
        value = np.asarray(self)
        if notices.number_listeners:
            notices.tell_number(value.item())
        return format(value[()], format_spec)

    # Memory

    @property
    def nbytes(self) -> int:
        """Size of the elements in bytes, as NumPy counts them."""
        return physical(self.aval).bytes

    @property
    def place(self) -> Any:
        """Where programs on it run: its device, or the group that it is spread over."""
        return client.device_of(self.buf)

    @property
    def device(self) -> Any:
        """The device that has it; of an array on several, its sharding."""
        place = self.place
        return place if client.is_device(place) else self.sharding

    def devices(self) -> set:
        """The devices that have it."""
        return self.sharding.device_set

    def platform(self) -> str:
        """The kind of its device: "cpu"."""
        return self.place.platform

    @property
    def sharding(self) -> Sharding:
        """How it is laid out over devices: a NamedSharding, or a SingleDeviceSharding."""
        return sharding_of(self.buf)

    @property
    def memory(self) -> Any:
        """The buffer that the values are in."""
        return self.buf

    @property
    def format(self) -> Format:
        """Where it lies, and in which order its axes lie in memory. Raises DeletedArrayError, AttributeError for keys."""
        if isinstance(self.aval.dtype, dtypes.ExtendedDType):
            raise AttributeError("an array of keys has no format")
        return Format(Layout(*client.layout_of(self.buf)), self.sharding)

    @property
    def is_fully_addressable(self) -> bool:
        """Whether all of its devices are of this process."""
        return self.sharding.is_fully_addressable

    @property
    def is_fully_replicated(self) -> bool:
        """Whether each of its devices has all of it."""
        return self.sharding.is_fully_replicated

    @property
    def committed(self) -> bool:
        """Whether it stays where it is: the user put it there, or it is spread over several devices."""
        return is_put(self.memory)

    _committed = committed

    def called(self, at: Any) -> Array:
        """The array, known by another placement on its device."""
        return self if self.buf._sharding is at else Array(client.called(self.buf, at), self.aval)

    @property
    def addressable_shards(self) -> list[Shard]:
        """Its parts on the devices of this process. Raises DeletedArrayError."""
        return [s for s in shards_of(self) if s.data is not None]

    @property
    def global_shards(self) -> list[Shard]:
        """Its parts on all devices; those of other processes have no `data`. Raises DeletedArrayError."""
        return shards_of(self)

    def addressable_data(self, index: int) -> Self:
        """Its part on this process's device number `index`. Raises IndexError, DeletedArrayError."""
        shards = self.addressable_shards
        if not 0 <= index < len(shards):
            raise IndexError(f"the array is on {len(shards)} devices of this process; there is no part {index}")
        return self if len(shards) == 1 and self.is_fully_addressable else shards[index].data  # pyright: ignore[reportReturnType]

    def on_device_size_in_bytes(self) -> int:
        """Size in memory, in bytes; elements of 4 bits take half a byte. Raises DeletedArrayError."""
        return client.nbytes(self.buf)

    def is_deleted(self) -> bool:
        """Whether its memory was freed, or given away to a program it was donated to."""
        return client.is_deleted(self.buf)

    def delete(self) -> None:
        """Free the memory now. Views of it in NumPy, and arrays of other libraries that share it, keep it."""
        self.buf = unshared(self.buf)
        client.delete(self.buf)

    def is_ready(self) -> bool:
        """Whether the values are there. Raises DeletedArrayError."""
        return client.is_ready(self.buf)

    def block_until_ready(self) -> Self:
        """Wait until the values are there; gives the array itself. Raises DeletedArrayError, XlaError where the program
        that makes them failed."""
        client.block_until_ready([self.buf])
        return self

    def copy_to_host_async(self) -> None:
        """Nothing to do: on the CPU the values are on the host already. Raises DeletedArrayError."""
        if self.is_deleted():
            raise DeletedArrayError("the array was deleted")

    def unsafe_buffer_pointer(self) -> int:
        """The address of the elements, once they are there; nothing keeps the memory alive but the array. Raises
        DeletedArrayError, TypeError for elements of 4 bits and for arrays on several devices."""
        return client.pointer(self.buf)

    def __copy__(self) -> Self:
        return Array(client.copy_to_device(self.buf, self.place), self.aval)  # pyright: ignore[reportReturnType]

    def __deepcopy__(self, memo: Any) -> Self:
        return self.__copy__()

    def __reduce__(self) -> Any:
        if isinstance(self.aval.dtype, dtypes.ExtendedDType):
            return _unpickle_extended, (np.asarray(Array(self.buf, physical(self.aval))), self.aval)
        return array_from_numpy, (np.asarray(self), self.aval.weak_type)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(immutable_message())


def _unpickle_extended(data: np.ndarray, aval: ShapedArray) -> Array:
    return Array(client.put(data), aval)


def _tell_cut(value: np.ndarray, narrow: np.ndarray) -> None:
    """Integers that do not fit into the 32 bits they are given."""
    changed = np.flatnonzero(value != narrow)
    if changed.size:
        first = changed[0]
        notices.tell(
            "x64-truncation",
            f"{value.dtype} became {narrow.dtype}, and {changed.size} of {value.size} values changed: "
            f"{value.flat[first]} is {narrow.flat[first]} now.",
            'Turn 64-bit types on before the first array: jax.config.update("jax_enable_x64", True).',
        )


def array_from_numpy(value: Any, weak_type: bool = False, device: Any = None) -> Array:
    """An Array with a copy of a NumPy value, in the canonical dtype. Raises TypeError for what cannot be an array."""
    if type(value) is not np.ndarray:
        refuse_masked(value)
        value = np.asarray(value)
    options = settings()
    if config.guarding:
        guard("host_to_device", lambda: f"{value.dtype}{list(value.shape)}")
    key = (value.shape, value.dtype, weak_type, options)
    found = _avals.get(key)
    if found is None:
        make_room(_avals, _MAX_KEPT)
        dtype = canonicalize(value.dtype)
        found = _avals[key] = ShapedArray(value.shape, dtype, weak_type), client.putting(value.shape, dtype)
    aval, known = found
    given, began = value, time.perf_counter() if value.nbytes >= conversions.LARGE else 0.0
    if value.dtype is not aval.dtype:
        narrow = value.astype(aval.dtype, copy=False)
        if notices.thorough_listeners and value.dtype.kind in "iu":
            _tell_cut(value, narrow)
        value = narrow
    try:
        made = Array(client.put(value, device or options.default_device, known), aval)
        if began:
            conversions.note(given, time.perf_counter() - began)
        return made
    except TypeError:
        if aval.dtype != dtypes.float0:
            raise
        return Array(client.put(np.zeros(aval.shape, bool), device or options.default_device), aval)


def result_of(buf: Any, aval: ShapedArray) -> Any:
    """What a program gives, as users get it: zeros of dtype float0 are NumPy's."""
    return np.zeros(aval.shape, dtypes.float0) if aval.dtype == dtypes.float0 else Array(buf, aval)


_avals: dict[Any, tuple[ShapedArray, client.Aval | None]] = {}
_scalars: dict[Any, tuple[Any, ShapedArray]] = {}
_shared: dict[int, Any] = {}
_MAX_KEPT = 4096


def to_array(x: Any) -> Array:
    """Any value an operation takes as an Array: arrays as they are, NumPy values and Python scalars put on the device.

    Raises TypeError for other values (the message says which) and for tracers, which have no value.
    """
    if type(x) is Array:
        return x
    if type(x) is np.ndarray:
        return array_from_numpy(x)
    if isinstance(x, Tracer):
        return x  # pyright: ignore[reportReturnType]
    if isinstance(x, Array):  # in another order: what takes it knows of none
        return Array(x.buf, x.aval)
    if is_python_scalar(x) or isinstance(x, np.generic):
        return scalar_array(x)
    if (given := from_protocol(x)) is not x:
        return to_array(given)
    if hasattr(x, "aval"):
        return _from_jax(x)
    return array_from_numpy(x, aval_of(x).weak_type)


def _from_jax(x: Any) -> Array:
    from .from_jax import array_from_jax  # few programs have such

    return array_from_jax(x)


def scalar_array(x: Any) -> Array:
    """A number as an Array of shape []; equal numbers share a buffer. Raises OverflowError for an int that does not fit."""
    if config.guarding:
        guard("host_to_device", lambda: f"the number {x!r}")
    # Numbers that are equal need not be the same: 0.0 and -0.0, 1+0j and 1-0j; and NaN equals nothing.
    exact = x == x and x != 0 and not isinstance(x, (complex, np.complexfloating))
    key = (type(x), x if exact else repr(x), settings())
    found = _scalars.get(key)
    if found is None:
        aval = aval_of(x)
        value = np.asarray(x)
        if aval.weak_type and dtypes.is_integer(aval.dtype):
            value = _checked_int(x, aval.dtype)
        buf = client.put(value.astype(aval.dtype), settings().default_device)
        number = id(buf)
        _shared[number] = weakref.ref(buf, lambda _: _shared.pop(number, None))
        make_room(_scalars, _MAX_KEPT)
        found = _scalars[key] = buf, aval
    return Array(*found)


def unshared(buf: Any) -> Any:
    """The buffer, if its memory may be given away or freed; a copy of one that stands for a number wherever it is used."""
    return client.copy_to_device(buf, client.device_of(buf)) if id(buf) in _shared else buf


def _checked_int(x: Any, dtype: Any) -> np.ndarray:
    limits = np.iinfo(dtype)
    if not limits.min <= x <= limits.max:
        raise dtypes.does_not_fit(x, dtype)
    return np.asarray(x, dtype)


# Devices


@cache
def one_device() -> bool:
    """Whether the process has a single device, and no mesh names it, so that nobody need ask where an array is."""
    return len(client.all_devices()) == 1 and not meshes_in_force.named


meshes_in_force.on_first_mesh.append(one_device.cache_clear)


def device_for(values: Sequence[Any]) -> Any:
    """Where a computation on `values` runs: the device of the arrays among them, else the default one. Raises ValueError
    for arrays on different devices."""
    values = [
        x
        if type(x) is Array
        else x.array
        if isinstance(x, Reference)
        else _from_jax(x)
        if jax_kind(x) == "array"
        else x
        for x in values
    ]
    bufs = [x.memory for x in values if isinstance(x, Array)]
    return common_device(bufs) if bufs else settings().default_device or client.default_device()


@cache
def put_on(device: Any) -> Any:
    """The placement of arrays that a user put on a device, and of what is computed of them. (Where there is one device alone, of all.)"""
    if len(client.all_devices()) == 1:
        return client.sharding_of(device)
    from ..core.shardings import SingleDeviceSharding  # few programs ask

    return client.named_placement(device, SingleDeviceSharding(device))


def stays(array: Array) -> Array:
    """The array, which the user put where it is: it does not move to another device by itself."""
    if one_device() or is_put(array.memory):
        return array
    return array.called(put_on(client.device_of(array.memory)))


def common_device(bufs: Sequence[Any]) -> Any:
    """Where a computation on buffers runs. Those on the default device, if nobody put them there, go along with others.

    Raises ValueError for buffers on different devices.
    """
    devices = {client.device_of(buf) for buf in bufs}
    if len(devices) > 1:
        home = (client.default_device(), settings().default_device)
        fixed = {client.device_of(buf) for buf in bufs if is_put(buf) or client.device_of(buf) not in home}
        if len(fixed) > 1:
            raise ValueError(
                f"the arguments live on different devices ({', '.join(sorted(map(str, fixed)))}): move them to "
                "one with device_put"
            )
        devices = fixed or {client.default_device()}
    return devices.pop()


def is_put(buf: Any) -> bool:
    """Whether the array stays where it is: the user put it there, or what it was computed of, or it is spread over several devices."""
    return client.is_spread(buf) or buf._sharding.said is not None


def array_on(x: Any, device: Any) -> Array:
    """Any value as an array on `device`, or on the devices of a group."""
    array = to_array(x)
    if array.place is device or array.place == device:
        return array
    if config.guarding:
        guard("device_to_device", lambda: f"{array.aval.short()} from {array.place} to {device}")
    from ..xla.resharding import on  # to other devices

    return Array(on(array.buf, device), array.aval if array.aval.mark is None else array.aval.update(sharding=None))


# Parts ---------------------------------------------------------------------------------------------------------------


def sharding_of(buf: Any) -> Sharding:
    """What a user knows the layout of a buffer by."""
    from ..core.shardings import NamedSharding, PartitionSpec, SingleDeviceSharding  # few programs ask

    at = buf._sharding
    if at.said is not None:
        return at.said
    if client.is_spread(buf):
        return NamedSharding(at._device.mesh, PartitionSpec())
    return SingleDeviceSharding(at._device)


class Shard:
    """The part of an array that one device has: `index`, the slices of the whole that it is; `replica_id`, its number among
    the equal parts; `data`, an array on the device (None on those of other processes)."""

    __slots__ = ("data", "device", "index", "replica_id")

    def __init__(self, device: Device, index: tuple[slice, ...], replica_id: int, data: Array | None):
        self.device, self.index, self.replica_id, self.data = device, index, replica_id, data

    def __repr__(self) -> str:
        data = "" if self.data is None else f", data={self.data}"
        index = tuple(slice(s.start, s.stop, None) for s in self.index)
        return f"Shard(device={self.device!r}, index={index}, replica_id={self.replica_id}{data})"


def shards_of(array: Array) -> list[Shard]:
    """The parts of an array, in the order of its devices. Raises DeletedArrayError."""
    if array.is_deleted():
        raise DeletedArrayError("the array was deleted")
    if not client.is_spread(array.buf):
        return [Shard(array.place, (slice(None),) * array.aval.ndim, 0, Array(array.buf, array.aval))]
    layout, aval = array.buf._sharding, array.aval
    from ..xla import parts

    indices = parts.index_map(layout, physical(aval).shape)
    mine = dict(zip(layout._device.local, parts.pieces(array.buf)))
    seen: dict[Any, int] = {}
    found = []
    for device, index in zip(layout._device.devices, indices):
        index = index[: aval.ndim]
        part = tuple((s.start, s.stop) for s in index)
        seen[part] = seen.get(part, -1) + 1
        buf = mine.get(device)
        shape = tuple(len(range(*s.indices(n))) for s, n in zip(index, aval.shape))
        data = None if buf is None else Array(buf, ShapedArray(shape, aval.dtype, aval.weak_type))
        found.append(Shard(device, index, seen[part], data))
    return found
