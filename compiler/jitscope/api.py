"""The transformations, as users call them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from . import tree
from .backend import evaluate  # noqa: F401  (puts the evaluating trace in place)
from .backend.array import Array, device_for, one_device, placed, to_array
from .backend.compile import clear_executables
from .backend.dispatch import JitFunction, clear_traces
from .backend.evaluate import clear_programs
from .backend.stages import ShapeDtypeStruct, struct_of
from .backend.static import StaticSpec, as_tuple
from .core import dtypes
from .core.avals import ShapedArray, aval_of, not_an_array, tangent_aval
from .core.jaxpr import ClosedJaxpr, DebugInfo
from .core.staging import eval_jaxpr, trace_to_jaxpr
from .core.trace import Tracer, evaluating
from .core.zeros import Linear, Zero, is_zero
from .ops.linear import convert, instantiate
from .transforms.jvp import jvp_flat
from .transforms.linearize import Linearized, linearize_flat
from .transforms.transpose import backward_pass
from .transforms.vmap import BatchAxis, vmap_flat
from .xla import client


# jit -----------------------------------------------------------------------------------------------------------------


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: Any = None,
    static_argnames: Any = None,
    donate_argnums: Any = None,
    donate_argnames: Any = None,
    device: Any = None,
    compiler_options: dict[str, Any] | None = None,
    auto_static: bool = False,
) -> Any:
    """`fun` compiled: the first call for each kind of argument traces and compiles it, later ones run the program.

    Arguments are pytrees of arrays and numbers. Those in `static_argnums` or `static_argnames` are part of the program
    instead (hashable; each value gets its own), the memory of those in `donate_argnums` or `donate_argnames` may be
    taken by results (they are deleted). `compiler_options` are XLA flags by name. `auto_static`: text, None, callables,
    types and enums passed directly are static, and a call without any array or number runs as Python.

    The result has `trace`, `lower`, `eval_shape`, `clear_cache`, and the Python function as `__wrapped__`. Also a
    decorator, with or without arguments. Raises TypeError for arguments or results that are no arrays.
    """
    if fun is None:
        return functools.partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            device=device,
            compiler_options=compiler_options,
            auto_static=auto_static,
        )
    if not callable(fun):
        raise TypeError(f"jit compiles functions; it got {type(fun).__name__}")
    spec = StaticSpec(fun, static_argnums, static_argnames, donate_argnums, donate_argnames)
    options = tuple(sorted((compiler_options or {}).items()))
    return JitFunction(fun, spec, options, device, auto_static)


def clear_caches() -> None:
    """Forget all traces and compiled programs."""
    clear_traces()
    clear_programs()
    clear_executables()


# Derivatives ---------------------------------------------------------------------------------------------------------


class _Flat:
    """A function of pytrees as a function of flat leaves. The structure of its result is known after it ran."""

    def __init__(self, fun: Callable[..., Any], in_tree: Any, has_aux: bool = False, named: bool = False):
        self.fun, self.in_tree, self.has_aux, self.named = fun, in_tree, has_aux, named
        self.out_tree: Any = None
        self.aux: Any = None

    def __call__(self, *leaves: Any) -> list[Any]:
        args = self.in_tree.unflatten(leaves)
        out = self.fun(*args[0], **args[1]) if self.named else self.fun(*args)
        if self.has_aux:
            if not isinstance(out, tuple) or len(out) != 2:
                raise TypeError(
                    f"with has_aux=True {name_of(self.fun)} must return (result, aux); it returned {type(out).__name__}"
                )
            out, self.aux = out
        flat, self.out_tree = tree.flatten(out)
        if any(not hasattr(leaf, "aval") for leaf in flat):
            for leaf, path in zip(flat, tree.leaf_paths(out)):
                _check_array(leaf, f"{name_of(self.fun)} returned, at result{path},")
        if not self.has_aux:
            return flat
        self.results = len(flat)
        return [*flat, *[x for x in tree.leaves(self.aux) if isinstance(x, Tracer)]]

    def split(self, outs: list[Any]) -> tuple[list[Any], Any]:
        """The results, and aux: what was traced in it comes out of the trace, anything else stays as it is."""
        traced = iter(outs[self.results :])
        return outs[: self.results], tree.map(lambda x: next(traced) if isinstance(x, Tracer) else x, self.aux)


def name_of(fun: Any) -> str:
    """The function's name, for messages."""
    return getattr(fun, "__name__", None) or type(fun).__name__


