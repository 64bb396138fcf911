"""A primitive is one object whose methods are its rules."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from ..named_tuple import NamedTuple
from . import call_sites, source
from .effects import Effects, no_effects
from .jaxpr import ClosedJaxpr, subjaxprs
from .references import Reference
from .trace import Trace, current_trace, evaluation, traced_by, using


_made: Counter[str] = Counter()
_LIBRARY = f"{__name__.partition('.')[0]}."
with_rules: set[Primitive] = set()
"""The library's operations that users registered lowering rules for, some perhaps taken back since."""


def _home() -> str:
    """The module of the library that makes an operation as it is imported; "" where somebody else does."""
    frame = sys._getframe(2)
    while (name := frame.f_globals.get("__name__", "")).startswith(_LIBRARY) and frame.f_back is not None:
        if frame.f_code.co_name == "<module>":
            return name
        frame = frame.f_back
    return ""


class Axis(Protocol):
    """The axis that `batch` rules map over."""

    name: Hashable
    size: int

    def move(self, x: Any, dim: int | None, to: int = 0) -> Any:
        """`x` with its mapped axis moved from `dim` to `to`; broadcast along a new axis there if `dim` is None."""
        ...

    def align(self, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[list[Any], int | None]:
        """Arguments of an elementwise operation with their mapped axes in one place, and that place.

        Arguments that are not mapped are broadcast along the axis; scalars stay scalars.
        """
        ...


class Primitive:
    """An operation. Five methods are its rules; evaluation, linearize, vjp and grad are derived from them.

    Results: a rule gives one value, or a list where `multiple_results` is true. Arguments of the machinery come first and
    are positional-only, so that parameters may have any name. A rule that is missing raises NotImplementedError, which names the
    primitive, the rule and the user's line. `generation` tells primitives of one name apart (a notebook cell that makes
    one may be run again with other rules).
    """

    name: str
    is_users: bool
    """Whether it was made outside of the library's own modules."""
    generation = 0
    multiple_results = False
    call_primitive = map_primitive = False
    evaluates = False
    """Whether Python runs it where nothing is transformed, by `evaluate`: then nothing is compiled for it alone."""
    takes_references = False
    types_itself = False
    """Whether `abstract` sees and gives what types say of several devices; for others that follows from their operands."""
    sums = ""
    """How it acts on terms of a sum over devices (`core.sums`): "each", it is linear in its first operand, the others are none of those; "all",
    in all operands at once; "choice", in all but the first; "product" and "dot", in each of two; "quotient", in the first of two."""
    repeats = False
    """Whether its result has the elements of its one operand, perhaps several times."""
    converts = False
    """Whether its result has the elements of its one operand in another dtype."""
    inlined = ""
    """The parameter whose program, run once on the operands, may stand in its place (see `transforms.jet`)."""
    idle: frozenset[str] = frozenset()
    """The inner jaxprs, by their segments of a path, that no run of the operation needs: they are there for derivatives."""
    lowerings: Mapping[str | None, Callable[..., Any]] = MappingProxyType({})
    """Lowering rules that users registered: for a platform by its name, or for all (None)."""

    def __init__(self, name: str):
        self.name, self.home = name, _home()
        self.is_users = not self.home
        self.renew()

    def lower_by(self, rules: Mapping[str | None, Callable[..., Any]]) -> None:
        """Take these lowering rules of users."""
        self.lowerings = rules
        if not self.is_users:
            with_rules.add(self)

    def renew(self) -> None:
        """Tell the operation apart from what it was: programs that were compiled with it are others from now on."""
        self.generation = _made[self.name]
        _made[self.name] += 1

    def __repr__(self) -> str:
        return self.name

    def bind(self, *args: Any, **params: Any) -> Any:
        """Apply the operation: the current trace decides what that means. Parameters must be hashable."""
        return (traced_by() or current_trace()).process(self, args, params)

    __call__ = bind

    def bind_with_trace(
        self, trace: Trace, args: Sequence[Any], avals: Sequence[Any], params: dict[str, Any], /
    ) -> Any:
        """Apply the operation as a trace does; for traces that hand operations down to another one."""
        with using(trace):
            return self.bind(*args, **params)

    def get_bind_params(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """For interpreters of jaxprs: the parameters of a `bind` that does what an equation with these parameters says.
        Programs among them stay parameters."""
        return dict(params)

    def abstract(self, /, *avals: Any, **params: Any) -> tuple[Any, Effects]:
        """Result aval (a list for several) and effects. Raises TypeError or ValueError with the user's words for operands
        that do not fit: this is where shapes and dtypes are checked."""
        raise self.missing("abstract")

    def lower(self, ctx: Any, /, *values: Any, **params: Any) -> Any:
        """Result MLIR values of `values`. `ctx.hlo` has the builders, `ctx.type(aval)` the types, `ctx.avals_in` and
        `ctx.avals_out` the avals, `ctx.inline(fn, *values)` lowers a Python function over other primitives,
        `ctx.call(jaxpr, *values)` an inner jaxpr."""
        raise self.missing("lower")

    def jvp(self, primals: Any, tangents: Any, /, **params: Any) -> tuple[Any, Any]:
        """Primal and tangent results. Tangents may be `Zero` (at least one is not), and tangent results too."""
        raise self.missing("jvp")

    def transpose(self, cts: Any, /, *args: Any, **params: Any) -> Sequence[Any]:
        """Cotangents of the linear operands, in the order of `args`: those in which the equation is linear arrive as
        `UndefinedPrimal(aval)`, the others as values and get None. Of several results, cotangents may be `Zero` (not all are)."""
        raise self.missing("transpose")

    def batch(self, axis: Axis, args: Any, dims: Any, /, **params: Any) -> tuple[Any, Any]:
        """Results on arguments that carry the mapped axis at `dims` (None: they do not), and the dims of the results."""
        raise self.missing("batch")

    def evaluate(self, args: Any, /, **params: Any) -> Any:
        """Results where nothing is transformed, for those that say so with `evaluates`."""
        raise self.missing("evaluate")

    def impl(self, *args: Any, **params: Any) -> Any:
        """The operation on values, whatever transformation is at work."""
        return evaluation().process(self, args, params)

    def def_impl(self, impl: Callable[..., Any]) -> Callable[..., Any]:
        """Evaluate by `impl(*args, **params)`, in Python, where nothing is transformed. A decorator, as those below: they
        give an operation its rules one by one, in place of a class (see `interpreters` for the others)."""
        self.impl, self.evaluates = impl, True
        self.evaluate = lambda args, /, **params: impl(*args, **params)
        return impl

    def def_abstract_eval(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """`rule(*avals, **params)` gives the avals of the results, of an operation without effects."""
        self.abstract = lambda *avals, **params: (rule(*avals, **params), no_effects)
        return rule

    def def_effectful_abstract_eval(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """`rule(*avals, **params)` gives the avals of the results, and the effects."""

        def abstract(*avals: Any, **params: Any) -> tuple[Any, Effects]:
            out, effects = rule(*avals, **params)
            return out, frozenset(effects)

        self.abstract = abstract
        return rule

    def abstract_eval(self, *avals: Any, **params: Any) -> tuple[Any, Effects]:
        """`abstract`, by the name it has where rules are given one by one."""
        return self.abstract(*avals, **params)

    def named_axes(self, **params: Any) -> tuple[Hashable, ...]:
        """The named axes the operation reduces over or reads; mapping over one of them always calls `batch`."""
        return ()

    def program_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters that decide what is computed (and so which compiled program is the same)."""
        return params

    def shown_params(self, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters worth printing, in order: those that the avals in the line do not tell already."""
        return dict(sorted(params.items()))

    def text(self, outs: list[str], operands: list[str], avals: Sequence[Any], /, **params: Any) -> str | None:
        """The equation as jaxprs show it, where that is not `outs = name[params] operands`."""
        return None

    def missing(self, rule: str) -> NotImplementedError:
        """The error for a rule that the operation does not have, to be raised; its `missing_rule` is the rule's name."""
        error = NotImplementedError(
            f"primitive {self.name!r} has no {rule} rule{source.position_text(call_sites.here(), ' (', ')')}"
        )
        error.missing_rule = rule  # pyright: ignore[reportAttributeAccessIssue]
        return error


class Discharge(NamedTuple):
    """An operation with inner jaxprs, made pure: the operation of these parameters on the `operands` of these numbers,
    references among them replaced by their values. Of its results, an int is the number of one that was there, `NewValue`
    what a reference holds afterwards."""

    operands: Sequence[int]
    params: dict[str, Any]
    results: Sequence[int | NewValue]


class NewValue(NamedTuple):
    """What the reference that was operand `operand` holds afterwards."""

    operand: int


Purify = Callable[[ClosedJaxpr], tuple[ClosedJaxpr, list[int]]]
"""A program that takes the values of references in their place, and gives, after its results, the new values of those
arguments that it changes; and the numbers of these."""


class HigherOrder(Primitive):
    """A primitive with inner jaxprs; it has more duties, of which those that most have in common stand here. `shares_names`: when printed, arguments and results of the
    inner jaxpr are called what its operands and results are."""

    multiple_results = True
    shares_names = False
    takes_references = True
    types_itself = True

    def bind(self, *args, **params):
        for x in args:
            if isinstance(x, Reference):
                return x.called(self, args, params)
        return current_trace().process(self, args, params)

    def discharge(self, refs: Sequence[Any], pure: Purify, /, **params: Any) -> Discharge:
        """The operation on values in place of references. `refs` has for each operand what identifies the reference, None
        for others. (Here: of an operation that runs its one inner jaxpr once, on all its operands.)"""
        programs = [(name, value) for name, value in params.items() if isinstance(value, ClosedJaxpr)]
        if len(programs) != 1 or len(programs[0][1].in_avals) != len(refs):
            raise self.missing("discharge")
        ((name, inner),) = programs
        closed, changed = pure(inner)
        results = [*range(len(inner.out_avals)), *map(NewValue, changed)]
        return Discharge(range(len(refs)), {**params, name: closed}, results)

    def named_axes(self, **params):
        return tuple({name for _, inner in subjaxprs(params) for name in jaxpr_axes(inner)})

    def partial_eval(self, trace: Any, args: Any, /, **params: Any) -> list[Any]:
        """Split the operation where only some arguments are known: `trace.is_known(x)` tells; what is known is bound
        under `trace.parent`, the rest staged with `trace.stage`. (Here: it stays whole, and is staged.)"""
        return trace.record(self, args, params)

    def dce(self, used: list[bool], eqn: Any, /) -> tuple[list[bool], Any]:
        """Which operands are needed for the results marked in `used`, and the equation without the rest (None: none).
        (Here: it stays whole, or goes.)"""
        needed = any(used) or bool(eqn.effects)
        return [needed] * len(eqn.invars), eqn if needed else None


class FunctionCall(HigherOrder):
    """A call of a function with rules of its own (custom_jvp and its kin). Its parameter `fun` is a Python function of flat
    values, or, once a trace has recorded it, a ClosedJaxpr. `evaluate` runs the Python function itself, and its `if` sees
    values. It has one more duty."""

    evaluates = True

    def stage(self, trace: Any, args: Any, /, **params: Any) -> list[Any]:
        """Record the call with `trace.record`, its functions made jaxprs. (Here: it has none.)"""
        return trace.record(self, args, params)


def jaxpr_axes(closed: ClosedJaxpr) -> tuple[Hashable, ...]:
    """The named axes that a program's equations reduce over or read."""
    if "axes" not in closed.derived:
        names = [name for eqn in closed.eqns for name in eqn.primitive.named_axes(**eqn.params)]
        closed.derived["axes"] = tuple(dict.fromkeys(names))
    return closed.derived["axes"]
