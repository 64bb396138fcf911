"""Calling an exported function: one operation whose program is the module it was exported as."""

from __future__ import annotations

from typing import Any

from .. import tree
from ..control.custom_vjp import custom_vjp
from ..core import dtypes
from ..core.avals import aval_of, not_an_array, physical, tangent_aval
from ..core.primitive import Primitive
from ..ops.linear import convert
from ..xla import portable
from .artifact import Artifact


class CallExported(Primitive):
    """Runs the module of `artifact`."""

    multiple_results = True

    def program_params(self, params):
        return {"module": params["artifact"].module}

    def abstract(self, /, *avals, artifact):
        return list(artifact.out_avals), frozenset()

    def lower(self, ctx, /, *values, artifact):
        inserted = ctx.module.inserted(artifact, lambda: portable.read(artifact.module))
        types = [ctx.type(physical(a)) for a in artifact.out_avals]
        return portable.call(inserted, values, types)

    def jvp(self, primals, tangents, /, *, artifact):
        raise NotImplementedError(
            f"the exported function {artifact.name} was exported without its derivative: serialize it with vjp_order=1 (2 for "
            "second derivatives, …). Forward mode (jvp) is not exported"
        )

    def batch(self, axis, args, dims, /, *, artifact):
        raise NotImplementedError(
            f"the exported function {artifact.name} cannot be mapped by vmap: it was compiled for these shapes. Export the "
            "mapped function, or call it for one example after another with lax.map"
        )

    def shown_params(self, params):
        return {"name": params["artifact"].name}


call_exported_p = CallExported("call_exported")


def call_artifact(artifact: Artifact, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The result for arguments of the structure, shapes and dtypes it was exported for. Raises TypeError for others."""
    leaves, in_tree = tree.flatten((args, kwargs))
    if in_tree != artifact.in_tree:
        raise TypeError(
            f"{artifact.name} was exported for arguments of another structure: {artifact.in_tree}, now {in_tree}"
        )
    _check(artifact, leaves, (args, kwargs))
    return artifact.out_tree.unflatten(_flat_call(artifact)(*leaves))


def _check(artifact: Artifact, leaves: list[Any], whole: Any) -> None:
    for i, (leaf, wanted) in enumerate(zip(leaves, artifact.in_avals)):
        where = f"{artifact.name} was exported for {wanted.short()} at {_name(tree.leaf_paths(whole)[i])}"
        try:
            aval = aval_of(leaf)
        except TypeError:
            raise TypeError(f"{where}; {not_an_array(leaf)}") from None
        if aval.shape != wanted.shape or (aval.dtype != wanted.dtype and not aval.weak_type):
            raise TypeError(f"{where}; it got {aval.short()}")


def _name(path: str) -> str:
    """`[0][1]['w']` is argument 1, `[1]['scale']` the argument called scale."""
    kind, _, rest = path[1:].partition("]")
    number, _, below = rest[1:].partition("]")
    return (f"argument {number}" if kind == "0" else f"argument {number.strip(chr(39))}") + below


def _flat_call(artifact: Artifact) -> Any:
    """The function of flat leaves, differentiable if its pullback was exported."""

    def call(*leaves):
        given = [
            convert(x, a.dtype, a.weak_type) if aval_of(x) is not a else x for x, a in zip(leaves, artifact.in_avals)
        ]
        return call_exported_p.bind(*given, artifact=artifact)

    if artifact.pullback is None:
        return call
    call.__name__ = artifact.name
    with_rules = custom_vjp(call)
    pullback, out_avals = artifact.pullback, artifact.out_avals
    moving = [_has_tangent(a) for a in artifact.in_avals]

    def forward(*leaves):
        return with_rules(*leaves), leaves

    def backward(leaves, cts):
        given = [ct for ct, a in zip(cts, out_avals) if _has_tangent(a)]
        found = iter(_flat_call(pullback)(*leaves, *given))
        return tuple(next(found) if m else None for m in moving)

    with_rules.defvjp(forward, backward)
    return with_rules


def _has_tangent(aval: Any) -> bool:
    return tangent_aval(aval).dtype != dtypes.float0
