"""A program as compiled for a chip that is not here: its kernels, why operations were fused or not, memory, the roofline of the data sheet,
exchanges between devices, and the code of each kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .. import words
from ..documents.annotations import (
    GraphDocument,
    GraphEdge,
    Position,
    TargetBoundary,
    TargetCode,
    TargetDecision,
    TargetDocument,
    TargetKernel,
    TargetStep,
)
from ..escapes import clean
from ..quantities import amount, origin, seconds, show
from ..view import inline
from ..view.parts import (
    Axis,
    Bar,
    Chart,
    Choice,
    Code,
    CodeLine,
    Column,
    Content,
    Facts,
    Graph,
    Grouped,
    Part,
    Place,
    Point,
    Ref,
    Row,
    Section,
    Sentence,
    Series,
    Table,
)
from ..words import NO_LINE, plural


NAME = "Target"
_BY = "by the roofline of the data sheet"
_MOST_NOTES = 3
"""Reasons, and kernels of one reason, that stand below a kernel."""


def view(document: TargetDocument) -> Iterator[Part]:
    """The parts of a target document."""
    yield Sentence(headline(document), "headline")
    yield Sentence(clean(document["sentence"]), "note")
    yield from (Sentence(clean(remark), "note") for remark in document["remarks"])
    match document.get("shows"):
        case "memory":
            yield _memory_section(document)
        case "code":
            yield (
                _code(document["code"])
                if document["code"]
                else Sentence(f"XLA's compiler for {clean(document['chip']['told'])} wrote no PTX or LLVM's IR.")
            )
        case "collectives":
            yield (
                _collectives(document)
                if document["collectives"]
                else Sentence("The program has no exchanges between devices.")
            )
        case _:
            yield from _all(document)
    yield Sentence(words.cost(document["cost"]), "note", origin(document["cost"]))


def _all(document: TargetDocument) -> Iterator[Part]:
    yield _kernels(document)
    if decisions := list(_decisions(document)):
        yield Section("Why fused, why not", tuple(decisions))
    yield _memory_section(document)
    if chart := _roofline(document):
        yield Section("Roofline of the data sheet", (chart,), note="each kernel lies on a roof by construction")
    if document["collectives"]:
        yield Section("What devices exchange", (_collectives(document),))
    if document["graph"] is not None:
        yield Section(
            "The program after optimisation",
            (Graph("the optimised program", _with_reasons(document, document["graph"])),),
            opened=False,
        )
    if schedule := tuple(_schedule(document)):
        yield Section("The schedule", schedule, opened=False)
    if document["code"]:
        yield Section("Code of the kernels", (_code(document["code"]),), opened=False)


def _memory_section(document: TargetDocument) -> Section:
    return Section("Memory of each device", tuple(_memory(document)))


# --- sentences --------------------------------------------------------------------------------------------------------


def headline(document: TargetDocument) -> str:
    """`For H100: 4 kernels, ≈ 19.4 µs by the roofline of the data sheet; 23.1 MB of 84.9 GB.`"""
    run = [kernel for kernel in document["kernels"] if kernel["kind"] != "loop"]
    time = "" if amount(document["seconds"]) is None else f", {show(document['seconds'])} {_BY}"
    return f"For {clean(document['chip']['told'])}: {plural(len(run), 'kernel')}{time}; {fits(document)}."


def fits(document: TargetDocument) -> str:
    """Whether the memory that XLA reserves fits the chip."""
    memory, chip = document["memory"], document["chip"]
    if memory["fits"] is None:
        return "the memory is not known"
    each = " on each device" if chip["devices"] > 1 else ""
    said = f"{show(memory['total'])} of {show(chip['memory'])}{each}"
    return said if memory["fits"] else f"it does not fit: {said}"


def reason(document: TargetDocument, boundary: TargetBoundary) -> str:
    """Why two kernels are not one, in XLA's words where it says something."""
    number = boundary["decision"]
    if number is None or not 0 <= number < len(document["decisions"]):
        seen = clean(boundary["seen"])
        return f"XLA says nothing; seen in the program: {seen}" if seen else "XLA says nothing"
    return _why(document["decisions"][number])


def _why(decision: TargetDecision) -> str:
    together, apart = decision["fused_seconds"], decision["apart_seconds"]
    times = ""
    if amount(together) is not None and amount(apart) is not None:
        times = f" ({show(together)} fused, {show(apart)} apart)"
    return f"{clean(decision['reason'])}{times}"


# --- kernels ----------------------------------------------------------------------------------------------------------


