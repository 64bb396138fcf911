"""A compiled program as bytes: what is written to disk, and checked before any of it is used.

An entry is a fixed head (what a hit needs), a text (what people ask), the MLIR bytecode and the executable, the last two
compressed. A checksum covers all of it.
"""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from typing import Any

from ...core.digest import blake2b
from ...named_tuple import NamedTuple
from .key import Key


MAGIC = b"jitscop2"
_HEAD = struct.Struct("<8s16s16sdIIIQ16s")
"""magic, program, environment, seconds it took to compile, sizes (text, bytecode, executable), what the program needs,
checksum."""

HEAD = _HEAD.size
NEEDS_LAPACK = 1


class Head(NamedTuple):
    """The fixed part. `size` is the whole entry's."""

    magic: bytes
    program: bytes
    environment: bytes
    seconds: float
    text_size: int
    bytecode_size: int
    executable_size: int
    needs: int
    checksum: bytes

    @property
    def size(self) -> int:
        return HEAD + self.text_size + self.bytecode_size + self.executable_size

    @property
    def name(self) -> tuple[bytes, bytes]:
        return self.program, self.environment


class Entry(NamedTuple):
    """A checked entry. `bytecode` is still compressed."""

    head: Head
    text: bytes
    bytecode: bytes
    executable: bytes

    def unpack_lowered(self) -> Callable[[], bytes]:
        """What gives the MLIR bytecode when it is asked for."""
        return partial(zlib.decompress, self.bytecode)


class DamagedEntry(ValueError):
    """Bytes that are no entry, or not the one that was asked for."""


def pack(key: Key, function: str, seconds: float, lowered: bytes, executable: bytes, needs: int) -> bytes:
    """An entry. `seconds` is what lowering and compiling took, `executable` what `Executable.serialize` gave."""
    text = _text(function, key.parts)
    bytecode, code = zlib.compress(lowered, 1), zlib.compress(executable, 1)
    sizes = len(text), len(bytecode), len(code)
    head = Head(MAGIC, key.program, key.environment, seconds, *sizes, needs, b"")
    checksum = _checksum(head, text, bytecode, code)
    return b"".join([_HEAD.pack(*head._replace(checksum=checksum)), text, bytecode, code])


def read_head(data: bytes) -> Head:
    """The fixed part, which `data` begins with. Raises Damaged."""
    if len(data) < HEAD:
        raise DamagedEntry("it is cut off")
    head = Head(*_HEAD.unpack_from(data))
    if head.magic != MAGIC:
        raise DamagedEntry("it is something else")
    return head


def unpack(data: bytes, name: tuple[bytes, bytes] | None = None) -> Entry:
    """The entry in these bytes, checked; `name`: program and environment that were asked for. Raises Damaged."""
    head = read_head(data)
    if len(data) != head.size:
        raise DamagedEntry("it is cut off" if len(data) < head.size else "something follows it")
    if name is not None and head.name != name:
        raise DamagedEntry("it is another program's")
    middle = HEAD + head.text_size
    end = middle + head.bytecode_size
    text, bytecode, code = data[HEAD:middle], data[middle:end], data[end:]
    if _checksum(head, text, bytecode, code) != head.checksum:
        raise DamagedEntry("its checksum is wrong")
    try:
        return Entry(head, text, bytecode, zlib.decompress(code))
    except zlib.error as error:
        raise DamagedEntry(str(error)) from None


_ESCAPES = {**{i: f"\\u{i:04x}" for i in range(32)}, ord('"'): '\\"', ord("\\"): "\\\\"}


def _text(function: str, parts: dict[str, str]) -> bytes:
    """JSON, written by hand: to import what writes it takes longer than all the rest."""
    told = ", ".join(f"{_quoted(name)}: {_quoted(value)}" for name, value in parts.items())
    text = f'{{"function": {_quoted(function)}, "made": {time.time():.3f}, "parts": {{{told}}}}}'
    return text.encode("utf-8", "backslashreplace")


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


def description_of(text: bytes) -> dict[str, Any]:
    """What the text part says: function, made (when), parts (of the environment). Raises Damaged."""
    try:
        found = _json().loads(text)
        return {"function": str(found["function"]), "made": float(found["made"]), "parts": dict(found["parts"])}
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedEntry(f"its text cannot be read: {error}") from None


def _checksum(head: Head, *parts: bytes) -> bytes:
    found = blake2b(_HEAD.pack(*head._replace(checksum=b"")), digest_size=16)
    for part in parts:
        found.update(part)
    return found.digest()


@cache
def _json() -> Any:
    """Imported when somebody asks for the text: it costs a hundredth of importing the library."""
    return import_module("json")
