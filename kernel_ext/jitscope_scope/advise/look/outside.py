"""What happens outside of compiled functions, between their calls: values they captured change, arrays they took are used again."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Iterator

from ...source_code.bindings import given_by, read, stored
from ...source_code.parameters import parameters
from ...source_code.text import Code
from ...source_code.tree import Function, below
from ..code.functions import TracedFunction
from ..code.values import gives_static
from ..code.walk import Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic, short_call


def stale(walk: Walk) -> Iterator[Diagnostic]:
    """stale-capture and static-mutable-stale: what the traced code read is changed between two calls at the top of the program."""
    code = walk.code
    yield from _of_objects_in_functions(walk)
    changes = _changes(code, code.outside, walk)
    if not changes and not _loops(code.outside):
        return
    every = [(*key, traced) for key, given in walk.functions.compiled.items() for _, traced in given]
    for function, traced in _compiled_at_once(walk).items():
        calls = _calls(code.outside, lambda call, function=function: _calls_at_once(call, function, walk))
        bindings = _bindings(code.outside, function.name)
        yield from _between(walk, _read(traced, walk), changes, calls, bindings, "stale-capture", function.name)
    for scope, name, traced in every:
        own = _read(traced, walk)
        if isinstance(scope, ast.Module):
            calls = _calls(
                code.outside, lambda call, name=name: isinstance(call.func, ast.Name) and call.func.id == name
            )
            yield from _between(walk, own, changes, calls, _bindings(code.outside, name), "stale-capture", name)
        elif isinstance(scope, ast.ClassDef) and "self" in traced.static:
            yield from _of_objects(walk, (scope, name, traced), changes, code.outside)


def _compiled_at_once(walk: Walk) -> dict[ast.FunctionDef, TracedFunction]:
    """The functions of a name that are compiled where they are called, `jit(f)(x)`: what was traced is found by the function."""
    return {
        traced.function: traced
        for traced in walk.functions.traced
        if traced.by == "jit" and isinstance(traced.function, ast.FunctionDef) and _is_called(traced.site, walk.code)
    }


def _calls_at_once(call: ast.Call, function: Function, walk: Walk) -> bool:
    traced = walk.functions.compiled_at(call) if isinstance(call.func, ast.Call) else None
    return traced is not None and traced.function is function


def _is_called(node: ast.AST, code: Code) -> bool:
    above = code.parents.get(node)
    return isinstance(above, ast.Call) and above.func is node


def _of_objects_in_functions(walk: Walk) -> Iterator[Diagnostic]:
    """The same of objects that a function makes, changes and calls, where no test decides whether it does."""
    methods = [
        (scope, name, traced)
        for (scope, name), given in walk.functions.compiled.items()
        for _, traced in given
        if isinstance(scope, ast.ClassDef) and "self" in traced.static
    ]
    for function in walk.code.of(ast.FunctionDef, ast.AsyncFunctionDef) if methods else ():
        if function in walk.functions.traced_functions:
            continue
        own = [one for one in below(function) if walk.code.function_around(one) is function]
        changes = {
            path: [one for one in given if not _is_chosen(one, function, walk.code)]
            for path, given in _changes(walk.code, own, walk).items()
        }
        for method in methods:
            yield from _of_objects(walk, method, changes, own)


def _is_chosen(node: ast.AST, function: Function, code: Code) -> bool:
    """Whether a test in a function decides whether a statement of its runs."""
    around = code.around(node)
    inside = itertools.takewhile(lambda one: one is not function, around)
    return any(isinstance(one, ast.If | ast.Try | ast.Match) for one in inside)


_Method = tuple[ast.ClassDef, str, TracedFunction]
"""A compiled method: its class and its name."""


def _of_objects(
    walk: Walk, method: _Method, changes: dict[str, list[ast.stmt]], nodes: list[ast.AST]
) -> Iterator[Diagnostic]:
    """`m.f(x); m.k = 5; m.f(x)`, where f reads self.k and self is static: told apart by identity, it is the same."""
    owner, called, traced = method
    if any(isinstance(one, ast.FunctionDef) and one.name == "__hash__" for one in owner.body):
        return
    id = "stale-capture" if "self" in traced.bound else "static-mutable-stale"
    own = _read(traced, walk)
    for name in {path.split(".")[0] for path in changes if "." in path}:
        calls = _calls(
            nodes,
            lambda call, name=name: walk.code.source(call.func) == f"{name}.{called}" and _may_be_of(call, owner, walk),
        )
        renamed = {path.replace("self.", f"{name}.", 1): node for path, node in own.items() if path.startswith("self.")}
        yield from _between(walk, renamed, changes, calls, _bindings(nodes, name), id, f"{name}.{called}", nodes)


def _may_be_of(call: ast.Call, owner: ast.ClassDef, walk: Walk) -> bool:
    """Whether the method that is called may be one of `owner`: the program does not tell another class of the object."""
    made = walk.functions.instance(call.func.value, call) if isinstance(call.func, ast.Attribute) else None
    return made is None or made is owner or bool(made.bases)


def _between(
    walk: Walk,
    read: dict[str, ast.expr],
    changes: dict[str, list[ast.stmt]],
    calls: list[ast.Call],
    bindings: list[int],
    id: str,
    called: str,
    nodes: list[ast.AST] | None = None,
) -> Iterator[Diagnostic]:
    """`nodes` are those of the place where the calls and the changes stand; None: the top of the program."""
    for path, node in read.items():
        for change in changes.get(path, ()):
            before = [
                c
                for c in calls
                if c.lineno < change.lineno or (c.lineno == change.lineno and c.col_offset < change.col_offset)
            ]
            after = [c for c in calls if c not in before and not _inside(c, change, walk.code)]
            if before and after and not any(before[-1].lineno < line <= after[0].lineno for line in bindings):
                tell = functools.partial(walk.code.line_told, at=node)
                if isinstance(change, ast.FunctionDef):
                    message = (
                        f"`{path}` is part of {called} as it was when that was traced; {tell(change)} defines it again, and the call in "
                        f"{tell(after[0])} still runs the old one."
                    )
                    yield diagnostic(
                        walk.code, id, node, message, Fix(f"Define {called} again below it, or pass it as an argument.")
                    )
                    break
                message = (
                    f"`{path}` was read when {called} was traced; {tell(change)} changes it, and the call in {tell(after[0])} still "
                    "uses the old value."
                )
                fix = (
                    f"Pass it as an argument of {called}."
                    if id == "stale-capture"
                    else "Pass it as an argument, or register the class as a pytree."
                )
                yield diagnostic(walk.code, id, node, message, Fix(fix))
                break
        else:
            yield from _in_a_loop(walk, path, node, calls, bindings, id, called, nodes or walk.code.outside)


def _in_a_loop(
    walk: Walk,
    path: str,
    read: ast.expr,
    calls: list[ast.Call],
    bindings: list[int],
    id: str,
    called: str,
    nodes: list[ast.AST],
) -> Iterator[Diagnostic]:
    """A loop at the top of the program that gives `path` another value in each iteration, and calls in each what read it once."""
    for loop in _loops(nodes):
        again = [call for call in calls if _is_run_each_time(call, loop, walk.code)]
        change = _changes_each_time(loop, path, walk) if again else None
        made = any(loop.lineno <= line <= (loop.end_lineno or loop.lineno) for line in bindings)
        if change is None or made or any(isinstance(one, ast.Break) for one in loop.body):
            continue
        told, call = walk.code.line_told(change, read), walk.code.line_told(again[0], change)
        message = f"`{path}` was read when {called} was traced, once; {told} changes it as the loop goes on, and the call in {call} keeps to the first value."
        yield diagnostic(walk.code, id, read, message, Fix(f"Pass it as an argument of {called}."))
        return


def _loops(nodes: list[ast.AST]) -> list[ast.For | ast.While]:
    return [one for one in nodes if isinstance(one, ast.For | ast.While)]


def _is_run_each_time(node: ast.AST, loop: ast.For | ast.While, code: Code) -> bool:
    """Whether a node stands in the body of a loop, and no test decides whether it is run."""
    for one in (node, *code.around(node)):
        if one in loop.body:
            return not isinstance(one, ast.If | ast.Try | ast.Match)
        if isinstance(one, ast.If | ast.IfExp | ast.Try | ast.Match):
            return False
    return False


def _changes_each_time(loop: ast.For | ast.While, path: str, walk: Walk) -> ast.AST | None:
    """Where a loop gives a name, an attribute or an element another value in each iteration: it loops with it, adds to it, computes it
    from what it gives another value itself, or calls a method that adds to it."""
    if isinstance(loop, ast.For) and path in stored(loop.target):
        return loop.target
    moving = stored(loop)
    for node in (one for part in loop.body for one in below(part)):
        match node:
            case ast.AugAssign(target=target) if _path(target) == path:
                return node
            case ast.Assign(targets=[target], value=value) if _path(target) == path:
                read = {one.id for one in below(value) if isinstance(one, ast.Name)}
                if read & moving:
                    return node
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=base)) as call) if node in loop.body:
                if path in [f"{_path(base)}.{name}" for name, added in _given_by_method(call, walk) if added]:
                    return node
    return None


def _inside(node: ast.AST, outer: ast.AST, code: Code) -> bool:
    return node is outer or outer in code.around(node)


def _changes(code: Code, nodes: list[ast.AST], walk: Walk) -> dict[str, list[ast.stmt]]:
    """The statements of a place that give a name, an attribute or an element a value, but the first of a name; that call a method
    which does; and that define a function of a name again."""
    found: dict[str, list[ast.stmt]] = {}
    values: dict[str, str] = {}
    for node in nodes:
        if not isinstance(node, ast.Assign | ast.AugAssign):
            continue
        if any(isinstance(one, ast.ClassDef) for one in code.around(node)):
            continue
        value = ast.dump(node.value) if isinstance(node, ast.Assign) and _is_literal(node.value) else ""
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            path = _path(target)
            again = bool(value) and values.get(path) == value
            if path and (path in values or not isinstance(target, ast.Name)) and not again:
                found.setdefault(path, []).append(node)
            values[path] = value
    defined: dict[str, str] = {}
    for node in code.tree.body if nodes is code.outside else ():
        if isinstance(node, ast.FunctionDef):
            text = ast.dump(node)
            if defined.setdefault(node.name, text) != text:
                found.setdefault(node.name, []).append(node)
            defined[node.name] = text
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=base, attr=attr))):
                if _path(base) and attr in _CHANGING:
                    found.setdefault(_path(base), []).append(node)
                for name, _ in _given_by_method(node.value, walk):  # pyright: ignore[reportArgumentType]
                    found.setdefault(f"{_path(base)}.{name}", []).append(node)
    return {path: sorted(given, key=lambda n: (n.lineno, n.col_offset)) for path, given in found.items()}


def _given_by_method(call: ast.Call, walk: Walk) -> Iterator[tuple[str, bool]]:
    """The attributes that a method gives what it is called with, or adds to (True), whatever else it does: `sim.set_damping(0.5)`."""
    base = call.func.value if isinstance(call.func, ast.Attribute) else None
    if not isinstance(base, ast.Name) or walk.functions.instance(base, call) is None:
        return
    method = walk.functions.of_object(call.func, call)
    if not isinstance(method, ast.FunctionDef) or method in walk.functions.traced_functions or not parameters(method):
        return
    own, *given = parameters(method)
    for statement in method.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Attribute(value=ast.Name(id=root), attr=name)], value=value)
                | ast.AugAssign(target=ast.Attribute(value=ast.Name(id=root), attr=name), value=value)
            ) if root == own and (read(value) & {*given} or isinstance(statement, ast.AugAssign)):
                yield name, isinstance(statement, ast.AugAssign)


def _is_literal(node: ast.expr) -> bool:
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


_CHANGING = {"append", "extend", "insert", "pop", "remove", "update", "setdefault", "add", "clear", "sort", "reverse"}


def _path(node: ast.AST) -> str:
    """`scale`, `model.k`, `options['lr']`; "" for other targets."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=attr) if _path(value):
            return f"{_path(value)}.{attr}"
        case ast.Subscript(value=value, slice=ast.Constant(value=key)) if _path(value):
            return f"{_path(value)}[{key!r}]"
    return ""