def _kernels(document: TargetDocument) -> Part:
    kernels = document["kernels"]
    each = _table(document, [_kernel(kernel, document) for kernel in kernels], "one by one")
    lines = _by_line(document)
    if len(lines) < 2:
        return each
    rows = [_line(name, own, document) for name, own in lines.items()]
    return Grouped("Kernels", (("one by one", each), ("by line", _table(document, rows, "by line"))))


def _columns(document: TargetDocument) -> list[Column]:
    gpu = document["chip"]["platform"] == "cuda"
    kernels = document["kernels"]
    columns = [
        Column("kernel", "code"),
        Column("lines"),
        Column("what", "short"),
        Column("bytes", "number", "read and written, by XLA's count"),
        Column("time", "number", f"{_BY}: the larger of bytes over bandwidth and arithmetic over its rate"),
        Column("of all", "bar"),
        Column("bound by", "short", named=True),
    ]
    if any(amount(kernel["cycles"]) is not None for kernel in kernels):
        columns.append(Column("cycles", "number", "XLA's estimate"))
    if gpu:
        columns.append(Column("blocks × threads", "number"))
        if any(kernel["registers"] is not None for kernel in kernels):
            columns.append(Column("registers", "number", "of a thread"))
        columns.append(Column("shared", "number", "bytes of shared memory of a block"))
    return columns


def _table(document: TargetDocument, rows: Sequence[Row], way: str) -> Table:
    return Table(f"Kernels, {way}", tuple(_columns(document)), tuple(rows), empty="The program has no kernels.")


def _kernel(kernel: TargetKernel, document: TargetDocument) -> Row:
    again = "" if kernel["runs"] == 1 else " × ?" if kernel["runs"] is None else f" × {kernel['runs']:,}"
    named: Content = (
        (inline.code(clean(kernel["name"])), inline.muted(again)) if again else inline.code(clean(kernel["name"]))
    )
    cells: list[Content] = [
        named,
        _lines(kernel["paths"], document) or inline.muted(NO_LINE),
        clean(kernel.get("label") or kernel["what"]),
        inline.quantity(kernel["bytes"]),
        inline.quantity(kernel["seconds"]),
        Bar(_share(kernel, document)),
        kernel["bound"] if kernel["bound"] != "unknown" else "",
    ]
    notes = filter(None, (clean(kernel["note"]), *_apart(kernel["name"], document)))
    return Row((*cells, *_more(kernel, document)), _ref(kernel, document), note=" ".join(notes))


def _apart(name: str, document: TargetDocument) -> Iterator[str]:
    """Why a kernel is not one with those that it reads, in XLA's words; where it says nothing, nothing."""
    said: dict[str, list[str]] = {}
    for one in document["boundaries"]:
        if one["reader"] == name and one["decision"] is not None:
            said.setdefault(reason(document, one), []).append(clean(one["giver"]))
    for why, givers in list(said.items())[:_MOST_NOTES]:
        names = ", ".join(givers[:_MOST_NOTES]) + (
            f" and {len(givers) - _MOST_NOTES} more" if givers[_MOST_NOTES:] else ""
        )
        yield f"Apart from {names}: {why}."


def _more(kernel: TargetKernel, document: TargetDocument) -> Iterator[Content]:
    titles = [column.title for column in _columns(document)]
    if "cycles" in titles:
        value = amount(kernel["cycles"])
        yield inline.Text(f"≈ {value:,.0f}", order=value) if value is not None else ""
    if "blocks × threads" in titles:
        blocks, threads = kernel["blocks"], kernel["threads"]
        known = blocks is not None and threads is not None
        yield inline.Text(f"{blocks:,} × {threads:,}", order=float((blocks or 0) * (threads or 0))) if known else ""
    if "registers" in titles:
        spilt = f" + {kernel['stack']} B of stack" if kernel["stack"] else ""
        yield f"{kernel['registers']}{spilt}" if kernel["registers"] is not None else ""
    if "shared" in titles:
        yield inline.size(kernel["shared"]) if kernel["shared"] else ""


def _by_line(document: TargetDocument) -> dict[str, list[TargetKernel]]:
    """Kernels by the lines that they stem from; one of several lines stands under each."""
    here = words.only_home(document["positions"].values())
    found: dict[str, list[TargetKernel]] = {}
    for kernel in document["kernels"]:
        positions = _positions(kernel["paths"], document)
        names = {words.lines([position], here): position for position in positions}
        for name in names or {NO_LINE: None}:
            found.setdefault(name, []).append(kernel)
    return found


