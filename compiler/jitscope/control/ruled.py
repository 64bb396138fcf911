"""What functions with rules of their own share: the call as a primitive, and the decorated function as users see it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Container, Hashable, Sequence
from typing import Any

from .. import tree
from ..core import dtypes, source
from ..core.avals import ShapedArray, aval_of, not_an_array
from ..core.errors import UnexpectedTracerError
from ..core.jaxpr import ClosedJaxpr, DebugInfo, JaxprEqn
from ..core.primitive import FunctionCall
from ..core.staging import as_function, trace_to_jaxpr
from ..core.trace import Trace, Tracer, chain_of, current_trace, evaluation, using
from ..core.zeros import Zero, is_linear, is_zero, zero_of
from ..ops.linear import convert, instantiate
from ..transforms.dce import dce_jaxpr
from ..transforms.transpose import transposed_fun
from ..transforms.vmap import vmap_flat
from .bodies import check_leaves, lift_constants, name_of


# The call as a primitive ---------------------------------------------------------------------------------------------


class _AllAxes(Container[Hashable]):
    """The axes a function not traced yet may read."""

    def __contains__(self, name: object) -> bool:
        return True


class RuledCall(FunctionCall):
    """A call of `fun` that has rules of its own. The first `num_consts` operands are what `fun` captured; the rules do
    not get them. `name` is the function's."""

    shares_names = True

    def named_axes(self, *, fun, **params):  # pyright: ignore[reportIncompatibleMethodOverride]
        return super().named_axes(fun=fun) if isinstance(fun, ClosedJaxpr) else _AllAxes()

    def program_params(self, params):
        return {"fun": params["fun"]}

    def abstract(self, /, *avals, fun, **params):
        return fun.out_avals, fun.effects

    def lower(self, ctx, /, *values, fun, name, **params):
        return ctx.call(fun, *values, name=name)

    def evaluate(self, args, /, *, fun, name, **params):
        outer = current_trace()
        try:
            with using(evaluation()):
                return as_function(fun)(*args)
        except UnexpectedTracerError as error:
            if outer is evaluation():
                raise
            raise closed_over(name) from error

    def stage(self, trace, args, /, *, fun, name, num_consts, **params):
        if not isinstance(fun, ClosedJaxpr):
            debug = getattr(fun, "debug", DebugInfo(name))
            closed = trace_to_jaxpr(fun, [aval_of(x) for x in args], debug)
            consts, (fun,) = lift_constants([closed])
            if any(_is_above(c, trace) for c in consts):
                raise closed_over(name)
            args, num_consts = (*consts, *args), num_consts + len(consts)
        return trace.record(self, args, {"fun": fun, "name": name, "num_consts": num_consts, **params})

    def partial_eval(self, trace, args, /, *, fun, **params):
        with using(trace):
            return as_function(fun)(*args)

    def transpose(self, cts, /, *args, fun, **params):
        linear = [is_linear(x) for x in args]
        operands = [x for x, lin in zip(args, linear) if not lin] + [ct for ct in cts if not is_zero(ct)]
        outs = iter(transposed_fun(fun, linear, cts)(*operands))
        return [next(outs) if lin else None for lin in linear]

    def batch(self, axis, args, dims, /, *, fun, num_consts, **params):
        settled = ResultAxes(axis, any(d is not None for d in dims))

        def all_examples(*values):
            outs, found = vmap_flat(as_function(fun), axis, values, dims)
            return settled.place(outs, found)

        rules = self.mapped_rules(axis, dims[num_consts:], settled, **params)
        outs = self.bind(*args, fun=all_examples, num_consts=num_consts, **{**params, **rules})
        return outs, settled.dims

    def mapped_rules(self, axis: Any, dims: Any, settled: ResultAxes, /, **params: Any) -> dict[str, Any]:
        """The rules for all examples: those parameters that change."""
        raise self.missing("batch")

    def dce(self, used, eqn, /):
        # Operands that the function no longer reads the rules may read: all stay.
        params = eqn.params
        fun, _ = dce_jaxpr(params["fun"], used, [True] * len(eqn.invars))
        params = {**params, "fun": fun, **self.rules_of_used(used, **params)}
        outvars = [v for v, u in zip(eqn.outvars, used) if u]
        return [True] * len(eqn.invars), JaxprEqn(eqn.invars, outvars, self, params, fun.effects, eqn.traceback)

    def rules_of_used(self, used: Sequence[bool], /, **params: Any) -> dict[str, Any]:
        """The rules for the results marked in `used` alone: those parameters that change."""
        raise self.missing("dce")

    def shown_params(self, params):
        shown = {("call_jaxpr" if k == "fun" else k): v for k, v in params.items() if k != "name"}
        if not shown["num_consts"]:
            del shown["num_consts"]
        return {"name": params["name"], **dict(sorted(shown.items()))}


