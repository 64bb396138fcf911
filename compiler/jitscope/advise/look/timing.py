"""Clocks round work that is still under way when they are read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code.functions import parameters
from ..code.text import Code
from ..code.values import gives_array
from ..code.walk import Walk
from ..diagnostic import Diagnostic, Fix
from .making import diagnostic, short


_CLOCKS = {
    "time.time", "time.perf_counter", "time.monotonic", "time.process_time", "time.perf_counter_ns", "time.time_ns",
    "timeit.default_timer",
}  # fmt: skip
_TIMERS = {"timeit.timeit", "timeit.repeat", "timeit.Timer"}
_WAITING = {"block_until_ready", "item", "tolist"}
_WAITING_CALLS = {
    "float", "int", "print", "bool", "numpy.asarray", "numpy.array", "jax.device_get", "jax.block_until_ready",
}  # fmt: skip


def clocks(walk: Walk) -> Iterator[Diagnostic]:
    """misleading-timing: a clock, a compiled call whose result nobody waits for, and the clock again, in one block; or `%time` round
    such a call."""
    code = walk.code
    yield from _timers(walk)
    yield from _magics(walk)
    if not _CLOCKS & {code.names.dotted(n.func) for n in code.nodes if isinstance(n, ast.Call)}:
        return
    for node in code.nodes:
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield from _in_block(block, walk)


def _timers(walk: Walk) -> Iterator[Diagnostic]:
    """`timeit.timeit(lambda: f(x))`."""
    for node in walk.code.nodes:
        if isinstance(node, ast.Call) and node.args and walk.code.names.dotted(node.func) in _TIMERS:
            timed = node.args[0]
            work = _work(timed, walk) if isinstance(timed, ast.Lambda) and not _waits(timed, walk.code) else None
            if work is not None:
                yield _misleading(walk, node, work)


def _magics(walk: Walk) -> Iterator[Diagnostic]:
    """`%timeit f(x)`, `%time y = f(x)`, and cells that begin so."""
    for first, last in [span for cell in walk.code.cells for span in cell.timed]:
        inside = [n for n in walk.code.nodes if isinstance(n, ast.stmt) and first <= n.lineno <= last]
        work = None
        for statement in [n for n in inside if walk.code.parents[n] not in inside]:
            work = None if _waits(statement, walk.code) else work or _work(statement, walk)
        if work is not None:
            yield _misleading(walk, work, work)


def _misleading(walk: Walk, node: ast.AST, work: ast.Call) -> Diagnostic:
    text = short(walk.code, work)
    message = f"the clock may stop before `{text}` is done: calls return while the work goes on."
    fix = (
        f"Wait for the result inside the measurement: jax.block_until_ready({text}); and call once before, to compile."
    )
    return diagnostic(walk.code, "misleading-timing", node, message, Fix(fix))


def _in_block(block: list[ast.stmt], walk: Walk) -> Iterator[Diagnostic]:
    code = walk.code
    started, work = False, None
    for statement in block:
        reads = [n for n in code.within(statement) if isinstance(n, ast.Call) and code.names.dotted(n.func) in _CLOCKS]
        reads = [read for read in reads if not _is_computed_with(read, walk)]
        is_start = (
            isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) and statement.value in reads
        )
        if (
            started
            and work is not None
            and reads
            and not isinstance(statement, ast.For | ast.While | ast.With | ast.FunctionDef)
        ):
            yield _misleading(walk, reads[-1], work)
            started, work = is_start, None
            continue
        if is_start:
            started, work = True, None
        elif started:
            if _waits(statement, code):
                work = None
            else:
                work = work or _work(statement, walk)


def _is_computed_with(read: ast.Call, walk: Walk) -> bool:
    """Whether a compiled function takes the time as an argument: it measures nothing."""
    around = (one for one in walk.code.around(read) if isinstance(one, ast.Call))
    return any(walk.functions.compiled_at(one) is not None for one in around)


def _work(statement: ast.AST, walk: Walk) -> ast.Call | None:
    for node in walk.code.within(statement):
        if isinstance(node, ast.Call):
            dotted = walk.code.names.dotted(node.func)
            if (
                walk.functions.compiled_at(node) is not None
                or _is_given_compiled(node, walk)
                or (gives_array(dotted) and dotted.startswith(("jax.numpy.", "jax.lax.")))
            ):
                return node
    return None


def _is_given_compiled(call: ast.Call, walk: Walk) -> bool:
    """Whether a call calls an argument of the function around it, which is given a compiled function somewhere."""
    function, name = walk.code.function_around(call), getattr(call.func, "id", "")
    if not isinstance(function, ast.FunctionDef) or name not in parameters(function):
        return False
    at = parameters(function).index(name)
    compiled = {bound for _, bound in walk.functions.compiled}
    return any(
        isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == function.name
        and at < len(node.args)
        and getattr(node.args[at], "id", "") in compiled
        for node in walk.code.nodes
    )


def _waits(statement: ast.AST, code: Code) -> bool:
    for node in code.within(statement):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else code.names.dotted(node.func)
            if (name in _WAITING_CALLS and node.args) or (
                isinstance(node.func, ast.Attribute) and node.func.attr in _WAITING
            ):
                return True
    return False
