"""What is said of a region: the verdict with its reason, the cuts, the times, the differences and the edit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Literal


Verdict = Literal["compile", "not worth it", "cannot"]


@dataclass(frozen=True)
class Cut:
    """A line at which a region ends, and why."""

    line: int
    why: str
    """In one of few words: value read by Python, random, input or output, effect, object, time, exception, other library, shape,
    differences."""
    note: str = ""
    """What stands there, in a sentence's part."""


@dataclass(frozen=True)
class Sameness:
    """How far the compiled results may be from the plain ones on values like those that were tried, and how far they were on these."""

    max_abs: float
    """A bound on the difference, in the results' own units."""
    max_rel: float
    """The same as a share of an element, of elements that are no smaller than those that were seen."""
    bits: bool
    """Whether all bits were equal in each comparison."""
    ulp: float = 0.0
    """The largest difference seen, in units of the last place of the larger value's dtype."""
    seen_abs: float = 0.0
    """The largest difference seen, in the results' own units."""


@dataclass(frozen=True)
class Region:
    """Lines of a cell, and whether to compile them. Times in seconds, None where nothing was measured."""

    cell: int
    line: int
    end_line: int
    verdict: Verdict
    reason: str
    cuts: tuple[Cut, ...] = ()
    eager_s: float | None = None
    compiled_s: float | None = None
    compile_s: float | None = None
    break_even_runs: int | None = None
    same: Sameness | None = None
    edit: str | None = None
    reads: tuple[str, ...] = field(default=())
    """The names whose values go in."""

    def as_json(self) -> dict[str, object]:
        """The form that `jitscope regions --json` prints."""
        form = asdict(self)
        form["cuts"] = [dict(cut) for cut in form["cuts"]]
        form["reads"] = list(self.reads)
        return form


class CannotCompile(Exception):
    """Raised where a statement has no compiled form; holds the cut. `of` is the name, or the attribute, whose binding is meant: the line
    is then the one that binds it. `runs` says that Python can do it while the rest is traced."""

    def __init__(self, line: int, why: str, note: str, of: str = "", runs: bool = False) -> None:
        super().__init__(f"line {line}: {why}: {note}")
        self.cut, self.of, self.runs = Cut(line, why, note), of, runs

    def in_words(self, texts: Mapping[str, str]) -> CannotCompile:
        """The same with the cell's own texts in place of names that stand for them."""
        note = re.sub(r"\b\w+\b", lambda m: texts.get(m[0], m[0]), self.cut.note)
        return CannotCompile(self.cut.line, self.cut.why, note, texts.get(self.of, self.of), self.runs)
