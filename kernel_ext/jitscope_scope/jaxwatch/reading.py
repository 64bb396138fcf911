"""What people and their tools read of a marked program is what they would read unwatched: each way of jaxlib's from a program to text or
bytes leaves the marks out (texts, protos, serialised programs, profiles).

The marks stay in the programs, which is how this process knows where their kernels stem from (`marked`), for as long as these live: so
the readers stay when watching ends. What XLA itself writes into a folder (`xla_dump_to`) has the marks.
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from jitscope.xla import profiler
from jitscope.xla.hlo_module import _hlo
from jitscope.xla.runtime import _jax

from . import marks, private


ir: Any = import_module("jaxlib.mlir.ir")


class _ReaderState(threading.local):
    marked = False


_local = _ReaderState()


@contextlib.contextmanager
def marked() -> Iterator[None]:
    """What this thread reads inside has its marks."""
    before, _local.marked = _local.marked, True
    try:
        yield
    finally:
        _local.marked = before


# --- leaving marks out ---------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1)
def _pattern(tokens: tuple[str, ...]) -> re.Pattern[str]:
    mark = rf"~(?:{'|'.join(tokens)})\.\d+"
    alone = rf"{mark}/{private.ELEMENT}"
    return re.compile(rf"/?{alone}(?![\w./-])|{alone}/|{mark}/|/?{mark}(?![/\d])")


def of_text(text: str) -> str:
    """A text without marks."""
    return _pattern(tuple(marks.tokens)).sub("", text) if _has_marks(text) else text


def of_bytes(data: bytes) -> bytes:
    """A serialised message (protocol buffers) without marks in its strings at any depth. A schema is not needed: what has a mark in it and
    is no line of text is a message, round whose strings the lengths are written anew, or a text of several lines. What is neither, code
    for instance, stays as it is."""
    if not _has_marks(data):
        return data
    fields = None if _is_text(data, lines=False) else _fields(data)
    if fields is not None:
        return b"".join(head if body is None else _with_length(head, of_bytes(body)) for head, body in fields)
    return of_text(data.decode()).encode() if _is_text(data, lines=True) else data


def of_program(data: bytes) -> bytes:
    """A serialised executable without marks: a message, or one whose length stands before it and another."""
    if not _has_marks(data) or _fields(data) is not None:
        return of_bytes(data)
    size, begin = _number(data, 0)
    return data[: begin + size] + of_bytes(data[begin + size :]) if begin > 0 else data


def _has_marks(data: str | bytes) -> bool:
    if isinstance(data, str):
        return any(f"~{token}." in data for token in marks.tokens)
    return any(b"~%b." % token.encode() in data for token in marks.tokens)


def _is_text(data: bytes, lines: bool) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return (text.translate(_BREAKS) if lines else text).isprintable()


_BREAKS = {ord(c): None for c in "\n\r\t"}


def _fields(data: bytes) -> list[tuple[bytes, bytes | None]] | None:
    """The fields of a message: what stands before the length and what it is of, or all there is and None; None for what is none."""
    found, at = list[tuple[bytes, bytes | None]](), 0
    while at < len(data):
        begin, (tag, at) = at, _number(data, at)
        kind = tag & 7
        if at < 0 or tag >> 3 == 0 or kind not in _SIZES:
            return None
        size, here = _SIZES[kind], at
        if kind == _VARINT:
            _, at = _number(data, at)
        elif kind == _LENGTH:
            size, at = _number(data, at)
        if at < 0 or at + size > len(data):
            return None
        end = at + size
        found.append((data[begin:here], data[at:end]) if kind == _LENGTH else (data[begin:end], None))
        at = end
    return found


_VARINT, _LENGTH = 0, 2
_SIZES = {_VARINT: 0, 1: 8, _LENGTH: 0, 5: 4}
"""The bytes of each kind of field, beside those that say how many."""


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length and where it ends; a negative place where there is none."""
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        value, at, shift = value | (byte & 127) << shift, at + 1, shift + 7
        if byte < 128:
            return value, at
    return 0, -1


def _with_length(head: bytes, body: bytes) -> bytes:
    length, rest = bytearray(), len(body)
    while rest > 127:
        length.append(rest & 127 | 128)
        rest >>= 7
    length.append(rest)
    return head + bytes(length) + body


# --- readers -------------------------------------------------------------------------------------------------------------


