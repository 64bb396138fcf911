"""Measures jitscope against jax, side by side: `python benchmarks/run.py --peer PYTHON_WITH_JAX`.

One process for each library; they take turns in short bursts, so that whatever else the machine does hits both. A figure
is the median of paired ratios (ours / theirs) with its 95 % bootstrap interval. docs/benchmarks.md tells more.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from measures import EAGER_OPERATIONS, EAGER_STRUCTURE
from programs import PROGRAMS, STAGED
from ratios import Ratio, geometric_mean
from worker import IMPORTS


HERE = Path(__file__).resolve().parent


# What is measured, and what it may cost -------------------------------------------------------------------------------


class Row(NamedTuple):
    """A line of the table. `series`: of each program that counts in, the pairs. `upper`: the budget is for the interval's
    upper end."""

    group: str
    what: str
    series: list[tuple[list[float], list[float]]]
    budget: float | None = None
    upper: bool = False

    @property
    def ratio(self) -> Ratio:
        return geometric_mean(self.series)

    @property
    def met(self) -> str:
        """yes, no, or unclear where the interval holds the budget."""
        if self.budget is None:
            return ""
        ratio = self.ratio
        if ratio.high <= self.budget or (ratio.median <= self.budget and not self.upper):
            return "yes"
        return "unclear" if ratio.low <= self.budget else "no"


class Plan(NamedTuple):
    """How thoroughly: rounds of bursts, seconds of one burst's loop, loops of which the quickest counts; rounds of fresh
    processes and of compilations."""

    rounds: int = 30
    seconds: float = 0.005
    best: int = 4
    processes: int = 11
    compilations: int = 9
    first_calls: tuple[str, ...] = tuple(PROGRAMS)
    staged: tuple[str, ...] = STAGED
    steady: tuple[str, ...] = tuple(PROGRAMS)


IMPORTED = (
    ("against numpy, ml_dtypes, jaxlib alone", "jitscope", "floor", 1.3),
    ("against jax", "jitscope", "jax", 0.28),
    ("numpy, ml_dtypes, jaxlib against jax", "floor", "jax", None),
)
"""Rows of the table, whose import, against whose, and the budget."""

QUICK = Plan(7, 0.002, 3, 3, 2, ("selu",), ("mlp",), STAGED)


class Bench:
    """The two workers, and the rows measured so far."""

    def __init__(self, peer: str, plan: Plan, only: str | None):
        self.peer, self.plan, self.only = peer, plan, only
        self.rows: list[Row] = []
        self.missing: list[tuple[str, str]] = []
        self._workers: dict[str, Worker] = {}

    def worker(self, library: str) -> Worker:
        worker = self._workers.get(library)
        if worker is None or worker.died:
            worker = self._workers[library] = Worker(self.python(library), library)
        return worker

    def python(self, library: str) -> str:
        return self.peer if library == "jax" else sys.executable

    def close(self) -> None:
        for worker in self._workers.values():
            worker.close()

    def versions(self, library: str) -> dict[str, str]:
        try:
            return self.worker(library).ask(versions="")
        except Failure:
            return {}

    def wanted(self, group: str, what: str = "") -> bool:
        return self.only is None or self.only.lower() in f"{group}: {what}".lower()

    def add(self, row: Row) -> None:
        self.rows.append(row)
        print(line_of(row), flush=True)

    # Ways to measure

    def bursts(self, name: str, seconds: float, best: int, rounds: int) -> dict[str, tuple[list[float], list[float]]]:
        """Pairs of a measure by figure: the workers take turns, and change who is first."""
        both = [self.worker("jitscope"), self.worker("jax")]
        counts = {}
        for worker in both:
            counts[worker] = worker.ask(calibrate=name, seconds=seconds)
        found: dict[str, tuple[list[float], list[float]]] = {}
        for i in range(rounds):
            figures = {}
            for worker in both if i % 2 else both[::-1]:
                figures[worker] = worker.ask(burst=name, count=counts[worker], best=best)
            for figure, ours in figures[both[0]].items():
                pairs = found.setdefault(figure, ([], []))
                pairs[0].append(ours)
                pairs[1].append(figures[both[1]][figure])
        for worker in both:
            worker.ask(forget=name)
        return found

    def processes(self, ours: list[str], theirs: list[str], rounds: int) -> tuple[list[float], list[float]]:
        """Pairs from fresh processes, each of which does one thing and prints how long it took."""
        pairs: tuple[list[float], list[float]] = ([], [])
        for i in range(rounds):
            for which in (0, 1) if i % 2 else (1, 0):
                pairs[which].append(output_of((ours, theirs)[which]))
        return pairs

    # The groups, in the order of the table

    def imports(self) -> None:
        for what, ours, theirs, budget in IMPORTED:
            if self.wanted("import", what):
                with self.tolerant("import", what):
                    commands = [[self.python(library), "-c", import_statement(library)] for library in (ours, theirs)]
                    for command in commands:
                        output_of(command)  # writes the .pyc files
                    self.add(Row("import", what, [self.processes(*commands, self.plan.processes)], budget))

    def stages(self) -> None:
        for name in self.plan.staged:
            title = PROGRAMS[name].title
            if self.wanted("trace and lower", title):
                with self.tolerant("trace and lower", title):
                    found = self.bursts(f"stages:{name}", 0.05, 2, max(5, self.plan.rounds // 2))
                    self.add(Row("trace", title, [found["trace"]]))
                    self.add(Row("lower", title, [found["lower"]]))
                    self.add(Row("trace + lower", title, [found["both"]], 0.5))
            if self.wanted("compile", title):
                with self.tolerant("compile", title):
                    found = self.bursts(f"compile:{name}", 0.0, 1, self.plan.compilations)
                    self.add(Row("compile", title, [found[""]]))

    def first_calls(self) -> None:
        series = []
        for name in self.plan.first_calls:
            title = PROGRAMS[name].title
            if self.wanted("first call", title):
                with self.tolerant("first call", title):
                    commands = [[self.python(library), str(HERE / "worker.py"), library, name] for library in ("jitscope", "jax")]
                    series.append(self.processes(*commands, self.plan.processes))
                    self.add(Row("first call", title, [series[-1]], 1.05))
        if len(series) > 1:
            self.add(Row("first call", "geometric mean", series, 0.8))

    def micro(self, group: str, prefix: str, budgets: dict[str, float | None], titles: dict[str, str] | None = None) -> None:
        for what, budget in budgets.items():
            title = (titles or {}).get(what, what)
            if self.wanted(group, title):
                with self.tolerant(group, title):
                    found = self.bursts(f"{prefix}:{what}", self.plan.seconds, self.plan.best, self.plan.rounds)
                    self.add(Row(group, title, [found[""]], budget))

    def calls(self) -> None:
        self.micro("call", "call", {
            "1 array": 1.15, "2 arrays": 1.15, "21-leaf dict": 1.1, "21-leaf dict to one array": 1.1, "keywords": 1.5,
            "static arguments": 1.5, "array and number": None, "NumPy array": None,
            "XLA's part of 1 array": None})  # fmt: skip

    def eager(self) -> None:
        self.micro("eager", "eager", dict.fromkeys(EAGER_OPERATIONS, 0.9) | dict.fromkeys(EAGER_STRUCTURE, 0.4))
        self.micro("eager grad", "grad", dict.fromkeys(("small function", "3-layer MLP", "jitted function"), 0.25))
        self.micro("eager vmap", "vmap", dict.fromkeys(("small function", "matrix times vectors", "of a gradient"), 0.25))

    def steady(self) -> None:
        series = []
        for name in self.plan.steady:
            title = PROGRAMS[name].title
            if self.wanted("steady run", title):
                with self.tolerant("steady run", title):
                    found = self.bursts(f"steady:{name}", 4 * self.plan.seconds, self.plan.best, self.plan.rounds)
                    series.append(found[""])
                    self.add(Row("steady run", title, [found[""]], 1.05, upper=True))
        if len(series) > 1:
            self.add(Row("steady run", "geometric mean", series, 0.98))

    def ledger(self) -> None:
        for what, budget, seconds in (("call", 1.02, self.plan.seconds), ("trace", 1.05, 0.05)):
            if not self.wanted("ledger", what):
                continue
            with self.tolerant("ledger", what):
                worker, name = self.worker("jitscope"), f"ledger:{what}"
                count = worker.ask(calibrate=name, seconds=seconds)
                rows = [worker.ask(burst=name, count=count, best=self.plan.best) for _ in range(2 * self.plan.rounds)]
                self.add(Row("ledger", f"{what}, against none", [([r["on"] for r in rows], [r["off"] for r in rows])], budget))

    def tolerant(self, group: str, what: str) -> Tolerant:
        return Tolerant(self, group, what)

def import_statement(library: str) -> str:
    """A program that prints the CPU time of imports, and imports nothing else before."""
    return f"import time; start = time.process_time(); import {', '.join(IMPORTS[library])}; print(time.process_time() - start)"


def output_of(command: list[str]) -> float:
    """The number that a process prints. Raises Failure with the last line of what it complained about."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=HERE)
    if done.returncode:
        raise Failure(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "it died")
    return float(done.stdout.strip().splitlines()[-1])


