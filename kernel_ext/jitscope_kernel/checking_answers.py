"""What `jitscope check` has to say of files: what was found, what a run ended with, what was left out; as text, JSON and SARIF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jitscope.core.words import counted, cut, listed
from jitscope_scope.advise import CATALOGUE, Diagnostic
from jitscope_scope.advise.pages import address_of, page_of


@dataclass(frozen=True)
class PlacedDiagnostic:
    """A diagnostic with its place: the file, the cell if it has any (from 1), the line in the file (of a notebook: in the cell)."""

    file: str
    cell: int | None
    line: int
    end_line: int
    one: Diagnostic

    def document(self) -> dict[str, Any]:
        own = self.one.document()
        place = {"file": self.file, "cell": self.cell, "line": self.line, "end_line": self.end_line}
        return {**own, **place, "help": f"jitscope explain {self.one.id}"}


@dataclass(frozen=True)
class SkippedFile:
    """A file, or a cell of it, that was not looked at or not run, and why."""

    file: str
    cell: int | None
    reason: str


@dataclass(frozen=True)
class ProgramEnd:
    """A program that was run ended before its end: with which error, in which line (of a notebook: of the cell), if that is known."""

    file: str
    cell: int | None
    line: int | None
    error: str


@dataclass(frozen=True)
class Answer:
    """All that is known of some files. `looked`: how many were looked at; `ran`: they were run as well."""

    found: tuple[PlacedDiagnostic, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    ended: tuple[ProgramEnd, ...] = ()
    looked: int = 0
    ran: bool = False

    @classmethod
    def of(cls, parts: Iterable[Answer]) -> Answer:
        """The answers of several files as one."""
        parts = list(parts)
        return cls(
            tuple(
                {
                    (one.file, one.cell, one.line, one.one.id, one.one.span): one
                    for part in parts
                    for one in part.found
                }.values()
            ),
            tuple(one for part in parts for one in part.skipped),
            tuple(one for part in parts for one in part.ended),
            sum(part.looked for part in parts),
            any(part.ran for part in parts),
        )

    def without(self, ids: Sequence[str]) -> Answer:
        """The same without some sharp bits."""
        return replace(self, found=tuple(one for one in self.found if one.one.id not in ids))

    @property
    def status(self) -> int:
        """0: nothing was found; 1: something was, a program that was run died, or a file could not be read; 2: none could be."""
        if not self.looked:
            return 2
        return 1 if self.found or self.ended or any(one.cell is None for one in self.skipped) else 0


# --- text ---------------------------------------------------------------------------------------------------------------------


def text(answer: Answer) -> str:
    """For people: each with its place, the sentence, and what to do."""
    several = Counter((one.file, one.cell, one.line, one.one.id) for one in answer.found)
    twice = {place for place, count in several.items() if count > 1}
    parts = [_found_text(twice, *alike) for alike in _together(answer.found)]
    parts += [f"{_place(one)}: the program ended here{_ending(one, answer)}" for one in answer.ended]
    parts += [f"{place}: left out: {reason}" for place, reason in _left_out(answer.skipped)]
    if not answer.looked:
        return "\n".join([*parts, "No file could be read."])
    if not answer.found:
        parts.append(none_found(answer))
    else:
        ids = sorted({one.one.id for one in answer.found})
        parts.append(
            f"{counted(len(answer.found), 'sharp bit')}; why, and an example: jitscope explain {' '.join(ids)}"
        )
    return "\n".join(parts)


def _left_out(skipped: Iterable[SkippedFile]) -> Iterator[tuple[str, str]]:
    """Where something was left out, and why; cells for one reason together."""
    alike: dict[tuple[str, str], list[SkippedFile]] = {}
    for one in skipped:
        alike.setdefault((one.file, one.reason), []).append(one)
    for (file, reason), own in alike.items():
        cells = [str(one.cell) for one in own if one.cell is not None]
        yield f"{file}: cells {listed(cells)}" if len(cells) > 1 else _place(own[0]), reason


def _together(found: Iterable[PlacedDiagnostic]) -> list[list[PlacedDiagnostic]]:
    """Remarks of one kind in one file, the first of which is told in full; all others by themselves."""
    groups: dict[object, list[PlacedDiagnostic]] = {}
    for one in found:
        groups.setdefault((one.file, one.one.id) if one.one.severity == "info" else one, []).append(one)
    return list(groups.values())


def none_found(answer: Answer) -> str:
    """What it means that nothing was found: how it was looked for."""
    how = "by looking at the code"
    if answer.ran:
        how += " and running it" + (", as far as it ran" if answer.ended else "")
    of = f" of {answer.looked} files" if answer.looked > 1 else ""
    return f"None of the {len(CATALOGUE)} kinds was found {how}{of}."


def _ending(one: ProgramEnd, answer: Answer) -> str:
    """With what a program ended, unless that is told already."""
    here = (one.file, one.cell, one.line)
    explained = any(
        found.one.severity == "error"
        and (found.one.origin == "trace" if found.file != one.file else found.one.origin != "look")
        and (found.file != one.file or (found.file, found.cell, found.line) == here)
        for found in answer.found
    )
    return ", as is told above" if explained else f" with {one.error}"


def _place(one: PlacedDiagnostic | SkippedFile | ProgramEnd) -> str:
    inside = _inside(one)
    return f"{one.file}: {inside}" if inside else one.file


def _inside(one: PlacedDiagnostic | SkippedFile | ProgramEnd) -> str:
    cell = f"cell {one.cell}" if one.cell and one.file.endswith(".ipynb") else ""
    line = f"line {one.line}" if not isinstance(one, SkippedFile) and one.line else ""
    return ", ".join(filter(None, [cell, line]))


_SEVERITIES = {"info": "remark"}
"""What people are told, where machines have another word."""


def _found_text(twice: Container[object], one: PlacedDiagnostic, *alike: PlacedDiagnostic) -> str:
    """`twice` are the lines with several of one id, of which columns are told."""
    severity, span = _SEVERITIES.get(one.one.severity, one.one.severity), one.one.span
    columns = ""
    if (one.file, one.cell, one.line, one.one.id) in twice:
        columns = f", columns {span.column + 1}-{span.end_column}"
    lines = [f"{_place(one)}{columns}: {one.one.id} ({severity})", f"  {one.one.message}"]
    lines += [f"  {line}" for line in _evidence(one.one)]
    lines += [f"  fix: {one.one.fix.text}"] if one.one.fix.text else []
    if alike:
        lines.append(f"  likewise in {listed([_inside(other) for other in alike])}")
    return "\n".join(lines)


_MOST_EVIDENCE, _WIDEST = 3, 150


def _evidence(one: Diagnostic) -> list[str]:
    """What shows that it is so, where the message does not say it: the first lines and the last."""
    lines = [cut(line.rstrip(","), _WIDEST) for line in one.evidence if line not in one.message]
    return [*lines[: _MOST_EVIDENCE - 1], *lines[-1:]] if len(lines) > _MOST_EVIDENCE else lines


# --- JSON and SARIF -----------------------------------------------------------------------------------------------------------


def document(answer: Answer) -> dict[str, Any]:
    """As plain data, for JSON."""
    return {
        "diagnostics": [one.document() for one in answer.found],
        "skipped": [vars(one) for one in answer.skipped],
        "ended": [vars(one) for one in answer.ended],
    }


_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def sarif(answer: Answer) -> dict[str, Any]:
    """SARIF 2.1.0 (OASIS): columns count from 1; what is in a notebook's cell has no line of the file. What was left out, and what a
    program ended with, are notifications of the tool's."""
    rules = sorted({one.one.id for one in answer.found})
    left = [_notification(one, "warning", f"left out: {one.reason}") for one in answer.skipped]
    died = [_notification(one, "error", f"the program ended with {one.error}") for one in answer.ended]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "jitscope", "rules": [_rule(id) for id in rules]}},
                "invocations": [
                    {"executionSuccessful": not answer.ended, "toolExecutionNotifications": [*died, *left]}
                ],
                "results": [_result(one, rules) for one in answer.found],
            }
        ],
    }


