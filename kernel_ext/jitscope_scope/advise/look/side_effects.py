"""What Python does while a function is traced, and never again: prints, changes of outer state, random numbers, clocks."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from ...source_code.bindings import bound, declared, is_given_back, root_name, stored
from ...source_code.parameters import arguments, parameters
from ...source_code.tree import Function, below
from ..code.values import Kind
from ..code.walk import Event, Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic, replacing, short
from .updates import is_by_name, may_be_reference


# --- prints ---------------------------------------------------------------------------------------------------------------


def prints(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """trace-time-print: `print(x)`, `f"{x}"`, `logging.info("%s", x)`, `str(x)`."""
    node = event.node
    if event.region.traced is None or event.what not in ("format", "call") or _is_for_people(node, walk):
        return
    if event.what == "format":
        if event.kind.is_traced and event.region.abstract and not _wants_number(node):
            whole = walk.code.parents.get(node)
            guilty = node.right if isinstance(node, ast.BinOp) else node.value
            yield _seen(event, walk, whole if isinstance(whole, ast.JoinedStr) else node, guilty)
    elif any(kind.is_traced for kind in event.inner) and event.region.abstract:
        named = isinstance(node.func, ast.Name) and node.func.id in ("print", "str", "repr", "format")
        if named or event.dotted.startswith("logging.") or _is_logger(node.func) or _is_template(node.func):
            given = arguments(node)
            yield _seen(event, walk, node, next(a for a, kind in zip(given, event.inner) if kind.is_traced))


def _wants_number(node: ast.AST) -> bool:
    """Whether it is `"%.2f" % x`, which raises: a tracer has no number to give."""
    match node:
        case ast.BinOp(left=ast.Constant(value=str(text))):
            return re.search(r"%[-#0 +\d.*]*[diouxXeEfFgG]", text) is not None
    return False


def _seen(event: Event, walk: Walk, node: ast.AST, guilty: ast.expr) -> Diagnostic:
    text = short(walk.code, guilty)
    message = f"this runs while tracing: it sees a tracer in place of `{text}`, once, and calls of the compiled function skip it."
    if event.region.traced is not None and event.region.traced.each_time:
        message = f"this sees a tracer in place of `{text}`: under {event.region.traced.by} it has no value that Python could show."
    return diagnostic(walk.code, "trace-time-print", node, message, _debug_print(walk, node, text))


def _debug_print(walk: Walk, node: ast.AST, text: str) -> Fix:
    code = walk.code
    node = code.parents.get(node, node) if isinstance(node, ast.JoinedStr) else node
    match node:
        case ast.Call(func=ast.Name(id="print"), args=args, keywords=[]) if isinstance(
            code.parents.get(node), ast.Expr
        ):
            parts = [_shown(a) for a in args]
            texts = [text for text, _ in parts if text is not None]
            if len(texts) == len(parts) and not any(set('"\\\n') & set(text) for text in texts):
                given = "".join(f", {code.source(a)}" for _, values in parts for a in values)
                return replacing(code, node, f'jax.debug.print("{" ".join(texts)}"{given})')
    return Fix(f'jax.debug.print("{{}}", {text}) prints the value in every call.')


def _shown(node: ast.expr) -> tuple[str | None, list[ast.expr]]:
    """What `print` shows of an argument, as a format of `jax.debug.print`, and its values; None where that has no such format."""
    match node:
        case ast.Constant(value=str(text)):
            return (None, []) if set("{}") & set(text) else (text, [])
        case ast.JoinedStr(values=parts):
            texts, values = [], []
            for part in parts:
                text, inside = _shown(part)
                if text is None:
                    return None, []
                texts.append(text)
                values += inside
            return "".join(texts), values
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return "{}", [value]
        case ast.FormattedValue(
            value=value, conversion=-1, format_spec=ast.JoinedStr(values=[ast.Constant(value=spec)])
        ):
            return f"{{:{spec}}}", [value]
        case ast.FormattedValue():
            return None, []
    return "{}", [node]


def _is_template(func: ast.expr) -> bool:
    """`"x = {}".format`."""
    return isinstance(func, ast.Attribute) and func.attr == "format" and isinstance(func.value, ast.Constant)


def _is_logger(func: ast.expr) -> bool:
    match func:
        case ast.Attribute(value=ast.Name(id=name), attr="debug" | "info" | "warning" | "error" | "critical"):
            return name.lower().strip("_") in ("log", "logger", "logging")
    return False


def _is_for_people(node: ast.AST, walk: Walk) -> bool:
    """In the text of an error or an assertion a tracer is what people want to see; `jax.debug.print` has its own rules."""
    return any(
        isinstance(one, ast.Raise | ast.Assert) or (isinstance(one, ast.Call) and _asserts_or_shows(one.func, walk))
        for one in walk.code.around(node)
    )


def _asserts_or_shows(function: ast.expr, walk: Walk) -> bool:
    name = getattr(function, "attr", getattr(function, "id", ""))
    return name.startswith("assert") or walk.code.dotted(function).startswith("jax.debug.")


def _ends(event: Event) -> bool:
    return event.region.traced is not None and event.region.traced.ends


def _is_kept(event: Event) -> bool:
    return event.region.traced is not None and event.region.traced.kept


# --- changes --------------------------------------------------------------------------------------------------------------

_CHANGING = {
    "append", "extend", "insert", "pop", "popitem", "remove", "update", "setdefault", "add", "discard", "clear",
}  # fmt: skip
_ADDING = {"append", "extend", "insert", "setdefault"}


def names(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """trace-time-mutation of `global n; n += 1`; tracer-leak if a tracer is stored so."""
    if event.what == "name" and not _is_static_note(event, walk) and not _is_within(event, walk):
        counts = _is_count(event.node, walk)  # one for each trace, as who counts traces in a test does
        for one in _kept(event, walk, event.kind.is_traced, event.node.id):
            yield replace(one, lower="info") if counts else one


def _is_count(target: ast.Name, walk: Walk) -> bool:
    """Whether a name of a function around is made one more."""
    scope, statement = walk.code.scopes.binding(target.id, target), walk.code.parents.get(target)
    added = isinstance(statement, ast.AugAssign) and isinstance(statement.value, ast.Constant)
    return added and isinstance(scope, Function)


def _is_static_note(event: Event, walk: Walk) -> bool:
    """Whether a name of the function around is given what is the same in each trace: a shape, a structure. Nobody counts with it."""
    scope = walk.functions.scope_of(event.node)
    outer = {name for node in below(scope) if isinstance(node, ast.Nonlocal) for name in node.names}
    assigned = isinstance(walk.code.parents.get(event.node), ast.Assign)
    return assigned and event.node.id in outer and event.kind is Kind.STATIC and not _reads(event.node, walk)


def _is_within(event: Event, walk: Walk) -> bool:
    """Whether a name belongs to a function that is traced with the one that stores it."""
    scope = walk.code.scopes.binding(event.node.id, event.node)
    traced = event.region.traced
    return traced is not None and isinstance(scope, Function) and traced.function in (scope, *walk.code.around(scope))


def _reads(target: ast.Name, walk: Walk) -> bool:
    value = getattr(walk.code.parents.get(target), "value", None)
    return value is None or any(isinstance(one, ast.Name) and one.id == target.id for one in below(value))


def stores(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """trace-time-mutation of `p["w"] = …`, `state.count = …` on what came from outside."""
    node, function = event.node, event.region.function
    if event.what != "store" or not _ends(event) or function is None or may_be_reference(node, event.kind, walk):
        return
    base = root_name(node)
    if not base or event.kind.is_tracer or event.kind is Kind.ARRAY or event.dotted:
        return
    if base in event.region.outer or (base not in parameters(function) and not _is_local(base, event, walk)):
        remembered = not event.stored.is_traced and _is_memo(node, walk)
        passing = (_is_restored, _is_given_again, _may_be_undone, _is_scratch)
        if _is_plain(node, walk) and not remembered and not any(passes(event, function, walk) for passes in passing):
            yield from _kept(event, walk, event.stored.is_traced, short(walk.code, node))
    elif base in parameters(function):
        if (
            _is_kept(event)
            and is_by_name(node, walk)
            and not event.region.depth
            and not _bound_anew(base, function)
            and not is_given_back(base, function)
        ):
            found = _copy_changed(walk, node, short(walk.code, node))
            yield replace(found, lower="info") if _is_read_later(base, node, function) else found


def _is_read_later(name: str, node: ast.AST, function: Function) -> bool:
    """Whether a function goes on with what it changed: that may be all that is wanted."""
    return any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Load) and one.lineno > node.end_lineno  # pyright: ignore
        for one in below(function)
    )


def _is_restored(event: Event, function: Function, walk: Walk) -> bool:
    """Whether a function gives an attribute or an element back what it took from there: `old = a.b; a.b = new; …; a.b = old`."""
    source = walk.code.source(event.node)
    taken: set[str] = set()
    for one in walk.code.within(function):
        match one:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if walk.code.source(value) == source:
                taken.add(name)
            case ast.Assign(targets=[target], value=ast.Name(id=name)) if (
                name in taken and walk.code.source(target) == source
            ):
                return True
    return False


def _is_given_again(event: Event, function: Function, walk: Walk) -> bool:
    """Whether the function that has this one traced gives the same attribute or element a value once that is done."""
    traced = event.region.traced
    outer = walk.code.function_around(traced.function) if traced is not None else None
    if traced is None or outer is None or walk.code.function_around(traced.site) is not outer:
        return False
    source, own = walk.code.source(event.node), set(below(traced.function))
    return any(
        isinstance(one, ast.Attribute | ast.Subscript)
        and isinstance(one.ctx, ast.Store)
        and one not in own
        and one.lineno > traced.site.lineno  # pyright: ignore[reportAttributeAccessIssue]
        and walk.code.source(one) == source
        for one in below(outer)
    )


def _may_be_undone(event: Event, function: Function, walk: Walk) -> bool:
    """Whether a later line calls a method that this program does not show, of a class that it shows in part: `return self.pop_state()`."""
    node = event.node
    owner = walk.functions.instance(node.value, node) if isinstance(node, ast.Attribute) else None
    if owner is None or all(walk.functions.is_class(base) for base in owner.bases):
        return False
    object = walk.code.source(node.value)
    last = node.end_lineno or node.lineno
    return any(
        isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and one.lineno > last
        and walk.code.source(one.func.value) == object
        and walk.functions.of_object(one.func, one) is None
        for one in below(function)
    )


def _is_scratch(event: Event, function: Function, walk: Walk) -> bool:
    """Whether an element is written of what a function around keeps for itself, and nothing but the traced function reads."""
    node, traced = event.node, event.region.traced
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name) or traced is None:
        return False
    name = node.value.id
    scope = walk.code.scopes.binding(name, node)
    own = set(below(traced.function))
    return isinstance(scope, Function) and all(
        one in own or not isinstance(one.ctx, ast.Load)
        for one in walk.code.of(ast.Name)
        if one.id == name and walk.code.scopes.binding(name, one) is scope
    )


def _is_memo(node: ast.expr, walk: Walk) -> bool:
    """Whether a function asks first whether an element is there, and else gives it a value that has nothing to do with what was there:
    that is the same whenever it runs. One that counts asks as well."""
    function, statement = walk.code.function_around(node), walk.code.statement_around(node)
    if not isinstance(node, ast.Subscript) or function is None or not isinstance(statement, ast.Assign):
        return False
    asked = [one for one in walk.code.within(function) if _asks_for(one, node, walk)]
    return bool(asked) and not any(one is part for one in asked for part in ast.walk(statement))


def _asks_for(one: ast.AST, element: ast.Subscript, walk: Walk) -> bool:
    """Whether code asks whether an element is there: `key in known`, `known.get(key)`."""
    match one:
        case ast.Compare(left=asked, ops=[ast.In() | ast.NotIn()], comparators=[there]):
            pass
        case ast.Call(func=ast.Attribute(value=there, attr="get"), args=[asked, *_]):
            pass
        case _:
            return False
    source = walk.code.source
    return (source(there), source(asked)) == (source(element.value), source(element.slice))


def _is_plain(node: ast.expr, walk: Walk) -> bool:
    """Whether what is stored into is a Python object for sure: elements of a list or dict, and attributes but `value`, which variables
    of libraries keep traced values in."""
    if isinstance(node, ast.Subscript):
        return is_by_name(node, walk) or walk.holders.is_container(node.value)
    own = isinstance(node, ast.Attribute) and (
        walk.functions.is_class(node.value) or walk.functions.instance(node.value, node)
    )
    return bool(own) or getattr(node, "attr", "") not in ("value", "raw_value")


def _kept(event: Event, walk: Walk, traced: bool, what: str) -> Iterator[Diagnostic]:
    """Something is stored outside of the function: a tracer, or what compiled calls do not store again."""
    if traced and _ends(event):
        yield _leaking(walk, event.node, what)
    elif not traced and _is_kept(event):
        yield _change_in(event)(walk, event.node, what)


def environment(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """host-nondeterminism of `os.environ["HOME"]`."""
    if event.what == "index" and _is_kept(event) and walk.code.dotted(event.node.value) == "os.environ":
        yield _frozen(walk, event.node, "os.environ")


def _frozen(walk: Walk, node: ast.expr, dotted: str) -> Diagnostic:
    message = f"`{short(walk.code, node)}` runs once, while tracing: every call of the compiled function uses what it gave then."
    return diagnostic(walk.code, "host-nondeterminism", node, message, Fix(_instead(dotted)))


def _is_for_rows(event: Event) -> bool:
    return event.region.traced is not None and event.region.traced.by in ("vmap", "filter_vmap", "nnx.vmap")


def _same_in_rows(walk: Walk, node: ast.expr) -> Diagnostic:
    message = f"`{short(walk.code, node)}` runs once for all rows: each row has the same random numbers."
    fix = "Map over keys as well, and draw with jax.random: jax.vmap(f)(jax.random.split(key, n), xs)."
    return diagnostic(walk.code, "key-not-threaded", node, message, fix)


def calls(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """trace-time-mutation of `log.append(…)` and `next(it)`, tracer-leak of the former, host-nondeterminism; of rows
    key-not-threaded."""
    if event.what != "call" or not _ends(event) or event.region.function is None:
        return
    node, code, kept = event.node, walk.code, _is_kept(event)
    if event.dotted:
        if kept and _is_nondeterministic(event.dotted):
            yield _frozen(walk, node, event.dotted)
        elif not kept and _is_for_rows(event) and event.dotted.startswith(_RANDOM) and event.dotted not in _SEEDED:
            yield _same_in_rows(walk, node)
        return
    match node.func:
        case ast.Attribute(value=ast.Name() | ast.Attribute() | ast.Subscript() as base, attr=attr) if _is_outer(
            base, event, walk
        ):
            if walk.holders.is_generator(base):
                if kept:
                    yield _frozen(walk, node, "random.")
                elif _is_for_rows(event):
                    yield _same_in_rows(walk, node)
            elif attr in _CHANGING:
                yield from _changing(event, walk, base)
        case ast.Attribute(value=base, attr=attr) if kept and attr in _ADDING and _is_lost(base, event, walk):
            yield _copy_changed(walk, node, code.source(base))
        case ast.Name(id="next") if kept and node.args and isinstance(node.args[0], ast.Name | ast.Attribute):
            if _is_outer(node.args[0], event, walk):
                yield _changed(walk, node, code.source(node.args[0]))


def _is_lost(base: ast.expr, event: Event, walk: Walk) -> bool:
    """Whether a list or dict of the arguments is changed, and neither read afterwards nor given back: the caller's stays as it was."""
    name, function = root_name(base), event.region.function
    if function is None or name not in parameters(function) or event.region.depth or _bound_anew(name, function):
        return False
    what = walk.code.source(base)
    read = [one for one in below(function) if isinstance(one, type(base)) and walk.code.source(one) == what]
    return (
        isinstance(walk.code.parents.get(event.node), ast.Expr) and read == [base] and not is_given_back(name, function)
    )


