"""Traces: what happens to an operation while a transformation is at work.

There is one current trace per thread or task. `Primitive.bind` hands the operation to it; it either interprets the
operation by the primitive's rule for its transformation, under its parent trace, or, at the bottom, evaluates it.
A tracer knows its trace; values of other traces are constants to it.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from . import source
from .avals import ShapedArray
from .errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
)
from .operators import Operators


if TYPE_CHECKING:
    from .primitive import Primitive


class Trace:
    """Base of traces. `process` gets every operation bound while this trace is current."""

    __slots__ = ("__weakref__",)

    def process(self, primitive: Primitive, args: tuple, params: dict[str, Any]) -> Any:
        """Interpret `primitive` on `args`; a list of results if it has several, else the result."""
        raise NotImplementedError


class using:
    """Context manager: make `trace` the current one inside the block."""

    __slots__ = ("token", "trace")

    def __init__(self, trace: Trace):
        self.trace = trace

    def __enter__(self) -> Trace:
        self.token = _current.set(self.trace)
        return self.trace

    def __exit__(self, *_: Any) -> None:
        _current.reset(self.token)


_current: ContextVar[Trace | None] = ContextVar("jitscope_trace", default=None)
_evaluation: Trace = Trace()


def current_trace() -> Trace:
    return _current.get() or _evaluation


def evaluating() -> bool:
    """Whether operations are evaluated now (no transformation is at work)."""
    trace = _current.get()
    return trace is None or trace is _evaluation


def install_evaluation(trace: Trace) -> None:
    """Set the trace at the bottom; done once, by `backend.evaluate`."""
    global _evaluation
    _evaluation = trace


def evaluation() -> Trace:
    """The trace at the bottom."""
    return _evaluation


class Tracer(Operators):
    """A value while tracing: an aval, and what its trace knows about it."""

    __slots__ = ("__weakref__", "aval", "trace")
    trace: Any
    aval: ShapedArray
    refusal = "while tracing only shape and dtype are known"

    def known(self) -> Any:
        """The concrete value if the trace has one (derivatives of evaluated code do), else None."""
        return None

    def origin(self) -> str:
        """Where the tracer comes from, in words, for error messages."""
        return ""

    def description(self) -> str:
        """`f32[3] made at line …`, for error messages."""
        origin = self.origin()
        return f"a traced {self.aval.short()}{': ' + origin if origin else ''}"

    def _concrete(self, error: type[Exception], asked: str, advice: str) -> Any:
        value = self.known()
        if value is None:
            raise error(conversion_message(self, asked, advice))
        return value

    def __bool__(self) -> bool:
        return bool(
            self._concrete(
                TracerBoolConversionError,
                "whether it is true",
                "use jnp.where(condition, a, b) to choose between values, & | ~ in place of and/or/not; "
                "if the argument is a flag, make it static (static_argnames=...)",
            )
        )

    def __int__(self) -> int:
        return int(self._concrete(ConcretizationTypeError, "its value as an int", _STATIC))

    def __float__(self) -> float:
        return float(self._concrete(ConcretizationTypeError, "its value as a float", _STATIC))

    def __complex__(self) -> complex:
        return complex(self._concrete(ConcretizationTypeError, "its value as a complex", _STATIC))

    def __index__(self) -> int:
        return self._concrete(TracerIntegerConversionError, "its value as a Python index", _STATIC).__index__()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise TracerArrayConversionError(
            conversion_message(
                self, "its values as a NumPy array", "use the function of jitscope.numpy in place of numpy's"
            )
        )

    def item(self, *args: Any) -> Any:
        return self._concrete(ConcretizationTypeError, "its value as a Python scalar", _STATIC).item(*args)

    def tolist(self) -> Any:
        return self._concrete(ConcretizationTypeError, "its values as a list", _STATIC).tolist()

    def __repr__(self) -> str:
        return f"{type(self).__name__}<{self.aval!r}>"

    def __format__(self, spec: str) -> str:
        value = self.known()
        return format(value, spec) if value is not None else repr(self)

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self


_STATIC = (
    "keep the computation in jitscope.numpy, or make the argument it stems from static (static_argnames=...), "
    "so that each value gets its own program"
)


def conversion_message(tracer: Tracer, asked: str, advice: str) -> str:
    """What was asked of a tracer that it cannot give, in which line, and what to do."""
    where = source.here()
    line = f"\n  in line {where.line} of {where.function}: {where.text.strip()}" if where else ""
    return (
        f"Python asked {asked}, but {tracer.refusal}.{line}\n"
        f"  the value is {tracer.description()}\n  what to do: {advice}"
    )


def leaked(tracer: Tracer) -> UnexpectedTracerError:
    """The error for a tracer met outside its trace."""
    where = source.here()
    line = f" It was used {place(where)}" if where else ""
    if not getattr(tracer.trace, "ended", True):
        return UnexpectedTracerError(
            f"a traced value met code that runs now, and it has no value yet; it is {tracer.description()}.{line}\n"
            "  What runs now while a function is traced (a block under ensure_compile_time_eval, another thread, a callback) "
            "works on values that are there.\n  what to do: compute with the traced value outside of that code."
        )
    return UnexpectedTracerError(
        f"a tracer was used after its trace had ended; it was {tracer.description()}.{line}\n"
        "  A traced function stored one of its intermediate values outside (a global, a list, an attribute): there it "
        "has no value.\n  what to do: return the value from the function."
    )
