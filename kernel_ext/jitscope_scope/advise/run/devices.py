"""What a finished program over several devices shows: large arrays that are on every device, and nobody asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from jitscope.core import source
from jitscope.core.jaxpr import Jaxpr, JaxprEqn, Var, backward_slice
from jitscope.core.shardings import NamedSharding
from jitscope.core.source import Position
from jitscope.core.words import size

from ...annotations import CommunicationDocument
from ...observe.communication import instrument
from ...observe.ledger import Row
from ...observe.positions import equations_of
from ...observe.stacks import program_position
from ...source_code.edits import Span
from ..diagnostic import Diagnostic, Fix


LARGE = 1 << 20
"""Bytes on one device from which on it is worth telling."""
_ASKS = {"all_gather", "all_gather_invariant", "sharding_constraint", "reshard", "all_to_all"}
"""Primitives by which a program itself asks for the exchange."""

_documents: WeakKeyDictionary[Any, CommunicationDocument] = WeakKeyDictionary()


def of_devices(row: Row) -> Iterator[Diagnostic]:
    """The sharp bits of a row whose program is kept and runs on several devices."""
    executable = row.entry.executable
    if executable not in _documents:
        _documents[executable] = instrument(row)
    document = _documents[executable]
    yield from _gathered(row, document)
    yield from _arguments(row, document)
    yield from _results(row, document)


# All-gathers ---------------------------------------------------------------------------------------------------------


def _gathered(row: Row, document: CommunicationDocument) -> Iterator[Diagnostic]:
    equations = dict(equations_of(row.needed("jaxpr"))) if document["collectives"] else {}
    wanted = {v["bytes"] for v in document["values"] if v["role"] == "result" and v["asked"] is not None}
    # XLA may give the exchange that a program asks for the name of what reads it.
    wanted |= {v.aval.bytes for eqn in equations.values() if eqn.primitive.name in _ASKS for v in eqn.outvars}
    for one in document["collectives"]:
        if one["what"] != "all-gather" or one["gets"] < LARGE or one["gets"] in wanted:
            continue
        stems = [equations[path] for path in one["paths"] if path in equations]
        if any(eqn.primitive.name in _ASKS for eqn in stems):
            continue
        along = f" along {', '.join(one['axes'])}" if one["axes"] else ""
        often = "" if one["runs"] == 1 else f", {one['runs']:,} times" if one["runs"] else ", in a loop"
        message = (
            f"the whole of an array, {size(one['gets'])}, is gathered on each of the {document['devices']} devices{along}: each run of "
            f"{row.function} moves to each device what it does not have of it, of {size(one['gives'])} that it has{often}."
        )
        fix = (
            "Keep it cut: lay what the line reads out so that the axes that are summed, indexed or reshaped are whole, or say how the "
            "result is to lie, lax.with_sharding_constraint(y, NamedSharding(mesh, P(...))). Where it is meant, ask for it: "
            "lax.with_sharding_constraint(x, NamedSharding(mesh, P()))."
        )
        where = next((p for eqn in stems if (p := program_position(eqn.traceback))), None) or row.call_site
        yield from _told("large-all-gather", where, message, fix, (f"{one['name']}: {', '.join(one['types'])}",))


# Replication ---------------------------------------------------------------------------------------------------------


def _arguments(row: Row, document: CommunicationDocument) -> Iterator[Diagnostic]:
    """Arguments that nobody laid out: they were on one device, and each call copies them to all."""
    hidden = row.takes.arguments[0] if row.takes is not None else 0
    told = [v for v in document["values"] if v["role"] == "argument"]
    for value, at in list(zip(told, row.entry.executable.device.ins))[hidden:]:
        if value["bytes"] >= LARGE and not isinstance(at.said, NamedSharding):
            message = (
                f"{value['name']} ({value['type']}, {size(value['bytes'])}) lies on one device and is copied whole to all "
                f"{document['devices']} devices at each call of {row.function}: nobody said how it is to lie."
            )
            fix = (
                f"Put it there once: device_put({value['name']}, NamedSharding(mesh, P('{_axis(document)}'))) cuts its first axis, "
                "P() keeps all of it on each device."
            )
            yield from _told(
                "accidental-replication",
                row.call_site,
                message,
                fix,
                (f"{value['name']}: {value['type']}, {value['lies']}",),
            )


def _results(row: Row, document: CommunicationDocument) -> Iterator[Diagnostic]:
    """Results made of arguments that are cut, and of none that is whole and as large, that came out whole on each device."""
    jaxpr, ins = row.needed("jaxpr"), row.entry.executable.device.ins
    hidden, kept = row.takes.arguments if row.takes is not None else (0, list(range(len(ins))))
    cut = {jaxpr.invars[i] for i, at in zip(kept, ins[hidden:]) if str(at.hlo) != "{replicated}"}
    whole = {jaxpr.invars[i] for i in kept} - cut
    results = [v for v in document["values"] if v["role"] == "result"]
    for value, var in zip(results, jaxpr.outvars):
        if value["asked"] is not None or value["lies"] != "P()" or value["bytes"] < LARGE or not isinstance(var, Var):
            continue
        reads, last = _reads(jaxpr, var)
        if not reads & cut or any(2 * v.aval.bytes >= value["bytes"] for v in reads & whole) or last is None:
            continue
        message = (
            f"{value['name']} of {row.function} ({value['type']}, {size(value['bytes'])}) came out whole on each of the "
            f"{document['devices']} devices, though what it is made of is cut: nobody said how it is to lie."
        )
        fix = (
            f"Say it: jit(..., out_shardings=NamedSharding(mesh, P('{_axis(document)}'))) keeps it cut, and P() says that it is to be "
            "on each device."
        )
        where = program_position(last.traceback) or row.call_site
        yield from _told(
            "accidental-replication", where, message, fix, (f"{value['name']}: {value['type']}, {value['lies']}",)
        )


def _reads(jaxpr: Jaxpr, var: Var) -> tuple[set[Any], JaxprEqn | None]:
    """The arguments that a result depends on, and the equation that makes it."""
    makers = [i for i, eqn in enumerate(jaxpr.eqns) if var in eqn.outvars]
    eqns = [jaxpr.eqns[i] for i in backward_slice(jaxpr, makers)]
    reads = {v for eqn in eqns for v in eqn.invars if isinstance(v, Var)}
    return reads & {*jaxpr.invars, *jaxpr.constvars}, eqns[-1] if eqns else None


def _axis(document: CommunicationDocument) -> str:
    return document["mesh"][0]["name"] if document["mesh"] else "axis"


def _told(id: str, where: Position | None, message: str, fix: str, evidence: tuple[str, ...]) -> Iterator[Diagnostic]:
    if where is not None and not source.is_internal(where.file):
        span = Span.of(where)
        yield Diagnostic(id, where.file, span, message, Fix(fix), evidence, "trace")
