"""A whole program run plain and edited, each in a process of its own, with nothing compiled before: the last word on an edit."""

from __future__ import annotations

import ast
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .answers import CannotCompile
from .clock import Seconds, computed, total, work
from .differences import Differences, joined
from .naming import root_of
from .proving import compared, floor_of, largest


_MODULES = frozenset(
    "numpy math cmath random scipy jitscope itertools functools collections typing dataclasses time warnings operator string re abc "
    "enum copy statistics fractions decimal heapq bisect __future__ jax optax".split()
)
_EFFECTS = frozenset(
    "open input exec eval system remove unlink mkdir makedirs rename save savez savez_compressed savetxt tofile memmap savefig "
    "write_text write_bytes Popen run urlopen exit quit sleep dump __import__ get_ipython load loadtxt genfromtxt fromfile".split()
)
LONGEST = 40.0
"""Seconds of the plain program beyond which fewer runs are made, and the rest is reckoned."""

_HARNESS = """
import collections, contextlib, io, json, pickle, random, sys, time, types
import numpy as np
import jitscope, jitscope.numpy
cells, runs, out = json.load(open(sys.argv[1])), json.loads(sys.argv[2]), sys.argv[3]
main = types.ModuleType("__main__"); sys.modules["__main__"] = main
names = main.__dict__; names["__name__"] = "__main__"
said, times = io.StringIO(), []
clocks = time.perf_counter, time.process_time, time.thread_time
def counting(name, of, unit):
    # A clock that is the same in both programs: the cells' own calls count, all others see the time.
    def clock():
        if sys._getframe(1).f_globals is not names:
            return of()
        ticks[0] += 1
        return unit * ticks[0]
    setattr(time, name, clock)
ticks = [0]
for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time"):
    counting(name, getattr(time, name), 1e-3)
    counting(name + "_ns", getattr(time, name + "_ns"), 1000000)
random.seed(0); np.random.seed(0)
with contextlib.redirect_stdout(said):
    for k, (source, count) in enumerate(zip(cells, runs)):
        code = compile(source, f"<cell {k + 1}>", "exec")
        for _ in range(count):
            began = [clock() for clock in clocks]
            exec(code, names)
            times.append((k, *[clock() - start for clock, start in zip(clocks, began)]))
from jitscope_scope.regions.homes import attributes_of
def plain(v, depth=0):
    if isinstance(v, (np.ndarray, np.generic, int, float, complex, str, bytes, type(None))):
        return v
    if type(v) in (list, tuple) and depth < 4:
        return type(v)(plain(x, depth + 1) for x in v)
    if type(v) is dict and depth < 4 and all(isinstance(k, (str, int)) for k in v):
        return {k: plain(x, depth + 1) for k, x in v.items()}
    if isinstance(v, jitscope.Array) or (type(v).__module__.startswith("jax") and hasattr(v, "dtype")):
        of = "jax" if type(v).__module__.startswith("jax") else "jitscope"
        data = sys.modules[of].random.key_data(v) if str(v.dtype).startswith("key<") else v
        return ("array of " + of + " " + str(v.dtype), np.asarray(data))
    if isinstance(v, (set, frozenset)):
        return (type(v).__name__, sorted(map(repr, v)))
    if isinstance(v, (collections.deque, list, tuple)) and depth < 4:
        return (type(v).__name__, [plain(x, depth + 1) for x in v])
    if isinstance(v, dict) and depth < 4:
        return (type(v).__name__, [(repr(k), plain(x, depth + 1)) for k, x in v.items()])
    if isinstance(v, np.random.Generator):
        return (type(v).__name__, repr(v.bit_generator.state))
    if not isinstance(v, (type, types.ModuleType, types.FunctionType)) and depth < 2 and (inside := attributes_of(v)):
        return ("object", type(v).__name__, {k: plain(x, depth + 1) for k, x in inside.items()})
    return ("other", type(v).__name__)
def kept(v):
    v = plain(v)
    try:
        pickle.dumps(v)
    except Exception:
        return ("other", type(v).__name__)
    return v
state = {n: kept(v) for n, v in names.items() if not n.startswith(("__", "region_"))}
whole = pickle.dumps({"names": state, "said": said.getvalue(), "times": times, "numpy": plain(np.random.get_state()),
                      "python": random.getstate()})
with open(out, "wb") as f:
    f.write(whole)
"""


