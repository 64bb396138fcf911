"""custom_vmap: functions whose mapped form is a rule the user gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from .. import tree
from ..core.avals import ShapedArray, aval_of, tangent_aval
from ..core.jaxpr import ClosedJaxpr, JaxprEqn
from ..core.staging import jaxpr_as_fun, trace_to_jaxpr
from ..core.trace import evaluating
from ..core.zeros import Zero, is_zero, zero_of
from ..ops.linear import convert, instantiate
from ..transforms.dce import dce_jaxpr
from ..transforms.jvp import JVPTracer, jvp_flat, jvp_jaxpr
from ..transforms.vmap import BatchAxis, vmap_flat
from .bodies import lift_constants, name_of
from .call import jit_p
from .custom_function import FlatCall, FunctionWithRules
from .fori_loop import map as map_in_order
from .rule_arguments import Arguments, Results, result_avals
from .rule_call import NamedCall, closed_over
from .rule_values import call_rule, called_like, pair_of


P = ParamSpec("P")
S = TypeVar("S")


__all__ = ["custom_vmap", "sequential_vmap"]


Rule = Callable[[int, Sequence[bool], Sequence[Any]], tuple[list[Any], list[bool]]]
"""The size of the axis, which operands are mapped (along axis 0), and the operands, to flat results and which of them
are mapped (along axis 0)."""


class CustomVmapCall(NamedCall):
    """Runs the program `fun` (which captures nothing); where its operands are mapped, `rule` runs in its place."""

    def jvp(self, primals, tangents, /, *, fun, rule, name):
        # Results and their tangents are calls of their own, so that linearize can run one now and keep the other.
        outs = self.bind(*primals, fun=fun, rule=rule, name=name)
        nonzero = [not is_zero(t) for t in tangents]
        both, out_nonzero = jvp_jaxpr(fun, nonzero)
        wanted = [False] * len(outs) + [True] * sum(out_nonzero)
        consts, (pushed,) = lift_constants([dce_jaxpr(both, wanted, [True] * len(both.in_avals))[0]])
        rule_of_ts = called_like(_rule_of_tangents(rule, pushed, len(consts), nonzero, out_nonzero), rule)
        nonzero_tangents = [t for t in tangents if not is_zero(t)]
        ts = iter(self.bind(*consts, *primals, *nonzero_tangents, fun=pushed, rule=rule_of_ts, name=name))
        return outs, [next(ts) if m else Zero(tangent_aval(a)) for m, a in zip(out_nonzero, fun.out_avals)]

    def batch(self, axis, args, dims, /, *, fun, rule, name):
        batched = [d is not None for d in dims]
        values = [x if d is None else axis.move(x, d, 0) for x, d in zip(args, dims)]
        outs, out_batched = rule(axis.size, batched, values)
        return outs, [0 if b else None for b in out_batched]

    def partial_eval(self, trace, args, /, *, fun, rule, name):
        # The two parts are programs as any other: the rule says nothing of them.
        return jit_p.partial_eval(trace, args, jaxpr=fun, name=name)

    def dce(self, used, eqn, /):
        fun, _ = dce_jaxpr(eqn.params["fun"], used, [True] * len(eqn.invars))
        rule = eqn.params["rule"]

        def rule_of_used(size, batched, args):
            outs, out_batched = rule(size, batched, args)
            return [x for x, u in zip(outs, used) if u], [b for b, u in zip(out_batched, used) if u]

        params = {**eqn.params, "fun": fun, "rule": called_like(rule_of_used, rule)}
        outvars = [v for v, u in zip(eqn.outvars, used) if u]
        return [True] * len(eqn.invars), JaxprEqn(eqn.invars, outvars, self, params, fun.effects, eqn.traceback)

    def shown_params(self, params):
        return {"name": params["name"], "call": params["fun"], "rule": params["rule"]}


custom_vmap_call_p = CustomVmapCall("custom_vmap_call")


def _rule_of_tangents(
    rule: Rule, pushed: ClosedJaxpr, skip: int, nonzero: Sequence[bool], out_nonzero: Sequence[bool]
) -> Rule:
    """The rule for the tangents of the results, `pushed`: the derivative of the rule for the results. Its operands are
    `skip` captured values, the primals, and the tangents that are not zero."""
    n = len(nonzero)

    def tangents_of_rule(size, batched, args):
        axis = BatchAxis(None, size)
        primals, mapped = list(args[skip : skip + n]), list(batched[skip : skip + n])
        if not any(mapped):
            # Mapped tangents alone: the function is linear in them, and a program as any other.
            outs, dims = vmap_flat(jaxpr_as_fun(pushed), axis, args, [0 if b else None for b in batched])
            return [axis.move(x, d, 0) if d is not None else x for x, d in zip(outs, dims)], [
                d is not None for d in dims
            ]
        given = iter(zip(args[skip + n :], batched[skip + n :]))
        tangents: list[Any] = []
        for i, nz in enumerate(nonzero):
            t, t_mapped = next(given) if nz else (None, mapped[i])
            if t_mapped and not mapped[i]:
                primals[i], mapped[i] = axis.move(primals[i], None, 0), True
            elif mapped[i] and not t_mapped:
                t = axis.move(t, None, 0)
            tangents.append(t if nz else zero_of(primals[i]))
        out_mapped: list[bool] = []

        def flat(*values):
            outs, found = rule(size, mapped, values)
            out_mapped[:] = found
            return outs

        _, ts = jvp_flat(flat, primals, tangents)
        return [instantiate(t) for t, m in zip(ts, out_nonzero) if m], [b for b, m in zip(out_mapped, out_nonzero) if m]

    return tangents_of_rule


class _FlatRule:
    """The user's rule on flat operands, in one call. The first operands are what the function captured: the rule does
    not get them, so they can be neither mapped nor differentiated."""

    __slots__ = ("arguments", "avals", "captured", "name", "results", "rule")

    def __init__(
        self, owner: custom_vmap, arguments: Arguments, results: Results, captured: int, avals: list[ShapedArray]
    ):
        self.rule, self.name = owner.vmap_rule, name_of(owner.fun)
        self.arguments, self.results = arguments, results
        self.captured, self.avals = captured, avals

    def __call__(self, size: int, batched: Sequence[bool], args: Sequence[Any]) -> tuple[list[Any], list[bool]]:
        n, rule = self.captured, self.rule
        assert rule is not None
        if any(batched[:n]) or any(isinstance(x, JVPTracer) for x in args[:n]):
            raise closed_over(self.name)
        what = f"the vmap rule {name_of(rule)} of {self.name}"
        out = call_rule(rule, size, list(self.arguments.trees(batched[n:])), *self.arguments.trees(args[n:]))
        return self._checked(size, out, what)

    def _checked(self, size: int, out: Any, what: str) -> tuple[list[Any], list[bool]]:
        result, out_batched = pair_of(out, what, "the result and which of its arrays are mapped")
        outs, structure = tree.flatten(result)
        mapped, mapped_structure = tree.flatten(out_batched)
        if structure != self.results.tree:
            raise ValueError(
                f"{what} returned a result of structure {structure}, the function one of {self.results.tree}"
            )
        if mapped_structure != structure or not all(isinstance(b, bool) for b in mapped):
            raise ValueError(
                f"{what} must say of each array of its result whether it is mapped, as a bool in a tree of structure "
                f"{structure}; it returned {mapped_structure}"
            )
        avals = result_avals(outs, result, f"{what} returned")
        for own, aval, b, path in zip(avals, self.avals, mapped, tree.leaf_paths(result) if outs else ()):
            shape = (size, *aval.shape) if b else aval.shape
            if (own.shape, own.dtype) != (shape, aval.dtype):
                wanted = aval.update(shape=shape).short()
                raise ValueError(
                    f"{what} returned {own.short()} at result{path}, {'' if b else 'not '}mapped; it must be {wanted}: the "
                    f"function gives {aval.short()}"
                    + (f", and the mapped axis of size {size} comes first" if b else "")
                )
        return outs, mapped

    def __repr__(self) -> str:
        return name_of(self.rule)


class custom_vmap(FunctionWithRules, Generic[P, S]):
    """Decorator: a function whose mapped form is a rule given with `def_vmap`. Without vmap it is the function itself.

    Under derivatives the rule is differentiated as the function is. The function is traced when it meets a
    transformation. Raises AttributeError when it is called before it has a rule.
    """

    kind = "custom_vmap"

    def __init__(self, fun: Callable[P, S]):
        super().__init__(fun)
        self.vmap_rule: Callable[..., Any] | None = None

    def def_vmap(self, vmap_rule: Callable[..., Any]) -> Callable[..., Any]:
        """Set the rule: `vmap_rule(axis_size, in_batched, *args)` gives (result, out_batched). `in_batched` is a list
        with, for each argument, a tree of bools: whether its arrays are mapped, along axis 0; `out_batched` is such a
        tree for the result. Also a decorator."""
        self.vmap_rule = vmap_rule
        return vmap_rule

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> S:
        name = name_of(self.fun)
        if self.vmap_rule is None:
            raise AttributeError(f"the custom_vmap function {name} has no rule yet: give it one with def_vmap")
        arguments, flat = self.split(self.positional(args, kwargs))
        if evaluating():  # numbers are weak arrays, as where the function is traced
            arrays = [convert(x, aval_of(x).dtype, aval_of(x).weak_type) for x in flat]
            return self.fun(*arguments.trees(arrays))
        results = Results()
        run = FlatCall(self, arguments, results)
        closed = trace_to_jaxpr(run, [aval_of(x) for x in flat], run.debug)
        consts, (closed,) = lift_constants([closed])
        rule = _FlatRule(self, arguments, results, len(consts), closed.out_avals)
        outs = custom_vmap_call_p.bind(*consts, *flat, fun=closed, rule=rule, name=name)
        return results.tree.unflatten(outs)


def sequential_vmap(f: Callable[..., Any]) -> custom_vmap:
    """Decorator: a function that vmap runs for one example after the other, in a loop."""
    mapped = custom_vmap(f)

    @mapped.def_vmap
    def one_by_one(axis_size: int, in_batched: list[Any], *args: Any) -> tuple[Any, Any]:
        leaves, structure = tree.flatten(args)
        flags = tree.leaves(tuple(in_batched))

        def one(mapped_args: list[Any]) -> Any:
            given = iter(mapped_args)
            return mapped(*structure.unflatten([next(given) if b else x for x, b in zip(leaves, flags)]))

        out = map_in_order(one, [x for x, b in zip(leaves, flags) if b])
        return out, tree.map(lambda _: True, out)

    return mapped