class ResultAxes:
    """Where the mapped axis lies in the results of a call for all examples: as the first that ran, the function or one of
    its rules, found it; with `forced`, at 0 where that found none."""

    __slots__ = ("_forced", "axis", "dims")

    def __init__(self, axis: Any, forced: bool):
        self.axis, self._forced, self.dims = axis, forced, ()

    def place(self, outs: Sequence[Any], found: Sequence[int | None]) -> list[Any]:
        """Results with their axes settled."""
        if not self.dims:
            self.dims = tuple(0 if d is None and self._forced else d for d in found)
        return self.place_like(outs, found, self.dims)

    def place_like(self, outs: Sequence[Any], found: Sequence[int | None], dims: Sequence[int | None]) -> list[Any]:
        """Values with their mapped axes where `dims` says."""
        if any(d is not None and want is None for d, want in zip(found, dims)):
            raise ValueError(
                "a rule gives a value that differs between the examples of vmap where the function gives one that does not; "
                "pass what the rule captures as an argument of the function"
            )
        return [x if want is None else self.axis.move(x, d, want) for x, d, want in zip(outs, found, dims)]


def _is_above(x: Any, trace: Trace) -> bool:
    """Whether a value belongs to a transformation that hands its operations down to `trace`."""
    return isinstance(x, Tracer) and trace in chain_of(x.tracing)[1:]


def closed_over(name: str) -> UnexpectedTracerError:
    """The error for a function that captures a value its rules should have known of."""
    where = source.here()
    line = f" It is called in line {where.line} of {where.function}: {where.text.strip()}" if where else ""
    return UnexpectedTracerError(
        f"{name}, a function with derivative rules of its own, captures a value that is being differentiated or mapped.{line}\n"
        "  Its rules say how it depends on its arguments, not on what it captures.\n"
        "  what to do: pass the value as an argument, and let the rules know of it; or take lax.stop_gradient of it"
    )


class CustomJVPException(Exception):
    """A custom_jvp function captures a value with a derivative."""


class CustomVJPException(Exception):
    """A custom_vjp function captures a value with a derivative."""


def refuse_captured(name: str, tangents: Sequence[Any], error: type[Exception]) -> None:
    """Raise `error` if a captured value has a tangent."""
    if not all(map(is_zero, tangents)):
        raise error(str(closed_over(name)))


def settled_results(outs: Sequence[Any], fun: Any, what: str) -> list[Any]:
    """Results of a rule in the avals of the function itself, where those are known. Raises TypeError where shape or
    dtype differ; `what` names the rule and its function."""
    if not isinstance(fun, ClosedJaxpr):
        return list(outs)
    wanted = fun.out_avals
    if len(outs) != len(wanted):
        raise TypeError(f"{what} gives {len(outs)} results, the function itself {len(wanted)}")
    settled = []
    for x, aval in zip(outs, wanted):
        own = aval_of(x)
        if (own.shape, own.dtype) != (aval.shape, aval.dtype):
            raise TypeError(f"{what} gives {own.short()} where the function itself gives {aval.short()}")
        settled.append(x if own.weak_type == aval.weak_type else convert(x, aval.dtype, aval.weak_type))
    return settled


def called_like(fun: Callable[..., Any], rule: Any) -> Callable[..., Any]:
    """`fun` under the name of the rule it was made from, as jaxprs show it."""
    fun.__qualname__ = getattr(rule, "__qualname__", None) or repr(rule)
    if hasattr(rule, "backward"):
        fun.backward = rule.backward  # pyright: ignore[reportFunctionMemberAccess]
    return fun


def as_zero(x: Any) -> Any:
    """A tangent or cotangent, as Zero if it is of dtype float0."""
    if getattr(x, "dtype", None) == dtypes.float0:
        return Zero(ShapedArray(tuple(x.shape), dtypes.float0))
    return x


# The decorated function ----------------------------------------------------------------------------------------------


