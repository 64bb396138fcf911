"""Comparing jitscope's answers to samples with JAX's recorded ones and with NumPy's."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy

import jitscope as jx
from tests.compiling import once
from tests.oracle import operands, recorded, sampling
from tests.oracle.answers import Answer, ask, plain, program
from tests.oracle.library import Library
from tests.oracle.samples import Function, Sample


# Doubles are recorded with nine digits.
EPS = {"float32": 1.2e-7, "float64": 1e-9, "complex64": 1.2e-7, "bfloat16": 8e-3}
HALF = 1e-3


def faults(library: Library, function: Function, eagerly: bool = True, dtypes: Sequence[str] = ()) -> list[str]:
    """Everything in which the answers of a function differ from what they should be, for these dtypes or all."""
    entry = recorded.load(function.file).get(function.name)
    if entry is None:
        return [f"{function.name}: JAX has not been asked: python -m tests.oracle.record {function.file}"]
    found = [*sampling.faults(function, entry), *_signature(library, function, entry["signature"])]
    for dtype in dtypes or function.dtypes:
        expected = [recorded.decode(a) for a in entry["answers"][dtype]]
        found += _of_dtype(library, function, dtype, expected)
    if not found and eagerly:
        found += _eagerly(library, function)
    return [f"{function.name}: {fault}" for fault in found]


def _signature(library: Library, function: Function, expected: list[list[str]] | None) -> list[str]:
    try:
        found = library.signature(function.name)
    except AttributeError:
        return ["is not there"]
    if expected is None or found == expected:
        return []
    show = lambda rows: ", ".join(f"{n}{'=' + d if d else ''} ({k.lower()})" for n, k, d in rows or [])
    return [f"its signature is\n    {show(found)}\n  JAX's is\n    {show(expected)}"]


def _of_dtype(library: Library, function: Function, dtype: str, expected: Sequence[Answer]) -> list[str]:
    try:
        answers = ask(library, function, dtype, once)
    except Exception as error:  # one of the samples fails when compiled or run: find which
        return [f"{dtype}: all samples together raise {type(error).__name__}: {str(error)[:300]}"]
    found = []
    for sample, answer, wanted in zip(function.samples, answers, expected):
        here = f"{sample.expr}, {dtype}"
        if not sample.reason:
            found += [f"{here}: {p}" for p in differences(function, sample, dtype, answer, wanted)]
        if (problem := _against_numpy(function, sample, dtype, answer)) != "":
            found.append(f"{here}: {problem}")
    if dtype == "float32" and not found and function.option("vmap") != "no":
        with library.width(dtype):
            found += _mapped(library, function, answers)
    return found


def differences(function: Function, sample: Sample, dtype: str, answer: Answer, wanted: Answer) -> list[str]:
    """In what an answer differs from JAX's."""
    if wanted.error is not None:
        if answer.error is None:
            return [f"gives {answer.out}, JAX raises {wanted.error[0]}"]
        same = set(answer.error) & set(wanted.error)
        return [] if same else [f"raises {answer.error[0]}, JAX {' or '.join(wanted.error)}"]
    if answer.error is not None:
        return [f"raises {answer.error[0]}, JAX gives {wanted.out}"]
    if _known(answer.out) != _known(wanted.out):
        return [f"{answer.out}, JAX has {wanted.out}"]
    if answer.eager and not wanted.eager:
        return ["needs concrete values, JAX does not"]
    tolerance = float(function.option("tolerance", "1"))
    found = []
    for x, y in zip(answer.values or [], wanted.values or []):
        found += unlike("gives", "JAX", x, y, dtype, tolerance)
    if isinstance(wanted.grads, dict) and isinstance(answer.grads, dict):
        for name, slope in wanted.grads.items():
            found += unlike(f"has the gradient by {name}", "JAX", answer.grads[name], slope, dtype, 16 * tolerance)
    elif isinstance(wanted.grads, dict):
        found.append(f"grad raises {answer.grads}, JAX's does not")
    if wanted.mapped is True and answer.mapped is not True:
        found.append(f"vmap raises {answer.mapped}, JAX's does not")
    return found


def _known(out: str) -> str:
    """Booleans are never weak here: it makes no difference in promotion."""
    return out.replace("bool*", "bool")


def unlike(what: str, who: str, found: numpy.ndarray, wanted: numpy.ndarray, dtype: str, tolerance: float) -> list[str]:
    x, y = recorded.flat(found), recorded.flat(wanted)
    if x.size != y.size:
        return [f"{what} {x.size} numbers, {who} {y.size}"]
    kinds = x.dtype.kind + y.dtype.kind
    if "f" not in kinds:
        return [] if numpy.array_equal(x, y) else [f"{what} {_short(x)}, {who} {_short(y)}"]
    with numpy.errstate(all="ignore"):
        finite = y[numpy.isfinite(y)]
        scale = numpy.max(numpy.abs(finite), initial=1e-3)
        # Processors with arithmetic in half precision round more often than those without.
        single = HALF if found.dtype == numpy.float16 else EPS.get(dtype, 1.2e-7)
        eps = max(single * 8 * tolerance, 4e-9)  # nine digits are recorded
        close = numpy.allclose(x, y, rtol=eps, atol=eps * scale, equal_nan=True)
    return [] if close else [f"{what} {_short(x)}, {who} {_short(y)}"]


