"""Staging: run a Python function on tracers and record its operations as a jaxpr."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

import numpy as np

from . import call_sites, source, unfinished_traces, users_source
from .annotations import ArrayLike
from .avals import ShapedArray, aval_of, is_python_scalar, marked, not_an_array, scalar_of_aval
from .checking import check_jaxpr
from .config import settings
from .dtypes import does_not_fit
from .effects import Effects, has_refs, no_effects
from .jaxpr import NO_DEBUG, Atom, ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var, last_uses
from .leaks import check_leaks
from .messages import place, with_advice
from .part_types import sums_of, varying, with_varying
from .primitive import FunctionCall, Primitive
from .references import Reference, ReferenceAval
from .trace import Trace, Tracer, chain_of, current_trace, leak_error, using
from .types import abstract_results
from .varying import pvary_p, reduced_vary_p, seen_here


__all__ = ["eval_jaxpr", "jaxpr_as_fun"]


watcher: ContextVar[Callable[[JaxprTrace], None] | None] = ContextVar("jitscope_watcher", default=None)
"""Called every `WATCH_EVERY` equations of a growing jaxpr (to warn about unrolled loops)."""
WATCH_EVERY = 1000
_NEAR = 32  # equations among which the maker of a value is looked for


class JaxprTracer(Tracer):
    """A variable of the jaxpr being recorded."""

    __slots__ = ("atom",)

    def __init__(self, trace: JaxprTrace, atom: Atom):
        self.tracing = trace
        self.atom = atom
        self.aval = atom.aval

    def text(self) -> str:
        return f"JitTracer({self.aval.long()})"

    def origin(self) -> str:
        return self.tracing.origin(self.atom)

    def made_at(self) -> source.Position | None:
        made = (eqn for eqn in self.tracing.eqns if self.atom in eqn.outvars)
        return next((call_sites.user_position(eqn.traceback) for eqn in made), None)


class JaxprTrace(Trace):
    """Records operations as equations. Values from outside become captured constants."""

    __slots__ = ("constants", "debug", "effects", "ended", "eqns", "invars")

    def __init__(self, debug: DebugInfo = NO_DEBUG):
        self.eqns: list[JaxprEqn] = []
        self.invars: list[Var] = []
        self.constants: dict[int, tuple[Var, Any]] = {}
        self.effects: Effects = no_effects
        self.debug = debug
        self.ended = False

    def argument(self, aval: ShapedArray) -> Any:
        """A new argument of the jaxpr: a tracer, or a reference."""
        var = Var(aval)
        self.invars.append(var)
        return aval.made(self, var) if isinstance(aval, ReferenceAval) else JaxprTracer(self, var)

    def process(self, primitive: Primitive, args: tuple, params: dict[str, Any]) -> Any:
        if isinstance(primitive, FunctionCall):
            return primitive.stage(self, args, **params)
        return self.record(primitive, args, params)

    def record(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Append the equation and give its results."""
        atoms = [x.atom if type(x) is JaxprTracer and x.tracing is self else self.atom(x, primitive) for x in args]
        if marked:
            atoms, out, effects = self._typed(primitive, atoms, params)
        else:
            out, effects = primitive.abstract(*[a.aval for a in atoms], **params)
        many = primitive.multiple_results
        outvars = [Var(aval) for aval in out] if many else [Var(out)]
        self.eqns.append(JaxprEqn(atoms, outvars, primitive, params, effects, call_sites.capture()))
        if effects:
            self.effects = self.effects | effects
        if len(self.eqns) % WATCH_EVERY == 0 and (watch := watcher.get()) is not None:
            watch(self)
        return [JaxprTracer(self, v) for v in outvars] if many else JaxprTracer(self, outvars[0])

    def _typed(
        self, primitive: Primitive, atoms: list[Atom], params: dict[str, Any]
    ) -> tuple[list[Atom], Any, Effects]:
        """The operands, results and effects of an operation where types may speak of several devices."""
        found = abstract_results(primitive, [a.aval for a in atoms], params)
        left = [[] if type(a) is Literal else sorted(found.axes - varying(a.aval), key=str) for a in atoms]
        atoms = [self._varied(a, axes) if axes else a for a, axes in zip(atoms, left)]
        return atoms, found.out, found.effects

    def _varied(self, atom: Atom, axes: list[Any]) -> Atom:
        """The atom as one that varies over further axes. What repeats a smaller value repeats that one's: the derivative sums over
        the devices what is varied, so the less the better."""
        if reduced := [name for name in axes if name in sums_of(atom.aval).reduced]:
            atom = self._appended([atom], reduced_vary_p, {"axes": tuple(reduced)}, reduced)
            axes = [name for name in axes if name not in reduced]
            if not axes:
                return atom
        made = next((eqn for eqn in reversed(self.eqns[-_NEAR:]) if atom in eqn.outvars), None)
        if made is not None and made.primitive.repeats and not isinstance(made.invars[0], Literal):
            inner = self._varied(made.invars[0], axes)
            return self._appended([inner], made.primitive, made.params, axes, atom)
        return self._appended([atom], pvary_p, {"axes": tuple(axes)}, axes)

    def _appended(
        self, inputs: list[Atom], primitive: Primitive, params: dict[str, Any], axes: Sequence[Any], like: Any = None
    ) -> Var:
        """The result of an operation that gives `like` (its operand, if left out), varying over further axes."""
        aval = (like or inputs[0]).aval
        var = Var(with_varying(aval, varying(aval) | frozenset(axes)))
        self.eqns.append(JaxprEqn(inputs, [var], primitive, params, no_effects, call_sites.capture()))
        return var

    def atom(self, x: Any, primitive: Primitive | None = None) -> Atom:
        """The atom of any value, an operand of `primitive`: scalars become literals, other values captured constants."""
        if isinstance(x, Tracer):
            if x.tracing is self:
                return x.atom  # pyright: ignore[reportAttributeAccessIssue]
            if isinstance(x.tracing, JaxprTrace) and x.tracing.ended:
                raise leak_error(x)
        elif is_python_scalar(x):
            aval = aval_of(x)
            try:
                value = aval.dtype.type(x)
            except OverflowError:
                raise does_not_fit(x, aval.dtype) from None
            return Literal(_as_written(x, value) if aval.weak_type else value, aval)
        elif isinstance(x, (np.ndarray, np.generic)) and x.ndim == 0:
            aval = aval_of(x)
            same = type(x) is aval.dtype.type
            return Literal(x if same else np.asarray(x).astype(aval.dtype)[()], aval)  # pyright: ignore[reportArgumentType]
        elif isinstance(x, Reference):
            if primitive is None or not primitive.takes_references:
                raise TypeError(not_an_array(x))
            return x.variable(self)
        elif (convert := getattr(x, "__jitscope_array__", None)) is not None:  # a symbolic dimension
            with using(self):
                return self.atom(convert())
        return self.constant(x)

    def tracer(self, x: Any) -> JaxprTracer:
        """What stands for a known value here."""
        return JaxprTracer(self, self.atom(x))

    def constant(self, x: Any) -> Var:
        key = id(x.atom if type(x) is JaxprTracer else x)
        found = self.constants.get(key)
        if found is None:
            # The value is kept beside its variable, so its id stays taken while the trace lives.
            aval = aval_of(x)
            found = self.constants[key] = (Var(seen_here(aval) if aval.mark is not None else aval), x)
        return found[0]

    def close(self, outs: Sequence[Any], result_names: tuple[str, ...] = ()) -> ClosedJaxpr:
        """End the trace: the jaxpr that gives `outs`, with the constants it captured."""
        for x in outs:
            if isinstance(x, Reference):
                raise returned_reference(x, self.debug.name)
        outvars = [self.atom(x) for x in outs]
        self.ended = True
        debug = self.debug._replace(result_names=result_names)
        captured = list(self.constants.values())
        jaxpr = Jaxpr([v for v, _ in captured], self.invars, outvars, self.eqns, self.effects, debug)
        return ClosedJaxpr(jaxpr, [x for _, x in captured])

    def origin(self, atom: Atom) -> str:
        """In words: the argument, or the chain of lines that computed the variable."""
        if atom in self.invars:
            return self._argument_name(atom)
        if isinstance(atom, Literal) or any(var is atom for var, _ in self.constants.values()):
            return "a constant of the traced function; what NumPy makes, np.array(...), stays a value"
        made_by = {id(v): eqn for eqn in self.eqns for v in eqn.outvars}
        chain, arguments, todo, seen = [], [], [atom], set()
        while todo:
            var = todo.pop(0)
            if id(var) in seen:
                continue
            seen.add(id(var))
            if var in self.invars:
                arguments.append(f"{self._argument_name(var)}: {var.aval.short()}")
            elif (eqn := made_by.get(id(var))) is not None:
                chain.append(eqn)
                todo.extend(v for v in eqn.invars if isinstance(v, Var))
        return _describe_chain(chain, arguments)

    def _argument_name(self, var: Any) -> str:
        i = self.invars.index(var)
        names = self.debug.arg_names
        if not self.debug.inner or i >= len(names):
            return f"argument {names[i] if i < len(names) else i} of {self.debug.name}"
        called = users_source.unpacked(self.debug.defined, names[i])
        return f"{called} in {self.debug.name} ({names[i]})" if called else f"{names[i]} in {self.debug.name}"


