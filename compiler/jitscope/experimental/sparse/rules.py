"""`sparsify`: a program for dense arrays, run on sparse ones equation by equation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import lax, numpy as jnp, tree
from ...api import ShapeDtypeStruct, jit, make_jaxpr
from ...core.jaxpr import ClosedJaxpr, Jaxpr, Literal
from ...core.wrapping import wraps
from .arrays import BCOO, JAXSparse
from .conversion import MEANT_DENSE
from .elementwise import add, bcoo_multiply_dense, bcoo_multiply_sparse
from .products import bcoo_dot_general
from .structure import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_dynamic_slice,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_rev,
    bcoo_slice,
    bcoo_squeeze,
    bcoo_sum_duplicates,
    bcoo_transpose,
)


__all__ = ["sparsify"]

_LINEAR = frozenset("conj copy imag neg real stop_gradient".split())
"""Sums of elements kept at one place may be taken after these."""
_ZERO_PRESERVING = frozenset(
    "abs asin asinh atan atanh bessel_i1e cbrt ceil convert_element_type erf erf_inv expm1 floor integer_pow log1p reduce_precision round "
    "sign sin sinh sqrt square tan tanh".split()
)


def is_sparse(x: Any) -> bool:
    """Whether it is a sparse array: for trees, whose leaves they are here."""
    return isinstance(x, JAXSparse)


def sparsify(f: Callable[..., Any], use_tracer: bool = False) -> Callable[..., Any]:
    """`f`, a function of dense arrays, for BCOO arrays among its arguments.

    It is traced as for dense arrays and then run on what it got: operations that leave zeros zeros give sparse results; products,
    sums, slices and other shapes go, too, and `jit`, `cond`, `while_loop` and `scan`. Raises NotImplementedError for operations whose
    result would be dense; `todense` says that it is meant. `use_tracer` is taken and changes nothing.
    """

    @wraps(f)
    def sparse_f(*args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten((args, kwargs), is_sparse)
        leaves = [_as_bcoo(x) if is_sparse(x) else x for x in leaves]
        arrays = [i for i, x in enumerate(leaves) if is_sparse(x) or hasattr(x, "shape") or isinstance(x, (bool, int, float, complex))]  # fmt: skip

        def dense(*values: Any) -> Any:
            given = dict(zip(arrays, values))
            whole = [given.get(i, x) for i, x in enumerate(leaves)]
            taken, named = structure.unflatten(whole)
            return f(*taken, **named)

        given = [leaves[i] for i in arrays]
        closed, out = make_jaxpr(dense, return_shape=True)(*[ShapeDtypeStruct(x.shape, x.dtype) if is_sparse(x) else x for x in given])  # fmt: skip
        return tree.structure(out).unflatten(run(closed.jaxpr, closed.consts, given))

    return sparse_f


def _as_bcoo(x: Any) -> BCOO:
    if isinstance(x, BCOO):
        return x
    if hasattr(x, "to_bcoo"):
        return x.to_bcoo()
    raise NotImplementedError(f"sparsify takes BCOO arrays, not {type(x).__name__}")


def run(jaxpr: Jaxpr, consts: Any, args: Any) -> list[Any]:
    """The results of a program on arrays, some of them sparse."""
    env: dict[Any, Any] = dict(zip((*jaxpr.constvars, *jaxpr.invars), (*consts, *args)))

    def read(v: Any) -> Any:
        return v.val if isinstance(v, Literal) else env[v]

    for eqn in jaxpr.eqns:
        values, name = [read(v) for v in eqn.invars], eqn.primitive.name
        if not any(map(is_sparse, values)):
            outs = eqn.primitive.bind(*values, **eqn.params)
        elif name in _RULES:
            outs = _RULES[name](*values, **eqn.params)
        elif name in _LINEAR or name in _ZERO_PRESERVING:
            mat = values[0] if name in _LINEAR else _once(values[0])
            outs = mat._like(eqn.primitive.bind(mat.data, **eqn.params))
        else:
            raise NotImplementedError(
                f"{name} of a sparse array would be dense, or has no sparse form: use todense() if a dense array is meant"
            )
        env.update(zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs]))
    return [read(v) for v in jaxpr.outvars]


def _once(mat: BCOO) -> BCOO:
    """With one element at each place."""
    return mat if mat.unique_indices else bcoo_sum_duplicates(mat, nse=mat.nse)


# Rules ----------------------------------------------------------------------------------------------------------------


def _mul(x: Any, y: Any, **_: Any) -> Any:
    if is_sparse(x) and is_sparse(y):
        return bcoo_multiply_sparse(x, y)
    mat, dense = (x, y) if is_sparse(x) else (y, x)
    return mat._like(bcoo_multiply_dense(mat, dense))


def _div(x: Any, y: Any, **_: Any) -> Any:
    if is_sparse(y):
        raise NotImplementedError("the quotient by a sparse array would divide by zero: use todense() if that is meant")
    return x._like(bcoo_multiply_dense(x._like(jnp.ones_like(x.data)), 1 / jnp.asarray(y)) * x.data) if jnp.ndim(y) else x._like(x.data / y)  # fmt: skip


def _pow(x: Any, y: Any, **_: Any) -> Any:
    if is_sparse(y) or jnp.ndim(y):
        raise NotImplementedError(
            "a power with an exponent that is an array would be dense: use todense() if that is meant"
        )
    x = _once(x)
    return x._like(x.data**y)


def _name(mat: BCOO, *, name: str) -> Any:
    return mat.todense() if name == MEANT_DENSE else mat


def _dot_general(lhs: Any, rhs: Any, *, dimension_numbers: Any, preferred_element_type: Any = None, **_: Any) -> Any:
    return bcoo_dot_general(lhs, rhs, dimension_numbers=dimension_numbers, preferred_element_type=preferred_element_type)  # fmt: skip


def _sum(mat: BCOO, *, axes: Any, **_: Any) -> Any:
    total = bcoo_reduce_sum(mat, axes=axes)
    return total if total.ndim else total.todense()


def _stack(*mats: BCOO, axis: int, **_: Any) -> Any:
    shape = [*mats[0].shape]
    shape.insert(axis, 1)
    at = [i for i in range(len(shape)) if i != axis]
    return bcoo_concatenate(
        [bcoo_broadcast_in_dim(m, shape=shape, broadcast_dimensions=at) for m in mats], dimension=axis
    )


def _select(which: Any, *cases: Any, **_: Any) -> Any:
    raise NotImplementedError(
        "a choice between sparse arrays, element by element: use todense() if a dense array is meant"
    )


def _called(program: ClosedJaxpr) -> Callable[..., list[Any]]:
    return lambda *args: run(program.jaxpr, program.consts, args)


def _jit(*args: Any, jaxpr: ClosedJaxpr, name: str = "", **_: Any) -> list[Any]:
    return jit(_called(jaxpr))(*args)


def _fun(*args: Any, fun: ClosedJaxpr, **_: Any) -> list[Any]:
    return _called(fun)(*args)


def _cond(index: Any, *args: Any, branches: Any, **_: Any) -> list[Any]:
    outs = [_called(branch) for branch in branches]
    index = jnp.asarray(index)
    return lax.switch(index.astype(np.int32), outs, *args)


def _while(*args: Any, cond_jaxpr: Any, body_jaxpr: Any, cond_nconsts: int, body_nconsts: int, **_: Any) -> list[Any]:
    for_cond, for_body = args[:cond_nconsts], args[cond_nconsts : cond_nconsts + body_nconsts]
    start = list(args[cond_nconsts + body_nconsts :])
    holds, step = _called(cond_jaxpr), _called(body_jaxpr)
    return lax.while_loop(lambda c: holds(*for_cond, *c)[0], lambda c: step(*for_body, *c), start)


def _scan(
    *args: Any, jaxpr: Any, length: int, reverse: bool, unroll: Any, num_consts: int, num_carry: int, **_: Any
) -> list[Any]:
    consts, carry, xs = args[:num_consts], args[num_consts : num_consts + num_carry], args[num_consts + num_carry :]
    step = _called(jaxpr)

    def body(carry: Any, x: Any) -> tuple[Any, Any]:
        outs = step(*consts, *carry, *x)
        return outs[:num_carry], outs[num_carry:]

    carry, ys = lax.scan(body, list(carry), list(xs), length, reverse, unroll)
    return [*carry, *ys]


_RULES: dict[str, Callable[..., Any]] = {
    "add": lambda x, y, **_: add(x, y),
    "add_any": lambda x, y, **_: add(x, y),
    "sub": lambda x, y, **_: add(x, y, -1),
    "mul": _mul,
    "div": _div,
    "pow": _pow,
    "name": _name,
    "dot_general": _dot_general,
    "select_n": _select,
    "reduce_sum": _sum,
    "transpose": lambda mat, *, permutation, **_: bcoo_transpose(mat, permutation=permutation),
    "reshape": lambda mat, *, new_sizes, dimensions=None, **_: bcoo_reshape(
        mat, new_sizes=new_sizes, dimensions=dimensions
    ),
    "squeeze": lambda mat, *, dimensions, **_: bcoo_squeeze(mat, dimensions=dimensions),
    "rev": lambda mat, *, dimensions, **_: bcoo_rev(mat, dimensions),
    "slice": lambda mat, *, start_indices, limit_indices, strides=None, **_: bcoo_slice(
        mat, start_indices=start_indices, limit_indices=limit_indices, strides=strides
    ),
    "dynamic_slice": lambda mat, *starts, slice_sizes, **_: bcoo_dynamic_slice(mat, starts, slice_sizes),
    "concatenate": lambda *mats, dimension, **_: bcoo_concatenate(mats, dimension=dimension),
    "broadcast_in_dim": lambda mat, *, shape, broadcast_dimensions, **_: bcoo_broadcast_in_dim(
        mat, shape=shape, broadcast_dimensions=broadcast_dimensions
    ),
    "stack": _stack,
    "jit": _jit,
    "custom_jvp_call": _fun,
    "custom_vjp_call": _fun,
    "cond": _cond,
    "while": _while,
    "scan": _scan,
}
