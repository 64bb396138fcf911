"""The text form of every view: for terminals, logs, GitHub and screen readers, at most 100 columns wide by default."""

from __future__ import annotations

from collections.abc import Callable

from . import words
from .escapes import clean, clean_lines
from .grouping import in_full
from .looks import number_of
from .quantities import show
from .view import inline
from .view.as_text import as_text, lines_of
from .view.parts import Sentence
from .view_data import parts_of, title_of
from .views import has_view
from .views.fusion import kernel_table, rest_words
from .words import Document, plural
from .wrap import wrap


_MOST_KERNELS = 12  # in the summary of a compilation; the text of its fusion document has all


def text(document: Document, *, width: int = 100, jaxpr: bool = False) -> str:
    """What `document` says, as plain text of at most `width` columns.

    `jaxpr=True` adds the programs themselves to a compilation or a cell.
    """
    problem = words.not_viewable(document)
    if problem:
        return "\n".join(wrap(problem, width))
    if document["kind"] == "cell":
        lines = _cell(document, width, jaxpr)
    elif document["kind"] == "compilation":
        lines = _compilation(document, width, jaxpr)
    else:
        lines = _written(document, width)
    shown = (clean(line).replace("→", "->") for line in "\n".join(lines).split("\n"))
    return "\n".join(part for line in shown for part in wrap(line, width, "    "))


def _written(document: Document, width: int) -> list[str]:
    """A document that stands by itself: what it is of comes first."""
    if not has_view(document["kind"]):
        return _lines(document, width)
    parts = parts_of(document)
    lines = as_text(parts, width)
    title, name = clean(document.get("title") or ""), title_of(document["kind"])
    if not title or not lines or lines[0].startswith(title):
        return lines
    head = title if title.startswith(name) else f"{name} of {title}"
    if isinstance(first := parts[0], Sentence):
        rest = lines[len(lines_of(first, width)) :]
        return [*wrap(f"{head}: {clean(inline.words(first.content))}", width, "    "), *rest]
    return [f"{head}:", f"  {lines[0]}", *lines[1:]]


def _lines(document: Document, width: int) -> list[str]:
    if has_view(document["kind"]):
        return as_text(parts_of(document), width)
    return _WRITERS[document["kind"]](document, width)


def _cell(cell: Document, width: int, jaxpr: bool) -> list[str]:
    lines: list[str] = []
    kept = in_full(cell["compilations"])
    for at, compilation in enumerate(cell["compilations"]):
        if at in kept:
            lines += [*([""] if lines else []), *_compilation(compilation, width, jaxpr, clean(cell["cell"]))]
    if more := len(cell["compilations"]) - len(kept):
        lines += wrap(f"{plural(more, 'more compilation')}: %ledger lists them", width, "  ")
    shown, rest = words.few_cards(cell)
    for card in shown["cards"] if shown else ():
        lines += [*([""] if lines else []), *_lines({**(shown or {}), "cards": [card]}, width)]
    lines += wrap(rest, width, "  ") if rest else []
    for label, entries in (
        ("reused without compiling", [words.reused_words(entry) for entry in cell["reused"]]),
        ("left alone", [words.left_alone_words(entry) for entry in cell["left_alone"]]),
    ):
        if entries:
            lines += wrap(f"{label}: {', '.join(entries)}", width, "  ")
    if cell["note"]:
        lines += _paragraph(cell["note"], width)
    if bits := cell.get("diagnostics"):
        lines += ["", *_lines(bits, width)]
    if cell["error"]:
        lines += wrap(f"{words.error_words(cell['error'])}: see the traceback", width, "  ")
        stopped = cell["error"].get("stopped")
        lines += _lines(stopped, width) if stopped else []
    return lines or [f"{clean(cell['cell'])}: nothing was compiled."]