def _check_array(x: Any, what: str) -> ShapedArray:
    try:
        return aval_of(x)
    except TypeError:
        raise TypeError(f"{what} something that is not an array: {not_an_array(x)}") from None


def _as_values(leaves: Sequence[Any]) -> list[Any]:
    """Leaves as arrays (on one device) or tracers. Inside a trace numbers stay numbers: they become literals there."""
    if not evaluating():
        return list(leaves)
    if one_device():
        return [x if isinstance(x, Tracer) else to_array(x) for x in leaves]
    device = device_for(leaves)
    return [x if isinstance(x, Tracer) else placed(x, device) for x in leaves]


def _beside(x: Any, aval: ShapedArray, other: Any) -> Any:
    """A tangent or cotangent of `aval`, where the value `other` is."""
    if isinstance(x, Tracer):
        return x if x.aval.dtype == aval.dtype else convert(x, aval.dtype)
    x = x if aval_of(x).dtype == aval.dtype else np.asarray(x, aval.dtype)
    if not evaluating():
        return x
    array = to_array(x)
    other = other.known() if isinstance(other, Tracer) else other
    return placed(array, other.device) if isinstance(other, Array) and not one_device() else array


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False) -> Any:
    """`fun(*primals)` and its directional derivative along `tangents` (same structure, shapes and dtypes).

    Gives (result, tangent), or (result, tangent, aux). Raises TypeError where tangents do not fit the primals.
    """
    leaves, in_tree = tree.flatten(tuple(primals))
    given, tangent_tree = tree.flatten(tuple(tangents))
    if in_tree != tangent_tree:
        raise TypeError(f"jvp: primals and tangents differ in structure: {in_tree} and {tangent_tree}")
    paths = tree.leaf_paths(tuple(primals))
    moving = [_tangent(p, t, path) for p, t, path in zip(leaves, given, paths)]
    flat = _Flat(fun, in_tree, has_aux)
    all_outs, ts = jvp_flat(flat, _as_values(leaves), moving)
    outs, aux = flat.split(all_outs) if has_aux else (all_outs, None)
    tangent = flat.out_tree.unflatten([instantiate(t) for t in ts[: len(outs)]])
    result = flat.out_tree.unflatten(outs)
    return (result, tangent, aux) if has_aux else (result, tangent)


def _tangent(primal: Any, tangent: Any, path: str) -> Any:
    wanted = tangent_aval(_check_array(primal, f"the primal at {path} is"))
    if is_zero(tangent):
        return tangent
    if wanted.dtype == dtypes.float0:
        if getattr(tangent, "dtype", None) == dtypes.float0:
            return Zero(wanted)
        raise TypeError(
            f"the primal at {path} is {aval_of(primal).short()}, which has no tangent: pass zeros of "
            "dtype float0 for it"
        )
    aval = _check_array(tangent, f"the tangent at {path} is")
    if aval.shape != wanted.shape or (aval.dtype != wanted.dtype and not aval.weak_type):
        error = ValueError if aval.shape != wanted.shape else TypeError
        raise error(
            f"at {path} the primal is {aval_of(primal).short()} and the tangent {aval.short()}; they must agree"
        )
    return _beside(tangent, wanted, primal)


def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """`fun(*primals)`, and the linear function from tangents to tangents of the result.

    The function is evaluated once; the linear function may be called many times. Gives (result, f_jvp) or
    (result, f_jvp, aux).
    """
    leaves, in_tree = tree.flatten(primals)
    flat = _Flat(fun, in_tree, has_aux)
    linear = linearize_flat(flat, _as_values(leaves))
    outs, aux = flat.split(linear.outs) if has_aux else (linear.outs, None)
    paths = tree.leaf_paths(primals)

    def f_jvp(*tangents: Any) -> Any:
        given, tangent_tree = tree.flatten(tangents)
        if tangent_tree != in_tree:
            raise TypeError(f"the tangents have structure {tangent_tree}, the primals {in_tree}")
        moving = [_tangent(p, t, path) for p, t, path in zip(leaves, given, paths)]
        wanted = [instantiate(t) for t, m in zip(moving, linear.moving_in) if m]
        found = iter(eval_jaxpr(linear.jaxpr.jaxpr, linear.jaxpr.consts, *wanted))
        ts = [
            next(found) if m else instantiate(Zero(tangent_aval(aval_of(o))))
            for m, o in zip(linear.moving_out, linear.outs)
        ]
        return flat.out_tree.unflatten(ts[: len(outs)])

    result = flat.out_tree.unflatten(outs)
    return (result, f_jvp, aux) if has_aux else (result, f_jvp)


