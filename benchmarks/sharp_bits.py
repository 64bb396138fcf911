"""What finding sharp bits costs: `python -m benchmarks.sharp_bits [ROUNDS]`, from the project's root; docs/sharp-bits.md has the
figures.

CPU time of the look at each lesson and example, by cell; of what each further cell of a session costs; and traces and calls while a `Watch` is open, as parts of the same without
one, both measured in turns.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from statistics import median
from typing import Any

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_kernel.sharp_bits import SharpBits, _look
from jitscope_scope.advise import look
from jitscope_scope.advise.program import read
from jitscope_scope.advise.watch import Watch
from jitscope_scope.observe.ledger import ledger

from .programs import mlp_arguments, mlp_gradient
from .ratios import ratio_of


PLAIN = tuple(
    f'''class Account{number}:
    """Rows of numbers with a name."""

    def __init__(self, name, rows):
        self.name, self.rows, self._totals = name, rows, {{}}

    def total(self, column):
        if column not in self._totals:
            self._totals[column] = sum(row[column] for row in self.rows)
        return self._totals[column]

rows{number} = [dict(a=float(n), b=n**2) for n in range({number} + 100)]
Account{number}("first", rows{number}).total("a")
'''
    for number in range(20)
)
EXAMPLES = Path(__file__).parents[1] / "examples"


def looks(rounds: int) -> None:
    """Milliseconds of the look at each notebook: the least of all rounds."""
    for path in sorted(EXAMPLES.rglob("*.ipynb")):
        program = read(str(path))
        least = min(seconds(lambda p=program: look(p.text, p.file, p.cells)) for _ in range(rounds))
        cells = len(program.cells)
        print(f"look  {path.stem:40s} {1e3 * least:6.1f} ms, {cells:3d} cells: {1e3 * least / cells:5.2f} ms a cell")


def sessions(rounds: int) -> None:
    """Milliseconds that each further cell of a session costs: all cells so far are looked at again."""
    notebooks = {path.stem: read(str(path)).magic for path in sorted(EXAMPLES.rglob("*.ipynb"))}
    for name, cells in {
        **notebooks,
        "20 cells without arrays": PLAIN,
        "the same below the tour": (*notebooks["tour"], *PLAIN),
    }.items():
        each = sorted(min(one) for one in zip(*(session(cells) for _ in range(rounds))))
        print(f"cells {name:39s} {1e3 * median(each):6.2f} ms (median), {1e3 * each[-1]:5.2f} ms (most)")


def session(cells: Sequence[str]) -> list[float]:
    _look.cache_clear()
    bits = SharpBits(ledger())
    spent: list[float] = []
    for number, text in enumerate(cells, 1):
        bits.ran(f"In [{number}]", str(number), f"<cell {number} of a session>", text)
        spent.append(seconds(bits.document))
    return spent


def seconds(run: Callable[[], Any]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def watched(name: str, run: Callable[[], Any], rounds: int) -> None:
    """Runs in an open `Watch`, as a part of the same without one."""
    pairs: tuple[list[float], list[float]] = [], []
    run()
    for turn in range(2 * rounds):
        states = enumerate((Watch, nullcontext))
        for which, around in states if turn % 2 else reversed([*states]):
            with around():
                pairs[which].append(seconds(run))
    found = ratio_of([pairs])
    print(f"{name:40s} {found.median:.3f} ({found.low:.3f} … {found.high:.3f}) of the same unwatched")


def trace() -> None:
    """A function that was never seen before."""
    jx.jit(mlp_gradient(jx, jnp)).trace(*ARGUMENTS)


def calls() -> None:
    for _ in range(2000):
        result = ADD(ARRAY)
    result.block_until_ready()


ARGUMENTS = jx.device_put(mlp_arguments())
ARRAY, ADD = jnp.ones(8), jx.jit(lambda x: x + 1)


if __name__ == "__main__":
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    looks(wanted)
    sessions(3)
    watched("trace, gradient of a 20-layer MLP", trace, wanted)
    watched("2,000 calls of a compiled function", calls, wanted)