class SymbolicZero:
    """What a rule gets, with symbolic_zeros, in place of a tangent or cotangent that is zero. It has `aval`, `shape`,
    `dtype`, `ndim` and `size`, and no values."""

    __slots__ = ("aval",)

    def __init__(self, aval: ShapedArray):
        self.aval = aval

    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)
    size = property(lambda self: self.aval.size)

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval.short()})"


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """The zero tangent of `val`: zeros of its shape and dtype (float0 for integers), or a `SymbolicZero` that says so."""
    zero = zero_of(val)
    return SymbolicZero(zero.aval) if symbolic_zeros else instantiate(zero)


class Ruled:
    """Base of decorated functions: arguments by position, those in `nondiff` set apart."""

    kind = "custom"
    advice = ""

    def __init__(
        self, fun: Callable[..., Any], nondiff_argnums: Sequence[int] = (), nondiff_argnames: Sequence[str] = ()
    ):
        if not callable(fun):
            raise TypeError(f"{self.kind} decorates functions; it got {type(fun).__name__}")
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.nondiff_argnums = self._numbers(nondiff_argnums, nondiff_argnames)

    @functools.cached_property
    def _signature(self) -> inspect.Signature | None:
        try:
            return inspect.signature(self.fun)
        except (ValueError, TypeError):
            return None

    @functools.cached_property
    def _simple(self) -> int:
        """The number of arguments, if all are positional; else -1."""
        parameters = self._signature.parameters.values() if self._signature else ()
        plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return len(parameters) if parameters and all(p.kind in plain for p in parameters) else -1

    @functools.cached_property
    def argument_names(self) -> list[str]:
        return list(self._signature.parameters) if self._signature else []

    def argument_name(self, i: int) -> str:
        """What the positional argument `i` is called."""
        return self.argument_names[i] if i < len(self.argument_names) and self._simple >= 0 else f"argument {i}"

    def _numbers(self, argnums: Any, argnames: Any) -> tuple[int, ...]:
        numbers = {argnums} if isinstance(argnums, int) else set(argnums)
        names = [argnames] if isinstance(argnames, str) else list(argnames)
        unknown = [n for n in names if n not in self.argument_names]
        if unknown:
            raise ValueError(
                f"{self.kind}: nondiff_argnames names {unknown[0]!r}, but {name_of(self.fun)} has the arguments "
                f"{', '.join(self.argument_names)}"
            )
        return tuple(sorted(numbers | {self.argument_names.index(n) for n in names}))

    def positional(self, args: tuple, kwargs: dict[str, Any]) -> tuple:
        """All arguments by position, defaults filled in. Raises TypeError where that cannot be."""
        if (not kwargs and len(args) == self._simple) or self._signature is None:
            return args
        name = name_of(self.fun)
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        bound.apply_defaults()
        if passed := [k for k in bound.kwargs if k in kwargs]:
            raise TypeError(
                f"the {self.kind} function {name} was given arguments by keyword only ({', '.join(passed)}): its rules "
                "take arguments by position, so they must have one"
            )
        return bound.args

    def split(self, args: tuple) -> tuple[Arguments, list[Any]]:
        """How the arguments lie, and their leaves. Raises ValueError for nondiff_argnums that do not exist, TypeError
        for a leaf that is not an array."""
        wrong = [i for i in self.nondiff_argnums if not 0 <= i < len(args)]
        if wrong:
            raise ValueError(
                f"{self.kind}: nondiff_argnums names argument {wrong[0]}, but {name_of(self.fun)} was called with {len(args)} "
                "arguments"
            )
        return Arguments.split(self, args)

    def debug(self, arguments: Arguments) -> DebugInfo:
        return DebugInfo(name_of(self.fun), tuple(arguments.leaf_names()), (), source.position_of_function(self.fun))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result. Raises AttributeError before it has rules."""
        raise NotImplementedError

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<{self.kind} of {getattr(self, '__qualname__', name_of(self.fun))}>"


class Arguments:
    """How the arguments of one call lie: those set apart (`apart`, with the tracers among their leaves taken out), then
    the others, as the tuple `in_tree`. Flat operands are the `num_apart` tracers, then the leaves of the others."""

    __slots__ = ("_apart", "_names", "_order", "in_tree", "num_apart")

    def __init__(self, apart: dict[int, tuple[list[Any], Any]], order: list[int], in_tree: Any, names: list[str]):
        self._apart, self._order, self.in_tree, self._names = apart, order, in_tree, names
        self.num_apart = sum(x is _TAKEN for leaves, _ in apart.values() for x in leaves)

    @staticmethod
    def split(owner: Ruled, args: tuple) -> tuple[Arguments, list[Any]]:
        taken: list[Any] = []
        apart = {}
        for i in owner.nondiff_argnums:
            leaves, structure = tree.flatten(args[i])
            taken += [x for x in leaves if isinstance(x, Tracer)]
            apart[i] = [_TAKEN if isinstance(x, Tracer) else x for x in leaves], structure
        order = [i for i in range(len(args)) if i not in apart]
        leaves, in_tree = tree.flatten(tuple([args[i] for i in order]))
        found = Arguments(apart, order, in_tree, [owner.argument_name(i) for i in order])
        for x, path in zip(leaves, found.leaf_names() if any(not hasattr(x, "aval") for x in leaves) else ()):
            try:
                aval_of(x)
            except TypeError:
                raise TypeError(
                    f"{path} of {name_of(owner.fun)} is something that is not an array: {not_an_array(x)}.{owner.advice}"
                ) from None
        return found, [*taken, *leaves]

    def leaf_names(self) -> list[str]:
        """The leaves of the arguments that are not set apart, as they read in the function: `params['w']`."""
        numbers = self.in_tree.unflatten(range(self.in_tree.num_leaves))
        return [name + path for name, sub in zip(self._names, numbers) for path in tree.leaf_paths(sub)]

    def set_apart(self, flat: Sequence[Any]) -> list[Any]:
        """The arguments set apart, in order, from flat operands."""
        taken = iter(flat)
        return [s.unflatten([next(taken) if x is _TAKEN else x for x in xs]) for xs, s in self._apart.values()]

    def trees(self, flat: Sequence[Any]) -> tuple:
        """The other arguments, from flat operands (or what stands for them)."""
        return self.in_tree.unflatten(flat[self.num_apart :])

    def full(self, apart: Sequence[Any], others: Sequence[Any]) -> list[Any]:
        """All arguments by position."""
        found = dict(zip(self._apart, apart)) | dict(zip(self._order, others))
        return [found[i] for i in range(len(found))]


_TAKEN = object()


class Results:
    """The structure and avals of a function's results, known once it or its rule ran."""

    __slots__ = ("avals", "tree")

    def __init__(self):
        self.tree: Any = None
        self.avals: list[ShapedArray] = []

    def flatten(self, out: Any, what: str) -> list[Any]:
        """The flat results; they must be like those known. `what` names who gives them."""
        leaves, structure = tree.flatten(out)
        avals = result_avals(leaves, out, what)
        if self.tree is None:
            self.tree, self.avals = structure, avals
        elif structure != self.tree:
            raise TypeError(f"{what} a result of structure {structure}, the function itself one of {self.tree}")
        for i, (own, other) in enumerate(zip(avals, self.avals)):
            if (own.shape, own.dtype) != (other.shape, other.dtype):
                path = tree.leaf_paths(out)[i]
                raise TypeError(
                    f"{what} {own.short()} at result{path}, where the function itself gives {other.short()}"
                )
        return leaves


