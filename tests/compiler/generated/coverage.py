"""Which combinators the generated programs nest in which: `python -m tests.compiler.generated.coverage`."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence

import jitscope as jx

from .drawing import COUNT, program
from .programs import KINDS, MAIN, Program
from .running import structure, traced


LEAST = 20
"""How often each main combinator stands directly in each main one, at least."""


def all_programs() -> list[Program]:
    return [program(seed) for seed in range(COUNT)]


def pair_counts(programs: Sequence[Program]) -> Counter[tuple[str, str]]:
    """In how many programs each ordered pair (outer, inner) is nested directly."""
    return Counter(pair for p in programs for pair in set(p.pairs()))


def triple_counts(programs: Sequence[Program]) -> Counter[tuple[str, ...]]:
    """In how many programs each three combinators are nested directly."""
    found: Counter[tuple[str, ...]] = Counter()
    for p in programs:
        found.update({(*around[-2:], call.kind) for around, call in p.function.calls() if len(around) > 1})
    return found


def without_tangents(programs: Sequence[Program]) -> Counter[tuple[str, str]]:
    """Of those, in how many the inner one is given arguments without tangents because the outer derivative refuses it."""
    return Counter(
        pair
        for p in programs
        for pair in {(around[-1], call.kind) for around, call in p.function.calls() if around and call.quiet}
    )


def table(counts: Counter[tuple[str, str]], quiet: Counter[tuple[str, str]]) -> str:
    """Rows: the outer combinator; columns: the inner one. °: some on arguments without tangents; °° all."""

    def cell(outer: str, inner: str) -> str:
        n, q = counts[outer, inner], quiet[outer, inner]
        return f"{n}{'°°' if q and q == n else '°' if q else ''}"

    rows = [["outer \\ inner", *KINDS], *[[outer, *[cell(outer, inner) for inner in KINDS]] for outer in KINDS]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths))) for row in rows
    )


def main() -> int:
    """Print the table, and how many jaxprs are distinct; 1 if a pair of main combinators is short or two are the same."""
    start = time.perf_counter()
    programs = all_programs()
    counts, triples = pair_counts(programs), triple_counts(programs)
    print(table(counts, without_tangents(programs)))
    print("°  some on arguments without tangents: forward mode refuses custom_vjp, reverse mode while_loop (and fori_loop\n"
          "   with traced bounds); °° all")  # fmt: skip
    with jx.enable_x64():
        distinct = len({structure(traced(p)) for p in programs})
    depths = Counter(p.depth() for p in programs)
    least = min(counts[a, b] for a in MAIN for b in MAIN)
    extra = min(counts[a, b] for a in KINDS for b in KINDS)
    fewest = min(triples[a, b, c] for a in MAIN for b in MAIN for c in MAIN)
    print(f"{len(programs)} programs, {distinct} distinct jaxprs; nested "
          + ", ".join(f"{d} deep: {n}" for d, n in sorted(depths.items())))  # fmt: skip
    print(f"each pair of {', '.join(MAIN)} directly nested in at least {least} programs, each triple in {fewest}, each of all "
          f"pairs in {extra}; {time.perf_counter() - start:.0f} s")  # fmt: skip
    return int(least < LEAST or distinct < len(programs))


if __name__ == "__main__":
    sys.exit(main())