class Tolerant:
    """Context manager: a measure that fails is reported in the table and the others go on."""

    def __init__(self, bench: Bench, group: str, what: str):
        self.bench, self.group, self.what = bench, group, what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, _: Any) -> bool:
        if kind is None or not issubclass(kind, Failure):
            return False
        self.bench.missing.append((f"{self.group}: {self.what}", str(error)))
        print(f"{self.group:<14} {self.what:<46} failed: {error}", flush=True)
        return True


class Failure(Exception):
    """A measure could not be taken; the message says why."""


class Worker:
    """A process that measures one library when asked."""

    def __init__(self, python: str, library: str):
        self.library, self.died = library, False
        self._process = subprocess.Popen(
            [python, str(HERE / "worker.py"), library], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment(), cwd=HERE)  # fmt: skip

    def ask(self, **command: Any) -> Any:
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


def environment() -> dict[str, str]:
    """As outside, but without what configures the two libraries, or keeps Python from writing its caches."""
    dropped = ("JAX_", "JITSCOPE_", "XLA_", "TF_", "PYTHONDONTWRITEBYTECODE")
    return {k: v for k, v in os.environ.items() if not k.startswith(dropped)}


# The table ------------------------------------------------------------------------------------------------------------


def line_of(row: Row) -> str:
    ratio = row.ratio
    budget = "" if row.budget is None else f"≤ {row.budget:<5g}"
    return f"{row.group:<14} {row.what:<46} {ratio.median:7.3f}  [{ratio.low:.3f}, {ratio.high:.3f}]".ljust(92) + (
        f"{budget:<9}{row.met}"
    )


