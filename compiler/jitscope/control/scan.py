"""scan: a loop over the leading axis of arrays with a carried value, its rules and the function users call."""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy as np

from .. import tree
from ..core import users_source
from ..core.annotations import Array, ArrayLike, PyTree
from ..core.avals import ShapedArray, aval_of, cotangent_aval, tangent_aval
from ..core.config import settings
from ..core.errors import ConcretizationTypeError, stepped_on
from ..core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, rearranged
from ..core.part_types import laid_of
from ..core.primitive import Discharge, HigherOrder, NewValue
from ..core.references import ReferenceAval
from ..core.staging import literal_value, trace_to_jaxpr
from ..core.trace import using
from ..core.zeros import UndefinedPrimal, Zero, is_linear, is_zero
from ..ops.families import add_tangents
from ..ops.linear import concatenate_p, instantiate, reshape_p, slice_in_dim, zeros
from ..symbolic.dimension import is_symbolic_dim
from ..transforms.dce import dce_jaxpr
from ..transforms.jvp import jvp_jaxpr
from ..transforms.linearize import Split, partial_eval_jaxpr
from ..transforms.transpose import backward_pass
from ..transforms.vmap import vmap_jaxpr
from ..xla.choice import chosen
from ..xla.cpu_tuning import STENCILS_IN_TWO_TURNS
from .bodies import check_leaves, lift_constants, name_of, trace_body
from .call import call
from .carry import handed_on, kept_of, settle_carry, stable
from .discharge import value_aval
from .two_turns import beside_the_states_before, between_iterations, in_two_turns


Carry = TypeVar("Carry")
Y = TypeVar("Y")


__all__ = ["scan"]


def _spread(flags: Sequence[Any], *counts: int) -> list[list[Any]]:
    """A flat list in consecutive parts; the last takes the rest."""
    parts, start = [], 0
    for count in counts:
        parts.append(list(flags[start : start + count]))
        start += count
    return [*parts, list(flags[start:])]


