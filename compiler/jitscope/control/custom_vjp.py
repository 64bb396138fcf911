"""custom_vjp: functions whose reverse derivative is a pair of rules the user gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar

from .. import tree
from ..core import call_sites, dtypes, source
from ..core.avals import ShapedArray, aval_of, cotangent_aval, is_python_scalar, tangent_aval
from ..core.errors import UnexpectedTracerError
from ..core.messages import with_advice
from ..core.primitive import FunctionCall
from ..core.references import Reference
from ..core.staging import returned_reference
from ..core.trace import Tracer, evaluating
from ..core.zeros import Zero, is_linear, is_zero
from ..ops.cotangents import as_cotangent
from ..ops.families import pure
from ..ops.linear import convert, instantiate, reduce_sum_p
from ..transforms.vmap import vmap_flat
from .bodies import name_of
from .custom_function import FlatCall, FunctionWithRules
from .ref_errors import aliasing_error, repeats_reference
from .rule_arguments import Arguments, Results, result_avals
from .rule_call import CustomVJPException, ResultAxes, RuledCall, refuse_captured, rule_operands
from .rule_values import SymbolicZero, call_rule, called_like, pair_of, settled_results, vary_unlike


P = ParamSpec("P")
S = TypeVar("S")


__all__ = ["custom_vjp", "custom_vjp_call_p"]


Pullback = Callable[[Sequence[Any], Sequence[Any]], list[Any]]
"""Flat residuals and cotangents of the results (may be Zero) to cotangents of all operands (may be Zero)."""

Forward = Callable[[Sequence[Any], Sequence[bool]], tuple[list[Any], list[Any], Pullback]]
"""Flat primals, and which of them move, to flat results, residuals, and what pulls cotangents back."""


class CustomVJPCall(RuledCall):
    """A call of `fun`; when it is differentiated `fwd` runs in its place, and on the way back what `fwd` gave for that."""

    inlined = "fun"

    def jvp(self, primals, tangents, /, *, fun, fwd, name, num_consts, **params):  # pyright: ignore
        refuse_captured(name, tangents[:num_consts], CustomVJPException)
        nonzero = tuple(not is_zero(t) for t in tangents[num_consts:])
        outs, residuals, pullback = fwd(rule_operands(fun, primals[num_consts:]), nonzero)
        outs = settled_results(outs, fun, f"the fwd rule of {name}")
        avals = [tangent_aval(aval_of(x)) for x in outs]
        given = iter(
            custom_lin_p.bind(
                *residuals,
                *[t for t in tangents[num_consts:] if not is_zero(t)],
                pullback=pullback,
                num_res=len(residuals),
                nonzero=nonzero,
                out_avals=tuple(avals),
                name=name,
            )
        )
        return outs, [Zero(a) if a.dtype == dtypes.float0 else next(given) for a in avals]

    def mapped_rules(self, axis, dims, settled, /, *, fwd, **params):
        return {"fwd": _mapped_forward(fwd, axis, dims, settled)}

    def rules_of_used(self, used, /, *, fwd, **params):
        def fwd_of_used(primals, nonzero):
            outs, residuals, pullback = fwd(primals, nonzero)
            avals = [tangent_aval(aval_of(x)) for x in outs]

            def pull_used(res, cts):
                given = iter(cts)
                return pullback(res, [next(given) if u else Zero(a) for u, a in zip(used, avals)])

            return [x for x, u in zip(outs, used) if u], residuals, pull_used

        return {"fwd": called_like(fwd_of_used, fwd)}

    def shown_params(self, params):
        rules = {"bwd": getattr(params["fwd"], "backward", "bwd")}
        return super().shown_params({**params, **rules})


custom_vjp_call_p = CustomVJPCall("custom_vjp_call")


def _mapped_forward(fwd: Forward, axis: Any, dims: Sequence[int | None], settled: ResultAxes) -> Forward:
    """The forward rule for all examples."""

    def fwd_of_all(primals, nonzero):
        kept: list[Any] = []

        def flat(*values):
            outs, residuals, pullback = fwd(values, nonzero)
            kept[:] = len(outs), pullback
            return [*outs, *residuals]

        found, at = vmap_flat(flat, axis, primals, dims)
        n, pullback = kept
        outs = settled.place(found[:n], at[:n])
        return outs, found[n:], _mapped_pullback(pullback, axis, dims, settled.dims, at[n:])

    return called_like(fwd_of_all, fwd)


def _mapped_pullback(
    pullback: Pullback,
    axis: Any,
    dims: Sequence[int | None],
    out_dims: Sequence[int | None],
    res_dims: Sequence[int | None],
) -> Pullback:
    """The pullback for all examples. Operands that are the same for all get the sum of the examples' cotangents."""

    differ = any(d is not None for d in out_dims)

    def pull_all(residuals, cts):
        nonzero = [not is_zero(ct) for ct in cts]
        zero: list[Any] = []

        def flat(*values):
            given = iter(values[len(residuals) :])
            full = [next(given) if m else _zero_of_example(ct, d) for ct, m, d in zip(cts, nonzero, out_dims)]
            found = pullback(values[: len(residuals)], full)
            zero[:] = [ct if is_zero(ct) else None for ct in found]
            return [ct for ct in found if not is_zero(ct)]

        values = [*residuals, *[ct for ct, m in zip(cts, nonzero) if m]]
        found, at = vmap_flat(flat, axis, values, [*res_dims, *[d for d, m in zip(out_dims, nonzero) if m]])
        given = iter(zip(found, at))
        return [
            _zero_of_all(z, d, axis.size) if z is not None else _gathered(axis, *next(given), d, differ)
            for z, d in zip(zero, dims)
        ]

    return pull_all


