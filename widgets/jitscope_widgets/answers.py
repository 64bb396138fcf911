"""What a live view may ask of whoever made its document."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from .words import Document


@dataclass(frozen=True)
class Answers:
    """Each function takes the id of a compilation first, and raises an error whose text is a sentence for the user.

    measure: the compilation's document anew, with its steady time; again: the same after its program was compiled once more; whole: the same with the programs that the document on show
    lacks; instrument: by name and options, the document of an instrument (docs/documents.md). `offers`, which takes nothing, says what
    instruments there are; `told_to`, given a function, what is done in its context tells that function the step it is at and the seconds so far.
    """

    measure: Callable[[int], Document] | None = None
    again: Callable[[int], Document] | None = None
    whole: Callable[[int], Document] | None = None
    instrument: Callable[[int, str, Mapping[str, Any]], Document] | None = None
    offers: Callable[[], list[dict[str, str]]] | None = None
    told_to: Callable[[Callable[[str, float], None]], AbstractContextManager[None]] | None = None


SILENT = Answers()
