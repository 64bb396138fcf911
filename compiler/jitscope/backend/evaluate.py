"""The trace at the bottom: operations are compiled one by one and run at once."""
from __future__ import annotations

from typing import Any

from ..core.avals import ShapedArray
from ..core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Var
from ..core.primitive import Primitive
from ..core.trace import Trace, Tracer, install_evaluation, leaked
from .array import Array, to_array
from .compile import Program, compile_jaxpr

_programs: dict[Any, Program] = {}
_MAX_PROGRAMS = 8192


class EvaluationTrace(Trace):
    """Runs each operation, from a cache keyed by primitive, avals and parameters."""

    __slots__ = ()

    def process(self, primitive: Primitive, args: tuple, params: dict[str, Any]) -> Any:
        arrays = [x if type(x) is Array else _array(x) for x in args]
        key = (primitive, tuple([a.aval for a in arrays]), tuple(params.items()) if params else None)
        program = _programs.get(key)
        if program is None:
            program = _program(primitive, [a.aval for a in arrays], params, key)
        outs = program.run([a.buf for a in arrays])
        return outs if primitive.multiple_results else outs[0]


def _array(x: Any) -> Array:
    if isinstance(x, Tracer):
        raise leaked(x)
    return to_array(x)


def _program(primitive: Primitive, avals: list[ShapedArray], params: dict[str, Any], key: Any) -> Program:
    out, effects = primitive.abstract(*avals, **params)
    invars = [Var(aval) for aval in avals]
    outvars = [Var(aval) for aval in (out if primitive.multiple_results else [out])]
    eqn = JaxprEqn(list(invars), outvars, primitive, params, effects)
    jaxpr = Jaxpr([], invars, list(outvars), [eqn], effects, DebugInfo(primitive.name))
    if len(_programs) >= _MAX_PROGRAMS:
        _programs.clear()
    program = _programs[key] = compile_jaxpr(ClosedJaxpr(jaxpr))
    return program


def clear_programs() -> None:
    """Forget the programs of single operations."""
    _programs.clear()


install_evaluation(EvaluationTrace())