def _changing(event: Event, walk: Walk, base: ast.expr) -> Iterator[Diagnostic]:
    """`log.append(x)`, where `log` is a list from outside; a method of that name that gives something is another's."""
    node, what = event.node, walk.code.source(base)
    is_statement = isinstance(walk.code.parents.get(node), ast.Expr)
    known = walk.holders.is_container(base)
    if not known and (not is_statement or node.func.attr not in ("append", "extend")):
        return
    if walk.functions.instance(base, node) is not None or _is_undone(base, event, walk):
        return
    if any(kind.is_traced for kind in event.inner) and is_statement:
        yield _leaking(walk, node, what)
    elif _is_kept(event):
        found = _change_in(event)(walk, node, what)
        counts = known and [*map(type, node.args)] == [ast.Constant]  # one for each trace, as who counts traces does
        noted = isinstance(
            walk.code.scopes.binding(root_name(base), base), Function
        )  # what the function around asks for
        yield replace(found, lower="info") if counts or noted else found


_UNDOING = ({"append", "extend", "insert", "appendleft"}, {"pop", "popleft", "clear", "remove"})


def _is_undone(base: ast.expr, event: Event, walk: Walk) -> bool:
    """Whether a function takes from a list again what it puts there: a stack, which is after the trace as it was before."""
    what = walk.code.source(base)
    for function in (one for one in walk.code.around(event.node) if isinstance(one, Function)):
        done = {
            call.func.attr
            for call in below(function)
            if isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and walk.code.source(call.func.value) == what
        }
        if all(done & some for some in _UNDOING):
            return True
    return False


