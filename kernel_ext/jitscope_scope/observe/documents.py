"""Documents made from the ledger: one program, one cell, the recompilations, the whole session."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, cast

from jitscope.backend.call_arguments import CallArguments
from jitscope.backend.signature import Signature
from jitscope.core.collector import paused_collector
from jitscope.core.errors import Unavailable
from jitscope.core.printing import Names, format_jaxpr
from jitscope.core.words import counted, root_of as argument_of
from jitscope.xla import hlo_module
from jitscope.xla.hlo_module import Computation
from jitscope.xla.spread import Spread

from ..annotations import (
    CellDocument,
    CellError,
    CommunicationDocument,
    CompilationDocument,
    Cost,
    FusionDocument,
    GraphDocument,
    LedgerDocument,
    LedgerRow,
    Position,
    RecompilationsDocument,
    RowState,
)
from .accelerators import gpu_facts
from .calls import CallTree, root_of
from .cost import Work, work_of
from .fusion import fusion_document, kernels_document, unfused
from .graph import argument_names, jaxpr_graph, result_names
from .groups.kernels import Origins
from .hlo_origins import computations_before
from .instruments import look, silent_about
from .kernel_blocks import Blocks
from .ledger import Ledger, Mark, Row, ledger as session_ledger
from .recompiling.cards import Editor, loud, recompilations_document, shared_cards
from .signature_texts import arguments_text, shortened
from .sketch import program_parts
from .small import small_document
from .source import source_document
from .stacks import Stacks
from .timing import measure_steady, quantity, timing_document


def signature_text(row: Row) -> str:
    """`layer(x: f32[64,20], w: f32[20,7]) -> f32[64,7]`"""
    if row.signature is not None:
        ins = arguments_text((leaf.path, str(leaf)) for leaf in row.signature.leaves)
        ins += [f"{static.name}={static.text}" for static in row.signature.statics if static.text]
        ins += _few(row.signature)
    else:
        ins = [v.aval.short() for v in row.jaxpr.invars] if row.jaxpr else []
    return f"{row.title}({', '.join(shortened(ins))}) -> {row.result}"


def _few(signature: Signature) -> list[str]:
    """The plain values inside of an argument that is static for another library, where they are few: `model.times=3`."""
    known, of_root = {static.name for static in signature.statics}, defaultdict(list)
    for one in signature.attributes:
        if one.type in ("bool", "int", "float", "complex", "str"):
            of_root[argument_of(one.name)].append(f"{one.name}={one.text}")
    few = [listed for root, listed in of_root.items() if root not in known and len(listed) <= _MOST_ATTRIBUTES]
    return [text for listed in few for text in listed]


_MOST_ATTRIBUTES = 2

_MOST_LAID = 5_000
"""Equations up to which a program's graph says how each value lies: the partitioner's pass is run once more for that."""
LARGE = 30_000
"""Equations beyond which the HLO programs are put into a document when they are asked for: no saved output has room for them."""


def compilation_document(
    row: Row, whole: bool = True, again: RecompilationsDocument | None = None
) -> CompilationDocument:
    """Everything known about one program; if it need not be `whole`, without the HLO programs of one that is `LARGE`. `again`: what is
    told of it in the cards of others (see `shared_cards`); without that, it is looked at alone."""
    # A large program's document is many objects, none of them garbage. XLA takes long to say what memory the program needs, and does not
    # hold Python's lock meanwhile.
    with paused_collector(), ThreadPoolExecutor(1) as beside:
        memory = beside.submit(row.entry.executable.memory_stats) if row.entry else None
        return _compilation_document(row, whole, again, memory)


def _compilation_document(
    row: Row, whole: bool, again: RecompilationsDocument | None, memory: Future[dict[str, int]] | None
) -> CompilationDocument:
    jaxpr = row.jaxpr
    stacks = Stacks()
    positions = row.positions(stacks)
    title = row.title
    names, tree = (
        Names(jaxpr, brief=True) if jaxpr else None,
        CallTree(jaxpr, root_of(row.position, jaxpr, stacks), stacks),
    )
    graph = jaxpr_graph(jaxpr, title, positions, row.cell_of, names, tree) if jaxpr else _no_graph(title, row)
    after = hlo_module.computations(hlo_module.optimized(row.entry.executable)) if row.entry else ()
    fusion = _fusion(row, after, positions, graph, whole or row.equations <= LARGE)
    document: CompilationDocument = {
        "kind": "compilation",
        "version": 1,
        "id": row.id,
        "function": row.title,
        "signature": signature_text(row),
        "equations": row.equations,
        "because": row.because,
        "cache": "reused" if row.what == "reused" else "loaded" if row.loaded else "compiled",
        "headline": headline(row, fusion),
        "parts": program_parts(graph),
        "source": source_document(tree, row.cell_of),
        "jaxpr": format_jaxpr(jaxpr, names=names) if jaxpr else "",
        "graph": graph,
        "fusion": fusion,
        "timing": timing_document(row),
        "recompilations": recompilations_document([row], title) if again is None else again,
        "cost": _cost(row, after, memory.result() if memory else {}),
    }
    if silent := silent_about(row):
        document["silent"] = silent
    communication = _communication(row)
    if communication is None:
        return document
    from .communication import on_graph  # of several devices

    on_graph(graph, communication, *_layouts(row))
    return {**document, "instruments": {"communication": communication}}


def _layouts(row: Row) -> tuple[dict[str, Any], list[Any]]:
    """How the values inside of a program of ours lie, by path, and its arguments, in order."""
    place = row.entry.executable.device if row.entry else None
    if type(place) is not Spread or row.jaxpr is None or row.equations > _MOST_LAID:
        return {}, []
    from .inner_layouts import argument_layouts, inner_layouts  # of several devices

    given = argument_layouts(row.entry.argument_avals, place.ins)
    return inner_layouts(row.entry.lowered, row.jaxpr, place.mesh), given


def _communication(row: Row) -> CommunicationDocument | None:
    """What the devices exchange, which costs nothing here; None for programs of one device."""
    executable = row.entry.executable if row.entry else None
    if executable is None or (type(executable.device) is not Spread and len(executable.raw.local_devices()) == 1):
        return None
    try:
        return cast("CommunicationDocument", look(row, "communication"))
    except Unavailable:
        return None


def _no_graph(title: str, row: Row) -> GraphDocument:
    why = "no longer kept" if row.dropped else "not traced"
    return {"kind": "graph", "version": 1, "level": "jaxpr", "title": f"{title} ({why})", "nodes": [], "edges": []}


def headline(row: Row, fusion: FusionDocument | None) -> str:
    """`14 equations → 2 kernels (1 fusion of 13)`, and whether it is compiled as was found by tuning it."""
    count = counted(row.equations, "equation")
    tuned = f", {'loaded' if row.loaded else 'compiled'} with tuned options" if row.tuned else ""
    if fusion is None:
        return f"{count}{tuned}"
    kernels, total = fusion["kernels"], fusion["summary"]["kernels"]
    fused = [len(k["members"]) for k in kernels if k["kind"] == "fusion"]
    loops = sum(k["kind"] == "loop" for k in kernels)
    parts = [f"{counted(len(fused), 'fusion')}{_sizes(fused)}"] if fused else []
    parts += unfused(kernels)
    plain = all(k["kind"] in ("other", "copy", "loop") for k in kernels)
    inside = "" if plain else f" ({', '.join(parts)})"
    repeated = f", {counted(loops, 'loop')}" if loops else ""
    return f"{count} → {counted(total, 'kernel')}{inside}{repeated}{tuned}"


def _sizes(fused: list[int]) -> str:
    """` of 13`, ` of 2 to 13 operations`"""
    least, most = min(fused), max(fused)
    if len(fused) == 1:
        return f" of {most:,}"
    return f" of {most:,} operations each" if least == most else f" of {least:,} to {most:,} operations"


def _fusion(
    row: Row, after: Sequence[Computation], positions: dict[str, Position], graph: GraphDocument, whole: bool
) -> FusionDocument | None:
    entry = row.entry
    if entry is None:
        return None
    if not whole:
        return kernels_document(after, positions, row.title, row.shares)
    names, origins = result_names(row.jaxpr) if row.jaxpr else (), Origins(graph)
    given = [name for _, name in argument_names(row.jaxpr, row.takes, len(entry.argument_avals))] if row.jaxpr else ()
    before, blocks = computations_before(entry), Blocks(graph, origins)
    found = fusion_document(before, after, positions, row.title, names, origins, row.shares, blocks, given)
    if (gpu := gpu_facts(row, after)) is not None:
        found["gpu"] = gpu
    if row.library and entry.origins:
        summary = found["summary"]
        summary["sentence"], summary["again"] = f"{summary['sentence']}; {entry.origins}", entry.compiles_again
    return found


def _cost(row: Row, after: Sequence[Computation], memory: dict[str, int]) -> Cost:
    entry = row.entry
    work = (
        work_of(hlo_module.optimized(entry.executable), after)
        if entry
        else Work(None, None, "the program is no longer kept")
    )
    dearest = (
        "; of branches, the dearest" if any(i.opcode == "conditional" for c in after for i in c.instructions) else ""
    )
    note = work.why or f"a model of the optimised program: each operation one, exponentials and the like, too{dearest}"
    moved = (
        work.why
        if work.bytes is None
        else f"a model of the optimised program: what its kernels read and write{dearest}"
    )
    return {
        "flops": quantity(work.flops, "flop", "modelled", note),
        "bytes": quantity(work.bytes, "B", "modelled", moved),
        "memory": quantity(_needed(memory), "B", "modelled", "arguments, results and temporaries, as XLA planned them"),
    }


def _needed(memory: dict[str, int]) -> float | None:
    """The bytes that a run needs. (What XLA calls the peak leaves out the temporaries on a CPU.)"""
    return float(memory["argument"] + memory["output"] - memory["alias"] + memory["temp"]) if memory else None


def _cell(row: Row) -> tuple[str | None, str | None]:
    """Label and id of the cell that was running (or whose code made the call, or defined the function)."""
    if row.cell is not None:
        return row.cell
    for position in (row.call_site, row.position):
        found = row.cell_of(position.file) if position else None
        if found:
            return found
    return None, None


def cell_document(
    since: Mark,
    *,
    cell: str,
    cell_id: str | None = None,
    left_alone: Sequence[tuple[str, str]] = (),
    error: CellError | None = None,
    note: str = "",
    ledger: Ledger | None = None,
    editor: Editor | None = None,
) -> CellDocument:
    """What happened since a mark, for one cell's output; `editor` makes the edits of fixes."""
    ledger = session_ledger() if ledger is None else ledger
    # A cell that is run again traces its functions again and compiles nothing; it shows them all the same.
    shown = ("compiled", "recompiled", "reused")
    new = ledger.since(since)
    rows = [row for row in new if not row.nested and row.what in shown]
    calls = ledger.called_since(since)
    recompilations, of_row = shared_cards(loud(new), cell, editor)
    return {
        "kind": "cell",
        "version": 1,
        "cell": cell,
        "cell_id": cell_id,
        "compilations": [compilation_document(row, whole=False, again=of_row.get(row.id)) for row in rows],
        "recompilations": recompilations,
        "reused": [{"function": name, "calls": n} for name, n in calls.items()],
        "left_alone": [{"name": name, "reason": reason} for name, reason in left_alone],
        "error": error,
        "note": note,
    }


