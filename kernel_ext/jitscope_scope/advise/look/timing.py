"""Clocks round work that is still under way when they are read."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from ...source_code.bindings import stored
from ...source_code.parameters import arguments, parameters
from ...source_code.text import Code
from ...source_code.tree import below
from ..code.walk import Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic, short, short_call


_CLOCKS = {
    "time.time", "time.perf_counter", "time.monotonic", "time.process_time", "time.perf_counter_ns", "time.time_ns",
    "timeit.default_timer",
}  # fmt: skip
_TIMERS = {"timeit.timeit", "timeit.repeat", "timeit.Timer"}
_WAITING = {"block_until_ready", "item", "tolist"}
_WAITING_CALLS = {
    "float", "int", "print", "bool", "numpy.asarray", "numpy.array", "jax.device_get", "jax.block_until_ready",
}  # fmt: skip
_WAITING_FOR_ALL = ("jax.device_get", "jax.block_until_ready")
"""What waits for arrays: to print the time does not."""


def clocks(walk: Walk) -> Iterator[Diagnostic]:
    """misleading-timing: a clock, a compiled call whose result nobody waits for, and the clock again, in one block; or `%time` round
    such a call."""
    code = walk.code
    yield from _timers(walk)
    yield from _magics(walk)
    yield from _contexts(walk)
    if not _CLOCKS & {code.dotted(n.func) for n in code.of(ast.Call)}:
        return
    for node in code.nodes:
        for field in ("body", "orelse"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                yield from _in_block(block, walk)


def _timers(walk: Walk) -> Iterator[Diagnostic]:
    """`timeit.timeit(lambda: f(x))`."""
    for node in walk.code.of(ast.Call):
        if node.args and walk.code.dotted(node.func) in _TIMERS:
            timed = node.args[0]
            measured = _TimedStretch(walk)
            if isinstance(timed, ast.Lambda):
                measured.takes(timed.body)
            if measured.work is not None:
                yield _misleading(walk, node, measured.work)


def _magics(walk: Walk) -> Iterator[Diagnostic]:
    """`%timeit f(x)`, `%time y = f(x)`, and cells that begin so."""
    for first, last in [span for cell in walk.code.cells for span in cell.timed]:
        inside = [n for n in walk.code.nodes if isinstance(n, ast.stmt) and first <= n.lineno <= last]
        measured = _TimedStretch(walk)
        for statement in [n for n in inside if walk.code.parents[n] not in inside]:
            measured.takes(statement)
        if measured.work is not None:
            yield _misleading(walk, measured.work, measured.work)


def _contexts(walk: Walk) -> Iterator[Diagnostic]:
    """`with timer("f"): f(x)`, where the program's own `timer` reads clocks at the begin and the end, and waits for nothing."""
    for block in walk.code.of(ast.With):
        if not any(_is_clock(item.context_expr, walk) for item in block.items):
            continue
        measured = _TimedStretch(walk)
        for statement in block.body:
            measured.takes(statement)
        if measured.work is not None:
            yield _misleading(walk, measured.work, measured.work)


def _is_clock(manager: ast.expr, walk: Walk) -> bool:
    """Whether a context manager of this program reads clocks before and after its block."""
    owner = walk.functions.instance(manager, manager)
    if owner is not None:
        methods = {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)}
        begin, end = methods.get("__enter__"), methods.get("__exit__")
        parts = [[begin], [end]] if begin is not None and end is not None else []
    else:
        called = manager.func if isinstance(manager, ast.Call) else manager
        function = walk.functions.named(called.id, manager) if isinstance(called, ast.Name) else None
        parts = _around_yield(function, walk) if isinstance(function, ast.FunctionDef) else []
    return (
        bool(parts)
        and all(any(_reads_clock(one, walk) for one in part) for part in parts)
        and not any(waits_within(one, walk.code, _WAITING_FOR_ALL) for part in parts for one in part)
    )


