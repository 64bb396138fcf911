"""What the values of a run show: the first NaN, integers that wrapped, indices out of bounds.

NaNs are hunted in compiled programs (`nans`); for the others a program is evaluated again, equation by equation, on copies of its arguments. Loops are entered for their first iterations;
programs that call Python are not run again.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any

import numpy as np

from jitscope.backend.array import to_array
from jitscope.backend.hunt.flat import is_of_library
from jitscope.control.callbacks import calls_python
from jitscope.core import call_sites, config, dtypes, notices, source
from jitscope.core.jaxpr import ClosedJaxpr, JaxprEqn, Literal, count, equations_in
from jitscope.core.source import Position
from jitscope.xla import tracebacks

from ...observe.stacks import Stacks
from ...observe.values.evaluation import Evaluation
from .few_digits import LostDigits
from .nans import tell_nans


MOST_EQUATIONS, MOST_ITERATIONS, MOST_IN_LOOP = 5_000, 100, 3_000
Arrays = Sequence[np.ndarray]
Alarm = tuple[str, str, str] | None
"""An id, a message and a fix."""
Check = Callable[[JaxprEqn, Arrays, Arrays], Alarm]
"""Looks at an equation with the values of its operands and results."""


def look_at_run(closed: ClosedJaxpr, name: str, args: list[Any], outs: list[Any]) -> None:
    """Tell what a run shows; see `core.notices.run_listeners`."""
    if closed.effects or calls_python(closed.jaxpr):
        return
    with config.override(sharp_bits=False, debug_nans=False, debug_infs=False, debug_key_reuse=False):
        tell_nans(closed, name, args, outs)
        if _worth_checking(closed):
            for out in _Checks(closed).program(closed, [to_array(x) for x in args]):
                out.block_until_ready()  # a loop that was run as a whole would still be at work when the process ends


# --- integers and indices -------------------------------------------------------------------------------------------------------


def _worth_checking(closed: ClosedJaxpr) -> bool:
    if count(closed.jaxpr) > MOST_EQUATIONS:
        return False
    digits = LostDigits(closed.jaxpr)
    return any(_may_tell(eqn) or digits.concerns(eqn) for eqn in equations_in(closed.jaxpr))


def _may_tell(eqn: JaxprEqn) -> bool:
    """Whether there is something to look at: an index, a choice, or integers."""
    check = CHECKS.get(eqn.primitive.name)
    atoms = eqn.invars if check is _of_guard else eqn.outvars
    return check in (*OF_INDICES, _of_choice) or (check is not None and atoms[0].aval.dtype.kind in "iu")


class _Checks(Evaluation):
    """Checks each equation that it evaluates; loops are entered for their first iterations."""

    def __init__(self, closed: ClosedJaxpr) -> None:
        super().__init__(math.inf, math.inf)
        self._digits = LostDigits(closed.jaxpr)
        self._caller = call_sites.capture()
        self._place: Position | None = None
        """Where the function of the library is called that runs."""

    def looked_at(self, length: int | None, equations: int) -> Sequence[int]:
        most = max(MOST_ITERATIONS, MOST_IN_LOOP // max(1, equations))
        return range(most if length is None else min(length, most))

    def run(self, closed: ClosedJaxpr, *args: Any) -> list[Any]:
        """A function of the user's has lines of its own, whoever calls it."""
        before = self._place
        if closed.jaxpr.debug.defined is not None:
            self._place = None
        elif is_of_library(closed):
            self._place = before or call_sites.user_position(self._caller)
        outs = super().run(closed, *args)
        self._place = before
        return outs

    def equation(
        self, eqn: JaxprEqn, operands: list[Any], path: str, iterations: tuple[int, ...], *args: Any
    ) -> list[Any]:
        before, self._caller = self._caller, eqn.traceback
        results = super().equation(eqn, operands, path, iterations, *args)
        self._caller = before
        self._look(eqn, operands, results)
        if self._digits.concerns(eqn) and (where := self._place or call_sites.user_position(eqn.traceback)):
            arrays = list(map(np.asarray, operands)), list(map(np.asarray, results))
            if (found := self._digits.look(eqn, eqn.params, path, iterations, *arrays)) is not None:
                notices.tell(*found, where)
        return results

    def _look(self, eqn: JaxprEqn, operands: Sequence[Any], results: Sequence[Any]) -> None:
        check = CHECKS[eqn.primitive.name] if _may_tell(eqn) else None
        where = self._place or call_sites.user_position(eqn.traceback) if check else None
        frames = LibraryFrames.of(eqn)
        if check is None or where is None or not frames.is_the_users(check, eqn):
            return
        if check is _of_window and frames.drops:
            check = _of_dropped_window
        if any(dtypes.is_extended(x.aval.dtype) for x in [*operands, *results]):
            return
        found = check(eqn, [np.asarray(x) for x in operands], [np.asarray(x) for x in results])
        if found is not None:
            notices.tell(*found, where)