class Scan(HigherOrder):
    """Runs `jaxpr` (constants, carry, x → carry, y) `length` times, from the last element if `reverse`.

    Operands: `num_consts` values that stay the same, `num_carry` initial values of the carry, and the arrays whose elements
    are the x. Results: the final carry, and the y of all iterations, stacked. `unroll` iterations stand in one of the
    compiled loop.
    """

    def abstract(self, /, *avals, jaxpr, length, num_carry, **params):
        carry, ys = _spread(jaxpr.out_avals, num_carry)
        return [*carry, *[_stacked(y, length) for y in ys]], jaxpr.effects

    def lower(self, ctx, /, *values, jaxpr, length, reverse, unroll, num_consts, num_carry):
        consts, carry, xs = _spread(values, num_consts, num_carry)
        unroll = 1 if is_symbolic_dim(length) else chosen().unroll or unroll
        twice = unroll == 1 and in_two_turns(ctx, jaxpr, range(num_consts, num_consts + num_carry), length)
        own = num_carry
        if twice:
            jaxpr, before = beside_the_states_before(jaxpr, num_consts, num_carry)
            carry, num_carry = [*carry, *(carry[place] for place in before)], num_carry + len(before)
        x_avals, y_avals = jaxpr.in_avals[num_consts + num_carry :], jaxpr.out_avals[num_carry:]
        carry_avals = jaxpr.out_avals[:num_carry]
        ys = [ctx.zeros(_stacked(y, length)) for y in y_avals]

        def iteration(i, consts, carry, xs, ys):
            elements = [ctx.element(x, aval, i) for x, aval in zip(xs, x_avals)]
            outs = ctx.inner_jaxpr(jaxpr, [*consts, *carry, *elements])
            ys = [ctx.with_element(y, new, aval, i) for y, new, aval in zip(ys, outs[num_carry:], y_avals)]
            return outs[:num_carry], ys

        def place(i, step):
            """The index of the element for the iteration `step` after number `i`."""
            i = ctx.hlo.add(i, ctx.scalar(step, np.int32)) if step else i
            return ctx.hlo.subtract(ctx.count(length - 1), i) if reverse else i

        if twice:
            unroll = 2
            ctx.rewritten(
                "written with two iterations in a turn: what is carried is read at neighbouring places",
                STENCILS_IN_TWO_TURNS,
            )
        rounds = length if is_symbolic_dim(length) else length // unroll if unroll < length else 0
        if is_symbolic_dim(length) or rounds:
            avals = [_COUNTER, *jaxpr.in_avals[:num_consts], *carry_avals]
            avals += [_stacked(a, length) for a in (*x_avals, *y_avals)]
            sizes = (1, num_consts, num_carry, len(x_avals))

            def body(*state):
                (i,), consts, carry, xs, ys = _spread(state, *sizes)
                for step in range(unroll):
                    carry = between_iterations(ctx, carry, carry_avals) if twice and step else carry
                    carry, ys = iteration(place(i, step), consts, carry, xs, ys)
                return [ctx.hlo.add(i, ctx.scalar(unroll, np.int32)), *consts, *carry, *xs, *ys]

            start = [ctx.scalar(0, np.int32), *consts, *carry, *xs, *ys]
            found = ctx.while_loop(avals, start, lambda i, *_: ctx.compare(i, ctx.count(rounds * unroll), "LT"), body)
            _, consts, carry, xs, ys = _spread(found, *sizes)
        for step in () if is_symbolic_dim(length) else range(rounds * unroll, length):
            carry, ys = iteration(place(ctx.scalar(step, np.int32), 0), consts, carry, xs, ys)
        return [*carry[:own], *ys]

    def jvp(self, primals, tangents, /, *, jaxpr, num_consts, num_carry, **params):
        consts, carry, xs = _spread([not is_zero(t) for t in tangents], num_consts, num_carry)
        num_ys = len(jaxpr.out_avals) - num_carry

        def step(carry_nonzero):
            return jvp_jaxpr(jaxpr, [*consts, *carry_nonzero, *xs], [*carry_nonzero, *[False] * num_ys])

        (both, out_nonzero), carry = stable(step, lambda found: found[1][:num_carry], carry)
        nonzero = [*consts, *carry, *xs]
        n, m = len(primals), len(jaxpr.out_avals)
        places = iter(range(n, n + sum(nonzero)))
        tangent_at = [next(places) if nz else None for nz in nonzero]
        order = _interleaved(tangent_at, num_consts, num_carry)
        out_places = iter(range(m, m + sum(out_nonzero)))
        out_at = [next(out_places) if nz else None for nz in out_nonzero]
        out_order = _interleaved(out_at, num_carry)
        full = [*primals, *[instantiate(t) for t, nz in zip(tangents, nonzero) if nz]]
        nonzero_consts, nonzero_carry = sum(consts), sum(carry)
        outs = self._bind(
            rearranged(both, order, out_order),
            [full[i] for i in order],
            num_consts + nonzero_consts,
            num_carry + nonzero_carry,
            **params,
        )
        found = dict(zip(out_order, outs))
        ts = [Zero(tangent_aval(aval_of(found[i]))) if at is None else found[at] for i, at in enumerate(out_at)]
        return [found[i] for i in range(m)], ts

    def transpose(self, cts, /, *args, jaxpr, num_consts, num_carry, reverse, **params):
        consts, _, xs = _spread([is_linear(a) for a in args], num_consts, num_carry)
        linear = [*consts, *[True] * num_carry, *xs]
        ct_carry, ct_ys = _spread(cts, num_carry)
        given = [not is_zero(ct) for ct in ct_ys]
        num_linear = sum(consts)
        const_avals, carry_avals, x_avals = _spread(jaxpr.in_avals, num_consts, num_carry)
        fixed_consts = [a for a, lin in zip(const_avals, consts) if not lin]
        fixed_xs = [a for a, lin in zip(x_avals, xs) if not lin]
        totals = [a for a, lin in zip(const_avals, consts) if lin]
        y_avals = jaxpr.out_avals[num_carry:]

        def body(*flat):
            fixed, sums, carried, elements, ys = _spread(flat, len(fixed_consts), num_linear, num_carry, len(fixed_xs))
            known, known_xs, found_ys = iter(fixed), iter(elements), iter(ys)
            operands = [next(known) if not lin else UndefinedPrimal(a) for a, lin in zip(const_avals, consts)]
            operands += [UndefinedPrimal(a) for a in carry_avals]
            operands += [next(known_xs) if not lin else UndefinedPrimal(a) for a, lin in zip(x_avals, xs)]
            full = [*carried, *[next(found_ys) if g else Zero(cotangent_aval(a)) for g, a in zip(given, y_avals)]]
            found = backward_pass(jaxpr.jaxpr, jaxpr.consts, operands, full)
            wanted = [ct for ct, lin in zip(found, linear) if lin]
            of_consts, of_carry, of_xs = _spread(wanted, num_linear, num_carry)
            sums = [add_tangents(total, ct) for total, ct in zip(sums, of_consts)]
            return [*sums, *map(instantiate, [*of_carry, *of_xs])]

        avals = [*fixed_consts, *map(cotangent_aval, [*totals, *carry_avals]), *fixed_xs]
        avals += [cotangent_aval(a) for a, g in zip(y_avals, given) if g]
        key = ("scan transpose", tuple(linear), tuple(given))
        if key not in jaxpr.derived:
            jaxpr.derived[key] = trace_to_jaxpr(body, avals, jaxpr.jaxpr.debug)
        const_args, init_args, x_args = _spread(args, num_consts, num_carry)
        operands = [x for x, lin in zip(const_args, consts) if not lin]
        operands += [zeros(cotangent_aval(a)) for a in totals] + [instantiate(ct) for ct in ct_carry]
        operands += [x for x, lin in zip(x_args, xs) if not lin] + [ct for ct, g in zip(ct_ys, given) if g]
        outs = self._bind(
            jaxpr.derived[key], operands, len(fixed_consts), num_linear + num_carry, reverse=not reverse, **params
        )
        of_consts, of_carry, of_xs = map(iter, _spread(outs, num_linear, num_carry))
        results = [next(of_consts) if lin else None for lin in consts]
        results += [ct if is_linear(x) else None for ct, x in zip(of_carry, init_args)]
        return [*results, *[next(of_xs) if lin else None for lin in xs]]

    def batch(self, axis, args, dims, /, *, jaxpr, num_consts, num_carry, **params):
        consts, init, xs = _spread(dims, num_consts, num_carry)
        num_ys = len(jaxpr.out_avals) - num_carry
        inner = [None if d is None else 0 if d == 0 else d - 1 for d in xs]

        def step(mapped):
            carried = [0 if m else None for m in mapped]
            return vmap_jaxpr(jaxpr, axis, [*consts, *carried, *inner], [*mapped, *[False] * num_ys])

        (batched, out_dims), mapped = stable(
            step, lambda found: [d is not None for d in found[1][:num_carry]], [d is not None for d in init]
        )
        const_args, init_args, x_args = _spread(args, num_consts, num_carry)
        carry = [axis.move(x, d, 0) if m else x for x, d, m in zip(init_args, init, mapped)]
        moved = [axis.move(x, d, 1) if d == 0 else x for x, d in zip(x_args, xs)]
        outs = self._bind(batched, [*const_args, *carry, *moved], num_consts, num_carry, **params)
        dims_out = [0 if m else None for m in mapped] + [None if d is None else d + 1 for d in out_dims[num_carry:]]
        return outs, dims_out

    def partial_eval(self, trace, args, /, *, jaxpr, num_consts, num_carry, **params):
        consts, init, xs = _spread([trace.is_known(x) for x in args], num_consts, num_carry)
        num_ys = len(jaxpr.out_avals) - num_carry

        def step(unknown):
            known = [*consts, *[not u for u in unknown], *xs]
            return partial_eval_jaxpr(jaxpr, known, [*unknown, *[False] * num_ys])

        split, unknown = stable(step, lambda s: [not k for k in s.out_known[:num_carry]], [not k for k in init])
        known = [*consts, *[not u for u in unknown], *xs]
        return _Parts(self, trace, args, split, known, num_consts, num_carry, params).bind()

    def dce(self, used, eqn, /):
        jaxpr, num_consts, num_carry = (eqn.params[n] for n in ("jaxpr", "num_consts", "num_carry"))
        used_carry, used_ys = _spread(used, num_carry)

        def step(carry):
            keep = [*[False] * num_consts, *carry, *[False] * (len(eqn.invars) - num_consts - num_carry)]
            return dce_jaxpr(jaxpr, [*carry, *used_ys], keep)

        (smaller, kept), used_carry = stable(
            step, lambda found: found[1][num_consts : num_consts + num_carry], used_carry
        )
        if not any(kept) and not any(used) and not smaller.effects:
            return [False] * len(eqn.invars), None
        outs = [v if u else Var(v.aval) for v, u in zip(eqn.outvars[:num_carry], used[:num_carry])]
        outs = [v for v, u in zip(outs, used_carry) if u]
        outs += [v for v, u in zip(eqn.outvars[num_carry:], used_ys) if u]
        params = {**eqn.params, "jaxpr": smaller, "num_consts": sum(kept[:num_consts]), "num_carry": sum(used_carry)}
        invars = [a for a, k in zip(eqn.invars, kept) if k]
        return kept, JaxprEqn(invars, outs, self, params, eqn.effects, eqn.traceback)

    def discharge(self, refs, pure, /, *, jaxpr, num_consts, num_carry, **params):
        closed, changed = pure(jaxpr)
        n, outs = len(jaxpr.in_avals), len(jaxpr.out_avals)
        # Constants that change are carried; elements that change are given back.
        carried = [i for i in changed if i < num_consts]
        elements = [i for i in changed if i >= num_consts]
        order = [*[i for i in range(num_consts) if i not in carried], *carried, *range(num_consts, n)]
        at = {i: outs + j for j, i in enumerate(changed)}
        results = [*[at[i] for i in carried], *range(outs), *[at[i] for i in elements]]
        counts = {"num_consts": num_consts - len(carried), "num_carry": num_carry + len(carried)}
        return Discharge(
            order,
            {"jaxpr": rearranged(closed, order, results), **counts, **params},
            [*map(NewValue, carried), *range(outs), *map(NewValue, elements)],
        )

    def _bind(
        self, closed: ClosedJaxpr, args: Sequence[Any], num_consts: int, num_carry: int, **params: Any
    ) -> list[Any]:
        """Bind with what the program captured as further constants."""
        captured, (lifted,) = lift_constants([closed])
        return self.bind(
            *captured, *args, jaxpr=lifted, num_consts=num_consts + len(captured), num_carry=num_carry, **params
        )

    def shown_params(self, params):
        return {name: params[name] for name in ("jaxpr", "length", "num_carry", "num_consts", "reverse", "unroll")}