def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """`fun(*primals)`, and the function from cotangents of the result to cotangents of the primals (a tuple).

    Gives (result, f_vjp) or (result, f_vjp, aux). Cotangents of integer primals have dtype float0.
    """
    leaves, in_tree = tree.flatten(primals)
    flat = _Flat(fun, in_tree, has_aux)
    linear = linearize_flat(flat, _as_values(leaves))
    outs, aux = flat.split(linear.outs) if has_aux else (linear.outs, None)

    def f_vjp(cotangent: Any) -> tuple:
        cts, ct_tree = tree.flatten(cotangent)
        if ct_tree != flat.out_tree:
            raise ValueError(f"the cotangent has structure {ct_tree}, the result of {name_of(fun)} {flat.out_tree}")
        given = [_cotangent(ct, out) for ct, out in zip(cts, outs)]
        given += [Zero(tangent_aval(aval_of(o))) for o in linear.outs[len(outs) :]]
        return in_tree.unflatten([instantiate(ct) for ct in pull_back(linear, given)])

    result = flat.out_tree.unflatten(outs)
    return (result, f_vjp, aux) if has_aux else (result, f_vjp)


def _cotangent(ct: Any, out: Any) -> Any:
    wanted = tangent_aval(aval_of(out))
    if is_zero(ct) or wanted.dtype == dtypes.float0:
        return Zero(wanted)
    aval = _check_array(ct, "the cotangent is")
    if aval.shape != wanted.shape or (aval.dtype != wanted.dtype and not aval.weak_type):
        raise ValueError(f"the result is {wanted.short()} and its cotangent {aval.short()}; they must agree")
    return _beside(ct, wanted, out)


def pull_back(linear: Linearized, cts: Sequence[Any]) -> list[Any]:
    """Cotangents of all flat inputs (Zero where they do not matter) from those of all flat results."""
    moving = [ct for ct, m in zip(cts, linear.moving_out) if m]
    jaxpr = linear.jaxpr
    args = [Linear(aval) for aval in jaxpr.in_avals]
    found = iter(backward_pass(jaxpr.jaxpr, jaxpr.consts, args, moving))
    return [next(found) if m else Zero(tangent_aval(aval)) for m, aval in zip(linear.moving_in, linear.in_avals)]


