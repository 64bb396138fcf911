"""Compiling and running XLA programs."""

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from . import forks, mlir, processes, progress, versions
from .buffers import Order, order_of
from .callbacks import NUMBER, Runner, answer, calls_python
from .chains import refuse_long
from .cpu_tuning import LONG_CHAINS, SHORT_LOOPS_KEPT, SMALL_LOOPS
from .devices import aval_of, client_of, default_device, get_client, sharding_of
from .errors import CompileOptionError, translate
from .garbage import collect, due
from .plugin_worker import memory_of
from .runtime import RuntimeFailure, xc
from .spread import Spread


__all__ = ["Executable", "RuntimeFailure", "checked_flag", "compile_options", "handler_of", "options_for"]

Output = tuple[tuple[int, ...], np.dtype]

_MAGIC = b"jsx1"
_live: "weakref.WeakSet[Executable]" = weakref.WeakSet()
_one_at_a_time = threading.Lock()


def compile_options(overrides: Mapping[str, bool | int | float | str] | None = None) -> Any:
    """Options for one compilation; `overrides` sets XLA flags by name.

    Raises TypeError for an override that is not bool, int, float or str. An unknown name or a value that does not fit
    is found by XLA, so it raises ValueError (naming it) when the program is compiled.
    """
    overrides = overrides or {}
    said = {name: str(overrides[name]) for name in _EXTRA if name in overrides}
    # XLA asks only whether such an option is there: one that is not wanted must not be.
    extra = b"".join(_backend_option(name, value) for name, value in said.items() if value.lower() != "false")
    options = xc.CompileOptions.ParseFromString(default_options() + extra)
    build = options.executable_build_options
    options.num_replicas = build.num_replicas = options.num_partitions = build.num_partitions = 1
    named = [checked_flag(name, value) for name, value in overrides.items() if name not in _EXTRA]
    if named:
        options.env_option_overrides = named
    return options


def options_for(device: Any, overrides: Mapping[str, bool | int | float | str], called: int = 0) -> Any:
    """The options with which a program for a device, that calls Python through so many callbacks, is compiled."""
    return _for_device(compile_options(overrides=overrides), device, called)


def compiler_version() -> str:
    """jaxlib's version."""
    return import_module("jaxlib").__version__


def default_options() -> bytes:
    """What XLA compiles with where nothing else is said, as bytes to compare: its defaults, the variable XLA_FLAGS, which goes
    first, and what we know better."""
    given = xc.CompileOptions().SerializeAsString()
    name, limit = SMALL_LOOPS.value
    return given if name.encode() in given or not SMALL_LOOPS.holds() else given + _backend_option(name, str(limit))


_EXTRA = (*LONG_CHAINS.value, SMALL_LOOPS.value[0], SHORT_LOOPS_KEPT.value["flag"][0])
"""Flags that XLA takes as options of the backend alone."""


def _backend_option(name: str, value: str) -> bytes:
    """An entry of `executable_build_options.debug_options.xla_backend_extra_options`, which has no other way in: bytes that
    are appended to serialized options count as part of them."""
    entry = _field(1, name.encode()) + _field(2, value.encode())
    return _field(3, _field(3, _field(500, entry)))


def _field(number: int, content: bytes) -> bytes:
    """A field of a protocol buffer that is text or a message."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    low, rest = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(rest) if rest else bytes([low])


def checked_flag(name: Any, value: Any) -> tuple[str, bool | int | float | str]:
    """A flag of XLA and its value. Raises TypeError for what cannot be one."""
    if not isinstance(name, str):
        raise TypeError(f"the name of an XLA option is a string, not {name!r}")
    if not isinstance(value, bool | int | float | str):
        raise TypeError(f"XLA option {name} must be a bool, int, float or str, not {type(value).__name__}")
    return name, value


@lru_cache(maxsize=4096)
def handler_of(shape: tuple[int, ...], dtype: np.dtype, device: Any) -> Any:
    """jaxlib's result handler for one output of that shape and dtype on that device."""
    return versions.result_handler(aval_of(shape, dtype), sharding_of(device))