_COUNTER = ShapedArray((), np.dtype(np.int32))


def _element_aval(aval: Any) -> Any:
    """The aval of one element of what is looped over. Of a reference: of a reference to it."""
    if isinstance(aval, ReferenceAval):
        return type(aval)(_element_aval(value_aval(aval)))  # pyright: ignore[reportCallIssue]
    mark = aval.mark if aval.mark is None else aval.mark.without(0)
    return ShapedArray(aval.shape[1:], aval.dtype, aval.weak_type, mark)


def _stacked(aval: ShapedArray, length: Any) -> ShapedArray:
    mark = aval.mark if aval.mark is None else aval.mark.beside(0)
    return ShapedArray((length, *aval.shape), aval.dtype, aval.weak_type, mark)


def _interleaved(tangent_at: list[int | None], *counts: int) -> list[int]:
    """Indices of values, each group followed by its tangents."""
    order: list[int] = []
    start = 0
    for group in _spread(tangent_at, *counts):
        order += [*range(start, start + len(group)), *[at for at in group if at is not None]]
        start += len(group)
    return order


class _Parts:
    """A scan in two: one over what is known, one over the rest, with the values the second needs of the first. What is the
    same in all iterations is not stacked."""

    def __init__(self, scan, trace, args, split: Split, known, num_consts: int, num_carry: int, params):
        self.scan, self.trace, self.args, self.split, self.params = scan, trace, args, split, params
        self.known, self.num_consts, self.num_carry = known, num_consts, num_carry
        self.known_args = [x for x, k in zip(args, known) if k]
        consts, carry, _ = _spread(known, num_consts, num_carry)
        self.known_consts, self.known_carry = sum(consts), sum(carry)
        self.known_outs = sum(split.out_known)
        self._place_residuals()

    def bind(self) -> list[Any]:
        done, more = self._run_known()
        found = {"x": self.known_args, "y": done, "extra": more}
        stacked = [found[where][i] for _, where, i in self.varying]
        return self._stage_unknown(done, self._run_invariant(), stacked)

    def _place_residuals(self) -> None:
        """How each residual, by its number, reaches the unknown part: those that are the `same` in all iterations, where the `varying`
        ones are found stacked, and the `extra` ones that the known part must stack for that."""
        known = self.split.known.jaxpr
        fixed = _invariant(known, self.known_consts)
        self.same: list[tuple[int, Atom]] = []
        self.varying: list[tuple[int, str, int]] = []
        self.extra: list[Atom] = []
        known_carry_out = sum(self.split.out_known[: self.num_carry])
        for number, (kind, i) in enumerate(self.split.residuals):
            atom = known.invars[i] if kind == "argument" else known.outvars[i]
            if isinstance(atom, Literal) or atom in fixed:
                self.same.append((number, atom))
            elif kind == "argument" and i >= self.known_consts + self.known_carry:
                self.varying.append((number, "x", i))
            elif kind == "result" and known_carry_out <= i < self.known_outs:
                self.varying.append((number, "y", i))
            else:
                self.varying.append((number, "extra", len(self.extra)))
                self.extra.append(atom)

    def _run_known(self) -> tuple[list[Any], list[Any]]:
        """Known results, and the further stacked values."""
        if not self.known_outs and not self.extra and not self.split.known.effects:
            return [], []
        known = self.split.known
        results = [*known.jaxpr.outvars[: self.known_outs], *self.extra]
        whole = rearranged(known, range(len(known.in_avals)), results)
        closed, _ = dce_jaxpr(whole, [True] * len(results), [True] * len(known.in_avals))
        with using(self.trace.parent):
            outs = self.scan._bind(closed, self.known_args, self.known_consts, self.known_carry, **self.params)
        return outs[: self.known_outs], outs[self.known_outs :]

    def _run_invariant(self) -> list[Any]:
        """Residuals that depend on constants alone: computed once, outside."""
        known = self.split.known.jaxpr
        direct: dict[Any, Any] = dict(zip(known.invars, self.known_args))
        direct.update(zip(known.constvars, self.split.known.consts))
        made = [a for _, a in self.same if isinstance(a, Var) and a not in direct]
        if made:
            whole = rearranged(self.split.known, range(self.known_consts), made)
            smaller, kept = dce_jaxpr(whole, [True] * len(made))
            operands = [x for x, k in zip(self.known_args, kept) if k]
            with using(self.trace.parent):
                direct.update(zip(made, call(smaller, operands, "loop_invariant")))
        return [literal_value(a) if isinstance(a, Literal) else direct[a] for _, a in self.same]

    def _stage_unknown(self, done: list[Any], invariant: list[Any], stacked: list[Any]) -> list[Any]:
        c, first_x = self.num_consts, self.num_consts + self.num_carry
        unknown_args = [i for i, k in enumerate(self.known) if not k]
        # Operands by their numbers in the unknown part, which takes the residuals first.
        own = [(i, (n, self.args[i])) for n, i in enumerate(unknown_args, len(self.split.residuals))]
        consts = [*zip([n for n, _ in self.same], invariant), *[x for i, x in own if i < c]]
        carry = [x for i, x in own if c <= i < first_x]
        xs = [*zip([n for n, _, _ in self.varying], stacked), *[x for i, x in own if i >= first_x]]
        operands = [*consts, *carry, *xs]
        with using(self.trace.parent):
            captured, (lifted,) = lift_constants([rearranged(self.split.unknown, [n for n, _ in operands])])
        counts = {"num_consts": len(captured) + len(consts), "num_carry": len(carry)}
        params = {"jaxpr": lifted, **counts, **self.params}
        staged = iter(self.trace.record(self.scan, [*captured, *[x for _, x in operands]], params))
        known_results = iter(done)
        return [next(known_results if k else staged) for k in self.split.out_known]


