"""Tracebacks end in the user's code: the library's own frames are taken out before IPython shows them, and so `%debug` lands
in the user's frame too."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Container, Iterator
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from jitscope.core.config import config
from jitscope.core.folding import is_bug, without_internal_frames
from jitscope.core.unfinished_traces import is_of_python, unfinished
from jitscope_scope import jaxwatch
from jitscope_scope.advise.run.bodies import carry_of, order_of


def install(shell: InteractiveShell, compiled: Container[str]) -> Callable[[], None]:
    """Show shortened tracebacks from now on; gives the function that ends it.

    `compiled` are the functions that `%%jit` compiled: errors say how to make an argument of them static.
    """
    before = shell.showtraceback
    had = "showtraceback" in vars(shell)

    def showtraceback(exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        return before(_shortened(exc_tuple, compiled), *args, **kwargs)

    def restore() -> None:
        if vars(shell).get("showtraceback") is not showtraceback:
            return  # someone else's by now
        del shell.showtraceback
        if had:
            shell.showtraceback = before

    shell.showtraceback = showtraceback
    return restore


def _shortened(exc_tuple: Any, compiled: Container[str]) -> Any:
    try:
        kind, error, traceback = exc_tuple or sys.exc_info()
        if (
            not isinstance(error, BaseException)
            or isinstance(error, (SyntaxError, UsageError))
            or is_bug(error, traceback)
            or config.traceback_filtering == "off"
        ):
            return exc_tuple
        jaxwatch.remember_direct_call(error)
        jaxwatch.remember_mistake(error)
        jaxwatch.stale_operand(error)
        _note(error, order_of(error, traceback))
        _note(error, carry_of(error, traceback))
        for one in _chain(error):
            one.__traceback__ = without_internal_frames(one.__traceback__)
        _advise(error, compiled)
        return kind, error, without_internal_frames(traceback) or traceback
    except Exception:  # showing an error must not make another
        return exc_tuple


_SCALAR = r"(?:bool|u?i\d+)\[\]"
_FLAG = re.compile(
    rf"the value is a traced {_SCALAR}: argument (\w+) of (\w+)\b|it depends on argument (\w+) of (\w+): {_SCALAR}\)"
)


def _advise(error: BaseException, compiled: Container[str]) -> None:
    """A flag or a count whose value was needed: say how the cell is to be written."""
    found = _FLAG.search(str(error))
    argument, function = filter(None, found.groups()) if found else ("", "")
    if function in compiled and "--static" not in str(error) and not _is_array(error, argument):
        _note(error, f"If {argument} is a choice made before running: %%jit --static {function}:{argument}")


def _is_array(error: BaseException, argument: str) -> bool:
    """Whether the compiled function was given an array as an argument, which cannot be static."""
    for one in unfinished(error)[-1:]:
        avals = {name: var.aval for name, var in zip(one.debug.arg_names, one.invars)}
        return argument in avals and not is_of_python(avals[argument])
    return False


def _note(error: BaseException, text: str) -> None:
    if text and text not in getattr(error, "__notes__", ()):
        error.add_note(text)


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            todo += [one.__cause__, one.__context__]
