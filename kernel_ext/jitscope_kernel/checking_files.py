"""Running a file for `jitscope check` as Python would, and telling what it ended with."""

from __future__ import annotations
import __future__

import ast
import builtins
import contextlib
import functools
import operator
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from jitscope_scope import jaxwatch
from jitscope_scope.advise import Diagnostic
from jitscope_scope.advise.program import Program
from jitscope_scope.advise.run.accused_functions import FunctionFollower
from jitscope_scope.advise.watch import Watch

from .checking_answers import ProgramEnd, SkippedFile
from .own_modules import beside, root_of_package
from .own_options import options_of_its_own


class Ran(NamedTuple):
    """What a run showed of the program, and of the modules that lie beside it; which alarms of a look's it refutes; what it ended with
    unless it came to its end, and the cells that were not run."""

    found: list[Diagnostic]
    beside: list[Diagnostic]
    refuted: list[Diagnostic]
    ended: ProgramEnd | None = None
    skipped: tuple[SkippedFile, ...] = ()


def run_file(program: Program, own: Sequence[str], looked: Sequence[Diagnostic] = ()) -> Ran:
    """Run a file as Python would (`python -m` for one of a package), what it prints going to the standard error."""
    path = os.path.abspath(program.file)
    module = types.ModuleType("__main__")
    folder, package = root_of_package(path)
    module.__dict__.update(__file__=path, __builtins__=builtins, __package__=package or None)
    before, arguments, place = sys.modules["__main__"], sys.argv, list(sys.path)
    sys.modules["__main__"], sys.argv, sys.path[:0] = module, [program.file, *own], [folder]
    try:
        with Watch(values=True) as watch, contextlib.redirect_stdout(sys.stderr), options_of_its_own() as imported:
            followed = FunctionFollower(looked, program.text, lambda line: (path, line))
            with followed:
                error = _run_code(program.text, path, module.__dict__, watch, imported)
            found = watch.found()
    finally:
        jaxwatch.detach()
        sys.modules["__main__"], sys.argv, sys.path[:] = before, arguments, place
    own_lines = [replace(one, file=program.file) for one in found if os.path.abspath(one.file) == path]
    refuted = [one for one in looked if followed.refutes(one, error is None)]
    others = beside([one for one in found if os.path.abspath(one.file) != path], program.file)
    return Ran(own_lines, others, refuted, None if error is None else _ended(program, path, error))


def _ended(program: Program, path: str, error: BaseException) -> ProgramEnd:
    line = line_in(error, path)
    return ProgramEnd(program.file, program.place(line)[0] if line else None, line, error_text(error))


def line_in(error: BaseException, file: str) -> int | None:
    """The innermost line of a file that an error passed."""
    lines = [number for frame, number in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
    return lines[-1] if lines else None


def error_text(error: BaseException) -> str:
    """`ValueError: no data`"""
    if isinstance(error, SystemExit):
        return f"sys.exit({error.code!r})"
    return ": ".join(filter(None, [type(error).__name__, (str(error).splitlines() or [""])[0]]))


def _run_code(
    text: str, path: str, scope: dict[str, Any], watch: Watch, imported: Callable[[], None]
) -> BaseException | None:
    """Run it; gives what ended it before its end."""
    try:
        for code in _statements(text, path):
            exec(code, scope)
            if jaxwatch.there():  # as soon as the program has imported jax
                watch.look_at_jax()
                imported()
    except SystemExit as ending:
        return ending if ending.code not in (None, 0) else None
    except BaseException as error:
        watch.failed(error)
        return error
    return None


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
