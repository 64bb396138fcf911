"""A checkpointed program in two: what is computed at once, of which some values are saved as the policy says, and what is
computed anew from those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..core.jaxpr import Atom, ClosedJaxpr, Jaxpr, JaxprEqn, Var
from ..core.staging import JaxprTrace, eval_jaxpr, jaxpr_as_fun, trace_to_jaxpr
from ..core.trace import using
from ..transforms.dce import dce_jaxpr
from ..transforms.linearize import Split, partial_eval_jaxpr
from .bodies import lift_constants
from .call import jit_p
from .cond import cond_p, shared_slots, with_slots
from .policies import Policy, nothing_saveable, says_save
from .scan import scan_p


class CheckpointSplit:
    """A checkpointed program in two. `known` takes the known arguments and gives the known results (`results` of them),
    then the values that are saved. `unknown` takes `consts`, the saved values, the known arguments numbered in
    `arguments`, and the unknown ones, and gives the unknown results. `out_known` marks the known results."""

    __slots__ = ("arguments", "consts", "known", "out_known", "results", "unknown")

    def __init__(
        self,
        known: ClosedJaxpr,
        results: int,
        unknown: ClosedJaxpr,
        consts: list[Any],
        arguments: list[int],
        out_known: list[bool],
    ):
        self.known, self.results, self.unknown, self.consts = known, results, unknown, consts
        self.arguments, self.out_known = arguments, out_known


def split_checkpoint(closed: ClosedJaxpr, known: Sequence[bool], policy: Policy | None) -> CheckpointSplit:
    """The program in two, made once for each pattern of known arguments."""
    key = ("checkpoint", tuple(known), policy)
    if key not in closed.derived:
        closed.derived[key] = _split(closed, known, policy or nothing_saveable)
    return closed.derived[key]


def _split(closed: ClosedJaxpr, known: Sequence[bool], policy: Policy) -> CheckpointSplit:
    split = partial_eval_jaxpr(closed, known)
    first = _opened(split.known, policy)
    program = first.jaxpr
    needed = [(program.invars if kind == "argument" else program.outvars)[i] for kind, i in split.residuals]
    plan = _recomputed(program, needed, policy)
    arguments = [i for i, v in enumerate(program.invars) if v in plan.read]
    inputs = [*plan.saved, *[program.invars[i] for i in arguments]]
    unknown = _recomputing(first, inputs, plan.anew, needed, split)
    rest = len(unknown.in_avals) - len(plan.saved)
    unknown, kept = dce_jaxpr(unknown, [True] * len(unknown.out_avals), [False] * len(plan.saved) + [True] * rest)
    consts, (lifted,) = lift_constants([unknown])
    results = sum(split.out_known)
    outvars = [*program.outvars[:results], *[v for v, k in zip(plan.saved, kept) if k]]
    whole = Jaxpr(program.constvars, program.invars, outvars, plan.known, program.effects, program.debug)
    smaller, _ = dce_jaxpr(ClosedJaxpr(whole, first.consts), [True] * len(outvars), [True] * len(program.invars))
    return CheckpointSplit(smaller, results, lifted, consts, arguments, split.out_known)


class _Recomputation:
    """How to have some values of a program again: the equations to run `anew`, the values `saved` for that, all
    variables the former `read`, and the program's own equations, those that give more to be saved replaced (`known`)."""

    __slots__ = ("anew", "known", "read", "saved")

    def __init__(self, anew: list[JaxprEqn], saved: list[Var], read: set[Var], known: list[JaxprEqn]):
        self.anew, self.saved, self.read, self.known = anew, saved, read, known


def _recomputed(program: Jaxpr, needed: Sequence[Atom], policy: Policy) -> _Recomputation:
    """How to have the values `needed` again."""
    read = {a for a in needed if isinstance(a, Var)}
    anew: list[JaxprEqn] = []
    saved: list[Var] = []
    known: list[JaxprEqn] = []
    for eqn in reversed(program.eqns):
        first, again, more = eqn, eqn, []
        wanted = [v for v in eqn.outvars if v in read]
        if wanted and (eqn.effects or _is_saveable(eqn, policy)):
            saved += reversed(wanted)
        elif wanted:
            if eqn.primitive in _SAVING and any(_has_saveable(inner, policy) for inner in _looked_into(eqn)):
                first, again, more = _SAVING[eqn.primitive](eqn, policy)
                saved += reversed(more)
            anew.append(again)
            read.update(a for a in again.invars if isinstance(a, Var))
        known.append(first)
    return _Recomputation(anew[::-1], saved[::-1], read, known[::-1])


