"""The panes of the static HTML, one for each kind of document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from . import code, words
from .budget import Part
from .diff_html import diff
from .guard import Pieces, attempt_all, part, said
from .kernel_order import listed, order_words
from .origins import placed
from .painter import Hues, line_hues
from .plain import clean, clean_lines, escape
from .program_html import picture, source_lines
from .quantities import show
from .sentences import say
from .view.as_html import as_html, inline
from .view.markup import element
from .view.parts import Sentence
from .view_data import conversion_parts, parts_of, timing_of, title_of
from .views import has_view
from .words import Document, plural


_MOST_LINES = 4000  # of a program; more would be laid out only to be left out
_MOST_KERNELS = (3000, 500, 200, 80, 20)
_MOST_CHANGES = (_MOST_LINES, 300, 60)
_WHOLE = ' class="nw"'
_ELSEWHERE = "left out here to keep the saved output small; the live view shows them"


def compilation_pieces(compilation: Document) -> Iterator[str | Part]:
    """All panes of one compiled program."""
    hues = line_hues(compilation["graph"])
    here = words.here_of(compilation)
    source = compilation["source"]
    count = words.recompiled(compilation)
    yield from _pane(
        "Graph",
        plural(compilation["equations"], "equation"),
        lambda: [
            '<div class="two">',
            *(source_lines(source, hues) if source else ()),
            picture("the graph", compilation["graph"], hues, worth=10.0),
            "</div>",
            *_laid_over(compilation["graph"]),
        ],
        opened=True,
    )
    if compilation["fusion"]:
        summary = compilation["fusion"]["summary"]
        told = f"{plural(summary['before'], 'operation')} → {plural(summary['kernels'], 'kernel')}"
        yield from _pane("Fusion", told, lambda: _fusion(compilation["fusion"], compilation["graph"], hues, here))
    total = show(compilation["timing"]["total"])
    yield from _pane("Timing", total, lambda: pane(timing_of(compilation)))
    for name, found in compilation.get("instruments", {}).items():
        yield from _pane(title_of(name), "", lambda found=found: pane(found))
    label = f"Recompiles ({count})" if count else "Recompiles"
    yield from _pane(label, "" if count else "none", lambda: pane(compilation["recompilations"]))
    yield from _pane("Jaxpr", "", lambda: [_program("the jaxpr", clean_lines(compilation["jaxpr"]))])


def _laid_over(graph: Document) -> Pieces:
    """What the numbers of a user's own are, where there are any."""
    name = words.own_numbers(graph)
    return [said(say("numbers laid over", what=name))] if name else []


def _pane(title: str, told: str, make: Callable[[], Iterable[str | Part]], opened: bool = False) -> Pieces:
    summary = f"{escape(title)}{f' <span class={chr(34)}dim{chr(34)}>{escape(told)}</span>' if told else ''}"
    return [
        f'<details class="pane"{" open" if opened else ""}><summary>{summary}</summary><div class="in">',
        *attempt_all(title.lower(), make),
        "</div></details>",
    ]


# --- programs ------------------------------------------------------------------------------------------------------------


def _program(what: str, lines: list[str]) -> Part:
    if len(lines) > _MOST_LINES:
        return part(what)
    return part(what, lambda: code.numbered((str(at), line, "") for at, line in enumerate(lines, 1)), worth=0.5)


# --- fusion -----------------------------------------------------------------------------------------------------------


def _fusion(fusion: Document, program: Document, hues: Hues, here: str) -> Pieces:
    after, before = (placed(fusion[side], program) for side in ("after", "before"))
    pieces: Pieces = [said(fusion["summary"]["sentence"]), _kernels(fusion["kernels"], here)]
    if fusion.get("boundaries"):
        pieces += ["<details><summary>Why kernels are not one</summary>", said(say("seen between"))]
        forms = [lambda most=most: "<br>".join(map(escape, words.boundary_lines(fusion, most))) for most in (200, 30)]
        pieces += [part("what stands between kernels", *forms, worth=0.4), "</details>"]
    pieces += [replace(one, worth=0.2) if isinstance(one, Part) else one for one in as_html(conversion_parts(fusion))]
    if fusion["rows"]:
        forms = [lambda: diff(fusion["rows"])]
        forms += [lambda most=most: diff(fusion["rows"], most) for most in _MOST_CHANGES]
        pieces.append(part("the comparison", *(forms if len(fusion["rows"]) <= _MOST_LINES else ())))
    if after["nodes"]:
        pieces += [said("After fusion:"), picture("the graph after fusion", after, hues)]
    if before["nodes"]:
        pieces.append("<details><summary>Before fusion</summary>")
        pieces += [picture("the graph before fusion", before, hues, (150,), worth=0.5), "</details>"]
    return pieces


