"""The result of a case, as a library gives it and as it is written down: `{"out": …, "values": [[…]]}`, `{"plain": …}` or
`{"error": [types]}`."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy

from tests.oracle import recorded
from tests.oracle.answers import NEEDS_VALUES, error_types, plain
from tests.oracle.library import Library


ANY_KIND = ("JaxRuntimeError", "JAXTypeError", *NEEDS_VALUES)
"""Errors of XLA's, and of values that are not known yet: that ours is of the class above them is enough."""


REFUSED = "refused"
"""In data: what JAX refuses may have an answer here."""


@dataclasses.dataclass(frozen=True)
class Plain:
    """What a case gives if it is no tree of arrays: data that JSON has, compared as it is."""

    data: Any


@dataclasses.dataclass
class Result:
    """`out` tells containers by kind and arrays by dtype, weak type (`*`) and shape, from left to right as in `arrays`; `plain` is
    the data of a Plain; `error` the types of what was raised, the narrowest first."""

    out: str = ""
    arrays: list[numpy.ndarray] = dataclasses.field(default_factory=list)
    plain: Any = None
    error: list[str] | None = None


def result(o: Library, run: Callable[[], Any]) -> Result:
    try:
        found = run()
        if isinstance(found, Plain):
            return Result(plain=json.loads(json.dumps(found.data)))
        out, arrays = described(o, found)
        return Result(out, [values(o, x) for x in arrays])
    except Exception as error:
        return Result(error=error_types(error))


def described(o: Library, x: Any) -> tuple[str, list[Any]]:
    """The words for a tree, and its arrays. A Python number is an array, as where it is traced."""
    arrays: list[Any] = []

    def words(x: Any) -> str:
        if isinstance(x, dict):
            return "{" + ", ".join(f"{k!r}: {words(x[k])}" for k in sorted(x, key=str)) + "}"
        if isinstance(x, (tuple, list)):
            inner = ", ".join(map(words, x))
            name = "" if type(x) in (tuple, list) else type(x).__name__
            return f"{name}[{inner}]" if isinstance(x, list) else f"{name}({inner})"
        if isinstance(x, (bool, int, float, complex)):
            x = o.jnp.asarray(x)
        if isinstance(x, (o.jx.Array, numpy.ndarray, numpy.generic)):
            arrays.append(x)
        if isinstance(x, (o.jx.Array, o.jx.ShapeDtypeStruct, numpy.ndarray, numpy.generic)):
            return aval_words(o, x)
        return repr(x).replace(o.root, "jax")

    return words(x), arrays


def aval_words(o: Library, x: Any) -> str:
    dtype = "float0" if x.dtype == o.dtypes.float0 else x.dtype
    weak = getattr(getattr(x, "aval", x), "weak_type", False)
    return f"{dtype}{'*' if weak else ''}{list(x.shape)}".replace(", ", ",")


def values(o: Library, x: Any) -> numpy.ndarray:
    return numpy.zeros(0, bool) if x.dtype == o.dtypes.float0 else plain(o, x)


def encode(found: Result) -> dict[str, Any]:
    if found.error is not None:
        return {"error": found.error}
    if found.plain is not None:
        return {"plain": found.plain}
    values = {"values": [recorded.numbers(x) for x in found.arrays]} if found.arrays else {}
    return {"out": found.out, **values}


def differences(found: Result, wanted: dict[str, Any], tolerance: float, weak: bool = True) -> list[str]:
    """In what a result differs from the recorded one: numbers by more than `tolerance` units in the last place of the largest, or of 1;
    `weak`: whether weak types count."""
    if "error" in wanted:
        narrowest = next(name for name in wanted["error"] if name not in ANY_KIND and name[0] != "_")
        if found.error is None:
            return [f"gives {found.out or found.plain}, JAX raises {narrowest}"]
        return [] if narrowest in found.error else [f"raises {found.error[0]}, JAX {narrowest}"]
    if found.error is not None:
        return [f"raises {found.error[0]}, JAX gives {wanted.get('out', wanted.get('plain'))}"]
    if "plain" in wanted:
        return _of_data(found.plain, wanted["plain"])
    if _known(found.out, weak) != _known(wanted["out"], weak):
        return [f"gives {found.out}, JAX {wanted['out']}"]
    return [p for x, y in zip(found.arrays, wanted.get("values", ()), strict=True) for p in _unlike(x, y, tolerance)]


def _of_data(x: Any, y: Any) -> list[str]:
    if isinstance(x, dict) and isinstance(y, dict) and x.keys() == y.keys():
        return [f"{key}: {problem}" for key in x for problem in _of_data(x[key], y[key])]
    return [] if x == y or y == REFUSED else [f"gives {x}\nJAX {y}"]


def _known(out: str, weak: bool) -> str:
    """Booleans are never weak here: it makes no difference in promotion."""
    return out.replace("bool*", "bool") if weak else out.replace("*", "")


def _unlike(found: numpy.ndarray, wanted: list[Any], tolerance: float) -> list[str]:
    x, y = recorded.flat(found), numpy.array(wanted, "float64" if found.dtype.kind not in "biu" else "int64")
    if x.shape != y.shape:
        return [f"gives {x.size} numbers, JAX {y.size}"]
    if found.dtype.kind in "biu":
        same = numpy.array_equal(x.astype("int64"), y)
    elif not tolerance or "int" in found.dtype.name:
        same = numpy.array_equal(x, y.astype(x.dtype), equal_nan=True)
    else:
        step = float(ml_dtypes.finfo(found.dtype).eps)
        scale = numpy.max(numpy.abs(y[numpy.isfinite(y)]), initial=1)
        # Few units are many in a format of few bits: there only roundings differ.
        bound = step * tolerance if step < 1e-5 else 2 * step
        same = numpy.allclose(x.astype("float64"), y, rtol=bound, atol=bound * scale, equal_nan=True)
    return [] if same else [f"gives {_short(x)}, JAX {_short(y)}"]


def _short(x: numpy.ndarray) -> str:
    return numpy.array2string(x[:12], precision=8, max_line_width=200)
