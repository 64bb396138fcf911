"""What functions keep from one call to the next: results in a cache of Python's, and defaults that can be changed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source_code.bindings import stored
from ...source_code.parameters import arguments, default_values
from ..code.values import gives_array
from ..code.walk import Event, Walk
from ..diagnostic import Diagnostic
from .diagnostics import diagnostic, short


_CACHES = {"functools.lru_cache", "functools.cache"}
_ADDING = {"append", "add", "insert", "extend", "setdefault", "update", "appendleft"}


def defaults(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """tracer-leak of `def f(x, seen=[])`, which adds what is traced to `seen`, and trace-time-mutation where it is not: no call gives
    another list."""
    node, region, function = event.node, event.region, event.region.function
    if event.what != "call" or region.depth or region.traced is None or not (region.abstract and region.traced.ends):
        return
    match node.func:
        case ast.Attribute(value=ast.Name(id=name), attr=attr) if attr in _ADDING and isinstance(
            function, ast.FunctionDef
        ):
            pass
        case _:
            return
    kept = _mutable(function, name) and name not in stored(function) and not walk.functions.given(function, name)
    if not kept:
        return
    one_object = f"`{name}` is one object for all calls, its default"
    fix = f"Give {function.name} an argument with what it is to remember, and return the new value."
    if any(kind.is_traced for kind in event.inner):
        message = f"{one_object}: this stores a tracer in it, which has no value once the trace has ended."
        yield diagnostic(walk.code, "tracer-leak", node, message, fix)
    elif region.traced.kept and attr != "setdefault":
        message = f"{one_object}: this changes it while tracing, and calls of the compiled function do not repeat it."
        counts = [*map(type, node.args)] == [ast.Constant]  # one for each trace, as who counts traces does
        yield diagnostic(walk.code, "trace-time-mutation", node, message, fix, "info" if counts else None)


def _mutable(function: ast.FunctionDef, name: str) -> bool:
    """Whether the default of a parameter is a list, a dict or a set that is made with the function."""
    return _is_container(default_values(function).get(name))


def _is_container(node: ast.expr | None) -> bool:
    match node:
        case ast.List() | ast.Dict() | ast.Set():
            return True
        case ast.Call(func=ast.Name(id="list" | "dict" | "set"), args=[]):
            return True
    return False


def cached(walk: Walk) -> Iterator[Diagnostic]:
    """tracer-leak of an `lru_cache`d function that makes an array: called while tracing, it keeps the tracer, and gives it to the
    next that asks."""
    code = walk.code
    for function in code.of(ast.FunctionDef):
        if not _is_cached(function, walk):
            continue
        made = _arrays_returned(function, walk)
        calls = [n for n in code.of(ast.Call) if walk.functions.called(n) is function]
        traced = [call for call in calls if _is_traced(call, walk)]
        if made is None or not traced or not _is_asked_again(traced, calls, walk):
            continue
        message = (
            f"{function.name} is cached by Python, and called while {_around(traced[0], walk)} is traced: it keeps the tracer of the "
            "first trace, which has no value once that has ended, and gives it to the next call."
        )
        fix = "Make it of NumPy, whose arrays are values while tracing too; or call it outside and pass what it gives as an argument."
        yield diagnostic(code, "tracer-leak", made, message, fix)


def by_hash(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """host-call-on-tracer of an `lru_cache`d function, which looks its arguments up by their hash."""
    node = event.node
    if event.what != "call" or not event.region.abstract:
        return
    function = walk.functions.called(node)
    if not isinstance(function, ast.FunctionDef) or not _is_cached(function, walk):
        return
    given = zip(arguments(node), event.inner)
    traced = next((one for one, kind in given if kind.is_traced), None)
    if traced is not None:
        name = function.name
        message = f"{name} is cached by Python, which looks its arguments up by their hash, and the traced `{short(walk.code, traced)}` has none."
        fix = f"Call {name}.__wrapped__, which is {name} without the cache, or call {name} outside and pass what it gives as an argument."
        yield diagnostic(walk.code, "host-call-on-tracer", node, message, fix)


def _is_cached(function: ast.FunctionDef, walk: Walk) -> bool:
    decorators = [one.func if isinstance(one, ast.Call) else one for one in function.decorator_list]
    return any(walk.code.names.dotted(one) in _CACHES for one in decorators)


def _arrays_returned(function: ast.FunctionDef, walk: Walk) -> ast.Call | None:
    """The call of the library that makes what each return of a function gives, and nothing says that it runs at once."""
    returns = [node for node in walk.code.within(function) if isinstance(node, ast.Return)]
    if any(isinstance(node, ast.With | ast.If | ast.Try) for node in walk.code.within(function)) or len(returns) != 1:
        return None
    value = returns[0].value
    return value if isinstance(value, ast.Call) and gives_array(walk.code.names.dotted(value.func)) else None


def _is_traced(call: ast.Call, walk: Walk) -> bool:
    """Whether a call stands in a function that is compiled, and not in one inside it."""
    around = walk.code.function_around(call)
    return any(
        one.function is around and one.by == "jit" and not isinstance(around, ast.Lambda)
        for one in walk.functions.traced
    )


def _around(call: ast.Call, walk: Walk) -> str:
    return getattr(walk.code.function_around(call), "name", "the function")


def _is_asked_again(traced: list[ast.Call], calls: list[ast.Call], walk: Walk) -> bool:
    """Whether a call of the same arguments comes after the first trace, and none before it, which would have left a value."""
    starts = [
        n.lineno for n in walk.code.outside if isinstance(n, ast.Call) and walk.functions.compiled_at(n) is not None
    ]
    first = min(starts, default=0)
    same = [call for call in calls if _given(call) == _given(traced[0])]
    outside = [call for call in same if walk.code.function_around(call) is None]
    others = [call for call in same if call not in outside and call not in traced]
    functions = {walk.code.function_around(call) for call in traced if call in same}
    early = any(call.lineno <= first for call in outside)
    return bool(first) and not early and not others and (len(functions) > 1 or bool(outside))


def _given(call: ast.Call) -> str | None:
    """The arguments of a call where all are constants; another value for each that has others."""
    parts = arguments(call)
    if not all(isinstance(part, ast.Constant) for part in parts):
        return str(id(call))
    return ast.unparse(ast.Call(ast.Name("f"), call.args, call.keywords))