def _read(traced: TracedFunction, walk: Walk) -> dict[str, ast.expr]:
    """What a function, and those of the program that it calls by name, read from outside, by path."""
    found: dict[str, ast.expr] = {}
    todo: list[tuple[Function, frozenset[str]]] = [(traced.function, traced.static)]
    seen: set[Function] = set()
    while todo:
        function, static = todo.pop()
        if function in seen:
            continue
        seen.add(function)
        bound = stored(function)
        bound |= set(parameters(function)) - (static & _BOUND)
        scopes = walk.code.scopes
        for node in below(function):
            if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load):
                path = _path(node)
                root = path.split(".")[0].split("[")[0]
                if not path or root in bound or root in walk.code.names.table:
                    continue
                if root in static & _BOUND or scopes.binding(root, node) in (walk.code.tree, None):
                    found.setdefault(path, node)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in bound:
                called = walk.functions.named(node.func.id, node)
                todo += [(called, frozenset())] if called is not None else []
    return found


_BOUND = frozenset({"self"})
"""Parameters that are looked for by the names of the objects that methods are called on."""


def _calls(nodes: list[ast.AST], wanted: Callable[[ast.Call], bool]) -> list[ast.Call]:
    """The calls among some nodes that are wanted, in order."""
    found = [node for node in nodes if isinstance(node, ast.Call) and wanted(node)]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _bindings(nodes: list[ast.AST], name: str) -> list[int]:
    """The lines of a place that give a name a value, or define it."""
    found: list[int] = []
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            found.append(node.lineno)
        elif isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            found.append(node.lineno)
    return found


