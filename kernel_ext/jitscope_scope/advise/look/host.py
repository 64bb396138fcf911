"""Functions of Python, NumPy and math that are given a tracer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source_code.parameters import arguments
from ...source_code.text import Code
from ..code.values import Kind
from ..code.walk import Event, Walk
from ..diagnostic import Diagnostic, Fix
from .diagnostics import diagnostic, replacing, rewriting, short


_FINE = frozenset({"shape", "ndim", "size", "dtype", "result_type", "issubdtype", "random"})


def calls(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """host-call-on-tracer."""
    if event.what != "call" or not event.region.abstract:
        return
    node, code = event.node, walk.code
    module, _, name = event.dotted.partition(".")
    if module in ("numpy", "math", "scipy", "pandas") and name and name.split(".")[0] not in _FINE:
        given = zip(arguments(node), event.inner)
        if any(kind.is_traced and not _is_dict(one, walk) for one, kind in given):
            yield _found(event, walk, f"{module}.{name}", "array" if module == "numpy" else "number")
        return
    match node.func:
        case ast.Name(id="float" | "int" | "complex" as builtin) if event.inner and not event.dotted:
            if event.inner[0].is_tracer or (event.inner[0] is Kind.TREE and isinstance(node.args[0], ast.Name)):
                sized = builtin == "int" and _is_size(node, code)
                yield _size(node, code) if sized else _found(event, walk, f"{builtin}()", "number")
        case ast.Attribute(attr="item" | "tolist" as method) if event.kind.is_traced:
            message = f".{method}() asks for values, and those of `{short(code, node.func.value)}` are not known while tracing."
            fix = rewriting(code, node, "number", "Return the array, and ask for its value outside.")
            yield diagnostic(code, "host-call-on-tracer", node, message, fix)


def _is_size(node: ast.Call, code: Code) -> bool:
    """Whether a number bounds a slice, counts the passes of a loop or is a size: an array cannot stand there either."""
    inner: ast.AST = node
    for one in code.around(node):
        match one:
            case ast.UnaryOp() | ast.BinOp() | ast.Tuple() | ast.List():
                inner = one
            case ast.Call(func=func, args=args):
                called = ast.unparse(func).rpartition(".")[2]
                return inner in args and called in _SIZED and args.index(inner) not in _SIZED[called]
            case _:
                return isinstance(one, ast.Slice)
    return False


_SIZED: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("range", "zeros", "ones", "empty", "arange", "reshape", "eye"), ()),
    "full": (1,),
    "broadcast_to": (0,),
    "tile": (0,),
    "linspace": (0, 1),
}
"""Functions whose arguments by position are sizes, and which of them are none."""


def _size(node: ast.Call, code: Code) -> Diagnostic:
    message = f"int() works on values, and those in `{short(code, node)}` are not known while tracing."
    given = node.args[0]
    fix = (
        f"Make `{given.id}` static, if it is an argument: a size is part of the program, which is compiled for each value."
        if isinstance(given, ast.Name)
        else "A size is part of the program: compute it in Python from what is static."
    )
    return diagnostic(code, "host-call-on-tracer", node, message, Fix(fix))


def _is_dict(node: ast.expr, walk: Walk) -> bool:
    """Whether a name is given a dict, which NumPy does not look into."""
    return any(isinstance(value, ast.Dict) for value in walk.code.values_of(node))


def _found(event: Event, walk: Walk, called: str, asked: str) -> Diagnostic:
    code, node = walk.code, event.node
    message = f"{called} works on values, and those in `{short(code, node)}` are not known while tracing."
    otherwise = "Use the function of jnp, or call it outside of the traced function."
    return diagnostic(code, "host-call-on-tracer", node, message, rewriting(code, node, asked, otherwise))


def _may_be_array(sequence: ast.expr) -> bool:
    match sequence:
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return all(map(_may_be_array, parts))
        case ast.ListComp(elt=part):
            return _may_be_array(part)
        case ast.Constant(value=value):
            return isinstance(value, int | float | complex)
    return not isinstance(sequence, ast.JoinedStr | ast.Lambda | ast.Dict | ast.DictComp | ast.Set)


def indices(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """host-call-on-tracer of a list indexed by a tracer."""
    if event.what != "index" or not event.region.abstract or event.kind.is_traced:
        return
    node, code = event.node, walk.code
    made, kind = _sequence(node.value, walk), event.inner[0] if event.inner else Kind.UNKNOWN
    if made is not None and (kind.is_tracer or (kind is Kind.TREE and isinstance(node.slice, ast.Name))):
        text, index = short(code, node.value), short(code, node.slice)
        message = f"`{text}` is a {_CALLED[type(made)]} of Python, and the index `{index}` is not known while tracing."
        otherwise = f"Make `{index}` a static argument, or choose what is computed with lax.switch: an array holds numbers alone."
        able = _may_be_array(made)
        fix = rewriting(code, node, "index", f"Make the {_CALLED[type(made)]} an array.") if able else Fix(otherwise)
        yield diagnostic(code, "host-call-on-tracer", node, message, fix)


_CALLED = {ast.List: "list", ast.ListComp: "list", ast.Tuple: "tuple", ast.Dict: "dict"}


def _sequence(node: ast.expr, walk: Walk) -> ast.expr | None:
    """What makes the list, tuple or dict that a name stands for: of the module's names the last, of a function's own the only one."""
    if not isinstance(node, ast.Name):
        return None
    if walk.code.scopes.binding(node.id, node) in (walk.code.tree, None):
        return walk.sequences.get(node.id)
    match [walk.code.parents.get(one) for one in walk.code.binders_of(node)]:
        case [ast.Assign(targets=[ast.Name()], value=ast.List() | ast.Tuple() | ast.Dict() | ast.ListComp() as made)]:
            return made
    return None


def arrays(event: Event, walk: Walk) -> Iterator[Diagnostic]:
    """host-call-on-tracer of an array of NumPy that is indexed by a tracer."""
    if event.what not in ("index", "store") or not event.region.abstract or not isinstance(event.node, ast.Subscript):
        return
    node, code = event.node, walk.code
    stored = isinstance(node.ctx, ast.Store)
    if stored != (event.what == "store") or walk.holders.array(node.value) is not Kind.NUMPY:
        return
    single = not isinstance(node.slice, ast.Tuple | ast.Slice)
    kind = event.inner[0] if single and event.inner else Kind.UNKNOWN
    if kind.is_tracer or (kind is Kind.TREE and isinstance(node.slice, ast.Name)):
        text, index = short(code, node.value), short(code, node.slice)
        message = f"`{text}` is an array of NumPy, which needs the value of the index `{index}`, and that is not known while tracing."
        fix = f"Make `{text}` an array of jnp, and write {text} = {text}.at[{index}].set(…)." if stored else ""
        fix = (
            Fix(fix)
            if stored
            else replacing(code, node, f"jnp.asarray({code.source(node.value)})[{code.source(node.slice)}]")
        )
        yield diagnostic(code, "host-call-on-tracer", node, message, fix)