def _zero_of_example(zero: Zero, dim: int | None) -> Zero:
    shape = zero.aval.shape
    return zero if dim is None else Zero(zero.aval.update(shape=shape[:dim] + shape[dim + 1 :]))


def _zero_of_all(zero: Zero, dim: int | None, size: int) -> Zero:
    shape = zero.aval.shape
    return zero if dim is None else Zero(zero.aval.update(shape=(*shape[:dim], size, *shape[dim:])))


def _gathered(axis: Any, ct: Any, at: int | None, dim: int | None, differ: bool) -> Any:
    """The cotangent of an operand mapped along `dim`, from what lies along `at`. `differ`: the results are mapped."""
    if dim is not None:
        return axis.move(ct, at, dim)
    if at is None and not differ:
        return ct
    # The operand is the same for all examples: each adds its share, also where the shares are the same.
    return reduce_sum_p(axis.move(ct, at, 0), axes=(0,))


# The linear map of tangents ------------------------------------------------------------------------------------------


class CustomLin(FunctionCall):
    """Tangents of operands to tangents of results, known by its transpose alone: `pullback`.

    Operands are `num_res` residuals, then the tangents of the operands marked in `nonzero`. Results are the tangents of
    those of `out_avals` that are not float0.
    """

    def abstract(self, /, *avals, out_avals, **params):
        return pure([a for a in out_avals if a.dtype != dtypes.float0])

    def lower(self, ctx, /, *values, name, **params):
        raise no_forward_mode(name)

    def evaluate(self, args, /, *, name, **params):
        raise no_forward_mode(name)

    def jvp(self, primals, tangents, /, *, name, num_res, **params):
        if not all(map(is_zero, tangents[:num_res])):
            raise no_forward_mode(name)
        moved = [*primals[:num_res], *map(instantiate, tangents[num_res:])]
        return [self.bind(*args, name=name, num_res=num_res, **params) for args in (primals, moved)]

    def transpose(self, cts, /, *args, pullback, num_res, nonzero, out_avals, name):
        given = iter(cts)
        full = [Zero(a) if a.dtype == dtypes.float0 else _as_varying(next(given), a) for a in out_avals]
        found = [ct for ct, m in zip(pullback(args[:num_res], full), nonzero) if m]
        return [None] * num_res + [ct if is_linear(x) else None for ct, x in zip(found, args[num_res:])]

    def batch(self, axis, args, dims, /, *, pullback, num_res, nonzero, out_avals, name):
        # Tangents and cotangents of all examples, along axis 0.
        tangents = [axis.move(t, d, 0) for t, d in zip(args[num_res:], dims[num_res:])]
        mapped = _mapped_pullback(pullback, axis, [0] * len(nonzero), [0] * len(out_avals), list(dims[:num_res]))
        avals = tuple(a.update(shape=(axis.size, *a.shape)) for a in out_avals)
        outs = self.bind(
            *args[:num_res], *tangents,
            pullback=mapped, num_res=num_res, nonzero=nonzero, out_avals=avals, name=name,
        )  # fmt: skip
        return outs, [0] * len(outs)

    def shown_params(self, params):
        return {"name": params["name"], "num_res": params["num_res"]}


custom_lin_p = CustomLin("custom_lin")


def _as_varying(ct: Any, aval: ShapedArray) -> Any:
    return ct if is_zero(ct) else as_cotangent(ct, cotangent_aval(aval))


def no_forward_mode(name: str) -> TypeError:
    """The error for a forward derivative of a custom_vjp function."""
    line = source.position_text(call_sites.here(), "\n  It is called in ")
    return TypeError(
        with_advice(
            f"forward-mode differentiation (jvp, jacfwd, linearize's linear function) does not work through {name}, a custom_vjp "
            f"function: its rules say how cotangents go back, not how tangents go forward.{line}",
            "reverse mode (grad, vjp, jacrev); or give it a custom_jvp rule, which serves both",
        )
    )