def _rule(id: str) -> dict[str, Any]:
    rule = {"id": id, "shortDescription": {"text": CATALOGUE[id].title}}
    address = address_of(id)
    return {**rule, "help": {"text": page_of(id), "markdown": page_of(id)}, **({"helpUri": address} if address else {})}


def _notification(one: SkippedFile | ProgramEnd, level: str, said: str) -> dict[str, Any]:
    where: dict[str, Any] = {"physicalLocation": _physical(one.file)}
    if one.cell is not None:
        where["logicalLocations"] = [{"fullyQualifiedName": f"cell {one.cell}"}]
    return {"level": level, "message": {"text": f"{_place(one)}: {said}"}, "locations": [where]}


def _physical(file: str) -> dict[str, Any]:
    return {"artifactLocation": {"uri": quote(Path(file).as_posix())}}


def _result(found: PlacedDiagnostic, rules: list[str]) -> dict[str, Any]:
    one = found.one
    region = {
        "startLine": found.line,
        "startColumn": one.span.column + 1,
        "endLine": found.end_line,
        "endColumn": one.span.end_column + 1,
    }
    physical = _physical(found.file)
    where: dict[str, Any] = {"physicalLocation": physical}
    said = f"{one.message} {one.fix.text}".strip()
    if found.file.endswith(".ipynb"):
        cell = f"cell {found.cell}, line {found.line}"
        where["logicalLocations"] = [{"fullyQualifiedName": cell}]
        said = f"{cell}: {said}"
    else:
        physical["region"] = region
    return {
        "ruleId": one.id,
        "ruleIndex": rules.index(one.id),
        "level": _LEVELS[one.severity],
        "message": {"text": said},
        "locations": [where],
    }
