"""Systems of equations with tridiagonal matrices."""

from __future__ import annotations

from typing import Any

from ..core.avals import ShapedArray, aval_of
from ..core.primitive import Primitive
from .families import add_tangents, is_linear, is_zero, pure, same_dtype
from .linalg import beside, check_matrix, over_columns, status_of, valid_or_nan
from .linear import add_p, instantiate, mul_p, neg_p, pad_p


class TridiagonalSolve(Primitive):
    """X with A X = B for A with the diagonal `d`, `dl` below it (the first entry is not read) and `du` above it (the
    last one is not). NaN where A is singular; with `perturb_singular` pivots too small are replaced by small ones
    instead."""

    def abstract(self, dl, d, du, b, /, *, perturb_singular):
        check_matrix("tridiagonal_solve", b)
        same_dtype("tridiagonal_solve", (dl, d, du, b))
        if not dl.shape == d.shape == du.shape == b.shape[:-1]:
            raise TypeError(
                "tridiagonal_solve takes three diagonals of one length, as many entries as B has rows; it got "
                f"{dl.short()}, {d.short()}, {du.short()} and {b.short()}"
            )
        return pure(ShapedArray(b.shape, b.dtype))

    def lower(self, ctx, dl, d, du, b, /, *, perturb_singular):
        avals, aval = ctx.avals_in, ctx.avals_in[3]
        if not aval.size:
            return b
        if perturb_singular:
            return ctx.lapack("tridiagonal_solve_perturbed_ffi", [dl, d, du, b], avals, [aval])[0]
        status = status_of(aval)
        shared = [(i, i) for i in range(4)]
        *_, found, info = ctx.lapack("gtsv", [dl, d, du, b], avals, [*avals, status], shared)
        return valid_or_nan(ctx, found, aval, info, status.shape)

    def jvp(self, primals, tangents, /, **params):
        *diagonals, _ = primals
        x = tridiagonal_solve_p(*primals, **params)
        *moved, right = tangents
        if not all(map(is_zero, moved)):
            dl, d, du = map(instantiate, moved)
            right = add_tangents(right, neg_p(_product(dl, d, du, x)))
        return x, tridiagonal_solve_p(*diagonals, right, **params)

    def transpose(self, ct, dl, d, du, b, /, **params):
        if not is_linear(b) or any(map(is_linear, (dl, d, du))):
            raise self.missing("transpose")
        return [None, None, None, tridiagonal_solve_p(_shifted(du, 1), d, _shifted(dl, -1), ct, **params)]

    def batch(self, axis, args, dims, /, **params):
        if all(d is None for d in dims[:3]):
            return beside(axis, args[3], dims[3], lambda b: tridiagonal_solve_p(*args[:3], b, **params))
        return tridiagonal_solve_p(*[axis.move(x, d, 0) for x, d in zip(args, dims)], **params), 0


tridiagonal_solve_p = TridiagonalSolve("tridiagonal_solve")


def _shifted(x: Any, by: int, axis: int = -1) -> Any:
    """`x` moved by one place along an axis, a zero coming in and one entry falling out."""
    aval = aval_of(x)
    config = [(0, 0, 0)] * aval.ndim
    config[axis] = (by, -by, 0)
    return pad_p(x, aval.dtype.type(0), padding_config=tuple(config))


def _product(dl: Any, d: Any, du: Any, x: Any) -> Any:
    """The product of the tridiagonal matrices with X."""
    shape = aval_of(x).shape
    wide = lambda v: over_columns(v, shape)
    below, above = (mul_p(wide(v), _shifted(x, by, -2)) for v, by in ((dl, 1), (du, -1)))
    return add_p(mul_p(wide(d), x), add_p(below, above))
