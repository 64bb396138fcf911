"""Operations of the user's that the partitioner divides as the user says: their custom call, and the program of one device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import copy_context
from typing import Any

import numpy as np

from ..control.bodies import trace_body
from ..core.avals import ShapedArray
from ..core.jaxpr import ClosedJaxpr
from ..core.meshes import AxisType, Mesh
from ..core.shardings import NamedSharding, PartitionSpec
from ..core.varying import inside
from ..named_tuple import NamedTuple
from ..xla import mlir
from ..xla.partitioning import TARGET, Values, configuration
from .lowering import Module
from .sharding_rules import ShardingRule, rule_attribute
from .spreading import chosen, hlo_sharding
from .stages import ShapeDtypeStruct


class Partitioning(NamedTuple):
    """How an operation is divided: the user's function `partition`, its static arguments, the structure of its arguments and of
    its results, and the rule by which layouts follow from each other (None: they do not)."""

    name: str
    partition: Callable[..., Any]
    rule: Any
    static: tuple[Any, ...]
    in_tree: Any
    out_tree: Any


def custom_call(ctx: Any, values: Sequence[Any], how: Partitioning) -> list[Any]:
    """The operation in a program over several devices, which is being lowered."""
    ir, meshes = ctx.ir, ctx.module.meshes
    group, mesh, context = meshes.group, _auto(meshes.mesh), copy_context()
    divided = lambda ins, outs: context.copy().run(_divided, how, group, mesh, ins, outs)
    kinds = [ctx.type(a) for a in ctx.avals_out]
    operation = ctx.hlo.CustomCallOp(
        kinds, list(values), call_target_name=TARGET, has_side_effect=ir.BoolAttr.get(False),
        api_version=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 2), backend_config=ir.StringAttr.get(configuration(divided)),
    )  # fmt: skip
    rule = _rule(how, mesh, [x.type for x in values], kinds)
    if rule is not None:
        shapes = [[tuple(ir.RankedTensorType(t).shape) for t in side] for side in ([x.type for x in values], kinds)]
        operation.operation.attributes["sdy.sharding_rule"] = rule_attribute(ctx.module.mlir.sdy, rule, *shapes)
    return list(operation.results)


def _auto(mesh: Any) -> Any:
    """The mesh as the user's callbacks see it: layouts are the compiler's there."""
    return mesh.update(axis_types=(AxisType.Auto,) * len(mesh.axis_names))


def _rule(how: Partitioning, mesh: Any, taken: list[Any], given: list[Any]) -> ShardingRule | None:
    if not callable(how.rule):
        return how.rule
    found, more = how.rule(*how.static, mesh, taken, given), {}
    if isinstance(found, (tuple, list)) and len(found) == 2:
        found, more = found
    if not isinstance(found, str):
        raise ValueError(f"the sharding_rule of {how.name} is to give a text such as 'i j -> i j', it gave {found!r}")
    return ShardingRule.of(found, **more)


def _divided(how: Partitioning, group: Any, mesh: Any, ins: Values, outs: Values) -> tuple[bytes, list[Any], list[Any]]:
    """The program of one device, and how it takes and gives values."""
    structs = [[_struct(*value, group, mesh) for value in side] for side in (ins, outs)]
    found = how.partition(*how.static, mesh, how.in_tree.unflatten(structs[0]), how.out_tree.unflatten(structs[1]))
    if not isinstance(found, (tuple, list)) or len(found) != 4:
        raise ValueError(
            f"partition of {how.name} is to give (mesh, a function of one device's parts, the shardings of the results, those of the "
            f"arguments), it gave {found!r}"
        )
    mesh, lower, result_shardings, arg_shardings = found
    if not isinstance(mesh, Mesh):
        raise ValueError(
            f"partition of {how.name} is to give a mesh of devices first, as it was given one; it gave {mesh!r}"
        )
    given = _shardings(how, how.out_tree, result_shardings, "results")
    taken = _shardings(how, how.in_tree, arg_shardings, "arguments")
    parts = [ShapedArray(s.shard_shape(shape), dtype) for s, (shape, dtype, _) in zip(taken, ins)]
    with inside(mesh, mesh.axis_names, False):
        body = trace_body(lower, how.in_tree, parts)
        wanted = [(s.shard_shape(shape), dtype) for s, (shape, dtype, _) in zip(given, outs)]
        _check_results(how, body.closed.out_avals, wanted)
        program = _program(body.closed, how.name, group, mesh)
    hlo = [[hlo_sharding(s, len(v[0])) for s, v in zip(side, values)] for side, values in ((taken, ins), (given, outs))]
    return program, hlo[0], hlo[1]


def _struct(shape: tuple[int, ...], dtype: np.dtype, hlo: Any, group: Any, mesh: Any) -> ShapeDtypeStruct:
    said = chosen(hlo.to_proto(), shape, group, mesh).said
    spec = PartitionSpec(*said.spec.partitions, *[None] * (len(shape) - len(said.spec)))
    return ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(said.mesh, spec))


def _shardings(how: Partitioning, structure: Any, shardings: Any, what: str) -> list[NamedSharding]:
    try:
        found = structure.flatten_up_to(shardings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"partition of {how.name}: the shardings of the {what} are {shardings!r}: {error}") from None
    for s in found:
        if not isinstance(s, NamedSharding):
            raise ValueError(f"partition of {how.name} is to give NamedShardings of the {what}, it gave {s!r}")
    return found


def _check_results(how: Partitioning, avals: Sequence[Any], wanted: Sequence[Any]) -> None:
    found = [(a.shape, np.dtype(a.dtype)) for a in avals]
    if found != [(shape, np.dtype(dtype)) for shape, dtype in wanted]:
        said = [", ".join(f"{np.dtype(d).name}{list(s)}" for s, d in side) for side in (found, wanted)]
        raise ValueError(
            f"the function that partition of {how.name} gave returns {said[0]} on one device; its results lie so that each device has "
            f"{said[1]}. What to do: let it return one device's part, or give other shardings of the results"
        )


def _program(closed: ClosedJaxpr, name: str, group: Any, mesh: Any) -> bytes:
    with mlir.context(), mlir.location():
        module = Module(name)
        module.meshes.group, module.meshes.mesh, module.meshes.manual = group, mesh, tuple(mesh.axis_names)
        module.build(closed.jaxpr, "main", "public", [np.asarray(c) for c in closed.consts])
        return mlir.to_bytecode(module.module)
