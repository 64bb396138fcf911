"""What jax compiled, as the ledger and the views take programs: an entry with an executable, in place of the compiler's own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from jitscope.backend.caches import Tally
from jitscope.backend.call_arguments import kept_weakly
from jitscope.core.avals import physical
from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import Jaxpr, equations_in
from jitscope.xla import hlo_module, mlir
from jitscope.xla.errors import translate
from jitscope.xla.plugin_worker import memory_of

from . import lineage, private, reading
from .lineage import Lineage
from .private import Compilation
from .translating import Translation


MOST_KEPT = 64
"""So many programs are kept for looking at them, the latest."""


class _Module(hlo_module.RenamedModule):
    """An optimised module whose text has paths for names. It is not made anew of its text, which would hold all its constants."""

    def __init__(self, module: Any, known: Lineage):
        super().__init__(module)
        self._lineage = known

    def to_string(self, options: Any) -> str:
        with reading.marked():
            return lineage.optimised(self.module.to_string(options), self._lineage)


class Executable:
    """A compiled program of jax's. Names in its modules are paths of equations."""

    instead_of: Any = None
    """What jax runs, where the program was compiled once more to be looked at."""

    def __init__(self, compiled: Compilation, lineage_of: Callable[[], Lineage], jaxpr: Jaxpr):
        self.raw, self._lineage = compiled.executable, lineage_of
        self.outputs = [(a.shape, a.dtype) for a in (physical(v.aval) for v in jaxpr.outvars)]
        self.devices = len(compiled.devices) if compiled.devices is not None else 1
        self.calls_python = bool(compiled.callbacks) or calls_python(jaxpr)
        self.device, self._compiled = None, compiled

    @cached_property
    def _modules(self) -> list[Any]:
        return [_Module(self.raw.hlo_modules()[0], self._lineage())]

    def hlo_modules(self) -> list[Any]:
        """The optimised HLO module."""
        return self._modules

    def memory_stats(self) -> dict[str, int]:
        """Bytes the program needs, as XLA planned them: argument, output, temp, alias, code, peak."""
        try:
            found = memory_of(self.raw.get_compiled_memory_stats())
        except Exception:  # not every backend tells
            return {}
        together = found["argument"] + found["output"] + found["temp"] - found["alias"]
        return {**found, "peak": found.get("peak") or together}

    @property
    def accelerator(self) -> Any:
        """The GPU or TPU that it runs on, as jaxlib's device; None where it runs on a CPU or on several devices."""
        placed = list(self._compiled.devices or ())
        return placed[0] if len(placed) == 1 and placed[0].platform != "cpu" else None

    def is_of(self, raw: Any) -> bool:
        """Whether this is the program that jax runs as `raw`."""
        return raw in (self.raw, self.instead_of)

    def compile_anew(self, lowered: bytes, overrides: Mapping[str, Any]) -> Any:
        """Compile a module with the options that jax gave for this one, and others by name. Raises XlaError."""
        try:
            return private.compiled_with(self._compiled, mlir.parse(lowered), overrides)
        except RuntimeError as error:
            raise translate(error) from None

    def step_by_step(self, lowered: bytes) -> RawProgram:
        """The program compiled once more, so that a GPU is given its kernels one after the other, and not many at once as a CUDA graph,
        of which the profiler does not tell which is which. `lowered`: its module. Raises XlaError."""
        return RawProgram(self.compile_anew(lowered, {"xla_gpu_graph_min_graph_size": _NO_GRAPH}))

    @property
    def own_options(self) -> dict[str, Any]:
        """Options for XLA that its call asked for (jit's compiler_options)."""
        return dict(self._compiled.options.env_option_overrides or ())

    def options_with(self, overrides: Mapping[str, Any]) -> bytes:
        """The options that jax gave for this program and others by name, serialized."""
        return private.options_with(self._compiled, overrides).SerializeAsString()

    def placed(self, bufs: Sequence[Any]) -> list[Any]:
        """Arrays as they lie when the program takes them: over several devices, in its layouts."""
        return list(bufs) if self.devices == 1 else private.laid_out(self._compiled, bufs)

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The program's results on arrays of jax's, one device."""
        return run(self.raw, arrays)


_NO_GRAPH = 1_000_000
"""More kernels than a program has."""


class RawProgram:
    """An executable of jax's that was compiled otherwise, to be run and looked at."""

    def __init__(self, raw: Any):
        self.raw = raw

    def hlo_modules(self) -> list[Any]:
        """The optimised HLO module, with XLA's own names."""
        return self.raw.hlo_modules()

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        """The program's results on arrays of jax's."""
        return run(self.raw, arrays)