def ledger_document(ledger: Ledger | None = None) -> LedgerDocument:
    """The session's list."""
    ledger = session_ledger() if ledger is None else ledger
    return {
        "kind": "ledger",
        "version": 1,
        "rows": [_ledger_row(row) for row in ledger if not row.nested and row.what != "traced"],
        "small": small_document(list(ledger.small)),
    }


def _ledger_row(row: Row) -> LedgerRow:
    label, cell_id = _cell(row)
    return {
        "id": row.id,
        "function": row.title,
        "signature": signature_text(row),
        "cell": label,
        "cell_id": cell_id,
        "what": "loaded" if row.loaded and row.what != "failed" else cast("RowState", row.what),
        "because": row.because,
        "seconds": {
            "trace": row.seconds.get("trace", 0.0),
            "lower": row.seconds.get("lower", 0.0),
            "compile": row.seconds.get("compile", 0.0),
        },
        "equations": row.equations,
        "calls": None if row.library or row.derived else row.calls,  # what a transformation runs is not counted
    }


def measure_row(row_id: int, ledger: Ledger | None = None, given: CallArguments | None = None) -> CompilationDocument:
    """Measure the steady time of a row's program, on arguments `given` or those of its call, and give its compilation document
    anew. Raises Unavailable."""
    ledger = session_ledger() if ledger is None else ledger
    row = ledger.row(row_id)
    measure_steady(row, given)
    return compilation_document(row)


def compiled_again(row_id: int, ledger: Ledger | None = None) -> CompilationDocument:
    """Compile a program that jax loaded from its persistent cache once more, so that it is known where its kernels stem from, and give
    its compilation document anew. Raises Unavailable where the program is gone, or there is no other to compile."""
    ledger = session_ledger() if ledger is None else ledger
    row = ledger.row(row_id)
    if row.entry is None or not row.library:
        raise Unavailable(f"the program of {row.function} is no longer there: call it once more")
    row.entry.compile_again()
    return compilation_document(row)