def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The function that gives `fun`'s result and its gradient with respect to the positional arguments `argnums`.

    `fun` returns a real scalar (complex with `holomorphic=True`), or (scalar, aux) with `has_aux`. The gradient has the
    argument's structure; for a sequence of argnums it is a tuple. Integer arguments raise TypeError unless `allow_int`,
    which gives float0. Keyword arguments are passed on.
    """
    numbers = as_tuple(argnums)

    @functools.wraps(fun)
    def value_and_grad_of(*args: Any, **kwargs: Any) -> Any:
        chosen = _chosen(fun, numbers, args)
        for i in chosen:
            _check_differentiable(fun, i, args[i], holomorphic, allow_int)

        def of_chosen(*xs: Any) -> Any:
            full = list(args)
            for i, x in zip(chosen, xs):
                full[i] = x
            return fun(*full, **kwargs)

        of_chosen.__name__ = name_of(fun)
        out = vjp(of_chosen, *[args[i] for i in chosen], has_aux=has_aux)
        value, f_vjp = out[0], out[1]
        _check_scalar(fun, value, holomorphic)
        grads = f_vjp(_one(aval_of(value)))
        gradient = grads if isinstance(argnums, (tuple, list)) else grads[0]
        return ((value, out[2]), gradient) if has_aux else (value, gradient)

    return value_and_grad_of


def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Callable[..., Any]:
    """The gradient of `fun`, see `value_and_grad`; with `has_aux`, (gradient, aux)."""
    both = value_and_grad(fun, argnums, has_aux, holomorphic, allow_int)

    @functools.wraps(fun)
    def grad_of(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return grad_of


def _chosen(fun: Any, numbers: tuple, args: tuple) -> list[int]:
    wrong = [i for i in numbers if not isinstance(i, int) or not -len(args) <= i < len(args)]
    if wrong:
        raise TypeError(
            f"grad of {name_of(fun)} with respect to argument {wrong[0]!r}, but it was called with {len(args)} "
            "positional arguments"
        )
    chosen = [i % len(args) for i in numbers]
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"grad of {name_of(fun)}: argnums {numbers} names an argument twice")
    return chosen


def _one(aval: ShapedArray) -> Any:
    """The cotangent of a result itself: weak if the result is."""
    one = aval.dtype.type(1)
    return one.item() if aval.weak_type and dtypes.is_inexact(aval.dtype) else one


def _check_differentiable(fun: Any, i: int, arg: Any, holomorphic: bool, allow_int: bool) -> None:
    for path, leaf in tree.leaves_with_path(arg):
        aval = _check_array(leaf, f"argument {i} of {name_of(fun)} has, at {tree.keystr(path) or 'its root'},")
        where = f"argument {i}{tree.keystr(path)} of {name_of(fun)} is {aval.short()}"
        if holomorphic and not dtypes.is_complex(aval.dtype):
            raise TypeError(f"{where}, but holomorphic=True needs complex arguments")
        if not dtypes.is_inexact(aval.dtype) and not allow_int:
            raise TypeError(
                f"{where}, and gradients are of floats: convert it with .astype(float), choose other "
                "argnums, or pass allow_int=True"
            )


def _check_scalar(fun: Any, value: Any, holomorphic: bool) -> None:
    leaves = tree.leaves(value)
    if len(leaves) != 1 or (not hasattr(value, "aval") and not isinstance(value, (int, float, complex, np.generic))):
        raise TypeError(
            f"grad needs {name_of(fun)} to return one number; it returned {type(value).__name__} with "
            f"{len(leaves)} arrays. Return aux values with has_aux=True"
        )
    aval = aval_of(value)
    if aval.shape:
        raise TypeError(
            f"grad needs {name_of(fun)} to return a scalar; it returned {aval.short()}. Sum it, or use "
            "jacrev or vmap(grad(...)) for a derivative of every element"
        )
    if not dtypes.is_inexact(aval.dtype) or (dtypes.is_complex(aval.dtype) and not holomorphic):
        raise TypeError(
            f"grad needs {name_of(fun)} to return a real float; it returned {aval.short()}"
            + (" (holomorphic=True allows complex)" if dtypes.is_complex(aval.dtype) else "")
        )
    if holomorphic and not dtypes.is_complex(aval.dtype):
        raise TypeError(
            f"grad with holomorphic=True needs {name_of(fun)} to return a complex number; it returned {aval.short()}"
        )


# vmap ----------------------------------------------------------------------------------------------------------------


def vmap(
    fun: Callable[..., Any],
    in_axes: Any = 0,
    out_axes: Any = 0,
    axis_name: Hashable = None,
    axis_size: int | None = None,
) -> Callable[..., Any]:
    """`fun` mapped over an axis of its arguments, as one operation on all examples instead of a loop.

    `in_axes`: which axis of each positional argument is mapped (an int, None for none, or a tree of those that is a
    prefix of the argument's); keyword arguments are mapped along axis 0. `out_axes`: where the axis goes in the results.
    `axis_name` names the axis for collectives such as `lax.psum`. Raises ValueError for axes that do not exist, sizes
    that disagree (it names the arguments), or when nothing is mapped and `axis_size` is not given.
    """
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)

    @functools.wraps(fun)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.flatten((args, kwargs))
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ValueError(
                f"vmap of {name_of(fun)}: in_axes has {len(in_axes)} entries, but it was called with "
                f"{len(args)} positional arguments"
            )
        dims = tree.broadcast_prefix((in_axes, 0), in_tree, "vmap in_axes")
        names = [_argument_name(path) for path, _ in tree.leaves_with_path((args, kwargs))]
        dims = [_checked_dim(fun, x, d, n) for x, d, n in zip(leaves, dims, names)]
        size = _mapped_size(fun, leaves, dims, names, axis_size)
        flat = _Flat(fun, in_tree, named=True)
        axis = BatchAxis(axis_name, size)
        outs, out_dims = vmap_flat(flat, axis, _as_values(leaves), dims)
        wanted = tree.broadcast_prefix(out_axes, flat.out_tree, "vmap out_axes")
        return flat.out_tree.unflatten([_place(fun, axis, x, d, w) for x, d, w in zip(outs, out_dims, wanted)])

    return mapped


def _argument_name(path: Sequence[Any]) -> str:
    kind, where, *rest = path
    root = f"argument {where.idx}" if kind.idx == 0 else f"argument {where.key}"
    return root + tree.keystr(rest)


def _checked_dim(fun: Any, x: Any, dim: Any, name: str) -> int | None:
    aval = _check_array(x, f"vmap of {name_of(fun)}: {name} is")
    if dim is None:
        return None
    if not isinstance(dim, int) or not -aval.ndim <= dim < aval.ndim:
        raise ValueError(f"vmap of {name_of(fun)}: {name} is {aval.short()} and has no axis {dim!r} to map over")
    return dim % aval.ndim


def _mapped_size(fun: Any, leaves: list, dims: list, names: list[str], given: int | None) -> int:
    sizes = {n: aval_of(x).shape[d] for x, d, n in zip(leaves, dims, names) if d is not None}
    if given is not None:
        sizes["axis_size"] = given
    if not sizes:
        raise ValueError(f"vmap of {name_of(fun)}: nothing is mapped (all in_axes are None); give axis_size")
    if len(set(sizes.values())) > 1:
        rows = ", ".join(f"{n} has {s}" for n, s in sizes.items())
        raise ValueError(f"vmap of {name_of(fun)}: the mapped axes differ in size: {rows}")
    return next(iter(sizes.values()))


def _place(fun: Any, axis: BatchAxis, x: Any, dim: int | None, wanted: int | None) -> Any:
    if wanted is None:
        if dim is not None:
            raise ValueError(f"vmap of {name_of(fun)}: out_axes is None for a result that differs between examples")
        return x
    rank = aval_of(x).ndim + (dim is None)
    if not -rank <= wanted < rank:
        raise ValueError(f"vmap of {name_of(fun)}: out_axes is {wanted}, but the result has {rank} axes")
    return axis.move(x, dim, wanted % rank)


# Looking -------------------------------------------------------------------------------------------------------------


def make_jaxpr(fun: Callable[..., Any], static_argnums: Any = (), return_shape: bool = False) -> Callable[..., Any]:
    """The function that gives the jaxpr of `fun` for its arguments (arrays or ShapeDtypeStructs); nothing is run.

    With `return_shape`, (jaxpr, shapes and dtypes of the result).
    """
    spec = StaticSpec(fun, static_argnums)

    @functools.wraps(fun)
    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        dynamic, statics = spec.bind(args, kwargs, False)
        leaves, in_tree = tree.flatten(dynamic)
        out_trees: list[Any] = []

        def flat_fun(*tracers: Any) -> list[Any]:
            positional, named = statics.merge(in_tree.unflatten(tracers))
            outs, out_tree = tree.flatten(fun(*positional, **named))
            out_trees.append(out_tree)
            return outs

        debug = DebugInfo(name_of(fun), tuple(spec.leaf_names(dynamic, statics)))
        closed: ClosedJaxpr = trace_to_jaxpr(flat_fun, [aval_of(x) for x in leaves], debug)
        if return_shape:
            return closed, out_trees[0].unflatten([struct_of(a) for a in closed.out_avals])
        return closed

    return jaxpr_of


def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Shapes and dtypes of `fun(*args, **kwargs)`, as ShapeDtypeStructs; nothing is computed."""
    return make_jaxpr(fun, return_shape=True)(*args, **kwargs)[1]


# Devices and values --------------------------------------------------------------------------------------------------


def devices(backend: str | None = None) -> list[Any]:
    """The devices of this process. Raises RuntimeError for a backend that is not there."""
    if backend not in (None, "cpu"):
        raise RuntimeError(f"there is no backend {backend!r}: this release runs on 'cpu'")
    return list(client.cpu_devices())


def device_put(x: Any, device: Any = None) -> Any:
    """A tree with its arrays on a device (the default one)."""

    def put(leaf: Any) -> Any:
        if isinstance(leaf, Tracer):
            return leaf
        array = to_array(leaf)
        if device is None or array.device == device:
            return array
        return Array(client.copy_to_device(array.buf, device), array.aval)

    return tree.map(put, x)


def device_get(x: Any) -> Any:
    """A tree with its arrays as NumPy arrays."""
    return tree.map(lambda leaf: np.asarray(leaf) if isinstance(leaf, Array) else leaf, x)


def block_until_ready(x: Any) -> Any:
    """Wait until all arrays of a tree are computed; gives the tree."""
    client.block_until_ready([leaf.buf for leaf in tree.leaves(x) if isinstance(leaf, Array)])
    return x


def live_arrays() -> list[Any]:
    """The buffers alive on the devices."""
    return client.live_buffers()


__all__ = [
    "ShapeDtypeStruct",
    "block_until_ready",
    "clear_caches",
    "device_get",
    "device_put",
    "devices",
    "eval_shape",
    "grad",
    "jit",
    "jvp",
    "linearize",
    "live_arrays",
    "make_jaxpr",
    "value_and_grad",
    "vjp",
    "vmap",
]