def _short(x: numpy.ndarray) -> str:
    return numpy.array2string(x[:12], precision=6, max_line_width=200)


def _against_numpy(function: Function, sample: Sample, dtype: str, answer: Answer) -> str:
    """Values against NumPy or SciPy, where these have the function for the dtype."""
    if not sample.oracle or not answer.values or answer.error is not None or "<" in answer.out:
        return ""
    try:
        wanted = _numpy_values(sample, dtype)
    except Exception:  # NumPy has no such function, keyword, or loop for the dtype
        return "" if sample.oracle == sample.expr else _complaint(sample, dtype)
    if len(wanted) != len(answer.values) or any(w.dtype.kind not in "biufc" for w in wanted):
        return "" if sample.oracle == sample.expr else f"{sample.oracle} gives {len(wanted)} arrays"
    tolerance = float(function.option("tolerance", "1"))
    for x, y in zip(answer.values, wanted):
        if x.shape != y.shape:
            return f"has the shape {x.shape}, NumPy's has {y.shape}"
        if x.dtype.kind in "biu" and y.dtype.kind in "biu":
            y = y.astype(x.dtype)  # what overflows wraps round
        elif x.dtype.kind == "c" or y.dtype.kind == "c":
            x, y = x.astype("complex64"), y.astype("complex64")
        if y.dtype == numpy.float16:
            return ""  # of booleans NumPy makes half-precision floats
        if problem := unlike("gives", "NumPy", x, y, dtype, 4 * tolerance):
            return problem[0]
    return ""


def _complaint(sample: Sample, dtype: str) -> str:
    return f"{sample.oracle} fails" if dtype == "float32" else ""


def _numpy_values(sample: Sample, dtype: str) -> list[numpy.ndarray]:
    import scipy
    import scipy.special

    scope = {"np": numpy, "onp": numpy, "osp": scipy, **operands.operands(dtype)}
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        result = eval(sample.oracle, scope)
    leaves = jx.tree_util.tree_leaves(result)
    return [numpy.asarray(x) for x in leaves if isinstance(x, (numpy.ndarray, numpy.generic))]


def _mapped(library: Library, function: Function, answers: Sequence[Answer]) -> list[str]:
    """vmap over two sets of operands against the program without it, run on each."""
    chosen = [(s, a) for s, a in zip(function.samples, answers) if a.mapped is True]
    if not chosen:
        return []
    both = {name: library.pairs("float32")[name] for s, _ in chosen for name in s.names}
    together = once(jx.vmap(program(library, [s for s, _ in chosen])))(both)
    found = []
    for (sample, answer), arrays in zip(chosen, together):
        for x, wanted in zip(arrays, zip(answer.values or [], answer.others or []), strict=True):
            for at, y in enumerate(wanted):
                for problem in unlike(f"mapped, at {at},", "alone", plain(library, x[at]), y, "float32", 8):
                    found.append(f"{sample.expr}: {problem}")
    return found


def _eagerly(library: Library, function: Function) -> list[str]:
    """One sample outside of jit."""
    dtype = "float32" if "float32" in function.dtypes else function.dtypes[0]
    if dtype not in operands.VALUED or function.option("values") == "no":
        return []
    entry = recorded.load(function.file)[function.name]["answers"][dtype]
    chosen = [(s, recorded.decode(a)) for s, a in zip(function.samples, entry) if not s.reason and "values" in a]
    for sample, wanted in chosen[:1]:
        with library.width(dtype):
            arrays = [
                plain(library, library.jnp.asarray(x)) for x in library.leaves(sample.expr, library.operands(dtype))[0]
            ]
        for x, y in zip(arrays, wanted.values or []):
            if problem := unlike(
                "gives, outside of jit,", "JAX", x, y, dtype, float(function.option("tolerance", "1"))
            ):
                return [f"{sample.expr}: {problem[0]}"]
    return []


def outliers(library: Library, function: Function) -> list[tuple[float, str, int, int]]:
    """Samples whose jaxpr has more equations than JAX's: the ratio, the expression, ours, theirs."""
    entry = recorded.load(function.file)[function.name]["answers"].get("float32", [])
    with library.width("float32"):
        answers = ask(library, Function(function.name, function.samples, (("grad", "no"), ("vmap", "no"), ("values", "no")), ""),
                      "float32", jx.jit)  # fmt: skip
    pairs = [
        (s, a.equations, w.get("equations", 0)) for s, a, w in zip(function.samples, answers, entry) if a.error is None
    ]
    return [(ours / max(theirs, 1), s.expr, ours, theirs) for s, ours, theirs in pairs if ours > theirs]
