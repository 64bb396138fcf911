"""A program of jax's run equation by equation, by jax: each equation is a program of its own, on the arrays that it is given."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import numpy as np

from jitscope.core.errors import Unavailable
from jitscope.core.jaxpr import ClosedJaxpr, Jaxpr, JaxprEqn, Var, backward_slice, equations_in, subjaxprs

from ..observe.ledger import Row
from ..observe.values import Evaluable
from ..observe.values.evaluation import Evaluation
from . import private
from .translating import OtherAval, Translation, aval_of, one_line
from .watching import unwatched


_CALLS = ("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint", "custom_jvp_call", "custom_vjp_call",
          "custom_vjp_call_jaxpr")  # fmt: skip
"""Operations that run their inner program once, on all their operands."""


class JaxEvaluation(Evaluation):
    """Evaluates a translated program of jax's; `constants` are the values that it captured."""

    def __init__(self, translation: Translation, captured: Sequence[Any], *args: Any):
        super().__init__(*args)
        self._translation, self._captured = translation, list(captured)

    def around(self) -> AbstractContextManager[Any]:
        stack = ExitStack()
        stack.enter_context(unwatched())
        stack.enter_context(private.without_debugging())
        return stack

    def constants(self, closed: ClosedJaxpr) -> list[Any]:
        of, atoms = self._translation.captured[id(closed.jaxpr)]
        own = self._captured if closed.jaxpr is self._translation.jaxpr else list(getattr(of, "consts", ()))
        if len(own) + len(atoms) != len(closed.jaxpr.constvars) or not all(hasattr(atom, "val") for atom in atoms):
            raise Unavailable("a value that an inner program captured is not known: it cannot be evaluated by parts")
        return [*own, *[_array(atom.val, atom.aval) for atom in atoms]]

    def literal(self, atom: Any) -> Any:
        return private.module("jax.numpy").asarray(atom.val, dtype=atom.aval.dtype)

    def called(self, eqn: JaxprEqn) -> ClosedJaxpr | None:
        inner = subjaxprs(eqn.params)
        alike = len(inner) == 1 and len(inner[0][1].jaxpr.invars) == len(eqn.invars)
        return inner[0][1] if eqn.primitive.name in _CALLS and alike else None

    def apply(self, eqn: JaxprEqn, operands: list[Any]) -> list[Any]:
        return self.whole(eqn, operands)

    def whole(self, eqn: JaxprEqn, operands: list[Any]) -> list[Any]:
        return private.evaluated(self._translation.equation_of[id(eqn)], operands, self._translation.debug)

    def other(self, eqn: JaxprEqn, operands: list[Any], params: dict[str, Any]) -> list[Any]:
        own = self._translation.equation_of[id(eqn)]
        return list(own.primitive.bind(*operands, **{**own.params, "length": params["length"]}))

    def going_rows(self, going: Any, condition: ClosedJaxpr, carry: list[Any]) -> np.ndarray | None:
        return np.asarray(going) if going.ndim else None

    def kept(self, rows: np.ndarray, new: list[Any], done: list[Any]) -> list[Any]:
        where = private.module("jax.numpy").where
        return [where(rows.reshape(*rows.shape, *[1] * (x.ndim - rows.ndim)), x, y) for x, y in zip(new, done)]

    def on_devices(self, eqn: JaxprEqn, operands: list[Any]) -> None:
        return None

    def is_derived(self, eqn: JaxprEqn) -> bool:
        return id(eqn) in self._translation.derived

    def element(self, x: Any, at: int | slice) -> Any:
        return x[at]


def _array(value: Any, aval: Any) -> Any:
    return private.module("jax.numpy").asarray(value, dtype=aval.dtype)