def _invariant(jaxpr: Jaxpr, num_consts: int) -> set[Var]:
    """The variables that are the same in all iterations."""
    same = {*jaxpr.constvars, *jaxpr.invars[:num_consts]}
    for eqn in jaxpr.eqns:
        if not eqn.effects and all(isinstance(a, Literal) or a in same for a in eqn.invars):
            same.update(eqn.outvars)
    return same


scan_p = Scan("scan")


# What users call -----------------------------------------------------------------------------------------------------


@overload
def scan(
    f: Callable[[Array, Any], tuple[ArrayLike, Y]],
    init: ArrayLike,
    xs: PyTree = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[Array, Y]: ...
@overload
def scan(
    f: Callable[[Carry, Any], tuple[Carry, Y]],
    init: Carry,
    xs: PyTree = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[Carry, Y]: ...
def scan(
    f: Callable[[Any, Any], tuple[Any, Any]],
    init: PyTree,
    xs: PyTree = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[PyTree, PyTree]:
    """`carry, y = f(carry, x)` for each element x of `xs` along its leading axis; the final carry, and all y stacked.

    `init` is the first carry; structure, shapes and dtypes of the carry stay the same (a number may become the dtype it is
    combined with). `xs` is a tree of arrays with one leading size, or None with `length` given. `reverse`: from the last
    element (the y stay in the order of `xs`). `unroll`: so many iterations stand in one of the compiled loop (True: all).
    `_split_transpose` is taken and changes nothing.

    Differentiable in both modes. Raises TypeError where `f` gives another carry than it took (the message names the leaf),
    ValueError for sizes that disagree.

    >>> lax.scan(lambda total, x: (total + x, total), 0.0, jnp.arange(4.0))
    (Array(6., dtype=float32), Array([0., 0., 1., 3.], dtype=float32, weak_type=True))
    """
    if not callable(f):
        raise TypeError(f"scan: f must be a function; it is of type {type(f).__name__}")
    leaves = tree.leaves(xs)
    x_avals = check_leaves(leaves, xs, f"scan over {name_of(f)}: xs has, at xs")
    size = _length(f, xs, x_avals, length)
    if cut := [a for a in x_avals if laid_of(a) is not None and not a.mark.is_whole_along(0)]:
        raise ValueError(f"scan over {name_of(f)}: it goes along axis 0 of xs, which devices divide: {cut[0].short()}. What to do: move xs with "
                         "jitscope.sharding.reshard, so that axis 0 is whole, or vmap")  # fmt: skip
    unroll = _unrolled(unroll, size)
    if settings().disable_jit:
        return _python_scan(f, init, xs, size, reverse)
    init_leaves, init_tree = tree.flatten(init)
    init_avals = check_leaves(init_leaves, init, f"scan over {name_of(f)}: the initial carry has, at init")
    element_avals = list(map(_element_aval, x_avals))
    in_tree = tree.structure((init, xs))

    def trace(avals: Sequence[ShapedArray]) -> Any:
        return trace_body(f, in_tree, [*avals, *element_avals])

    body, init_leaves = settle_carry("scan", f, trace, init_leaves, init_avals, init_tree, _carry_of)
    captured, (closed,) = lift_constants([body.closed])
    outs = _bind_moving(closed, captured, init_leaves, leaves, size, bool(reverse), unroll)
    return body.out_tree.unflatten(outs)


def _bind_moving(
    closed: ClosedJaxpr, captured: Sequence[Any], init: Sequence[Any], xs: Sequence[Any], length: int, reverse: bool,
    unroll: int,
) -> list[Any]:  # fmt: skip
    """All results of the loop. What its body gives back as it got it is not a carry, but a constant, and no result."""
    first, invars, outvars = len(captured), closed.jaxpr.invars, closed.jaxpr.outvars
    constant = handed_on(closed, first, init)
    kept = [i for i in range(len(init)) if i not in constant]
    outs: dict[int, Any] = {i: init[i] for i in constant}
    elements = {v: x for v, x in zip(invars[first + len(init) :], xs) if hasattr(x, "aval")}
    outs.update((j, elements[v]) for j, v in enumerate(outvars[len(init) :], len(init)) if v in elements)
    wanted = [j for j in range(len(outvars)) if j not in outs]
    order = [first + i for i in constant], range(first), [first + i for i in kept]
    found = scan_p.bind(
        *[init[i] for i in constant],
        *captured,
        *[init[i] for i in kept],
        *xs,
        jaxpr=kept_of(closed, [*itertools.chain(*order), *range(first + len(init), len(invars))], wanted),
        length=length,
        reverse=reverse,
        unroll=unroll,
        num_consts=first + len(constant),
        num_carry=len(kept),
    )
    outs.update(zip(wanted, found))
    return [outs[j] for j in range(len(outvars))]


def _carry_of(f: Any, out_tree: Any) -> Any:
    """The structure of the carry in that of the body's result."""
    node = out_tree.node_data()
    if node is None or node[0] not in (tuple, list) or len(out_tree.children()) != 2:
        error = TypeError(
            f"scan: {name_of(f)} must return a pair (carry, y); it returned {_in_words(out_tree)}. If there is no y, "
            "return (carry, None)"
        )
        raise stepped_on(error, "loop-carry-mismatch", users_source.position_of_result(f))
    return out_tree.children()[0]


def _in_words(out_tree: Any) -> str:
    """What a body returned in place of a pair."""
    if out_tree == tree.structure(None):
        return "None, as a function without `return` does"
    kind, parts = (out_tree.node_data() or (None,))[0], len(out_tree.children())
    return f"a {kind.__name__} of {parts}" if kind else "one array"


def _length(f: Any, xs: Any, avals: Sequence[ShapedArray], length: Any) -> int:
    paths = tree.leaf_paths(xs)
    for aval, path in zip(avals, paths):
        if not aval.ndim:
            raise ValueError(
                f"scan over {name_of(f)}: xs{path} is a scalar, {aval.short()}; it has no axis to loop over"
            )
    sizes = {f"xs{path}": aval.shape[0] for aval, path in zip(avals, paths)}
    if length is not None:
        try:
            sizes["length"] = length if is_symbolic_dim(length) else int(length)
        except ConcretizationTypeError as error:
            error.add_note("scan's length must be known before running; while_loop and fori_loop take one that is not")
            raise
        except (TypeError, ValueError):
            raise TypeError(
                f"scan over {name_of(f)}: length must be an int that is known while tracing, not {type(length).__name__}"
            ) from None
    if not sizes:
        raise ValueError(f"scan over {name_of(f)}: with no arrays in xs, give length=")
    if len(set(sizes.values())) > 1:
        rows = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise ValueError(f"scan over {name_of(f)}: leading axes differ in size: {rows}")
    return next(iter(sizes.values()))


def _unrolled(unroll: int | bool, length: int) -> int:
    if unroll is True:
        return 1 if is_symbolic_dim(length) else max(length, 1)
    number = operator.index(unroll)
    if number < 0:
        raise ValueError(f"scan: unroll must be a non-negative int or a bool, not {unroll!r}")
    return number or 1


def _python_scan(f: Any, init: Any, xs: Any, length: int, reverse: bool) -> tuple[Any, Any]:
    """The loop in Python, under `disable_jit`."""
    if not length:
        raise ValueError("scan over zero elements cannot run with disable_jit: the shape of y is not known")
    carry, ys = init, []
    for i in range(length - 1, -1, -1) if reverse else range(length):
        carry, y = f(carry, tree.map(functools.partial(_element, i), xs))
        ys.append(y)
    if reverse:
        ys.reverse()
    return carry, tree.map(lambda *rows: _stack(rows), *ys)


def _element(i: int, x: Any) -> Any:
    piece = slice_in_dim(x, i, i + 1)
    return reshape_p(piece, new_sizes=aval_of(piece).shape[1:])


def _stack(rows: Sequence[Any]) -> Any:
    return concatenate_p(*[reshape_p(r, new_sizes=(1, *aval_of(r).shape)) for r in rows], dimension=0)