class Executable:
    """A compiled program for one device, or spread over several (`spread.Spread` in the device's place).

    `raw_execute(bufs)` followed by `.consume_with_handlers(handlers)`, after `if due(): collect()` (see `garbage`), is
    the whole of `run`, for callers that inline it. They must read `raw_execute` from this object at each call (a forked child replaces it), or pass the Python
    function that holds it to `forks.guard`. It raises `RuntimeFailure`, which `translate(error, bufs)` makes readable.
    jaxlib compares arguments by byte size only: shapes, dtypes and devices are the caller's to check.

    outputs: ((shape, dtype), …); device; callbacks: those the program calls by index; `layouts` of the results, over
    several devices. `calls_python`: it calls functions
    of the user's, through `callbacks.answer`.
    """

    __slots__ = (
        "__weakref__", "callbacks", "calls_python", "device", "handlers", "layouts", "outputs", "raw", "raw_execute",
    )  # fmt: skip

    def __init__(
        self,
        raw: Any,
        outputs: Sequence[Output],
        device: Any,
        callbacks: Sequence[Callable] = (),
        donated: Sequence[int] = (),
    ):
        self.raw = raw
        self.outputs = tuple((tuple(shape), np.dtype(dtype)) for shape, dtype in outputs)
        self.device = device
        self.callbacks = tuple(callbacks)
        self.raw_execute = raw.execute_sharded
        self.layouts = _layouts(raw, self.outputs, device)
        self.handlers = _handlers(self.outputs, self.layouts, device)
        self.calls_python = self.callbacks == (answer,)
        if self.calls_python:
            self.raw_execute = Runner(raw, self.handlers, _handler_of_number(device), device)
        if type(device) is Spread:
            from .parts import GuardedExecutable

            self.raw_execute = GuardedExecutable(self.raw_execute, donated)
        if processes.joined is not None:
            from .joint_programs import ProgramOfProcesses

            self.raw_execute = ProgramOfProcesses(self.raw_execute, device)
        _live.add(self)

    def check_together(self, said: str) -> None:
        """Where the program runs on devices of several processes: look before its first run that all run the same (see `together`)."""
        if processes.joined is None:
            return
        from .joint_programs import ProgramOfProcesses, Together

        outer = self.raw_execute
        if isinstance(outer, ProgramOfProcesses) and len(outer.who) > 1:
            outer.run = Together(outer.run, outer.who, said, None if self.calls_python else self.raw)

    @classmethod
    def compile(
        cls,
        module: Any,
        outputs: Sequence[Output],
        device: Any = None,
        options: Any = None,
        callbacks: Sequence[Callable] = (),
        donated: Sequence[int] = (),
    ) -> "Executable":
        """Compile an MLIR module, StableHLO text (str) or bytecode (bytes); the last two load no MLIR bindings.

        `outputs` are the program's results as (shape, dtype) and are not checked against it. `options` come from
        `compile_options` and are used up (the device is written into them). `callbacks` must hold every callable that
        the program names by index: with too few of them running it crashes the process. A program of `callbacks.Site`s
        has `callbacks.answer` alone; the number of the run is added to its arguments and results.
        Raises XlaError, ValueError for a bad XLA option or one with which XLA would not survive the program, ForkedProcessError.
        """
        device = default_device() if device is None else device
        options = _for_device(compile_options() if options is None else options, device, len(callbacks))
        refuse_long(module, options)
        return cls(_load(module, device, options, callbacks), outputs, device, callbacks, donated)

    @classmethod
    def deserialize(
        cls,
        data: bytes,
        outputs: Sequence[Output],
        device: Any = None,
        callbacks: Sequence[Callable] = (),
    ) -> "Executable":
        """The program that `serialize` wrote, on the machine and with the jaxlib it was written with.

        Raises ValueError for other data or another number of callbacks, XlaError for damaged data.
        """
        device = default_device() if device is None else device
        payload = _payload(data, len(callbacks))
        options = _for_device(compile_options(), device)
        try:
            raw = get_client().deserialize_executable(payload, _devices(device), options, list(callbacks))
        except RuntimeFailure as error:
            raise translate(error) from None
        return cls(raw, outputs, device, callbacks)

    def run(self, bufs: Sequence[Any]) -> list[Any]:
        """The program's results as buffers, perhaps still being computed. Raises XlaError, DeletedBufferError."""
        if due():
            collect()
        try:
            return self.raw_execute(bufs).consume_with_handlers(self.handlers)
        except RuntimeFailure as error:
            raise translate(error, bufs) from None

    def hlo_modules(self) -> list[Any]:
        """The optimised HLO modules (one, on CPU); see `hlo_module`."""
        return self.raw.hlo_modules()

    def orders(self) -> "tuple[list[Order], list[Order]]":
        """In which order the axes of its arguments and of its results lie in memory (`buffers.order_of`)."""
        return list(map(order_of, self.raw.get_parameter_layouts())), list(map(order_of, self.raw.get_output_layouts()))

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates for the optimised program: "flops", "bytes accessed", …"""
        try:
            return {key: float(value) for key, value in self.raw.cost_analysis().items()}
        except RuntimeFailure as error:
            raise translate(error) from None

    def memory_stats(self) -> dict[str, int]:
        """Bytes the program needs: argument, output, temp, alias, code, peak."""
        return memory_of(self.raw.get_compiled_memory_stats())

    def serialize(self) -> bytes:
        """Machine code and all; to be read back only on an equal machine, and only from a trusted place."""
        return _MAGIC + len(self.callbacks).to_bytes(4, "little") + self.raw.serialize()


def _for_device(options: Any, device: Any, called: int = 0) -> Any:
    """Without an assignment a program compiled for another device than the first refuses that device's buffers."""
    build = options.executable_build_options
    if type(device) is Spread:
        count = len(device.group.devices)
        options.num_partitions = build.num_partitions = count
        build.use_spmd_partitioning, build.use_shardy_partitioner = True, device.shardy
        ids = np.array([[d.id for d in device.group.devices]])
        build.device_assignment = options.device_assignment = xc.DeviceAssignment.create(ids)
        build.allow_spmd_sharding_propagation_to_output = [*[x is None for x in device.outs], *[False] * called] or [
            False
        ]
        return options
    if build.num_replicas == build.num_partitions == 1:
        build.device_assignment = options.device_assignment = _assignment(device.id)
    return options


