"""`jitscope check`: the sharp bits of programs, from a look at them and, if asked, from running them."""

from __future__ import annotations

import argparse
import contextlib
import functools
import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from jitscope_scope.advise import CATALOGUE, Diagnostic, heard, look, together
from jitscope_scope.advise.program import Program, ProgramError, read
from jitscope_scope.source_code.names import imported_by

from .checking_answers import Answer, PlacedDiagnostic, SkippedFile, document, sarif, text
from .own_modules import is_left_out


if TYPE_CHECKING:
    from .checking_files import Ran


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a .py file (`# %%%%` begins a cell), a notebook, or a folder of those"
    )
    parser.add_argument("--run", action="store_true", help="also run each file, and report what the run shows")
    parser.epilog = (
        "What follows -- are the arguments of the program that --run runs: jitscope check --run train.py -- --epochs 2"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--json", action="store_true", help='write JSON: {"diagnostics": [...], "skipped": [...], "ended": [...]}'
    )
    form.add_argument("--sarif", action="store_true", help="write SARIF 2.1.0, as code hosts read it")
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="ID", help="ignore this sharp bit (may be repeated)"
    )


def split_arguments(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments of the command, and those behind `--` of the program that it runs."""
    at = arguments.index("--") if "--" in arguments else len(arguments)
    return list(arguments[:at]), list(arguments[at + 1 :])


def main(given: argparse.Namespace, passed: Sequence[str] = ()) -> int:
    """0: nothing was found; 1: something was, a program that was run died, or a file could not be read; 2: none could be read. The
    program that is run has the arguments `passed`."""
    if refused := _refused(given, passed):
        print(f"jitscope check: {refused}", file=sys.stderr)
        return 2
    files = [file for name in given.files for file in _files(name)]
    answer = Answer.of(_answers(files, given.run, passed)).without(given.ignore)
    if given.json:
        print(json.dumps(document(answer), indent=1))
    elif given.sarif:
        print(json.dumps(sarif(answer), indent=1))
    else:
        print(text(answer))
    return answer.status


def _refused(given: argparse.Namespace, passed: Sequence[str]) -> str:
    """Why the arguments make no sense; "" where they do."""
    if passed and (not given.run or len(given.files) > 1 or given.files[0].endswith(".ipynb")):
        return "what follows -- are arguments of the program that is run: give --run and one .py file"
    if given.run and (folder := next(filter(os.path.isdir, given.files), None)):
        return f"{folder} is a folder: with --run, name the programs to be run"
    unknown = [id for id in given.ignore if id not in CATALOGUE]
    return f"there is no sharp bit {unknown[0]!r}; `jitscope explain` lists them" if unknown else ""


def _files(name: str) -> list[str]:
    """A file; or of a folder the programs and notebooks below it, without what is hidden or installed there; itself where there are none."""
    found: list[str] = []
    for folder, inner, names in os.walk(name):
        inner[:] = sorted(one for one in inner if not is_left_out(os.path.join(folder, one)))
        found += (os.path.join(folder, one) for one in sorted(names) if one.endswith((".py", ".ipynb")))
    return found or [name]


def _answers(files: Sequence[str], run: bool, passed: Sequence[str]) -> Iterator[Answer]:
    look = functools.partial(_answer_of_file, run=run, passed=passed)
    if run and len(files) > 1:
        from .checking_apart import apart

        look = functools.partial(apart, look)
    return map(look, files)


def _answer_of_file(file: str, run: bool, passed: Sequence[str]) -> Answer:
    if os.path.isdir(file):
        return Answer(skipped=(SkippedFile(file, None, "has no program and no notebook below it"),))
    try:
        with _quietly():
            program = read(file)
        return look_at(program, run, passed)
    except ProgramError as error:
        return Answer(skipped=(SkippedFile(file, None, str(error).removeprefix(f"{file} ")),))


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Without Python's own warnings of the syntax that is read: they name no file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.filterwarnings("ignore", "invalid (octal )?escape sequence", DeprecationWarning)  # up to Python 3.11
        yield


def check(program: Program, run: bool = False, arguments: Sequence[str] = ()) -> list[PlacedDiagnostic]:
    """The sharp bits of a program, in its order; with `run` also those that its run shows, with these arguments if it is a file."""
    return list(look_at(program, run, arguments).found)


def look_at(program: Program, run: bool = False, arguments: Sequence[str] = ()) -> Answer:
    """All that a look at a program tells, and with `run` its run, with these arguments if it is a file."""
    every, failed = _looked(program)
    skipped = [*failed, *(SkippedFile(program.file, cell, reason) for cell, reason in program.unread)]
    ended, others = (), ()
    if run:
        ran = _run(program, arguments, every)
        names, kept = imported_by(program.text), [one for one in every if one not in ran.refuted]
        every = heard([one.in_names(names) for one in together(kept, ran.found)], program.text)
        ended = (ran.ended,) if ran.ended is not None else ()
        others = tuple(PlacedDiagnostic(o.file, None, o.span.line, o.span.end_line, o) for o in ran.beside)
        skipped += [one for one in ran.skipped if one.cell not in {unread.cell for unread in skipped}]
    return Answer((*(_placed(one, program) for one in every), *others), tuple(skipped), ended, 1, run)


def _looked(program: Program) -> tuple[list[Diagnostic], list[SkippedFile]]:
    """What a look finds. Where it fails, that is told as a fault of ours: other files are still answered."""
    try:
        with _quietly():
            return list(look(program.text, program.file, program.cells)), []
    except Exception as error:
        reason = f"jitscope failed to look at it ({type(error).__name__}: {error}); please report that"
        return [], [SkippedFile(program.file, None, reason)]


def _run(program: Program, arguments: Sequence[str], looked: Sequence[Diagnostic]) -> Ran:
    if program.is_notebook:
        from .checking_cells import run_cells

        return run_cells(program, looked)
    from .checking_files import run_file

    return run_file(program, arguments, looked)


def _placed(one: Diagnostic, program: Program) -> PlacedDiagnostic:
    cell, line = program.place(one.span.line)
    return PlacedDiagnostic(program.file, cell, line, line + one.span.end_line - one.span.line, one)
