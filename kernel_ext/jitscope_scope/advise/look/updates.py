"""Updates: elements assigned to, and results that are dropped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...source_code.bindings import stored
from ...source_code.parameters import arguments, keyword, parameters
from ...source_code.text import Code
from ...source_code.tree import below
from ...source_code.writing import anew, name_in, written
from ..code.forms import cuts_axes
from ..code.values import METHODS, Kind
from ..code.walk import Event, Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic, replacing, rewriting, short


def assignments(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """item-assignment."""
    node, code = event.node, walk.code
    if event.what != "store" or not isinstance(node, ast.Subscript):
        return
    if may_be_reference(node, event.kind, walk) or is_by_name(node, walk):
        return
    argument = event.kind is Kind.TREE and event.region.abstract and _is_array_argument(node, event, walk)
    if event.kind.is_tracer or event.kind is Kind.ARRAY or argument:
        message = f"arrays cannot be changed in place, and `{short(code, node.value)}` is one."
        fix = rewriting(code, node, "assignment", "x = x.at[index].set(value) gives a new array with the change.")
        yield diagnostic(code, "item-assignment", node, message, fix)


def calls(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """item-assignment of `np.put(x, …)` and `np.add(x, 1, out=x)`, and of jnp's, which raise whatever they are given."""
    node, code = event.node, walk.code
    if event.what != "call" or (array := _written(node, event.dotted)) is None:
        return
    kinds = dict(zip(arguments(node), event.inner))
    if not event.dotted.startswith("jax.") and kinds.get(array) is not Kind.ARRAY:
        return
    message = f"`{short(code, node.func)}` is to write into `{short(code, array)}` here, and arrays cannot be changed in place."
    text = anew(node, name_in(event.dotted)) if isinstance(code.parents.get(node), ast.Expr) else ""
    fix = (
        replacing(code, node, text)
        if text
        else Fix("A function that gives a new array does it: name what x.at[index].set(value) gives.")
    )
    yield diagnostic(code, "item-assignment", node, message, fix)


def _written(call: ast.Call, dotted: str) -> ast.expr | None:
    """What a call of NumPy's, jnp's or Python's writes into, if it does."""
    known = dotted.startswith(("numpy.", "jax.numpy.")) or dotted == "random.shuffle"
    return written(call, name_in(dotted)) if known else None


def views(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """item-assignment of a NumPy view of an array: `a = np.asarray(x)`, and `a[0] = 1` further down the block."""
    node, code = event.node, walk.code
    if event.what != "call" or event.dotted not in ("numpy.asarray", "numpy.asanyarray") or len(node.args) != 1:
        return
    statement = code.parents.get(node)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) if not node.keywords and event.inner[0] is Kind.ARRAY:
            write = _write_below(name, code.after(statement))
        case _:
            return
    if write is not None:
        message = f"`{name}` is a NumPy view of the array `{short(code, node.args[0])}`, whose memory is read-only: it cannot be changed."
        fix = replacing(code, node, f"np.array({code.source(node.args[0])})", ": it makes a copy, which can be written")
        yield diagnostic(code, "item-assignment", write, message, fix)


def _write_below(name: str, statements: list[ast.stmt]) -> ast.stmt | None:
    """The first of some statements that writes into what a name stands for, where none before it gives the name another value."""
    for statement in statements:
        match statement:
            case (
                ast.Assign(targets=[ast.Subscript(value=ast.Name(id=written))])
                | ast.AugAssign(target=ast.Subscript(value=ast.Name(id=written)) | ast.Name(id=written))
            ) if written == name:
                return statement
        if name in stored(statement):
            return None
    return None


_OF_REFERENCES = re.compile(
    r"^jax\.(?:.+\.)?(?:pallas|new_ref|array_ref|mutable_array|empty_ref|freeze|free_ref)(?:\.|$)"
)


def may_be_reference(node: ast.AST, kind: Kind, walk: Walk) -> bool:
    """Whether elements of a reference may be meant, which can be changed: what a program that uses some is given from elsewhere, and what
    is written `ref[...]`. What an operation of arrays gives is none."""
    if not isinstance(node, ast.Subscript):
        return False
    if getattr(node.slice, "value", None) is ... or has_variables(walk.code):
        return True
    part = any(isinstance(one, ast.Attribute) and one.attr == "at" for one in below(node.value))
    return uses_references(walk.code) and (part or not (kind.is_tracer or kind is Kind.ARRAY))