@dataclass(frozen=True)
class Replay:
    """Both programs, whole: seconds of all runs of each cell (runs beyond those made are reckoned from these), and the differences."""

    plain_s: list[float]
    edited_s: list[float]
    same: Differences


def harmless(sources: list[str]) -> bool:
    """Whether the cells may be run again: nothing in them reads or writes files, asks the system, or comes from other libraries."""
    nodes = [n for source in sources for n in ast.walk(ast.parse(source))]
    own = {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    imported = [n for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom))]
    known = {a.asname or a.name.partition(".")[0] for n in imported for a in n.names}
    for n in imported:
        names = [n.module or ""] if isinstance(n, ast.ImportFrom) else [a.name for a in n.names]
        if any(name.partition(".")[0] not in _MODULES for name in names):
            return False
    for f in (n.func for n in nodes if isinstance(n, ast.Call)):
        name = f.attr if isinstance(f, ast.Attribute) else getattr(f, "id", "")
        of_cells = name in own and not (isinstance(f, ast.Attribute) and root_of(f) in known)
        if name in _EFFECTS and not of_cells:
            return False
    return True


def replay(
    plain: list[str],
    edited: list[str],
    runs: list[int],
    cell_seconds: list[float],
    line: int,
    allowed: float,
    noise: Mapping[str, float],
) -> Replay:
    """Runs both. `noise` is what rounding makes of names, where that is known. Raises CannotCompile where the edited program fails, says something else or ends with other values."""
    ran = _affordable(runs, cell_seconds)
    with tempfile.TemporaryDirectory() as folder:
        first = _run(plain, ran, Path(folder), "plain")
        second = _run(edited, ran, Path(folder), "edited")
    if first is None or second is None:
        raise CannotCompile(line, "exception", "the edited program does not run to its end")
    if first["said"] != second["said"]:
        raise CannotCompile(line, "input or output", "the edited program prints something else")
    if pickle.dumps(first["python"]) != pickle.dumps(second["python"]):
        raise CannotCompile(line, "random", "the edited program leaves Python's random generator elsewhere")
    a, b = first["names"], second["names"]
    assert isinstance(a, dict) and isinstance(b, dict)
    pairs = [*((n, a[n], b.get(n)) for n in a), ("NumPy's random state", first["numpy"], second["numpy"])]
    floor = largest(a)
    same = joined([compared(x, y, n, line, allowed, floor_of(n, floor, noise)) for n, x, y in pairs])
    return Replay(_totals(first["times"], runs, ran), _totals(second["times"], runs, ran), same)


def _affordable(runs: list[int], seconds: list[float]) -> list[int]:
    total = sum(r * s for r, s in zip(runs, seconds, strict=True))
    if total <= LONGEST:
        return list(runs)
    return [min(r, max(3, int(r * LONGEST / total))) for r in runs]


def _totals(times: object, runs: list[int], ran: list[int]) -> list[float]:
    assert isinstance(times, list)
    totals = []
    for k, count in enumerate(ran):
        spent = [Seconds(*clocks) for c, *clocks in times if c == k]
        later = spent[1:] or spent
        usual = min(sorted(one.wall for one in spent)[count // 2], computed(total(later)) / len(later))
        totals.append(work(total(spent)) + (runs[k] - count) * usual)
    return totals


def _run(cells: list[str], runs: list[int], folder: Path, name: str) -> dict[str, object] | None:
    program, source, out = folder / f"{name}.py", folder / f"{name}.json", folder / f"{name}.pickle"
    program.write_text(_HARNESS, encoding="utf-8")
    source.write_text(json.dumps(cells), encoding="utf-8")
    environment = {
        **os.environ,
        "JITSCOPE_COMPILATION_CACHE": "0",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    subprocess.run(
        [sys.executable, str(program), str(source), json.dumps(runs), str(out)],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=600,
        check=False,
    )
    return pickle.loads(out.read_bytes()) if out.exists() else None
