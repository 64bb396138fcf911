"""A trace line by line: Python's frame at one side, the tape that grows at the other."""

from __future__ import annotations

from collections.abc import Iterator

from ..documents.annotations import TraceCall, TraceCode, TraceDocument, TraceStep
from ..escapes import clean
from ..view import inline
from ..view.parts import Beside, Code, CodeLine, Column, Content, Part, Row, Section, Sentence, Step, Steps, Table
from ..words import plural


NAME = "Trace"
_AROUND = 14
"""Lines before and after the one that ran, of a long function."""
_TAPE = 30
"""Equations of a tape that stand beside a line, the latest."""
_NAMES = (Column("name", "code"), Column("stands for", "code"))
_LISTED = (
    Column("line", "short"),
    Column("Python", "code"),
    Column("names that changed", "code"),
    Column("written on the tape", "code"),
)


def view(document: TraceDocument) -> Iterator[Part]:
    """The parts of a trace."""
    yield Sentence(headline(document), "headline")
    if document["error"]:
        yield Sentence(clean(document["error"]), "warning")
    if not document["steps"]:
        yield Sentence("Nothing of it is Python code whose source is there.", "note")
        return
    yield Sentence(
        "A name that is traced stands for a variable of the tape and its type, such as c:f32[3], not for numbers.",
        "note",
    )
    if said := _skipped(document):
        yield Sentence(said)
    before = _lengths(document)
    steps = range(len(document["steps"]))
    yield Steps("The trace, line by line", tuple(_step(document, at, before[at]) for at in steps), listed=True)
    if document["left_out"]:
        yield Sentence(f"{plural(document['left_out'], 'further step')} not kept: the trace went on as before.", "note")
    rows = tuple(_row(document, at, before[at]) for at in steps)
    yield Section(
        "All lines at a glance", (Table("Lines in the order in which they ran", _LISTED, rows, first=40),), opened=False
    )
    whole = tuple(_tape(document, number, None, 0) for number in range(len(document["tapes"])))
    yield Section(f"{_whole(document)}{'s' * (len(whole) > 1)}", whole, opened=False, note=_later(document, before[-1]))


def headline(document: TraceDocument) -> str:
    """`wave was traced: Python ran 12 lines, and 8 equations stand on the tape.`"""
    ran = sum(step["kind"] in ("line", "error") for step in document["steps"])
    first = "the first " if document["left_out"] else ""
    whole = len(document["tapes"][0]["lines"]) if document["tapes"] else 0
    inner = sum(len(tape["lines"]) for tape in document["tapes"][1:])
    inside = f" (and {inner:,} on tapes of their own, of what is inside of these)" if inner else ""
    ended = " up to an error" if document["error"] else ""
    verb = "stands" if whole == 1 else "stand"
    when = "after the last of them " if document["library"] == "jax" else ""
    shown = (
        f"{first}{plural(ran, 'line')} of Python {'is' if ran == 1 else 'are'} shown"
        if first
        else f"Python ran {plural(ran, 'line')}"
    )
    return f"{clean(document['function'])} was traced{ended}: {shown}, and {when}{plural(whole, 'equation')} {verb} on the tape{inside}."


def _whole(document: TraceDocument) -> str:
    """What all of the tapes are called; jax's are not read any more once the last line of the user's has run."""
    return "After the last line: the tape" if document["library"] == "jax" else "The whole tape"


def _skipped(document: TraceDocument) -> str:
    """What did not run, and so left nothing on the tape; each stretch once."""
    said: dict[str, list[str]] = {}
    for call in document["calls"]:
        function = clean(document["codes"][call["code"]]["function"])
        for one in call["skipped"]:
            lines = f"line {one['first']}" if one["first"] == one["last"] else f"lines {one['first']} to {one['last']}"
            place = f"{lines} of {function}"
            if place not in said.setdefault(one["why"], []):
                said[one["why"]].append(place)
    found = [f"{why[0].upper()}{why[1:]}: {_several(places)}" for why, places in said.items()]
    return f"{'. '.join(found)}. Nothing of these lines is on the tape." if found else ""


def _several(places: list[str]) -> str:
    more = f", and {len(places) - 6:,} more" if len(places) > 6 else ""
    return ", ".join(places[:6]) + more


def _later(document: TraceDocument, seen: dict[int, int]) -> str:
    """What was written after the last line that is shown."""
    last = {one["tape"]: one["length"] for one in document["steps"][-1]["tapes"]}
    more = sum(len(tape["lines"]) - max(seen.get(at, 0), last.get(at, 0)) for at, tape in enumerate(document["tapes"]))
    return f"{plural(more, 'equation')} of it written after the last line that is shown" if more else ""


def _lengths(document: TraceDocument) -> list[dict[int, int]]:
    """How long each tape was before each step."""
    found, now = [], {}
    for step in document["steps"]:
        found.append(dict(now))
        now |= {one["tape"]: one["length"] for one in step["tapes"]}
    return found