def evaluable(row: Row, translation: Translation, constants: Any, given: Any, callbacks: bool) -> Evaluable:
    """A program of jax's, to be evaluated on the arguments `given`, or those of its call. Raises Unavailable where these are gone,
    and where it is not run again: it calls Python functions (unless `callbacks`), has references, or takes arrays that lie partly
    in other processes."""
    entry = row.entry
    if entry.executable.calls_python and not callbacks:
        raise Unavailable(f"{row.function} calls Python functions, which may have effects: it is not run again")
    if has_references(translation.jaxpr):
        raise Unavailable(f"{row.function} has references, which a second run would change: it is not run again")
    given = given or row.given
    arrays, captured = (one.arrays() if one is not None else None for one in (given, constants))
    takes: Any = row.takes
    taken = takes.of(arrays) if arrays is not None and takes is not None else None
    if taken is None and arrays is not None:
        raise Unavailable(
            f"{row.function} takes other values than the arguments of its call, as with references that it captured: it is not run again"
        )
    arrays = taken
    if arrays is None or captured is None:
        raise Unavailable(
            f"the arguments of the call of {row.function}, or values that it captured, are gone: ask with others, by %values f(x) or "
            "inspect(f)(x).values"
        )
    if not all(getattr(x, "is_fully_addressable", True) for x in (*arrays, *captured)):
        raise Unavailable(
            f"{row.function} takes arrays that lie partly in other processes: its parts are not run one by one"
        )
    return of_arrays(translation, captured, arrays)


def of_arrays(translation: Translation, captured: Sequence[Any], arrays: Sequence[Any]) -> Evaluable:
    """A program of jax's, to be evaluated on arrays."""
    jnp = private.module("jax.numpy")
    arrays = [_cast(jnp, x, v.aval) for x, v in zip(arrays, translation.jaxpr.invars)]

    def evaluation(*args: Any) -> Evaluation:
        return JaxEvaluation(translation, captured, *args)

    closed = ClosedJaxpr(translation.jaxpr)

    def compiled(wanted: Sequence[Var]) -> list[Any]:
        return _compiled(translation, evaluation(0.0, 0.0).constants(closed), arrays, wanted)

    return Evaluable(closed, arrays, evaluation, lambda x: aval_of(x.aval).short(), lambda buf, _: buf, compiled)


def _compiled(
    translation: Translation, constants: Sequence[Any], arrays: Sequence[Any], wanted: Sequence[Var]
) -> list[Any]:
    """The values of variables of the outermost program, from a program that jax compiles of the equations that they need."""
    jaxpr = translation.jaxpr
    makers = {v: i for i, eqn in enumerate(jaxpr.eqns) for v in eqn.outvars}
    own = [jaxpr.eqns[i] for i in backward_slice(jaxpr, {makers[v] for v in wanted if v in makers})]
    eqns = [translation.equation_of[id(eqn)] for eqn in own]
    theirs: dict[Var, Any] = {}
    for eqn, other in zip(own, eqns):
        pairs = [*zip(eqn.invars, other.invars), *zip(eqn.outvars, other.outvars)]
        theirs |= {v: w for v, w in pairs if isinstance(v, Var) and not hasattr(w, "val")}
    given = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *arrays]))
    known = {theirs[v]: x for v, x in given.items() if v in theirs}
    with unwatched(), private.without_debugging():
        outs = private.evaluated_together(eqns, known, [theirs[v] for v in wanted if v in makers], translation.debug)
    made = iter(outs)
    return [next(made) if v in makers else given[v] for v in wanted]


def _cast(jnp: Any, x: Any, aval: Any) -> Any:
    same = getattr(x, "dtype", None) == aval.dtype
    return x if same or not hasattr(aval.dtype, "kind") else jnp.asarray(x, dtype=aval.dtype)


def has_references(jaxpr: Jaxpr) -> bool:
    """Whether a translated program has references, which a second run would change."""
    return any(_is_reference(v.aval) for eqn in equations_in(jaxpr) for v in (*eqn.invars, *eqn.outvars))


def _is_reference(aval: Any) -> bool:
    return isinstance(aval, OtherAval) and "Ref" in one_line(aval)