# --- donated arrays, overwritten buffers ---------------------------------------------------------------------------------------


def donated(walk: Walk) -> Iterator[Diagnostic]:
    """donation-misuse: a name that was donated and is read later in the same block."""
    code = walk.code
    for call in code.of(ast.Call):
        traced = walk.functions.compiled_at(call)
        if traced is None:
            continue
        for name in _donated_names(call, traced):
            reader = _next_reader(call, name, code) if not _is_of_numpy(name, call, code) else None
            if reader is not None and not walk.failures.has(reader):
                message = f"`{name}` is donated here: its memory is given away, and {code.line_told(reader, call)} reads it again."
                fix = f"Give the result its name, {name} = {short_call(code, call)}, or do not donate it."
                yield diagnostic(code, "donation-misuse", call, message, Fix(fix), "warning")


def _donated_names(call: ast.Call, traced: TracedFunction) -> Iterator[str]:
    keywords = traced.site.keywords if isinstance(traced.site, ast.Call) else []
    names = parameters(traced.function)
    for keyword in keywords:
        if keyword.arg not in ("donate_argnums", "donate_argnames"):
            continue
        values = keyword.value.elts if isinstance(keyword.value, ast.Tuple | ast.List) else [keyword.value]
        for value in values:
            which = getattr(value, "value", None)
            at = names.index(which) if isinstance(which, str) and which in names else which
            if isinstance(at, int) and 0 <= at < len(call.args) and isinstance(call.args[at], ast.Name):
                yield call.args[at].id  # pyright: ignore[reportAttributeAccessIssue]