def _around_yield(function: ast.FunctionDef, walk: Walk) -> list[list[ast.AST]]:
    """What a generator that is a context manager does before its `yield`, and after it."""
    if not any(walk.code.dotted(one) == "contextlib.contextmanager" for one in function.decorator_list):
        return []
    lines = [node.lineno for node in walk.code.within(function) if isinstance(node, ast.Yield)]
    if len(lines) != 1:
        return []
    calls = [node for node in walk.code.within(function) if isinstance(node, ast.Call)]
    return [[one for one in calls if one.lineno < lines[0]], [one for one in calls if one.lineno > lines[0]]]


def _reads_clock(node: ast.AST, walk: Walk) -> bool:
    return any(isinstance(one, ast.Call) and walk.code.dotted(one.func) in _CLOCKS for one in below(node))


def _misleading(walk: Walk, node: ast.AST, work: ast.Call) -> Diagnostic:
    text = short(walk.code, work)
    message = f"the clock may stop before `{text}` is done: calls return while the work goes on."
    first = "" if _is_called_before(work, walk) else "; and call once before, to compile"
    fix = f"Wait for the result inside the measurement: jax.block_until_ready({short_call(walk.code, work)}){first}."
    return diagnostic(walk.code, "misleading-timing", node, message, Fix(fix))


def _is_called_before(work: ast.Call, walk: Walk) -> bool:
    """Whether a line above calls the same function: what it compiles is compiled there."""
    calls = (one for one in walk.code.of(ast.Call) if one.lineno < work.lineno)
    return any(ast.unparse(one.func) == ast.unparse(work.func) for one in calls)


def _in_block(block: list[ast.stmt], walk: Walk) -> Iterator[Diagnostic]:
    code = walk.code
    measured: _TimedStretch | None = None
    cell = None
    for statement in block:
        if code.cells and code.cell_of(statement) is not cell:
            measured, cell = None, code.cell_of(statement)  # between cells there is time
        reads = [n for n in code.within(statement) if isinstance(n, ast.Call) and code.dotted(n.func) in _CLOCKS]
        reads = [read for read in reads if not _is_computed_with(read, walk)]
        is_start = (
            isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call) and statement.value in reads
        )
        is_block = isinstance(statement, ast.For | ast.While | ast.With | ast.FunctionDef)
        if measured is not None and measured.work is not None and reads and not is_block:
            if not measured.is_shown_before(reads[-1], statement):
                yield _misleading(walk, reads[-1], measured.work)
            measured = None
        if is_start:
            measured = _TimedStretch(walk)
        elif measured is not None:
            measured.takes(statement)


def _is_computed_with(read: ast.Call, walk: Walk) -> bool:
    """Whether a compiled function takes the time as an argument: it measures nothing."""
    around = (one for one in walk.code.around(read) if isinstance(one, ast.Call))
    return any(walk.functions.compiled_at(one) is not None for one in around)


