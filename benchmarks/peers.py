"""Everyday programs beside every peer: `python benchmarks/peers.py --peer PYTHON_WITH_JAX_TORCH_AND_NUMBA [--only REGEX] [--document docs/benchmarks.md]`.

A process for each library, on one core, counting the processor's time; they take turns in short bursts, so that other load hits all alike.
A figure is the median of paired ratios with its 95 % bootstrap interval. PyTorch runs as it is and through torch.compile. What a library
cannot do, or gives other numbers for, is left out with its reason.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any


HERE = Path(__file__).resolve().parent
LIBRARIES = ("jitscope", "jax", "torch", "torch.compile", "numba", "numpy")
PEERS = LIBRARIES[1:]
CLOSE = 1e-2
"""How far a result may be from jax's, as a part of its mean magnitude."""


# In the process of a library -------------------------------------------------------------------------------------------


def prepared(library: str, name: str) -> tuple[Callable[[], Any], list[list[float]]] | None:
    """What runs a program once, and of each result a few figures; None where there is no form for the library."""
    import numpy as np
    from everyday import EVERYDAY

    program = EVERYDAY[name]
    args = program.arguments()
    if library in ("jitscope", "jax"):
        J, jnp = importlib.import_module(library), importlib.import_module(f"{library}.numpy")
        function, args = J.jit(program.make(J, jnp)), J.device_put(args)
        run = lambda: J.block_until_ready(function(*args))
    elif library in ("torch", "torch.compile"):
        if program.torch is None:
            return None
        import torch

        torch.set_num_threads(1)
        from torch.utils import _pytree as pytree

        function = program.torch(torch, torch.compile if library == "torch.compile" else lambda function: function)
        args = pytree.tree_map(torch.from_numpy, args)
        run = lambda: function(*args)
    else:
        make = program.numpy if library == "numpy" else program.numba
        if make is None:
            return None
        function = make(importlib.import_module(library))
        run = lambda: function(*args)
    results = [np.asarray(x).astype(np.float64).ravel() for x in leaves(run())]
    return run, [[float(np.mean(np.abs(r))), *map(float, r[:: max(1, r.size // 5)][:6])] for r in results]


def leaves(tree: Any) -> list[Any]:
    """The arrays of nested containers, dicts by key."""
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    return [leaf for one in tree for leaf in leaves(one)] if isinstance(tree, (list, tuple)) else [tree]


def serve(library: str) -> None:
    for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        os.environ.pop(variable, None)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    runs: dict[str, Callable[[], Any]] = {}
    for line in sys.stdin:
        command = json.loads(line)
        try:
            if "prepare" in command:
                found = prepared(library, command["prepare"])
                reply: Any = None
                if found is not None:
                    runs[command["prepare"]], figures = found
                    reply = {"figures": figures, "count": _count(found[0], command["seconds"])}
            else:
                run, count = runs[command["burst"]], command["count"]
                start = time.process_time()
                for _ in range(count):
                    run()
                reply = (time.process_time() - start) / count
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}"}
        replies.write(json.dumps(reply) + "\n")


def _count(run: Callable[[], Any], seconds: float) -> int:
    run()
    start = time.process_time()
    run()
    return max(1, round(seconds / max(time.process_time() - start, 1e-6)))


# In the process that asks ----------------------------------------------------------------------------------------------


class Asked:
    """A process with one library."""

    def __init__(self, python: str, library: str):
        self.library = library
        command = [python, str(HERE / "peers.py"), "--serve", library]
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "JITSCOPE_", "XLA_"))}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE,
            env={**kept, "JITSCOPE_COMPILATION_CACHE": "0", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"},
        )  # fmt: skip

    def ask(self, **command: Any) -> Any:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"error": "the process died"}

    def close(self) -> None:
        assert self._process.stdin
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()


def agree(one: list[list[float]], other: list[list[float]]) -> bool:
    """Whether two libraries gave the same numbers, but for rounding."""
    if len(one) != len(other):
        return False
    return all(
        len(a) == len(b) and all(abs(x - y) <= CLOSE * (abs(a[0]) + 1e-6) for x, y in zip(a, b))
        for a, b in zip(one, other)
    )


def measured(workers: list[Asked], name: str, rounds: int, seconds: float) -> tuple[dict[str, list[float]], list[str]]:
    """Seconds of each library, round by round, and why libraries are missing."""
    counts, figures, missing = {}, {}, []
    for worker in workers:
        reply = worker.ask(prepare=name, seconds=seconds)
        if reply is None:
            continue
        if "error" in reply:
            missing.append(f"{worker.library}: {reply['error']}")
            continue
        counts[worker.library], figures[worker.library] = reply["count"], reply["figures"]
    for library in [other for other in figures if other != "jax"]:
        if "jax" in figures and not agree(figures["jax"], figures[library]):
            missing.append(f"{library}: gives other numbers than jax")
            del counts[library]
    taken: dict[str, list[float]] = {library: [] for library in counts}
    asked = [w for w in workers if w.library in counts]
    for i in range(rounds):
        for worker in asked if i % 2 else asked[::-1]:
            bursts = [worker.ask(burst=name, count=counts[worker.library]) for _ in range(2)]
            taken[worker.library].append(min(bursts))
    return taken, missing


