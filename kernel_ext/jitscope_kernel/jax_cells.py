"""jax in the cells of one shell: it is watched from its import on, and what it did is told in words where no view is shown."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from jitscope.core.words import counted, duration
from jitscope_scope import jaxwatch, observe
from jitscope_scope.observe import Small, dearest

from . import output


SETTINGS = ("all", "marked", "none")
_LONG = 0.5
"""Seconds of small programs from which on they are told of where nothing else was compiled."""
LEFT_ALONE = "uses jax; jitscope only watches"


class JaxCells:
    """Watches jax for one shell. `setting` says for which cells: all of them, those marked with `%%jit`, or none."""

    def __init__(self, setting: Callable[[], str]) -> None:
        self._setting = setting
        self._told = False

    @property
    def wanted(self) -> bool:
        return self._setting() != "none"

    def look(self) -> None:
        """jax may have been imported: watch it from now on. Raises nothing."""
        try:
            if not self.wanted:
                jaxwatch.detach()
            elif jaxwatch.there():
                jaxwatch.attach().mend()
                self._tell_missing()
        except Exception as error:
            output.say(f"jitscope cannot watch jax: {error!r}")

    def _tell_missing(self) -> None:
        missing = jaxwatch.capabilities()
        if missing and not self._told:
            consequences = "; ".join(dict.fromkeys(one.consequence for one in missing))
            output.say(f"jitscope does not fully support this version of jax: {consequences}.")
        self._told = True

    def close(self) -> None:
        jaxwatch.detach()


def deaf() -> str:
    """A sentence where somebody removed the watcher's listeners, which are put back before the next cell."""
    watcher = jaxwatch.current()
    if watcher is None or watcher.hears:
        return ""
    return "What jax compiled is not known: the cell removed jax's listeners (jax.monitoring.clear_event_listeners)."


_FEW_REASONS = 2


def in_words(rows: Sequence[observe.Row], small: Sequence[Small]) -> str:
    """One line on what a cell had jax compile; "" where that is nothing to speak of."""
    small = [one for one in small if one.library]
    made = [row for row in rows if row.library and not row.looked and row.what in ("compiled", "recompiled")]
    seconds = sum(one.seconds for one in small)
    if not made and seconds < _LONG:
        return ""
    compiled, loaded = ([row for row in made if row.loaded is kept] for kept in (False, True))
    parts = [_listed(compiled)] if compiled else []
    if small:
        parts.append(f"{counted(len(small), 'small program')} outside jit in {duration(seconds)}{dearest(small)}")
    said = [f"compiled {' and '.join(parts)}"] if parts else []
    if loaded:
        before = sum(row.disk.before or 0.0 for row in loaded if row.disk)
        known = f" (compiled before in at least {duration(before)})" if before else ""
        said.append(f"loaded {_listed(loaded)} from its cache on disk{known}")
    told = [f"jax {' and '.join(said)}.", *_quiet_reasons(made)]
    if made:
        told.append(f"%%jit as the cell's first line shows {'it' if len(made) == 1 else 'them'}.")
    return " ".join(told)


def _quiet_reasons(made: Sequence[observe.Row]) -> list[str]:
    """Why a function was compiled that had been before, where no card tells of it: `f: another program: …`; of few functions."""
    quiet = [row for row in made if row.against is not None]
    carded = observe.loud(quiet)
    found = list(dict.fromkeys(f"{row.title}: {row.because}." for row in quiet if row not in carded))
    return found if len(found) <= _FEW_REASONS else []


def _listed(rows: Sequence[observe.Row]) -> str:
    """`f (2 programs) and g in 0.4 s`."""
    counts = Counter(row.title for row in rows)
    names = [f"{name} ({count} programs)" if count > 1 else name for name, count in counts.items()]
    shown = f"{', '.join(names[:3])} and {len(names) - 3} more" if len(names) > 4 else " and ".join(names)
    return f"{shown} in {duration(sum(row.spent for row in rows))}"


class AfterImports(ast.NodeTransformer):
    """After each import at the top of a cell: look whether jax is there, so that what the rest of the cell does is seen."""

    def visit(self, node: Any) -> Any:
        if isinstance(node, ast.Module) and not jaxwatch.there():
            body: list[ast.stmt] = []
            for statement in node.body:
                body.append(statement)
                if (
                    isinstance(statement, (ast.Import, ast.ImportFrom))
                    and getattr(statement, "module", "") != "__future__"
                ):
                    body.append(_look_at(statement))
            node.body = body
        return node


def look_once_imported(cells: JaxCells) -> Callable[[], None]:
    """Look as soon as jax is imported, by whatever code; gives the function that ends it. Of the cell that loads the extension the syntax
    tree is compiled already."""
    finder = _Finder(cells.look)
    if not jaxwatch.there():
        sys.meta_path.insert(0, finder)
    return finder.end


class _Finder:
    """Finds jax as the other finders do, and tells when it is there."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell

    def end(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "jax":
            return None
        self.end()
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            run = loader.exec_module

            def exec_module(module: Any) -> None:
                del loader.exec_module
                run(module)
                self._tell()

            loader.exec_module = exec_module
        return spec


def _look_at(statement: ast.stmt) -> ast.stmt:
    module = __name__.rpartition(".")[2]
    (look,) = ast.parse(f"__import__({__name__!r}).{module}.jax_may_be_there()").body
    for node in ast.walk(look):
        if isinstance(node, (ast.expr, ast.stmt)):
            ast.copy_location(node, statement)
    return look


_cells: list[JaxCells] = []


def jax_may_be_there() -> None:
    """Called after imports in cells."""
    for cells in _cells:
        cells.look()


def begin(cells: JaxCells) -> Callable[[], None]:
    """Look after imports from now on; gives the function that ends it."""
    _cells.append(cells)

    def end() -> None:
        if cells in _cells:
            _cells.remove(cells)
        if not _cells:
            cells.close()

    return end