# The decorated function ----------------------------------------------------------------------------------------------


def _with_perturbed(primals: Sequence[Any], nonzero: Sequence[bool]) -> list[Any]:
    from .custom_vjp_primal import CustomVJPPrimal  # few functions ask for them

    return list(map(CustomVJPPrimal, primals, nonzero))


class _FlatForward:
    """The user's forward rule on flat operands, in one call."""

    __slots__ = ("arguments", "bwd", "fwd", "name", "results", "symbolic_zeros")

    def __init__(self, owner: custom_vjp, arguments: Arguments, results: Results):
        self.fwd, self.bwd, self.symbolic_zeros = owner.fwd, owner.bwd, owner.symbolic_zeros
        self.arguments, self.results, self.name = arguments, results, name_of(owner.fun)

    def __call__(self, primals: Sequence[Any], nonzero: Sequence[bool]) -> tuple[list[Any], list[Any], Pullback]:
        given, rule = self.arguments, self.fwd
        assert rule is not None
        what = f"the fwd rule {name_of(rule)} of {self.name}"
        leaves = _with_perturbed(primals, nonzero) if self.symbolic_zeros else primals
        apart = given.set_apart(primals)
        out = call_rule(rule, *given.full(apart, given.trees(leaves)))
        result, residuals = pair_of(out, what, "the result and what bwd needs (the residuals)")
        outs = self.results.flatten(result, f"{what} gives")
        res, res_tree = tree.flatten(residuals)
        result_avals(res, residuals, f"{what} gives, in the residuals")
        for x in res:
            if isinstance(x, Reference) and not any(x is given for given in leaves):
                raise returned_reference(x, what, " in the residuals")
        avals = [aval_of(x) for x in primals]
        # Python numbers stay what they are: rules choose by them.
        numbers = {i: x for i, x in enumerate(res) if is_python_scalar(x)}
        arrays = [x for i, x in enumerate(res) if i not in numbers]
        return outs, arrays, _FlatBackward(self, apart, res_tree, numbers, avals)

    def __repr__(self) -> str:
        return name_of(self.fwd)

    @property
    def backward(self) -> str:
        return name_of(self.bwd)


