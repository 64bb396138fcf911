"""The process that compiles and times, from the side of the one that asks. Where it ends by itself, what it had is begun anew without the
form that ended it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jitscope
from jitscope.backend.disk.programs import needs_lapack
from jitscope.xla.choice import PLAIN, Choice

from ..targets.helper import CompilerLost, Helper
from .same import Same
from .subjects import Subject
from .worker import PLAIN as PLAIN_NAME


Pairs = list[tuple[float, float]]
Waiting = Callable[[float], None]


class Form(NamedTuple):
    """A program compiled in one way: how far its results are from the plain one's, its first times in pairs with that, the bytes that a run
    needs, the seconds it took to compile."""

    same: Same
    pairs: Pairs
    memory: int
    seconds: float


class Lost(Exception):
    """The process ended while it compiled or ran a form, or took longer than there was time."""

    def __init__(self, why: str, late: bool):
        super().__init__(why)
        self.late = late


class Workshop:
    """Compiles forms of a program and runs them in pairs; a context manager, whose process ends with it."""

    def __init__(self, subject: Subject, tolerance: float | None, waiting: Waiting | None = None):
        self._subject, self._tolerance, self._waiting = subject, tolerance, waiting
        self._temporary = tempfile.TemporaryDirectory(prefix="jitscope-tune-", ignore_cleanup_errors=True)
        self._folder = Path(self._temporary.name)
        self._helper = Helper((sys.executable, "-P", "-c", _MAIN), _environment())
        self._known: list[str] = []
        self._arguments: list[tuple[str, list[int], str]] = []
        self._begun = False
        self._numbers: dict[str, int] = {}

    def __enter__(self) -> Workshop:
        for number, array in enumerate(self._subject.arguments()):
            file = f"argument{number}"
            np_array = array if array.flags.c_contiguous else array.copy(order="C")
            np_array.tofile(self._folder / file)
            self._arguments.append((file, list(array.shape), array.dtype.name))
        return self

    def __exit__(self, *_: object) -> None:
        self._helper.stop()
        self._temporary.cleanup()

    def compile(self, name: str, choice: Choice, limit: float) -> Form:
        """Compile a form and run it a few times. Raises Lost, ValueError with XLA's words for one that it refuses."""
        self._begin(limit)
        number = self._numbers.setdefault(name, len(self._numbers))
        names = {what: f"form{number}.{what}" for what in ("module", "options", "code")}
        (self._folder / names["module"]).write_bytes(self._subject.module(choice))
        (self._folder / names["options"]).write_bytes(self._subject.options(choice))
        found = self._ask({"do": "compile", "name": name, **names}, limit)
        self._known.append(name)
        pairs = [tuple(pair) for pair in found["pairs"]]
        return Form(Same(*found["same"]), pairs, int(found["memory"]), float(found["seconds"]))

    def race(
        self, names: Sequence[str], seconds: float, repeats: int, least: int, most: int, limit: float
    ) -> dict[str, Pairs]:
        """Run forms in pairs with the plain one for some seconds: the seconds of both, pair by pair. Raises Lost."""
        self._begin(limit)
        request = {
            "do": "race",
            "names": list(names),
            "seconds": seconds,
            "repeats": repeats,
            "least": least,
            "most": most,
        }
        found = self._ask(request, limit)
        return {name: [(a, b) for a, b in pairs] for name, pairs in found["pairs"].items()}

    def code(self, name: str) -> bytes:
        """The machine code of a form."""
        return (self._folder / f"form{self._numbers[name]}.code").read_bytes()

    def let_go(self, name: str) -> None:
        """Forget a form that is out of the race."""
        self._known = [one for one in self._known if one != name]

    def _begin(self, limit: float) -> None:
        if self._begun and self._helper.running:
            return
        subject = self._subject
        request = {
            "do": "begin",
            "folder": str(self._folder),
            "arguments": self._arguments,
            "outputs": [[list(shape), dtype] for shape, dtype in subject.outputs],
            "donated": list(subject.donated),
            "lapack": needs_lapack(subject.module(PLAIN)),
            "tolerance": self._tolerance,
        }
        self._begun = True
        self._ask(request, limit + _START)
        for name in self._known:
            self._ask({"do": "load", "name": name, "code": f"form{self._numbers[name]}.code"}, limit + _START)

    def _ask(self, request: dict[str, Any], limit: float) -> dict[str, Any]:
        try:
            return self._helper.ask(request, max(limit, 0.5), self._waiting)
        except CompilerLost as lost:
            raise Lost("it took longer than there was time" if lost.late else str(lost), lost.late) from None


_START = 60.0
"""Seconds that the process may take to be there, beside the rest."""
_MAIN = "from jitscope_scope.tune.worker import main; main()"


def _environment() -> dict[str, str]:
    """The process finds the same packages, sees the same processors and flags, and keeps nothing on disk."""
    folders = [str(Path(module.__file__ or "").resolve().parents[1]) for module in (jitscope, sys.modules[_SCOPE])]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(dict.fromkeys([*folders, *filter(None, sys.path)])),
        "JITSCOPE_COMPILATION_CACHE": "0",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


_SCOPE = __name__.partition(".")[0]
__all__ = ["PLAIN_NAME", "Form", "Lost", "Pairs", "Workshop"]
