"""The trace at the bottom: operations are compiled one by one and run at once."""

from __future__ import annotations

from typing import Any

from ..control.call import jit_p
from ..control.refs import new_ref_p
from ..core import config, records, source
from ..core.avals import ShapedArray
from ..core.config import settings
from ..core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var, subjaxprs
from ..core.primitive import HigherOrder, Primitive
from ..core.recent import Recent
from ..core.trace import Trace, Tracer, install_evaluation, leaked
from ..ops.families import Elementwise
from ..ops.indexing import dynamic_slice_p, dynamic_update_slice_p
from ..xla.garbage import collect, due
from ..xla.program import RuntimeFailure, translate
from .array import Array, device_for, one_device, placed, to_array
from .compile import Program, compile_jaxpr, relief
from .memory import memory_of
from .watching import checked, failure, is_bad, is_key, test_in_force


_programs = Recent(4096)
_on_keys = Recent(4096)
QUICK = (("xla_cpu_use_fusion_emitters", False),)
"""XLA's older emitter compiles a single elementwise operation in half the time, to code as fast."""
ROUNDED_OTHERWISE = frozenset(("tan", "atan", "cbrt"))
"""Operations that give other numbers with it (for denormal operands, and near the largest): outside of jit as inside, they take
the newer one."""

caches: list[Recent] = [_programs, _on_keys]
"""The caches of programs run outside any trace, those of the libraries above among them: `clear_programs` empties them."""


class EvaluationTrace(Trace):
    """Runs each operation, from a cache keyed by primitive, avals and parameters."""

    __slots__ = ()

    def process(self, primitive: Primitive, args: tuple, params: dict[str, Any]) -> Any:
        if config.watching and (test := test_in_force()) is not None:
            return self._watched(test, primitive, args, params)
        bufs: list[Any] = []
        try:
            # Arrays alone have both; scalars, NumPy values and tracers take the long way.
            bufs = [x.buf for x in args]
            program = _programs.get((primitive, *[x.aval for x in args], *params.items()))
        except (AttributeError, TypeError):  # a TypeError: parameters without a hash
            program = None
        if program is None or not program.takes_all:
            return self._general(primitive, args, params)
        executable = program.executable
        if due():
            collect()
        try:
            outs = executable.raw_execute(bufs).consume_with_handlers(executable.handlers)
        except RuntimeFailure as error:
            raise translate(error, bufs) from None
        if primitive.multiple_results:
            return list(map(Array, outs, program.out_avals))
        return Array(outs[0], program.out_avals[0])

    def _watched(self, test: Any, primitive: Primitive, args: tuple, params: dict[str, Any]) -> Any:
        """The operation, or FloatingPointError for a bad result (`debug_nans`)."""
        with config.override(debug_nans=False, debug_infs=False):
            out = self.process(primitive, args, params)
        if any(is_bad(x, test) for x in (out if primitive.multiple_results else [out])):
            arrays = [_array(x, None) for x in args]
            closed = _one_equation(primitive, [a.aval for a in arrays], params)
            raise failure(closed, primitive.name, arrays, test)
        return out

    def _general(self, primitive: Primitive, args: tuple, params: dict[str, Any]) -> Any:
        if primitive.evaluates:
            return primitive.evaluate(args, **params)
        if primitive is new_ref_p:
            return memory_of(_array(args[0], None))
        device = None if one_device() else device_for(args)
        arrays = [_array(x, device) for x in args]
        avals = [a.aval for a in arrays]
        key = (primitive, *avals, *params.items())
        if device is not None:
            key = (device, *key)  # not found without asking for the device
        # The program of an operation that holds jaxprs lives as long as they do.
        held = next((jaxpr for _, jaxpr in subjaxprs(params)), None) if isinstance(primitive, HigherOrder) else None
        programs = _programs if held is None else held.derived
        program = programs.get(key) or (_programs.again(key) if held is None else None)
        if program is None:
            build = _one_operation if held is None else _held_program
            program = build(primitive, avals, params, device)
            if held is None:
                _programs.keep(key, program)
            else:
                programs[key] = program
            if any(is_key(aval) for aval in (*avals, *program.out_avals)):
                program.takes_all = False  # so that calls with keys come here
        run = program.run
        if settings().debug_key_reuse and not program.takes_all:
            run = _checked(key, primitive, arrays, params, run)
        outs = run([a.buf for a in arrays])
        return outs if primitive.multiple_results else outs[0]


_AT_NUMBERS = frozenset((dynamic_slice_p, dynamic_update_slice_p))


def _checked(key: Any, primitive: Primitive, arrays: list[Array], params: dict[str, Any], run: Any) -> Any:
    """The program of an operation with a look at the keys it gets. Of a window, the place is known."""
    places = {i: a.item() for i, a in enumerate(arrays) if primitive in _AT_NUMBERS and not is_key(a.aval)}
    key = (*key, *places.items())
    closed = _on_keys.get(key) or _on_keys.again(key)
    if closed is None:
        closed = _one_equation(primitive, [a.aval for a in arrays], params)
        (eqn,) = closed.eqns
        eqn.invars = [Literal(places[i], v.aval) if i in places else v for i, v in enumerate(eqn.invars)]
        _on_keys.keep(key, closed)
    return checked(closed, run)


def _array(x: Any, device: Any) -> Array:
    if isinstance(x, Tracer):
        raise leaked(x)
    return to_array(x) if device is None else placed(x, device)


def _held_program(primitive: Primitive, avals: list[ShapedArray], params: dict[str, Any], device: Any) -> Program:
    """The program of an operation that holds jaxprs, met outside any trace: a loop, a derivative of a jitted function. The
    ledger hears of it, since it runs code of the user's."""
    closed = params["jaxpr"] if primitive is jit_p else _one_equation(primitive, avals, params)
    name, number = params.get("name", primitive.name), records.new_program()
    position, call_site = closed.jaxpr.debug.defined, source.here()
    records.emit(records.Record("derive", name, number, 0.0, position, call_site, payload=closed))
    note = records.Record("", name, number, position=position, call_site=call_site)
    program = compile_jaxpr(closed, device=device, number=number, note=note)
    records.emit(records.Record("program", name, number, 0.0, position, call_site, payload=(program, None)))
    return program


def _one_operation(primitive: Primitive, avals: list[ShapedArray], params: dict[str, Any], device: Any) -> Program:
    closed = _one_equation(primitive, avals, params)
    return compile_jaxpr(
        closed, QUICK if isinstance(primitive, Elementwise) and primitive.name not in ROUNDED_OTHERWISE else (), device
    )


def _one_equation(primitive: Primitive, avals: list[ShapedArray], params: dict[str, Any]) -> ClosedJaxpr:
    out, effects = primitive.abstract(*avals, **params)
    invars = [Var(aval) for aval in avals]
    outvars = [Var(aval) for aval in (out if primitive.multiple_results else [out])]
    eqn = JaxprEqn(list(invars), outvars, primitive, params, effects, source.capture())
    return ClosedJaxpr(Jaxpr([], invars, list(outvars), [eqn], effects, DebugInfo(primitive.name)))


def clear_programs() -> None:
    """Forget the programs of single operations and of the functions of libraries."""
    for cache in caches:
        cache.clear()


def _let_go() -> None:
    for cache in caches:
        cache.age()


relief.append(_let_go)
install_evaluation(EvaluationTrace())