def _line(name: str, kernels: Sequence[TargetKernel], document: TargetDocument) -> Row:
    here = words.only_home(document["positions"].values())
    positions = [
        p for kernel in kernels for p in _positions(kernel["paths"], document) if words.lines([p], here) == name
    ]
    place: Content = inline.place(positions[0], here) if positions else name
    width = len(_columns(document))
    cells: list[Content] = [plural(len(kernels), "kernel"), place, *[""] * (width - 2)]
    paths = tuple(dict.fromkeys(path for kernel in kernels for path in kernel["paths"]))
    ref = Ref(paths, tuple(kernel["name"] for kernel in kernels), position=positions[0] if positions else None)
    return Row(tuple(cells), ref, tuple(_kernel(kernel, document) for kernel in kernels))


def _share(kernel: TargetKernel, document: TargetDocument) -> float:
    longest = max((_time(one) for one in document["kernels"]), default=0.0)
    return _time(kernel) / longest if longest else 0.0


def _time(kernel: TargetKernel) -> float:
    return (amount(kernel["seconds"]) or 0.0) * (kernel["runs"] or 1)


def _positions(paths: Sequence[str], document: TargetDocument) -> list[Position]:
    return [document["positions"][path] for path in paths if path in document["positions"]]


def _lines(paths: Sequence[str], document: TargetDocument) -> Content:
    positions = _positions(paths, document)
    if not positions:
        return ""
    here = words.only_home(document["positions"].values())
    return Place(
        words.lines(positions, here), positions[0], clean(positions[0]["text"]).strip() if len(positions) == 1 else ""
    )


def _ref(kernel: TargetKernel, document: TargetDocument) -> Ref:
    positions = _positions(kernel["paths"], document)
    return Ref(tuple(kernel["paths"]), (kernel["name"],), position=positions[0] if positions else None)


def _with_reasons(document: TargetDocument, graph: GraphDocument) -> GraphDocument:
    """The graph, in which edges between kernels say why these are two."""
    names = {kernel["name"] for kernel in document["kernels"]}
    nodes = {node["id"]: node for node in graph["nodes"]}
    reads: dict[str, list[str]] = {}
    for edge in graph["edges"]:
        reads.setdefault(edge["to"], []).append(edge["from"])

    def kernel_of(ident: str) -> str:
        found = ""
        at: str | None = ident
        while at is not None and at in nodes:
            found = at if at in names else found
            at = nodes[at]["scope"]
        return found

    def behind(ident: str, deep: int = 0) -> set[str]:
        """The kernels that give a value, seen through what nothing runs for."""
        own = kernel_of(ident)
        if own or deep > _DEEPEST:
            return {own} - {""}
        return {found for source in reads.get(ident, ()) for found in behind(source, deep + 1)}

    why = {(one["giver"], one["reader"]): reason(document, one) for one in document["boundaries"]}
    edges: list[GraphEdge] = []
    for edge in graph["edges"]:
        reader = kernel_of(edge["to"])
        givers = behind(edge["from"]) if reader else ()
        said = [
            f"{giver} and {reader} are two kernels: {why[giver, reader]}"
            for giver in sorted(givers)
            if (giver, reader) in why
        ]
        edges.append({**edge, "note": clean("; ".join(said))} if said else edge)
    return {**graph, "edges": edges}


_DEEPEST = 20


# --- the schedule -----------------------------------------------------------------------------------------------------


def _schedule(document: TargetDocument) -> Iterator[Part]:
    if steps := document.get("steps"):
        yield Sentence(_overlap(steps), "note")
        yield _steps(steps, document)
    if document["schedule"]:
        lines = tuple(CodeLine(clean(line)) for line in document["schedule"])
        yield Section("XLA's thunks, as it writes them", (Code("XLA's thunks", lines),), opened=False)


def _overlap(steps: Sequence[TargetStep]) -> str:
    """`In the order in which they start, on 1 stream. Of 3 copies and exchanges that end later, 2 overlap with kernels.`"""
    queues = {step["queue"] for step in steps} - {""}
    on = f", on {plural(len(queues), 'stream')}" if queues else ""
    order = f"In the order in which they start{on}."
    begun = [step for step in steps if step["ends"]]
    if not begun:
        return f"{order} Nothing goes on beside other steps."
    beside = sum(1 for step in begun if step["beside"] and not step["waits"])
    many = "the 1 copy or exchange that ends" if len(begun) == 1 else f"{len(begun):,} copies and exchanges that end"
    return f"{order} Of {many} later, {beside or 'none'} {'overlaps' if beside == 1 else 'overlap'} with kernels."