def run(raw: Any, arrays: Sequence[Any]) -> list[Any]:
    """The results of an executable of jax's on arrays, one device."""
    outs = raw.execute_sharded(list(arrays)).disassemble_into_single_device_arrays()
    return [shards[0] for shards in outs]


class Entry:
    """A program of jax's with its modules before and after optimisation. `origins` says, where it is so, why nothing is known of
    where kernels stem from."""

    library = "jax"

    def __init__(self, compiled: Compilation, translation: Translation, loaded: bool, constants: Sequence[Any] = ()):
        self._compiled, self._module, self._loaded, self._translation = compiled, compiled.module, loaded, translation
        self._constants = CallArguments(constants)
        self._kept = None if compiled.kept is None else sorted(compiled.kept)
        self.executable = Executable(compiled, lambda: self.lineage, translation.jaxpr)
        self.argument_avals = [v.aval for v in translation.jaxpr.invars]
        self.overrides: dict[str, Any] = {}

    @cached_property
    def lineage(self) -> Lineage:
        """The places of the marks that its equations had."""
        return Lineage(self._translation)

    @cached_property
    def lowered(self) -> bytes:
        """The MLIR module that XLA was given, as text, with paths for names."""
        return lineage.lowered(self._text(None), self.lineage).encode()

    @cached_property
    def outline(self) -> bytes:
        """The same for looking at it alone: large constants are zeros, and cost nothing."""
        return lineage.lowered(lineage.without_elided(self._text(16)), self.lineage).encode()

    @property
    def as_given(self) -> bytes:
        """The MLIR module that XLA was given, as bytecode, with jax's own names."""
        return mlir.to_bytecode(self._module)

    def _text(self, large: int | None) -> str:
        with reading.marked():
            return self._module.operation.get_asm(enable_debug_info=True, large_elements_limit=large)

    @property
    def origins(self) -> str:
        hlo_module.text(hlo_module.optimized(self.executable), metadata=True)  # which finds out what is foreign
        if self._loaded and not self.lineage.own:
            return (
                "jax loaded this program from its persistent cache, where another process had put it: where its kernels stem from is "
                "known only as far as their operations tell (%fusion --again f(x) compiles it once more to know the rest)"
            )
        return ""

    @property
    def compiles_again(self) -> bool:
        """Whether it can be compiled once more, to learn more of it."""
        return bool(self.origins) and not self.executable.calls_python

    def compile_again(self) -> None:
        """Compile the module once more where another process had compiled it, so that it is known where its kernels stem from. jax runs
        what it ran. Raises Unavailable for a program that calls Python."""
        if not self.origins:
            return
        if self.executable.calls_python:
            raise Unavailable("it calls Python functions, which another executable could not be given")
        before = self.executable
        self.executable = Executable(
            private.compiled_again(self._compiled), lambda: self.lineage, self._translation.jaxpr
        )
        self.executable.instead_of, self._loaded = before.raw, False

    def evaluable(self, row: Any, given: Any, callbacks: bool) -> Any:
        """The program, to be evaluated by parts (see `evaluating.evaluable`)."""
        from .evaluating import evaluable

        return evaluable(row, self._translation, self._constants, given, callbacks)

    def stand_ins(self) -> list[Any]:
        """Arrays of random numbers for what it takes. Raises Unavailable where it takes others than arrays of numbers, or it is
        not known what it takes."""
        if self._kept is None or self.executable.devices > 1:
            raise Unavailable("the arguments of its call are gone, and what the program takes of others is not known")
        return [_random(aval) for aval in self.argument_avals]


