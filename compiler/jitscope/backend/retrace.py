"""Tracing a function once more, for those who look at how its program came to be."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from .. import tree
from ..core import records
from ..core.avals import ShapedArray
from ..core.errors import Unavailable
from ..core.jaxpr import ClosedJaxpr, DebugInfo
from ..core.staging import trace_to_jaxpr
from .arguments import Statics


class Retrace:
    """Traces a function for the arguments of an earlier trace: their avals, and their static values. Holds the function weakly and
    no array. What it traces is filed nowhere. Raises Unavailable where the function is gone."""

    __slots__ = ("_avals", "_debug", "_function", "_in_tree", "_statics")

    def __init__(
        self,
        function: Callable[..., Any],
        in_tree: Any,
        statics: Statics,
        avals: Sequence[ShapedArray],
        debug: DebugInfo,
    ):
        try:
            self._function: Callable[[], Any] = weakref.ref(function)
        except TypeError:  # it can be held in no other way than strongly
            self._function = lambda: None
        self._in_tree, self._statics, self._avals, self._debug = in_tree, statics, avals, debug

    def __call__(self) -> ClosedJaxpr:
        function = self._function()
        if function is None:
            raise Unavailable(f"the function {self._debug.name} is no longer there; define it and call it again")

        def flat(*tracers: Any) -> list[Any]:
            args, kwargs = self._statics.merge(self._in_tree.unflatten(tracers))
            return tree.leaves(function(*args, **kwargs))

        token = records.trying.set(True)
        try:
            return trace_to_jaxpr(flat, self._avals, self._debug)
        finally:
            records.trying.reset(token)
