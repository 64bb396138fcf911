"""What can be checked, the error that tells what failed, and `check`, the user's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import tree
from ..core import dtypes, source
from ..core.avals import ShapedArray, aval_of
from ..core.effects import Effect
from ..core.primitive import FunctionCall
from ..core.trace import Tracer
from ..ops.linear import convert


Kinds = frozenset[str]
user_checks: Kinds = frozenset({"user"})
nan_checks: Kinds = frozenset({"nan"})
index_checks: Kinds = frozenset({"index"})
div_checks: Kinds = frozenset({"div"})
float_checks: Kinds = nan_checks | div_checks
automatic_checks: Kinds = float_checks | index_checks
all_checks: Kinds = automatic_checks | user_checks


class CheckError(RuntimeError):
    """A check failed."""


@dataclasses.dataclass(frozen=True)
class Check:
    """One check of a program: its message, with fields for the values that are known when it fails (`structure` says how they
    lie, as (positional, named)), and the user's line."""

    message: str
    structure: Any
    avals: tuple[ShapedArray, ...]
    line: str

    def told(self, values: Sequence[Any]) -> str:
        positional, named = self.structure.unflatten([np.asarray(v)[()] for v in values])
        return self.message.format(*positional, **named) + self.line


class Error:
    """The state of all checks of a function: a tree of arrays, which jit, vmap and scan carry as others.

    `code` is the number of the first check that failed (-1: none did), `values` what each check tells.
    """

    def __init__(self, code: Any, values: Sequence[Sequence[Any]], checks: tuple[Check, ...]):
        self.code, self.values, self.checks = code, values, checks

    def get(self) -> str | None:
        """What failed, in words, or None. Of a mapped function, the first example that failed."""
        codes = np.asarray(self.code)
        failed = np.argwhere(codes >= 0)
        if not len(failed):
            return None
        at = tuple(int(i) for i in failed[0])
        number = int(codes[at])
        found = self.checks[number].told([np.asarray(v)[at] for v in self.values[number]])
        where = f"in example {at[0] if len(at) == 1 else at}: " if at else ""
        return where + found

    def throw(self) -> None:
        """Raise CheckError if a check failed."""
        message = self.get()
        if message is not None:
            raise CheckError(message)

    def __repr__(self) -> str:
        return f"Error({'?' if isinstance(self.code, Tracer) else self.get()})"


tree.register_pytree_node(
    Error, lambda e: ((e.code, tuple(map(tuple, e.values))), e.checks), lambda checks, xs: Error(xs[0], xs[1], checks)
)


# The user's check ----------------------------------------------------------------------------------------------------


check_effect = Effect("check")
"""A check may fail."""


class CheckCall(FunctionCall):
    """A user's check: `operands` are whether it holds, then the values its message tells. The first `mapped` axes of all
    are those of examples. With `debug` nothing is checked where nobody asked for it."""

    def abstract(self, /, *avals, **params):
        return [], frozenset([check_effect])

    def evaluate(self, args, /, *, check, mapped, debug):
        holds, *values = (np.asarray(x) for x in args)
        failed = np.argwhere(~holds)
        if len(failed):
            at = tuple(failed[0])
            raise CheckError(check.told([v[at] for v in values]))
        return []

    def stage(self, trace, args, /, **params):
        return trace.record(self, args, params)

    def lower(self, ctx, /, *values, check, mapped, debug):
        if debug:
            return []
        raise ValueError(
            f"a check is part of a compiled program, where it cannot raise{check.line}\n  what to do: wrap the function: "
            "error, result = jit(checkify(f))(...), then error.throw()"
        )

    def partial_eval(self, trace, args, /, **params):
        return trace.record(self, args, params)

    def jvp(self, primals, tangents, /, **params):
        self.bind(*primals, **params)
        return [], []

    def batch(self, axis, args, dims, /, *, mapped, **params):
        self.bind(*[axis.move(x, d, 0) for x, d in zip(args, dims)], mapped=mapped + 1, **params)
        return [], []

    def dce(self, used, eqn, /):
        return [True] * len(eqn.invars), eqn

    def shown_params(self, params):
        return {"message": params["check"].message}


check_p = CheckCall("check")


def check(pred: Any, msg: str, *fmt_args: Any, debug: bool = False, **fmt_kwargs: Any) -> None:
    """Check that `pred`, a boolean scalar, holds. `msg` is a format string; `fmt_args` and `fmt_kwargs` (arrays) fill it.

    Outside of traces it raises CheckError if it does not hold; in a traced function it becomes part of the program, which
    `checkify` makes return the failure. `debug`: such checks are left out where the function is not wrapped in checkify.
    Raises TypeError where `pred` is not a boolean scalar or a value is not an array, and what `str.format` raises for a
    message that does not go with the values.
    """
    aval = aval_of(pred)
    if aval.shape or aval.dtype != dtypes.bool_:
        raise TypeError(f"check: pred is a boolean scalar, not {aval.short()}; reduce arrays with jnp.all")
    leaves, structure = tree.flatten((fmt_args, fmt_kwargs))
    avals = tuple(aval_of(x) for x in leaves)
    where = source.here()
    found = Check(msg, structure, avals, f" (line {where.line} of {where.function})" if where else "")
    found.told([np.zeros(a.shape, a.dtype) for a in avals])
    values = [x if hasattr(x, "aval") else convert(x, a.dtype) for x, a in zip(leaves, avals)]
    check_p.bind(pred, *values, check=found, mapped=0, debug=bool(debug))


def debug_check(pred: Any, msg: str, *fmt_args: Any, **fmt_kwargs: Any) -> None:
    """`check` with `debug=True`."""
    check(pred, msg, *fmt_args, debug=True, **fmt_kwargs)


def written_at(where: source.Position | None) -> str:
    """The user's line, behind a message."""
    return f" (line {where.line} of {where.function}: {where.text.strip()})" if where else ""
