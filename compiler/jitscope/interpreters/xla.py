"""`jitscope.interpreters.xla`: an operation outside of jit, as a program of its own, under JAX's name."""

from typing import Any

from ..core.primitive import Primitive
from ..core.trace import evaluation, using


def apply_primitive(prim: Primitive, *args: Any, **params: Any) -> Any:
    """The result of an operation on arrays, evaluated now, whatever trace is under way."""
    with using(evaluation()):
        return prim.bind(*args, **params)


__all__ = ["apply_primitive"]
