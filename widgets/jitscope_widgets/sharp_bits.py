"""Sharp bits as text and as static HTML: the line with what is meant underlined, the cause, the evidence, the fix."""

from __future__ import annotations

from collections import Counter

from . import words
from .fixes import fix_html, fix_text
from .guard import Pieces, said
from .plain import clean, clean_lines, columns, escape, prose
from .sentences import TABLES
from .words import Document, plural
from .wrap import wrap


SIGNS = {"error": "✕", "warning": "▲", "info": "ⓘ"}
NOTHING = (
    "No sharp bits were found by looking at the code of these cells and at what they compiled. %sharpbits on looks at the values of "
    "runs too."
)


def counted(items: list[Document]) -> str:
    """`3 sharp bits: 1 error, 2 warnings`"""
    counts = Counter(item["severity"] for item in items)
    kinds = [plural(counts[severity], name) for severity, name in TABLES["severities"].items() if counts[severity]]
    return f"{plural(len(items), 'sharp bit')}: {', '.join(kinds)}"


def _stretch(position: Document) -> tuple[str, int, int]:
    """The source line without its indentation, and where in it the underlining begins and ends."""
    line = position["text"].rstrip()
    indent = len(line) - len(line.lstrip())
    end = position["end_column"] if position["end_line"] == position["line"] else len(line)
    start = min(max(position["column"], indent), len(line))
    return line[indent:], start - indent, max(min(end, len(line)), start) - indent


# --- text -------------------------------------------------------------------------------------------------------------


def text_lines(document: Document, width: int) -> list[str]:
    """All of them as lines of text."""
    if not document["items"]:
        return wrap(document.get("note") or NOTHING, width)
    lines = [counted(document["items"])]
    for item in document["items"]:
        lines += ["", *_item_text(item, width)]
    return lines


def _item_text(item: Document, width: int) -> list[str]:
    place = f"  {words.where(item['position'])}" if item["position"] else ""
    lines = wrap(f"{clean(item['severity'])}: {clean(item['id'])}{place}", width, "    ")
    if item["position"] and item["position"]["text"].strip():
        line, start, end = _stretch(item["position"])
        before, marked = clean(line[:start]), clean(line[start:end])
        number = f"{item['position']['line']:>5} | "
        if len(number) + columns(clean(line)) <= width:
            carets = "^" * max(columns(marked), 1)
            lines += [f"{number}{clean(line)}", " " * (len(number) - 2) + "| " + " " * columns(before) + carets]
        else:
            lines += wrap(f"{number}{clean(line)}", width, " " * len(number))
    lines += [part for line in clean_lines(item["message"].strip()) for part in wrap(f"  {line}", width, "  ")]
    lines += [part for line in item["evidence"] for part in wrap(f"      {clean(line)}", width, "        ")]
    return lines + ([f"  {line}" for line in fix_text(item["fix"], width - 2)] if item["fix"] else [])


# --- HTML -------------------------------------------------------------------------------------------------------------


def pieces(document: Document) -> Pieces:
    """All of them as static HTML."""
    if not document["items"]:
        return [said(document.get("note") or NOTHING)]
    return [said(counted(document["items"])), *map(_item_html, document["items"])]


def below_cell(document: Document) -> Pieces:
    """Those of one cell: a line that opens."""
    severities = {item["severity"] for item in document["items"]}
    sign = next((sign for severity, sign in SIGNS.items() if severity in severities), "")
    summary = f"<summary>{sign} {escape(counted(document['items']))}</summary>"
    return [f"<details>{summary}", *map(_item_html, document["items"]), "</details>"]


def _item_html(item: Document) -> str:
    severity = item["severity"]
    kind = " bad" if severity == "error" else ""
    place = f' <span class="dim">{escape(words.where(item["position"]))}</span>' if item["position"] else ""
    parts = [
        f'<p><b class="sev{kind}">{SIGNS.get(severity, "")} {escape(severity)}</b> <code>{escape(item["id"])}</code>{place}</p>',
        _line_html(item["position"]) if item["position"] and item["position"]["text"].strip() else "",
        f"<p>{prose(item['message'])}</p>",
    ]
    if item["evidence"]:
        parts.append(f"<pre>{''.join(f'<span>{escape(line)}{chr(10)}</span>' for line in item['evidence'])}</pre>")
    parts += [fix_html(item["fix"])] if item["fix"] else []
    if item["why"]:
        why = f"<p><b>{prose(item['title'])}.</b> {prose(item['why'])}</p>"
        parts.append(f'<details><summary class="dim">Why</summary>{why}</details>')
    return f'<div class="card{kind}">{"".join(parts)}</div>'


def _line_html(position: Document) -> str:
    line, start, end = _stretch(position)
    marked = f"<ins>{escape(line[start:end])}</ins>" if end > start else ""
    return f"<pre><span><i>{position['line']}</i> {escape(line[:start])}{marked}{escape(line[end:])}\n</span></pre>"
