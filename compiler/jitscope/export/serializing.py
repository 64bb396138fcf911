"""The file form of exported functions: that of jax.export, a flatbuffer (its schema is public: serialization.fbs).

What is written here has a mark, a checksum at the end, and one field more: the constraints on symbolic dimensions.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray, physical
from ..core.resharding import typed_as
from ..ops.rng import threefry
from ..symbolic.dimension import is_symbolic_dim
from ..symbolic.scope import SymbolicScope
from ..symbolic.shapes import symbolic_shape
from . import trees
from .checks import DisabledSafetyCheck
from .flatbuffer import Number, Numbers, Reader, Table, write
from .shardings import ShardingsToWrite, read_shardings


_MARK = b"JSCP"
_END = b"jitscope"
_DIGEST = 32
_FORMAT, _WITH_SHARDINGS = 3, 10
_CONSTRAINTS = 100

_NUMBERS: dict[str, int] = {
    "bool": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "uint8": 5, "uint16": 6, "uint32": 7, "uint64": 8,
    "float16": 9, "float32": 10, "float64": 11, "complex64": 12, "complex128": 13, "bfloat16": 14, "int4": 15,
    "uint4": 16, "float8_e4m3b11fnuz": 17, "float8_e4m3fn": 18, "float8_e4m3fnuz": 19, "float8_e5m2": 20,
    "float8_e5m2fnuz": 21, "float8_e4m3": 23, "float8_e3m4": 24, "float8_e8m0fnu": 25, "float4_e2m1fn": 26,
}  # fmt: skip
_DTYPES: dict[int, Any] = {n: np.dtype(getattr(ml_dtypes, name, name)) for name, n in _NUMBERS.items()}
_DTYPES |= {22: dtypes.float0, 27: threefry}
_KINDS = {dtype: n for n, dtype in _DTYPES.items()}


class ArtifactError(ValueError):
    """Bytes that are not an exported function, are damaged, or of a version this installation does not read."""


def to_bytes(exported: Any, vjp_order: int) -> bytearray:
    """The function as bytes, with `vjp_order` pullbacks. Raises ValueError for pullbacks that are not there, and ValueError or
    TypeError for trees that cannot be written."""
    data = write(_table(exported, vjp_order, vjp_order), _MARK)
    return bytearray(data + hashlib.sha256(data).digest() + _END)


def _table(exported: Any, order: int, asked: int) -> Table:
    if order > 0 and not exported.has_vjp():
        raise ValueError(
            f"serialization of an Exported that does not have vjps of high-enough order: {exported.fun_name} was serialized "
            f"with vjp_order={asked - order}, so it has no derivative of order {asked}; use serialize(vjp_order={asked}) where "
            "it is exported"
        )
    sides = [[a.update(sharding=None) for a in side] for side in (exported.in_avals, exported.out_avals)]
    distinct = list(dict.fromkeys([*sides[0], *sides[1]]))
    ins, outs = ([distinct.index(a) for a in side] for side in sides)
    shardings = ShardingsToWrite([*exported._in_named_shardings, *exported._out_named_shardings])
    return {
        0: Number("H", _FORMAT if shardings.empty else _WITH_SHARDINGS),
        1: exported.fun_name,
        2: trees.encode(exported.in_tree),
        3: list(map(_aval_table, exported.in_avals)),
        4: trees.encode(exported.out_tree),
        5: list(map(_aval_table, exported.out_avals)),
        7: [shardings.either(s) for s in exported._in_named_shardings],
        8: [shardings.either(s) for s in exported._out_named_shardings],
        9: list(exported.platforms),
        10: [],
        11: [],
        12: list(map(_check_table, exported.disabled_safety_checks)),
        13: exported.mlir_module_serialized,
        14: Number("H", exported.calling_convention_version),
        15: Numbers("H", exported.module_kept_var_idx),
        16: Number("?", exported.uses_global_constants),
        17: _table(exported.vjp(), order - 1, asked) if order > 0 else None,
        18: Number("I", exported.nr_devices),
        19: list(map(_aval_table, distinct)),
        20: shardings.mesh_tables(),
        21: shardings.tables(),
        22: Numbers("I", ins),
        23: Numbers("I", outs),
        24: Numbers("I", shardings.numbers(exported._in_named_shardings)),
        25: Numbers("I", shardings.numbers(exported._out_named_shardings)),
        _CONSTRAINTS: _constraints(exported.in_avals) or None,
    }


def _constraints(avals: Sequence[ShapedArray]) -> list[str]:
    dims: list[Any] = [d for a in avals for d in a.shape if is_symbolic_dim(d)]
    scope = dims[0].scope if dims else None
    return list(scope.texts) if scope is not None else []


def _aval_table(aval: ShapedArray) -> Table:
    return {0: Number("b", 0), 1: [str(d) for d in aval.shape], 2: Number("b", _KINDS[aval.dtype]), 3: Number("b", 1)}


def _check_table(check: DisabledSafetyCheck) -> Table:
    target = check.is_custom_call()
    return {0: Number("b", int(target is not None)), 1: target}


def from_bytes(data: bytes, make: Callable[..., Any]) -> Any:
    """The function in bytes; `make` builds it of its fields. Raises ArtifactError."""
    ours = data[4:8] == _MARK
    if ours:
        data = _verified(data)
    try:
        root = Reader(data)
        if root.number(0, "H") not in (2, 3, *range(4, 16)) or not root.bytes(13):
            raise ArtifactError("these bytes are not a function exported by jitscope.export or jax.export")
        return _exported(root, make)
    except (ArtifactError, trees.NotRegistered):
        raise
    except (struct.error, UnicodeDecodeError, IndexError, RecursionError, ValueError) as error:
        raise ArtifactError(
            f"these bytes are not a function exported by jitscope.export or jax.export: {error}"
        ) from None


def _verified(data: bytes) -> bytes:
    size = len(data) - _DIGEST - len(_END)
    if not data.endswith(_END):
        raise ArtifactError(
            "the exported function is incomplete, or something follows it. Was the file cut off while it was copied?"
        )
    if hashlib.sha256(data[:size]).digest() != data[size : -len(_END)]:
        raise ArtifactError("the exported function is damaged: its checksum does not fit its contents")
    return data[:size]


def _exported(root: Reader, make: Callable[..., Any]) -> Any:
    name = root.text(1)
    if root.tables(10) or any(t.bytes(1) for t in [*root.tables(7), *root.tables(8)]):
        raise ArtifactError(
            f"{name} was exported with ordered effects, or with shardings in an older format, which this release does not run"
        )
    scope = SymbolicScope(root.texts(_CONSTRAINTS))
    distinct = [_aval(t, scope) for t in root.tables(19)]
    in_shardings, out_shardings = read_shardings(root)
    avals = []
    for whole, numbers, lie in ((3, 22, in_shardings), (5, 23, out_shardings)):
        chosen = root.numbers(numbers, "I")
        found = [distinct[i] for i in chosen] if chosen else [_aval(t, scope) for t in root.tables(whole)]
        lie.extend([None] * (len(found) - len(lie)))
        avals.append(tuple(typed_as(a, s) for a, s in zip(found, lie)))
    in_avals, out_avals = avals
    in_tree, out_tree, vjp = root.table(2), root.table(4), root.table(17)
    if in_tree is None or out_tree is None:
        raise ArtifactError("these bytes are not an exported function: they do not say the structure of its arguments")
    return make(
        fun_name=name,
        in_tree=trees.decode(in_tree),
        in_avals=in_avals,
        out_tree=trees.decode(out_tree),
        out_avals=out_avals,
        _in_named_shardings=tuple(in_shardings),
        _out_named_shardings=tuple(out_shardings),
        in_shardings_hlo=tuple(map(_hlo, in_shardings, in_avals)),
        out_shardings_hlo=tuple(map(_hlo, out_shardings, out_avals)),
        nr_devices=root.number(18, "I") or root.number(6, "h"),
        platforms=tuple(root.texts(9)),
        ordered_effects=(),
        unordered_effects=(),
        disabled_safety_checks=tuple(map(_check, root.tables(12))),
        mlir_module_serialized=root.bytes(13),
        calling_convention_version=root.number(14, "H"),
        module_kept_var_idx=root.numbers(15, "H"),
        uses_global_constants=bool(root.number(16, "?")),
        _get_vjp=None if vjp is None else lambda _: _exported(vjp, make),
    )


def _hlo(sharding: Any, aval: ShapedArray) -> Any:
    if sharding is None:
        return None
    from ..backend.spreading import hlo_sharding  # of several devices

    return hlo_sharding(sharding, physical(aval).ndim)


def _aval(table: Reader, scope: SymbolicScope) -> ShapedArray:
    kind = table.number(2, "b")
    if kind not in _DTYPES:
        raise ArtifactError(
            f"the exported function has arrays of a dtype (number {kind}) that this release does not have"
        )
    shape = symbolic_shape(",".join(table.texts(1)), scope=scope)
    return ShapedArray(shape, _DTYPES[kind])


def _check(table: Reader) -> DisabledSafetyCheck:
    if table.number(0, "b"):
        return DisabledSafetyCheck.custom_call(table.text(1))
    return DisabledSafetyCheck.platform()
