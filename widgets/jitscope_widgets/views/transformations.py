"""The transformations of a trace, one after the other: each with the programs before and after it."""

from __future__ import annotations

from collections.abc import Iterator

from .. import words
from ..documents.annotations import CodeProgram, ProgramLine, TransformationsDocument, TransformationStep
from ..escapes import clean
from ..sentences import TABLES
from ..view.parts import Beside, Code, CodeLine, Part, Ref, Section, Sentence, Step, Steps
from ..words import plural
from . import batching


NAME = "Transformations"
SIGNS: dict[str, str] = {name: sign for name, (sign, _) in TABLES["transforms"].items()}
DOES = {
    "jvp": "Beside each value that depends on what is differentiated, its tangent is computed.",
    "linearize": "Partial evaluation: what depends on values alone is split from what is linear in the tangents; the first hands over "
    "residuals.",
    "transpose": "The linear program, run backwards: from cotangents of its results to those of its arguments.",
    "vmap": "The program of one example becomes that of all of them.",
}
"""What each transformation does to a program."""
_MOST_NAMED = 6
_MOST_LINES = 40


def view(document: TransformationsDocument) -> Iterator[Part]:
    """The parts of a document of transformations."""
    yield Sentence(headline(document), "headline")
    if steps := document["steps"]:
        here = words.only_home(origin["position"] for origin in document["origins"])
        yield from (Sentence(said) for step in steps if (said := batching.batching_words(document, step, here)))
        yield Sentence(f"{_legend(document)}; pick a line to see what stems from the same place.", "note")
        entries = tuple(_step(document, number, step, here) for number, step in enumerate(steps, 1))
        yield Steps("Transformations, those inside of others first", entries)
    if more := document["left_out"]:
        yield Sentence(f"{plural(more, 'more transformation')} not kept in this document.", "note")
    for why in document["missed"]:
        yield Sentence(f"Not shown: {clean(why)}.", "note")
    yield Sentence(words.cost(document["cost"]), "note")


def headline(document: TransformationsDocument) -> str:
    """`3 transformations: jvp of loss, linearize of loss, …`"""
    steps = document["steps"]
    if not steps:
        return "No transformation was called while this function was traced."
    here = words.only_home(origin["position"] for origin in document["origins"])
    named = ", ".join(_name(document, step, here) for step in steps[:_MOST_NAMED])
    more = len(steps) - _MOST_NAMED + document["left_out"]
    rest = f", and {more:,} more" if more > 0 else ""
    return f"{plural(len(steps) + document['left_out'], 'transformation')}: {named}{rest}"


def _name(document: TransformationsDocument, step: TransformationStep, here: str) -> str:
    return f"{step['transform']} of {batching.subject(document, step, here)}"


def _legend(document: TransformationsDocument) -> str:
    """The signs that there are: `∂ made by jvp, ↩ by transpose`."""
    programs = [one for step in document["steps"] for one in (step["before"], *step["after"])]
    made = {name for program in programs for line in program["lines"] for name in line["transforms"]}
    signs = [f"{sign} made by {name}" for name, sign in SIGNS.items() if name in made]
    return ", ".join([*signs, "behind #, the line that it stems from"])


def _step(document: TransformationsDocument, number: int, step: TransformationStep, here: str) -> Step:
    def section(title: str, program: CodeProgram) -> Section:
        lines = tuple(_line(document, line, here) for line in program["lines"])
        return Section(title, (Code(title, lines, "jaxpr", first=_MOST_LINES, left_out=program["left_out"]),))

    sections = [section("before", step["before"])]
    sections += [section(f"after: {clean(one['title'])}", one) for one in step["after"]]
    parts = (Sentence(DOES[step["transform"]]), *batching.parts(document, step, here), Beside(tuple(sections)))
    return Step(f"{number}. {_name(document, step, here)}", parts, depth=step["depth"])


def _line(document: TransformationsDocument, line: ProgramLine, here: str) -> CodeLine:
    made = line["transforms"]
    sign = ("".join(SIGNS[name] for name in made), ", ".join(f"made by {name}" for name in made)) if made else None
    number = line["origin"]
    text = clean(line["text"])
    if number not in range(len(document["origins"])):
        return CodeLine(text, sign=sign)
    origin = document["origins"][number or 0]
    ref = Ref(tuple(origin["paths"]), position=origin["position"], same=f"origin {number}")
    return CodeLine(text, note=f"# {words.lines([origin['position']], here)}", ref=ref, sign=sign)
