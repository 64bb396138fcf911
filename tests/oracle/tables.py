"""Single questions to both libraries: the tables of `cases/`. A table is a file NAME.txt of expressions, or NAME.py of programs;
`README.md` says how they are written, and where JAX's answers are."""

from __future__ import annotations

import contextlib
import functools
import importlib
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.extent import ALL
from tests.oracle import letters, recorded
from tests.oracle.answers import NEEDS_VALUES, error_types
from tests.oracle.library import Library
from tests.oracle.results import Result, described, differences, result, values


FOLDER = Path(__file__).parent / "cases"
TOLERANCE = 32
"""In units in the last place of the largest number of an array."""


def half(name: str) -> bool:
    """Whether a name is of one half of all."""
    return zlib.crc32(name.encode()) % 2 == 0


class Table:
    """Questions by name, in sections."""

    sections: dict[str, list[str]]
    different: dict[str, str]
    """Name → why it is not compared."""
    ours: dict[str, Any]
    """Name → the data that are right here, where JAX has others."""
    kept: dict[str, str]
    """Name → why git keeps the answer, and JAX is not asked again."""
    sample: Callable[[str], bool]
    """Whether `make test` asks and compares a case, every second one if a table says nothing else; `test-all` has all."""
    optimized: bool
    """Whether the last digits need XLA's optimisations, which round fewer intermediate results."""

    def __init__(self, name: str):
        self.name = name

    @property
    def recorded(self) -> dict[str, Any]:
        return recorded.load(self.name)

    @property
    def names(self) -> list[str]:
        return [name for members in self.sections.values() for name in members]

    def ask(self, o: Library, names: Iterable[str]) -> dict[str, Result]:
        raise NotImplementedError

    def tolerance(self, name: str) -> float:
        raise NotImplementedError

    def weak(self, name: str) -> bool:
        """Whether weak types count."""
        return True

    def faults(self, o: Library, section: str) -> list[str]:
        """In what the answers of a section differ from JAX's, of the questions whose answers are there."""
        return self.unlike(self.ask(o, self.compared(self.sections[section])))

    def compared(self, names: Iterable[str]) -> list[str]:
        """Those of the questions whose answers are there and compared; all, if these are some of which `make test` has none."""
        there = [name for name in names if name not in self.different and (name in self.recorded or name in self.ours)]
        return [name for name in there if ALL or self.sample(name)] or there

    def unlike(self, answers: dict[str, Result]) -> list[str]:
        """In what answers differ from JAX's."""
        found = []
        for name, answer in answers.items():
            wanted = {"plain": self.ours[name]} if name in self.ours else self.recorded[name]
            problems = differences(answer, wanted, self.tolerance(name), self.weak(name))
            found += [f"{name}: {problem}" for problem in problems]
        return found


class Expressions(Table):
    """A line is an expression, `# words` a heading, `% words` the options: `compiled` (a section is one program), `wide` (64 bits),
    `letters=` (the set of operands), `tolerance=`, `optimized`. Behind ` !! ` stands why a line differs from JAX on purpose."""

    def __init__(self, name: str):
        super().__init__(name)
        self.sections, self.different, self.ours, self.kept, self.options = {"": []}, {}, {}, {}, {}
        heading = ""
        for line in (FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
            if line.startswith("% "):
                self.options = dict(word.partition("=")[::2] for word in line[2:].split())
            elif line.startswith("# "):
                self.sections[heading := line[2:]] = []
            elif line.strip():
                expr, _, reason = line.partition(" !! ")
                self.sections[heading].append(expr)
                if reason:
                    self.different[expr] = reason
        self.sections = {heading: lines for heading, lines in self.sections.items() if lines}
        self.optimized = "optimized" in self.options
        self.sample = half

    def tolerance(self, name: str) -> float:
        return float(self.options.get("tolerance", TOLERANCE))

    @property
    def compiled(self) -> bool:
        return "compiled" in self.options

    def ask(self, o: Library, names: Iterable[str], compiled: bool | None = None) -> dict[str, Result]:
        wide = "wide" in self.options
        with o.width("float64" if wide else "float32"):
            given = letters.of(o, self.options.get("letters", ""), wide)
            scope = o.scope | letters.rooms(o)
            if self.compiled if compiled is None else compiled:
                return _together(o, names, scope, given)
            return {name: result(o, functools.partial(eval, name, scope | given)) for name in names}


def _together(o: Library, exprs: Iterable[str], scope: dict[str, Any], given: dict[str, Any]) -> dict[str, Result]:
    """All expressions as one compiled program; what needs concrete values is asked outside of it."""
    found: dict[str, Result] = {}

    def program(given: dict[str, Any]) -> dict[str, list[Any]]:
        arrays = {}
        for expr in exprs:
            run = functools.partial(eval, expr, scope | given)
            try:
                words, arrays[expr] = described(o, run())
                found[expr] = Result(words)
            except Exception as error:
                found[expr] = Result(error=error_types(error))
        return arrays

    for expr, arrays in o.jx.jit(program)(given).items():
        found[expr].arrays = [values(o, x) for x in arrays]
    for expr in exprs:
        if set(found[expr].error or ()) & set(NEEDS_VALUES):
            found[expr] = result(o, functools.partial(eval, expr, scope | given))
    return found


class Programs(Table):
    """A module with CASES: functions of a Library, by name; and, if it needs them, WIDE (names asked with 64 bits), DIFFERENT (name →
    why it is not compared), OURS (name → other data than JAX's), KEPT (name → why git keeps the answer), ANY_WEAKNESS (names whose weak types are not compared),
    tolerance(name), section(name), sample(name) (whether `make test` has it), OPTIMIZED."""

    def __init__(self, name: str):
        super().__init__(name)
        module = importlib.import_module(f"tests.oracle.cases.{name}")
        get = lambda key, default: getattr(module, key, default)
        self.cases: dict[str, Callable[[Library], Any]] = module.CASES
        self.different, self.ours, self.kept = get("DIFFERENT", {}), get("OURS", {}), get("KEPT", {})
        self.wide, self.any_weakness = set(get("WIDE", ())), get("ANY_WEAKNESS", ())
        self.optimized = get("OPTIMIZED", False)
        self.sample = get("sample", half)
        self.tolerance = get("tolerance", lambda name: 5 * TOLERANCE)
        self.sections = {}
        for case in self.cases:
            self.sections.setdefault(get("section", lambda name: name)(case), []).append(case)

    def weak(self, name: str) -> bool:
        return name not in self.any_weakness

    def ask(self, o: Library, names: Iterable[str]) -> dict[str, Result]:
        found = {}
        for name in names:
            with o.jx.enable_x64(True) if name in self.wide else contextlib.nullcontext():
                found[name] = result(o, functools.partial(self.cases[name], o))
        return found


@functools.cache
def table(name: str) -> Table:
    return (Expressions if (FOLDER / f"{name}.txt").exists() else Programs)(name)


def tables() -> Iterator[Table]:
    for path in sorted(FOLDER.iterdir()):
        if path.suffix in (".txt", ".py") and not path.stem.startswith("_"):
            yield table(path.stem)


def outside_of_jit(o: Library, name: str, step: int) -> list[str] | None:
    """In what the answers of some of a table's expressions, evaluated operation by operation, differ from JAX's; None if none is there."""
    expressions = table(name)
    assert isinstance(expressions, Expressions)
    some = expressions.compared(expressions.names[::step])
    return expressions.unlike(expressions.ask(o, some, compiled=False)) if some else None
