"""custom_root: roots of functions, differentiated as such and not through the search."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..control.bodies import check_leaves, lift_constants, name_of
from ..control.custom_jvp import custom_jvp_call_p
from ..core import source
from ..core.annotations import PyTree
from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import ClosedJaxpr, DebugInfo
from ..core.staging import eval_jaxpr, jaxpr_as_fun, trace_to_jaxpr
from ..core.zeros import zero_of
from ..ops.linear import convert, instantiate, neg_p, zeros
from ..transforms.jvp import jvp_flat
from ..transforms.linearize import linearize_flat


__all__ = ["custom_root"]


def custom_root(
    f: Callable[[Any], Any],
    initial_guess: PyTree,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    tangent_solve: Callable[[Callable[[Any], Any], Any], Any],
    has_aux: bool = False,
) -> PyTree:
    """`solve(f, initial_guess)`, differentiated as an x for which `f(x)` is zero, and not through the search.

    x and f(x) are trees like `initial_guess`. Derivatives with respect to what `f` captures are found by the implicit
    function theorem: `tangent_solve(g, y)` gives the x for which `g(x) == y`, g being the derivative of f at the root,
    a linear function. For reverse mode it must itself be transposable (it is, by `lax.custom_linear_solve`). The guess
    has no derivative. With `has_aux`, `solve` returns (x, aux). Raises TypeError or ValueError where structures or
    shapes differ from the guess's.
    """
    guess, structure = tree.flatten(initial_guess)
    avals = check_leaves(guess, initial_guess, "custom_root got initial_guess with, at initial_guess")
    like = _Like(structure, avals)
    f_program, _ = like.trace(f, f"f ({name_of(f)})", [avals])
    solve_program, out_tree = like.trace(functools.partial(solve, f), f"solve ({name_of(solve)})", [avals], has_aux)
    # What is differentiated is f at the root, which need not be of the guess's dtypes.
    root = solve_program.out_avals[: len(avals)]
    if root != avals:
        f_program, _ = like.trace(f, f"f ({name_of(f)})", [root])
    solver = _linearize_and_solve(f, tangent_solve)
    tangent_program, _ = like.trace(solver, f"tangent_solve ({name_of(tangent_solve)})", [root, f_program.out_avals])
    operands, counts, lifted = [], [], []
    for closed in (f_program, solve_program, tangent_program):
        consts, (program,) = lift_constants([closed])
        operands += consts
        counts.append(len(consts))
        lifted.append(program)
    outs = _Root(lifted, counts, len(guess), name_of(f)).bind([*operands, *guess])
    return out_tree.unflatten(outs)


class _Root:
    """The search and its derivative on flat operands: what `f`, `solve` and `tangent_solve` captured, then the guess."""

    def __init__(self, programs: Sequence[ClosedJaxpr], counts: Sequence[int], size: int, name: str):
        self.f, self.solve, self.tangent_solve = map(jaxpr_as_fun, programs)
        self.counts, self.size, self.name = counts, size, name

    def bind(self, flat: Sequence[Any]) -> list[Any]:
        return custom_jvp_call_p.bind(
            *flat, fun=self.run, jvp=self.jvp, name=f"custom_root_{self.name}", num_consts=0, symbolic_zeros=False
        )

    def _parts(self, flat: Sequence[Any]) -> tuple[Any, Any, Any, Any]:
        a, b, c = self.counts
        return flat[:a], flat[a : a + b], flat[a + b : a + b + c], flat[a + b + c :]

    def run(self, *flat: Any) -> list[Any]:
        _, of_solve, _, guess = self._parts(flat)
        return self.solve(*of_solve, *guess)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        # f(p, x) = 0, so ∂x = -(∂f/∂x)⁻¹ (∂f/∂p ∂p).
        outs = self.bind(primals)
        root, aux = outs[: self.size], outs[self.size :]
        of_f, _, of_tangents, _ = self._parts(primals)
        moved = self._parts(tangents)[0]
        _, rhs = jvp_flat(lambda *captured: self.f(*captured, *root), of_f, moved)
        found = self.tangent_solve(*of_tangents, *root, *map(instantiate, rhs))
        ts = [convert(neg_p(t), aval_of(x).dtype, aval_of(x).weak_type) for t, x in zip(found, root)]
        return outs, [*ts, *map(zero_of, aux)]


class _Like:
    """Traces functions that give trees like the guess."""

    def __init__(self, structure: Any, avals: Sequence[ShapedArray]):
        self.structure, self.avals = structure, avals

    def trace(
        self, fun: Callable[..., Any], what: str, arguments: Sequence[Sequence[ShapedArray]], aux: bool = False
    ) -> tuple[ClosedJaxpr, Any]:
        """The program of a function of trees like the guess, of the avals in `arguments`, and the structure of its
        result."""
        trees: list[Any] = []
        n = len(self.avals)

        def flat(*leaves: Any) -> list[Any]:
            out = fun(*[self.structure.unflatten(leaves[i * n : (i + 1) * n]) for i in range(len(arguments))])
            if aux and (not isinstance(out, tuple) or len(out) != 2):
                raise ValueError(f"custom_root: with has_aux=True {what} must return (x, aux)")
            found, out_tree = tree.flatten(out)
            self._check(
                check_leaves(found, out, f"custom_root: {what} returned, at result"), out[0] if aux else out, what
            )
            trees.append(out_tree)
            return found

        debug = DebugInfo(what.split(" ")[0], defined=source.position_of_function(fun))
        return trace_to_jaxpr(flat, [a for avals in arguments for a in avals], debug), trees[0]

    def _check(self, out_avals: Sequence[ShapedArray], out: Any, what: str) -> None:
        own = tree.structure(out)
        if own != self.structure:
            raise TypeError(
                f"custom_root: {what} must give a tree like initial_guess, of structure {self.structure}; it gave {own}"
            )
        for aval, wanted in zip(out_avals, self.avals):
            if aval.shape != wanted.shape:
                raise ValueError(
                    f"custom_root: {what} must give arrays of initial_guess's shapes; it gave {aval.short()} for "
                    f"{wanted.short()}"
                )


def _linearize_and_solve(f: Callable[[Any], Any], tangent_solve: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """The function of a point and a vector that solves with the derivative of `f` at the point."""

    def at_point(x: Any, y: Any) -> Any:
        leaves, structure = tree.flatten(x)
        linear = linearize_flat(lambda *xs: tree.leaves(f(structure.unflatten(xs))), leaves)
        avals = [aval_of(out) for out in linear.outs]

        def derivative(v: Any) -> Any:
            given = zip(tree.leaves(v), linear.in_avals, linear.nonzero_in)
            tangents = [t if aval_of(t).dtype == a.dtype else convert(t, a.dtype) for t, a, m in given if m]
            found = iter(eval_jaxpr(linear.jaxpr.jaxpr, linear.jaxpr.consts, *tangents))
            return structure.unflatten([next(found) if m else zeros(a) for m, a in zip(linear.nonzero_out, avals)])

        return tangent_solve(derivative, y)

    return at_point