def recording(trace: Trace) -> JaxprTrace | None:
    """The trace that records the operations of `trace`, after those that transform them; None where they are evaluated."""
    root = chain_of(trace)[-1]
    return root if isinstance(root, JaxprTrace) else None


def capturing() -> JaxprTrace | None:
    """The trace that records operations on known values now, too; None where these are evaluated."""
    trace = current_trace()
    while not trace.evaluates_known:
        parent = getattr(trace, "parent", None)
        if parent is None:
            return trace if isinstance(trace, JaxprTrace) else None
        trace = parent
    return None


def constant_atom(x: Any) -> Any:
    """What operations have of a known value: where they are recorded a tracer, of a literal or of a captured constant;
    else the value itself."""
    if isinstance(x, Tracer):
        return x
    trace = capturing()
    return x if trace is None else trace.tracer(x)


def all_captured(x: Any, array: Callable[[Any], Any]) -> Any:
    """`constant_atom` of each array and number in a result, a value or a tuple or list of results; NumPy's, where no program is
    recorded, by `array`."""
    if isinstance(x, Tracer):
        return x
    if isinstance(x, (tuple, list)):
        parts = [all_captured(part, array) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if isinstance(x, (np.ndarray, np.generic)):
        return array(x) if capturing() is None else constant_atom(x)
    return constant_atom(x) if hasattr(x, "aval") else x


def _recorded(x: Any) -> Atom | None:
    """The variable that stands for a value, or for what a transformation's tracer holds of it."""
    while isinstance(x, Tracer) and type(x) is not JaxprTracer:
        x = x.underlying()
    return x.atom if type(x) is JaxprTracer else None


def mark_made(trace: JaxprTrace, start: int, transform: str, written: Sequence[Any] = ()) -> None:
    """Say of the equations from number `start` on that a transformation made them; those that give a value of `written` stand as
    they were written."""
    own = {atom for x in written if (atom := _recorded(x)) is not None}
    for eqn in trace.eqns[start:]:
        if own.isdisjoint(eqn.outvars):
            eqn.traceback = call_sites.made_by(transform, eqn.traceback)


def returned_reference(ref: Any, name: str, path: str = "") -> ValueError:
    """The error for a traced function that gives back a reference."""
    origin = ref.origin()
    return ValueError(
        with_advice(
            f"function {name} returned a mutable array reference of type {ref.aval!r}{f' at result{path}' if path else ''}, but "
            f"mutable array references cannot be returned: two names would be one memory.\n\n  The reference {origin}.",
            "return its value, ref[...], or make the reference outside and pass it",
        )
    )


_CHAIN_LINES = 5


def _describe_chain(chain: list[JaxprEqn], arguments: list[str]) -> str:
    lines: list[str] = []
    for eqn in chain:
        where = call_sites.user_position(eqn.traceback)
        text = place(where).rstrip(":,") if where else f"in an operation {eqn.primitive.name}"
        if text not in lines:
            lines.append(text)
    shown = ",\n    from a value computed ".join(lines[:_CHAIN_LINES]) + (", …" if len(lines) > _CHAIN_LINES else "")
    depends = f"it depends on {', '.join(dict.fromkeys(arguments))}" if arguments else ""
    if not shown:
        return depends
    return f"computed {shown}" + (f"\n    ({depends})" if depends else "")


def keep(error: Exception, trace: JaxprTrace, fun: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray]) -> None:
    """Keep what was recorded on the error that ends the trace."""

    def of(x: Any) -> Var | None:
        while isinstance(x, Tracer) and type(x) is not JaxprTracer:
            x = x.underlying()
        atom = x.atom if type(x) is JaxprTracer and x.tracing is trace else None
        return atom if isinstance(atom, Var) else None

    unfinished_traces.keep(error, trace, fun, avals, of)


