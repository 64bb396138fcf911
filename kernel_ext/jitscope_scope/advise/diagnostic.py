"""A diagnostic: which sharp bit, where in the user's code, why, and a fix."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..source_code.edits import Edit, Span
from ..source_code.names import Names
from .catalogue import CATALOGUE, Severity


Origin = Literal["look", "trace", "miss", "run"]
"""What found it: a static look at the code, a hook while tracing, a miss of the cache, a check of a run."""


@dataclass(frozen=True)
class Fix:
    """What to do, in words, and the edits that do it; no edits where it takes more than editing. `checked` says how it was proved, `tried` that
    other edits of the place were tried and do not hold."""

    text: str
    edits: tuple[Edit, ...] = ()
    checked: str = ""
    tried: bool = False


@dataclass(frozen=True)
class Diagnostic:
    """One sharp bit stepped on. `file` is the name Python's code objects have; `evidence` are lines that show the cause: of the
    jaxpr, of the difference of two keys, or a value."""

    id: str
    file: str
    span: Span
    message: str
    fix: Fix = Fix("")
    evidence: tuple[str, ...] = ()
    origin: Origin = field(default="look", compare=False)
    lower: Severity | None = field(default=None, compare=False)
    """How severe this one is, where that is less than its id says: a look cannot know whether it fails."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", _begun(self.message))

    @property
    def severity(self) -> Severity:
        """ "error" raises, "warning" gives a wrong result in silence, "info" is slow or misleading."""
        return self.lower or CATALOGUE[self.id].severity

    @property
    def place(self) -> tuple[str, str, int]:
        """What is said of one id in one line is compared."""
        return self.id, self.file, self.span.line

    def in_names(self, names: Names) -> Diagnostic:
        """The same with the library's names as the program calls them."""
        fix = replace(self.fix, text=names.own(self.fix.text))
        return replace(self, message=names.own(self.message), fix=fix)

    def document(self) -> dict[str, Any]:
        """As plain data; see docs/documents.md."""
        return {
            "id": self.id,
            "severity": self.severity,
            **self.span._asdict(),
            "message": self.message,
            "fix": self.fix.text,
            "edits": [{**edit.span._asdict(), "text": edit.text} for edit in self.fix.edits],
            "evidence": list(self.evidence),
            "origin": self.origin,
        }


def _begun(text: str) -> str:
    """Words that begin as a sentence does, unless they begin with a name."""
    return _PROSE.sub(lambda found: found[0].capitalize(), text)


_PROSE = re.compile(
    "^(this|the|an?|each|both|these|no|every|its?|one|here|there|how|what|for|under|arrays|arguments?|static argument|random|compiled|"
    "reverse(-mode)?|index(?= -?[0-9])|integers)(?= )"
)
"""What sentences begin with, and names hardly do."""


def together(looked: Iterable[Diagnostic], ran: Iterable[Diagnostic]) -> list[Diagnostic]:
    """What a look and a run found. An error is told once: one that a run met stands for those that the look expected in its line,
    with the edits that the look has for it."""
    looked = list(looked)
    ran = [one if one.fix.edits or one.fix.tried else replace(one, fix=_fix_of(one, looked)) for one in ran]
    met, expected = _errors_by_line(ran), _errors_by_line(looked)
    for line, ends in met.items():
        here, ids = expected.get(line, []), {one.id for one in ends}
        beside = _besides(here, ends)
        expected[line] = [one for one in here if one.id in ids or one in beside]  # of one id: see `distinct`
    others = [one for one in looked if CATALOGUE[one.id].severity != "error"]
    return distinct([*others, *(one for here in expected.values() for one in here), *ran])


def _errors_by_line(found: Iterable[Diagnostic]) -> dict[tuple[str, int], list[Diagnostic]]:
    lines: dict[tuple[str, int], list[Diagnostic]] = {}
    for one in found:
        if one.severity == "error" or (one.origin == "look" and CATALOGUE[one.id].severity == "error"):
            lines.setdefault((one.file, one.span.line), []).append(one)
    return lines


def _fix_of(one: Diagnostic, looked: Iterable[Diagnostic]) -> Fix:
    """The fix with edits that a look has for what a run found, or its own."""
    same = [other for other in looked if other.fix.edits and other.place == one.place]
    return next((other.fix for other in same if len(same) == 1 or other.span.meets(one.span)), one.fix)


def _besides(looked: list[Diagnostic], known: list[Diagnostic]) -> list[Diagnostic]:
    """What a look found in a line beside what was confirmed there: nothing, unless it found that too, and at another place."""
    apart = [one for one in looked if not any(one.span.meets(other.span) for other in known)]
    return apart if len(apart) < len(looked) else []


_TOLD_BY = (
    ("key-reuse", "key-not-threaded"), ("key-reuse", "update-result-dropped"), ("trace-time-mutation", "tracer-leak"),
    ("trace-time-mutation", "host-call-on-tracer"),
)  # fmt: skip
"""Sharp bits that follow from another one in the same line."""


def distinct(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """One for each id and place, in the order of the code; of two that say the same place, the one that was confirmed by a trace
    or a run, or the one that is sure."""
    lines: dict[tuple[str, str, int], list[Diagnostic]] = {}
    for one in found:
        lines.setdefault(one.place, []).append(one)
    for narrow, wide in _TOLD_BY:
        for id, file, line in [place for place in lines if place[0] == narrow]:
            if (wide, file, line) in lines:
                del lines[id, file, line]
    kept: list[Diagnostic] = []
    for here in lines.values():
        known = _apart(one for one in here if one.origin != "look")
        looked = _apart(one for one in here if one.origin == "look")
        kept += known + (_besides(looked, known) if known else looked)
    return sorted(kept, key=lambda one: (one.file, one.span, one.id))


def _apart(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Those of one id in a line that do not meet: of others the first, or the first that is sure."""
    kept: list[Diagnostic] = []
    for one in found:
        same = next((i for i, known in enumerate(kept) if known.span.meets(one.span)), None)
        if same is None:
            kept.append(one)
        elif kept[same].lower and not one.lower and kept[same].origin == one.origin:
            kept[same] = one
    return kept
