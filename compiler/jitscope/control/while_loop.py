"""while_loop: repeats a body as long as a condition holds. Forward-mode differentiable alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from .. import tree
from ..core import call_sites, dtypes, source
from ..core.annotations import Array, ArrayLike, PyTree
from ..core.avals import ShapedArray, tangent_aval
from ..core.config import settings
from ..core.effects import moved
from ..core.errors import ConcretizationTypeError, stepped_on
from ..core.jaxpr import ClosedJaxpr, JaxprEqn, Literal, Var, rearranged
from ..core.messages import message_here, with_advice
from ..core.primitive import Discharge, HigherOrder, NewValue
from ..core.staging import jaxpr_as_fun, trace_to_jaxpr
from ..core.trace import using
from ..core.zeros import Zero, is_zero
from ..ops.linear import convert, instantiate, select_n_p
from ..ops.reduce import reduce_or_p
from ..transforms.dce import dce_jaxpr
from ..transforms.jvp import jvp_jaxpr
from ..transforms.linearize import Split, partial_eval_jaxpr
from ..transforms.vmap import vmap_jaxpr
from .bodies import check_leaves, lift_constants, name_of, trace_body
from .call import call
from .carry import handed_on, kept_of, settle_carry, stable
from .cond import beside
from .effects import example_by_example, has_effects, silent


T = TypeVar("T")


__all__ = ["while_loop"]


class While(HigherOrder):
    """Runs `body_jaxpr` (constants, carry → carry) as long as `cond_jaxpr` (constants, carry → bool) gives true.

    Operands: `cond_nconsts` values for the condition, `body_nconsts` for the body, the initial carry. Results: the final
    carry.
    """

    def abstract(self, /, *avals, cond_jaxpr, body_jaxpr, **params):
        effects = cond_jaxpr.effects | body_jaxpr.effects
        if effects:
            c, b = params["cond_nconsts"], params["body_nconsts"]
            of_condition = moved(cond_jaxpr.effects, lambda i: i if i < c else i + b)
            effects = of_condition | moved(body_jaxpr.effects, lambda i: i + c)
        return body_jaxpr.out_avals, effects

    def lower(self, ctx, /, *values, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
        n, avals = cond_nconsts + body_nconsts, [*cond_jaxpr.in_avals[:cond_nconsts], *body_jaxpr.in_avals]

        def going(*state):
            return ctx.inner_jaxpr(cond_jaxpr, [*state[:cond_nconsts], *state[n:]], "cond_jaxpr")

        def body(*state):
            return [*state[:n], *ctx.inner_jaxpr(body_jaxpr, state[cond_nconsts:], "body_jaxpr")]

        return ctx.while_loop(avals, values, going, body, has_effects(cond_jaxpr))[n:]

    def jvp(self, primals, tangents, /, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
        n = cond_nconsts + body_nconsts
        consts, init = [not is_zero(t) for t in tangents[cond_nconsts:n]], [not is_zero(t) for t in tangents[n:]]

        def step(carry_nonzero):
            return jvp_jaxpr(body_jaxpr, [*consts, *carry_nonzero], carry_nonzero)

        (both, _), carry_nonzero = stable(step, lambda found: found[1], init)
        count, carried = body_nconsts, len(init)
        first = count + carried
        of_consts = range(first, first + sum(consts))
        of_carry = range(first + sum(consts), first + sum(consts) + sum(carry_nonzero))
        order = [*range(count), *of_consts, *range(count, first), *of_carry]
        carry_avals = [*cond_jaxpr.in_avals[cond_nconsts:], *[both.in_avals[i] for i in of_carry]]
        condition = rearranged(cond_jaxpr, [*range(cond_nconsts + carried), *carry_avals[carried:]])
        moved_consts = [t for t, m in zip(tangents[cond_nconsts:n], consts) if m]
        nonzero_tangents = [instantiate(t) for t, m in zip(tangents[n:], carry_nonzero) if m]
        outs = self._bind(
            condition, primals[:cond_nconsts], rearranged(both, order), [*primals[cond_nconsts:n], *moved_consts],
            [*primals[n:], *nonzero_tangents],
        )  # fmt: skip
        given = iter(outs[carried:])
        ts = [next(given) if m else Zero(tangent_aval(a)) for m, a in zip(carry_nonzero, body_jaxpr.out_avals)]
        return outs[:carried], ts

    def transpose(self, cts, /, *args, cond_jaxpr, body_jaxpr, **params):
        where = call_sites.here()
        line = source.position_text(where, "\n  the loop is in ")
        error = ValueError(
            with_advice(
                "reverse-mode differentiation (grad, vjp) does not work through while_loop, or fori_loop with bounds known only "
                "when running: the number of iterations, and so the memory for their intermediate values, is not known."
                f"{line}",
                "lax.scan, or lax.fori_loop with bounds that are Python ints; forward mode (jvp, jacfwd); "
                "or a rule of your own (custom_vjp), for a solution of an equation lax.custom_root",
            )
        )
        raise stepped_on(error, "grad-of-while", where)

    def batch(self, axis, args, dims, /, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
        n = cond_nconsts + body_nconsts
        init = [d is not None for d in dims[n:]]

        def step(mapped):
            carried = [0 if m else None for m in mapped]
            _, (going,) = vmap_jaxpr(cond_jaxpr, axis, [*dims[:cond_nconsts], *carried])
            force = [m or going is not None for m in mapped]
            _, outs = vmap_jaxpr(body_jaxpr, axis, [*dims[cond_nconsts:n], *carried], force)
            return [d is not None for d in outs], going is not None

        (_, differs), mapped = stable(step, lambda found: found[0], init)
        if differs and has_effects(cond_jaxpr, body_jaxpr):
            params = {"body_jaxpr": body_jaxpr, "body_nconsts": body_nconsts}
            params |= {"cond_jaxpr": cond_jaxpr, "cond_nconsts": cond_nconsts}
            return example_by_example(self, axis, args, dims, params)
        carried = [0 if m else None for m in mapped]
        carry = [axis.move(x, d, 0) if m else x for x, d, m in zip(args[n:], dims[n:], mapped)]
        condition = vmap_jaxpr(cond_jaxpr, axis, [*dims[:cond_nconsts], *carried], [differs])[0]
        body = vmap_jaxpr(body_jaxpr, axis, [*dims[cond_nconsts:n], *carried], mapped)[0]
        run = self._bind_each if differs else self._bind
        return run(condition, args[:cond_nconsts], body, args[cond_nconsts:n], carry), carried

    def _bind_each(
        self, condition: ClosedJaxpr, cond_consts: Any, body: ClosedJaxpr, body_consts: Any, carry: Any
    ) -> Any:
        """The loop where each example has its own condition: all go on as long as one does, those that are done keep their
        values."""
        first = call(condition, [*cond_consts, *carry], "cond_fun")
        c, b = len(cond_consts), len(body_consts)
        key = ("while each", body, c)

        def step(*flat):
            conds, bodies, (going, *state) = flat[:c], flat[c : c + b], flat[c + b :]
            new = jaxpr_as_fun(body)(*bodies, *state)
            kept = [select_n_p(beside(going, x), old, x) for old, x in zip(state, new)]
            return [*jaxpr_as_fun(condition)(*conds, *kept), *kept]

        if key not in condition.derived:
            avals = [*condition.in_avals[:c], *body.in_avals[:b], condition.out_avals[0], *body.in_avals[b:]]
            any_going = trace_to_jaxpr(lambda going, *_: [reduce_or_p(going, axes=(0,))], avals[c + b :])
            condition.derived[key] = any_going, trace_to_jaxpr(step, avals, body.jaxpr.debug)
        going, stepped = condition.derived[key]
        return self._bind(going, [], stepped, [*cond_consts, *body_consts], [*first, *carry])[1:]

    def partial_eval(self, trace, args, /, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
        n = cond_nconsts + body_nconsts
        known = [trace.is_known(x) for x in args]
        params = {"body_jaxpr": body_jaxpr, "body_nconsts": body_nconsts}
        params |= {"cond_jaxpr": cond_jaxpr, "cond_nconsts": cond_nconsts}

        def step(unknown):
            flags = [*known[cond_nconsts:n], *[not u for u in unknown]]
            return partial_eval_jaxpr(body_jaxpr, flags, unknown)

        split, unknown = stable(step, lambda s: [not k for k in s.out_known], [not k for k in known[n:]])
        decides = _read_by(cond_jaxpr)
        known_condition = all(known[:cond_nconsts]) and not any(
            u and d for u, d in zip(unknown, decides[cond_nconsts:])
        )
        if not known_condition or all(unknown):
            return trace.record(self, args, params)
        # What is known runs now, by itself; the rest runs the whole loop again, since nothing can be kept of each round.
        if not split.unknown.effects:
            params = {**params, "body_jaxpr": silent(body_jaxpr), "cond_jaxpr": silent(cond_jaxpr)}
        staged = trace.record(self, args, params)
        wanted = [not u for u in unknown]
        body, kept = _known_body(split, body_jaxpr, known[cond_nconsts:n], wanted)
        condition = rearranged(
            cond_jaxpr, [*range(cond_nconsts), *[cond_nconsts + i for i, w in enumerate(wanted) if w]]
        )
        consts = [x for x, k in zip(args[cond_nconsts:n], kept) if k]
        with using(trace.parent):
            outs = iter(
                self._bind(condition, args[:cond_nconsts], body, consts, [x for x, w in zip(args[n:], wanted) if w])
            )
        return [next(outs) if w else s for w, s in zip(wanted, staged)]

    def dce(self, used, eqn, /):
        cond_jaxpr, c, body_jaxpr, b = (
            eqn.params[k] for k in ("cond_jaxpr", "cond_nconsts", "body_jaxpr", "body_nconsts")
        )
        decides = _read_by(cond_jaxpr)
        if not any(used) and not eqn.effects:
            return [False] * len(eqn.invars), None

        def step(carry):
            return dce_jaxpr(body_jaxpr, carry, [*[False] * b, *carry])

        start = [u or d for u, d in zip(used, decides[c:])]
        (body, kept), carry = stable(step, lambda found: found[1][b:], start)
        condition = rearranged(cond_jaxpr, [*range(c), *[c + i for i, w in enumerate(carry) if w]])
        params = {**eqn.params, "cond_jaxpr": condition, "body_jaxpr": body, "body_nconsts": sum(kept[:b])}
        keep = [*[True] * c, *kept[:b], *carry]
        invars = [a for a, k in zip(eqn.invars, keep) if k]
        outs = [v if u else Var(v.aval) for v, u in zip(eqn.outvars, used)]
        outs = [v for v, w in zip(outs, carry) if w]
        return keep, JaxprEqn(invars, outs, self, params, eqn.effects, eqn.traceback)

    def discharge(self, refs, pure, /, *, cond_jaxpr, cond_nconsts, body_jaxpr, body_nconsts):
        c, b = cond_nconsts, body_nconsts
        condition, asked = pure(cond_jaxpr)
        body, changed = pure(body_jaxpr)
        if asked:
            raise NotImplementedError(
                message_here("while_loop: the condition changes a reference.", "change it in the body")
            )
        carried = [c + i for i in changed]
        names = [id(refs[k]) for k in carried]
        fixed = [i for i in range(c) if refs[i] is None or id(refs[i]) not in names]
        consts = [c + i for i in range(b) if i not in changed]
        carry = range(c + b, len(refs))
        asks = {id(refs[i]): i for i in range(c) if refs[i] is not None}
        looked_at: list[Any] = [asks.get(name, body.in_avals[k - c]) for name, k in zip(names, carried)]
        outs = len(body_jaxpr.out_avals)
        params = {
            "cond_jaxpr": rearranged(condition, [*fixed, *looked_at, *range(c, c + len(carry))]),
            "cond_nconsts": len(fixed),
            "body_jaxpr": rearranged(
                body,
                [*[k - c for k in (*consts, *carried)], *range(b, b + len(carry))],
                [*range(outs, outs + len(changed)), *range(outs)],
            ),
            "body_nconsts": len(consts),
        }
        return Discharge([*fixed, *consts, *carried, *carry], params, [*map(NewValue, carried), *range(outs)])

    def _bind(self, condition: ClosedJaxpr, cond_consts: Any, body: ClosedJaxpr, body_consts: Any, carry: Any) -> Any:
        """Bind with what the programs captured as further constants."""
        of_condition, (condition,) = lift_constants([condition])
        of_body, (body,) = lift_constants([body])
        return self.bind(
            *of_condition,
            *cond_consts,
            *of_body,
            *body_consts,
            *carry,
            body_jaxpr=body,
            body_nconsts=len(of_body) + len(body_consts),
            cond_jaxpr=condition,
            cond_nconsts=len(of_condition) + len(cond_consts),
        )


def _known_body(
    split: Split, whole: ClosedJaxpr, consts: Sequence[bool], wanted: Sequence[bool]
) -> tuple[ClosedJaxpr, list[bool]]:
    """A program like `whole`, a body, with the results in `wanted` and the effects of its known part alone, and which
    arguments it takes: none that is unknown."""
    keep = [*[False] * len(consts), *wanted]
    if not whole.effects:
        body, kept = dce_jaxpr(whole, wanted, keep)
        # A call inside may take, and not read, what is unknown.
        if not any(k and not known for k, known in zip(kept, [*consts, *wanted])):
            return body, kept
    at = iter(range(len(split.known.in_avals)))
    arguments = [next(at) if k else aval for k, aval in zip([*consts, *wanted], whole.in_avals)]
    given = iter(range(sum(wanted)))
    results: list[Any] = [next(given) if w else Literal(0, a) for w, a in zip(wanted, whole.out_avals)]
    return dce_jaxpr(rearranged(split.known, arguments, results), wanted, keep)


def _read_by(closed: ClosedJaxpr) -> list[bool]:
    read = set(closed.jaxpr.read_arguments())
    return [i in read for i in range(len(closed.in_avals))]


while_p = While("while")


@overload
def while_loop(
    cond_fun: Callable[[Array], ArrayLike], body_fun: Callable[[Array], ArrayLike], init_val: ArrayLike
) -> Array: ...
@overload
def while_loop(cond_fun: Callable[[T], ArrayLike], body_fun: Callable[[T], T], init_val: T) -> T: ...
def while_loop(cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: PyTree) -> PyTree:
    """`val = init_val; while cond_fun(val): val = body_fun(val)`, compiled; gives the last `val`.

    `init_val` is a tree of arrays; `body_fun` gives one of the same structure, shapes and dtypes, `cond_fun` a boolean
    scalar. Differentiable in forward mode; reverse mode raises ValueError, use `scan` or `fori_loop` with known bounds.
    Raises TypeError where the body gives another carry than it took, or the condition is not a boolean scalar.

    >>> lax.while_loop(lambda x: x < 100, lambda x: 2 * x, 3)
    Array(192, dtype=int32, weak_type=True)
    """
    for name, f in (("cond_fun", cond_fun), ("body_fun", body_fun)):
        if not callable(f):
            raise TypeError(f"while_loop: {name} must be a function; it is of type {type(f).__name__}")
    if settings().disable_jit:
        try:
            return _python_while(cond_fun, body_fun, init_val)
        except ConcretizationTypeError:
            pass  # examples of a vmap have conditions of their own
    leaves, in_tree = tree.flatten(init_val)
    avals = check_leaves(leaves, init_val, "while_loop: init_val has, at init_val")
    whole = tree.structure((init_val,))

    def trace(avals: Sequence[ShapedArray]) -> Any:
        return trace_body(body_fun, whole, avals)

    body, leaves = settle_carry("while_loop", body_fun, trace, leaves, avals, in_tree, lambda _, out: out)
    condition = trace_body(cond_fun, whole, body.closed.in_avals)
    _check_condition(cond_fun, condition)
    captured, (closed,) = lift_constants([body.closed])
    read, first = condition.closed.jaxpr.read_arguments(), len(captured)
    constant = [i for i in handed_on(closed, first, leaves) if i not in read]
    kept = [i for i in range(len(leaves)) if i not in constant]
    order = [*[first + i for i in constant], *range(first), *[first + i for i in kept]]
    outs = list(leaves)
    consts = [*[leaves[i] for i in constant], *captured]
    condition_of_kept, body_of_kept = kept_of(condition.closed, kept, [0]), kept_of(closed, order, kept)
    found = while_p._bind(condition_of_kept, [], body_of_kept, consts, [leaves[i] for i in kept])
    for i, x in zip(kept, found):
        outs[i] = x
    return in_tree.unflatten(outs)


def _check_condition(cond_fun: Any, condition: Any) -> None:
    avals = condition.closed.out_avals
    if condition.out_tree != tree.structure(0) or avals[0].shape or avals[0].dtype != dtypes.bool_:
        found = avals[0].short() if condition.out_tree == tree.structure(0) else f"a tree {condition.out_tree}"
        raise TypeError(
            f"while_loop: {name_of(cond_fun)} must return one boolean, bool[]; it returned {found}. "
            "Compare (x > 0), and reduce arrays with jnp.any or jnp.all"
        )


def _python_while(cond_fun: Any, body_fun: Any, init: Any) -> Any:
    """The loop in Python, over arrays: what the body does to them in place is not done to the caller's."""
    leaves, structure = tree.flatten(init)
    avals = check_leaves(leaves, init, "while_loop: init_val has, at init_val")
    value = structure.unflatten([convert(x, a.dtype, a.weak_type) for x, a in zip(leaves, avals)])
    while cond_fun(value):
        value = body_fun(value)
    return value
