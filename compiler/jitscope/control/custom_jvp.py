"""custom_jvp: functions whose forward derivative is a rule the user gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from .. import tree
from ..core.avals import aval_of, tangent_aval
from ..core.trace import evaluating
from ..core.zeros import Zero, is_zero, zero_of
from ..ops.families import add_tangents
from ..ops.linear import convert_element_type_p, instantiate
from ..transforms.vmap import vmap_flat
from .bodies import name_of
from .custom_function import FlatCall, FunctionWithRules
from .rule_arguments import Arguments, Results
from .rule_call import CustomJVPException, ResultAxes, RuledCall, refuse_captured, rule_operands
from .rule_values import SymbolicZero, as_zero, call_rule, called_like, pair_of, settled_results, vary_unlike


P = ParamSpec("P")
S = TypeVar("S")


__all__ = ["custom_jvp", "custom_jvp_call_p"]


Rule = Callable[[Sequence[Any], Sequence[Any]], tuple[list[Any], list[Any]]]
"""Flat primals and tangents to flat results and their tangents; tangents may be Zero."""


class CustomJVPCall(RuledCall):
    """A call of `fun` with the rule `jvp` in place of its derivative."""

    def jvp(self, primals, tangents, /, *, fun, jvp, name, num_consts, symbolic_zeros):  # pyright: ignore
        refuse_captured(name, tangents[:num_consts], CustomJVPException)
        outs, ts = jvp(rule_operands(fun, primals[num_consts:]), tangents[num_consts:])
        return settled_results(outs, fun, f"the JVP rule of {name}"), ts

    def mapped_rules(self, axis, dims, settled, /, *, jvp, **params):
        return {"jvp": _mapped(jvp, axis, dims, settled)}

    def rules_of_used(self, used, /, *, jvp, **params):
        def jvp_of_used(primals, tangents):
            outs, ts = jvp(primals, tangents)
            return [x for x, u in zip(outs, used) if u], [t for t, u in zip(ts, used) if u]

        return {"jvp": called_like(jvp_of_used, jvp)}


custom_jvp_call_p = CustomJVPCall("custom_jvp_call")


def _mapped(jvp: Rule, axis: Any, dims: Sequence[int | None], settled: ResultAxes) -> Rule:
    """The rule for all examples."""

    def jvp_of_all(primals, tangents):
        nonzero = [not is_zero(t) for t in tangents]
        zero: list[bool] = []

        def flat(*values):
            given = iter(values[len(dims) :])
            ps = values[: len(dims)]
            outs, ts = jvp(ps, [next(given) if m else zero_of(p) for p, m in zip(ps, nonzero)])
            zero.extend(map(is_zero, ts))
            return [*outs, *[t for t in ts if not is_zero(t)]]

        values = [*primals, *[t for t in tangents if not is_zero(t)]]
        found, at = vmap_flat(flat, axis, values, [*dims, *[d for d, m in zip(dims, nonzero) if m]])
        n = len(zero)
        outs = settled.place(found[:n], at[:n])
        out_dims = [d for d, z in zip(settled.dims, zero) if not z]
        ts = iter(settled.place_like(found[n:], at[n:], out_dims))
        return outs, [zero_of(x) if z else next(ts) for x, z in zip(outs, zero)]

    return called_like(jvp_of_all, jvp)


class _FlatRule:
    """The user's rule on flat operands, in one call."""

    __slots__ = ("arguments", "name", "results", "rule", "symbolic_zeros")

    def __init__(self, owner: custom_jvp, arguments: Arguments, results: Results):
        self.rule, self.symbolic_zeros, self.name = owner.jvp, owner.symbolic_zeros, name_of(owner.fun)
        self.arguments, self.results = arguments, results

    def __call__(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        given, rule = self.arguments, self.rule
        assert rule is not None
        written = SymbolicZero if self.symbolic_zeros else lambda aval: instantiate(Zero(aval))
        tangents_given = [written(t.aval) if is_zero(t) else _weak(t) if aval_of(t).weak_type else t for t in tangents]
        out = call_rule(rule, *given.set_apart(primals), given.trees(primals), given.trees(tangents_given))
        return self._checked(out, f"the JVP rule {name_of(rule)} of {self.name}")

    def _checked(self, out: Any, what: str) -> tuple[list[Any], list[Any]]:
        result, tangent = pair_of(out, what, "the result and its tangent")
        outs = self.results.flatten(result, f"{what} gives")
        ts, structure = tree.flatten(tangent, is_zero)  # `interpreters.ad` makes zeros trees without leaves
        if structure != self.results.tree:
            raise TypeError(
                f"{what} returned a result of structure {self.results.tree} and a tangent of structure {structure}; "
                "they must be equal. For a result that does not depend on the arguments, return zeros as its tangent"
            )
        paths = tree.leaf_paths(result) if outs else []
        return outs, [
            _checked_tangent(self.rule, x, t, f"{what} returned, at result{path},")
            for x, t, path in zip(outs, ts, paths)
        ]

    def __repr__(self) -> str:
        return name_of(self.rule)


def _weak(t: Any) -> Any:
    """A weak tangent, such that what flows back to it is weak, whatever the rule combines it with."""
    return convert_element_type_p(t, new_dtype=aval_of(t).dtype, weak_type=True)


def _checked_tangent(rule: Any, out: Any, t: Any, what: str) -> Any:
    wanted = tangent_aval(aval_of(out))
    if isinstance(t, SymbolicZero):
        t = Zero(t.aval)
    aval = t.aval if is_zero(t) else aval_of(t)
    if (aval.shape, aval.dtype) != (wanted.shape, wanted.dtype) or (not is_zero(t) and vary_unlike(rule, aval, wanted)):
        raise TypeError(
            f"{what} {aval_of(out).short()} with a tangent {aval.short()}; the tangent must be {wanted.short()}"
        )
    return Zero(wanted) if is_zero(t) else as_zero(t)


class custom_jvp(FunctionWithRules, Generic[P, S]):
    """Decorator: a function whose derivative, forward and (by transposing that) reverse, is a rule given with `defjvp`
    or `defjvps`.

    Arguments in `nondiff_argnums` or `nondiff_argnames` are not differentiated and may be anything (functions, text);
    the rule gets them first. The rule must be linear in the tangents. Under vmap, rule and function are mapped. Raises
    AttributeError when it is called before it has a rule, TypeError where the rule's results do not fit the function's.
    """

    kind = "custom_jvp"
    advice = " Name it in nondiff_argnums if no derivative with respect to it is meant"

    def __init__(
        self, fun: Callable[P, S], nondiff_argnums: int | Sequence[int] = (), nondiff_argnames: str | Sequence[str] = ()
    ):
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.jvp: Callable[..., Any] | None = None
        self.symbolic_zeros = False

    def defjvp(self, jvp: Callable[..., Any], symbolic_zeros: bool = False) -> Callable[..., Any]:
        """Set the rule: `jvp(primals, tangents)`, two tuples as long as the arguments, gives (result, tangent). Also a
        decorator. Arguments not differentiated come first, one by one. With `symbolic_zeros` tangents that are zero
        arrive as `SymbolicZero`, and may be returned as such; otherwise they are arrays of zeros (of dtype float0 for
        integers).
        """
        self.jvp, self.symbolic_zeros = jvp, symbolic_zeros
        return jvp

    def defjvps(self, *jvps: Callable[..., Any] | None) -> None:
        """Set the rule by one function for each argument, `jvp_i(tangent, result, *primals)`, of which the results are
        added; None: the result does not depend on the argument. Raises TypeError with nondiff_argnums; a call with
        another number of arguments raises ValueError."""
        if self.nondiff_argnums:
            raise TypeError(
                f"defjvps has one rule for each argument, so it does not go with nondiff_argnums: give "
                f"{name_of(self.fun)} one rule for all with defjvp"
            )

        def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
            if len(jvps) != len(primals):
                raise ValueError(
                    f"{name_of(self.fun)} was called with {len(primals)} arguments; defjvps gave {len(jvps)} rules. "
                    "None stands for an argument that the result does not depend on"
                )
            out = self(*primals)  # pyright: ignore[reportCallIssue]
            total = tree.map(zero_of, out)
            for jvp, t in zip(jvps, tangents):
                if jvp is not None:
                    total = tree.map(
                        lambda a, b: add_tangents(a, as_zero(b)), total, jvp(t, out, *primals), is_leaf=is_zero
                    )
            return out, tree.map(instantiate, total, is_leaf=is_zero)

        rule.__name__ = f"{name_of(self.fun)}_jvps"
        self.defjvp(rule)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> S:
        name = name_of(self.fun)
        if self.jvp is None:
            raise AttributeError(f"the custom_jvp function {name} has no rule yet: give it one with defjvp")
        given = self.positional(args, kwargs)
        if evaluating():
            return self.fun(*given)
        arguments, flat = self.split(given)
        results = Results()
        outs = custom_jvp_call_p.bind(
            *flat,
            fun=FlatCall(self, arguments, results),
            jvp=_FlatRule(self, arguments, results),
            name=name,
            num_consts=0,
            symbolic_zeros=self.symbolic_zeros,
        )
        return results.tree.unflatten(outs)
