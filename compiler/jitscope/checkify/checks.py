"""What can be checked, the error that tells what failed, and `check`, the user's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core import call_sites, dtypes, source
from ..core.annotations import ArrayLike
from ..core.avals import ShapedArray, aval_of
from ..core.effects import Effect
from ..core.messages import with_advice
from ..core.primitive import FunctionCall
from ..core.trace import Tracer
from ..ops.linear import convert, neg_p


__all__ = ["BatchedError", "Check", "CheckError", "DivisionByZeroError", "Error", "ErrorCategory", "FailedCheckError",
           "JaxRuntimeError", "NaNError", "OOBError", "all_checks", "automatic_checks", "check", "check_error",
           "debug_check", "div_checks", "float_checks", "index_checks", "init_error", "nan_checks", "user_checks"]  # fmt: skip


# Kinds ---------------------------------------------------------------------------------------------------------------


class Failure(Exception):
    """Base of what checks tell; its classes are the categories of checks. `Error.get_exception` gives one, and it is the
    cause of the error that is raised."""


class FailedCheckError(Failure):
    """A `check` of the user's did not hold."""


class NaNError(Failure):
    """An operation gave a NaN."""


class DivisionByZeroError(Failure):
    """Something was divided by zero."""


class OOBError(Failure):
    """An index was out of bounds."""


class BatchedError(Failure):
    """Checks failed in examples of a mapped function: `error_mapping` has the failure of each, by its index."""

    def __init__(self, error_mapping: dict[tuple[int, ...], Failure]):
        self.error_mapping = error_mapping
        rows = [f"at mapped index {', '.join(map(str, at))}: {e}" for at, e in error_mapping.items()]
        super().__init__("\n".join(rows))


ErrorCategory = type[Failure]
Kinds = frozenset[ErrorCategory]
user_checks: Kinds = frozenset({FailedCheckError})
nan_checks: Kinds = frozenset({NaNError})
index_checks: Kinds = frozenset({OOBError})
div_checks: Kinds = frozenset({DivisionByZeroError})
float_checks: Kinds = nan_checks | div_checks
automatic_checks: Kinds = float_checks | index_checks
all_checks: Kinds = automatic_checks | user_checks


class JaxRuntimeError(ValueError):
    """A check failed. Its cause is the failure, of the class that is its category."""


CheckError = JaxRuntimeError


# The error as a value ------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Check:
    """One check of a program: its category, its message, with fields for the values that are known when it fails
    (`structure` says how they lie, as (positional, named)), and what is said behind: the user's line."""

    category: ErrorCategory
    message: str
    structure: Any
    avals: tuple[ShapedArray, ...]
    line: str

    def failure(self, values: Sequence[Any]) -> Failure:
        """The exception for the values that the check told."""
        positional, named = self.structure.unflatten([np.asarray(v)[()] for v in values])
        return self.category(self.message.format(*positional, **named) + self.line)


class Error:
    """The state of all checks of a function: a tree of arrays, which jit, vmap and scan carry as others.

    `code` is the number of the first check that failed (-1: none did), `values` what each check tells.
    """

    def __init__(self, code: ArrayLike, values: Sequence[Sequence[Any]], checks: tuple[Check, ...]):
        self.code, self.values, self.checks = code, values, checks

    def get(self) -> str | None:
        """What failed, in words, or None. Of a mapped function, what failed in each example that did."""
        failure = self.get_exception()
        return None if failure is None else str(failure)

    def get_exception(self) -> Failure | None:
        """What failed, as an exception of the class that is its category, or None. Of a mapped function, a BatchedError."""
        found = dict(self._failures())
        if not found:
            return None
        return found[()] if () in found else BatchedError(found)

    def _failures(self) -> Iterator[tuple[tuple[int, ...], Failure]]:
        """What failed first in each example (there is one, at (), if nothing is mapped)."""
        codes = np.asarray(self.code)
        for row in np.argwhere(codes >= 0):
            at = tuple(map(int, row))
            number = int(codes[at])
            yield at, self.checks[number].failure([np.asarray(v)[at] for v in self.values[number]])

    def throw(self) -> None:
        """Raise JaxRuntimeError (a ValueError) if a check failed. In a function that is traced, the same as `check_error`."""
        throw(self)

    def __repr__(self) -> str:
        return f"Error({'?' if isinstance(self.code, Tracer) else self.get()})"


tree.register_pytree_node(
    Error, lambda e: ((e.code, tuple(map(tuple, e.values))), e.checks), lambda checks, xs: Error(xs[0], xs[1], checks)
)
init_error = Error(np.int32(-1), (), ())
"""The error of a function without checks."""