def _new(document: TraceDocument, step: TraceStep, before: dict[int, int]) -> list[str]:
    """The equations that a step wrote."""
    return [
        line
        for one in step["tapes"]
        for line in document["tapes"][one["tape"]]["lines"][before.get(one["tape"], 0) : one["length"]]
    ]


def _step(document: TraceDocument, at: int, before: dict[int, int]) -> Step:
    step = document["steps"][at]
    call = document["calls"][step["call"]]
    code = document["codes"][call["code"]]
    new = len(_new(document, step, before))
    parts: list[Part] = []
    if step["kind"] == "error":
        parts.append(Sentence(clean(step["told"]), "warning"))
    if step["printed"]:
        parts.append(Sentence(f"Printed while tracing, and not on the tape: {clean(step['printed'].strip())}"))
    python: tuple[Part, ...] = (_source(code, call, step["line"]), *_frame(step))
    tapes = tuple(_tape(document, one["tape"], one["length"], before.get(one["tape"], 0)) for one in step["tapes"])
    parts.append(Beside((Section(f"Python, in {clean(code['function'])}", python), *(tapes or (_NO_TAPE,)))))
    return Step(_title(document, step), tuple(parts), f"+ {plural(new, 'equation')}" if new else "", call["depth"])


_NO_TAPE = Section("The tape", (Sentence("Nothing is recorded now."),))


def _title(document: TraceDocument, step: TraceStep) -> str:
    told = clean(step["told"])
    code = document["codes"][document["calls"][step["call"]]["code"]]
    if step["kind"] == "return":
        return f"{clean(code['function'])} gives {told}"
    text = clean(_text(code, step["line"]).strip())
    if step["kind"] == "call":
        return f"{step['line']}: {text}, which {told}"
    return f"{'✕ ' if step['kind'] == 'error' else ''}{step['line']}: {text}"


def _text(code: TraceCode, line: int) -> str:
    at = line - code["position"]["line"]
    return code["lines"][at] if 0 <= at < len(code["lines"]) else ""


def _source(code: TraceCode, call: TraceCall, here: int) -> Code:
    first = code["position"]["line"]
    off = {n for one in call["skipped"] for n in range(one["first"], one["last"] + 1)}
    why = {one["first"]: one["why"] for one in call["skipped"]}
    low, high = (
        (0, len(code["lines"]))
        if len(code["lines"]) <= 2 * _AROUND + 1
        else (max(0, here - first - _AROUND), here - first + _AROUND + 1)
    )
    lines = tuple(
        CodeLine(
            clean(text),
            str(number),
            f"# {why[number]}" if number in why else "",
            "here" if number == here else "off" if number in off else "",
        )
        for number, text in list(enumerate(code["lines"], first))[low:high]
    )
    return Code(f"Source of {clean(code['function'])}", lines, "python")


def _frame(step: TraceStep) -> tuple[Part, ...]:
    if not step["names"]:
        return ()
    rows = tuple(
        Row((_named(one["name"], one["changed"]), _named(one["text"], one["changed"]))) for one in step["names"]
    )
    return (Table("Names of the frame", _NAMES, rows, first=24),)


def _named(text: str, changed: bool) -> Content:
    return inline.strong(clean(text)) if changed else clean(text)


def _tape(document: TraceDocument, number: int, length: int | None, before: int) -> Section:
    """A tape up to a length, with what is new; all of it for None."""
    tape = document["tapes"][number]
    whole, length = length is None, len(tape["lines"]) if length is None else length
    first = 0 if whole else max(0, length - _TAPE)
    lines = [CodeLine(clean(f"takes {tape['takes'] or 'nothing'}"))]
    lines += [CodeLine(f"… {plural(first, 'equation')} before", note="")] if first else []
    lines += [
        CodeLine(clean(text), mark="added" if at >= before and not whole else "")
        for at, text in enumerate(tape["lines"][first:length], first)
    ]
    title = "The tape" if len(document["tapes"]) == 1 else f"The tape of {clean(tape['name'])}"
    return Section(title, (Code(title, tuple(lines), "jaxpr"),))


def _row(document: TraceDocument, at: int, before: dict[int, int]) -> Row:
    step = document["steps"][at]
    call = document["calls"][step["call"]]
    changed = ", ".join(f"{one['name']} = {one['text']}" for one in step["names"] if one["changed"])
    if step["kind"] == "error":
        changed = step["told"]
    text = _title(document, step).partition(": ")[2] if step["kind"] != "return" else _title(document, step)
    indent = "  " * call["depth"]
    cells: tuple[Content, ...] = (
        str(step["line"]),
        f"{indent}{text}",
        clean(changed),
        clean("; ".join(_new(document, step, before))),
    )
    return Row(cells, tone="bad" if step["kind"] == "error" else "plain")
