"""jaxlib's modules that build and transform MLIR, for those who write with them: loaded all together."""

from jaxlib.mlir import dialects as dialects, ir as ir, passmanager as passmanager  # pyright: ignore[reportAttributeAccessIssue]
from jaxlib.mlir.dialects import (
    arith,
    builtin,
    chlo,
    func,
    math,
    memref,
    mpmd,
    scf,
    sdy,
    sparse_tensor,
    stablehlo,
    vector,
)


builders = (arith, builtin, chlo, func, math, memref, mpmd, scf, sdy, sparse_tensor, stablehlo, vector)
