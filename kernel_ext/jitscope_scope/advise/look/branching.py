"""Python's control flow on traced values: `if`, `while`, `and`, `range`, `isinstance`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...source_code.parameters import argument_for, parameters, positional
from ...source_code.tree import Function, parts_of
from ..code.forms import VALUE_TYPES, choices, is_logical
from ..code.functions import TracedFunction
from ..code.values import METHODS, Kind, gives_array
from ..code.walk import Event, Walk
from ..diagnostic import Diagnostic, Fix
from ..loop_order import SWAP, swapped
from .diagnostics import diagnostic, rewriting, short


_OF_TRUTH = {"max", "min", "any", "all", "sorted", "bool"}


def truths(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """branch-on-tracer, logical-op-on-tracer, flag-arg-traced, and loop-on-tracer of `while`."""
    if not event.region.abstract:
        return
    if event.what == "call":
        yield from _of_builtins(event, walk)
    if event.what != "truth":
        return
    flag = _flag(event, walk)
    if flag is not None:
        yield flag
    elif event.kind.is_tracer:
        yield _undecided(walk, event.node)


def _undecided(walk: Walk, node: ast.expr) -> Diagnostic:
    code = walk.code
    text = short(code, node)
    if is_logical(node):
        message = f"{_construct(node)} needs a Python truth, and the values in `{text}` are not known while tracing."
        fix = rewriting(code, node, "bool", "Write & | ~ for and, or, not, with brackets round each comparison.")
        return diagnostic(code, "logical-op-on-tracer", node, message, fix)
    if isinstance(code.parents.get(node), ast.While):
        message = f"how often this loop runs depends on `{text}`, which is not known while tracing."
        return diagnostic(code, "loop-on-tracer", node, message, rewriting(code, node, "bool", "Use lax.while_loop."))
    message = f"`{text}` is not known while tracing, so Python cannot choose a branch."
    fix = rewriting(code, node, "bool", "Use jnp.where or lax.cond.")
    return diagnostic(code, "branch-on-tracer", node, message, fix)


def _construct(node: ast.AST) -> str:
    match node:
        case ast.BoolOp(op=ast.And()):
            return "`and`"
        case ast.BoolOp():
            return "`or`"
        case ast.UnaryOp():
            return "`not`"
        case ast.Compare(ops=ops) if len(ops) == 1:
            return "`in`"
    return "a chain of comparisons"


def _of_builtins(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    node, code = event.node, walk.code
    match node.func:
        case ast.Name(id=name) if name in _OF_TRUTH and walk.functions.named(name, node) is None and not event.dotted:
            of_several = name in ("max", "min")
            if of_several and len(node.args) < 2:
                return  # of the elements of a list, which may be traced or not
            above = code.parents.get(node)
            if name == "bool" and isinstance(above, ast.If | ast.IfExp | ast.While) and above.test is node:
                if any(kind.is_tracer for kind in event.inner):
                    yield _undecided(walk, node)
            elif any(kind.is_tracer or (kind is Kind.TREE and of_several) for kind in event.inner) or _of_tracers(
                event, walk
            ):
                message = f"Python's {name}() compares values, and those in `{short(code, node)}` are not known while tracing."
                fix = rewriting(code, node, "bool", f"Use jnp.{name}.")
                yield diagnostic(code, "logical-op-on-tracer", node, message, fix)


def _of_tracers(event: Event, walk: Walk) -> bool:
    """Whether a comprehension is passed whose elements are calls that give traced arrays."""
    match event.node.args:
        case [ast.GeneratorExp(elt=ast.Call(func=func)) | ast.ListComp(elt=ast.Call(func=func))]:
            gives = gives_array(walk.code.dotted(func)) or (isinstance(func, ast.Attribute) and func.attr in METHODS)
            return gives and event.inner[0].is_traced
    return False


def _flag(event: Event, walk: Walk) -> Diagnostic | None:
    """An argument that is used as a truth as it is, and is given as True, False or text somewhere."""
    node, region = event.node, event.region
    name = node.operand if isinstance(node, ast.UnaryOp) else node
    if not isinstance(name, ast.Name) or region.traced is None or region.function is not region.traced.function:
        return None
    function = region.traced.function
    if (
        event.kind not in (Kind.TREE, Kind.UNKNOWN)
        or name.id in region.traced.static
        or name.id not in parameters(function)
    ):
        return None
    if not _given_flag(function, name.id, walk):
        return None
    called = getattr(function, "name", "f")
    message = f"`{name.id}` is a flag, but as an argument of the traced {called} it has no value here."
    return diagnostic(walk.code, "flag-arg-traced", node, message, Fix(_static(name.id, region.traced, walk)))


def _static(name: str, traced: TracedFunction, walk: Walk) -> str:
    """How an argument becomes static where the function is said to be traced, which may name it by another one: `jax.jit(model.apply)`."""
    function, site = traced.function, traced.site
    called = getattr(function, "name", "f")
    if isinstance(site, ast.Call):
        if any((one.arg or "").startswith("static_arg") for one in site.keywords):
            return f"Make it static, too: add {name!r} to the static arguments of {called}."
        if site.args and site not in getattr(function, "decorator_list", ()):
            called = short(walk.code, site.args[0])
    return f"Make it static: jax.jit({called}, static_argnames={name!r})."


def _given_flag(function: Function, name: str, walk: Walk) -> bool:
    for call in walk.code.of(ast.Call):
        made = walk.functions.compiled_at(call)
        if made is not None and made.function is function and name not in made.static:
            given = [one for one in positional(function) if one not in made.bound]
            if _is_flag(argument_for(call, name, given)):
                return True
    return False


def _is_flag(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, bool | str)


def loops(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """loop-on-tracer of `for … in range(n)`."""
    if event.what != "call" or not event.region.abstract:
        return
    node, code = event.node, walk.code
    if isinstance(node.func, ast.Name) and node.func.id == "range" and any(kind.is_traced for kind in event.inner):
        message = f"how often this loop runs depends on `{short(code, node)}`, which is not known while tracing."
        fix = rewriting(code, node, "index", "Use lax.fori_loop, or make the argument static.")
        yield diagnostic(code, "loop-on-tracer", node, message, fix)


def types(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """isinstance-on-tracer, `type(x) is float` and `case float():` too."""
    if event.region.traced is None:
        return
    node = event.node
    if event.what == "match" and event.kind.is_traced:
        around = walk.code.parents[walk.code.parents[node]]
        classes = [one.cls for one in choices(node) if isinstance(one, ast.MatchClass)]
        if isinstance(around, ast.Match) and len(classes) == len(choices(node)):
            yield from _never(walk, node, around.subject, classes)
    elif event.what == "call" and isinstance(node.func, ast.Name) and event.inner and event.inner[0].is_traced:
        above = walk.code.parents.get(node)
        match node.func.id, above:
            case "isinstance", _ if len(node.args) == 2:
                classes = parts_of(node.args[1])
                for one in _never(walk, node, node.args[0], classes):
                    yield replace(one, lower="info") if event.region.depth else one  # other calls may pass values
            case "type", ast.Compare(ops=[ast.Is() | ast.Eq()], comparators=[other]):
                yield from _never(walk, above, node.args[0], [other])


def _never(walk: Walk, test: ast.AST, value: ast.expr, classes: Sequence[ast.expr]) -> Iterator[Diagnostic]:
    """A test of a traced value for a type, if no tracer has that."""
    if classes and all((walk.code.dotted(one) or getattr(one, "id", "")) in VALUE_TYPES for one in classes):
        what, name = short(walk.code, test), short(walk.code, value)
        what = f"`case {what}:` is never taken" if isinstance(test, ast.pattern) else f"`{what}` is False"
        message = f"{what} while tracing, whatever was passed: `{name}` is a tracer there."
        fix = Fix(f"Look at {name}.dtype or {name}.ndim, or decide before the traced function is called.")
        yield diagnostic(walk.code, "isinstance-on-tracer", test, message, fix)


def orders(walk: Walk) -> Iterator[Diagnostic]:
    """loop-argument-order: functions of loops whose parameters are named in the other order."""
    for traced in walk.functions.traced:
        names = [name for name in parameters(traced.function) if name not in traced.bound]
        said = swapped(traced.by, *names, sure=True) if len(names) == 2 else ""
        if said:
            yield diagnostic(walk.code, "loop-argument-order", traced.site, said, SWAP)
