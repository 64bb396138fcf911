"""Traces: what happens to an operation while a transformation is at work.

There is one current trace per thread or task. `Primitive.bind` hands the operation to it; it either interprets the
operation by the primitive's rule for its transformation, under its parent trace, or, at the bottom, evaluates it.
A tracer knows its trace; values of other traces are constants to it.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from typing import Any

from . import call_sites, notices, source
from .annotations import Primitive
from .avals import ShapedArray
from .errors import (
    ConcretizationTypeError,
    TracerArrayConversionError,
    TracerBoolConversionError,
    TracerIntegerConversionError,
    UnexpectedTracerError,
    stepped_on,
)
from .jax_values import asked_by_jax, is_operator, refuse_tracer_to_jax
from .messages import (
    CHOOSE,
    MAKE_STATIC,
    ambiguous_message,
    asking_line,
    conversion_message,
    immutable_message,
    message_here,
    place,
    with_advice,
)
from .operators import Operators
from .places import PlaceUnknown


class Trace:
    """Base of traces. `process` gets every operation bound while this trace is current."""

    __slots__ = ("__weakref__",)
    evaluates_known = False
    """Whether operations on known values are evaluated, though the traces below would record them."""

    @property
    def main(self) -> Trace:
        """What tells transformations apart; libraries written for JAX compare it."""
        return self

    def process(self, primitive: Primitive, args: tuple, params: dict[str, Any]) -> Any:
        """Interpret `primitive` on `args`; a list of results if it has several, else the result. (Here: as a trace that is
        written for JAX says, with `process_primitive`.)"""
        return self.process_primitive(primitive, args, params)

    def process_primitive(self, primitive: Primitive, tracers: tuple, params: dict[str, Any], /) -> Any:
        """`process`, by JAX's name. Raises NotImplementedError where a trace has neither."""
        if type(self).process is not Trace.process:
            return self.process(primitive, tracers, params)
        raise NotImplementedError(
            f"{type(self).__name__} has no `process`: it does not say what happens to an operation"
        )


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
traced_by = _current.get
"""The trace that `using` made current, or None: then operations are evaluated. What is called at every operation asks this
first, since it costs half of what `evaluating` does."""


def current_trace() -> Trace:
    """The trace that operations are handed to now; the one at the bottom, which evaluates them, where no transformation is at work."""
    return _current.get() or _evaluation


def evaluating() -> bool:
    """Whether operations are evaluated now (no transformation is at work)."""
    trace = _current.get()
    return trace is None or trace is _evaluation


def chain_of(trace: Trace) -> list[Trace]:
    """A trace, and those it hands its operations down to, in order: the last one evaluates or records them."""
    traces = [trace]
    while (parent := getattr(traces[-1], "parent", None)) is not None:
        traces.append(parent)
    return traces


def install_evaluation(trace: Trace) -> None:
    """Set the trace at the bottom; done once, by `eager.operations`."""
    global _evaluation
    _evaluation = trace


def evaluation() -> Trace:
    """The trace at the bottom."""
    return _evaluation


