"""Running a notebook's cells for `jitscope check`, each under a file name of its own, so that what is found can be placed."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from IPython.core.compilerop import CachingCompiler
from IPython.core.interactiveshell import InteractiveShell

from jitscope_scope import jaxwatch
from jitscope_scope.advise import Diagnostic
from jitscope_scope.advise.program import Program
from jitscope_scope.advise.run.accused_functions import FunctionFollower
from jitscope_scope.advise.watch import Watch
from jitscope_scope.source_code.edits import Span

from .checking_answers import ProgramEnd, SkippedFile
from .checking_files import Ran, error_text, line_in
from .own_modules import beside
from .own_options import options_of_its_own


_runs = itertools.count(1)


class _Compiler(CachingCompiler):
    """Names the code of each cell by the run and the cell's number: what is known of another notebook's cells is not of these."""

    def __init__(self) -> None:
        super().__init__()
        self.number, self._of_run = 0, f" of run {next(_runs)}>"

    def name(self, number: int) -> str:
        return f"<cell {number}{self._of_run}"

    def number_of(self, file: str) -> int | None:
        """The cell that has this name; None for another file."""
        return int(file[6 : -len(self._of_run)]) if file.endswith(self._of_run) else None

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        return self.name(self.number)


def run_cells(program: Program, looked: Sequence[Diagnostic] = ()) -> Ran:
    """What a run of the cells shows, up to the first that fails and was not meant to; lines are those of the program's text."""
    with _shell_of_its_own() as (shell, names):
        return _run_in(shell, names, program, looked)


@contextlib.contextmanager
def _shell_of_its_own() -> Iterator[tuple[InteractiveShell, _Compiler]]:
    """The shell that a notebook runs in; what it loads there is let go of at its end."""
    shell, names = InteractiveShell.instance(compiler_class=_Compiler), _Compiler()
    shell.reset()
    shell.compile = names
    try:
        yield shell, names
    finally:
        if (manager := shell.extension_manager) is not None:
            for extension in list(manager.loaded):
                manager.unload_extension(extension)
        shell.restore_sys_module_state()  # its module has been `__main__`
        InteractiveShell.clear_instance()


def _run_in(shell: InteractiveShell, names: _Compiler, program: Program, looked: Sequence[Diagnostic]) -> Ran:
    ended: ProgramEnd | None = None
    followed = FunctionFollower(looked, program.text, lambda line: _place_of(line, program, names))
    with Watch(values=True) as watch, contextlib.redirect_stdout(sys.stderr), contextlib.ExitStack() as stack:
        stack.callback(jaxwatch.detach)
        imported = stack.enter_context(options_of_its_own())
        stack.enter_context(followed)
        stack.enter_context(_in_its_folder(program.file))
        for names.number, source in enumerate(program.magic):
            result = shell.run_cell(source, store_history=True)
            error = result.error_before_exec or result.error_in_exec
            if error is not None:
                watch.failed(error)
                if names.number not in program.raising:
                    line = line_in(error, names.name(names.number))
                    ended = ProgramEnd(program.file, names.number + 1, line, error_text(error))
                    break
            if jaxwatch.there():
                watch.look_at_jax()
                imported()
        every = watch.found()
    numbers = {one.file: names.number_of(one.file) for one in every}
    found = [_in_program(one, program, cell) for one in every if (cell := numbers[one.file]) is not None]
    refuted = [one for one in looked if followed.refutes(one, ended is None)]
    others = beside([one for one in every if numbers[one.file] is None], program.file)
    return Ran(found, others, refuted, ended, _after(ended, program))


@contextlib.contextmanager
def _in_its_folder(file: str) -> Iterator[None]:
    """Where kernels run: modules and data that lie beside a notebook are found."""
    before, path, folder = os.getcwd(), list(sys.path), os.path.dirname(os.path.abspath(file))
    sys.path.insert(0, folder)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
        sys.path[:] = path


def _place_of(line: int, program: Program, names: _Compiler) -> tuple[str, int]:
    """The name that a line's code has, and the line in it."""
    cell, own = program.place(line)
    return names.name((cell or 0) - 1), own


def _in_program(one: Diagnostic, program: Program, cell: int) -> Diagnostic:
    first = program.cells[cell].first - 1
    span = Span(one.span.line + first, one.span.column, one.span.end_line + first, one.span.end_column)
    return replace(one, file=program.file, span=span)


def _after(ended: ProgramEnd | None, program: Program) -> tuple[SkippedFile, ...]:
    """The cells behind the one that failed."""
    if ended is None or ended.cell is None:
        return ()
    reason = f"not run: cell {ended.cell} ended with {ended.error}"
    behind = range(ended.cell + 1, len(program.magic) + 1)
    return tuple(SkippedFile(program.file, cell, reason) for cell in behind if program.magic[cell - 1].strip())
