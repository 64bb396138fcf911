"""Why an operation gave a NaN or an infinity, told from the numbers it was given."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np

from jitscope.backend.hunt import Finding
from jitscope.core import dtypes
from jitscope.ops import elementwise, linear
from jitscope.ops.families import Elementwise


Number = complex | float
_ZERO_NOTE = {
    "sqrt": "the derivative of sqrt is infinite at 0",
    "rsqrt": "the derivative of 1/sqrt is infinite at 0",
    "log": "the derivative of log is infinite at 0",
    "pow": "the derivative of a power below 1 is infinite at 0",
    "integer_pow": "the derivative of a negative power is infinite at 0",
    "cbrt": "the derivative of cbrt is infinite at 0",
    "abs": "the derivative of abs of a complex number has no value at 0",
    "asin": "the derivative of arcsin is infinite at 1 and -1",
    "acos": "the derivative of arccos is infinite at 1 and -1",
    "acosh": "the derivative of arccosh is infinite at 1",
    "atanh": "the derivative of arctanh is infinite at 1 and -1",
    "atan2": "the derivative of arctan2 has no value at (0, 0)",
    "div": "the derivative of a quotient is infinite where the divisor is 0",
}


def wide(x: np.ndarray) -> np.ndarray:
    """In a dtype that NumPy's tests know."""
    return x if x.dtype.kind in "fcbiu" else x.astype(np.float32)


def bad(x: np.ndarray) -> np.ndarray:
    """Which elements are NaN or infinite."""
    return ~np.isfinite(wide(x))


def first_bad(x: np.ndarray, nan: bool) -> tuple[int, ...] | None:
    """The index of the first NaN (or infinity)."""
    values = wide(x)
    if values.dtype.kind not in "fc":
        return None
    places = np.argwhere(np.isnan(values) if nan else np.isinf(values))
    return tuple(int(i) for i in places[0]) if len(places) else None


def number(x: Number) -> str:
    """A number as people write it."""
    if isinstance(x, complex) and x.imag:
        return f"{x:.6g}"
    real = x.real if isinstance(x, complex) else x
    return f"{real:.6g}" if abs(real) < 1e30 or np.isinf(real) else f"{real:.3g}"


def elements(finding: Finding, nan: bool) -> list[Number] | None:
    """The elements of the operands that the first bad element of the result is made of, where each is made of one of each."""
    if not finding.results or not finding.operands:
        return None
    shape, at = finding.results[0].shape, first_bad(finding.results[0], nan)
    if (
        at is None
        or finding.primitive not in _BY_ELEMENTS
        or not all(_is_spread(x.shape, shape) for x in finding.operands)
    ):
        return None
    return [wide(x)[place_in(x.shape, at)].item() for x in finding.operands]