_INDEXING = {
    "getitem", "take", "take_along_axis", "dynamic_slice", "dynamic_slice_in_dim", "dynamic_index_in_dim", "dynamic_update_slice",
    "dynamic_update_slice_in_dim", "dynamic_update_index_in_dim", "gather", "scatter", "scatter_add", "set", "add", "subtract",
    "multiply", "divide", "power", "min", "max", "apply", "get", "method", "rewriting_take", "_getitem", "op",
}  # fmt: skip


class LibraryFrames:
    """The code of the library between an equation and the user's line, the innermost first."""

    def __init__(self, codes: Sequence[CodeType]) -> None:
        self._codes = codes
        self._names = [code.co_name for code in codes if _folder(code) in ("lax", "numpy")]
        """Its functions of `lax` and `numpy`."""

    @classmethod
    def of(cls, eqn: JaxprEqn) -> LibraryFrames:
        frames = [code for code, _ in tracebacks.frames(eqn.traceback)] if eqn.traceback is not None else []
        return cls(list(itertools.takewhile(lambda code: source.is_internal(code.co_filename), frames)))

    @property
    def drops(self) -> bool:
        """Whether the user's line writes by `.at[]`: what is outside is dropped."""
        return "_update" in self._names

    @property
    def _called(self) -> str:
        """The function that the user's line calls, of which an equation is a part."""
        return self._names[-1] if self._names else ""

    def is_the_users(self, check: Check, eqn: JaxprEqn) -> bool:
        """Whether what a check looks at is what the user's line says: other functions of the library read and write out of bounds on
        purpose, and a power with a traced exponent squares more often than it needs."""
        if check in OF_INDICES:
            return self._called in _INDEXING
        if check is _of_guard:
            return not _REMAINDERS.isdisjoint(self._names)
        if check is _of_shift:
            return self._called in _SHIFTS or self._is_written
        if eqn.primitive.name == "sub" and eqn.outvars[0].aval.dtype.name == "uint32":
            return self._is_written  # others may wrap on purpose
        return eqn.primitive.name != "mul" or self._called not in _SQUARING

    @property
    def _is_written(self) -> bool:
        """Whether the user's line has the operator itself, or its function."""
        return bool(self._codes) and os.path.basename(self._codes[-1].co_filename) in _OPERATORS


def _folder(code: CodeType) -> str:
    return os.path.basename(os.path.dirname(code.co_filename))


_OPERATORS = ("operators.py", "ufuncs.py", "arithmetic.py", "array_methods.py")
_REMAINDERS = {"remainder", "mod", "fmod", "divmod"}
_SHIFTS = {"operator", "left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift"}
_SQUARING = {"power", "pow", "float_power", "_pow", "_rpow"}


def _overflow(exact: Callable[..., Any], sign: str) -> Check:
    """A check of integers of up to 32 bits; `exact` computes in float64, which holds them and says of what is beyond how large it
    is."""

    def check(eqn: JaxprEqn, operands: Arrays, results: Arrays) -> Alarm:
        result = results[0]
        if result.dtype.kind not in "iu" or result.dtype.name in ("uint64", "int64") or not result.size:
            return None
        if result.dtype.name == "uint32" and sign != "-":
            return None  # hashes and random bits wrap on purpose
        with np.errstate(all="ignore"):
            wide = np.atleast_1d(exact(*[x.astype(np.float64) for x in operands], **eqn.params))
        wrong = np.argwhere((wide != result) & ~np.isnan(wide))
        if not len(wrong):
            return None
        at = tuple(wrong[0])
        got, wanted = np.atleast_1d(result)[at], float(wide[at])
        return (
            "int-overflow",
            f"`{sign}` overflowed {result.dtype}: {_number(wanted)} does not fit, and became {got}.",
            f"Widen first: x.astype(jnp.float32), a wider integer than {result.dtype}, or 64-bit types (jax_enable_x64).",
        )

    return check


def _number(value: float) -> str:
    return f"{int(value)}" if abs(value) < 1 << 53 else f"{value:.4g}"