def _change_in(event: Event) -> Callable[[Walk, ast.AST, str], Diagnostic]:
    """How a change is told: in a branch it is one that both branches make."""
    traced = event.region.traced
    return _in_branch if traced is not None and traced.by in ("cond", "switch") else _changed


def _is_outer(node: ast.Name | ast.Attribute | ast.Subscript, event: Event, walk: Walk) -> bool:
    """Whether a name, or an attribute of one, is from outside of what is traced."""
    name, function = root_name(node), event.region.function
    if not name or function is None or walk.code.dotted(node):
        return False
    if name in event.region.outer:
        return not isinstance(node, ast.Name)
    return name not in parameters(function) and not _is_local(name, event, walk)


def _copy_changed(walk: Walk, node: ast.AST, what: str) -> Diagnostic:
    argument = what.partition("[")[0].partition(".")[0]
    return _changed(walk, node, what, f"this changes a copy of `{argument}`: what the caller passed stays as it was.")


def _changed(walk: Walk, node: ast.AST, what: str, message: str = "") -> Diagnostic:
    message = message or f"this changes `{what}` while tracing; calls of the compiled function do not repeat it."
    fix = "Return the new value and let the caller keep it: state, y = f(state, x)."
    return diagnostic(walk.code, "trace-time-mutation", node, message, fix)