def _random(aval: Any) -> Any:
    if not isinstance(aval.dtype, np.dtype):
        raise Unavailable("it takes random keys, and the arguments of its call are gone")
    rng = np.random.default_rng(0)
    inexact = np.issubdtype(aval.dtype, np.inexact) or aval.dtype.kind == "V"
    values = rng.uniform(0.1, 1.0, aval.shape) if inexact else rng.integers(0, 2, aval.shape)
    return private.module("jax").device_put(np.asarray(values).astype(aval.dtype))


class CallArguments:
    """The leaves of a call's arguments: arrays weakly, numbers as they are."""

    def __init__(self, leaves: Sequence[Any]):
        self._leaves = [kept_weakly(x) for x in leaves]

    def held(self) -> list[Any]:
        """The arguments that are still there; they stay while somebody has this list."""
        return [leaf() for leaf in self._leaves]

    def arrays(self) -> list[Any] | None:
        """The arguments as arrays of jax's; None where one is gone, or was donated since."""
        leaves = [leaf() for leaf in self._leaves]
        if any(x is None or (hasattr(x, "is_deleted") and x.is_deleted()) for x in leaves):
            return None
        try:
            return [private.module("jax.numpy").asarray(x) for x in leaves]
        except Exception:  # an argument that jax itself could not make an array of again
            return None


class ProgramArguments:
    """What a program takes of its call's arguments: `kept` are their numbers, None where that is not known; `donated` the numbers of those
    among them whose memory results take."""

    def __init__(self, kept: Sequence[int] | None, donated: Sequence[int], entry: Entry):
        self._kept, self._donated, self._avals = kept, list(donated), entry.argument_avals
        self._placed = entry.executable.placed

    @property
    def arguments(self) -> tuple[int, list[int]]:
        """How many captured arrays it takes first, and which of the call's arguments then."""
        return 0, list(range(len(self._avals)) if self._kept is None else self._kept)

    def captured(self) -> list[Any]:
        """Arrays that it captured and takes beside its arguments: jax writes them into the program."""
        return []

    @property
    def donated(self) -> list[int]:
        """The call's arguments whose memory results take."""
        _, kept = self.arguments
        return [kept[i] for i in self._donated]

    def of(self, arrays: Sequence[Any]) -> Sequence[Any] | None:
        """Those of the arguments of a call that it takes, or all where these alone are given; None where they are not of its call."""
        if self._kept is None:
            return None
        alone = len(arrays) == len(self._avals)
        taken = arrays if alone else [a for i, a in enumerate(arrays) if i in self._kept]
        return taken if [tuple(a.shape) for a in taken] == [a.shape for a in self._avals] else None

    def buffers(self, arrays: Sequence[Any]) -> list[Any] | None:
        """What its executable runs on; of what it would take over, copies. None where the arguments are not those of its call."""
        taken = self.of(arrays)
        if taken is None:
            return None
        return self._placed([private.buffer_of(a.copy() if i in self._donated else a) for i, a in enumerate(taken)])


class Program:
    """A compiled program for the ledger."""

    library = "jax"

    def __init__(self, entry: Entry, takes: ProgramArguments, tally: Tally):
        self.entry, self.takes, self.tally = entry, takes, tally


_kept: OrderedDict[int, Entry] = OrderedDict()


def keep(number: int, entry: Entry) -> None:
    """Keep a program, under its number in the ledger, until `MOST_KEPT` others came."""
    _kept[number] = entry
    while len(_kept) > MOST_KEPT:
        _kept.popitem(last=False)


def drop_all() -> None:
    """Let go of all programs."""
    _kept.clear()


_PYTHON = ("callback", "debug_print")


def calls_python(jaxpr: Jaxpr) -> bool:
    """Whether a program calls Python."""
    return any(part in eqn.primitive.name for eqn in equations_in(jaxpr) for part in _PYTHON)