def _of_division(eqn: JaxprEqn, operands: Arrays, results: Arrays) -> Alarm:
    if results[0].dtype.kind not in "iu" or operands[1].all():
        return None
    message = "an integer was divided by zero, which gives some number here and no error."
    return "int-overflow", message, "Guard the divisor: jnp.where(n == 0, 1, n)."


def _of_guard(eqn: JaxprEqn, operands: Arrays, results: Arrays) -> Alarm:
    """`n % 0`: before it divides, the library asks whether the divisor is zero."""
    divisor, zero = operands[0], eqn.invars[1]
    if divisor.dtype.kind not in "iu" or not isinstance(zero, Literal) or not results[0].any():
        return None
    message = "the remainder of an integer by zero was asked for, which gives some number here and no error."
    return "int-overflow", message, "Guard the divisor: jnp.where(n == 0, 1, n)."


def _of_shift(eqn: JaxprEqn, operands: Arrays, results: Arrays) -> Alarm:
    """Shifts by the width of the integer or more, and by negative numbers."""
    result, bits = results[0], 8 * results[0].dtype.itemsize
    by = np.broadcast_to(operands[1], result.shape)
    wrong = np.argwhere(np.atleast_1d((by >= bits) | (by < 0)))
    if not len(wrong):
        return None
    at = tuple(wrong[0])
    shift, got = np.atleast_1d(by)[at], np.atleast_1d(result)[at]
    message = f"{result.dtype} has {bits} bits, and was shifted by {shift}: that gives {got} here, and no error."
    return "int-overflow", message, f"Shift by 0 to {bits - 1}, or convert to a wider integer first."


def _of_conversion(eqn: JaxprEqn, operands: Arrays, results: Arrays) -> Alarm:
    x, result = operands[0], results[0]
    narrower = x.dtype.kind == "i" and result.dtype.itemsize < x.dtype.itemsize
    if not (x.dtype.kind == "f" or narrower) or result.dtype.kind not in "iu":
        return None
    info = np.iinfo(result.dtype)
    bad = (x != x) | (x > info.max) | (x < info.min)
    if not bad.any():
        return None
    first = np.argwhere(np.atleast_1d(bad))[0]
    value, got = np.atleast_1d(x)[tuple(first)], np.atleast_1d(result)[tuple(first)]
    return (
        "int-overflow",
        f"{value} does not fit into {result.dtype}, and became {got}.",
        "Clip or replace such values before they are converted.",
    )


def _of_window(eqn: JaxprEqn, operands: Arrays, results: Arrays, dropped: bool = False) -> Alarm:
    """`dynamic_slice` and `dynamic_update_slice`: the window is shifted until it fits, or what is written outside is `dropped`."""
    updates = eqn.primitive.name == "dynamic_update_slice"
    sizes = operands[1].shape if updates else eqn.params["slice_sizes"]
    starts = [int(x) for x in operands[2 if updates else 1 :]]
    for axis, (start, size, extent) in enumerate(zip(starts, sizes, operands[0].shape)):
        if not 0 <= start <= extent - size:
            edge = f"the element at the edge is {'written' if updates else 'read'}"
            how = _DROPPED if dropped else edge if size == 1 else "the window is moved until it fits"
            return _out_of_bounds(start, size, axis_told(eqn, axis), extent, how)
    return None


_of_dropped_window = functools.partial(_of_window, dropped=True)


def _of_gather(eqn: JaxprEqn, operands: Arrays, results: Arrays) -> Alarm:
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params.get("slice_sizes")
    axes = getattr(numbers, "start_index_map", None) or getattr(numbers, "scatter_dims_to_operand_dims", ())
    indices = operands[1].reshape(-1, operands[1].shape[-1]) if operands[1].ndim else operands[1].reshape(1, 1)
    for column, axis in enumerate(axes):
        extent = operands[0].shape[axis] - (sizes[axis] if sizes else 1)
        outside = (indices[:, column] < 0) | (indices[:, column] > extent)
        if outside.any():
            how = _DROPPED if sizes is None else _read(eqn)
            index = int(indices[outside][0, column])
            return _out_of_bounds(index, 1, axis_told(eqn, axis), operands[0].shape[axis], how)
    return None


def _read(eqn: JaxprEqn) -> str:
    """What a gather reads outside of its operand."""
    if "FILL" not in str(eqn.params.get("mode")):
        return "the element at the edge is read"
    fill = eqn.params.get("fill_value")
    if fill is None:
        return "NaN (of whole numbers the least or the largest) is read"
    return f"{'NaN' if fill != fill else fill} is read"


