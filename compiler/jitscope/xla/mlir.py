"""MLIR: the bindings, the process's context, types, constants, text and bytecode.

The bindings are imported at the first use of anything here, not with the module.
"""

from __future__ import annotations

import ctypes
import io
import math
import sys
import threading
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from . import runtime  # noqa: F401  (keeps jaxlib quiet; it must come before the bindings)
from .builders import CHLO_FORMS, FORMS, Dialect, leave_out_generated_modules
from .dtypes import PLAIN
from .forks import run_in_children


__all__ = ["MlirError", "bindings", "constant_attr", "context", "element_type", "location", "module_text", "parse",
           "repeated_attr", "tensor_type", "to_bytecode"]  # fmt: skip

_FLOATS = {
    "float16": "F16Type", "float32": "F32Type", "float64": "F64Type", "bfloat16": "BF16Type",
    "float8_e3m4": "Float8E3M4Type", "float8_e4m3": "Float8E4M3Type", "float8_e4m3b11fnuz": "Float8E4M3B11FNUZType",
    "float8_e4m3fn": "Float8E4M3FNType", "float8_e4m3fnuz": "Float8E4M3FNUZType", "float8_e5m2": "Float8E5M2Type",
    "float8_e5m2fnuz": "Float8E5M2FNUZType", "float8_e8m0fnu": "Float8E8M0FNUType",
    "float4_e2m1fn": "Float4E2M1FNType",
}  # fmt: skip

_lock = threading.Lock()
_bindings: Bindings | None = None
_context: Any = None
_unknown: Any = None
_knows_all = False
_OTHER_DIALECTS = ("arith", "math", "memref", "mpmd", "scf", "sparse_tensor", "vector")
_remembered: list[Any] = []
P = ParamSpec("P")
T = TypeVar("T")


class MlirError(ValueError):
    """Text or bytecode that is not a valid module."""


class Bindings:
    """What jaxlib has of MLIR: `ir`, `ext`, the builders `hlo` (stablehlo) and `chlo`, and, imported at their first use, `sdy` and
    `passmanager`."""

    def __init__(self) -> None:
        import jaxlib.mlir._mlir_libs._jax_mlir_ext as ext
        from jaxlib.mlir import ir
        from jaxlib.mlir._mlir_libs import _mlir

        leave_out_generated_modules(_mlir.globals)
        self.ir: Any = ir
        self.ext = ext
        self.hlo = Dialect(ir, "stablehlo", FORMS)
        self.chlo = Dialect(ir, "chlo", CHLO_FORMS)

    @cached_property
    def sdy(self) -> Any:
        from jaxlib.mlir.dialects import sdy

        sdy.register_dialect(context())
        return sdy

    @cached_property
    def passmanager(self) -> Any:
        from jaxlib.mlir import passmanager

        return passmanager


def bindings() -> Bindings:
    """jaxlib's bindings, imported at the first call."""
    global _bindings
    if _bindings is None:
        _bindings = Bindings()
    return _bindings


def context() -> Any:
    """The process's MLIR context with the dialects of programs loaded. Types and attributes made in it live for ever."""
    return _context if _context is not None else _make_context()


def _make_context() -> Any:
    global _context, _unknown
    with _lock:
        if _context is None:
            made = _new_context(bindings())
            _unknown = bindings().ir.Location.unknown(made)
            _context = made
    return _context


def _new_context(mlir: Bindings) -> Any:
    class Context(mlir.ir.Context):
        def __init__(self):
            super(mlir.ir.Context, self).__init__()  # skips an initialiser that loads every dialect there is

    registry = mlir.ir.DialectRegistry()
    mlir.ext.register_dialects(registry)
    made = Context()
    made.append_dialect_registry(registry)
    for dialect in (mlir.hlo, mlir.chlo):
        dialect.register_dialect(made)
    made.get_dialect_descriptor("func")  # which loads it; what a text names is loaded as it is read
    return made


def load_imported_dialects() -> None:
    """Let the context know all dialects if jaxlib's modules of others than those of programs are imported: rules of users may
    write in them."""
    global _knows_all
    if not _knows_all and any(f"jaxlib.mlir.dialects.{name}" in sys.modules for name in _OTHER_DIALECTS):
        context().load_all_available_dialects()
        _knows_all = True


