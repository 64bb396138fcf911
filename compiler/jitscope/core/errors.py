"""Errors for people: what happened, where, why, what to do. Class names are JAX's where JAX has one."""

from __future__ import annotations

from typing import Any, TypeVar

from ..xla.errors import DeletedBufferError, XlaError
from .annotations import Position


__all__ = ["CallbackResultError", "ConcretizationTypeError", "DeletedArrayError", "InconclusiveDimensionOperation",
           "JAXIndexError", "JAXTypeError", "JaxRuntimeError", "JaxprTypeError", "KeyReuseError",
           "NonConcreteBooleanIndexError", "ShardingTypeError", "TracerArrayConversionError", "TracerBoolConversionError",
           "TracerIntegerConversionError", "TypePromotionError", "Unavailable", "UnexpectedTracerError"]  # fmt: skip


Failure = TypeVar("Failure", bound=BaseException)


class JAXTypeError(TypeError):
    """Base of the errors of traced values that are TypeErrors."""


class JAXIndexError(IndexError):
    """Base of the errors of traced values that are IndexErrors."""


class ConcretizationTypeError(JAXTypeError):
    """A value was needed while tracing, when only its shape and dtype are known."""


class TracerBoolConversionError(ConcretizationTypeError):
    """The truth of a traced array was asked for (`if`, `while`, `and`, `or`, `not`, `assert`)."""


class TracerArrayConversionError(JAXTypeError):
    """A traced array was handed to NumPy."""


class TracerIntegerConversionError(JAXTypeError):
    """A traced array was used where Python needs an int (an index of a list, `range`)."""


class NonConcreteBooleanIndexError(JAXIndexError):
    """A traced boolean mask was used as an index: the size of the result would depend on its values."""


class UnexpectedTracerError(JAXTypeError):
    """A tracer was used after its trace had ended."""


class KeyReuseError(JAXTypeError):
    """A random key was used twice; `first` is the user's line that used it first, if it is known."""

    first: Any = None


class Unavailable(LookupError):
    """There is nothing to show, and the message says why in a sentence: a program is no longer kept, arguments are gone. It has a class
    of its own so that an IndexError or a KeyError, which tell of a fault, never pass for an explanation."""


class JaxprTypeError(TypeError):
    """A program is not well formed (found with `enable_checks`): an operation of one's own, or a transformation, is wrong."""


class TypePromotionError(ValueError):
    """Dtypes that have no common type met in one operation."""


class ShapeError(TypeError, ValueError):
    """Shapes, sizes or axes that do not fit: a TypeError as in JAX, and a ValueError as in NumPy."""


class ShardingTypeError(Exception):
    """Operands lie over several devices so that it is not clear, or not cheap, how the result is to lie."""


class InconclusiveDimensionOperation(Exception):
    """A question about symbolic dimensions has no answer that holds for all their sizes."""


class CallbackResultError(RuntimeError):
    """A Python function called by a program returned something else than was promised."""


def stepped_on(error: Failure, sharp_bit: str, where: Position | None = None) -> Failure:
    """The error, which says from now on which sharp bit it tells of (an id of `advise.catalogue`), and the position that caused
    it, where that is another than the line that runs."""
    error.sharp_bit = (sharp_bit, where)  # pyright: ignore[reportAttributeAccessIssue]
    return error


DeletedArrayError = DeletedBufferError
"""The array's memory was given away (donated) or freed."""

JaxRuntimeError = XlaError
"""XLA refused a program or failed while running it; `status` is its code."""


def later(what: str) -> NotImplementedError:
    """The error of what JAX has and this release has not."""
    return NotImplementedError(f"{what} comes in a later release")
