"""The file form of an exported function: a header in JSON, the StableHLO module, and its pullback if it has one."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import struct
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.avals import ShapedArray
from ..ops.rng import threefry
from . import trees


_MAGIC = b"jitscope export\n"
_FORMAT = 1
_SIZES = struct.Struct("<HQQQ")
_KEYS = {threefry.name: threefry}


@dataclasses.dataclass(frozen=True)
class Artifact:
    """An exported function: `module` takes and gives the flat leaves of its arguments (a pair of positional and named ones)
    and result. `pullback` takes the same, then cotangents of the results that have some, and gives those of the arguments
    that have some."""

    name: str
    in_tree: Any
    out_tree: Any
    in_avals: tuple[ShapedArray, ...]
    out_avals: tuple[ShapedArray, ...]
    stablehlo: str
    platforms: tuple[str, ...]
    module: bytes
    pullback: Artifact | None = None


class ArtifactError(ValueError):
    """Bytes that are not an exported function, are damaged, or of a version this installation does not read."""


def to_bytes(artifact: Artifact) -> bytes:
    """The artifact as bytes. Raises ValueError or TypeError for trees that cannot be written."""
    header = {
        "name": artifact.name,
        "in_tree": trees.encode(artifact.in_tree),
        "out_tree": trees.encode(artifact.out_tree),
        "in_avals": [_aval_data(a) for a in artifact.in_avals],
        "out_avals": [_aval_data(a) for a in artifact.out_avals],
        "stablehlo": artifact.stablehlo,
        "platforms": list(artifact.platforms),
    }
    text = json.dumps(header).encode()
    more = b"" if artifact.pullback is None else to_bytes(artifact.pullback)
    body = text + artifact.module + more
    sizes = _SIZES.pack(_FORMAT, len(text), len(artifact.module), len(more))
    return _MAGIC + hashlib.sha256(sizes + body).digest() + sizes + body


def from_bytes(data: bytes) -> Artifact:
    """The artifact in bytes. Raises ArtifactError."""
    data = bytes(data)
    start = len(_MAGIC)
    if data[:start] != _MAGIC:
        raise ArtifactError("these bytes are not a function exported by jitscope.export")
    if len(data) < start + 32 + _SIZES.size:
        raise ArtifactError(f"the exported function is cut off after {len(data)} bytes, within its header")
    digest, rest = data[start : start + 32], data[start + 32 :]
    form, *lengths = _SIZES.unpack(rest[: _SIZES.size])
    body = rest[_SIZES.size :]
    if form != _FORMAT:
        raise ArtifactError(
            f"the function was exported in format {form}, this version of jitscope reads format {_FORMAT}: export it again, or "
            "use the version it was exported with"
        )
    if len(body) != sum(lengths):
        raise ArtifactError(
            f"the exported function is incomplete: {len(body)} bytes where its header says {sum(lengths)}. Was the file cut "
            "off while it was copied?"
        )
    if hashlib.sha256(rest).digest() != digest:
        raise ArtifactError("the exported function is damaged: its checksum does not fit its contents")
    header = json.loads(body[: lengths[0]])
    module, more = body[lengths[0] : lengths[0] + lengths[1]], body[lengths[0] + lengths[1] :]
    return Artifact(
        header["name"],
        trees.decode(header["in_tree"]),
        trees.decode(header["out_tree"]),
        tuple(map(_aval, header["in_avals"])),
        tuple(map(_aval, header["out_avals"])),
        header["stablehlo"],
        tuple(header["platforms"]),
        module,
        from_bytes(more) if more else None,
    )


def _aval_data(aval: ShapedArray) -> list[Any]:
    return [list(aval.shape), aval.dtype.name, aval.weak_type]


def _aval(data: list[Any]) -> ShapedArray:
    shape, name, weak = data
    dtype = _KEYS[name] if name in _KEYS else getattr(dtypes, name, None) or np.dtype(name)
    return ShapedArray(tuple(shape), dtype, weak)