def _in_branch(walk: Walk, node: ast.AST, name: str) -> Diagnostic:
    message = f"both branches are traced, so this changes `{name}` whichever of them is taken."
    return diagnostic(walk.code, "cond-runs-both", node, message, "Keep changes of outer state out of branches.")


def raises_in_branches(walk: Walk) -> Iterator[Diagnostic]:
    """cond-runs-both: a branch that always raises ends every call, whichever branch is taken."""
    for traced in walk.functions.traced:
        body = traced.function.body if traced.by in ("cond", "switch") else []
        for statement in body if isinstance(body, list) else []:
            if isinstance(statement, ast.Raise):
                message = "both branches are traced, so this is raised whichever of them is taken."
                fix = "Give back a value that says so (jnp.nan, a flag), or check with jitscope.checkify."
                yield diagnostic(walk.code, "cond-runs-both", statement, message, fix)


def _leaking(walk: Walk, node: ast.AST, name: str) -> Diagnostic:
    message = f"this stores a tracer in `{name}`, outside of the traced function: there it has no value once the trace has ended."
    return diagnostic(walk.code, "tracer-leak", node, message, "Return the value from the function.", "warning")


def _is_local(name: str, event: Event, walk: Walk) -> bool:
    """Whether a name is bound by the function, by one inside it, or by one around it that is traced with it."""
    function, traced = event.region.function, event.region.traced
    if function is None or name in _own(function):
        return function is not None
    if traced is None or function is traced.function:
        return False
    around = [one for one in walk.code.around(function) if isinstance(one, ast.FunctionDef | ast.Lambda)]
    if traced.function not in around:
        return False
    return any(name in _own(one) for one in around[: around.index(traced.function) + 1])


def _own(function: ast.AST) -> set[str]:
    return bound(function) - declared(function)


def _bound_anew(name: str, function: ast.AST) -> bool:
    """Whether an argument's name is given something else first: `p = dict(p)`."""
    return name in stored(function)


_RANDOM = ("random.", "numpy.random.", "secrets.", "uuid.uuid")
_CLOCKS = (
    "time.time", "time.perf_counter", "time.monotonic", "time.time_ns", "time.perf_counter_ns", "time.process_time",
    "datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today",
)  # fmt: skip
_SEEDED = (
    "numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "random.Random",
    "numpy.random.SeedSequence",
)  # fmt: skip


def _is_nondeterministic(dotted: str) -> bool:
    if dotted in _SEEDED:
        return False
    return dotted.startswith(_RANDOM) or dotted in _CLOCKS or dotted in ("os.getenv", "os.environ.get", "os.urandom")


def _instead(dotted: str) -> str:
    if dotted.startswith(_RANDOM):
        return "Take a key as an argument and use jax.random; or pass the number as an argument."
    return "Read it outside, and pass it as an argument if the program needs it."
