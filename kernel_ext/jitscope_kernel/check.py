"""`jitscope check`: the sharp bits of programs, from a look at them and, if asked, from running them."""

from __future__ import annotations
import __future__

import argparse
import ast
import builtins
import contextlib
import functools
import json
import operator
import os
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jitscope import jaxwatch
from jitscope.advise import CATALOGUE, Diagnostic, heard, look, together
from jitscope.advise.program import Program, ProgramError, read
from jitscope.advise.watch import Watch
from jitscope.core.names import imported_by
from jitscope.core.words import counted, cut

from .own_options import options_of_its_own


@dataclass(frozen=True)
class Found:
    """A diagnostic with its place: the file, the cell if it has any (from 1), the line in the file (of a notebook: in the cell)."""

    file: str
    cell: int | None
    line: int
    end_line: int
    one: Diagnostic

    def document(self) -> dict[str, Any]:
        own = self.one.document()
        return {**own, "file": self.file, "cell": self.cell, "line": self.line, "end_line": self.end_line}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a .py file (`# %%%%` begins a cell) or a notebook")
    parser.add_argument("--run", action="store_true", help="also run each file, and report what the run shows")
    parser.epilog = (
        "What follows -- are the arguments of the program that --run runs: jitscope check --run train.py -- --epochs 2"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help='write JSON: {"diagnostics": [...]}')
    form.add_argument("--sarif", action="store_true", help="write SARIF 2.1.0, as code hosts read it")
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="ID", help="ignore this sharp bit (may be repeated)"
    )


def parted(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments of the command, and those behind `--` of the program that it runs."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return list(arguments[:at]), list(arguments[at + 1 :])


def main(given: argparse.Namespace, passed: Sequence[str] = ()) -> int:
    """0: nothing was found, 1: something was, 2: a file is no program. The program that is run has the arguments `passed`."""
    if passed and (not given.run or len(given.files) > 1 or given.files[0].endswith(".ipynb")):
        print(
            "jitscope check: what follows -- are arguments of the program that is run: give --run and one .py file",
            file=sys.stderr,
        )
        return 2
    unknown = [id for id in given.ignore if id not in CATALOGUE]
    if unknown:
        print(f"jitscope check: there is no sharp bit {unknown[0]!r}; ids are in docs/sharp-bits.md", file=sys.stderr)
        return 2
    found: list[Found] = []
    for file in given.files:
        try:
            program = read(file)
        except ProgramError as error:
            print(f"jitscope check: {error}", file=sys.stderr)
            return 2
        for part in program.unread:
            print(f"jitscope check: {file}: {part}; it is left out", file=sys.stderr)
        found += [one for one in check(program, given.run, passed) if one.one.id not in given.ignore]
    if given.json:
        print(json.dumps({"diagnostics": [one.document() for one in found]}, indent=1))
    elif given.sarif:
        print(json.dumps(_sarif(found), indent=1))
    else:
        print(_text(found))
    return 1 if found else 0


def check(program: Program, run: bool = False, arguments: Sequence[str] = ()) -> list[Found]:
    """The sharp bits of a program, in its order; with `run` also those that its run shows, with these arguments if it is a file."""
    every = look(program.text, program.file, program.cells)
    if run:
        ran = _run_notebook(program) if program.is_notebook else _run(program, arguments)
        names = imported_by(program.text)
        every = heard([one.in_names(names) for one in together(every, ran)], program.text)
    return [_placed(one, program) for one in every]


def _placed(one: Diagnostic, program: Program) -> Found:
    cell, line = program.place(one.span.line)
    return Found(program.file, cell, line, line + one.span.end_line - one.span.line, one)


# --- running ------------------------------------------------------------------------------------------------------------------


def _run(program: Program, own: Sequence[str]) -> list[Diagnostic]:
    """Run a file as Python would (`python -m` for one of a package), what it prints going to the standard error."""
    path = os.path.abspath(program.file)
    module = types.ModuleType("__main__")
    folder, package = _root_of_package(path)
    module.__dict__.update(__file__=path, __builtins__=builtins, __package__=package or None)
    before, arguments, place = sys.modules["__main__"], sys.argv, list(sys.path)
    sys.modules["__main__"], sys.argv, sys.path[:0] = module, [program.file, *own], [folder]
    try:
        with Watch(values=True) as watch, contextlib.redirect_stdout(sys.stderr), options_of_its_own() as imported:
            _run_code(program.text, path, module.__dict__, watch, imported)
            found = watch.found()
    finally:
        jaxwatch.detach()
        sys.modules["__main__"], sys.argv, sys.path[:] = before, arguments, place
    return [replace(one, file=program.file) for one in found if os.path.abspath(one.file) == path]


def _root_of_package(path: str) -> tuple[str, str]:
    """Where a file's imports are looked for, and the name of the package it is in."""
    folder, names = os.path.dirname(path), []
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
        names.insert(0, name)
    return folder, ".".join(names)


def _run_code(text: str, path: str, scope: dict[str, Any], watch: Watch, imported: Callable[[], None]) -> None:
    try:
        for code in _statements(text, path):
            exec(code, scope)
            if jaxwatch.there():  # as soon as the program has imported jax
                watch.look_at_jax()
                imported()
    except SystemExit as ending:
        if ending.code not in (None, 0):
            print(f"jitscope check: the program ended itself: sys.exit({ending.code!r})", file=sys.stderr)
    except BaseException as error:
        watch.failed(error)
        ending = ": ".join(filter(None, [type(error).__name__, _first_line(error)]))
        print(f"jitscope check: the program ended with {ending}", file=sys.stderr)


def _statements(text: str, path: str) -> Iterator[types.CodeType]:
    """A program's statements one by one, what it imports from `__future__` being in force in each."""
    whole = compile(text, path, "exec", dont_inherit=True)
    for at, node in enumerate(ast.parse(text, path).body):
        if at == 0 or not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):  # no second docstring
            one = ast.Module([node], [])
            yield compile(one, path, "exec", whole.co_flags & _FUTURE, dont_inherit=True)


