"""The process that compiles and times the forms of a program: whatever becomes of it, the session goes on.

It reads one request a line (JSON) from standard input and answers each with one line on a pipe of its own, whose number it is told. It ends
when its input does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from jitscope.xla import client, lapack
from jitscope.xla.plugin_worker import serve
from jitscope.xla.program import Executable
from jitscope.xla.runtime import xc

from .same import same


PLAIN = "plain"
_FIRST = 3
"""Runs in pairs right after a form is compiled: what is twice as slow in all is not raced."""


def main() -> None:
    """Answer requests until there are no more."""
    races: list[_Race] = []

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        if request["do"] == "begin":
            races[:] = [_Race(request)]
            return {}
        return races[0].answers[request["do"]](request)

    serve(answer)


class _Race:
    """A program's arguments and its forms by name, compiled."""

    def __init__(self, request: dict[str, Any]):
        self.folder, self.donated = Path(request["folder"]), set(request["donated"])
        self.outputs = [(tuple(shape), _dtype(name)) for shape, name in request["outputs"]]
        self.tolerance: float | None = request["tolerance"]
        if request["lapack"]:
            lapack.register()
        self.device = client.default_device()
        self.arguments = [self._argument(*one) for one in request["arguments"]]
        self.forms: dict[str, Executable] = {}
        self.results: list[np.ndarray] = []
        self.random = np.random.default_rng(0)
        self.answers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "compile": self.compile,
            "load": self.load,
            "race": self.race,
        }

    def _argument(self, file: str, shape: list[int], dtype: str) -> Any:
        values = np.fromfile(self.folder / file, dtype=_dtype(dtype)).reshape(shape)
        return client.put(values, self.device)

    def compile(self, request: dict[str, Any]) -> dict[str, Any]:
        """Compile a form, write its code down, run it once and say how far its results are from those of the plain one."""
        name = request["name"]
        options = xc.CompileOptions.ParseFromString((self.folder / request["options"]).read_bytes())
        module = (self.folder / request["module"]).read_bytes()
        start = time.perf_counter()
        made = Executable.compile(module, self.outputs, self.device, options)
        seconds = time.perf_counter() - start
        (self.folder / request["code"]).write_bytes(
            made.serialize()
        )  # a sort cannot be copied any more once it has run
        stats = made.memory_stats()
        memory = stats["argument"] + stats["output"] + stats["temp"] - stats["alias"]
        return {"seconds": seconds, "memory": memory, **self._first_runs(name, made)}

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        """A form that was compiled in an earlier process."""
        code = (self.folder / request["code"]).read_bytes()
        return self._first_runs(request["name"], Executable.deserialize(code, self.outputs, self.device))

    def _first_runs(self, name: str, made: Executable) -> dict[str, Any]:
        found = [np.asarray(client.to_numpy(buf)) for buf in self._run(made)[1]]
        if name == PLAIN:
            self.results = [one.copy() for one in found]
        told = same(self.results, found, self.tolerance)
        self.forms[name] = made
        plain = self.forms[PLAIN]
        pairs = [(self._run(plain)[0], self._run(made)[0]) for _ in range(_FIRST)]
        return {"same": list(told), "pairs": pairs}

    def race(self, request: dict[str, Any]) -> dict[str, Any]:
        """Run forms in pairs with the plain one for some seconds, all of them equally often: the seconds of both, pair by pair."""
        names, repeats = request["names"], request["repeats"]
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in names}
        until = time.perf_counter() + request["seconds"]
        for round in range(request["most"]):
            for at in self.random.permutation(len(names)):
                found[names[at]].append(self._pair(names[at], repeats))
            if time.perf_counter() > until and round + 1 >= request["least"]:
                break
        return {"pairs": found}

    def _pair(self, name: str, repeats: int) -> tuple[float, float]:
        both = [PLAIN, name] if self.random.integers(2) else [name, PLAIN]
        times = {one: min(self._run(self.forms[one])[0] for _ in range(repeats)) for one in both}
        return times[PLAIN], times[name]

    def _run(self, made: Executable) -> tuple[float, list[Any]]:
        """The seconds of a run, and its results. Of what the program takes over, it gets copies."""
        bufs = [client.copy_to_device(b, self.device) if i in self.donated else b for i, b in enumerate(self.arguments)]
        client.block_until_ready(bufs)
        start = time.perf_counter()
        outs = made.run(bufs)
        client.block_until_ready(outs)
        return time.perf_counter() - start, outs


def _dtype(name: str) -> np.dtype:
    return np.dtype(getattr(ml_dtypes, name, name))
