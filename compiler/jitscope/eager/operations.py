"""The trace at the bottom: operations are compiled one by one and run at once."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from ..backend.array import Array, array_on, device_for, one_device, to_array
from ..backend.compile import compile_jaxpr
from ..backend.memory import memory_of
from ..backend.watching import Run, is_key, with_watches
from ..control.call import jit_p
from ..control.refs import new_ref_p
from ..core import call_sites, records
from ..core.avals import ShapedArray
from ..core.config import settings
from ..core.jaxpr import ClosedJaxpr, DebugInfo, Jaxpr, JaxprEqn, Literal, Var, subjaxprs
from ..core.meshes_in_force import mesh_in_force
from ..core.primitive import HigherOrder, Primitive
from ..core.trace import Trace, Tracer, install_evaluation, leak_error
from ..core.types import abstract_results
from ..ops.indexing import dynamic_slice_p, dynamic_update_slice_p
from .running import Programs, runner


_programs = Programs()
_buf, _aval = attrgetter("buf"), attrgetter("aval")


class EvaluationTrace(Trace):
    """Runs each operation, from a cache keyed by primitive, options, avals and parameters."""

    __slots__ = ()

    def process(self, primitive: Primitive, args: tuple, params: dict[str, Any]) -> Any:
        bufs: list[Any] = []
        try:
            # Arrays alone have both; scalars, NumPy values and tracers take the long way.
            bufs = list(map(_buf, args))
            run = _programs.get((primitive, settings(), *map(_aval, args), *params.items()))
        except (AttributeError, TypeError):  # a TypeError: parameters without a hash
            run = None
        return _not_met(primitive, args, params) if run is None else run(bufs)


def _not_met(primitive: Primitive, args: tuple, params: dict[str, Any]) -> Any:
    """The long way: values that are not arrays yet, operations that are not a program, keys not met before."""
    if primitive.evaluates:
        return primitive.evaluate(args, **params)
    if primitive is new_ref_p:
        return memory_of(_array(args[0]), **params)
    inner = next((jaxpr for _, jaxpr in subjaxprs(params)), None) if isinstance(primitive, HigherOrder) else None
    if inner is not None:
        return _run_inner(inner, primitive, args, params)
    arrays = [_array(x) for x in args]
    avals = [a.aval for a in arrays]
    key = (primitive, settings(), *avals, *params.items())
    run = _programs.get(key) or _programs.again(key) or _programs.keep(key, _operation(primitive, avals, params))
    return run([a.buf for a in arrays])


def _array(x: Any) -> Array:
    if isinstance(x, Tracer):
        raise leak_error(x)
    return to_array(x)


def _operation(primitive: Primitive, avals: list[ShapedArray], params: dict[str, Any]) -> Run:
    closed = _one_equation(primitive, avals, params)
    if settings().debug_key_reuse and primitive in _AT_NUMBERS and is_key(avals[0]):
        return _keys_at_places(closed, [i for i, aval in enumerate(avals) if not is_key(aval)])
    return runner(closed, list if primitive.multiple_results else None)


def _one_equation(primitive: Primitive, avals: Sequence[ShapedArray], params: dict[str, Any]) -> ClosedJaxpr:
    out, effects, _ = abstract_results(primitive, avals, params)
    invars = [Var(aval) for aval in avals]
    outvars = [Var(aval) for aval in (out if primitive.multiple_results else [out])]
    eqn = JaxprEqn(list(invars), outvars, primitive, params, effects, call_sites.capture())
    return ClosedJaxpr(Jaxpr([], invars, list(outvars), [eqn], effects, DebugInfo(primitive.name)))


_AT_NUMBERS = frozenset((dynamic_slice_p, dynamic_update_slice_p))


def _keys_at_places(closed: ClosedJaxpr, numbers: list[int]) -> Run:
    """What reads or writes a window of keys, with `debug_key_reuse`: its place (the operands `numbers`) is known, so that other keys than
    those there are not used."""
    runs: dict[Any, Run] = {}
    (eqn,), invars = closed.eqns, closed.jaxpr.invars

    def run(bufs: Sequence[Any]) -> Any:
        places = {i: Array(bufs[i], invars[i].aval).item() for i in numbers}
        key = tuple(places.values())
        if key not in runs:
            there = [Literal(places[i], v.aval) if i in places else v for i, v in enumerate(invars)]
            one = JaxprEqn(there, eqn.outvars, eqn.primitive, eqn.params, eqn.effects, eqn.traceback)
            jaxpr = Jaxpr([], invars, list(eqn.outvars), [one], eqn.effects, closed.jaxpr.debug)
            runs[key] = runner(ClosedJaxpr(jaxpr))
        return runs[key](bufs)

    return run


def _run_inner(inner: ClosedJaxpr, primitive: Primitive, args: tuple, params: dict[str, Any]) -> list[Array]:
    """An operation that holds jaxprs (`inner` is the first): a loop, a derivative of a jitted function. Its program lives as long as
    they do. The ledger hears of it, since it runs code of the user's."""
    device = None if one_device() else device_for(args)
    arrays = [_array(x) if device is None else array_on(_array(x), device) for x in args]
    avals = [a.aval for a in arrays]
    layouts = () if device is None else (mesh_in_force(), *[a.buf._sharding for a in arrays])
    key = (primitive, settings(), device, *layouts, *avals, *params.items())
    run = inner.derived.get(key)
    if run is None:
        closed = params["jaxpr"] if primitive is jit_p else _one_equation(primitive, avals, params)
        name = params.get("name", primitive.name)
        run = inner.derived[key] = with_watches(closed, name, _recorded_program(closed, name, device, arrays).run)
    return run([a.buf for a in arrays])


def _said_by(closed: ClosedJaxpr) -> list[Any]:
    """How the results of a `shard_map` by itself lie: as its specs say."""
    eqn = closed.eqns[0] if len(closed.eqns) == 1 else None
    if eqn is None or eqn.primitive.name != "shard_map" or len(eqn.params["axes"]) < len(eqn.params["mesh"].axis_names):
        return []
    from ..core.meshes import Mesh
    from ..core.shardings import NamedSharding  # of several devices

    if not isinstance(eqn.params["mesh"], Mesh):
        return []
    return [NamedSharding(eqn.params["mesh"], spec) for spec in eqn.params["out_specs"]]


def _recorded_program(closed: ClosedJaxpr, name: str, device: Any, arrays: Sequence[Array]) -> Any:
    if device is not None:
        from ..backend.spreading import spread_for  # of several devices

        outs = _said_by(closed)
        device = spread_for(closed, [a.buf._sharding for a in arrays], device, outs)
    number = records.new_program()
    position, call_site = closed.jaxpr.debug.defined, call_sites.here()
    records.emit(records.Record("derive", name, number, 0.0, position, call_site, payload=closed))
    note = records.Record("", name, number, position=position, call_site=call_site)
    program = compile_jaxpr(closed, device=device, number=number, note=note)
    records.emit(records.Record("program", name, number, 0.0, position, call_site, payload=(program, None)))
    return program


install_evaluation(EvaluationTrace())
