"""The primitives by the names they have in `jax.lax`, and where they are: interpreters of jaxprs look for them there."""

from __future__ import annotations

import importlib
from typing import Any


_WHERE = {
    "ops.elementwise": "abs acos acosh and asin asinh atan2 atan atanh bitcast_convert_type cbrt ceil clamp clz complex conj "
    "cos cosh digamma div eq erf_inv erf erfc exp2 exp expm1 floor ge gt imag integer_pow is_finite le lgamma log1p log2 log "
    "logistic lt max min mulhi ne nextafter not one_minus_square or polygamma population_count pow real reduce_precision rem round rsqrt "
    "shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt square stop_gradient tan tanh xor",
    "ops.linear": "add broadcast_in_dim concatenate convert_element_type copy mul neg pad reduce_sum reshape rev select_n "
    "slice squeeze sub transpose",
    "ops.collective": "all_gather all_to_all axis_index pmax pmin ppermute psum",
    "ops.reduce": "argmax argmin cumlogsumexp cummax cummin cumprod cumsum reduce_and reduce_max reduce_min reduce_or "
    "reduce_prod reduce_xor",
    "ops.indexing": "dynamic_slice dynamic_update_slice gather iota scatter_add scatter_max scatter_min scatter_mul scatter "
    "scatter_sub",
    "ops.windows": "reduce_window_max reduce_window_min reduce_window_sum select_and_gather_add select_and_scatter_add",
    "ops.stacking": "stack tile unstack",
    "ops.sort": "sort top_k",
    "ops.approximate": "approx_top_k",
    "ops.split": "split",
    "ops.marks": "dce_sink optimization_barrier",
    "ops.conv": "conv_general_dilated",
    "ops.dot": "dot_general",
    "ops.fft": "fft",
    "ops.generators": "rng_bit_generator rng_uniform",
    "backend.placement": "device_put",
    "control.cond": "cond",
    "control.reducing": "reduce reduce_window",
    "control.scan": "scan",
    "control.while_loop": "while",
    "control.linear_solve": "linear_solve",
    "special.bessel": "bessel_i0e bessel_i1e",
    "special.incomplete_gamma": "igamma igammac igamma_grad_a",
    "special.incomplete_beta": "regularized_incomplete_beta",
    "special.polynomial": "polynomial",
    "special.zeta": "zeta",
}
_OTHERWISE = {"linear_solve_p": "custom_linear_solve_p"}
"""What has another name here."""

_LINALG = {
    "ops.linalg": "cholesky cholesky_update lu lu_pivots_to_permutation triangular_solve",
    "ops.householder": "householder_product ormqr qr",
    "ops.eigen": "eig eigh",
    "ops.svd": "svd",
    "ops.schur": "hessenberg schur tridiagonal",
}

PRIMITIVES = {f"{name}_p": module for module, names in _WHERE.items() for name in names.split()}
OF_LINALG = {f"{name}_p": module for module, names in _LINALG.items() for name in names.split()}


def find(name: str, module: str = "lax") -> Any:
    """The primitive of that name in `lax` or `lax.linalg`. Raises AttributeError where there is none."""
    places = PRIMITIVES if module == "lax" else OF_LINALG
    if name not in places:
        raise AttributeError(f"module 'jitscope.{module}' has no attribute {name!r}")
    return getattr(importlib.import_module(f"jitscope.{places[name]}"), _OTHERWISE.get(name, name))
