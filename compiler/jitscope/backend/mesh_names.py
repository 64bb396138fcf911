"""Meshes and layouts as a module says them (Shardy's `sdy` dialect)."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.annotations import PartitionSpec
from ..core.avals import physical
from ..core.jaxpr import Jaxpr
from ..core.part_types import laid_of, sums_of


class Meshes:
    """The meshes of a module. `group`: the devices that the program is spread over, and `mesh` its mesh; None on one device, where
    layouts say nothing. `manual`: the axes over which the code at hand is one device's."""

    def __init__(self, module: Any):
        self.module = weakref.proxy(module)  # whose `meshes` they are: no cycle would keep the module's memory
        self.group: Any = None
        self.mesh: Any = None
        self.manual: tuple[Any, ...] = ()
        self._names: dict[Any, str] = {}

    def name(self, mesh: Any) -> str:
        """The symbol of a mesh, which is defined at its first use."""
        key = mesh.shape_tuple
        if key not in self._names:
            name = self._names[key] = f"mesh{len(self._names) or ''}"
            axes = ", ".join(f'"{axis}"={size}' for axis, size in key)
            ir = self.module.ir
            self.module.taken.add(name)
            with ir.InsertionPoint.at_block_begin(self.module.module.body):
                self.module.mlir.sdy.MeshOp(name, ir.Attribute.parse(f"#sdy.mesh<[{axes}]>"))
        return self._names[key]

    def sharding(self, mesh: Any, spec: PartitionSpec, ndim: int, open_axes: Iterable[int] = ()) -> Any:
        """The attribute of a layout. Axes that the spec leaves unconstrained, and `open_axes`, may be cut by the compiler."""
        return self.module.ir.Attribute.parse(f"#sdy.sharding{self.text(mesh, spec, ndim, open_axes)}")

    def text(self, mesh: Any, spec: PartitionSpec, ndim: int, open_axes: Iterable[int] = ()) -> str:
        from ..core.shardings import UNCONSTRAINED

        entries = [*spec.partitions, *[None] * (ndim - len(spec))]
        cut = ", ".join(_axis(e, e is UNCONSTRAINED or i in set(open_axes)) for i, e in enumerate(entries))
        terms = ", ".join(f'"{name}"' for name in mesh.axis_names if name in spec.unreduced)
        return f"<@{self.name(mesh)}, [{cut}]{f', unreduced={{{terms}}}' if terms else ''}>"

    def lower_laid(self, ctx: Any, eqn: Any, operands: Sequence[Any]) -> Any:
        """The results of an equation, laid out as their types say."""
        from .open_terms import is_linear_in_terms, say_terms  # of several devices

        if eqn.primitive.name == "reshard":
            return ctx.lower_unlaid(eqn, operands)
        terms = is_linear_in_terms(eqn)
        before = len(ctx.ir.InsertionPoint.current.block.operations) if terms else 0
        out, several = ctx.lower_unlaid(eqn, operands), eqn.primitive.multiple_results
        values = list(out) if several else [out]
        if terms:
            say_terms(ctx, eqn, operands, values, before)
        values = [self.as_typed(ctx, value, var.aval) for value, var in zip(values, eqn.outvars)]
        return values if several else values[0]

    def as_typed(self, ctx: Any, value: Any, aval: Any) -> Any:
        """A value, laid out as its type says."""
        laid = laid_of(aval)
        if laid is None or not (aval.ndim or laid.spec.unreduced):
            return value
        rank = ctx.rank(value)
        said = self.sharding(laid.mesh, laid.spec, rank, range(rank) if laid.mesh.auto_axes else ())
        return self.module.mlir.sdy.ShardingConstraintOp(value, said).result

    def with_terms(self, ctx: Any, value: Any, aval: Any) -> Any:
        """A value that no equation gives, laid out as its type says where that is terms of a sum: the compiler finds other layouts by
        itself, and takes a sum that it does not know to be open."""
        return self.as_typed(ctx, value, aval) if self.group is not None and sums_of(aval).unreduced else value

    def many(self, pairs: Sequence[tuple[Any, PartitionSpec, int]], is_open: bool = False) -> Any:
        """The attribute of several layouts; with `is_open` the compiler may cut each axis further."""
        said = ", ".join(self.text(mesh, spec, ndim, range(ndim) if is_open else ()) for mesh, spec, ndim in pairs)
        return self.module.ir.Attribute.parse(f"#sdy.sharding_per_value<[{said}]>")

    def on_first(self, results: int) -> Any:
        """The attribute of an operation that runs on the first device alone."""
        ir, name = self.module.ir, "maximal_mesh_0"
        if name not in self.module.taken:
            self.module.taken.add(name)
            with ir.InsertionPoint.at_block_begin(self.module.module.body):
                self.module.mlir.sdy.MeshOp(name, ir.Attribute.parse("#sdy.mesh<[], device_ids=[0]>"))
        return ir.Attribute.parse(f"#sdy.sharding_per_value<[{', '.join([f'<@{name}, []>'] * results)}]>")

    def axes(self, mesh: Any, names: Iterable[Any]) -> Any:
        """The attribute of manual axes."""
        from ..core.meshes import ordered

        said = ", ".join(f'"{name}"' for name in ordered(mesh, names))
        return self.module.ir.Attribute.parse(f"#sdy<manual_axes{{{said}}}>")

    def mark(self, function: Any, spread: Any, jaxpr: Jaxpr, before: int = 0) -> None:
        """Say on a function how its arguments and results lie; `before` the jaxpr's are arguments of which nothing is said."""
        ir = self.module.ir
        for attribute, first, layouts, values in (
            ("arg_attrs", before, spread.ins, jaxpr.invars),
            ("res_attrs", 0, spread.outs, jaxpr.outvars),
        ):
            known = list(function.attributes[attribute]) if attribute in function.attributes else []
            known += [ir.DictAttr.get({})] * (first + len(values) - len(known))
            said = known[:first]
            for old, at, value in zip(known[first:], layouts, values):
                fields = {name.name: name.attr for name in old}
                if at is not None:
                    fields |= self._said(at, physical(value.aval).ndim, spread.mesh)
                said.append(ir.DictAttr.get(fields))
            function.attributes[attribute] = ir.ArrayAttr.get(said)

    def _said(self, at: Any, ndim: int, mesh: Any) -> dict[str, Any]:
        from ..core.shardings import PartitionSpec

        mesh, spec = (mesh, PartitionSpec()) if at.said is None else (at.said.mesh, at.said.spec)
        found = {"sdy.sharding": self.sharding(mesh, spec, ndim)}
        if at.kind not in (None, "device"):
            found["mhlo.memory_kind"] = self.module.ir.StringAttr.get(at.kind)
        return found


def _axis(entry: Any, is_open: bool) -> str:
    from ..core.shardings import names_of

    names = [f'"{name}"' for name in names_of(entry)]
    return "{" + ", ".join(names + ["?"] * is_open) + "}"