def has_variables(code: Code) -> bool:
    """Whether a program knows of flax's variables that are changed while tracing: `nnx.Variable({}, hijax=True)`."""
    return any(one.arg == "hijax" for one in code.of(ast.keyword))


def uses_references(code: Code) -> bool:
    """Whether a program names what makes references of arrays: by its imports, or by the names of the library."""
    return any(_OF_REFERENCES.match(dotted) for dotted in code.names.table.values()) or any(
        _OF_REFERENCES.match(code.dotted(node)) for node in code.of(ast.Attribute)
    )


def is_by_name(node: ast.expr, walk: Walk) -> bool:
    """Whether it is an element of a dict: its index is a text, or what a loop over the keys of a dict gives, or over the object."""
    if not isinstance(node, ast.Subscript):
        return False
    if isinstance(getattr(node.slice, "value", None), str):
        return True
    for one in walk.code.around(node):
        if isinstance(one, ast.For) and ast.unparse(node.slice) in map(ast.unparse, below(one.target)):
            match one.iter, one.target:
                case ast.Call(func=ast.Attribute(attr="keys")), _:
                    return True
                case ast.Call(func=ast.Attribute(attr="items")), ast.Tuple(elts=[key, _]):
                    return ast.unparse(key) == ast.unparse(node.slice)
                case ast.Tuple(elts=elts) | ast.List(elts=elts), ast.Name():
                    return all(isinstance(getattr(one, "value", None), str) for one in elts)
            return ast.unparse(one.iter) == ast.unparse(node.value)
    return False


def _is_array_argument(node: ast.Subscript, event: Event, walk: Walk) -> bool:
    """Whether it is an argument that must be an array: a slice of a list takes no number, and all calls give one. What a function makes
    itself of traced values may be a dict or a list of them."""
    function, base = event.region.function, node.value
    if not isinstance(base, ast.Name) or function is None or base.id not in parameters(function):
        return False
    known = walk.are_arrays(function, base.id)
    if known is not None:
        return known
    augmented = isinstance(walk.code.parents.get(node), ast.AugAssign)
    return cuts_axes(node.slice) or (augmented and isinstance(node.slice, ast.Slice))


def rebound(walk: Walk) -> Iterator[Diagnostic]:
    """update-result-dropped of `def bump(a): a += 1`, called with an array: the caller's array stays as it was."""
    code = walk.code
    for function in code.of(ast.FunctionDef):
        if _gives(function):
            continue
        last = function.body[-1]
        name = last.target.id if isinstance(last, ast.AugAssign) and isinstance(last.target, ast.Name) else ""
        if name in parameters(function) and any(_is_told(call, function, walk) for call in walk.with_arrays):
            message = f"this gives the name `{name}` a new array inside of {function.name} only: the caller's stays as it was."
            fix = f"Return it, and let the caller take it: {name} = {function.name}({name})."
            yield diagnostic(code, "update-result-dropped", last, message, fix)


def _gives(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Return | ast.Yield | ast.Global | ast.Nonlocal) for node in below(function))


def _is_told(call: ast.Call, function: ast.FunctionDef, walk: Walk) -> bool:
    """Whether a call, whose value nobody takes, calls the function."""
    named = walk.functions.called(call) is function
    return named and isinstance(walk.code.parents.get(call), ast.Expr)


_UPDATES = {"set", "add", "subtract", "multiply", "divide", "power", "min", "max", "apply", "mul"}
_PURE = {
    "jax.random.split", "jax.random.fold_in", "jax.tree.map", "jax.tree_util.tree_map", "jax.tree_map", "optax.apply_updates",
    "optax.incremental_update", "equinox.apply_updates", "equinox.tree_at",
}  # fmt: skip
_UPDATING = {
    f"jax.numpy.{name}" for name in ("append", "insert", "delete", "put", "put_along_axis", "fill_diagonal", "place")
}
"""Functions whose namesakes of NumPy or Python change what they are given, or seem to."""
_COPYING = {
    f"jax.numpy.{name}" for name in "sort reshape transpose squeeze ravel clip round flip roll nan_to_num where".split()
} | {"jax.random.permutation", "jax.random.shuffle"}
"""Functions that may be taken for ones that change their array, where it is read again."""
_CONTROL = {"dce_sink", "cond", "switch", "scan", "while_loop", "fori_loop", "map"}


