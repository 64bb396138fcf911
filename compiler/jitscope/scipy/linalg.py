"""`jitscope.scipy.linalg`: SciPy's functions of matrices that JAX has, along the last two axes; leading axes are
batches.

Integers become the default float; float16 and bfloat16 are refused, since LAPACK has neither. A matrix for which LAPACK
fails gives NaN instead of an error: a compiled program cannot raise.
"""

from .decompositions import (
    cho_factor as cho_factor,
    cholesky as cholesky,
    eigh as eigh,
    hessenberg as hessenberg,
    lu as lu,
    lu_factor as lu_factor,
    polar as polar,
    qr as qr,
    qr_multiply as qr_multiply,
    rsf2csf as rsf2csf,
    schur as schur,
    svd as svd,
)
from .equations import (
    cho_solve as cho_solve,
    det as det,
    inv as inv,
    lu_solve as lu_solve,
    solve as solve,
    solve_sylvester as solve_sylvester,
    solve_triangular as solve_triangular,
)
from .matrix_functions import expm as expm, expm_frechet as expm_frechet, funm as funm, sqrtm as sqrtm
from .special_matrices import (
    block_diag as block_diag,
    circulant as circulant,
    companion as companion,
    convolution_matrix as convolution_matrix,
    dft as dft,
    fiedler as fiedler,
    fiedler_companion as fiedler_companion,
    hadamard as hadamard,
    hankel as hankel,
    helmert as helmert,
    hilbert as hilbert,
    invhilbert as invhilbert,
    invpascal as invpascal,
    leslie as leslie,
    pascal as pascal,
    toeplitz as toeplitz,
)
from .tridiagonal import eigh_tridiagonal as eigh_tridiagonal