def rows_of(
    names: list[str], workers: list[Asked], rounds: int, seconds: float
) -> tuple[list[dict[str, Any]], list[str]]:
    from everyday import EVERYDAY
    from ratios import ratio_of

    rows, notes = [], []
    for name in names:
        taken, missing = measured(workers, name, rounds, seconds)
        program = EVERYDAY[name]
        notes += [f"{program.title}: {why}" for why in missing]
        if not {"jitscope", "jax"} <= taken.keys():
            continue
        to_jax = {
            library: ratio_of([(times, taken["jax"])])._asdict() for library, times in taken.items() if library != "jax"
        }
        best = min((p for p in PEERS if p in taken), key=lambda p: 1.0 if p == "jax" else to_jax[p]["median"])
        to_best = ratio_of([(taken["jitscope"], taken[best])])._asdict()
        rows.append(
            {
                "name": name,
                "title": program.title,
                "budget": program.budget,
                "to_jax": to_jax,
                "best": best,
                "to_best": to_best,
            }
        )
        print(row_text(rows[-1]), flush=True)
    return rows, notes


def _with_interval(ratio: dict[str, float]) -> str:
    return f"{ratio['median']:.2f} ({ratio['low']:.2f} … {ratio['high']:.2f})"


def row_text(row: dict[str, Any]) -> str:
    """A line of the Markdown table."""
    others = [f"{row['to_jax'][p]['median']:.2f}" if p in row["to_jax"] else "" for p in PEERS[1:]]
    budget = "" if row["budget"] is None else f"≤ {row['budget']:g}, " + (
        "met" if row["to_jax"]["jitscope"]["median"] <= row["budget"] else "missed"
    )  # fmt: skip
    cells = [
        row["title"],
        _with_interval(row["to_jax"]["jitscope"]),
        *others,
        row["best"],
        f"{row['to_best']['median']:.2f}",
        budget,
    ]
    return f"| {' | '.join(cells)} |"


def table_of(rows: list[dict[str, Any]], notes: list[str], description: str) -> str:
    import numpy as np

    heads = ["program", "jitscope (95 % interval)", *PEERS[1:], "best peer", "jitscope / best", "budget"]
    means = [np.exp(np.mean([np.log(r[k]["median"]) for r in found])) for k, found in (
        ("to_best", rows),)]  # fmt: skip
    to_jax = np.exp(np.mean([np.log(r["to_jax"]["jitscope"]["median"]) for r in rows]))
    lines = [
        description,
        "",
        f"| {' | '.join(heads)} |",
        "| --- | --- |" + " ---: |" * (len(PEERS) - 1) + " --- | ---: | --- |",
    ]
    lines += [row_text(r) for r in rows]
    lines += ["", f"Geometric means: {to_jax:.2f} of jax, {means[0]:.2f} of the best peer."]
    lines += [f"Left out: {note}." for note in notes]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", help="the Python with jax, torch and numba")
    parser.add_argument("--serve", choices=LIBRARIES, help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="programs in whose name this is found")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.02, help="how long a burst lasts")
    parser.add_argument("--document", type=Path, help="the Markdown file whose table is renewed")
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return
    if not options.peer:
        parser.error("--peer: make .venv-jax/.peers makes it, .venv-jax/bin/python")
    import table
    from everyday import EVERYDAY

    names = [n for n in EVERYDAY if re.search(options.only, n)]
    peer = str(Path(options.peer).absolute())  # each process runs in this folder
    workers = [Asked(sys.executable if library == "jitscope" else peer, library) for library in LIBRARIES]
    try:
        rows, notes = rows_of(names, workers, options.rounds, options.seconds)
    finally:
        for worker in workers:
            worker.close()
    build = HERE.parent / "build"
    build.mkdir(exist_ok=True)
    kept = build / "peers.json"
    if kept.exists() and options.only:  # the other rows are those of the last run
        before = json.loads(kept.read_text())
        measured_now = {r["name"]: r for r in rows}
        known = {r["name"]: r for r in before["rows"]} | measured_now
        rows = [known[name] for name in EVERYDAY if name in known]
        titles = tuple(r["title"] for r in measured_now.values())
        notes += [note for note in before["notes"] if not note.startswith(titles)]
    text = table_of(rows, notes, f"{table.machine()}; one core, processor time, time of jax = 1")
    print(text)
    kept.write_text(json.dumps({"rows": rows, "notes": notes}, indent=1))
    if options.document:
        begin, end = "<!-- peers -->\n", "<!-- end of peers -->"
        head, rest = options.document.read_text().split(begin)
        options.document.write_text(f"{head}{begin}{text}{end}{rest.split(end)[1]}")


if __name__ == "__main__":
    main()