def dropped(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """update-result-dropped."""
    node, code = event.node, walk.code
    if event.what != "drop" or not isinstance(node, ast.Call) or code.is_shown(node):
        return
    dotted = code.dotted(node.func)
    if _written(node, dotted) is not None:
        return  # it raises
    if (state := _state_of_flax(node, code)) is not None:
        message = f"this makes a new state and drops it: `{short(code, state)}` keeps the parameters that it had."
        fix = replacing(code, node, f"{code.source(state)} = {code.source(node)}")
        yield diagnostic(code, "update-result-dropped", node, message, fix)
        return
    base = _unchanged(event, dotted, walk)
    if base is not None:
        message, fix = _dropped(code, node), Fix(_NAME_IT)
        if isinstance(base, ast.Name | ast.Attribute | ast.Subscript):
            message = f"this makes a new array and drops it: `{short(code, base)}` stays as it was."
            fix = replacing(code, node, f"{code.source(base)} = {code.source(node)}")
        yield diagnostic(code, "update-result-dropped", node, message, fix)
        return
    computes = dotted.startswith(("jax.numpy.", "jax.lax.", "jax.nn.")) and dotted.rpartition(".")[2] not in _CONTROL
    if dotted.endswith((".map", ".tree_map")) and not (node.args and _only_computes(node.args[0], walk)):
        return  # it may be called for what its function does
    mistaken = dotted in _PURE or dotted in _UPDATING or (dotted in _COPYING and _is_read_later(node, walk))
    if mistaken or (computes and event.region.traced is not None):
        yield diagnostic(code, "update-result-dropped", node, _dropped(code, node), _NAME_IT)


def _dropped(code: Code, node: ast.Call) -> str:
    return f"`{short(code, node)}` computes something new and changes nothing: its result is dropped here."


_NAME_IT = "Give the result a name, or delete the line."


def _state_of_flax(call: ast.Call, code: Code) -> ast.expr | None:
    """The state in `state.apply_gradients(grads=grads)`, where a program knows of flax's TrainState, which never changes."""
    match call:
        case ast.Call(func=ast.Attribute(value=state, attr="apply_gradients"), args=[]) if (
            isinstance(state, ast.Name | ast.Attribute) and keyword(call, "grads") is not None
        ):
            known = any(dotted.startswith("flax.training") for dotted in code.names.table.values())
            return state if known or any(one.attr == "TrainState" for one in code.of(ast.Attribute)) else None
    return None


def _is_read_later(call: ast.Call, walk: Walk) -> bool:
    """Whether the function goes on to read a name that a call is given, as if the call had changed it."""
    function = walk.code.function_around(call)
    if not isinstance(function, ast.FunctionDef):
        return False
    given = {one.id for one in call.args if isinstance(one, ast.Name)}
    own = set(below(call))
    return any(
        isinstance(node, ast.Name) and node.id in given and node.lineno > call.lineno
        for node in below(function)
        if node not in own
    )


def _only_computes(function: ast.expr, walk: Walk) -> bool:
    """Whether it is a lambda with a value that calls nothing but functions of the library."""
    if not isinstance(function, ast.Lambda) or isinstance(function.body, ast.Constant):
        return False
    calls = [node for node in below(function.body) if isinstance(node, ast.Call)]
    return all(walk.code.dotted(call.func).startswith(("jax.numpy.", "jax.lax.", "jax.nn.")) for call in calls)


def _unchanged(event: Event, dotted: str, walk: Walk) -> ast.expr | None:
    """The array that somebody might think a call changes: `x.at[0].set(1)`, `x.sort()`, in functions each method of an array's."""
    match event.node.func:
        case ast.Attribute(value=ast.Subscript(value=ast.Attribute(value=base, attr="at")) as element, attr=attr) if (
            attr in _UPDATES
        ):
            return None if may_be_reference(element, event.kind, walk) else base
        case ast.Attribute(value=base, attr=attr) if not dotted and attr in METHODS:
            is_array = event.kind.is_tracer or event.kind is Kind.ARRAY
            meant = event.region.function is not None or (attr == "sort" and isinstance(base, ast.Name))
            return base if is_array and meant else None
    return None