def axis_told(eqn: JaxprEqn, axis: int) -> str:
    """`axis 1`; of an equation that `vmap` made, whose axes are more than the user's code has, none by number."""
    return "its axis" if is_mapped(eqn) else f"axis {axis}"


def is_mapped(eqn: JaxprEqn) -> bool:
    """Whether `vmap` made an equation."""
    return eqn.traceback is not None and "vmap" in Stacks().found(eqn.traceback).transforms


def _out_of_bounds(start: int, size: int, axis: str, extent: int, how: str) -> tuple[str, str, str]:
    """An index below 0 was counted from the end before: what the user wrote is another number."""
    written = "x.at[i].set(y, mode='drop')"
    meant = written if how == _DROPPED else "x.at[i].get(mode='fill', fill_value=jnp.nan)"
    if start < 0:
        what = "an index lies" if size == 1 else f"a window of {size} begins"
        where = f"{what} {-start} before the first element of {axis}"
    else:
        what = f"index {start}" if size == 1 else f"the window {start}:{start + size}"
        where = f"{what} is outside of {axis}"
    return (
        "oob-index",
        f"{where}, which has size {extent}: {how}.",
        f"Correct the index, or say what is meant: {meant}.",
    )


_DROPPED = "what is written there is dropped"


def _sum(x: np.ndarray, axes: tuple[int, ...] = (), **_: Any) -> np.ndarray:
    return x.sum(axis=tuple(axes))


def _product(x: np.ndarray, axes: tuple[int, ...] = (), **_: Any) -> np.ndarray:
    return x.prod(axis=tuple(axes))


def _along(step: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    def along(x: np.ndarray, axis: int = 0, reverse: bool = False, **_: Any) -> np.ndarray:
        return np.flip(step(np.flip(x, axis), axis), axis) if reverse else step(x, axis)

    return along


def _dot(a: np.ndarray, b: np.ndarray, dimension_numbers: Any = None, **_: Any) -> np.ndarray:
    (of_a, of_b), (batch_a, batch_b) = dimension_numbers
    left, right = list(range(a.ndim)), list(range(a.ndim, a.ndim + b.ndim))
    for i, j in (*zip(of_a, of_b), *zip(batch_a, batch_b)):
        right[j] = left[i]
    out = [left[i] for i in batch_a]
    out += [n for i, n in enumerate(left) if i not in (*of_a, *batch_a)]
    out += [n for j, n in enumerate(right) if j not in (*of_b, *batch_b)]
    return np.einsum(a, left, b, right, out)


def _of_choice(eqn: JaxprEqn, operands: Arrays, results: Arrays) -> Alarm:
    count, index = len(eqn.params["branches"]), int(operands[0])
    if 0 <= index < count:
        return None
    message = f"there are {count} branches, and the index is {index}: the nearest one runs."
    return "oob-index", message, "Correct the index, or clip it where that is meant."


OF_INDICES = (_of_window, _of_gather)
CHECKS: dict[str, Check] = {
    "add": _overflow(lambda a, b, **_: a + b, "+"),
    "sub": _overflow(lambda a, b, **_: a - b, "-"),
    "mul": _overflow(lambda a, b, **_: a * b, "*"),
    "neg": _overflow(lambda x, **_: -x, "-"),
    "abs": _overflow(lambda x, **_: abs(x), "abs"),
    "square": _overflow(lambda x, **_: x * x, "square"),
    "integer_pow": _overflow(lambda x, y=1, **_: x**y if y >= 0 else np.full_like(x, np.nan), "**"),
    "reduce_sum": _overflow(_sum, "sum"),
    "reduce_prod": _overflow(_product, "prod"),
    "cumsum": _overflow(_along(np.cumsum), "cumsum"),
    "cumprod": _overflow(_along(np.cumprod), "cumprod"),
    "dot_general": _overflow(_dot, "@"),
    "div": _of_division,
    "rem": _of_division,
    "eq": _of_guard,
    "shift_left": _of_shift,
    "shift_right_arithmetic": _of_shift,
    "shift_right_logical": _of_shift,
    "convert_element_type": _of_conversion,
    "cond": _of_choice,
    "dynamic_slice": _of_window,
    "dynamic_update_slice": _of_window,
    "gather": _of_gather,
    "scatter": _of_gather,
    "scatter-add": _of_gather,
    "scatter_add": _of_gather,
}
