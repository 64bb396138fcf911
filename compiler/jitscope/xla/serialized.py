"""What the serialized form of an executable tells: the object files with its machine code, and which of their functions each
instruction of the program runs.

The form is XLA's own and promised nowhere. It is a protocol buffer; what does not read as expected raises ValueError, and no
function is taken for an instruction's that is not among the symbols the form itself lists.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..named_tuple import NamedTuple
from .errors import translate
from .runtime import RuntimeFailure


class Step(NamedTuple):
    """One thing that XLA's runtime does: `kind` (kernel, while, copy, …), the HLO instruction it is made of, and for a kernel the
    symbol of the function that it calls."""

    kind: str
    instruction: str
    function: str | None


class Parts(NamedTuple):
    """The object files, the functions in them that the runtime calls, its steps with those of loops and branches, and what the
    code is for: LLVM's triple and the processor's name, "" where the form does not say it."""

    objects: tuple[bytes, ...]
    symbols: frozenset[str]
    steps: tuple[Step, ...]
    triple: str
    processor: str


def parts_of(executable: Any) -> Parts:
    """The parts of an `Executable`. Raises XlaError where XLA cannot write it (one that sorts), ValueError where its form is not
    the known one (another backend)."""
    try:
        data = executable.raw.serialize()
    except RuntimeFailure as error:
        raise translate(error) from None
    try:
        return _parts(data)
    except (IndexError, UnicodeDecodeError) as error:
        raise ValueError("the executable has another form than the known one") from error


def _parts(data: bytes) -> Parts:
    length, start = _varint(data, 0)  # a message about devices, and before it its length, stand in front
    compiled = _Message(_Message(data[start + length :]).message(1))
    module = compiled.within(1).within(1).text(1)
    symbols = frozenset(_Message(one).text(2) for one in compiled.messages(7))
    target = [_Message(one) for one in compiled.messages(9)]
    steps = tuple(_steps(compiled.message(6), module, symbols))
    objects = tuple(_Message(one).message(1) for one in compiled.messages(8))
    triple, processor = (target[0].text(number) if target else "" for number in (1, 2))
    return Parts(objects, symbols, steps, triple, processor)


def _steps(data: bytes, module: str, symbols: frozenset[str]) -> Iterator[Step]:
    """The steps in a message, at whatever depth: each names its kind, its instruction and the module."""
    for _, value in _fields(data):
        if not isinstance(value, bytes) or module.encode() not in value:
            continue
        try:
            inner = _Message(value)
        except (IndexError, ValueError):
            continue
        step = _step(inner, module, symbols)
        if step is not None:
            yield step
        if step is None or step.kind != "kernel":
            yield from _steps(value, module, symbols)


def _step(message: _Message, module: str, symbols: frozenset[str]) -> Step | None:
    try:
        about = message.within(2)
        if about.text(2) != module:
            return None
        kind, instruction = message.text(1), about.text(1)
    except (IndexError, ValueError):
        return None
    return Step(kind, instruction, _function(message, symbols) if kind == "kernel" else None)


def _function(message: _Message, symbols: frozenset[str]) -> str | None:
    for number, value in message.fields:
        if number > 2 and isinstance(value, bytes):
            try:
                name = _Message(value).text(1)
            except (IndexError, ValueError):
                continue
            if name in symbols:
                return name
    return None


class _Message:
    """The fields of a message. What is missing raises ValueError."""

    def __init__(self, data: bytes):
        self.fields = list(_fields(data))

    def messages(self, number: int) -> list[bytes]:
        return [value for n, value in self.fields if n == number and isinstance(value, bytes)]

    def message(self, number: int) -> bytes:
        found = self.messages(number)
        if not found:
            raise ValueError(f"the message has no field {number}")
        return found[0]

    def within(self, number: int) -> _Message:
        return _Message(self.message(number))

    def text(self, number: int) -> str:
        return self.message(number).decode()


def _fields(data: bytes) -> Iterator[tuple[int, bytes | int]]:
    """Number and value of each field. Raises ValueError, IndexError for other bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind, value = key & 7, 0
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind == 2:
            size, at = _varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind, -1)
        if size < 0 or at + size > len(data):
            raise ValueError("this is not a message")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins at a place, and the place after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return value, at
        shift += 7