def result_avals(leaves: Sequence[Any], whole: Any, what: str) -> list[ShapedArray]:
    """The avals of results. Raises TypeError for what is not an array."""
    return check_leaves(leaves, whole, f"{what}, at result")


class FlatCall:
    """A decorated function on flat operands, in one call of it."""

    __slots__ = ("arguments", "debug", "owner", "results")

    def __init__(self, owner: Ruled, arguments: Arguments, results: Results):
        self.owner, self.arguments, self.results = owner, arguments, results
        self.debug = owner.debug(arguments)

    def __call__(self, *flat: Any) -> list[Any]:
        given = self.arguments
        out = self.owner.fun(*given.full(given.set_apart(flat), given.trees(flat)))
        return self.results.flatten(out, f"{name_of(self.owner.fun)} gives")


def call_rule(rule: Callable[..., Any], *args: Any) -> Any:
    """Run a user's rule. What it computes was written in its lines; what a library's rule computes, where the function
    was called."""
    if source.position_of_function(rule) is None:
        return rule(*args)
    with source.written_here():
        return rule(*args)


def pair_of(out: Any, what: str, parts: str) -> tuple[Any, Any]:
    """The two parts a rule returned. Raises TypeError naming the rule and what the parts are."""
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError(f"{what} must return a pair, {parts}; it returned {_told(out)}")
    return out[0], out[1]


def _told(x: Any) -> str:
    if isinstance(x, (tuple, list)):
        return f"a {type(x).__name__} of {len(x)}"
    aval = getattr(x, "aval", None)
    return aval.short() if aval is not None else repr(x) if x is None else f"a {type(x).__name__}"