_REMARKS_ONCE = "A remark stands at the first kernel that it holds for."


def _kernels(kernels: list[Document], here: str) -> Part:
    def form(members: bool, most: int) -> str:
        noted: set[str] = set()
        named = listed(kernels)[:most]
        timed = any(words.share_words(kernel) for kernel in kernels)
        rows = "".join(_kernel(name, kernel, here, members, noted, timed) for name, kernel in named)
        more = said(f"and {plural(len(kernels) - most, 'more kernel')}, {_ELSEWHERE}") if len(kernels) > most else ""
        head = f"<tr><th>kernel</th><th>is</th><th>gives</th>{'<th>time</th>' * timed}<th>from</th></tr>"
        notes = [kernel["note"] for _, kernel in named if kernel["note"]]
        told = " ".join(filter(None, [order_words(kernels), _REMARKS_ONCE if len(set(notes)) < len(notes) else ""]))
        return f"{said(told) if told else ''}<table><tbody>{head}{rows}</tbody></table>{more}"

    sizes = [(True, _MOST_KERNELS[0]), *((False, most) for most in _MOST_KERNELS)]
    return part("the list of kernels", *(lambda size=size: form(*size) for size in sizes))


def _kernel(called: str, kernel: Document, here: str, members: bool, noted: set[str], timed: bool) -> str:
    kind = f"{words.kernel_words(kernel)}{' (library call)' if kernel['kind'] == 'library' else ''}"
    place = words.origin(kernel, here)
    told = [words.member_words(kernel["members"])] if members and len(kernel["members"]) > 1 else []
    told += [clean(kernel["note"])] if kernel["note"] and kernel["note"] not in noted else []
    noted.add(kernel["note"])
    below = f'<tr><td colspan="{4 + timed}" class="dim">{"<br>".join(map(escape, told))}</td></tr>' if told else ""
    name = f"{called.removeprefix('kernel ')} <code>{escape(kernel['name'])}</code>"
    types = f"<code>{escape(words.type_words(kernel['type']))}</code>"
    share = f"<td{_WHOLE}>{escape(words.share_words(kernel))}</td>" if timed else ""
    gives = f"<td{'' if kernel['type'].startswith('(') else _WHOLE}>{types}</td>"
    return f"<tr><td>{name}</td><td>{escape(kind)}</td>{gives}{share}<td{_WHOLE}>{escape(place)}</td></tr>{below}"


# --- the other kinds --------------------------------------------------------------------------------------------------


def _graph(graph: Document) -> Pieces:
    return [picture("the graph", graph, line_hues(graph), worth=10.0)]


def _whole_fusion(fusion: Document) -> Pieces:
    return _fusion(fusion, fusion["before"], line_hues(fusion["before"], fusion["after"]), "")


def _source(source: Document) -> Pieces:
    files = [words.home_of(source["functions"][call["function"]]) for call in source["calls"]]
    marks = sorted({(files[mark["call"]], mark["line"]) for mark in source["marks"]})
    return source_lines(source, {place: order for order, place in enumerate(marks)})


def folded(document: Document) -> Pieces:
    """A document whose view begins with a headline, as that line alone until it is opened."""
    first, *parts = parts_of(document)
    if not parts or not isinstance(first, Sentence):
        return as_html((first, *parts))
    return ["<details>", element("summary", inline(first.content)), *as_html(parts), "</details>"]


def pane(document: Document) -> Pieces:
    """The pane of a document."""
    kind = document["kind"]
    return as_html(parts_of(document)) if has_view(kind) else PANES[kind](document)


PANES: dict[str, Callable[[Document], Pieces]] = {
    "graph": _graph,
    "fusion": _whole_fusion,
    "source": _source,
}