def _is_of_numpy(name: str, call: ast.Call, code: Code) -> bool:
    """Whether all that gives a name its value are calls of NumPy's: an array of NumPy's is copied for a program, and stays as it is."""
    scope = code.scopes.binding(name, call)
    given = [code.parents.get(node) for node in code.scopes.binders(scope, name)] if scope is not None else []
    return bool(given) and all(
        isinstance(one, ast.Assign | ast.AnnAssign)
        and isinstance(one.value, ast.Call)
        and code.dotted(one.value.func).startswith("numpy.")
        for one in given
    )


def _next_reader(call: ast.Call, name: str, code: Code) -> ast.Name | None:
    """Where a name is read next in the block of a call, if nothing gives it a new value before."""
    statement = code.statement_around(call)
    if statement is None or _stores(statement, name):
        return None
    scope = code.scopes.binding(name, call)
    for later in code.after(statement):
        for node in below(later):
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
                if code.scopes.binding(name, node) is scope and not _is_asked_about(node, code):
                    return node
        if _stores(later, name):
            return None
    return None


def _is_asked_about(node: ast.Name, code: Code) -> bool:
    """`x.is_deleted()`, `x.shape`, `del x`, `f.lower(x)` and `jax.eval_shape(f, x)` are fine."""
    above = code.parents.get(node)
    match above:
        case ast.Delete():
            return True
        case ast.Attribute(attr=attr):
            return attr in ("is_deleted", "delete", "shape", "dtype", "ndim", "size", "aval", "sharding")
        case ast.Call(func=ast.Attribute(attr="lower" | "trace" | "eval_shape" | "like") as asked):
            return node is not asked.value
        case ast.Call(func=ast.Name(id="type" | "len" | "id" | "isinstance")):
            return True
    return isinstance(above, ast.Call) and gives_static(code.dotted(above.func))


def _stores(node: ast.AST, name: str) -> bool:
    return any(name in given_by(one) for one in below(node))