def _steps(steps: Sequence[TargetStep], document: TargetDocument) -> Table:
    kernels = {kernel["name"]: kernel for kernel in document["kernels"]}
    inside: dict[str, list[TargetStep]] = {}
    for step in steps:
        inside.setdefault(step["inside"], []).append(step)
    several = len({step["queue"] for step in steps} - {""}) > 1
    columns = [
        Column("step", "code"),
        Column("lines"),
        Column("what", "short"),
        Column("until", named=True),
        Column("beside it", named=True),
    ]

    def row(step: TargetStep, outer: frozenset[str]) -> Row:
        name = step["kernel"]
        kernel = kernels.get(name)
        inner = () if name in outer else tuple(row(one, outer | {name}) for one in inside.get(name, ()))
        cells: list[Content] = [
            inline.code(clean(name)),
            (_lines(kernel["paths"], document) if kernel else "") or inline.muted(NO_LINE),
            clean(kernel["what"]) if kernel else "",
            inline.code(clean(step["ends"])) if step["ends"] else "",
            _beside(step, kernels),
        ]
        return Row((*cells, *([step["queue"]] if several else [])), _ref(kernel, document) if kernel else Ref(), inner)

    if several:
        columns.append(Column("stream", "short"))
    rows = tuple(row(step, frozenset()) for step in inside.get("", ()))
    return Table("Steps", tuple(columns), rows, empty="The program has no kernels.")


def _beside(step: TargetStep, kernels: Mapping[str, TargetKernel]) -> Content:
    if not step["ends"]:
        return ""
    if step["waits"]:
        return "nothing: XLA waits for it"
    names = [name for name in step["beside"] if name in kernels]
    if not names:
        return "nothing"
    times = [amount(kernels[name]["seconds"]) for name in names]
    told = [time for time in times if time is not None]
    time = f", ≈ {seconds(sum(told))} {_BY}" if len(told) == len(times) else ""
    return inline.Text(f"{plural(len(names), 'kernel')}{time}", title=clean(", ".join(names)))


# --- decisions --------------------------------------------------------------------------------------------------------


def _decisions(document: TargetDocument) -> Iterator[Part]:
    kernels = {kernel["name"]: kernel for kernel in document["kernels"]}
    if document["boundaries"]:
        rows = [_boundary(one, kernels, document) for one in document["boundaries"]]
        columns = (
            Column("gives", "code", named=True),
            Column("of", named=True),
            Column("reads", "code", named=True),
            Column("of", named=True),
            Column("why they are not one"),
        )
        yield Table("Kernels that read what others give", columns, tuple(rows))
    if document["decisions"]:
        rows = [_decision(one, document) for one in document["decisions"]]
        columns = (
            Column("", "short"),
            Column("producer", named=True),
            Column("consumer", named=True),
            Column("XLA's reason"),
        )
        left = (
            f"{document['decisions_left_out']:,} more are not kept in this document."
            if document["decisions_left_out"]
            else ""
        )
        table = Table("All decisions of XLA's fusion passes", columns, tuple(rows), left_out=left)
        fused = sum(one["fused"] for one in document["decisions"])
        note = f"{fused:,} fused, {len(document['decisions']) - fused:,} not"
        yield Section("Each decision", (table,), opened=False, note=note)
    elif document["chip"]["platform"] == "tpu":
        yield Sentence("XLA's compiler for TPUs keeps no record of why it fuses.", "note")


def _boundary(one: TargetBoundary, kernels: Mapping[str, TargetKernel], document: TargetDocument) -> Row:
    ends = [kernels.get(one["giver"]), kernels.get(one["reader"])]
    paths = tuple(path for end in ends if end for path in end["paths"])
    cells: tuple[Content, ...] = (
        inline.code(clean(one["giver"])),
        _lines(ends[0]["paths"], document) if ends[0] else "",
        inline.code(clean(one["reader"])),
        _lines(ends[1]["paths"], document) if ends[1] else "",
        reason(document, one),
    )
    return Row(cells, Ref(paths, (one["giver"], one["reader"])))


def _decision(one: TargetDecision, document: TargetDocument) -> Row:
    sign: Content = inline.Text("fused", "good") if one["fused"] else inline.Text("apart", "bad")
    cells = (
        sign,
        _side(one["producer"], one["producer_paths"], document),
        _side(one["consumer"], one["consumer_paths"], document),
        _why(one),
    )
    return Row(cells, Ref((*one["producer_paths"], *one["consumer_paths"])))