_FUTURE = functools.reduce(
    operator.or_, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0]


def _run_notebook(program: Program) -> list[Diagnostic]:
    """Run a notebook's cells in IPython, up to the first that fails."""
    from .checking_cells import run_cells

    return run_cells(program)


# --- writing ------------------------------------------------------------------------------------------------------------------


def _text(found: list[Found]) -> str:
    if not found:
        return "Nothing found."
    parts = []
    for one in found:
        cell = f"cell {one.cell}, " if one.cell and one.file.endswith(".ipynb") else ""
        parts.append(f"{one.file}: {cell}line {one.line}: {one.one.id} ({one.one.severity})\n  {one.one.message}")
        parts[-1] += "".join(f"\n  {line}" for line in _evidence(one.one))
        if one.one.fix.text:
            parts[-1] += f"\n  fix: {one.one.fix.text}"
    return "\n".join([*parts, counted(len(found), "sharp bit")])


_MOST_EVIDENCE, _WIDEST = 3, 150


def _evidence(one: Diagnostic) -> list[str]:
    """What shows that it is so, where the message does not say it: the first lines and the last."""
    lines = [cut(line.rstrip(","), _WIDEST) for line in one.evidence if line not in one.message]
    return [*lines[: _MOST_EVIDENCE - 1], *lines[-1:]] if len(lines) > _MOST_EVIDENCE else lines


_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def _sarif(found: list[Found]) -> dict[str, Any]:
    """SARIF 2.1.0 (OASIS): columns count from 1; what is in a notebook's cell has no line of the file."""
    rules = sorted({one.one.id for one in found})
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "jitscope", "rules": [_rule(id) for id in rules]}},
                "results": [_result(one, rules) for one in found],
            }
        ],
    }


def _rule(id: str) -> dict[str, Any]:
    return {"id": id, "shortDescription": {"text": CATALOGUE[id].title}}


def _result(found: Found, rules: list[str]) -> dict[str, Any]:
    one = found.one
    region = {
        "startLine": found.line,
        "startColumn": one.span.column + 1,
        "endLine": found.end_line,
        "endColumn": one.span.end_column + 1,
    }
    physical: dict[str, Any] = {"artifactLocation": {"uri": quote(Path(found.file).as_posix())}}
    where: dict[str, Any] = {"physicalLocation": physical}
    text = f"{one.message} {one.fix.text}".strip()
    if found.file.endswith(".ipynb"):
        cell = f"cell {found.cell}, line {found.line}"
        where["logicalLocations"] = [{"fullyQualifiedName": cell}]
        text = f"{cell}: {text}"
    else:
        physical["region"] = region
    return {
        "ruleId": one.id,
        "ruleIndex": rules.index(one.id),
        "level": _LEVELS[one.severity],
        "message": {"text": text},
        "locations": [where],
    }