class _TimedStretch:
    """What runs between two reads of a clock: `work` is a compiled call whose result nobody waited for so far."""

    def __init__(self, walk: Walk) -> None:
        self.walk, self.code = walk, walk.code
        self.work: ast.Call | None = None
        self._results: set[str] = set()

    def takes(self, statement: ast.AST) -> None:
        """One more statement runs; of a definition nothing does."""
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return
        calls = [node for node in self.code.within(statement) if isinstance(node, ast.Call)]
        works = [call for call in calls if self._is_work(call)]
        self._results |= stored(statement) if works else set()
        if any(self._waits(call, works) for call in calls) or self._shows(statement):
            self.work, self._results = None, set()
        elif works or self._reads(statement):
            self.work = self.work or (works[0] if works else None)
            self._results |= stored(statement)

    def _is_work(self, call: ast.Call) -> bool:
        dotted = self.code.dotted(call.func)
        heavy = dotted in _HEAVY or dotted.startswith(_HEAVY_MODULES)
        return heavy or self.walk.functions.compiled_at(call) is not None or _is_given_compiled(call, self.walk)

    def _reads(self, node: ast.AST) -> bool:
        return any(isinstance(one, ast.Name) and one.id in self._results for one in below(node))

    def is_shown_before(self, read: ast.Call, statement: ast.AST) -> bool:
        """Whether the text of a result is made before the clock is read: `f"{loss} after {time.time() - start}"`."""
        texts = (one for one in self.code.within(statement) if isinstance(one, ast.FormattedValue))
        at = (read.lineno, read.col_offset)
        return any(self._reads(one) and (one.value.lineno, one.value.col_offset) < at for one in texts)

    def _shows(self, statement: ast.AST) -> bool:
        """Whether the truth or the text of a result is asked for."""
        return any(
            self._reads(one.test if isinstance(one, ast.Assert | ast.If | ast.While) else one.value)
            for one in self.code.within(statement)
            if isinstance(one, ast.Assert | ast.If | ast.While | ast.FormattedValue)
        )

    def _waits(self, call: ast.Call, works: list[ast.Call]) -> bool:
        """Whether a call waits, or may: of a function that nobody knows and that is given what was computed."""
        name = call.func.id if isinstance(call.func, ast.Name) else self.code.dotted(call.func)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if (name in _WAITING_CALLS and call.args) or method in _WAITING:
            return True
        function = self.walk.functions.called(call)
        given = arguments(call)
        inside = function is not None and self.walk.functions.scope_of(function) is self.walk.functions.scope_of(call)
        read = [*given, function] if function is not None and inside else given  # it reads the same names
        if call in works or not any(self._reads(one) or set(works) & set(below(one)) for one in read):
            return False
        if function is not None:
            return waits_within(function, self.code) or _may_wait(function, self.code)
        return not self.code.dotted(call.func).startswith("jax.") and method not in _KEEPING and name not in _LAZY


_KEEPING = {"append", "extend", "add", "insert", "update", "setdefault", "_replace", "replace", "lower", "compile"}
_LAZY = {"len", "range", "enumerate", "zip", "list", "tuple", "dict", "isinstance", "type", "reversed", "iter", "next"}
_HEAVY = {f"jax.numpy.{name}" for name in ("matmul", "dot", "tensordot", "einsum", "vdot", "inner", "outer", "convolve", "sort", "kron")} | {
    "jax.lax.dot", "jax.lax.dot_general", "jax.lax.conv", "jax.lax.scan", "jax.lax.fori_loop", "jax.lax.while_loop", "jax.lax.map",
}  # fmt: skip
_HEAVY_MODULES = ("jax.numpy.linalg.", "jax.numpy.fft.", "jax.lax.linalg.", "jax.scipy.")


def waits_within(node: ast.AST, code: Code, waiting: Collection[str] = _WAITING_CALLS) -> bool:
    """Whether a function, or another part of the code, waits for something: by a method, or by one of these calls."""
    called = [one.func for one in below(node) if isinstance(one, ast.Call)]
    return any(
        getattr(one, "attr", "") in _WAITING or getattr(one, "id", "") in waiting or code.dotted(one) in waiting
        for one in called
    )


def _may_wait(function: ast.AST, code: Code) -> bool:
    """Whether a function calls one of a library that nobody knows: `plt.imsave`."""
    called = [code.dotted(one.func) for one in below(function) if isinstance(one, ast.Call)]
    return any(dotted.partition(".")[0] not in _NEVER_WAITING for dotted in called)


_NEVER_WAITING = {"", "jax", "flax", "optax", "equinox", "numpyro", "functools", "itertools", "math", "time"}


def _is_given_compiled(call: ast.Call, walk: Walk) -> bool:
    """Whether a call calls an argument of the function around it, which is given a compiled function somewhere."""
    function, name = walk.code.function_around(call), getattr(call.func, "id", "")
    if not isinstance(function, ast.FunctionDef) or name not in parameters(function):
        return False
    at = parameters(function).index(name)
    compiled = {bound for _, bound in walk.functions.compiled}
    return any(
        getattr(node.func, "id", "") == function.name
        and at < len(node.args)
        and getattr(node.args[at], "id", "") in compiled
        for node in walk.code.of(ast.Call)
    )