def _is_spread(operand: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether each element of a result of `shape` is made of one of an operand: axes of length 1 go along."""
    return not operand or (len(operand) == len(shape) and all(a in (b, 1) for a, b in zip(operand, shape)))


def place_in(operand: tuple[int, ...], at: tuple[int, ...]) -> tuple[int, ...]:
    """Where an operand of this shape has what an element of the result is made of."""
    return tuple(0 if size == 1 else i for size, i in zip(operand, at))


_SPECIAL = "add_any broadcast_in_dim convert_element_type copy igamma igammac igamma_grad_a random_gamma_grad regularized_incomplete_beta "
_SPECIAL += "bessel_i0e bessel_i1e zeta"
_OPERATIONS = (*vars(elementwise).values(), *vars(linear).values())
_BY_ELEMENTS = {*_SPECIAL.split(), *(one.name for one in _OPERATIONS if isinstance(one, Elementwise))}
"""Operations each element of whose result is made of one of each operand."""


def why(finding: Finding, nan: bool) -> str:
    """One sentence, beginning small: "0 divided by 0"."""
    values = elements(finding, nan)
    name, dtype = finding.primitive, finding.results[0].dtype if finding.results else np.dtype(np.float32)
    called = f"the {name}"  # a sentence may begin with it, which would spell the operation's name otherwise
    if values is not None and any(v != v for v in values):
        return "a NaN that is written in the program"
    if values is not None and any(isinstance(v, complex) for v in values):
        return f"{called} of {' and '.join(map(number, values))} has no finite value"
    if values is not None and len(values) >= 1:
        told = (
            _ELEMENTS[name](*(float(v.real) for v in values[:2])) if name in _ELEMENTS and len(values) in (1, 2) else ""
        )
        if told or (told := _together(name, values, dtype)):
            return told
        if not nan and not all(np.isfinite(values)):
            return "written in the program"
        if not nan:
            said = f" {_BETWEEN[name]} ".join(map(number, values)) if name in _BETWEEN and len(values) == 2 else ""
            said = said or f"{called} of {' and '.join(map(number, values))}"
            if name == "integer_pow" and values[0] == 0:
                return "0 to a negative power"
            if name == "convert_element_type":
                said = f"{number(values[0])} is converted"
            return f"{said}, beyond the largest {dtypes.short_name(dtype)}, {largest(dtype)}"
        return f"{called} of {' and '.join(map(number, values))} has no value"
    return _of_whole(finding, nan, dtype)


_ARITHMETIC = {"mul": np.multiply, "add": np.add, "sub": np.subtract, "div": np.divide}


def _together(name: str, values: Sequence[Number], dtype: np.dtype) -> str:
    """Of what the compiled program alone makes: the same operation on the same numbers has a finite value."""
    if name not in _ARITHMETIC or len(values) != 2 or not all(np.isfinite(values)) or dtype.kind == "c":
        return ""
    with np.errstate(all="ignore"):
        alone = float(_ARITHMETIC[name](*(np.asarray(v, np.float64) for v in values)))
    if not np.isfinite(alone) or abs(alone) > float(ml_dtypes.finfo(dtype).max):
        return ""
    said = f" {_BETWEEN[name]} ".join(map(number, values))
    return f"XLA computes it in another order, together with operations before it: by itself {said} is {number(alone)}"


_BETWEEN = {"mul": "times", "add": "plus", "sub": "minus", "div": "divided by", "pow": "to the power"}


def largest(dtype: np.dtype) -> str:
    """The largest finite number of a dtype, in three digits."""
    return f"{float(ml_dtypes.finfo(dtype).max):.3g}"


def _of_whole(finding: Finding, nan: bool, dtype: np.dtype) -> str:
    name = finding.primitive
    infinite = [x for x in finding.operands if wide(x).dtype.kind in "fc" and np.isinf(wide(x)).any()]
    if name in ("gather", "dynamic_slice"):
        return "an index out of bounds, for which NaN is filled in"
    if name == "cholesky":
        return "the matrix is not positive definite"
    if name == "custom_linear_solve" and any(map(_is_singular, finding.operands)):
        return "the matrix is singular"
    if name == "triangular_solve":
        return "the matrix is singular: a number on its diagonal is 0"
    if name in ("reduce_sum", "cumsum", "dot_general", "conv_general_dilated", "add_any"):
        if nan and infinite:
            both = (
                "inf and -inf are added up"
                if name in ("reduce_sum", "cumsum")
                else "an infinity is multiplied with 0, or inf and -inf are added up"
            )
            return both
        if not nan or not infinite:
            summed = " of products" if name in ("dot_general", "conv_general_dilated") else ""
            return f"a sum{summed} beyond the largest {dtypes.short_name(dtype)}, {largest(dtype)}"
    if not finding.operands or any(np.isnan(wide(x)).any() for x in finding.operands if wide(x).dtype.kind in "fc"):
        return "a NaN that is written in the program"
    kind = "NaN" if nan else "an infinity"
    return f"the operation {name} gives {kind} for these operands" + (", which have an infinity" if infinite else "")


def _is_singular(x: np.ndarray) -> bool:
    """Whether an array is a square matrix, or holds one, without an inverse."""
    x = wide(x)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2] or x.dtype.kind not in "fc" or not np.isfinite(x).all():
        return False
    return bool((np.linalg.matrix_rank(x) < x.shape[-1]).any())


def _quotient(a: float, b: float) -> str:
    if b == 0:
        return "0 divided by 0" if a == 0 else f"{number(a)} divided by 0"
    return "an infinity divided by an infinity" if np.isinf(a) and np.isinf(b) else ""


def _product(a: float, b: float) -> str:
    return "0 times an infinity" if {0.0, float("inf")} == {abs(a), abs(b)} else ""


def _sum(a: float, b: float) -> str:
    return "an infinity minus an infinity" if np.isinf(a) and np.isinf(b) else ""


def _root(a: float) -> str:
    return f"the square root of a negative number, {number(a)}" if a < 0 else ""


def _reciprocal_root(a: float) -> str:
    return _root(a) or ("1 divided by the square root of 0" if a == 0 else "")


def _logarithm(a: float) -> str:
    return "the logarithm of 0" if a == 0 else f"the logarithm of a negative number, {number(a)}" if a < 0 else ""


def _logarithm1(a: float) -> str:
    return _logarithm(1 + a) + (", 1 + x" if 1 + a <= 0 else "")


def _power(a: float, b: float) -> str:
    if a < 0 and b != round(b):
        return f"a negative number, {number(a)}, to the power {number(b)}"
    return f"0 to the negative power {number(b)}" if a == 0 and b < 0 else ""


def _outside(name: str, low: float, high: float) -> Callable[[float], str]:
    limits = f"from {number(low)} to {number(high)}" if np.isfinite(high) else f"from {number(low)} on"
    return lambda a: "" if low < a < high else f"the {name} of {number(a)}: it has values {limits}"


def _periodic(name: str) -> Callable[[float], str]:
    return lambda a: f"the {name} of an infinity" if np.isinf(a) else ""


_ELEMENTS: dict[str, Callable[..., str]] = {
    "div": _quotient,
    "rem": _quotient,
    "mul": _product,
    "add": _sum,
    "add_any": _sum,
    "sub": _sum,
    "sqrt": _root,
    "rsqrt": _reciprocal_root,
    "log": _logarithm,
    "log1p": _logarithm1,
    "pow": _power,
    "asin": _outside("arcsin", -1, 1),
    "acos": _outside("arccos", -1, 1),
    "acosh": _outside("arccosh", 1, np.inf),
    "atanh": _outside("arctanh", -1, 1),
    "sin": _periodic("sin"),
    "cos": _periodic("cos"),
    "tan": _periodic("tan"),
}


def singular(forward: Sequence[str]) -> str:
    """What is special about the derivative of one of these operations, "" where it may be that of several. A division by 0 would
    have shown in the value already."""
    notes = {_ZERO_NOTE[name] for name in forward if name in _ZERO_NOTE}
    notes = notes - {_ZERO_NOTE["div"]} or notes
    return notes.pop() if len(notes) == 1 else ""
