"""The line below a cell that took long and has loops, where `%config JitscopeMagics.regions = True` asks for it. Nothing is run for it."""

from __future__ import annotations

import ast
import time

from jitscope_scope.source_code.tree import below, tree_of


LONG = 1.0
"""Seconds."""


def long_loop(source: str, began: float) -> str | None:
    """What is said below a cell that has run since `began` (`time.perf_counter()`); None for short ones, those without a loop at their top
    level or in their functions, and cells of magics, which speak for themselves."""
    seconds = time.perf_counter() - began
    if seconds < LONG or source.lstrip().startswith("%"):
        return None
    tree = tree_of(source)  # None of a cell with lines for IPython alone
    loops = [n.lineno for n in below(tree) if isinstance(n, (ast.For, ast.While))] if tree is not None else []
    if not loops:
        return None
    where = (
        f"line {loops[0]}" if len(loops) == 1 else f"lines {', '.join(map(str, sorted(loops)[:-1]))} and {max(loops)}"
    )
    return f"This cell took {seconds:.3g} s and has a loop in {where}: %regions runs it once more and says whether compiling pays."
