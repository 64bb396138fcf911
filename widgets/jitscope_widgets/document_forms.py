"""Lighter forms of a document, for outputs that must stay small; each says in its place what was left out of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Set
from typing import Any, NamedTuple

from .view_data import title_of
from .words import Document


GONE = "Left out of the saved output to keep it small."
GONE_PROGRAMS = "The comparison of the programs before and after was left out of the saved output to keep it small."
_GONE_TITLE = GONE.rstrip(".").lower()
HEAVY = ("source", "jaxpr", "graph", "fusion", "instruments")  # of a compilation: what a view loads when it is opened
WITHOUT_HLO = -2  # where among the forms of a compilation the one without the HLO programs stands


class Form(NamedTuple):
    """A way to make a document smaller, and what is missing then."""

    make: Callable[[Document], Document]
    without: str


def forms(document: Document) -> tuple[Form, ...]:
    """The forms of a compilation, of a graph, of a fusion or of passes that hold less and less, the whole one first."""
    found, instruments = _known(document), document.get("instruments")
    instruments = instruments if isinstance(instruments, dict) else {}
    instruments = {name: one for name, one in instruments.items() if isinstance(one, dict)}
    return _less_instruments(instruments, found) if instruments else found


def _known(document: Document) -> tuple[Form, ...]:
    kind = document.get("kind")
    return _FORMS.get(kind if isinstance(kind, str) else "", _FORMS[""])


def _less_instruments(instruments: Document, found: tuple[Form, ...]) -> tuple[Form, ...]:
    """What instruments found can be found again: it gets lighter first, then what is largest goes, and the rest of the document
    gets lighter without it."""
    own = {name: _known(one)[-1] for name, one in instruments.items()}
    light = {name: form.make(instruments[name]) for name, form in own.items()}
    steps: list[tuple[Document, Set[str]]] = [(light, set())]
    for name in sorted(light, key=lambda name: -len(json.dumps(light[name]))):
        left, gone = steps[-1]
        steps.append(({other: left[other] for other in left if other != name}, gone | {name}))

    def said(gone: Set[str]) -> str:
        lighter = [form.without for name, form in own.items() if name not in gone and form.without]
        titles = [title_of(name) for name in instruments if name in gone]
        return ", ".join([*lighter, *([f"the findings of {' and of '.join(titles)}"] if titles else [])])

    def bare(make: Callable[[Document], Document], kept: Document) -> Callable[[Document], Document]:
        return lambda document: make({**document, "instruments": kept})

    lighter = [Form(bare(found[0].make, kept), said(gone)) for kept, gone in steps if said(gone)]
    without = said(instruments.keys())
    return (found[0], *lighter, *(Form(bare(form.make, {}), f"{without}, {form.without}") for form in found[1:]))


def lacks_programs(compilation: Document) -> bool:
    """Whether the HLO programs are to be had only from whoever made the document."""
    fusion = compilation.get("fusion")
    return bool(fusion) and not fusion["after"]["nodes"] and _GONE_TITLE in fusion["after"]["title"]


def brief(compilation: Document) -> Document:
    """A compilation without its programs and graphs: what a row about it needs."""
    return {**_without_graphs(compilation), "source": None}


def _without_hlo(compilation: Document) -> Document:
    fusion = compilation.get("fusion")
    return {**compilation, "fusion": _bare_fusion(fusion)} if fusion else compilation


def _without_before(compilation: Document) -> Document:
    fusion = compilation.get("fusion")
    return {**compilation, "fusion": _late_fusion(fusion)} if fusion else compilation


def _without_graphs(compilation: Document) -> Document:
    fusion, source = compilation.get("fusion"), compilation.get("source")
    bare: dict[str, Any] = {**compilation, "graph": _bare_graph(compilation["graph"]), "jaxpr": GONE}
    bare["source"] = {**source, "marks": []} if source else None
    bare["fusion"] = {**_bare_fusion(fusion), "kernels": []} if fusion else None
    return bare


def _late_fusion(fusion: Document) -> Document:
    return {**fusion, "before": _bare_graph(fusion["before"]), "rows": [], "summary": _said(fusion["summary"])}


def _bare_fusion(fusion: Document) -> Document:
    return {**_late_fusion(fusion), "after": _bare_graph(fusion["after"])}


def _said(summary: Document) -> Document:
    sentence = summary["sentence"].rstrip(".")
    return {**summary, "sentence": f"{sentence}. {GONE_PROGRAMS}".removeprefix(". ")}


def _bare_graph(graph: Document) -> Document:
    return {**graph, "title": f"{graph['title']} ({_GONE_TITLE})", "nodes": [], "edges": []}


def _without_joint(comparison: Document) -> Document:
    return {name: value for name, value in comparison.items() if name != "joint"}


def _without_steps(passes: Document) -> Document:
    return {**passes, "states": [{**state, "graph": None} for state in passes["states"]]}


def _few_rows(passes: Document) -> Document:
    def state(one: Document) -> Document:
        rows, rest = one["rows"][:_FEW_ROWS], one["rows"][_FEW_ROWS:]
        also = {*one["also"], *(path for row in rest for path in row["paths"])}
        return {**one, "rows": rows, "left_out": one["left_out"] + len(rest), "also": sorted(also), "graph": None}

    return {**passes, "states": [state(one) for one in passes["states"]]}


def _few_functions(machine: Document, most: int) -> Document:
    kept = machine["functions"][:most]
    modules = {one["module"] for one in kept}
    return {
        **machine,
        "functions": [*kept, *({**one, "blocks": None} for one in machine["functions"][most:])],
        "modules": [
            one if at in modules else {**one, "before": None, "after": None}
            for at, one in enumerate(machine["modules"])
        ],
    }


_FEW_ROWS = 40
_WHOLE = Form(lambda document: document, "")
_FORMS = {
    "": (_WHOLE,),
    "compilation": (
        _WHOLE,
        Form(_without_before, "the program before XLA's passes and the comparison with it"),
        Form(_without_hlo, "the HLO programs"),
        Form(_without_graphs, "the graphs and programs"),
    ),
    "fusion": (
        _WHOLE,
        Form(_late_fusion, "the program before XLA's passes and the comparison with it"),
        Form(_bare_fusion, "the HLO programs"),
    ),
    "graph": (_WHOLE, Form(_bare_graph, "the graph")),
    "comparison": (_WHOLE, Form(_without_joint, "the graph of both programs")),
    "machine": (
        _WHOLE,
        Form(lambda machine: _few_functions(machine, 12), "the code of most functions"),
        Form(lambda machine: _few_functions(machine, 2), "the code of nearly all functions"),
    ),
    "passes": (
        _WHOLE,
        Form(_without_steps, "the graphs of the passes"),
        Form(_few_rows, "the graphs of the passes and most of the changed lines"),
    ),
}
