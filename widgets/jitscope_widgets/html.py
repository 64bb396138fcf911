"""Documents as static HTML without any script: a headline that opens to panes, in a block that carries the document.

The outer element has the whole document in the attribute `data-jitscope-document` (see `envelope`), from which a page with
the view code on it makes a live view. What is too long for the output gives way to a sentence; the document goes last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from . import words
from .budget import Part, fit
from .envelope import PackedDocument, pack
from .escapes import clean_lines, escape
from .grouping import in_full
from .guard import attempt_all, part
from .html_style import CLASS, html_style
from .panes import compilation_pieces, folded, pane
from .quantities import seconds
from .unusual import unusual
from .words import Document, plural


SMALLEST_LIMIT, LARGEST_LIMIT, PER_EQUATION = 150_000, 1_000_000, 500
STATIC_SHARE = 30_000  # what the picture without the document keeps at least
_TOO_LARGE = (
    "Too large to be kept in the saved output: only this still view is kept. Run the cell again for the live one."
)


def html(document: Document, *, limit: int | None = None, note: str = "", packed: PackedDocument | None = None) -> str:
    """`document` as a block of static HTML, with `note` as a line below it.

    `limit` is how many bytes it may have: by default 150 kB for up to 300 equations and in proportion for more, up to 1 MB.
    `packed` is the document as it is to be carried, when that was made before.
    """
    problem = words.not_viewable(document)
    if problem:
        return _block("", f"<style>{html_style()}</style><p>{escape(problem)}</p>")
    limit = allowance(document) if limit is None else limit
    packed = packed or pack_with_remarks(document, limit)
    pieces = [f"<style>{html_style()}</style>", *attempt_all(f"this {document['kind']}", lambda: _pieces(document))]
    for line in (*packed.remarks, note):
        pieces += [f'<p class="dim">{escape(line)}</p>'] if line else []
    return _block(packed.text, fit(pieces, limit - len(packed.text) - 200))


def pack_with_remarks(document: Document, limit: int | None = None) -> PackedDocument:
    """The packed document with remarks on what had to be left out of it; never raises."""
    limit = allowance(document) if limit is None else limit
    try:
        packed = pack(document, limit - STATIC_SHARE)
    except Exception as error:
        return PackedDocument("", (words.failure("this document for later", error),))
    return packed if packed.text else PackedDocument("", (_TOO_LARGE,))


def allowance(document: Document) -> int:
    """How many bytes the output of a document may have in a saved notebook."""
    compilations = document.get("compilations")
    equations = sum(map(_size, compilations if isinstance(compilations, list) else [document]))
    return min(LARGEST_LIMIT, max(SMALLEST_LIMIT, PER_EQUATION * equations))


def _size(document: Document) -> int:
    known = document.get("equations", len(document.get("nodes", ()))) if isinstance(document, dict) else 0
    return known if isinstance(known, int) else 0


def _block(data: str, inside: str) -> str:
    attribute = f' data-jitscope-document="{data}"' if data else ""
    return f'<div class="jitscope"{attribute}><div class="{CLASS}">{inside}</div></div>'


def _pieces(document: Document) -> Iterator[str | Part]:
    if document["kind"] == "cell":
        yield from _cell(document)
    elif document["kind"] == "compilation":
        yield from _compilation(document, opened=True)
    else:
        yield from pane(document)


def _cell(cell: Document) -> Iterator[str | Part]:
    kept = in_full(cell["compilations"])
    again: Counter[str] = Counter()
    for card in words.cards_of(cell):
        again[card["function"]] += card["compilations"]
    for at, compilation in enumerate(cell["compilations"]):
        if at in kept:
            count = again.pop(compilation["function"], 0)
            head = plural(count, "recompilation") if count else ""
            yield from attempt_all(
                "this compilation", lambda item=compilation, head=head: _compilation(item, again=head)
            )
    rows = [one for at, one in enumerate(cell["compilations"]) if at not in kept]
    if rows:
        yield from attempt_all("the other compilations", lambda: [_rows(rows)])
    shown, rest = words.few_cards(cell)
    yield from pane(shown) if shown else ()
    if rest:
        yield f'<p class="dim">{escape(rest)}</p>'
    if bits := cell.get("diagnostics"):
        yield from attempt_all("the sharp bits", lambda: folded(bits))
    if cell["reused"]:
        yield f'<p class="dim">reused without compiling: {escape(", ".join(map(words.reused_words, cell["reused"])))}</p>'
    if cell["left_alone"]:
        names = ", ".join(map(words.left_alone_words, cell["left_alone"]))
        count = plural(len(cell["left_alone"]), "definition")
        yield f'<details><summary class="dim">{count} left alone</summary><p>{escape(names)}</p></details>'
    if cell["note"]:
        yield f"<p>{escape(cell['note'])}</p>"
    if cell["error"]:
        message = "".join(f"<span>{escape(line)}{chr(10)}</span>" for line in clean_lines(cell["error"]["message"]))
        yield (
            f'<details><summary class="bad">✕ {escape(words.error_words(cell["error"]))}</summary>'
            f"<pre>{message}</pre></details>"
        )
        if stopped := cell["error"].get("stopped"):
            yield from attempt_all("what was traced before the error", lambda: pane(stopped))
    if not any(cell[field] for field in ("compilations", "reused", "note", "error")):
        yield f"<p>{escape(cell['cell'])}: nothing was compiled.</p>"


def _rows(compilations: list[Document]) -> Part:
    """Those compilations that are not kept in full, a row for each."""
    head = "<tr><th>function</th><th>program</th><th>took</th><th>because</th></tr>"

    def form(most: int) -> str:
        more = f"<p>and {len(compilations) - most:,} more</p>" if len(compilations) > most else ""
        shown = "".join(map(_row, compilations[:most]))
        count = plural(len(compilations), "more compilation")
        return f"<details><summary>{count}</summary><table><tbody>{head}{shown}</tbody></table>{more}</details>"

    return part("the list of the other compilations", lambda: form(1000), lambda: form(50))


def _row(compilation: Document) -> str:
    known = words.spent(compilation)
    cells = [
        f"<code>{escape(compilation['signature'] or compilation['function'])}</code>",
        escape(compilation["headline"]),
        seconds(known) if known is not None else "?",
        escape(words.because(compilation)),
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _compilation(compilation: Document, opened: bool = False, again: str | None = None) -> Iterator[str | Part]:
    count = words.recompiled_words(compilation) if again is None else again
    facts = [compilation["headline"], words.compiled_words(compilation), words.steady_words(compilation)]
    facts += [f"▲ {count}" if count else "", unusual(compilation)]
    said = " · ".join(escape(fact) for fact in facts if fact)
    yield (
        f"<details{' open' if opened else ''}><summary><b>{escape(compilation['function'])}</b> "
        f'<span class="dim">{said}</span></summary><p class="sign"><code>{escape(compilation["signature"])}</code></p>'
    )
    yield from compilation_pieces(compilation)
    yield "</details>"