def generated_builders() -> tuple[Any, Any]:
    """jaxlib's own builders of StableHLO and CHLO."""
    return with_classes((import_module("jaxlib.mlir.dialects.stablehlo"), import_module("jaxlib.mlir.dialects.chlo")))


def with_classes(module: Any) -> Any:
    """What is read or written with jaxlib's classes of operations, such as a module: they are imported for it."""
    for name in ("builtin", "func", "stablehlo", "chlo"):
        import_module(f"jaxlib.mlir.dialects.{name}")
    return module


def _after_fork() -> None:
    """A forked child makes a context of its own: the parent's may have a thread pool, whose threads were not copied."""
    global _lock, _context, _knows_all
    _lock, _knows_all = threading.Lock(), False
    if _context is not None:
        vars(_bindings).pop("sdy", None)  # which knows the context of the parent
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_context))  # destroying it would join those threads
        _context = None
        for remembering in _remembered:
            remembering.cache_clear()


run_in_children(_after_fork)


Described = tuple[str, tuple[str, int, int, int, int] | None]
"""A name, and a file with first line, first column, last line, last column (all from 1)."""


def location(name: str | None = None, described: Described | None = None) -> Any:
    """The location with that name, or the unknown one (cheap: 0.2 µs). `described`: what it says besides."""
    made = context() if _context is None else _context
    if name is None:
        return _unknown
    named = _bindings.ir.Location  # pyright: ignore[reportOptionalMemberAccess]
    if described is None:
        return named.name(name, context=made)
    words, place = described
    below = None if place is None else named.file(*place, context=made)
    return named.name(f"{name} {words}", childLoc=below, context=made)


