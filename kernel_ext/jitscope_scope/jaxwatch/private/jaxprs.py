"""jax's jaxprs, equations and tracers."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .names import module


__all__ = [
    "ELEMENT", "buffer_of", "equations", "evaluated", "evaluated_together", "is_over", "made_by", "parameters", "recorded",
    "scopes", "scoping",
]  # fmt: skip


def scoping() -> Callable[[Any, str], Any]:
    """The function that gives an equation's source information one more named scope, outside of all others."""
    util = module("jax._src.source_info_util")
    stack, alone, scope = util.NameStack, _alone(util.NameStack), util.Scope

    def scoped(info: Any, name: str) -> Any:
        own = info.name_stack.stack
        return info.replace(name_stack=stack((scope(name), *own)) if own else alone((scope(name),)))

    return scoped


ELEMENT = "get-tuple-element"
"""What XLA calls the results of a function without a name. It is a part of our marks where these stand alone."""


@functools.cache
def _alone(stack: type[Any]) -> type[Any]:
    """The class of a name stack that has one scope of ours and no other. XLA calls instructions by the last part of their names, which has
    to be jax's: below another stack, ours stands before the last part of that; alone, the last part is what XLA says of its own."""

    class Alone(stack):
        def __radd__(self, outer: Any) -> Any:
            (own,) = self.stack
            if not outer.stack:
                return stack((own._replace(name=f"{own.name}/{ELEMENT}"),))
            last = outer.stack[-1]
            if last.name.endswith(f"/{ELEMENT}"):  # a mark that stood alone, of the equation around this one
                around = last._replace(name=last.name.removesuffix(f"/{ELEMENT}"))
                return stack((*outer.stack[:-1], around, own._replace(name=f"{own.name}/{ELEMENT}")))
            return stack((*outer.stack[:-1], own, last))

    return Alone


def scopes(info: Any) -> tuple[Sequence[str], Sequence[str]]:
    """The named scopes and the transformations in an equation's source information, outermost first."""
    stack = info.name_stack.stack
    if not stack:
        return (), ()
    transform = module("jax._src.source_info_util").Transform
    return [s.name for s in stack if type(s) is not transform], [s.name for s in stack if type(s) is transform]


def parameters(eqn: Any) -> dict[str, Any]:
    """An equation's parameters, those of `scan` as jax 0.10 has them: since 0.11 a tree of its operands says which are constants and which
    are carried."""
    params = dict(eqn.params)
    if "ft_in" in params:
        consts, carry, _ = params.pop("ft_in").update(list(eqn.invars)).unpack()
        params.pop("ft_out", None)
        params |= {"num_consts": len(list(consts)), "num_carry": len(list(carry))}
    return params


def buffer_of(array: Any) -> Any:
    """The array that a program is given for an array; for random keys, that of their words."""
    return getattr(array, "_base_array", array)


def evaluated(eqn: Any, operands: Sequence[Any], debug: Any) -> list[Any]:
    """The results of an equation on values for all its operands, literals included; `debug` is what jax calls its program."""
    core = importlib.import_module("jax.extend.core")
    known = {id(a): (a, x) for a, x in zip(eqn.invars, operands, strict=True) if not hasattr(a, "val")}
    invars, values = [a for a, _ in known.values()], [x for _, x in known.values()]
    outvars = [core.Var(v.aval) if type(v).__name__ == "DropVar" else v for v in eqn.outvars]
    told = {} if debug is None else {"debug_info": debug._replace(arg_names=None, result_paths=None)}
    jaxpr = core.Jaxpr((), invars, outvars, [eqn.replace(outvars=outvars)], eqn.effects, **told)
    return list(core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, ()))(*values))


def evaluated_together(eqns: Sequence[Any], known: Mapping[Any, Any], outvars: Sequence[Any], debug: Any) -> list[Any]:
    """The values of `outvars`, computed by one compiled program of these equations; `known` are the values of what they take."""
    core = importlib.import_module("jax.extend.core")
    told = {} if debug is None else {"debug_info": debug._replace(arg_names=None, result_paths=None)}
    effects = set().union(*(eqn.effects for eqn in eqns))
    jaxpr = core.Jaxpr((), list(known), list(outvars), list(eqns), effects, **told)
    return list(module("jax").jit(core.jaxpr_as_fun(core.ClosedJaxpr(jaxpr, ())))(*known.values()))


def recorded(tracer: Any) -> tuple[Any, Any]:
    """What the trace of a traced value has recorded, an object with equations, and the value's variable there; None and None where
    none records it. A value that is differentiated or batched is that which its derivative, or batch, is made of."""
    found = ((one, frame) for one, trace in _traces(tracer) if (frame := getattr(trace, "frame", None)) is not None)
    one, frame = next(found, (None, None))
    return frame, getattr(one, "val", None)


def _traces(tracer: Any) -> Iterator[tuple[Any, Any]]:
    """A traced value and its trace, and so on those that it is made of."""
    for _ in range(_DEEPEST):
        if (trace := getattr(tracer, "_trace", None)) is None:
            return
        yield tracer, trace
        tracer = getattr(tracer, "primal", getattr(tracer, "val", None))


_DEEPEST = 20


def is_over(tracer: Any) -> bool:
    """Whether the trace of a traced value has ended for certain: the value was made by an operation, and the trace has let go of what it
    recorded."""
    for one, trace in _traces(tracer):
        if not getattr(trace, "is_valid", lambda: True)():
            return True
        if (frame := getattr(trace, "frame", None)) is not None:
            return getattr(one, "parent", None) is not None and not equations(frame)
    return False


def made_by(tracer: Any) -> Any:
    """The traceback of the line that made a traced value, None where the value does not say."""
    return getattr(getattr(tracer, "_line_info", None), "traceback", None)


def equations(frame: Any) -> list[Any]:
    """The equations that a trace has recorded so far."""
    if hasattr(frame, "get_eqns"):
        return list(frame.get_eqns())
    found = getattr(frame, "tracing_eqns", None) or getattr(frame, "eqns", ())
    return [eqn for one in found if (eqn := one() if callable(one) else one) is not None]