def trace_to_jaxpr(
    fun: Callable[..., Sequence[Any]], avals: Sequence[ShapedArray], debug: DebugInfo = NO_DEBUG
) -> ClosedJaxpr:
    """Run `fun` on tracers of the given avals; it gives a flat sequence of results. The jaxpr of what it did."""
    trace = JaxprTrace(debug)
    try:
        with using(trace), call_sites.within(()):  # the equation that will hold the program says in which scopes it is
            closed = trace.close(fun(*[trace.argument(aval) for aval in avals]))
    except Exception as error:
        keep(error, trace, fun, avals)
        raise
    finally:
        trace.ended = True
    options = settings()
    if options.check_tracer_leaks:
        check_leaks(trace, debug.name)
    if options.enable_checks:
        check_jaxpr(closed.jaxpr)
    return closed


def eval_jaxpr(
    jaxpr: Jaxpr, consts: Sequence[Any], *args: ArrayLike | Tracer, propagate_source_info: bool = True
) -> list[Any]:
    """Run a jaxpr's equations one by one under the current trace. With `propagate_source_info`, what is recorded of them has
    been written where they were; else where this is called."""
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    trace = current_trace()
    last, refs = last_uses(jaxpr), bool(jaxpr.effects) and has_refs(jaxpr.effects)
    for i, eqn in enumerate(jaxpr.eqns):
        values = tuple([literal_value(a) if type(a) is Literal else env[a] for a in eqn.invars])  # pyright: ignore
        with call_sites.written_at(eqn.traceback) if propagate_source_info else nullcontext():
            # References ask for `bind`, which knows them.
            bind = eqn.primitive.bind
            out = bind(*values, **eqn.params) if refs else trace.process(eqn.primitive, values, eqn.params)
        if eqn.primitive.multiple_results:
            env.update(zip(eqn.outvars, out))
        else:
            env[eqn.outvars[0]] = out
        for var in last.get(i, ()):
            env.pop(var, None)
    return [literal_value(a) if type(a) is Literal else env[a] for a in jaxpr.outvars]  # pyright: ignore


def _as_written(x: Any, value: Any) -> Any:
    """A Python number whose value in its dtype is `value`, with the digits that it was written with: 0.1, not 0.10000000149."""
    exact = isinstance(x, int) or not np.isfinite(value)
    return value.item() if exact else complex(x) if isinstance(x, complex) else float(x)


def literal_value(literal: Literal) -> Any:
    """The literal as a value of its own dtype, even if `enable_x64` has changed since it was written."""
    return scalar_of_aval(literal.value, literal.aval)


def jaxpr_as_fun(closed_jaxpr: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The function that runs a closed jaxpr on flat arguments."""
    return lambda *args: eval_jaxpr(closed_jaxpr.jaxpr, closed_jaxpr.consts, *args)


def as_function(fun: Any) -> Callable[..., Any]:
    """A function of flat values, from one or from a closed jaxpr."""
    return jaxpr_as_fun(fun) if isinstance(fun, ClosedJaxpr) else fun