def of_context(maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Remember types or attributes, which live as long as the context anyway; a forked child has another one."""

    def decorate(make: Callable[P, T]) -> Callable[P, T]:
        remembering = lru_cache(maxsize)(make)
        _remembered.append(remembering)
        return cast("Callable[P, T]", remembering)

    return decorate


@of_context(256)
def element_type(dtype: np.dtype) -> Any:
    """The MLIR type of one element. Raises TypeError for dtypes without one."""
    ir, made, name = bindings().ir, context(), dtype.name
    if name == "bool":
        return ir.IntegerType.get_signless(1, made)
    if name in _FLOATS:
        return getattr(ir, _FLOATS[name]).get(made)
    if name.startswith("complex") and dtype in PLAIN:
        return ir.ComplexType.get(element_type(np.dtype(f"float{dtype.itemsize * 4}")))
    if name.startswith("uint") and name[4:].isdigit():
        return ir.IntegerType.get_unsigned(int(name[4:]), made)
    if name.startswith("int") and name[3:].isdigit():
        return ir.IntegerType.get_signless(int(name[3:]), made)
    raise TypeError(f"dtype {dtype} has no MLIR type")


@of_context(4096)
def tensor_type(shape: tuple[int, ...], dtype: np.dtype) -> Any:
    """The type of an array with that shape and np.dtype; sizes that are not numbers are left open."""
    element = element_type(dtype)
    if not all(isinstance(n, int) for n in shape):
        open_size = bindings().ir.ShapedType.get_dynamic_size()
        shape = tuple(n if isinstance(n, int) else open_size for n in shape)
    return bindings().ir.RankedTensorType.get(shape, element, loc=_unknown)


def constant_attr(x: np.ndarray) -> Any:
    """The array as an attribute for a constant; one that repeats a single value is stored as that value.

    Attributes are kept as long as the context, that is, for the life of the process: pass large arrays as arguments.
    """
    if not x.ndim:
        return _scalar_attr(x.dtype, x.tobytes(), ())
    element = element_type(x.dtype)
    ir = bindings().ir
    raw = np.ascontiguousarray(x) if x.dtype in PLAIN and x.dtype.kind != "b" else _bytes_per_element(x)
    if x.size > 1 and _repeats(raw):
        raw = raw.reshape(-1)[:1]
    return ir.DenseElementsAttr.get(raw, type=element, shape=list(x.shape), context=context())


def repeated_attr(scalar: np.ndarray, shape: Sequence[int]) -> Any:
    """One number for all elements of a shape, as an attribute for a constant; `scalar` has no axes."""
    if not math.prod(shape):
        return constant_attr(np.broadcast_to(scalar, shape))
    return _scalar_attr(scalar.dtype, scalar.tobytes(), tuple(shape))


@of_context(4096)
def _scalar_attr(dtype: np.dtype, data: bytes, shape: tuple[int, ...]) -> Any:
    raw = np.frombuffer(data, dtype if dtype in PLAIN and dtype.kind != "b" else f"u{dtype.itemsize}")
    return bindings().ir.DenseElementsAttr.get(raw, type=element_type(dtype), shape=list(shape), context=context())


@of_context(4096)
def ints_attr(values: tuple[int, ...]) -> Any:
    """A row of 64-bit integers as an attribute."""
    return bindings().ir.DenseI64ArrayAttr.get([int(v) for v in values], context())


def _bytes_per_element(x: np.ndarray) -> np.ndarray:
    """Bool, int4 and the like take one byte per element in an attribute, not packed bits."""
    return np.ascontiguousarray(x).view(f"u{x.dtype.itemsize}")


def _repeats(raw: np.ndarray) -> bool:
    """Whether all elements have the same bits (so that -0.0 is not 0.0, and a NaN equals itself)."""
    step, data = raw.itemsize, raw.tobytes()
    return data[:step] == data[step : 2 * step] and data == data[:step] * raw.size


def know_layouts() -> None:
    """Let the context know the dialect of layouts over devices."""
    assert bindings().sdy


def know_dialects_of(text: str | bytes) -> None:
    """Let the context know the dialect of layouts over devices if a module's text or bytecode speaks of it."""
    if ("sdy" in text) if isinstance(text, str) else (b"sdy" in text):
        know_layouts()


def parse(text: str | bytes) -> Any:
    """The module of StableHLO text or bytecode. Raises MlirError."""
    ir = bindings().ir
    know_dialects_of(text)
    try:
        return ir.Module.parse(text, context())
    except ir.MLIRError as error:
        raise MlirError(str(error)) from None


def run_pass(module: Any, name: str) -> None:
    """Change a module by a pass of MLIR."""
    with module.context:
        bindings().passmanager.PassManager.parse(f"builtin.module({name})").run(module.operation)


def module_text(module: Any, debug_info: bool = False) -> str:
    """The module as text; `debug_info` adds the locations."""
    return module.operation.get_asm(enable_debug_info=debug_info, pretty_debug_info=False)


def to_bytecode(module: Any) -> bytes:
    """The module as MLIR bytecode, locations included; `parse` and `Executable.compile` take it."""
    out = io.BytesIO()
    module.operation.write_bytecode(out)
    return out.getvalue()


PLAIN_VALUES = (bool, int, float, str)


def attribute(x: Any) -> Any:
    """A value as an attribute: Python's numbers with 64 bits, NumPy's with their own dtype, arrays, text, dtypes, and sequences and
    dicts of those."""
    ir = bindings().ir
    if isinstance(x, np.ndarray):
        return constant_attr(x)
    if isinstance(x, np.generic) and not isinstance(x, np.str_):
        return _number_attr(x)
    if isinstance(x, dict):
        return ir.DictAttr.get({key: attribute(value) for key, value in x.items()})
    if isinstance(x, (list, tuple)):
        return ir.ArrayAttr.get(list(map(attribute, x)))
    if isinstance(x, np.dtype):
        return ir.TypeAttr.get(element_type(x))
    if isinstance(x, bool):
        return ir.BoolAttr.get(x)
    if isinstance(x, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), x)
    return ir.FloatAttr.get(ir.F64Type.get(), x) if isinstance(x, float) else ir.StringAttr.get(x)


def _number_attr(x: np.generic) -> Any:
    ir, element = bindings().ir, element_type(x.dtype)
    if isinstance(x, np.bool_):
        return ir.BoolAttr.get(bool(x))
    if isinstance(x, np.complexfloating):
        return constant_attr(np.asarray(x))
    if x.dtype.name.startswith(("int", "uint")):
        return ir.IntegerAttr.get(element, int(x))
    return ir.FloatAttr.get(element, float(x))