class _FlatBackward:
    """The user's backward rule on flat residuals and cotangents. `numbers` are the residuals that are Python numbers, by
    their places among all."""

    __slots__ = ("apart", "avals", "forward", "numbers", "res_tree")

    def __init__(
        self, forward: _FlatForward, apart: list[Any], res_tree: Any, numbers: dict[int, Any], avals: list[ShapedArray]
    ):
        self.forward, self.apart, self.res_tree, self.avals = forward, apart, res_tree, avals
        self.numbers = numbers

    def __call__(self, residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        rule, out_tree = self.forward.bwd, self.forward.results.tree
        assert rule is not None
        written = SymbolicZero if self.forward.symbolic_zeros else lambda aval: instantiate(Zero(aval))
        given = [written(ct.aval) if is_zero(ct) else ct for ct in cts]
        arrays = iter(residuals)
        res = [self.numbers[i] if i in self.numbers else next(arrays) for i in range(self.res_tree.num_leaves)]
        out = call_rule(rule, *self.apart, self.res_tree.unflatten(res), out_tree.unflatten(given))
        return self._checked(out, f"the bwd rule {name_of(rule)} of {self.forward.name}")

    def _checked(self, out: Any, what: str) -> list[Any]:
        """Flat cotangents of the operands. None stands for zeros in a whole argument, or below it."""
        in_tree, names = self.forward.arguments.in_tree, self.forward.arguments.leaf_names()
        count = len(in_tree.children())
        if isinstance(out, list) and len(out) == count:
            out = tuple(out)
        if not isinstance(out, tuple) or len(out) != count:
            told = (
                f"a {type(out).__name__} of {len(out)}" if isinstance(out, (tuple, list)) else f"a {type(out).__name__}"
            )
            raise TypeError(
                f"{what} must return a tuple with one cotangent for each argument, {count} in all (None: zero); it returned "
                f"{told}"
            )
        try:
            cts = _flat_cotangents(out, in_tree)
        except (ValueError, TypeError):
            raise TypeError(
                f"{what} must return a tuple of cotangents of the arguments' structure, {in_tree}; it returned "
                f"{tree.structure(out)}"
            ) from None
        return [
            _cotangent(self.forward.bwd, ct, a, f"{what} returned, for {name},")
            for ct, a, name in zip(cts, self.avals, names)
        ]


def _flat_cotangents(out: tuple, in_tree: Any) -> list[Any]:
    """One cotangent for each leaf of the arguments; a None or an array stands for all leaves below it."""
    leaves, structure = tree.flatten(out, is_leaf=lambda x: x is None or is_zero(x))
    numbers = in_tree.unflatten(range(in_tree.num_leaves))
    found: list[Any] = [None] * in_tree.num_leaves
    for ct, below in zip(leaves, structure.flatten_up_to(numbers)):
        for number in tree.leaves(below):
            found[number] = ct
    return found


def _cotangent(rule: Any, ct: Any, aval: ShapedArray, what: str) -> Any:
    wanted = tangent_aval(aval)
    if ct is None or wanted.dtype == dtypes.float0:
        return Zero(wanted)
    if isinstance(ct, SymbolicZero):
        ct = Zero(ct.aval)
    own = ct.aval if is_zero(ct) else result_avals([ct], ct, what)[0]
    real = not dtypes.is_complex(wanted.dtype)
    unlike = not is_zero(ct) and vary_unlike(rule, own, wanted)
    if own.shape != wanted.shape or own.dtype == dtypes.float0 or (real and dtypes.is_complex(own.dtype)) or unlike:
        raise ValueError(f"{what} a cotangent {own.short()}; the argument is {aval.short()}, and they must agree")
    if is_zero(ct):
        return Zero(wanted)
    return ct if own.dtype == wanted.dtype else convert(ct, wanted.dtype)


class custom_vjp(FunctionWithRules, Generic[P, S]):
    """Decorator: a function whose reverse derivative is a pair of rules given with `defvjp`. Forward mode raises
    TypeError.

    Arguments in `nondiff_argnums` or `nondiff_argnames` are not differentiated and may be anything but traced values;
    `fwd` gets them where they are, `bwd` first. Under vmap function and rules are mapped. Raises AttributeError when it
    is called before it has rules, TypeError or ValueError where what the rules give does not fit.
    """

    kind = "custom_vjp"
    advice = " Name it in nondiff_argnums if no derivative with respect to it is meant"

    def __init__(
        self, fun: Callable[P, S], nondiff_argnums: int | Sequence[int] = (), nondiff_argnames: str | Sequence[str] = ()
    ):
        super().__init__(fun, nondiff_argnums, nondiff_argnames)
        self.fwd: Callable[..., Any] | None = None
        self.bwd: Callable[..., Any] | None = None
        self.symbolic_zeros = False
        self.optimize_remat = False

    def defvjp(
        self,
        fwd: Callable[..., Any],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
    ) -> None:
        """Set the rules: `fwd(*args)` gives (result, residuals), and `bwd(residuals, cotangent)` a tuple with the
        cotangent of each argument. None stands for zero; what is given for integers is not read.

        With `symbolic_zeros` each array reaches `fwd` as a `CustomVJPPrimal`, and cotangents that are zero reach `bwd`
        as `SymbolicZero`. `optimize_remat` is accepted and changes nothing: under checkpoint what `fwd` computes for
        `bwd` alone is left out of the forward pass in any case.

        Raises NotImplementedError for both options together.
        """
        if symbolic_zeros and optimize_remat:
            raise NotImplementedError("custom_vjp takes optimize_remat or symbolic_zeros, not both")
        self.fwd, self.bwd = fwd, bwd
        self.symbolic_zeros, self.optimize_remat = symbolic_zeros, optimize_remat

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> S:
        name = name_of(self.fun)
        if self.fwd is None or self.bwd is None:
            raise AttributeError(f"the custom_vjp function {name} has no rules yet: give it some with defvjp")
        given = self.positional(args, kwargs)
        if repeats_reference(tree.leaves(given)):
            arguments, flat = self.split(given)
            raise aliasing_error(f"the custom_vjp function {name}", arguments.leaf_names(), flat, ())
        if evaluating():
            return self.fun(*given)
        self._refuse_tracers(given)
        arguments, flat = self.split(given)
        results = Results()
        outs = custom_vjp_call_p.bind(
            *flat,
            fun=FlatCall(self, arguments, results),
            fwd=_FlatForward(self, arguments, results),
            name=name,
            num_consts=0,
            symbolic_zeros=self.symbolic_zeros,
        )
        return results.tree.unflatten(outs)

    def _refuse_tracers(self, args: tuple) -> None:
        for i in self.nondiff_argnums:
            for x in tree.leaves(args[i]) if i < len(args) else ():
                if isinstance(x, Tracer):
                    raise UnexpectedTracerError(
                        with_advice(
                            f"{self.argument_name(i)} of the custom_vjp function {name_of(self.fun)} is in nondiff_argnums and "
                            f"holds {x.description()}.\n  bwd runs later, where the value is no longer there.",
                            "nondiff_argnums is for functions and options; pass arrays as ordinary arguments, "
                            "hand them to bwd in the residuals, and return None as their cotangent",
                        )
                    )
