"""From what the ledger wrote down to recompilations that could have been spared: one for each cause and line."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable

from jitscope.core.source import Position
from jitscope.core.words import duration

from ...observe.differences import Difference, strong_number
from ...observe.ledger import Row
from ...observe.recompiling.groups import again, wanted
from ...observe.recompiling.remedies import same_but_for_numbers
from ...observe.recompiling.settled import without_settled
from ...observe.stacks import is_installed
from ...source_code import rewrites
from ..diagnostic import Diagnostic, Fix, Span


_BITS = {
    "shape": "recompile-shape",
    "dtype": "recompile-dtype",
    "weak type": "recompile-weak-type",
    "static value": "recompile-static-value",
    "static object": "recompile-static-object",
    "tree structure": "recompile-pytree",
    "none": "recompile-pytree",
    "kind": "recompile-pytree",
    "call form": "recompile-call-form",
    "function": "recompile-fresh-function",
    "closure": "recompile-fresh-function",
    "donation": "recompile-config",
    "option": "recompile-config",
    "x64": "recompile-config",
    "device": "recompile-device",
    "sharding": "recompile-device",
}


def missed(rows: Iterable[Row]) -> list[Diagnostic]:
    """The recompilations, and retraces, among rows of the ledger that the user's own calls paid for."""
    groups: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in without_settled(row for row in rows if _bit(row)):
        bit = _bit(row)
        if row.call_site is not None:
            where = _place(bit, row)
            groups[bit, where.file, where.line].append(row)
    return [_told(bit, group) for (bit, _, _), group in groups.items()]


def _bit(row: Row) -> str:
    """The sharp bit a row tells of, or ""."""
    if row.call_site is None or not again(row) or wanted(row) or _of_a_library(row):
        return ""
    return _BITS.get(row.cause, "")


def _of_a_library(row: Row) -> bool:
    """Whether a function is an installed library's, or one that jax made for itself: nobody who reads this can change it."""
    if row.position is None:
        return row.library == "jax"
    return is_installed(row.position.file)


def _place(bit: str, row: Row) -> Position:
    """The line that a row's diagnostic is told at: the call that paid, or where the code around it makes the function that it
    calls."""
    where = row.call_site
    assert where is not None
    made = made_around(where) if bit == "recompile-fresh-function" else None
    return made or where


def _told(bit: str, rows: list[Row]) -> Diagnostic:
    first, where = rows[0], _place(bit, rows[0])
    assert first.call_site is not None
    difference = first.differences[0]
    seconds = sum(row.spent for row in rows)
    verb = "traced" if all(row.what == "reused" or row.loaded for row in rows) else "compiled"
    times = "again" if len(rows) == 1 else f"again {len(rows)} times"
    place = "in this line" if where == first.call_site else f"in line {first.call_site.line}"
    message = f"{first.function} is {verb} {times} {place} ({duration(seconds)}): {difference.sentence()}."
    evidence = tuple(d.sentence() for d in first.differences[1:])
    return Diagnostic(bit, where.file, Span.of(where), message, Fix(_fix(bit, difference, rows)), evidence, "miss")


def made_around(call_site: Position) -> Position | None:
    """Where the function or the loop around a call makes what is called: `g = jit(…)` or a decorated `def g` before `g(x)`."""
    path = rewrites.path_at(call_site)
    call = next((node for node in path if isinstance(node, ast.Call)), None)
    around = next((node for node in path if isinstance(node, (ast.FunctionDef, ast.For, ast.While))), None)
    if call is None or around is None or not isinstance(call.func, ast.Name | ast.Attribute):
        return None
    called = ast.unparse(call.func)
    for node in rewrites.own_nodes(around):
        if isinstance(node, ast.FunctionDef) and node.name == called and node.decorator_list:
            return call_site.at(node.decorator_list[0])
        if (
            isinstance(node, ast.Assign)
            and called in map(ast.unparse, node.targets)
            and isinstance(node.value, ast.Call)
        ):
            return call_site.at(node.value)
    return None


def _only_computed_with(rows: list[Row]) -> bool:
    """Whether the programs differ in their numbers alone."""
    made = [*rows, *([rows[0].against] if rows[0].against is not None else [])]
    programs = [row.jaxpr for row in made if row.jaxpr is not None]
    return len(programs) == len(made) and all(same_but_for_numbers(programs[0], other) for other in programs[1:])


_OF_NUMBERS = ("(int)", "(float)", "(bool)", "(complex)")
"""How a static value ends, as a difference has it, that could be an array."""


def _fix(bit: str, difference: Difference, rows: list[Row]) -> str:
    path = difference.path
    if difference.part == "closure":
        return f"Pass {path} as an argument, and make the compiled function once, before: {rows[0].function} is a new object each time."
    if difference.part == "none":
        return f"Pass an array that changes nothing in place of None for {path}, zeros to add, ones to multiply; two programs are right where both calls come often."
    if difference.part == "static object" and "(function)" in difference.detail:
        return f"Make the function given for {path} once, before the calls: a function is equal to itself alone."
    if difference.part == "call form" and difference.detail.startswith(("gained ", "lost ")):
        return "Give the same arguments in every call; two programs are right where a call without one of them means something else."
    if bit == "recompile-static-value" and not all(
        side.endswith(_OF_NUMBERS) for side in (difference.before, difference.after)
    ):
        return f"Call with few values of {path}: each static value has a program of its own."
    if bit == "recompile-static-value" and not _only_computed_with(rows):
        return f"{path} decides what the program is: call with few values of it, or make the loop a lax.fori_loop and the branch a lax.cond."
    number = strong_number(difference.before.split(",")[0]) if bit == "recompile-weak-type" else ""
    return {
        "recompile-shape": f"Give {path} one shape: pad it and mask the rest, drop the last partial batch, or round sizes up to a few.",
        "recompile-dtype": f"Convert it once before the call: jnp.asarray({path}, dtype).",
        "recompile-weak-type": f"Start with an array, {number}: Python numbers make {path} weakly typed.",
        "recompile-static-value": f"If {path} is only computed with, do not make it static: then one program serves all values.",
        "recompile-static-object": f"Give the class of {path} __eq__ and __hash__ (@dataclass(frozen=True)), or make the object once.",
        "recompile-pytree": f"Keep the structure of {path}: the same keys and containers in every call; stack lists into one array.",
        "recompile-call-form": "Write all calls one way: the same arguments by position, the same by name, the same left out.",
        "recompile-fresh-function": f"Make the compiled function once, before: {rows[0].function} is a new object each time.",
        "recompile-config": f"Set {path} once, before the first call.",
        "recompile-device": "Put all arguments where they belong once, with jax.device_put.",
    }[bit]
