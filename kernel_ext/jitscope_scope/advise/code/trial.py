"""Live functions with other code, as long as a trial of a rewrite lasts."""

from __future__ import annotations

import ast
import gc
import io
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import CodeType, FunctionType

from jitscope.core import records
from jitscope.core.source import Position

from ...source_code.frames import outwards
from ...source_code.tree import first_line


def holding(path: Sequence[ast.AST], where: Position) -> list[FunctionType]:
    """The live functions whose code holds the line: the one it stands in, and those around it. `path` is that of
    `source_code.places.path_at`."""
    lines = {first_line(n) for n in path if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)}
    return [
        x
        for x in gc.get_objects()
        if type(x) is FunctionType
        and x.__code__.co_filename == where.file
        and x.__code__.co_name != "<module>"
        and x.__code__.co_firstlineno in lines
        and _holds(x.__code__, where.line)
    ]


@contextmanager
def with_code_of(functions: Sequence[FunctionType], text: str, file: str) -> Iterator[bool]:
    """The functions with their code in another text of the file, in `silence`; gives whether there are any, and all of them could
    have it. Raises SyntaxError."""
    whole = compile(text, file, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    new = {(one.co_qualname, one.co_firstlineno): one for one in _codes(whole)}
    before = [(function, function.__code__) for function in functions]
    try:
        with silence():
            yield bool(before) and all(_take(function, new) for function in functions)
    finally:
        for function, old in before:
            function.__code__ = old


def runs_elsewhere(file: str) -> bool:
    """Whether other threads run code of the file now: it must stay as it is."""
    own = threading.get_ident()
    others = [frame for number, frame in sys._current_frames().items() if number != own]
    return any(one.f_code.co_filename == file for frame in others for one in outwards(frame))


def _take(function: FunctionType, new: dict[tuple[str, int], CodeType]) -> bool:
    old = function.__code__
    code = new.get((old.co_qualname, old.co_firstlineno))
    if code is None or code.co_freevars != old.co_freevars:
        return False
    function.__code__ = code
    return True


def _holds(code: CodeType, line: int) -> bool:
    own = any(start is not None and start == line for _, _, start in code.co_lines())
    return own or any(isinstance(c, CodeType) and _holds(c, line) for c in code.co_consts)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)


@contextmanager
def silence() -> Iterator[None]:
    """Nobody is told of what is traced, nothing of it is kept, and what it prints goes nowhere."""
    token = records.trying.set(True)
    try:
        with silence_of_output():
            yield
    finally:
        records.trying.reset(token)


@contextmanager
def silence_of_output() -> Iterator[None]:
    """What is printed, and warnings, go nowhere."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