class Tracer(Operators, PlaceUnknown):
    """A value while tracing: an aval, and what its trace knows about it."""

    __slots__ = ("__weakref__", "aval", "tracing")
    tracing: Any
    aval: ShapedArray
    transient = True
    """Whether the value ends with a trace."""
    refusal = "while a function is traced only shapes and dtypes are known, not values"

    def __init__(self, trace: Trace, aval: ShapedArray):
        self.tracing, self.aval = trace, aval

    @property
    def _trace(self) -> Trace:
        """`tracing`, by JAX's name."""
        return self.tracing

    def underlying(self) -> Tracer | None:
        """The value under this transformation, of the trace below; None at the bottom."""
        return None

    def known(self) -> Any:
        """The concrete value if the trace has one (derivatives of evaluated code do), else None."""
        return None

    def origin(self) -> str:
        """Where the tracer comes from, in words, for error messages."""
        return ""

    def made_at(self) -> source.Position | None:
        """The position of the operation that made it, if it is known."""
        return None

    def description(self) -> str:
        """`f32[3] made at line …`, for error messages."""
        origin = self.origin()
        return f"a traced {self.aval.short()}{': ' + origin if origin else ''}"

    def _is_over(self) -> bool:
        """Whether its trace has ended."""
        return getattr(self.tracing, "ended", False)

    def _concrete(self, error: type[Exception], wanted: str, advice: str, asked: str) -> Any:
        value = self.known()
        if value is None:
            raise leak_error(self) if self._is_over() else error(conversion_message(self, wanted, advice, asked))
        return value

    def __bool__(self) -> bool:
        if self.aval.shape and self.aval.size != 1:
            raise ValueError(ambiguous_message(self))
        return bool(self._concrete(TracerBoolConversionError, "whether this is true", CHOOSE, "bool"))

    def __int__(self) -> int:
        return int(self._concrete(ConcretizationTypeError, "this value as an int", _STATIC, "number"))

    def __float__(self) -> float:
        return float(self._concrete(ConcretizationTypeError, "this value as a float", _STATIC, "number"))

    def __complex__(self) -> complex:
        return complex(self._concrete(ConcretizationTypeError, "this value as a complex number", _STATIC, "number"))

    def __hash__(self) -> int:
        what = f"unhashable type: {type(self).__name__!r}. A dict, a set and a cache look things up by their hash, but {self.refusal}."
        advice = (
            "look things up by what is known while tracing (a shape, a name, a static argument); values that a traced number is to "
            "choose from make one array: jnp.array(values)[i]"
        )
        raise TypeError(message_here(what, advice, detail=f"the value is {self.description()}"))

    def __index__(self) -> int:
        wanted = "this number itself (to count a loop, to index a list, as a size or an axis)"
        return self._concrete(TracerIntegerConversionError, wanted, _STATIC, "index").__index__()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        advice = "use the function of jitscope.numpy in place of numpy's"
        raise TracerArrayConversionError(conversion_message(self, "the values of this array", advice, "array"))

    @property
    def __jax_array__(self) -> Any:
        """Functions of JAX ask for it. Its operators are told that there is none: they let ours answer."""
        function = asked_by_jax(sys._getframe(1))
        if function is None or is_operator(function):
            raise AttributeError("__jax_array__ is for JAX")
        raise refuse_tracer_to_jax(self.description())

    def item(self, *args: int) -> Any:
        """The value as a Python scalar. Raises ConcretizationTypeError where it is not known while tracing."""
        return self._concrete(ConcretizationTypeError, "this value as a number", _STATIC, "number").item(*args)

    def tolist(self) -> Any:
        """The values as nested lists. Raises ConcretizationTypeError where they are not known while tracing."""
        return self._concrete(ConcretizationTypeError, "these values as a list", _STATIC, "number").tolist()

    def tobytes(self, order: str = "C") -> Any:
        """The values as bytes. Raises ConcretizationTypeError where they are not known while tracing."""
        return self._concrete(ConcretizationTypeError, "these values as bytes", _STATIC, "number").tobytes(order)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TypeError(immutable_message())

    def __repr__(self) -> str:
        if notices.listeners:
            self._tell_printed(sys._getframe(1).f_code.co_filename)
        return self.text()

    def text(self) -> str:
        """What is printed of it, as JAX prints it: JVPTracer(float32[])."""
        return f"{type(self).__name__}({self.aval.long()})"

    def _tell_printed(self, caller: str) -> None:
        """A tracer is made a text: by the user's code, or by a print or a logger that it called."""
        if not source.is_internal(caller) and self.known() is None and not self._is_over():
            inner: Any = self
            while isinstance(inner, Tracer):
                inner = inner.underlying()
            said = f"this runs while tracing: it sees a tracer, {self.aval.short()} without values, once; calls of the compiled function skip it."
            if inner is not None:  # nothing is compiled: the rows have values, and one of them has none
                said = f"this sees a tracer, {self.aval.short()}: under vmap it has no value that Python could show."
            notices.tell(
                "trace-time-print",
                said,
                'jax.debug.print("{}", x) prints the value in every call.',
                asking_line(),
            )

    def __format__(self, spec: str) -> str:
        value = self.known() if spec else None
        if value is not None:
            return format(value, spec)
        if notices.listeners:
            self._tell_printed(sys._getframe(1).f_code.co_filename)
        return self.text()

    def __copy__(self) -> Tracer:
        return self

    def __deepcopy__(self, memo: Any) -> Tracer:
        return self

    def __reduce__(self) -> Any:
        wanted = "the value of this array, to be pickled"
        raise ConcretizationTypeError(conversion_message(self, wanted, _STATIC, "number"))


_STATIC = (
    f"keep the computation in jitscope.numpy, or {MAKE_STATIC} (static_argnames=...), "
    "so that each value gets its own program"
)


def leak_error(tracer: Tracer) -> UnexpectedTracerError:
    """The error for a tracer met outside its trace."""
    where = call_sites.here()
    line = f" It was used {place(where)}" if where else ""
    if not getattr(tracer.tracing, "ended", True):
        return UnexpectedTracerError(
            with_advice(
                f"a traced value met code that runs now, and it has no value yet; it is {tracer.description()}.{line}\n"
                "  What runs now while a function is traced (a block under ensure_compile_time_eval, another thread, a callback) "
                "works on values that are there.",
                "compute with the traced value outside of that code.",
            )
        )
    error = UnexpectedTracerError(
        with_advice(
            f"a tracer was used after its trace had ended; it was {tracer.description()}.{line}\n"
            "  A traced function stored one of its intermediate values outside (a global, a list, an attribute): there it "
            "has no value.",
            "return the value from the function.",
        )
    )
    return stepped_on(error, "tracer-leak", tracer.made_at())
