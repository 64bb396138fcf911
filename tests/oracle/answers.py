"""What a library answers to the samples of a function. The same code asks JAX (to record) and jitscope (to compare)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from tests.oracle import operands
from tests.oracle.library import Library
from tests.oracle.samples import Function, Sample


NEEDS_VALUES = (
    "ConcretizationTypeError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "NonConcreteBooleanIndexError",
)
"""Errors after which a sample is asked outside of jit."""


@dataclasses.dataclass
class Answer:
    """To one sample with one dtype. `error`: the types of what it raised. `out`: its leaves, described. `values`: of its arrays.
    `others`: of its arrays for the second operands, where it is mapped over both. `grads`: by operand; None where it was not asked, a list of error types where it has none. `mapped`: whether vmap goes through;
    `equations` counts those of its jaxpr."""

    error: list[str] | None = None
    out: str = ""
    eager: bool = False
    values: list[numpy.ndarray] | None = None
    others: list[numpy.ndarray] | None = None
    grads: Any = None
    mapped: Any = None
    equations: int = 0


def error_types(error: BaseException) -> list[str]:
    """The names by which an error can be caught: Python's, NumPy's and JAX's own."""
    public = ("builtins", "numpy", "jax", "jitscope")
    found = [t.__name__ for t in type(error).__mro__ if t.__module__.split(".")[0] in public]
    return [name for name in found if name not in ("Exception", "BaseException", "object")]


def ask(library: Library, function: Function, dtype: str, compiled: Callable[[Any], Any]) -> list[Answer]:
    """What the library answers to all samples of a function, with operands of a dtype. `compiled`: its jit."""
    with library.width(dtype):
        given = library.operands(dtype)
        answers = [_described(library, sample, given) for sample in function.samples]
        if dtype in operands.VALUED and function.option("values") != "no":
            together = [(s, a) for s, a in zip(function.samples, answers) if a.error is None and not a.eager]
            both = dtype == "float32" and function.option("vmap") != "no"
            _fill(library, together, [library.operands(dtype, variant) for variant in range(1 + both)], compiled)
        if dtype == "float32" and function.option("grad") != "no":
            _differentiate(library, function, answers, given, compiled)
        if dtype == "float32" and function.option("vmap") != "no":
            for sample, answer in zip(function.samples, answers):
                if answer.error is None and not answer.eager and sample.names:
                    answer.mapped = _maps(library, sample, dtype)
        return answers


def _used(sample: Sample, given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in sample.names}


def _described(library: Library, sample: Sample, given: dict[str, Any]) -> Answer:
    """The avals of a result; where values are needed for it, the values, from a run outside of jit."""
    shown: list[str] = []

    def run(used: dict[str, Any]) -> list[Any]:
        arrays, shown[:] = library.leaves(sample.expr, used)
        return arrays

    try:
        closed = library.jx.make_jaxpr(run)(_used(sample, given))
    except Exception as error:
        if type(error).__name__ in NEEDS_VALUES:
            return _eager(library, sample, given)
        return Answer(error=error_types(error))
    return Answer(out=_joined(shown, closed.out_avals), equations=count(closed.jaxpr))


def _eager(library: Library, sample: Sample, given: dict[str, Any]) -> Answer:
    try:
        arrays, shown = library.leaves(sample.expr, given)
        arrays = [library.jnp.asarray(x) for x in arrays]
    except Exception as error:
        return Answer(error=error_types(error))
    avals = [getattr(x, "aval", x) for x in arrays]
    return Answer(out=_joined(shown, avals), eager=True, values=[plain(library, x) for x in arrays])


def _joined(shown: Sequence[str], avals: Sequence[Any]) -> str:
    rest = iter(avals)
    return " ".join(described(next(rest)) if leaf == "array" else leaf for leaf in shown)


def described(aval: Any) -> str:
    return f"{aval.dtype}{'*' if aval.weak_type else ''}{list(aval.shape)}".replace(", ", ",")


def count(jaxpr: Any) -> int:
    """The number of equations, those of nested jaxprs included and calls not."""
    total = 0
    for eqn in jaxpr.eqns:
        inner = [
            getattr(j, "jaxpr", j) for p in eqn.params.values() for j in (p if isinstance(p, (tuple, list)) else [p])
        ]
        inner = [j for j in inner if hasattr(j, "eqns")]
        total += sum(map(count, inner)) if inner else 1
    return total


def plain(library: Library, x: Any) -> numpy.ndarray:
    """The numbers of an array, of keys their words."""
    if library.jx.dtypes.issubdtype(x.dtype, library.jx.dtypes.prng_key):
        x = library.jx.random.key_data(x)
    return numpy.asarray(x)


def program(library: Library, samples: Sequence[Sample]) -> Callable[[dict[str, Any]], list[list[Any]]]:
    """All samples as one function of the operands."""
    return lambda given: [[library.jnp.asarray(x) for x in library.leaves(s.expr, given)[0]] for s in samples]


def _fill(
    library: Library,
    together: Sequence[tuple[Sample, Answer]],
    variants: Sequence[Mapping[str, Any]],
    compiled: Callable[[Any], Any],
) -> None:
    if not together:
        return
    samples = [sample for sample, _ in together]
    names = {name for s in samples for name in s.names}
    run = compiled(program(library, samples))
    found = [[[plain(library, x) for x in xs] for xs in run({n: given[n] for n in names})] for given in variants]
    for (_, answer), values, *others in zip(together, *found):
        answer.values, answer.others = values, others[0] if others else None


def total(library: Library, arrays: Sequence[Any]) -> Any:
    """A weighted sum of all real numbers of a result."""
    floats = [x for x in map(library.jnp.asarray, arrays) if library.jnp.issubdtype(x.dtype, library.jnp.inexact)]
    weighed = lambda x: library.jnp.sum(
        library.jnp.real(x).ravel() * numpy.cos(1 + numpy.arange(x.size, dtype="float32"))
    )
    return sum(map(weighed, floats), library.jnp.float32(0))


def _differentiate(
    library: Library, function: Function, answers: Sequence[Answer], given: Any, compiled: Callable[[Any], Any]
) -> None:
    together = []
    for sample, answer in zip(function.samples, answers):
        if answer.error is not None or answer.eager or not ("float" in answer.out or "complex" in answer.out):
            continue
        wanted = {name: given[name] for name in sample.names if name in operands.FOLLOWING}
        if not wanted:
            continue
        slope = gradient(library, sample)
        rest = {name: given[name] for name in sample.names if name not in wanted}
        try:
            library.jx.make_jaxpr(slope)(wanted, rest)
        except Exception as error:
            answer.grads = error_types(error)
            continue
        together.append((answer, slope, wanted, rest))
    if together:
        all_slopes = lambda pairs: [slope(*pair) for (_, slope, _, _), pair in zip(together, pairs)]
        found = compiled(all_slopes)([(wanted, rest) for _, _, wanted, rest in together])
        for (answer, *_), grads in zip(together, found):
            answer.grads = {name: plain(library, g) for name, g in grads.items()}


def gradient(library: Library, sample: Sample) -> Callable[..., Any]:
    return library.jx.grad(lambda wanted, rest: total(library, library.leaves(sample.expr, {**wanted, **rest})[0]))


def _maps(library: Library, sample: Sample, dtype: str) -> Any:
    """True, or the types of the error."""
    run = lambda used: [library.jnp.asarray(x) for x in library.leaves(sample.expr, used)[0]]
    try:
        library.jx.make_jaxpr(library.jx.vmap(run))(_used(sample, library.pairs(dtype)))
    except Exception as error:
        return error_types(error)
    return True