def markdown(rows: list[Row]) -> str:
    lines = ["| | what | ratio | 95 % interval | budget | met |", "| --- | --- | ---: | --- | --- | --- |"]
    group = ""
    for row in rows:
        shown, group = ("" if row.group == group else row.group), row.group
        ratio = row.ratio
        what = f"`{row.what}`" if row.group == "eager" else row.what
        budget = "" if row.budget is None else f"≤ {row.budget:g}{' (upper end)' if row.upper else ''}"
        lines.append(f"| {shown} | {what} | {ratio.median:.2f} | {ratio.low:.2f} … {ratio.high:.2f} | {budget} | {row.met} |")
    return "\n".join(lines) + "\n"


def machine() -> str:
    """The processor in words."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        models = re.findall(r"model name\s*: (.+)", cpuinfo.read_text())
        model = models[0] if models else model
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{model}, {usable} cores, {platform.system()}"


def write_document(path: Path, rows: list[Row], description: str) -> None:
    """Put the table between the marks of a Markdown file."""
    text = path.read_text()
    begin, end = "<!-- table -->", "<!-- end of table -->"
    head, rest = text.split(begin)
    tail = rest.split(end)[1]
    path.write_text(f"{head}{begin}\n{description}\n\n{markdown(rows)}{end}{tail}")


def as_json(bench: Bench, description: str) -> dict[str, Any]:
    def entry(row: Row) -> Iterator[tuple[str, Any]]:
        yield from (("group", row.group), ("what", row.what), ("budget", row.budget), ("met", row.met))
        yield "ratio", row.ratio._asdict()
        if len(row.series) == 1:
            ours, theirs = row.series[0]
            yield from (("ours", ours), ("theirs", theirs))
            yield "seconds", [statistics.median(ours), statistics.median(theirs)]

    return {"machine": description, "rows": [dict(entry(r)) for r in bench.rows], "missing": bench.missing}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="a Python that has jax")
    parser.add_argument("--quick", action="store_true", help="less than a minute, fewer programs, wider intervals")
    parser.add_argument("--only", metavar="TEXT", help="only the lines that hold this text, e.g. 'call' or 'eager: a + b'")
    parser.add_argument("--rounds", type=int, help="how many pairs of bursts")
    parser.add_argument("--json", type=Path, default=HERE.parent / "build" / "benchmarks.json", help="where to write all samples")
    parser.add_argument("--document", type=Path, help="a Markdown file whose table is to be replaced")
    options = parser.parse_args()
    plan = QUICK if options.quick else Plan()
    if options.rounds:
        plan = plan._replace(rounds=options.rounds)
    bench = Bench(os.path.abspath(options.peer), plan, options.only)
    began = time.perf_counter()
    try:
        for group in (bench.imports, bench.stages, bench.first_calls, bench.calls, bench.eager, bench.steady, bench.ledger):
            group()
        if not bench.rows and not bench.missing:
            parser.error(f"no line holds {options.only!r}")
        versions = {k: v for library in ("jitscope", "jax") for k, v in bench.versions(library).items() if v}
    finally:
        bench.close()
    description = f"{machine()}; " + ", ".join(map(" ".join, versions.items()))
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(as_json(bench, description), indent=1))
    if options.document:
        write_document(options.document, bench.rows, description)
    verdicts = [row.met for row in bench.rows if row.met]
    print(f"\n{verdicts.count('yes')} of {len(verdicts)} budgets met, {verdicts.count('unclear')} unclear, "
          f"{len(bench.missing)} lines failed; {time.perf_counter() - began:.0f} s. {description}")  # fmt: skip
    print(f"samples: {os.path.relpath(options.json)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
