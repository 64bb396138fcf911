"""Lowering to calls of native functions: LAPACK's routines, and those registered with XLA."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.avals import ShapedArray, physical
from ..symbolic.dimension import is_static
from ..xla import lapack, mlir
from .sharding_rules import ShardingRule, rule_attribute


class ForeignCalls:
    """What `LoweringContext` offers for calls of native functions."""

    if TYPE_CHECKING:  # the rest of the context

        def __getattr__(self, name: str) -> Any: ...

    def lapack(
        self,
        routine: str,
        values: Sequence[Any],
        avals_in: Sequence[ShapedArray],
        avals_out: Sequence[ShapedArray],
        aliases: Sequence[tuple[int, int]] = (),
        **attributes: Any,
    ) -> list[Any]:
        """Call a LAPACK routine of the dtype of the first operand (or the target of that name, if it ends in `_ffi`), for all
        matrices along the leading axes. A string of one letter, a bool or a 32-bit int are attributes; `aliases` are
        (operand, result) that share memory."""
        target = routine if routine.endswith("_ffi") else _lapack_target(routine, avals_in[0])
        lapack.register()
        rank = max(a.ndim for a in avals_in)
        return self._foreign_call(
            target,
            values,
            [self._columns_first(avals_in, rank), self._columns_first(avals_out, rank)],
            avals_out,
            {name: _lapack_attribute(v) for name, v in attributes.items()},
            aliases,
            {
                "mhlo.frontend_attributes": self.ir.DictAttr.get(
                    {"num_batch_dims": self.ir.StringAttr.get(str(rank - 2))}
                ),
                **self._divided(avals_in, avals_out, rank - 2),
            },
        )

    def _divided(self, avals_in: Sequence[ShapedArray], avals_out: Sequence[ShapedArray], batch: int) -> dict[str, Any]:
        """Over several devices, what tells the partitioner that each may compute some of the matrices along the leading axes."""
        if self.module.meshes.group is None:
            return {}
        factors = count()
        values = [
            (*[f"b{i}" for i in range(min(batch, a.ndim))], *[f"f{next(factors)}" for _ in range(a.ndim - batch)])
            for a in (*avals_in, *avals_out)
        ]
        axes = [tuple((name,) for name in value) for value in values]
        rule = ShardingRule(tuple(axes[: len(avals_in)]), tuple(axes[len(avals_in) :]), ((), (), ()), ())
        shapes = ([a.shape for a in side] for side in (avals_in, avals_out))
        return {"sdy.sharding_rule": rule_attribute(self.module.mlir.sdy, rule, *shapes)}

    def foreign(
        self,
        target: str,
        values: Sequence[Any],
        avals_in: Sequence[ShapedArray],
        avals_out: Sequence[ShapedArray],
        attributes: dict[str, Any] | str,
        side_effect: bool = False,
        aliases: Sequence[tuple[int, int]] = (),
        orders: Sequence[Sequence[Sequence[int]]] | None = None,
        version: int = 4,
    ) -> list[Any]:
        """Call the native function registered with XLA as `target`; arrays lie in row-major order, or as `orders` say of those that go
        in and come out: the axes, the slowest first. `attributes`: what `mlir.attribute` takes, by name; a text for interfaces of a
        `version` below 4."""
        layouts = [_rows_first(avals_in), _rows_first(avals_out)]
        if orders is not None:
            layouts = [[order[::-1] for order in side] for side in orders]
        more = {"has_side_effect": self.ir.BoolAttr.get(True)} if side_effect else {}
        return self._foreign_call(target, values, layouts, avals_out, attributes, aliases, more, version)

    def _foreign_call(
        self,
        target: str,
        values: Sequence[Any],
        layouts: Sequence[Sequence[Sequence[int]]],
        avals_out: Sequence[ShapedArray],
        attributes: dict[str, Any] | str,
        aliases: Sequence[tuple[int, int]],
        more: dict[str, Any],
        version: int = 4,
    ) -> list[Any]:
        ir, several = self.ir, len(avals_out) > 1
        shapes: list[Any] = []
        if self.module.polymorphic and not all(is_static(a.shape) for a in avals_out):
            shapes = [self.sizes.vector(physical(a).shape) for a in avals_out]
            layouts = [[*layouts[0], *[(0,)] * len(shapes)], layouts[1]]
        shared = [
            self.hlo.OutputOperandAlias.get([result] if several else [], operand, []) for operand, result in aliases
        ]
        orders = [
            ir.ArrayAttr.get(
                [ir.DenseIntElementsAttr.get(np.asarray(list(o), np.int64), type=ir.IndexType.get()) for o in side]
            )
            for side in layouts
        ]
        operation = self.hlo.CustomCallOp(
            [self.type(a) for a in avals_out],
            [*values, *shapes],
            call_target_name=target,
            api_version=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), version),
            backend_config=mlir.attribute(attributes),
            operand_layouts=orders[0],
            result_layouts=orders[1],
            output_operand_aliases=ir.ArrayAttr.get(shared),
        )
        if shapes:
            places = np.arange(len(values), len(values) + len(shapes), dtype=np.int64)
            operation.operation.attributes["indices_of_shape_operands"] = ir.DenseIntElementsAttr.get(places)
        for name, attribute in more.items():
            operation.operation.attributes[name] = attribute
        return list(operation.results)

    def row_by_row(self, value: Any, aval: ShapedArray) -> Any:
        """The same value, of which XLA's compiler for the CPU may not choose the layout: row-major. Other compilers know what their own
        libraries take."""
        if "cpu" not in self.module.platforms:
            return value
        return self.in_order(value, aval, range(aval.ndim))

    def in_order(self, value: Any, aval: ShapedArray, major_to_minor: Sequence[int]) -> Any:
        """The same value, whose axes lie in memory in this order, the slowest first."""
        if self.module.polymorphic:  # what refines shapes does not know the call
            return value
        ir, order = self.ir, np.asarray([*major_to_minor][::-1], np.int64)
        layout = ir.DenseIntElementsAttr.get(np.ascontiguousarray(order), type=ir.IndexType.get())
        operation = self.hlo.CustomCallOp(
            [self.type(aval)],
            [value],
            call_target_name="LayoutConstraint",
            result_layouts=ir.ArrayAttr.get([layout]),
            operand_layouts=ir.ArrayAttr.get([layout]),
        )
        return operation.result

    def _columns_first(self, avals: Sequence[ShapedArray], rank: int) -> list[list[int]]:
        """The layouts LAPACK reads: matrices lie column by column."""
        orders = []
        for aval in avals:
            order = list(range(aval.ndim))[::-1]
            if aval.ndim == rank:
                order[:2] = order[1], order[0]
            orders.append(order)
        return orders


def _rows_first(avals: Sequence[ShapedArray]) -> list[Sequence[int]]:
    return [range(physical(a).ndim)[::-1] for a in avals]


def _lapack_attribute(value: bool | str | int) -> Any:
    """Of the width that the routines expect."""
    if isinstance(value, str):
        return np.uint8(ord(value))
    return value if isinstance(value, bool) else np.int32(value)


def _lapack_target(routine: str, aval: ShapedArray) -> str:
    return f"lapack_{_LAPACK_LETTERS[aval.dtype.name]}{routine}_ffi"


_LAPACK_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
