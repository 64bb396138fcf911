"""Where the time of a call goes: the slowest line, the call on a time axis, lines and kernels, what bounds them, the machine's roofline."""

from __future__ import annotations

from collections.abc import Iterator

from ... import words
from ...quantities import origin
from ...view.parts import Part, Section, Sentence
from ...words import Document
from .kernels import bounds_table, kernel_tables
from .lines import line_tables, slowest
from .roofline import roofline
from .timeline import timeline
from .wording import machine, sentences


NAME = "Profile"


def view(document: Document) -> Iterator[Part]:
    """The parts of a profile document."""
    if first := slowest(document):
        yield first
    for sentence in sentences(document):
        yield Sentence(sentence)
    yield from line_tables(document)
    if axis := timeline(document):
        yield Section("One recorded call", (axis,))
    yield Section("Kernels", (kernel_tables(document), *bounds_table(document)))
    yield Section("Against what this machine can do", (*roofline(document), Sentence(machine(document), "note")))
    yield Sentence(words.cost(document["cost"]), "note", origin(document["cost"]))
