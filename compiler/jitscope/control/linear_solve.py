"""custom_linear_solve: solutions of linear equations, differentiated as such and not through the solver."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..core import call_sites, source
from ..core.annotations import PyTree
from ..core.avals import ShapedArray, tangent_aval
from ..core.jaxpr import ClosedJaxpr, DebugInfo
from ..core.primitive import HigherOrder
from ..core.staging import jaxpr_as_fun, trace_to_jaxpr
from ..core.zeros import Zero, is_linear, is_zero
from ..named_tuple import NamedTuple
from ..ops.families import add_tangents
from ..ops.linear import instantiate, neg_p
from ..transforms.jvp import jvp_jaxpr
from ..transforms.vmap import vmap_jaxpr
from .bodies import check_leaves, lift_constants, name_of
from .transposing import LinearFunction


__all__ = ["custom_linear_solve"]


class Parts(NamedTuple):
    """Something for each program of a solve: the linear map, its transpose, and the solvers for both."""

    matvec: Any
    vecmat: Any
    solve: Any
    transpose_solve: Any

    def transposed(self) -> Parts:
        return Parts(self.vecmat, self.matvec, self.transpose_solve, self.solve)


class LinearSolve(HigherOrder):
    """The x for which `matvec` gives b, found by the program `solve`.

    Operands: what each program captured, `consts` of them, then b. Each program takes its own, then a vector. `solve`
    may give further results, which have no derivative. `vecmat` and `transpose_solve` are None where no transpose is
    known.
    """

    idle = frozenset(("matvec", "vecmat", "transpose_solve"))

    def abstract(self, /, *avals, solve, **params):
        return solve.out_avals, solve.effects

    def lower(self, ctx, /, *values, solve, consts, **params):
        own, b = _parts(values, consts)
        return ctx.inner_jaxpr(solve, [*own.solve, *b], "solve")

    def jvp(self, primals, tangents, /, *, consts, **programs):
        # A x = b, so ∂A x + A ∂x = ∂b, and ∂x = A⁻¹ (∂b - ∂A x).
        jaxprs = Parts(**programs)
        outs = self.bind(*primals, consts=consts, **programs)
        (own, _), (dots, b_dot) = _parts(primals, consts), _parts(tangents, consts)
        n = len(b_dot)
        rhs = list(b_dot)
        if not all(map(is_zero, dots.matvec)):
            nonzero = [not is_zero(t) for t in dots.matvec]
            both, out_nonzero = jvp_jaxpr(jaxprs.matvec, [*nonzero, *[False] * n])
            given = [t for t in dots.matvec if not is_zero(t)]
            found = iter(jaxpr_as_fun(both)(*own.matvec, *outs[:n], *given)[n:])
            rhs = [add_tangents(t, neg_p(next(found))) if m else t for t, m in zip(rhs, out_nonzero)]
        aux = [Zero(tangent_aval(a)) for a in jaxprs.solve.out_avals[n:]]
        if all(map(is_zero, rhs)):
            return outs, [*rhs, *aux]
        flat = [x for part in own for x in part]
        x_dot = self.bind(*flat, *map(instantiate, rhs), consts=consts, **programs)
        return outs, [*x_dot[:n], *aux]

    def transpose(self, cts, /, *args, consts, **programs):
        own, b = _parts(args, consts)
        jaxprs = Parts(**programs)
        if jaxprs.transpose_solve is None:
            line = source.position_text(call_sites.here(), "\n  it is called in ")
            raise TypeError(
                "reverse-mode differentiation through custom_linear_solve solves with the transpose, and it was given neither "
                f"transpose_solve nor symmetric=True.{line}"
            )
        if any(is_linear(x) for part in own for x in part):
            raise NotImplementedError(
                "custom_linear_solve is transposed with respect to b alone, not to the linear map"
            )
        flat = [x for part in own.transposed() for x in part]
        given = [instantiate(ct) for ct in cts[: len(b)]]
        found = self.bind(*flat, *given, consts=consts.transposed(), **jaxprs.transposed()._asdict())
        return [None] * sum(consts) + [ct if is_linear(x) else None for ct, x in zip(found, b)]

    def batch(self, axis, args, dims, /, *, consts, **programs):
        # Vectors are mapped in all programs, along axis 0, whichever of them made that necessary.
        own, b = _parts(args, consts)
        own_dims, b_dims = _parts(dims, consts)
        mapped = Parts(*[_mapped(axis, jaxpr, at, len(b)) for jaxpr, at in zip(Parts(**programs), own_dims)])
        flat = [x for part in own for x in part]
        vectors = [axis.move(x, d, 0) for x, d in zip(b, b_dims)]
        outs = self.bind(*flat, *vectors, consts=consts, **mapped._asdict())
        return outs, [0] * len(outs)

    def shown_params(self, params):
        return {name: params[name] for name in Parts._fields if params[name] is not None}


custom_linear_solve_p = LinearSolve("custom_linear_solve")


def _parts(flat: Sequence[Any], consts: Parts) -> tuple[Parts, list[Any]]:
    """What belongs to each program, and to b."""
    found, start = [], 0
    for count in consts:
        found.append(list(flat[start : start + count]))
        start += count
    return Parts(*found), list(flat[start:])


def _mapped(axis: Any, closed: ClosedJaxpr | None, dims: Sequence[int | None], vectors: int) -> ClosedJaxpr | None:
    if closed is None:
        return None
    batched, _ = vmap_jaxpr(closed, axis, [*dims, *[0] * vectors], [True] * len(closed.out_avals))
    assert not batched.consts
    return batched


# For users -----------------------------------------------------------------------------------------------------------


def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: PyTree,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> PyTree:
    """`solve(matvec, b)`, differentiated as the x for which `matvec(x) == b`, a linear map, and not through the solver.

    `b` is a tree of arrays, and x one like it. Derivatives with respect to b and to what `matvec` captures solve again:
    forward ones with `solve`, reverse ones with `transpose_solve(vecmat, b)`, where `vecmat` is the transpose of
    `matvec`; `symmetric` says that they are the same, and makes `solve` serve for both. With `has_aux` the solvers
    return (x, aux). Raises TypeError or ValueError where structures or shapes differ from b's, TypeError for reverse
    mode without a transpose.
    """
    if transpose_solve is None and symmetric:
        transpose_solve = solve
    leaves, b_tree = tree.flatten(b)
    avals = check_leaves(leaves, b, "custom_linear_solve got b with, at b")
    in_tree = tree.structure((b,))

    def traced(fun: Callable[[Any], Any], what: str, aux: bool = False) -> tuple[ClosedJaxpr, Any]:
        return _trace(fun, what, in_tree, b_tree, avals, aux)

    matvec_jaxpr, _ = traced(matvec, f"matvec ({name_of(matvec)})")
    solve_jaxpr, out_tree = traced(functools.partial(solve, matvec), f"solve ({name_of(solve)})", has_aux)
    vecmat_jaxpr = transpose_jaxpr = None
    if transpose_solve is not None:
        vecmat = matvec if symmetric else _transpose_of(matvec, in_tree, avals)
        vecmat_jaxpr = matvec_jaxpr if symmetric else traced(vecmat, "the transpose of matvec")[0]
        what = f"transpose_solve ({name_of(transpose_solve)})"
        transpose_jaxpr, _ = traced(functools.partial(transpose_solve, vecmat), what, has_aux)
    programs, captured = [], []
    for closed in (matvec_jaxpr, vecmat_jaxpr, solve_jaxpr, transpose_jaxpr):
        consts, lifted = lift_constants([] if closed is None else [closed])
        captured.append(consts)
        programs.append(lifted[0] if lifted else None)
    operands = [x for part in captured for x in part]
    outs = custom_linear_solve_p.bind(
        *operands, *leaves, consts=Parts(*map(len, captured)), **Parts(*programs)._asdict()
    )
    return out_tree.unflatten(outs)


def _trace(
    fun: Callable[[Any], Any], what: str, in_tree: Any, b_tree: Any, avals: Sequence[ShapedArray], aux: bool
) -> tuple[ClosedJaxpr, Any]:
    """The program of a function of vectors like b, and the structure of its result."""
    trees: list[Any] = []

    def flat(*leaves: Any) -> list[Any]:
        out = fun(*in_tree.unflatten(leaves))
        if aux and (not isinstance(out, tuple) or len(out) != 2):
            raise ValueError(f"custom_linear_solve: with has_aux=True {what} must return (x, aux)")
        found, out_tree = tree.flatten(out)
        out_avals = check_leaves(found, out, f"custom_linear_solve: {what} returned, at result")
        own_tree = tree.structure(out[0] if aux else out)
        if own_tree != b_tree:
            # As in JAX, another number of arrays is a matter of shapes.
            wrong = TypeError if own_tree.num_leaves == b_tree.num_leaves else ValueError
            raise wrong(
                f"custom_linear_solve: {what} must give a tree like b, of structure {b_tree}; it gave {own_tree}"
            )
        for own, aval in zip(out_avals, avals):
            if own.shape != aval.shape:
                raise ValueError(
                    f"custom_linear_solve: {what} must give arrays of b's shapes; it gave {own.short()} for {aval.short()}"
                )
        trees.append(out_tree)
        return found

    debug = DebugInfo(what.split(" ")[0], defined=source.position_of_function(fun))
    return trace_to_jaxpr(flat, avals, debug), trees[0]


def _transpose_of(matvec: Callable[[Any], Any], in_tree: Any, avals: Sequence[ShapedArray]) -> Callable[[Any], Any]:
    linear = LinearFunction(matvec, in_tree, avals)

    def vecmat(vector: Any) -> Any:
        (out,) = in_tree.unflatten(linear.transpose(tree.leaves(vector)))
        return out

    return vecmat