def throw(error: Error) -> None:
    """Raise what failed; in a function that is traced, make it a part of the program."""
    if isinstance(error.code, Tracer):
        mapped = aval_of(error.code).ndim
        check_p.bind(
            error.code, *[v for row in error.values for v in row], checks=error.checks, mapped=mapped, debug=False
        )
    elif (failure := error.get_exception()) is not None:
        raise JaxRuntimeError(str(failure)) from failure


# The user's check ----------------------------------------------------------------------------------------------------


check_effect = Effect("check")
"""A check may fail."""


class CheckCall(FunctionCall):
    """Checks: `operands` are the number of the one that failed (-1: none did), then the values they tell. The first `mapped`
    axes of all are those of examples. With `debug` nothing is checked where nobody asked for it."""

    def abstract(self, /, *avals, **params):
        return [], frozenset([check_effect])

    def evaluate(self, args, /, *, checks, mapped, debug):
        if not debug:
            throw(error_of(checks, args))
        return []

    def lower(self, ctx, /, *values, checks, mapped, debug):
        if debug:
            return []
        raise ValueError(
            with_advice(
                f"a check is part of a compiled program, where it cannot raise: {checks[0].message}{checks[0].line}",
                "wrap the function: error, result = jit(checkify(f))(...), then error.throw()",
            )
        )

    def jvp(self, primals, tangents, /, **params):
        self.bind(*primals, **params)
        return [], []

    def transpose(self, cts, /, *args, **params):
        return [None] * len(args)

    def batch(self, axis, args, dims, /, *, mapped, **params):
        self.bind(*[axis.move(x, d, 0) for x, d in zip(args, dims)], mapped=mapped + 1, **params)
        return [], []

    def shown_params(self, params):
        return {"message": "; ".join(check.message for check in params["checks"])}


check_p = CheckCall("check")


def error_of(checks: tuple[Check, ...], operands: Sequence[Any]) -> Error:
    """The error that the operands of a `check` equation stand for."""
    given = iter(operands[1:])
    return Error(operands[0], [[next(given) for _ in check.avals] for check in checks], checks)


def check(pred: ArrayLike, msg: str, *fmt_args: ArrayLike, debug: bool = False, **fmt_kwargs: ArrayLike) -> None:
    """Check that `pred`, a boolean scalar, holds. `msg` is a format string; `fmt_args` and `fmt_kwargs` (arrays) fill it.

    Outside of traces it raises JaxRuntimeError if it does not hold; in a traced function it becomes part of the program,
    which `checkify` makes return the failure. `debug`: such checks do nothing where the function is not wrapped in checkify.
    Raises TypeError where `pred` is not a boolean scalar or a value is not an array, and what `str.format` raises for a
    message that does not go with the values.
    """
    aval = _aval(pred, "pred")
    if aval.shape or aval.dtype != dtypes.bool_:
        raise TypeError(f"check: pred is a boolean scalar, not {aval.short()}; reduce arrays with jnp.all")
    leaves, structure = tree.flatten((fmt_args, fmt_kwargs))
    avals = tuple([_aval(x, "each value that the message shows") for x in leaves])
    where = call_sites.here()
    line = " (`check` failed)" + (f" in line {where.line} of {where.function}" if where else "")
    found = Check(FailedCheckError, msg, structure, avals, line)
    found.failure([np.zeros(a.shape, a.dtype) for a in avals])
    values = [x if hasattr(x, "aval") else convert(x, a.dtype) for x, a in zip(leaves, avals)]
    code = neg_p(convert(pred, np.dtype(np.int32)))  # -1: it holds
    check_p.bind(code, *values, checks=(found,), mapped=0, debug=bool(debug))


def _aval(x: Any, what: str) -> ShapedArray:
    try:
        return aval_of(x)
    except TypeError:
        raise TypeError(f"check: {what} is an array, not {type(x).__name__}: {x!r}") from None


def debug_check(pred: ArrayLike, msg: str, *fmt_args: ArrayLike, **fmt_kwargs: ArrayLike) -> None:
    """`check` in functions that are wrapped in checkify; elsewhere it does nothing."""
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def check_error(error: Error) -> None:
    """Raise what an error of a checked function says, as `error.throw()` does; in a traced function it becomes part of the
    program, which `checkify` around it makes return the failure. Raises TypeError for what is not a Error."""
    if not isinstance(error, Error):
        raise TypeError(f"check_error takes the Error that a checked function gave, not {type(error).__name__}")
    error.throw()


def written_at(where: source.Position | None) -> str:
    """The user's line, behind a message."""
    return source.position_text(where, " (", ")")
