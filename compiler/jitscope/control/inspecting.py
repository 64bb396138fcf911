"""Where a value of a program will lie: an operation that asks when the program is lowered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.effects import debug_effect
from ..core.primitive import FunctionCall
from ..core.sums import refuse_terms


class InspectSharding(FunctionCall):
    """Calls `callback` with the layout of its operand: at once outside of programs, in one when it is compiled. `layout_of`
    gives that of a value that is there, and of one that is to come (None)."""

    def abstract(self, x, /, *, callback, layout_of):
        refuse_terms(self.name, [x])
        return [], frozenset([debug_effect])

    def evaluate(self, args, /, *, callback, layout_of):
        callback(layout_of(args[0]))
        return []

    def lower(self, ctx, x, /, *, callback, layout_of):
        if ctx.apart:
            ctx.when_partitioned(x, callback)
        else:
            callback(layout_of(None))
        return []

    def jvp(self, primals, tangents, /, **params):
        return self.bind(*primals, **params), []

    def transpose(self, cts, /, *args, **params):
        return [None]

    def batch(self, axis, args, dims, /, **params):
        return self.bind(*args, **params), []


inspect_sharding_p: Any = InspectSharding("inspect_sharding")
Callback = Callable[[Any], None]
