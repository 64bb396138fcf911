"""Measures jitscope against jax, side by side: `python benchmarks/run.py --peer PYTHON_WITH_JAX`.

One process for each library; they take turns in short bursts, so that whatever else the machine does hits both. A figure
is the median of paired ratios (ours / theirs) with its 95 % bootstrap interval. docs/benchmarks.md tells more.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import table
from measures import EAGER_OPERATIONS, EAGER_STRUCTURE
from programs import PROGRAMS, REPEATED, STAGED
from ratios import Pairs
from whole_programs import RECORDED_ONCE, WHOLE
from worker import IMPORTS


HERE = Path(__file__).resolve().parent
LIBRARIES = ("jitscope", "jax")
PEERS = ("jax", "autograd")
"""Those that the other Python has."""

# What may cost how much, in the order of the table: the budgets are those of the design.
IMPORTED = (
    ("against numpy, ml_dtypes, jaxlib alone", "jitscope", "floor", 1.3),
    ("against jax", "jitscope", "jax", None),
    ("numpy, ml_dtypes, jaxlib against jax", "floor", "jax", None),
)
CALLS = {
    "1 array": 1.0, "2 arrays": 1.0, "21-leaf dict": 1.0, "21-leaf dict to one array": 1.0, "keywords": 1.15,
    "static arguments": 1.15, "array and number": None, "NumPy array": 1.0, "XLA's part of 1 array": None,
}  # fmt: skip
EAGER = dict.fromkeys(EAGER_OPERATIONS, 0.9) | dict.fromkeys(EAGER_STRUCTURE, 0.35)
GRADIENTS = dict.fromkeys(("small function", "3-layer MLP", "jitted function"), 0.25)
MAPPED = dict.fromkeys(("small function", "one of two arguments", "of a gradient"), 0.25)
TRACE_AND_LOWER = 0.3
FIRST_CALL, FIRST_CALLS, FIRST_CALL_OF_BLOCKS = 1.05, 0.9, 0.5
FROM_DISK = {"both from disk": 0.6, "jax compiles": 0.25}
STEADY, STEADY_MEAN = 1.05, 0.95
LEDGER = {"call": 1.02, "trace": 1.05}

ONCE = tuple(name for name in PROGRAMS if name not in REPEATED)


class Plan(NamedTuple):
    """How thoroughly. `rounds` of bursts that last `seconds`, `best` bursts of which the quickest counts; `processes`:
    rounds of fresh processes, `few` of them for programs with equal blocks; `generations` of workers for steady runs; the
    programs."""

    rounds: int = 30
    seconds: float = 0.005
    best: int = 4
    processes: int = 11
    few: int = 5
    compilations: int = 9
    generations: int = 3
    first_calls: tuple[str, ...] = ONCE
    repeated: tuple[str, ...] = REPEATED
    staged: tuple[str, ...] = STAGED
    steady: tuple[str, ...] = tuple(PROGRAMS)
    whole: tuple[str, ...] = tuple(WHOLE)


QUICK = Plan(7, 0.002, 3, 3, 1, 2, 1, ("selu",), (), ("mlp",), STAGED, ("quadratic", "rnn"))


Settings = dict[str, str]
Sides = tuple[tuple[str, str], tuple[str, str]]


class Failure(Exception):
    """A measure could not be taken; the message says why."""


# Processes ------------------------------------------------------------------------------------------------------------


class Worker:
    """A process that measures one library when asked."""

    def __init__(self, python: str, library: str, clock: str):
        self.library, self.died = library, False
        command = [python, str(HERE / "worker.py"), "serve", library, clock]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment(), cwd=HERE)

    def ask(self, **command: Any) -> Any:
        """The answer to a command of worker.py. Raises Failure."""
        assert self._process.stdin and self._process.stdout
        try:
            self._process.stdin.write(json.dumps(command) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        self.died = not line
        reply = json.loads(line or '{"error": "the process died"}')
        if "error" in reply:
            raise Failure(f"{self.library}: {reply['error']}")
        return reply["ok"]

    def close(self) -> None:
        assert self._process.stdin
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


def environment(more: Settings | None = None) -> dict[str, str]:
    """As outside, but without what configures the two libraries, or keeps Python from writing its caches; and `more`.
    Nothing is found on disk unless that says so."""
    dropped = ("JAX_", "JITSCOPE_", "XLA_", "TF_", "PYTHONDONTWRITEBYTECODE")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    return {**kept, "JITSCOPE_COMPILATION_CACHE": "0", **(more or {})}


def import_statement(library: str) -> str:
    """A program that prints the CPU time of imports, and imports nothing else before."""
    names = ", ".join(IMPORTS[library])
    return f"import time; start = time.process_time(); import {names}; print(time.process_time() - start)"


def output_of(command: list[str], more: Settings | None = None) -> float:
    """The number that a process prints. Raises Failure with the last line of what it complained about."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment(more), cwd=HERE)
    except OSError as error:
        raise Failure(str(error)) from None
    if done.returncode:
        raise Failure((done.stderr.strip().splitlines() or ["it died"])[-1])
    return float(done.stdout.strip().splitlines()[-1])