def _devices(device: Any) -> Any:
    return device.group.device_list if type(device) is Spread else xc.DeviceList((device,))


def _layouts(raw: Any, outputs: Sequence[Output], device: Any) -> list[Any]:
    """How the results of a program over several devices lie."""
    layouts = list(device.outs) if type(device) is Spread else []
    if None in layouts:
        chosen = raw.get_output_shardings()
        for i, (shape, _) in enumerate(outputs):
            if layouts[i] is None and device.choose is not None:
                layouts[i] = device.choose(chosen[i], shape, device.group, device.mesh, device.like)
    return layouts


def _handlers(outputs: Sequence[Output], layouts: Sequence[Any], device: Any) -> list[Any]:
    """What makes buffers of the results."""
    if type(device) is not Spread:
        return [handler_of(shape, dtype, device) for shape, dtype in outputs]
    from .parts import result_handler

    return [result_handler(shape, dtype, at) for (shape, dtype), at in zip(outputs, layouts)]


def _handler_of_number(device: Any) -> Any:
    if type(device) is not Spread:
        return handler_of(*NUMBER, device)
    from .parts import replicated, result_handler

    return result_handler(*NUMBER, replicated(device.group))


@cache
def _assignment(device_id: int) -> Any:
    return xc.DeviceAssignment.create(np.array([[device_id]]))


def _load(module: Any, device: Any, options: Any, callbacks: Sequence[Callable]) -> Any:
    client = client_of(device)
    try:
        if isinstance(module, str | bytes):
            return to_the_end(lambda: _load_text(client, module, device, options, callbacks))
        return to_the_end(lambda: client.compile_and_load(module, _devices(device), options, list(callbacks)))
    except RuntimeFailure as error:
        from .partitioning import failure

        raise _option_error(error) or failure() or translate(error) from None


def to_the_end(work: Callable[[], Any]) -> Any:
    """What `work()` gives. After a Ctrl-C it goes on in a thread and its result is dropped.

    jaxlib itself leaves a compilation running too, but frees what it works on: that crashes the process. Only the main
    thread is interrupted.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    done = threading.Event()
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome[:] = [work(), None]
        except BaseException as error:
            outcome[:] = [None, error]
        done.set()

    try:
        threading.Thread(target=run, name="jitscope compiles").start()
    except RuntimeError:  # the interpreter is shutting down
        return work()
    while not done.wait(progress.EVERY if progress.listens() else None):
        progress.tick()
    if outcome[1] is None:
        return outcome[0]
    try:
        raise outcome[1]
    finally:
        outcome.clear()  # no cycle through the traceback


def _load_text(client: Any, module: str | bytes, device: Any, options: Any, callbacks: Sequence[Callable]) -> Any:
    if callbacks or calls_python(module):
        if not callbacks:
            raise ValueError("the program calls Python but no callbacks were given")
        with _one_at_a_time:  # two threads that compile such modules can crash
            return client.compile_and_load(mlir.parse(module), _devices(device), options, list(callbacks))
    return client.compile_and_load(module, list(device.group.devices) if type(device) is Spread else [device], options)


def _option_error(error: BaseException) -> CompileOptionError | None:
    message = str(error)
    if "No such compile option" in message or "While setting option" in message:
        return CompileOptionError(message.removeprefix("INVALID_ARGUMENT: "))
    return None


def _payload(data: bytes, callbacks: int) -> bytes:
    if data[:4] != _MAGIC:
        raise ValueError("this is not a serialized executable")
    wanted = int.from_bytes(data[4:8], "little")
    if wanted != callbacks:
        raise ValueError(f"the program was compiled with {wanted} callbacks, {callbacks} were given")
    return data[8:]


def _refuse_all() -> None:
    for executable in list(_live):
        executable.raw_execute = forks.refuse


forks.on_child(_refuse_all)
