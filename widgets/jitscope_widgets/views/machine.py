"""The code of a program's kernels: its functions, each with its likely hot loop, all of its instructions, and LLVM's IR."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from .. import words
from ..documents.annotations import CodeFunction, CodeLoop, CodeText, MachineDocument, MachineKernel, Mix
from ..escapes import clean
from ..quantities import amount, percent, show
from ..view import inline
from ..view.parts import (
    Action,
    Beside,
    Block,
    Choice,
    Code,
    Column,
    Content,
    Part,
    Ref,
    Row,
    Section,
    Sentence,
    Step,
    Steps,
    Table,
)
from ..words import NO_LINE, plural


NAME = "Machine code"
_HOT, _WHOLE, _ALL, _IR = "Hot loop", "Whole function", "Machine code", "LLVM's IR"
_LINKED = (
    "Code is linked to kernels, and by them to HLO instructions, equations and lines. Within a fused kernel there is no such link: XLA's compiler "
    "for CPUs tells LLVM no places of the source (no debug locations)."
)
_LIKELY_HOT = (
    "Likely hot: the innermost loop that is nested deepest, then has the widest vectors, then is longest. Which loop takes the time is not "
    "measured."
)
_LINES = 1000
"""Lines of one text of code in static HTML; text has fewer."""
_NAMED = 40
"""Kernels without code that are named."""
_PLACES = 4
"""Lines of the source that are named of one kernel."""
_Item = TypeVar("_Item")


def view(document: MachineDocument) -> Iterator[Part]:
    """The parts of a document of machine code."""
    target = ", ".join(clean(one) for one in (document["processor"], document["triple"]) if one)
    yield Sentence(f"{clean(document['sentence'])}.", "headline")
    if target:
        yield Sentence(f"For {target}.", "note")
    yield from (Sentence(clean(note)) for note in document["notes"])
    yield Sentence(_LINKED, "note")
    if functions := document["functions"]:
        if len(functions) > 1:
            measured = any(one["share"] is not None for one in functions)
            order = "measured time" if measured else "bytes written (modelled; times were not measured)"
            yield Sentence(f"By {order}, the most first.", "note")
        steps = tuple(_function(document, one) for one in functions)
        yield Steps("Functions of the program", steps, beside=True, told=1)
    else:
        yield Sentence("There is no code to show.")
    yield from _without_code(document["kernels"])
    yield Sentence(words.cost(document["cost"]), "note")


# --- one function ---------------------------------------------------------------------------------------------------------


def _function(document: MachineDocument, one: CodeFunction) -> Step:
    return Step(
        clean(one["name"]), tuple(_about(document, one)), _facts(document, one), ref=Ref(kernels=tuple(one["kernels"]))
    )


def _facts(document: MachineDocument, one: CodeFunction) -> str:
    """`72 % · 2 kernels · lines 2, 3 · 38 B`"""
    role = {"kernel": plural(len(one["kernels"]), "kernel"), "unknown": "use unknown"}.get(one["role"], one["role"])
    here = words.only_home(document["positions"])
    lines = words.lines(filter(None, (_at(document["positions"], at) for at in one["lines"])), here)
    share = percent(one["share"]) if one["share"] is not None else ""
    return " · ".join(filter(None, (share, role, lines or NO_LINE, f"{one['bytes']:,} B of code")))


def _about(document: MachineDocument, one: CodeFunction) -> Iterator[Part]:
    yield Sentence(_work(one))
    if one["kernels"]:
        yield _kernels(document, one)
    else:
        yield Sentence("Which kernel runs it is unknown.")
    if one["share"] is None and amount(one["written"]) is not None:
        yield Sentence(f"{show(one['written'])} written in a call (modelled).", "note")
    calls = [f"{clean(call['name'])} ({plural(call['count'], 'place')})" for call in one["calls"]]
    yield from (Sentence(f"Calls {', '.join(calls)}.") for _ in calls[:1])
    yield from (Sentence(clean(one["note"]), "note") for _ in one["note"][:1])
    if one["undecoded"]:
        yield Sentence(
            f"{plural(one['undecoded'], 'byte')} of it are no instruction that the disassembler knows.", "warning"
        )
    yield Section("", (_code(document, one),), name=_section(one))


def _work(one: CodeFunction) -> str:
    """What its hot loop does, or all of it where it has none."""
    if _hot_loop(one) is None:
        return f"No loop: {_mix(one['mix'])}."
    count = len(one["loops"])
    which = "Its one loop" if count == 1 else f"The likely hot one of {count} loops"
    return f"{which}: {clean(one['sentence'])}."


def _mix(mix: Mix) -> str:
    """`67 instructions on vectors of 256 bits (8 × f32): 40 move, 27 float arithmetic; 32 read memory, 16 write it`"""
    lanes = f" ({mix['lanes']})" if mix["lanes"] else ""
    vectors = f" on vectors of {mix['bits']} bits{lanes}" if mix["bits"] is not None else ""
    counts = sorted(mix["counts"].items(), key=lambda one: -one[1])
    told = f": {', '.join(f'{count:,} {what}' for what, count in counts)}" if counts else ""
    return f"{plural(mix['total'], 'instruction')}{vectors}{told}; {mix['reads']:,} read memory, {mix['writes']:,} write it"


def _kernels(document: MachineDocument, one: CodeFunction) -> Table:
    """Whose code it is: each can be picked by itself."""
    known = {kernel["name"]: kernel for kernel in document["kernels"]}
    shares = any(kernel["share"] is not None for kernel in document["kernels"])

    def row(name: str) -> Row:
        kernel = known.get(name)
        share: Content = inline.percent(kernel["share"]) if kernel and kernel["share"] is not None else ""
        lines = _places(document, kernel["lines"] if kernel else ())
        return Row((clean(name), *((share,) if shares else ()), lines), Ref(kernels=(name,)))

    columns = (
        Column("kernel", "code"),
        *((Column("measured time", "number"),) if shares else ()),
        Column("stems from"),
    )
    name = "Kernels that it runs" if one["role"] == "kernel" else "Kernels that it is for"
    return Table(name, columns, tuple(map(row, one["kernels"])), first=4)


def _places(document: MachineDocument, lines: Sequence[int]) -> Content:
    found = [position for at in lines if (position := _at(document["positions"], at))]
    here = words.only_home(document["positions"])
    pieces = [inline.place(one, here) for one in found[:_PLACES]]
    more = [f"and {plural(len(found) - _PLACES, 'more line')}"] if len(found) > _PLACES else []
    return tuple(piece for at, one in enumerate([*pieces, *more]) for piece in ((", ", one) if at else (one,)))


def _without_code(kernels: Sequence[MachineKernel]) -> Iterator[Part]:
    """The kernels that run no function of the program, by the reason."""
    reasons: dict[str, list[MachineKernel]] = {}
    for kernel in kernels:
        if kernel["function"] is None:
            reasons.setdefault(clean(kernel["note"]), []).append(kernel)
    if reasons:
        timed = any(one["share"] is not None for of in reasons.values() for one in of)
        times = (Column("measured time", "number"),) if timed else ()
        columns = (Column("kernels", "number", named=True), *times, Column("why"))
        rows = tuple(_reason(note, of, timed) for note, of in reasons.items())
        yield Table("Kernels without code of their own", columns, rows)


def _reason(note: str, kernels: Sequence[MachineKernel], timed: bool) -> Row:
    shares = [one["share"] for one in kernels if one["share"] is not None]
    names = [clean(one["name"]) for one in kernels]
    named = ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")
    share: Content = inline.percent(sum(shares)) if shares else ""
    return Row(
        (inline.count(len(kernels)), *((share,) if timed else ()), note),
        Ref(kernels=tuple(one["name"] for one in kernels)),
        note=named,
    )


# --- its code -------------------------------------------------------------------------------------------------------------


def _code(document: MachineDocument, one: CodeFunction) -> Choice:
    loop = _hot_loop(one)
    options: list[tuple[str, tuple[Part, ...]]] = []
    if one["blocks"] is None or loop is None:
        options.append((_ALL, tuple(_whole(one))))
    else:
        options += [(_HOT, tuple(_loop(one, loop))), (_WHOLE, tuple(_whole(one)))]
    options.append((_IR, tuple(_ir(document, one))))
    return Choice("What to show", tuple(options), first=_IR if document.get("opens") == "llvm" else options[0][0])


def _loop(one: CodeFunction, loop: CodeLoop) -> Iterator[Part]:
    nested = f" It is nested {loop['depth']} deep." if loop["depth"] > 1 else ""
    yield Sentence(f"{'The only loop of this function.' if len(one['loops']) == 1 else _LIKELY_HOT}{nested}", "note")
    yield _listing(f"The likely hot loop of {clean(one['name'])}", one, loop["blocks"])


def _whole(one: CodeFunction) -> Iterator[Part]:
    if one["blocks"] is None:
        yield from _missing(one)
        return
    yield Sentence(f"{_mix(one['mix'])}.", "note")
    yield _listing(f"Machine code of {clean(one['name'])}", one, range(len(one["blocks"])), _hot_loop(one))
    if one["left_out"]:
        yield Sentence(
            f"{plural(one['left_out'], 'more instruction')} not kept in this document; inspect(f)(x).asm has all of them.",
            "note",
        )


def _listing(name: str, one: CodeFunction, blocks: Iterable[int], marked: CodeLoop | None = None) -> Code:
    found = tuple(_block(one, at, marked) for at in blocks if _at(one["blocks"] or (), at) is not None)
    return Code(name, language="asm", first=_LINES, told=120, blocks=found)


def _block(one: CodeFunction, number: int, marked: CodeLoop | None) -> Block:
    block, loop = (one["blocks"] or ())[number], _hot_loop(one)
    hot = " (hot)" if loop is not None and number in loop["blocks"] else ""
    depth = f", in {plural(block['depth'], 'loop')}{hot}" if block["depth"] else ""
    ways = f", then block {' or '.join(map(str, block['ways']))}" if block["ways"] else ""
    mark = "here" if marked is not None and number in marked["blocks"] else ""
    return Block(block["code"], 0, ((0, block["depth"]),), f"; block {number}{depth}{ways}", mark)


def _missing(one: CodeFunction) -> tuple[Part, ...]:
    """What stands in the place of code that is not kept, and a button that asks for it."""
    asking = Action(
        "Show its code",
        "asking the kernel…",
        {"function": one["name"]},
        renews=_section(one),
        without="inspect(f)(x).asm has all of it.",
    )
    return Sentence(f"The code of {clean(one['name'])} is not kept in this document, to keep it small."), asking


def _ir(document: MachineDocument, one: CodeFunction) -> Iterator[Part]:
    module = _at(document["modules"], one["module"])
    if module is None:
        yield Sentence("XLA wrote no LLVM IR with this function.", "note")
        return
    if not module["before"] and not module["after"]:
        yield from _missing(one)
        return
    emitted = f"Made by XLA's {clean(module['emitter'])}. " if module["emitter"] else ""
    named = ", ".join(map(clean, module["values"]))
    values = (
        f"Values named after HLO instructions: {named}."
        if named
        else "Its values are numbered; none bears the name of an HLO instruction."
    )
    yield Sentence(f"{emitted}{values}", "note")
    yield Beside((_text(one, "before", module["before"]), _text(one, "after", module["after"])))


def _text(one: CodeFunction, when: str, text: CodeText | None) -> Section:
    title = f"{when} LLVM's passes"
    if text is None:
        return Section(title, (Sentence(f"There is none {title}.", "note"),))
    block = Block(text["text"], 1, tuple((line, depth) for line, depth in text["nesting"]))
    count = plural(text["text"].removesuffix("\n").count("\n") + 1 + text["left_out"], "line")
    code = Code(f"LLVM IR of {clean(one['name'])}, {title}", language="llvm", first=_LINES, told=60, blocks=(block,))
    more = (
        f"{plural(text['left_out'], 'more line')} not kept here; inspect(f)(x).llvm has all."
        if text["left_out"]
        else ""
    )
    return Section(title, (code, *((Sentence(more, "note"),) if more else ())), note=count)


def _section(one: CodeFunction) -> str:
    return f"code of {one['name']}"


def _hot_loop(one: CodeFunction) -> CodeLoop | None:
    """The loop that most likely takes the time."""
    return _at(one["loops"], one["hot"])


def _at(items: Sequence[_Item], at: int | None) -> _Item | None:
    """What stands at a place of a list, None where there is no such place."""
    return items[at] if at is not None and 0 <= at < len(items) else None