def pairs_of_processes(
    ours: list[str],
    theirs: list[str],
    rounds: int,
    more: tuple[Settings, Settings] = ({}, {}),
    before: Callable[[], None] = lambda: None,
) -> Pairs:
    """Pairs from fresh processes, each of which does one thing and prints how long it took. `more` are variables for each
    of the two, `before()` is called before each process."""
    pairs: Pairs = ([], [])
    for i in range(rounds):
        for which in (0, 1) if i % 2 else (1, 0):
            before()
            pairs[which].append(output_of((ours, theirs)[which], more[which]))
    return pairs


# Measuring ------------------------------------------------------------------------------------------------------------


class Bench:
    """The two workers, and the rows measured so far."""

    def __init__(self, peer: str, plan: Plan, only: str, clock: str):
        self.peer, self.plan, self.only, self.clock = peer, plan, only, clock
        self.rows: list[table.Row] = []
        self.failures: list[tuple[str, str]] = []
        self._workers: dict[str, Worker] = {}

    def python(self, library: str) -> str:
        return self.peer if library in PEERS else sys.executable

    def worker(self, library: str) -> Worker:
        worker = self._workers.get(library)
        if worker is None or worker.died:
            worker = self._workers[library] = Worker(self.python(library), library, self.clock)
        return worker

    def renew(self) -> None:
        """End the workers; new ones start when asked for."""
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()

    def versions(self) -> str:
        found: dict[str, str] = {}
        for library in LIBRARIES:
            found |= self.worker(library).ask(versions="")
        return ", ".join(f"{name} {version}" for name, version in found.items() if version)

    @contextmanager
    def line(self, group: str, what: str) -> Iterator[None]:
        """A failure inside the block costs this line only."""
        try:
            yield
        except Failure as error:
            self.failures.append((f"{group}: {what}", str(error)))
            print(table.failure(group, what, error), flush=True)

    def wanted(self, group: str, what: str) -> bool:
        return re.search(self.only, f"{group}: {what}") is not None

    def add(self, *fields: Any, **more: Any) -> None:
        self.rows.append(table.Row(*fields, **more))
        print(table.line(self.rows[-1]), flush=True)

    def bursts(
        self, name: str, seconds: float, best: int, rounds: int, generations: int = 1, sides: Sides | None = None
    ) -> dict[str, Pairs]:
        """Pairs of a measure, by figure. In each round the workers take turns `best` times with a burst of `seconds`, and
        the quickest of each counts. `generations`: fresh processes so many times, since where a process has its memory
        can matter. `sides`: library and measure of both, where they are not the two libraries with one measure."""
        sides = sides or tuple((library, name) for library in LIBRARIES)
        found: dict[str, Pairs] = {}
        for generation in range(generations):
            if generation:
                self.renew()
            workers = [self.worker(library) for library, _ in sides]
            counts = [w.ask(calibrate=measure, seconds=seconds) for w, (_, measure) in zip(workers, sides)]
            for i in range(-(-rounds // generations)):
                rows: tuple[list[dict], list[dict]] = ([], [])
                for turn in range(best):
                    for which in (0, 1) if (i + turn) % 2 else (1, 0):
                        rows[which].append(workers[which].ask(burst=sides[which][1], count=counts[which]))
                for figure in rows[0][0]:
                    pairs = found.setdefault(figure, ([], []))
                    for which in (0, 1):
                        pairs[which].append(min(row[figure] for row in rows[which]))
            for worker, (_, measure) in zip(workers, sides):
                worker.ask(forget=measure)
        return found

    # The groups, in the order of the table

    def imports(self) -> None:
        for what, ours, theirs, budget in IMPORTED:
            if self.wanted("import", what):
                with self.line("import", what):
                    commands = [[self.python(library), "-c", import_statement(library)] for library in (ours, theirs)]
                    pairs_of_processes(*commands, rounds=1)  # writes the .pyc files
                    self.add("import", what, [pairs_of_processes(*commands, self.plan.processes)], budget)

    def stages(self) -> None:
        for name in self.plan.staged:
            title, rounds = PROGRAMS[name].title, max(5, self.plan.rounds // 2)
            if self.wanted("trace + lower", title):
                with self.line("trace + lower", title):
                    found = self.bursts(f"stages:{name}", 0.05, 2, rounds)
                    self.add("trace", title, [found["trace"]])
                    self.add("lower", title, [found["lower"]])
                    self.add("trace + lower", title, [found["both"]], TRACE_AND_LOWER)
            if self.wanted("compile", title):
                with self.line("compile", title):
                    found = self.bursts(f"compile:{name}", 0.0, 1, self.plan.compilations)
                    self.add("compile", title, [found[""]])

    def first_calls(self) -> None:
        """Nothing is on disk, and ours is on its way there, as it always is."""
        series = []
        with tempfile.TemporaryDirectory() as folder:
            ours = {"JITSCOPE_COMPILATION_CACHE": "1", "JITSCOPE_COMPILATION_CACHE_DIR": f"{folder}/ours"}
            empty = partial(shutil.rmtree, f"{folder}/ours", ignore_errors=True)
            for name in (*self.plan.first_calls, *self.plan.repeated):
                title, blocks = PROGRAMS[name].title, name in self.plan.repeated
                if self.wanted("first call", title):
                    with self.line("first call", title):
                        rounds = self.plan.few if blocks else self.plan.processes
                        pairs = pairs_of_processes(*self.first_call_commands(name), rounds, (ours, {}), empty)
                        self.add("first call", title, [pairs], FIRST_CALL_OF_BLOCKS if blocks else FIRST_CALL)
                        series += [] if blocks else [pairs]
        if len(series) > 1:
            self.add("first call", "geometric mean", series, FIRST_CALLS)

    def first_call_commands(self, name: str) -> list[list[str]]:
        worker = str(HERE / "worker.py")
        return [[self.python(library), worker, "first", library, self.clock, name] for library in LIBRARIES]

    def loaded_calls(self) -> None:
        """First calls in new processes that find their program on disk; of jax also such as have to compile it."""
        series: dict[str, list[Pairs]] = {what: [] for what in FROM_DISK}
        with tempfile.TemporaryDirectory() as folder:
            ours = {"JITSCOPE_COMPILATION_CACHE": "1", "JITSCOPE_COMPILATION_CACHE_DIR": f"{folder}/ours"}
            theirs = {
                "JAX_COMPILATION_CACHE_DIR": f"{folder}/theirs",
                "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
            }
            for name in self.plan.first_calls:
                for what, budget in FROM_DISK.items():
                    title = f"{PROGRAMS[name].title}, {what}"
                    if self.wanted("from disk", title):
                        with self.line("from disk", title):
                            commands, other = self.first_call_commands(name), {} if what == "jax compiles" else theirs
                            pairs_of_processes(*commands, 1, (ours, other))  # fills the folders
                            series[what].append(pairs_of_processes(*commands, self.plan.processes, (ours, other)))
                            self.add("from disk", title, [series[what][-1]], budget)
        for what, budget in FROM_DISK.items():
            if len(series[what]) > 1:
                self.add("from disk", f"geometric mean, {what}", series[what], budget)

    def small(self, group: str, prefix: str, budgets: dict[str, Any]) -> None:
        """A group of measures that last microseconds."""
        for what, budget in budgets.items():
            if self.wanted(group, what):
                with self.line(group, what):
                    found = self.bursts(f"{prefix}:{what}", self.plan.seconds, self.plan.best, self.plan.rounds)
                    self.add(group, what, [found[""]], budget)

    def steady(self) -> None:
        series, plan = [], self.plan
        for name in plan.steady:
            title = PROGRAMS[name].title
            if self.wanted("steady run", title):
                with self.line("steady run", title):
                    found = self.bursts(f"steady:{name}", 4 * plan.seconds, plan.best, plan.rounds, plan.generations)
                    series.append(found[""])
                    self.add("steady run", title, [found[""]], STEADY, upper=True)
        if len(series) > 1:
            self.add("steady run", "geometric mean", series, STEADY_MEAN)

    def ledger(self) -> None:
        for what, budget in LEDGER.items():
            if self.wanted("ledger", what):
                with self.line("ledger", what):
                    worker, name = self.worker("jitscope"), f"ledger:{what}"
                    count = worker.ask(calibrate=name, seconds=2 * self.plan.seconds)
                    rows = [worker.ask(burst=name, count=count) for _ in range(4 * self.plan.rounds)]
                    self.add("ledger", what, [([row["on"] for row in rows], [row["off"] for row in rows])], budget)

    def whole_programs(self) -> None:
        rounds, best = max(5, self.plan.rounds // 2), max(2, self.plan.best // 2)
        chosen = {name: WHOLE[name] for name in self.plan.whole}
        for name, program in chosen.items():
            if self.wanted("whole program", program.title):
                with self.line("whole program", program.title):
                    found = self.bursts(f"whole:{name}", 8 * self.plan.seconds, best, rounds)
                    self.add("whole program", program.title, [found[""]], program.budget)
        title = WHOLE["pln 2"].title
        if "pln 2" in chosen and self.wanted("trace + compile", title):
            with self.line("trace + compile", title):
                found = self.bursts("compile:pln 2", 0.0, 1, self.plan.compilations)
                self.add("trace + compile", title, [found[""]])
        for name, program in chosen.items():
            if program.before:
                library, _, least = program.before
                self.before(f"times {library}", program.title, name, library, f"before:{name}", least)
        for name in filter(chosen.__contains__, RECORDED_ONCE):
            title = f"{WHOLE[name].title}, recorded once"
            self.before("times autograd", title, name, "autograd", f"before:{name}, recorded once", None)

    def before(self, group: str, title: str, name: str, library: str, measure: str, least: float | None) -> None:
        """How many times longer the same takes with a library of before."""
        if self.wanted(group, title):
            with self.line(group, title):
                sides = ((library, measure), ("jitscope", f"whole:{name}"))
                found = self.bursts("", 4 * self.plan.seconds, 1, max(3, self.plan.rounds // 6), sides=sides)
                self.add(group, title, [found[""]], least, least=True)

    def everything(self) -> None:
        self.imports()
        self.stages()
        self.first_calls()
        self.loaded_calls()
        self.small("call", "call", CALLS)
        self.small("eager", "eager", EAGER)
        self.small("eager grad", "grad", GRADIENTS)
        self.small("eager vmap", "vmap", MAPPED)
        self.steady()
        self.whole_programs()
        self.ledger()


def arguments() -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--peer", required=True, help="a Python that has jax")
    add("--quick", action="store_true", help="less than a minute: fewer programs, wider intervals")
    add("--only", metavar="PATTERN", default="", help="only lines that it is found in, e.g. '^call' or 'eager: jnp'")
    add("--clock", choices=("wall", "cpu", "core"), default="wall",
        help="for a busy machine: cpu, CPU time, but for programs that XLA runs on several threads; core, on one core CPU time "
             "of everything")  # fmt: skip
    add("--rounds", type=int, help="how many pairs of bursts")
    add("--json", type=Path, default=HERE.parent / "build" / "benchmarks.json", help="where all samples go")
    add("--document", type=Path, help="a Markdown file whose table is to be replaced")
    return parser, parser.parse_args()


def main() -> None:
    parser, options = arguments()
    plan = QUICK if options.quick else Plan()
    if options.rounds:
        plan = plan._replace(rounds=options.rounds)
    bench = Bench(os.path.abspath(options.peer), plan, options.only, options.clock)
    for library in LIBRARIES:
        try:
            output_of([bench.python(library), "-c", import_statement(library)])
        except Failure as error:
            parser.error(f"{bench.python(library)} cannot import {library}: {error}")
    began = time.perf_counter()
    try:
        clock = {"wall": "", "cpu": "; CPU time", "core": "; CPU time on one core"}[options.clock]
        description = f"{table.machine()}; {bench.versions()}{clock}"
        bench.everything()
    finally:
        bench.renew()
    if not bench.rows and not bench.failures:
        parser.error(f"no line holds {options.only!r}")
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(table.as_json(bench.rows, bench.failures, description), indent=1) + "\n")
    if options.document:
        table.write_into(options.document, bench.rows, description)
    verdicts = [row.met for row in bench.rows if row.met]
    print(f"\n{verdicts.count('yes')} of {len(verdicts)} budgets met, {verdicts.count('unclear')} unclear, "
          f"{len(bench.failures)} lines failed; {time.perf_counter() - began:.0f} s")  # fmt: skip
    print(f"{description}\nsamples: {os.path.relpath(options.json)}")


if __name__ == "__main__":
    main()