def _cleaned(read: Callable[..., Any], of: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function of jaxlib's, in whose result the marks are left out."""

    def reads(*args: Any, **kwargs: Any) -> Any:
        found = read(*args, **kwargs)
        return found if _local.marked else of(found)

    return functools.update_wrapper(reads, read)


def _of_mlir(read: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives an operation's text. Where that has marks, so do locations, which MLIR numbers and prints once each: it
    reads the operation that has none."""

    def reads(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = read(self, *args, **kwargs)
        return found if _local.marked or not _has_marks(found) else read(_unmarked(self), *args, **kwargs)

    return functools.update_wrapper(reads, read)


def _printing(print_to: Callable[..., None]) -> Callable[..., None]:
    """`Operation.print`, which writes its text into a file."""

    def prints(self: Any, *args: Any, file: Any = None, binary: bool = False, **kwargs: Any) -> None:
        text = _written(self, lambda one, into: print_to(one, *args, file=into, binary=True, **kwargs))
        into: Any = file or sys.stdout
        into.write(text if binary else text.decode())

    return functools.update_wrapper(prints, print_to)


def _writing(write: Callable[..., Any]) -> Callable[..., Any]:
    """`Operation.write_bytecode`."""

    def writes(self: Any, file: Any, *args: Any, **kwargs: Any) -> Any:
        with marked() if private.refines(sys._getframe(1)) else contextlib.nullcontext():
            file.write(_written(self, lambda one, into: write(one, into, *args, **kwargs)))

    return functools.update_wrapper(writes, write)


def _written(operation: Any, write: Callable[[Any, io.BytesIO], None]) -> bytes:
    into = io.BytesIO()
    write(operation, into)
    if not _local.marked and _has_marks(into.getvalue()):
        into = io.BytesIO()
        write(_unmarked(operation), into)
    return into.getvalue()


def _unmarked(operation: Any) -> Any:
    """The same operation with locations that have no marks."""
    with marked():
        text = operation.get_asm(
            enable_debug_info=True, print_generic_op_form=True
        )  # shorter forms lack some locations
    with operation.context:
        return ir.Operation.parse(of_text(text))


def _profiled(stop: Callable[..., bytes]) -> dict[str, Callable[..., Any]]:
    """The ways to end a profile. All of them go by the one that gives its bytes. What we record ourselves is read for times alone, and stays
    as it is: leaving marks out of some programs takes seconds."""
    session = profiler.native().ProfilerSession

    def stop_session(self: Any) -> bytes:
        found, own = stop(self), sys._getframe(1).f_globals is vars(profiler)
        return found if own or _local.marked else of_bytes(found)

    def stop_and_export(self: Any, folder: str) -> None:
        session.export(self, session.stop(self), folder)

    def stop_and_get_profile_data(self: Any) -> Any:
        return profiler.reader().ProfileData.from_serialized_xspace(session.stop(self))

    return {
        "stop": functools.update_wrapper(stop_session, stop),
        "stop_and_export": stop_and_export,
        "stop_and_get_profile_data": stop_and_get_profile_data,
    }


_READERS: tuple[tuple[Callable[[Any], Any], Any, str], ...] = (
    (of_text, _hlo.HloModule, "to_string"),
    (of_text, _hlo.HloInstruction, "to_string"),
    (of_text, _hlo.XlaComputation, "as_hlo_text as_hlo_dot_graph"),
    (of_text, _hlo, "hlo_module_to_dot_graph"),
    (of_text, _jax.LoadedExecutable, "get_hlo_text"),
    (of_text, ir.Location, "__str__ __repr__"),
    (of_bytes, _hlo.HloModule, "as_serialized_hlo_module_proto"),
    (of_bytes, _hlo.HloInstruction, "as_serialized_proto"),
    (of_bytes, _hlo.XlaComputation, "as_serialized_hlo_module_proto"),
    (of_program, _jax.LoadedExecutable, "serialize"),
    (of_program, _jax.Client, "serialize_executable"),
)
"""What gives texts and bytes of programs, by what is in them and the class that has it. Not every release has all."""

_OPERATION = ir.Operation.__mro__[1]  # the class that operations and their views share


@functools.cache
def install() -> None:
    """Put the readers in place, once in a process."""
    for of, owner, names in _READERS:
        for name in names.split():
            if (read := vars(owner).get(name)) is not None:
                setattr(owner, name, _cleaned(read, of))
    for name, around in {
        "__str__": _of_mlir,
        "get_asm": _of_mlir,
        "print": _printing,
        "write_bytecode": _writing,
    }.items():
        setattr(_OPERATION, name, around(vars(_OPERATION)[name]))
    session = profiler.native().ProfilerSession
    for name, ends in _profiled(session.stop).items():
        if hasattr(session, name):
            setattr(session, name, ends)
