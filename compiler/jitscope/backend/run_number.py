"""The number of the run (see `xla.callbacks`) in a function under construction.

The function takes it, as its last argument, once something in it calls Python. Where calls have effects each takes the
number from the one before, so that they keep their order, through loops, branches and called functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray
from ..core.messages import message_here
from ..xla import mlir
from ..xla.callbacks import MARK, TARGET
from ..xla.dtypes import in_bytes


NUMBER = ShapedArray((), np.dtype(np.int32))


class RunNumber:
    """The number at the place where operations are inserted now. `given`: the function gives it back, as its last result."""

    __slots__ = ("argument", "block", "given", "now")

    def __init__(self, block: Any):
        self.block = block
        self.argument: Any = None
        self.now: Any = None
        self.given = False

    @property
    def taken(self) -> bool:
        """Whether the function takes the number."""
        return self.argument is not None

    def get(self) -> Any:
        """The number, for an operation that calls Python."""
        if self.now is None:
            if self.argument is None:
                self.argument = self.block.add_argument(mlir.tensor_type((), NUMBER.dtype), mlir.location(MARK))
            self.now = self.argument
        return self.now

    def results(self, outs: Sequence[Any], wanted: bool) -> list[Any]:
        """What the function returns; the number too, if it is `wanted` and there is one."""
        self.given = wanted and self.taken
        return [*outs, self.get()] if self.given else list(outs)

    def settle(self, function: Any, ir: Any) -> None:
        """Tell the function that its arguments and results are more than was thought."""
        if not self.taken:
            return
        known = function.type
        number = mlir.tensor_type((), NUMBER.dtype)
        kind = ir.FunctionType.get([*known.inputs, number], [*known.results, *[number] * self.given])
        function.attributes["function_type"] = ir.TypeAttr.get(kind)
        if "arg_attrs" in function.attributes:
            arguments = [*function.attributes["arg_attrs"], ir.DictAttr.get({})]
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(arguments)
        if self.given and "res_attrs" in function.attributes:
            results = [*function.attributes["res_attrs"], ir.DictAttr.get({})]
            function.attributes["res_attrs"] = ir.ArrayAttr.get(results)


_FIRST = np.uint64(0)
"""The place of `xla.callbacks.answer` in the list of a program's callbacks, of the type the target wants."""


def call_python(ctx: Any, callback: Any, values: Sequence[Any]) -> list[Any]:
    """Lower a call of Python with the operands of the equation of `ctx`: `callback.site(avals_in, avals_out, threaded)` gives
    the place to call. It keeps its order with others if the equation has effects."""
    threaded, run, meshes = bool(ctx.effects), ctx.module.run, ctx.module.meshes
    if threaded and meshes.manual and len(meshes.manual) < len(meshes.mesh.axis_names):
        raise NotImplementedError(
            message_here(
                f"{callback} has effects and is called inside of a shard_map over some axes of a mesh: XLA cannot call it once for each part.",
                "call it outside of the shard_map, or leave out axis_names, so that it is over all axes",
            )
        )
    site = callback.site(tuple(ctx.avals_in), tuple(ctx.avals_out), threaded)
    wide_in, wide_out = ([a.update(dtype=in_bytes(a.dtype)) for a in side] for side in (ctx.avals_in, ctx.avals_out))
    operands = [ctx.convert(v, a.dtype, w.dtype) for v, a, w in zip(values, ctx.avals_in, wide_in)]
    outs = ctx.foreign(
        TARGET,
        [run.get(), ctx.scalar(site.number, np.int32), *operands],
        [NUMBER, NUMBER, *wide_in],
        [*[NUMBER] * threaded, *wide_out],
        {"index": _FIRST},
        side_effect=threaded,
    )
    if meshes.group is not None and not meshes.manual and outs:
        outs[0].owner.attributes["sdy.sharding"] = meshes.on_first(len(outs))
    if threaded:
        run.now = outs.pop(0)
    return [ctx.convert(v, w.dtype, a.dtype) for v, w, a in zip(outs, wide_out, ctx.avals_out)]
