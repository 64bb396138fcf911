"""Shapes and slices that depend on traced values."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source_code.parameters import arguments, keyword
from ...source_code.tree import parts_of
from ..code.values import Kind
from ..code.walk import Event, Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic, rewriting, short


def indices(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """traced-slice-bound, and data-dependent-shape of masks."""
    if event.what != "index" or not event.region.abstract or event.kind is Kind.STATIC:
        return
    node, code = event.node, walk.code
    if not event.kind.is_traced and not any(kind.is_tracer for kind in event.inner):
        return
    if _has_traced_bound(event):
        message = f"the length of `{short(code, node)}` depends on a value that is not known while tracing."
        fix = rewriting(code, node, "slice", "Use lax.dynamic_slice with a fixed length, or jnp.where with a mask.")
        yield diagnostic(code, "traced-slice-bound", node, message, fix)
    elif event.kind.is_traced and not isinstance(node.value, ast.List | ast.Tuple) and _is_mask(node.slice, event):
        message = f"how many elements `{short(code, node)}` has depends on values that are not known while tracing."
        fix = rewriting(code, node, "mask", "Use jnp.where, or the size= argument.")
        yield diagnostic(code, "data-dependent-shape", node, message, fix)


def _has_traced_bound(event: Event) -> bool:
    at = 0
    for part in parts_of(event.node.slice):
        count = sum(b is not None for b in (part.lower, part.upper, part.step)) if isinstance(part, ast.Slice) else 1
        if isinstance(part, ast.Slice) and any(kind.is_traced for kind in event.inner[at : at + count]):
            return True
        at += count
    return False


def _is_mask(index: ast.expr, event: Event) -> bool:
    """A comparison of arrays, or several with & | ~."""
    match index:
        case ast.Compare(ops=[op]) if not isinstance(op, ast.In | ast.NotIn | ast.Is | ast.IsNot):
            return event.inner[:1] == [Kind.MASK]
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            return _is_mask(left, event) or _is_mask(right, event)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return _is_mask(operand, event)
        case ast.Name() | ast.Call():
            return event.inner[:1] == [Kind.MASK]
    return False


_SIZED = {
    "nonzero", "flatnonzero", "argwhere", "unique", "unique_values", "union1d", "intersect1d", "setdiff1d", "extract",
}  # fmt: skip
_REDUCED = dict.fromkeys(
    (
        "sum", "mean", "max", "min", "prod", "std", "var", "median", "argmax", "argmin", "any", "all", "cumsum", "cumprod", "sort",
        "argsort", "nansum", "nanmean", "nanmax", "nanmin", "ptp",
    ),
    (1,),
)  # fmt: skip
_SHAPED = {
    "jax.numpy": {
        "zeros": (0,), "ones": (0,), "empty": (0,), "full": (0,), "eye": (0, 1), "identity": (0,), "tri": (0, 1), "arange": (0, 1, 2),
        "indices": (0,), "broadcast_to": (1,), "reshape": (1,), "tile": (1,), "pad": (1,), "split": (1,), "array_split": (1,),
        "hsplit": (1,), "vsplit": (1,), "dsplit": (1,), "linspace": (2,), "logspace": (2,), "geomspace": (2,), "expand_dims": (1,),
        "squeeze": (1,), "swapaxes": (1, 2), "moveaxis": (1, 2), "transpose": (1,), "concatenate": (1,), "stack": (1,), **_REDUCED,
    },
    "jax.nn": {"one_hot": (1,), "softmax": (1,), "log_softmax": (1,), "logsumexp": (1,)},
    "jax.ops": dict.fromkeys(("segment_sum", "segment_max", "segment_min", "segment_prod"), (2,)),
    "jax.lax": {"broadcast": (1,), "top_k": (1,), "iota": (1,), "dynamic_slice": (2,), "dynamic_slice_in_dim": (2,)},
    "jax.random": {"split": (1,), "normal": (1,), "uniform": (1,), "randint": (1,), "bernoulli": (2,), "choice": (2,)},
}  # fmt: skip
"""Which arguments of a function are sizes, shapes or axes, by position."""
_ALONG = {
    *_REDUCED, "expand_dims", "squeeze", "swapaxes", "moveaxis", "transpose", "concatenate", "stack", "softmax", "log_softmax", "logsumexp",
}  # fmt: skip
_SIZES = ("axis", "shape", "num_classes", "num_segments", "length", "pad_width", "indices_or_sections", "reps", "num")


def calls(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """data-dependent-shape of functions, traced-shape-arg."""
    if event.what != "call" or not event.region.abstract:
        return
    node, code = event.node, walk.code
    module, _, name = event.dotted.rpartition(".")
    sized = name in _SIZED or (name == "where" and len(node.args) == 1)
    if module == "jax.numpy" and sized and event.inner[:1] and event.inner[0].is_traced:
        if keyword(node, "size") is None:
            message = f"how many elements `{short(code, node)}` has depends on values that are not known while tracing."
            fix = Fix("Say how many there can be with size=…, and with fill_value=… what stands in the rest.")
            yield diagnostic(code, "data-dependent-shape", node, message, fix)
        return
    guilty = _traced_size(event, module, name)
    if guilty is not None:
        text = short(code, guilty)
        what = "an axis" if name in _ALONG or walk.code.parents.get(guilty) in _named_axes(node) else "a shape"
        message = f"`{text}` is not known while tracing, and {what} has to be."
        fix = Fix(
            "Make the argument static (static_argnames=…), a number or a tuple of numbers: an array has no hash. A size that follows from shapes is "
            "known in Python: x.shape[0], math.prod(x.shape)."
        )
        yield diagnostic(code, "traced-shape-arg", guilty, message, fix)


def _reduces(method: ast.Attribute) -> bool:
    """Whether it is a method that takes an axis: that of `x.at[i]` takes a value."""
    match method.value:
        case ast.Subscript(value=ast.Attribute(attr="at")):
            return False
    return method.attr in _REDUCED


def _named_axes(call: ast.Call) -> list[ast.keyword]:
    return [one for one in call.keywords if one.arg == "axis"]


def _traced_size(event: Event, module: str, name: str) -> ast.expr | None:
    """The argument that is a traced size or axis."""
    node = event.node
    kinds = dict(zip(arguments(node), event.inner))
    sizes: list[ast.expr] = []
    if places := _SHAPED.get(module, {}).get(name):
        sizes += [node.args[i] for i in places if i < len(node.args)]
    elif isinstance(node.func, ast.Attribute) and event.kind.is_traced:
        sizes += node.args if node.func.attr == "reshape" else node.args[:1] if _reduces(node.func) else []
    if module.startswith("jax.") or event.kind.is_traced:
        sizes += [k.value for k in node.keywords if k.arg in _SIZES]
    known = (one for one in sizes if not isinstance(one, ast.Starred))
    return next((one for one in known if kinds.get(one, Kind.STATIC).is_traced), None)
