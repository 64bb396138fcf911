"""Where a NaN comes from, as static HTML and as text; the counterpart of nanhunt.ts."""

from __future__ import annotations

from collections.abc import Iterator

from . import words
from .budget import Part
from .fixes import fix_html, fix_text
from .plain import clean, escape
from .quantities import show
from .sentences import TABLES, say
from .stopped import marked_graph
from .words import Document, plural
from .wrap import wrap


def answer(hunt: Document) -> str:
    """Why, as a sentence."""
    said = hunt["cause"]
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def loops(step: Document) -> list[str]:
    """Which iterations of the loops around a step, outer ones first."""
    told = []
    for one in step["iterations"]:
        of = f" of {one['count']:,}" if one["count"] is not None else ""
        place = f" of the loop at {words.where(one['position'])}" if one["position"] else " of a loop"
        told.append(f"iteration {one['number']:,}{of} (from 0){place}")
    return told


def code(step: Document) -> str:
    """`div, equation e4, backward pass`."""
    return ", ".join(
        [step["primitive"], f"equation {step['path']}", *(TABLES["transforms"][one][1] for one in step["transforms"])]
    )


def facts(array: Document) -> str:
    """What there is to say of an array beside its elements."""
    said = []
    if None not in (array["smallest"], array["largest"]) and array["size"] > 1:
        said.append(f"finite from {array['smallest']:.6g} to {array['largest']:.6g}")
    said += [f"{array['nans']:,} of {array['size']:,} NaN"] if array["nans"] else []
    said += [f"{array['infinities']:,} of {array['size']:,} infinite"] if array["infinities"] else []
    if array["index"]:
        said.append(f"element {list(array['index'])} is {array['element']}")
    return ", ".join(said)


def parts(hunt: Document) -> Iterator[tuple[str, Document, list[Document]]]:
    """The operations that are shown with their numbers: a heading, the step, its arrays."""
    if hunt["operation"]:
        kind = "NaN" if hunt["what"] == "NaN" else "infinity"
        yield f"The first {kind}", hunt["operation"], hunt["values"]
    if hunt["infinity"]:
        yield "The infinity before it", hunt["infinity"]["step"], hunt["infinity"]["values"]


# HTML -----------------------------------------------------------------------------------------------------------------


def hunt_pieces(hunt: Document) -> list[str | Part]:
    """The whole document as static HTML."""
    sign = "▲" if hunt["found"] or hunt["operation"] else "✓"
    pieces: list[str | Part] = [f"<p><b>{sign} {escape(hunt['sentence'])}</b></p>"]
    pieces += [f"<p>{escape(answer(hunt))}</p>"] if hunt["cause"] else []
    if hunt["where"]:
        pieces.append(
            f"<p>The <code>where</code> is at {escape(words.where(hunt['where']))}:</p>{_line(hunt['where'])}"
        )
    for heading, step, arrays in parts(hunt):
        pieces.append(f'<p><b>{heading}</b> <span class="dim">{escape(code(step))}</span></p>')
        pieces += (
            [f'<p class="dim">{escape(words.where(step["position"]))}</p>{_line(step["position"])}']
            if step["position"]
            else []
        )
        pieces += [f"<p>{escape(one)}</p>" for one in loops(step)]
        pieces.append(_table(arrays))
    pieces += [f"<p><b>Given</b></p>{_table(hunt['given'])}"] if hunt["given"] else []
    pieces += [fix_html(fix) for fix in hunt["fixes"]]
    if graph := hunt.get("graph"):
        pieces += [
            "<p>The way from there to the result, in the program:</p>",
            marked_graph("the graph of the hunt", graph),
        ]
    if hunt["route"]:
        rows = "".join(
            f"<tr><td><code>{escape(one['primitive'])}</code></td><td>{escape(one['path'])}</td>"
            f"<td>{escape(words.where(one['position'])) if one['position'] else ''}</td></tr>"
            for one in hunt["route"]
        )
        more = f'<p class="dim">{hunt["left_out"]:,} in the middle are left out</p>' if hunt["left_out"] else ""
        count = plural(len(hunt["route"]) + hunt["left_out"], "equation")
        pieces.append(
            f"<details><summary>From there to the result: {count}</summary><table><tbody>{rows}</tbody></table>{more}</details>"
        )
    pieces += [f"<p>▲ {escape(hunt['differs'])}</p>"] if hunt["differs"] else []
    pieces.append(f'<p class="dim">{escape(say("hunt", time=show(hunt["seconds"])))}</p>')
    return pieces


def _line(position: Document) -> str:
    return f"<pre><span><i>{position['line']}</i> {escape(position['text'])}\n</span></pre>"


def _table(arrays: list[Document]) -> str:
    rows = "".join(
        f"<tr><td>{escape(one['name'])}</td><td><code>{escape(one['type'])}</code></td><td><code>{escape(one['text'])}</code></td>"
        f"<td>{escape(facts(one))}</td></tr>"
        for one in arrays
    )
    return f"<table><tbody>{rows}</tbody></table>" if rows else ""


# Text -----------------------------------------------------------------------------------------------------------------


def hunt_text(hunt: Document, width: int) -> list[str]:
    """The same as lines of text."""
    lines = wrap(clean(hunt["sentence"]), width, "  ")
    lines += wrap(f"  {clean(answer(hunt))}", width, "  ") if hunt["cause"] else []
    if hunt["where"]:
        lines += wrap(
            f"  the where: {words.where(hunt['where'])}: {clean(hunt['where']['text'].strip())}", width, "    "
        )
    for heading, step, arrays in parts(hunt):
        lines += wrap(f"{heading}: {clean(code(step))}", width, "  ")
        if step["position"]:
            lines += wrap(
                f"  {words.where(step['position'])}: {clean(step['position']['text'].strip())}", width, "    "
            )
        for one in loops(step):
            lines += wrap(f"  {clean(one)}", width, "    ")
        lines += _arrays(arrays, width)
    lines += _arrays(hunt["given"], width)
    for fix in hunt["fixes"]:
        lines += fix_text(fix, width)
    if hunt["route"]:
        way = " → ".join(f"{one['primitive']} {one['path']}" for one in hunt["route"])
        more = f" ({hunt['left_out']:,} in the middle are left out)" if hunt["left_out"] else ""
        lines += wrap(f"from there to the result: {clean(way)}{more}", width, "  ")
    lines += wrap(clean(hunt["differs"]), width, "  ") if hunt["differs"] else []
    return [*lines, say("hunt", time=show(hunt["seconds"]))]


def _arrays(arrays: list[Document], width: int) -> list[str]:
    lines = []
    for one in arrays:
        said = facts(one)
        lines += wrap(
            f"  {clean(one['name'])}: {clean(one['type'])} {clean(one['text'])}{f', {said}' if said else ''}",
            width,
            "    ",
        )
    return lines