def _compilation(compilation: Document, width: int, jaxpr: bool, cell: str = "") -> list[str]:
    """A program; in a cell, whose lines have no other name, or by itself, with the cards of its recompilations."""
    here = cell or words.here_of(compilation)
    lines = wrap(clean(compilation["signature"] or compilation["function"]), width, "    ")
    lines += _facts([clean(compilation["headline"]), _times(compilation)], width)
    if compilation["fusion"]:
        kernels = compilation["fusion"]["kernels"]
        lines += lines_of(kernel_table(kernels, here, most=_MOST_KERNELS), width)
        lines += [f"  {rest}"] if (rest := rest_words(kernels, _MOST_KERNELS)) else []
    if not cell and compilation["recompilations"]["cards"]:
        lines += _lines(compilation["recompilations"], width)
    for name, found in compilation.get("instruments", {}).items():
        if name not in _WRITERS and not has_view(name):
            continue  # of a later version
        lines += [
            "",
            f"{title_of(name)} of {clean(compilation['function'])}",
            *_lines(found, width),
        ]
    if jaxpr:
        lines += ["", *(part for line in clean_lines(compilation["jaxpr"]) for part in _code(line, width))]
    return lines


def _facts(facts: list[str], width: int) -> list[str]:
    """Some facts on one line when they fit, else on a line each."""
    facts = [fact for fact in facts if fact]
    together = "  " + "   ".join(facts)
    if len(together) <= width:
        return [together]
    return [part for fact in facts for part in wrap(f"  {fact}", width, "    ")]


def _times(compilation: Document) -> str:
    timing = compilation["timing"]
    parts = [f"{stage['name']} {show(stage['seconds'])}" for stage in timing["stages"]]
    if compilation["cache"] == "reused":
        parts.insert(0, "compiled before")
    if steady := words.steady_of(compilation):
        how = "one call" if steady["runs"] == 1 else f"median of {words.times_of(steady).split(' ')[0]}"
        parts.append(f"run {show(steady['median'])} ({how})")
    return ", ".join(parts)


def _graph(graph: Document, width: int) -> list[str]:
    nodes = graph["nodes"]
    unit = "equation" if graph["level"] == "jaxpr" else "instruction"
    counted = [node for node in nodes if node["kind"] not in ("input", "constant", "output", "group")]
    count = sum(max(1, len(node["paths"])) for node in counted) if unit == "equation" else len(counted)
    lines = wrap(f"{clean(graph['title'])}: {plural(count, unit)}", width, "  ")
    inner: dict[str | None, list[Document]] = {}
    ids = {node["id"] for node in nodes}
    for node in nodes:
        scope = node["scope"] if node["scope"] in ids and node["scope"] != node["id"] else None
        inner.setdefault(scope, []).append(node)
    todo = [(node, 1) for node in reversed(inner.pop(None, []))]
    while todo:
        node, depth = todo.pop()
        lines += _node(node, depth, width)
        todo += [(member, depth + 1) for member in reversed(inner.pop(node["id"], []))]
    return lines


def _node(node: Document, depth: int, width: int) -> list[str]:
    indent = "  " * min(depth, 12)
    types = ", ".join(clean(kind) for kind in node["types"])
    shown = clean(node["text"].strip()) or f"{clean(node['label'])}: {types}"
    if node["kind"] in ("input", "constant", "output"):
        shown = f"{node['kind']} {clean(node['label'])}: {types}"
    place = words.lines(node["positions"])
    lines = wrap(f"{indent}{shown}{'   ' + place if place else ''}", width, indent + "    ")
    if own := number_of(node):
        lines += wrap(f"{indent}    {clean(node['number']['name'])}: {own}", width, indent + "      ")
    for name in ("devices exchange", "sharding"):
        if said := node["params"].get(name):
            lines += wrap(f"{indent}    {name}: {clean(said)}", width, indent + "      ")
    return lines


def _source(source: Document, width: int) -> list[str]:
    lines: list[str] = []
    for index, function in enumerate(source["functions"]):
        written = words.written_in(source, index)
        lines += wrap(f"{clean(function['name'])}, {words.home_of(function)}", width, "  ")
        for number, line in enumerate(function["lines"], function["first_line"]):
            told = f"   {plural(written[number], 'equation')}" if number in written else ""
            lines += wrap(f"{number:>5}  {clean(line)}{told}", width, " " * 11)
    return lines


def _paragraph(said: str, width: int) -> list[str]:
    return [part for line in clean_lines(said.strip()) for part in wrap(line, width)]


def _code(line: str, width: int) -> list[str]:
    indent = line[: len(line) - len(line.lstrip(" "))]
    return wrap(line, width, indent + "    ")


_WRITERS: dict[str, Callable[[Document, int], list[str]]] = {
    "graph": _graph,
    "source": _source,
}
