"""What the views of machine code say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from . import words
from .plain import clean
from .quantities import percent
from .sentences import say
from .words import Document, plural


_MOST_KERNELS = 3


def place(items: Sequence[Document], at: int | None) -> Document | None:
    """What stands at a place of a list, None where there is no such place."""
    return items[at] if at is not None and 0 <= at < len(items) else None


def hot_loop(one: Document) -> Document | None:
    """The loop that most likely takes the time."""
    return place(one["loops"], one["hot"])


def kernels(one: Document) -> str:
    """`run by broadcast_multiply_fusion and 3 more kernels`"""
    names = [clean(name) for name in one["kernels"]]
    if not names:
        return say("no kernel known")
    more = len(names) - _MOST_KERNELS
    listed = ", ".join(names[:_MOST_KERNELS]) + (f" and {plural(more, 'more kernel')}" if more > 0 else "")
    return f"{'run by' if one['role'] == 'kernel' else 'for'} {listed}"


def share(one: Document) -> str:
    """`, 12 % of the kernels' measured time`, empty where it was not measured."""
    return "" if one["share"] is None else f", {say('of measured time', share=percent(one['share']))}"


def facts(document: Document, one: Document) -> str:
    """`3,031 bytes, run by broadcast_multiply_fusion; line 2`"""
    lines = words.lines(filter(None, (place(document["positions"], at) for at in one["lines"])))
    return f"{one['bytes']:,} bytes, {kernels(one)}{share(one)}{f'; {lines}' if lines else ''}"


def work(one: Document) -> str:
    """What its hot loop does, or all of it where it has none."""
    if hot_loop(one) is None:
        return f"No loop: {one['sentence']}."
    count = len(one["loops"])
    which = "Its one loop" if count == 1 else f"The likely hot one of {count} loops"
    return f"{which}: {one['sentence']}."


def calls(one: Document) -> str:
    """`Calls sinf (1,000 places).`, empty where it calls nothing."""
    named = [f"{clean(call['name'])} ({plural(call['count'], 'place')})" for call in one["calls"]]
    return f"Calls {', '.join(named)}." if named else ""


def unread(one: Document) -> str:
    """What the disassembler does not know."""
    return say("not instructions", bytes=plural(one["undecoded"], "byte")) if one["undecoded"] else ""


def hot_blocks(one: Document) -> list[int]:
    """The blocks of the hot loop, or all where there is none."""
    loop = hot_loop(one)
    return list(range(len(one["blocks"] or ()))) if loop is None else loop["blocks"]


def code_of(one: Document, blocks: Iterable[int]) -> Iterator[tuple[str, str]]:
    """The lines of some blocks: (address, or "" above a block, text)."""
    for number in blocks:
        block = place(one["blocks"], number)
        if block is None:
            continue
        yield "", header(one, number, block)
        for line in filter(None, block["code"].split("\n")):
            at, mnemonic, operands, note = (line.split("\t") + [""] * 3)[:4]
            yield clean(at), clean(f"{mnemonic:<12} {operands}{f'   ; {note}' if note else ''}".rstrip())


def header(one: Document, number: int, block: Document) -> str:
    """`block 2, in 1 loop (hot), then block 2 or 3`"""
    loop = hot_loop(one)
    hot = " (hot)" if loop is not None and number in loop["blocks"] else ""
    depth = f", in {plural(block['depth'], 'loop')}{hot}" if block["depth"] else ""
    ways = f", then block {' or '.join(map(str, block['ways']))}" if block["ways"] else ""
    return f"block {number}{depth}{ways}"


def missing(one: Document) -> str:
    """What is not kept of a function's code."""
    if one["blocks"] is None:
        return f"{say('code not kept', function=clean(one['name']))} {say('all of the code')}"
    if one["left_out"]:
        return say("code left out", instructions=plural(one["left_out"], "more instruction"))
    return ""


def without_code(document: Document) -> list[tuple[str, list[str]]]:
    """What is said of kernels that have no code of their own, by the reason, and their names."""
    found: dict[str, list[Document]] = {}
    for kernel in document["kernels"]:
        if kernel["function"] is None:
            found.setdefault(clean(kernel["note"]), []).append(kernel)
    return [(_without(note, kernels), [clean(one["name"]) for one in kernels]) for note, kernels in found.items()]


def _without(note: str, kernels: Sequence[Document]) -> str:
    """`3 kernels without code of their own, 12 % of the kernels' measured time: they call a library`"""
    known = [one["share"] for one in kernels if one["share"] is not None]
    took = f", {say('of measured time', share=percent(sum(known)))}" if known else ""
    whose = "its" if len(kernels) == 1 else "their"
    return f"{say('without code', kernels=plural(len(kernels), 'kernel'), whose=whose, took=took)}: {note}"
