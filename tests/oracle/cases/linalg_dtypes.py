"""Dtypes, weak types and shapes of linear algebra for matrices of several dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from tests.oracle import letters
from tests.oracle.library import Library


EXPRESSIONS = """
la.cholesky(x)
la.det(x)
la.inv(x)
la.slogdet(x)
la.eig(x)
la.eigh(x)
la.eigvals(x)
la.eigvalsh(x)
la.qr(x)
la.svd(x)
la.svdvals(x)
la.pinv(x)
la.lstsq(x, x)
la.matrix_rank(x)
la.matrix_power(x, 2)
la.matrix_power(x, 0)
la.norm(x)
la.norm(x, 0, axis=0)
la.norm(x, 2)
la.cond(x)
la.solve(x, x)
la.multi_dot([x, x])
la.vector_norm(x, ord=1)
la.tensorinv(x, 1)
la.tensorsolve(x, x[0])
la.outer(x[0], x[0])
la.trace(x)
la.vecdot(x, x)
la.matrix_norm(x, ord=1)
sl.block_diag(x, 2)
sl.cholesky(x)
sl.lu(x)
sl.lu_factor(x)
sl.qr(x)
sl.expm(x)
sl.schur(x * 1.0)
sl.schur(x * 1.0, 'complex')
sl.toeplitz(x[0])
sl.toeplitz(x[0], 2.5 * x[0])
sl.hankel(x[0])
sl.circulant(x[0])
sl.fiedler(x[0])
sl.leslie(x[0], x[0][:1])
sl.companion(x[0])
sl.fiedler_companion(x[0])
sl.convolution_matrix(x[0], 2)
sl.sqrtm(x * 1.0)
sl.polar(x * 1.0)
sl.hilbert(2)
sl.invhilbert(2)
sl.pascal(2)
sl.invpascal(2)
sl.helmert(2)
sl.hadamard(2)
sl.dft(2)
sl.solve_sylvester(x, x, x)
sl.solve_triangular(x, x)
sl.solve(x, x)
sl.solve(x, x, assume_a='pos')
sl.hessenberg(x * 1.0)
fft.fft(x)
fft.ifft(x)
fft.irfft(x)
fft.hfft(x)
fft.fftn(x)
fft.fft(x, norm='ortho')
fft.fftshift(x)
fft.rfft(x.real)
fft.ihfft(x.real)
fft.fftfreq(3)
fft.rfftfreq(3)
fft.fftfreq(3, dtype='float32')
""".strip().splitlines()


def _shapes(expr: str, kind: str) -> Callable[[Library], Any]:
    def run(o: Library) -> Any:
        scope = o.scope | letters.rooms(o)
        x = o.jnp.asarray(numpy.array([[2, 1], [1, 3]]), kind)
        return o.jx.eval_shape(lambda x: o.tree.leaves(eval(expr, scope | {"x": x})), x)

    return run


CASES = {
    f"{expr} of {kind}": _shapes(expr, kind)
    for kind in ("int32", "float32", "complex64", "bool")
    for expr in EXPRESSIONS
}


def section(name: str) -> str:
    return name.rpartition(" of ")[2]
