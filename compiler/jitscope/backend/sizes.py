"""Lowering with sizes that are not known: operations of StableHLO that take shapes as operands.

A module with symbolic dimensions has functions that take the values of the dimension variables, as i32 scalars, before their
arguments; `main` computes them from the shapes it is called with and asserts what must hold for them. XLA makes the shapes
static (`xla.portable.refined`) once those of the arguments of `main` are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.avals import ShapedArray, physical
from ..symbolic.dimension import Dim, evaluated, is_static
from ..symbolic.solving import Solution


SIZE = ShapedArray((), np.dtype(np.int32))


class Sizes:
    """Values of sizes at the place where operations are inserted now, and operations of sizes."""

    def __init__(self, ctx: Any, variables: dict[str, Any]):
        self.ctx, self.hlo, self.variables = ctx, ctx.hlo, variables
        self.apply = {
            "add": self.hlo.add,
            "mul": self.hlo.multiply,
            "max": self.hlo.maximum,
            "min": self.hlo.minimum,
            "floordiv": self._floor_divide,
            "mod": self._modulo,
        }

    def number(self, value: int) -> Any:
        return self.ctx.scalar(value, np.int32)

    def scalar(self, size: Any) -> Any:
        """A size as an i32 scalar."""
        return evaluated(size, self.variables, self.apply, self.number)

    def vector(self, sizes: Sequence[Any]) -> Any:
        """Sizes as a vector of i32."""
        if is_static(sizes):
            return self.ctx.constant(np.asarray(sizes, np.int32).reshape(len(sizes)))
        one = self.ctx.type(SIZE.update(shape=(1,)))
        parts = [self.hlo.reshape(one, self.scalar(n)) for n in sizes]
        return self.hlo.concatenate(parts, self.ctx.int(0)) if len(parts) > 1 else parts[0]

    def _uneven(self, x: Any, y: Any, rest: Any) -> Any:
        """Whether the quotient of numbers of different signs was rounded the wrong way."""
        differ = self.ctx.compare(self.hlo.sign(x), self.hlo.sign(y), "NE")
        return self.hlo.and_(differ, self.ctx.compare(rest, self.number(0), "NE"))

    def _floor_divide(self, x: Any, y: Any) -> Any:
        quotient = self.hlo.divide(x, y)
        uneven = self._uneven(x, y, self.hlo.remainder(x, y))
        return self.hlo.select(uneven, self.hlo.subtract(quotient, self.number(1)), quotient)

    def _modulo(self, x: Any, y: Any) -> Any:
        rest = self.hlo.remainder(x, y)
        return self.hlo.select(self._uneven(x, y, rest), self.hlo.add(rest, y), rest)

    # Operations

    def broadcast(self, value: Any, aval: ShapedArray, dims: Sequence[int]) -> Any:
        return self.hlo.dynamic_broadcast_in_dim(
            self.ctx.type(aval), value, self.vector(physical(aval).shape), self.ctx.ints(dims)
        )

    def reshape(self, value: Any, aval: ShapedArray) -> Any:
        return self.hlo.dynamic_reshape(self.ctx.type(aval), value, self.vector(physical(aval).shape))

    def iota(self, aval: ShapedArray, dimension: int) -> Any:
        return self.hlo.dynamic_iota(self.ctx.type(aval), self.vector(aval.shape), self.ctx.int(dimension))

    def slice(self, value: Any, aval: ShapedArray, starts: Sequence[Any], limits: Sequence[Any], steps: Any) -> Any:
        return self.hlo.real_dynamic_slice(
            self.ctx.type(aval), value, self.vector(starts), self.vector(limits), self.vector(steps)
        )

    def dynamic_slice(self, value: Any, aval: ShapedArray, starts: Sequence[Any]) -> Any:
        """The slice of the shape of `aval` from `value`, from the nearest computed starts at which there is one."""
        sizes, one = physical(aval).shape, self.ctx.type(SIZE.update(shape=(1,)))
        places = []
        for axis, (start, size) in enumerate(zip(starts, sizes)):
            last = self.hlo.subtract(self.hlo.get_dimension_size(value, self.ctx.int(axis)), self.scalar(size))
            wide = self.hlo.convert(self.ctx.type(SIZE), start)
            places.append(self.hlo.reshape(one, self.hlo.clamp(self.number(0), wide, last)))
        first = self.hlo.concatenate(places, self.ctx.int(0)) if len(places) > 1 else places[0]
        limits = self.hlo.add(first, self.vector(sizes))
        return self.hlo.real_dynamic_slice(self.ctx.type(aval), value, first, limits, self.vector([1] * len(sizes)))

    def gather(self, value: Any, indices: Any, numbers: Any, sizes: Sequence[Any], indices_are_sorted: bool) -> Any:
        return self.hlo.dynamic_gather(
            value, indices, self.vector(sizes), numbers, indices_are_sorted=indices_are_sorted
        )

    def pad(self, value: Any, filler: Any, aval: ShapedArray, config: Sequence[tuple[Any, Any, Any]]) -> Any:
        low, high, interior = (self.vector([c[i] for c in config]) for i in range(3))
        return self.hlo.dynamic_pad(self.ctx.type(aval), value, filler, low, high, interior)

    def padding(self, pads: Sequence[tuple[Any, Any]]) -> Any:
        """Pairs of sizes as rows of i32."""
        rows = [self.hlo.reshape(self.ctx.type(SIZE.update(shape=(1, 2))), self.vector(pair)) for pair in pads]
        return self.hlo.concatenate(rows, self.ctx.int(0)) if len(rows) > 1 else rows[0]

    def reduce_windows(
        self,
        operands: Sequence[Any],
        starts: Sequence[Any],
        outs: Sequence[ShapedArray],
        body: Any,
        window: dict[str, Any],
    ) -> list[Any]:
        """The reduction over windows whose sizes or padding are symbolic."""
        ctx = self.ctx
        scalars = [ShapedArray((), a.dtype) for a in outs]
        names = ("window_dimensions", "window_strides", "base_dilation", "window_dilation")
        function = ctx.module.combination([*scalars, *scalars], scalars, body)
        return self._call(
            "stablehlo.dynamic_reduce_window",
            [*operands, *starts, *[self.vector(window[name]) for name in names], self.padding(window["padding"])],
            outs,
            called_computations=self.ctx.ir.ArrayAttr.get([function]),
        )

    def top_k(self, value: Any, k: Any, outs: Sequence[ShapedArray]) -> list[Any]:
        """The k greatest elements along the last axis, and their indices."""
        return self._call("stablehlo.dynamic_top_k", [value, self.scalar(k)], outs)

    def _call(self, target: str, operands: Sequence[Any], outs: Sequence[ShapedArray], **more: Any) -> list[Any]:
        ir = self.ctx.ir
        operation = self.hlo.CustomCallOp(
            [self.ctx.type(a) for a in outs],
            list(operands),
            call_target_name=target,
            backend_config=ir.StringAttr.get(""),
            api_version=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 2),
            **more,
        )
        return list(operation.results)

    def assertion(self, holds: Any, text: str, sizes: Sequence[Any]) -> None:
        """Let the refinement of shapes fail, with the text (which has {0}, {1}, … for sizes), unless `holds`."""
        ir = self.ctx.ir
        operation = self.hlo.CustomCallOp(
            [],
            [holds, *map(self.scalar, sizes)],
            call_target_name="shape_assertion",
            has_side_effect=ir.BoolAttr.get(True),
            backend_config=ir.StringAttr.get(""),
            api_version=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 2),
        )
        operation.operation.attributes["error_message"] = ir.StringAttr.get(text)


def variables_in_main(ctx: Any, solution: Solution, arguments: Sequence[Any]) -> dict[str, Any]:
    """The values of the dimension variables, from those of the arguments of `main`; asserts what must hold for them."""
    sizes = Sizes(ctx, {})
    for name, argument, axis in solution.sources:
        sizes.variables[name] = ctx.hlo.get_dimension_size(arguments[argument], ctx.int(axis))
    for check in solution.checks:
        if isinstance(check.left, Dim) or isinstance(check.right, Dim):
            left, right = sizes.scalar(check.left), sizes.scalar(check.right)
            sizes.assertion(ctx.compare(left, right, "EQ" if check.equal else "GE"), *check.message())
        else:
            check.run({})
    return {name: sizes.scalar(value) for name, value in solution.values.items()}
