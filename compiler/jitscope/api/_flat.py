"""Functions of pytrees as functions of flat leaves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import FunctionType
from typing import Any

import numpy as np

from .. import tree
from ..backend.array import array_on, device_for, one_device, to_array
from ..backend.signature import short_repr
from ..control.bodies import name_of
from ..core import dtypes
from ..core.avals import ShapedArray, aval_of, not_an_array
from ..core.references import Reference
from ..core.trace import Tracer, evaluating


_TAKEN = (Tracer, Reference)
_NOT_CALLED = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR


class Flat:
    """A function of pytrees as a function of flat leaves. The structure of its result is known after it ran."""

    def __init__(self, fun: Callable[..., Any], in_tree: Any, has_aux: bool = False, named: bool = False):
        self.fun, self.in_tree, self.has_aux, self.named = fun, in_tree, has_aux, named
        self.out_tree: Any = None
        self.aux: Any = None

    def __call__(self, *leaves: Any) -> list[Any]:
        args = self.in_tree.unflatten(leaves)
        out = self.fun(*args[0], **args[1]) if self.named else self.fun(*args)
        if self.has_aux:
            if not isinstance(out, (tuple, list)) or len(out) != 2:
                raise TypeError(
                    f"with has_aux=True {name_of(self.fun)} must return (result, aux); it returned {type(out).__name__}"
                )
            out, self.aux = out
        flat, self.out_tree = tree.flatten(out)
        if any(not hasattr(leaf, "aval") for leaf in flat):
            for leaf, path in zip(flat, tree.leaf_paths(out)):
                check_array(leaf, f"{name_of(self.fun)} returned, at result{path},")
        if not self.has_aux:
            return flat
        self.results = len(flat)
        return [*flat, *[x for x in tree.leaves(self.aux) if isinstance(x, Tracer)]]

    def split(self, outs: list[Any]) -> tuple[list[Any], Any]:
        """The results, and aux: what was traced in it comes out of the trace, anything else stays as it is."""
        traced = iter(outs[self.results :])
        return outs[: self.results], tree.map(lambda x: next(traced) if isinstance(x, Tracer) else x, self.aux)


def check_callable(fun: Any, what: str) -> None:
    """Raises TypeError for what cannot be transformed."""
    if isinstance(fun, staticmethod):
        raise TypeError(
            f"{what} takes a function; it got a staticmethod: put @staticmethod above @{what}, not below it"
        )
    if not callable(fun):
        raise TypeError(f"{what} takes a function; it got {type(fun).__name__}: {short_repr(fun)}")
    if isinstance(fun, FunctionType) and fun.__code__.co_flags & _NOT_CALLED:
        raise TypeError(
            f"{what} takes a function that returns arrays; {name_of(fun)} is a generator or a coroutine, whose body does not "
            "run when it is called"
        )


def check_array(x: Any, what: str) -> ShapedArray:
    try:
        return aval_of(x)
    except TypeError:
        raise TypeError(f"{what} something that is not an array: {not_an_array(x)}") from None


def _is_float0(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == dtypes.float0


def as_values(leaves: Sequence[Any]) -> list[Any]:
    """Leaves as arrays (on one device) or tracers. Inside a trace numbers stay numbers: they become literals there."""
    if not evaluating():
        return list(leaves)
    if one_device():
        return [x if isinstance(x, _TAKEN) or _is_float0(x) else to_array(x) for x in leaves]
    device = device_for(leaves)
    return [x if isinstance(x, _TAKEN) else array_on(x, device) for x in leaves]
