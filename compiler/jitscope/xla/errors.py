"""The errors that leave this folder."""

import re
from collections.abc import Iterable
from typing import Any

from . import donations


__all__ = ["CompileOptionError", "DeletedBufferError", "ForkedProcessError", "XlaError"]


class XlaError(RuntimeError):
    """XLA refused a program or failed while running it. `status` is its code, such as "INVALID_ARGUMENT", or ""."""

    def __init__(self, message: str):
        found = re.match(r"([A-Z_]+): ", message)
        self.status = found.group(1) if found else ""
        super().__init__(_readable(message))


class CompileOptionError(XlaError, ValueError):
    """XLA has no option of that name, or the option does not take the value."""


class DeletedBufferError(RuntimeError):
    """The buffer was deleted or donated; its contents are gone. `sharp_bit`: see `core.errors.stepped_on`."""

    sharp_bit: tuple[str, Any] | None = None

    def __init__(self, message: str = "the buffer was deleted or donated to a computation; its contents are gone"):
        super().__init__(message)


def deletion_error(buf: Any) -> DeletedBufferError:
    """The error for the use of a deleted buffer; it says who took the memory, if that is known."""
    story = donations.story_of(buf)
    if story is None:
        return DeletedBufferError()
    error = DeletedBufferError(
        f"the array was deleted or donated: {story.text}. What to do: use that call's result in its place, or do not donate the "
        "argument"
    )
    error.sharp_bit = ("donation-misuse", story.where)
    return error


class ForkedProcessError(RuntimeError):
    """This process was forked from one that had already started XLA."""


def _readable(message: str) -> str:
    """The message without trailing blank lines and without XLA's internal source positions."""
    lines = [line.rstrip() for line in message.splitlines()]
    kept = [line for line in lines if line and not line.startswith(("=== Source Location", "xla/", "external/"))]
    return "\n".join(kept) or "XLA gave no message"


def translate(error: BaseException, bufs: Iterable[Any] = ()) -> RuntimeError:
    """jaxlib's runtime error as a `DeletedBufferError` or an `XlaError`.

    `bufs` are the arguments of the call that failed: for deleted ones jaxlib's message speaks of shards.
    """
    message = str(error)
    for buf in bufs:
        if buf.is_deleted():
            return deletion_error(buf)
    if "deleted or donated" in message or "Array has been deleted" in message:
        return DeletedBufferError()
    if "previously donated in the same call" in message:
        error = XlaError(
            "INVALID_ARGUMENT: an array was donated and passed a second time in the same call, f(donated=a, b=a): "
            "its memory cannot be given away and read as well. Pass a copy in one of the places"
        )
        error.sharp_bit = ("donation-misuse", None)  # pyright: ignore[reportAttributeAccessIssue]
        return error
    return XlaError(message)