def _side(name: str, paths: Sequence[str], document: TargetDocument) -> Content:
    if not name:
        return inline.muted("whatever reads it")
    lines = _lines(paths, document)
    return (inline.code(clean(name)), " ", *inline.each(lines)) if lines else inline.code(clean(name))


# --- memory, roofline, exchanges, code --------------------------------------------------------------------------------


def _memory(document: TargetDocument) -> Iterator[Part]:
    memory = document["memory"]
    if memory["fits"] is False:
        yield Sentence(f"{fits(document)[0].upper()}{fits(document)[1:]}.", "warning")
    named = (
        ("argument", "arguments"),
        ("result", "results"),
        ("temporary", "temporaries"),
        ("aliased", "results in arguments' memory"),
    )
    entries: list[tuple[str, Content]] = [(word, inline.quantity(memory[key])) for key, word in named]
    entries += [
        (word, inline.quantity(memory[key]))
        for key, word in (("total", "together"), ("peak", "peak"))
        if amount(memory[key]) is not None
    ]
    entries.append((f"memory of {clean(document['chip']['told'])}", inline.quantity(document["chip"]["memory"])))
    yield Facts(tuple(entries))


def _roofline(document: TargetDocument) -> Chart | None:
    chip = document["chip"]
    bandwidth, rates = amount(chip["bandwidth"]), chip["rates"]
    points = [
        (k, f / b, f / t)
        for k in document["kernels"]
        if (b := amount(k["bytes"])) and (f := amount(k["flops"])) and (t := amount(k["seconds"]))
    ]
    if not points or not bandwidth or not rates:
        return None
    peak = max(rates.values())
    left = min(min(x for _, x, _ in points) / 2, 0.1)
    right = max(max(x for _, x, _ in points) * 2, 2 * peak / bandwidth)
    named: dict[float, list[str]] = {}
    for name, rate in rates.items():
        named.setdefault(rate, []).append(name)
    roofs = [
        Series(
            f"{', '.join(names)} {show({'value': rate, 'unit': 'flop/s', 'origin': 'measured'})}",
            "line",
            (left, rate / bandwidth, right),
            (left * bandwidth, rate, rate),
            label=", ".join(names),
        )
        for rate, names in named.items()
        if left < rate / bandwidth < right
    ]
    marks = [Point(x, y, f"{clean(k['name'])}: {show(k['seconds'])}", ref=_ref(k, document)) for k, x, y in points]
    told = f"Roofline of {clean(chip['title'])}: {show(chip['bandwidth'])} and the rates of its data sheet ({clean(chip['source'])})."
    low = min(left * bandwidth, min(y for _, _, y in points)) / 2
    return Chart(
        "Roofline of the data sheet",
        f"{told} Each kernel lies on the roof by construction: nothing was measured.",
        Axis("operations per byte", left, right, "", "log"),
        Axis("operations per second", low, 2 * peak, "flop/s", "log"),
        tuple(roofs),
        tuple(marks),
    )


def _collectives(document: TargetDocument) -> Table:
    columns = (
        Column("exchange", "code"),
        Column("lines"),
        Column("bytes", "number", "of one device"),
        Column("devices", "number"),
        Column("runs", "number"),
        Column("time", "number", "rings at the data sheet's rate of a link"),
    )
    rows = [
        Row(
            (
                inline.code(clean(one["what"])),
                _lines(one["paths"], document) or inline.muted(NO_LINE),
                inline.quantity(one["bytes"]),
                f"{one['devices']:,}" if one["devices"] is not None else "?",
                f"{one['runs']:,}" if one["runs"] is not None else "?",
                inline.quantity(one["seconds"]),
            ),
            Ref(tuple(one["paths"]), (one["name"],)),
        )
        for one in document["collectives"]
    ]
    return Table("Exchanges between devices", columns, tuple(rows))


def _code(found: Sequence[TargetCode]) -> Choice:
    return Choice("Code of the kernels", tuple((clean(one["kernel"]), tuple(_languages(one))) for one in found))


def _languages(one: TargetCode) -> Iterator[Part]:
    if one["cut"]:
        yield Sentence("Only the beginning is kept here; .ptx and .llvm of the result have all of it.", "note")
    if one["ptx"]:
        yield Code(f"PTX of {clean(one['function'])}", _text(one["ptx"]), "asm")
    if one["llvm"]:
        yield Code(f"LLVM's IR of {clean(one['function'])}", _text(one["llvm"]), "llvm")


def _text(text: str) -> tuple[CodeLine, ...]:
    return tuple(CodeLine(clean(line.expandtabs(4))) for line in text.splitlines())
