"""What became of each operation of one example where a program was mapped over many: along which axis the examples lie in its result,
and whether it is still one operation for all of them."""

from __future__ import annotations

from collections.abc import Iterable

from jitscope.core.jaxpr import JaxprEqn, subjaxprs
from jitscope.core.steps import Batched

from ..annotations import How


_LOOPS = frozenset(("while", "scan"))
_ANY = "reduce_or"
"""What a loop asks whose examples end at different times: whether any is left."""


def how_of(batched: Batched) -> How:
    """How an operation is done for all examples."""
    name, made = batched.eqn.primitive.name, names_of(batched)
    if all(dim is None for dim in (*batched.operands, *batched.results)):
        return "shared"
    if name == "cond" and name not in made:
        return "branches"
    if name == "while" and _ANY in _inside(batched.made) and _ANY not in _inside([batched.eqn]):
        return "last"
    if name not in _LOOPS and _LOOPS & {*made, *_inside(batched.made)} and not _LOOPS & _inside([batched.eqn]):
        return "loop"
    if name == "dot_general" and made == [name]:
        return "products" if _batches(batched.made[0]) > _batches(batched.eqn) else "one"
    if made == [name]:
        return "one"
    return "after" if name in made else "others"


def names_of(batched: Batched) -> list[str]:
    """The operations that were made for all examples."""
    return [eqn.primitive.name for eqn in batched.made]


def types_of(batched: Batched) -> tuple[str, str, int | None]:
    """The type of a result for one example and for all, and the axis of the examples in the latter: of the first result that has one.
    The second type is "" where it is not known."""
    if not batched.results:
        return "", "", None
    at = next((n for n, dim in enumerate(batched.results) if dim is not None), 0)
    one, dim = batched.eqn.outvars[at].aval, batched.results[at]
    if dim is None or not batched.made:
        return one.short(), one.short() if dim is None else "", dim
    found = [v.aval for v in batched.made[-1].outvars]
    whole = next((aval for aval in found if _without(aval, dim) == one.shape and aval.dtype == one.dtype), None)
    return one.short(), whole.short() if whole is not None else "", dim


def _without(aval: object, dim: int) -> tuple[int, ...] | None:
    shape = getattr(aval, "shape", None)
    return (*shape[:dim], *shape[dim + 1 :]) if shape is not None and dim < len(shape) else None


def _batches(eqn: JaxprEqn) -> int:
    """How many axes a product keeps apart: one product for each place along them."""
    _, (left, _) = eqn.params["dimension_numbers"]
    return len(left)


def _inside(eqns: Iterable[JaxprEqn]) -> set[str]:
    """The operations within some equations, at any depth."""
    found: set[str] = set()
    for eqn in eqns:
        for _, sub in subjaxprs(eqn.params):
            found |= {inner.primitive.name for inner in sub.jaxpr.eqns} | _inside(sub.jaxpr.eqns)
    return found