def _saving_scan(eqn: JaxprEqn, policy: Policy) -> tuple[JaxprEqn, JaxprEqn, list[Var]]:
    """A loop that also gives, stacked, what the policy saves in its iterations; one that gives the same results with the
    help of those; and the stacked values."""
    body = _opened(eqn.params["jaxpr"], policy)
    inner = body.jaxpr
    plan = _recomputed(inner, inner.outvars, policy)
    stacked = [Var(v.aval.update(shape=(eqn.params["length"], *v.aval.shape))) for v in plan.saved]
    giving = Jaxpr(inner.constvars, inner.invars, [*inner.outvars, *plan.saved], plan.known, inner.effects, inner.debug)
    taking = Jaxpr(inner.constvars, [*inner.invars, *plan.saved], inner.outvars, plan.anew, debug=inner.debug)
    first = eqn.replace(
        outvars=[*eqn.outvars, *stacked], params={**eqn.params, "jaxpr": ClosedJaxpr(giving, body.consts)}
    )
    again = eqn.replace(
        invars=[*eqn.invars, *stacked], params={**eqn.params, "jaxpr": ClosedJaxpr(taking, body.consts)}
    )
    return first, again, stacked


def _saving_cond(eqn: JaxprEqn, policy: Policy) -> tuple[JaxprEqn, JaxprEqn, list[Var]]:
    """The same of a conditional. Branches save different values: they share places of one aval, zeros fill the others'."""
    bodies = [_opened(branch, policy) for branch in eqn.params["branches"]]
    plans = [_recomputed(body.jaxpr, body.jaxpr.outvars, policy) for body in bodies]
    slots, rows = shared_slots([[v.aval for v in plan.saved] for plan in plans])
    count, giving, taking = len(eqn.outvars), [], []
    for body, plan, row in zip(bodies, plans, rows):
        inner = body.jaxpr
        outs = [*inner.outvars, *plan.saved]
        whole = Jaxpr(inner.constvars, inner.invars, outs, plan.known, inner.effects, inner.debug)
        giving.append(with_slots(ClosedJaxpr(whole, body.consts), count, slots, dict(enumerate(row, count))))
        at = dict(zip(row, plan.saved))
        invars = [*inner.invars, *[at.get(n) or Var(aval) for n, aval in enumerate(slots)]]
        taking.append(
            ClosedJaxpr(Jaxpr(inner.constvars, invars, inner.outvars, plan.anew, debug=inner.debug), body.consts)
        )
    kept = [Var(aval) for aval in slots]
    first = eqn.replace(outvars=[*eqn.outvars, *kept], params={**eqn.params, "branches": tuple(giving)})
    again = eqn.replace(invars=[*eqn.invars, *kept], params={**eqn.params, "branches": tuple(taking)})
    return first, again, kept


_SAVING = {scan_p: _saving_scan, cond_p: _saving_cond}


def _is_saveable(eqn: JaxprEqn, policy: Policy) -> bool:
    return says_save(policy(eqn.primitive, *[a.aval for a in eqn.invars], **eqn.params), eqn.primitive)


def _recomputing(
    first: ClosedJaxpr, inputs: list[Var], anew: list[JaxprEqn], needed: Sequence[Atom], split: Split
) -> ClosedJaxpr:
    """The unknown part with the recomputation in front: a program of `inputs` and the unknown arguments."""
    debug = first.jaxpr.debug
    front = Jaxpr(first.jaxpr.constvars, inputs, list(needed), anew, debug=debug)
    behind = split.unknown.jaxpr

    def fun(*args):
        residuals = eval_jaxpr(front, first.consts, *args[: len(inputs)])
        return eval_jaxpr(behind, split.unknown.consts, *residuals, *args[len(inputs) :])

    avals = [v.aval for v in (*inputs, *behind.invars[len(needed) :])]
    return trace_to_jaxpr(fun, avals, type(debug)(debug.name, defined=debug.defined))


class _CallInliner(JaxprTrace):
    """Records a program with those calls opened in which the policy finds something to save."""

    __slots__ = ("policy",)

    def __init__(self, policy: Policy, debug: Any):
        super().__init__(debug)
        self.policy = policy

    def process(self, primitive, args, params):
        if primitive is jit_p and _has_saveable(params["jaxpr"], self.policy):
            return jaxpr_as_fun(params["jaxpr"])(*args)
        return super().process(primitive, args, params)


def _looked_into(eqn: JaxprEqn) -> Sequence[ClosedJaxpr]:
    if eqn.primitive in (jit_p, scan_p):
        return [eqn.params["jaxpr"]]
    return eqn.params["branches"] if eqn.primitive is cond_p else []


def _has_saveable(closed: ClosedJaxpr, policy: Policy) -> bool:
    return any(
        _is_saveable(eqn, policy) or any(_has_saveable(inner, policy) for inner in _looked_into(eqn))
        for eqn in closed.eqns
    )


def _opened(closed: ClosedJaxpr, policy: Policy) -> ClosedJaxpr:
    calls = [eqn.params["jaxpr"] for eqn in closed.eqns if eqn.primitive is jit_p]
    if not any(_has_saveable(inner, policy) for inner in calls):
        return closed
    trace = _CallInliner(policy, closed.jaxpr.debug)
    args = [trace.argument(aval) for aval in closed.in_avals]
    with using(trace):
        return trace.close(jaxpr_as_fun(closed)(*args))
