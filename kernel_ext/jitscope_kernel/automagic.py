"""IPython runs a line whose first word is a magic's name and no name of the user's as that magic. A line of Python that begins so, such as
`step(x)` before `step` is defined, is Python all the same where the magic is one of ours."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.prefilter import PrefilterChecker


_BEFORE_AUTOMAGIC = 690


class PythonFirst(PrefilterChecker):
    """Leaves lines of Python to Python."""

    def __init__(self, shell: InteractiveShell, names: Collection[str]) -> None:
        manager: Any = shell.prefilter_manager
        super().__init__(shell=shell, prefilter_manager=manager, config=manager.config, priority=_BEFORE_AUTOMAGIC)
        self._names, self._python = names, lambda: manager.get_handler_by_name("normal")

    def check(self, line_info: Any) -> Any:
        if line_info.esc or line_info.ifun not in self._names or not _is_python(line_info.ifun, line_info.line):
            return None
        return self._python()


def _is_python(name: str, line: str) -> bool:
    """Whether a line says something of a name in Python: not the name alone, and no options after it."""
    try:
        tree = ast.parse(line.strip())
    except (SyntaxError, ValueError):
        return False
    alone = len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Name)
    return not alone and not line.strip().removeprefix(name).lstrip().startswith("-")


def install(shell: InteractiveShell, names: Collection[str]) -> Callable[[], Any]:
    """Put Python first for lines that begin with these names; gives the function that ends it."""
    checker, manager = PythonFirst(shell, names), shell.prefilter_manager  # the checker registers itself
    return lambda: manager and manager.unregister_checker(checker)
