"""Tracing a jitted function: the jaxpr for the kind of its arguments, and the record of it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

from .. import tree
from ..core import call_sites, notices, records, source, users_source
from ..core.annotations import JitFunction
from ..core.avals import ShapedArray, aval_of, not_an_array
from ..core.axes import current_axes
from ..core.config import Settings, settings, value_of
from ..core.errors import stepped_on
from ..core.jaxpr import DebugInfo
from ..core.meshes_in_force import mesh_in_force
from ..core.messages import message_here
from ..core.references import Reference
from ..core.staging import returned_reference, trace_to_jaxpr
from ..core.unfinished_traces import keep_numbers
from ..core.varying import manual
from ..named_tuple import NamedTuple
from .arguments import Arguments
from .caches import TraceEntry
from .function_objects import function_object
from .retrace import Retrace
from .signature import ANY_DEVICE, Leaf, Signature, message_of, options_text


def _tell_static_arrays(x: Any) -> None:
    """An array among the static data of a node: it belongs to the key of the program, and arrays cannot be compared."""
    if not tree.is_tree_node(type(x)):
        return
    children, data = tree.flatten_one_level(x)
    if any(hasattr(part, "__array__") for part in tree.leaves(data)):
        notices.tell(
            "pytree-array-in-aux",
            f"{type(x).__name__} has an array among its static data: it belongs to the key of the program, and arrays cannot be "
            "compared, so the next call with another one will fail.",
            "Make it one of the children.",
            users_source.position_of_result(tree.flattened_by(type(x))),
        )
    for child in children:
        _tell_static_arrays(child)


class TraceKey(NamedTuple):
    """What a trace of a function depends on. Each part has a cause in `observe.differences`."""

    settings: Settings
    axes: tuple
    in_tree: Any
    avals: tuple[ShapedArray, ...]
    statics: tuple


def traced_for(
    function: JitFunction,
    arguments: Arguments,
    avals: tuple[ShapedArray, ...],
    device: Any,
    layouts: tuple[str, ...] = (),
) -> TraceEntry:
    """The jaxpr of a jitted function for arguments of these avals; from its cache unless it captured tracers of an outer
    trace. `device` is where it will run, None inside another trace; `layouts` say how arguments lie on several devices."""
    caches = function._caches
    key = TraceKey(
        settings(),
        current_axes() if (mesh := mesh_in_force()) is None else (*current_axes(), (mesh, manual())),
        arguments.in_tree,
        avals,
        arguments.statics.key,
    )
    traced = caches.traces.get(key)
    if records.trying.get():
        return _trace(function, arguments, avals, device, layouts, key)
    if traced is None:
        if notices.listeners:
            _tell_static_arrays(arguments.dynamic)
        traced = _trace(function, arguments, avals, device, layouts, key)
        if not any(getattr(c, "transient", False) for c in traced.closed.consts):
            caches.remember(caches.traces, key, traced)
    elif device is not None and (
        traced.signature.device != str(device)
        or (layouts and layouts != tuple(x.sharding for x in traced.signature.leaves))
    ):
        traced = _known(function, traced, device, layouts)
        caches.remember(caches.traces, key, traced)
    return traced


_ENDLESS = (
    "calls itself with arguments of the same types while it is traced, and no value is known there that could end that: "
    "write the repetition as lax.while_loop or lax.fori_loop, or make the argument static that counts it"
)


def _laid_out(leaves: Sequence[Leaf], layouts: Sequence[str]) -> tuple[Leaf, ...]:
    return tuple(leaf._replace(sharding=said) for leaf, said in zip(leaves, layouts)) if layouts else tuple(leaves)


def _known(function: JitFunction, traced: TraceEntry, device: Any, layouts: tuple[str, ...]) -> TraceEntry:
    """A known trace on its way to another device than before (or to its first one): a program of its own."""
    leaves = _laid_out(traced.signature.leaves, layouts or [""] * len(traced.signature.leaves))
    signature = traced.signature._replace(device=str(device), leaves=leaves)
    traced = TraceEntry(traced.closed, traced.out_tree, signature, records.new_program(), traced.again)
    detail = {"nested": False, "known": True}
    records.emit(_record(function, "trace", traced.number, None, detail, traced))
    return traced


def _trace(
    function: JitFunction, arguments: Arguments, avals: tuple, device: Any, layouts: tuple[str, ...], key: TraceKey
) -> TraceEntry:
    unfinished, here = function._caches.unfinished, (threading.get_ident(), key)
    if here in unfinished:
        raise RecursionError(message_here(f"{function._name} {_ENDLESS}"))
    names = tuple(arguments.names())
    signature = _signature(function, arguments, names, avals, device)
    signature = signature._replace(leaves=_laid_out(signature.leaves, layouts))
    number, start = records.new_program(), time.perf_counter()
    if value_of("no_tracing"):
        _refuse(function, signature, number, nested=device is None)
    results: list[tuple[Any, tuple[str, ...]]] = []

    def flat(*tracers: Any) -> list[Any]:
        args, kwargs = arguments.filled(tracers)
        leaves, out_tree = tree.flatten_leaves(out := function._fun(*args, **kwargs))
        check_results(function._name, function._fun, leaves, out)
        whole = len(leaves) == 1 and leaves[0] is out
        results.append((out_tree, ("",) if whole else tuple(tree.leaf_paths(out))))
        return leaves if function._shardings is None else function._shardings.typed_results(out_tree, leaves)

    debug = DebugInfo(function._name, names, (), source.position_of_function(function._fun))
    detail: dict[str, Any] = {"nested": device is None}
    unfinished.add(here)
    try:
        closed = trace_to_jaxpr(flat, avals, debug)
    except Exception as error:
        failure = {"error": type(error).__name__, "message": message_of(error), **detail}
        records.emit(_record(function, "error", number, start, failure, signature))
        keep_numbers(error, arguments.leaves)
        raise
    finally:
        unfinished.discard(here)
    if notices.trace_listeners:
        args, kwargs = arguments.filled(avals)
        notices.tell_trace(closed, function._fun, tuple(args), kwargs)
    out_tree, paths = results[0]
    closed.jaxpr.debug = closed.jaxpr.debug._replace(result_names=tuple([f"result{path}" for path in paths]))
    again = Retrace(function._fun, arguments.in_tree, arguments.statics, avals, debug)
    traced = TraceEntry(closed, out_tree, signature, number, again)
    records.emit(_record(function, "trace", number, start, detail, traced))
    return traced


def _refuse(function: JitFunction, signature: Signature, number: int, nested: bool) -> None:
    said = message_here(f"the option no_tracing is set, and {function._name} was to be traced for jit")
    failure = {"error": "TracingRefused", "message": said, "nested": nested}
    records.emit(_record(function, "error", number, None, failure, signature))
    raise records.TracingRefused(said)


def _record(
    function: JitFunction, step: str, number: int, start: float | None, detail: dict[str, Any], payload: Any
) -> records.Record:
    """`start`: when it began; the seconds since are taken last, so that the ledger can tell when that was (`Row.is_traced_beside`)."""
    position, site = source.position_of_function(function._fun), call_sites.calling()
    seconds = 0.0 if start is None else time.perf_counter() - start
    return records.Record(step, function._name, number, seconds, position, site, detail, payload)


def _signature(
    function: JitFunction, arguments: Arguments, names: Sequence[str], avals: tuple, device: Any
) -> Signature:
    caches, spec = function._caches, function._spec
    options = options_text(
        settings(),
        current_axes(),
        function._options,
        donated=spec.donated,
        static=spec.declared,
        by_name=arguments.statics.names,
        auto_static=function._auto,
        keep_unused=function._keep_unused,
        results=function._shardings and function._shardings.outs,
    )
    return Signature(
        caches.number,
        tuple(map(Leaf.of, names, avals)),
        sys.intern(str(arguments.in_tree)),
        arguments.shown_statics(),
        options,
        settings().enable_x64,
        str(device or ANY_DEVICE),
        _structure(arguments.in_tree),
        caches.cleared,
        caches.dropped,
        function_object(function._fun),
    )


def _structure(in_tree: Any) -> int:
    """A number that differs between structures whose nodes of the user's classes hold other static data."""
    if "CustomNode(" not in str(in_tree):
        return 0
    node = in_tree.node_data()
    try:
        own = hash(node[1]) if node is not None else 0
    except TypeError:  # the keys of a dict are a list; other data may be anything
        own = 0
    return hash((own, *map(_structure, in_tree.children())))


def check_results(name: str, fun: Any, leaves: Sequence[Any], out: Any, tracer: str = "jit") -> None:
    """Raises TypeError, with its path, for a result that is not an array, ValueError for a reference. `tracer` is what traces
    `fun`, which has that name."""
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, Reference):
            raise returned_reference(leaf, f"{name} traced for {tracer}", tree.leaf_paths(out)[i])
        if getattr(leaf, "aval", None) is not None:
            continue
        try:
            aval_of(leaf)
        except TypeError:
            path = tree.leaf_paths(out)[i]
            error = TypeError(
                message_here(
                    f"{name} returned, at result{path}, something that is not an array: {not_an_array(leaf)}. A "
                    "traced function gives arrays, numbers, or trees of those; compute other things outside"
                )
            )
            raise stepped_on(error, "not-a-jax-type", users_source.position_of_result(fun)) from None
