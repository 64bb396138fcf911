"""What the form of an expression alone tells."""

from __future__ import annotations

import ast

from ...source_code.text import Code


def is_container(node: ast.expr) -> bool:
    match node:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in ("list", "dict", "set", "deque", "defaultdict", "OrderedDict", "Counter")
    return False


def choices(pattern: ast.pattern) -> list[ast.pattern]:
    """The patterns that `|` joins."""
    if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        return choices(pattern.pattern)
    return pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]


VALUE_TYPES = {
    "float", "int", "complex", "bool", "str", "numpy.ndarray", "numpy.generic", "numpy.float32", "numpy.float64", "numpy.integer",
    "numpy.floating", "numpy.number", "numpy.bool_",
}  # fmt: skip
"""Types of values, which tracers do not have."""


def is_logical(node: ast.AST) -> bool:
    """Whether Python asks for the truth of what is in an expression: `and`, `or`, `not`, `in`, a chain of comparisons."""
    match node:
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.Compare(ops=ops):
            return len(ops) > 1 or isinstance(ops[0], ast.In | ast.NotIn)
    return False


def is_bool(node: ast.expr) -> bool:
    return getattr(node, "id", getattr(node, "attr", getattr(node, "value", ""))) in ("bool", "bool_")


def excludes(test: ast.expr) -> bool:
    """Whether a test is about None or a type, so that what follows it in `and`/`or` may never be asked for arrays."""
    match test:
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            return True
        case ast.Call(func=ast.Name(id="isinstance" | "hasattr" | "callable")):
            return True
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return excludes(operand)
    return False


def is_shape(node: ast.expr, code: Code) -> bool:
    """Whether it is a container by its form, or a shape."""
    if isinstance(node, ast.Call):
        return code.dotted(node.func) in ("jax.numpy.shape", "numpy.shape")
    return isinstance(node, ast.Tuple | ast.List | ast.Dict | ast.Set) or getattr(node, "attr", "") == "shape"


def cuts_axes(index: ast.expr) -> bool:
    """Whether only arrays can be indexed so: `x[:, 1]`."""
    return isinstance(index, ast.Tuple) and any(isinstance(one, ast.Slice) for one in index.elts)


def is_apart(item: ast.withitem) -> bool:
    """Whether `with` begins a block that runs at once, or whose error is expected."""
    return last_name(item.context_expr) in ("ensure_compile_time_eval", "eval_context") or expects_error(item)


def expects_error(item: ast.withitem) -> bool:
    """Whether `with` begins a block whose error, or whose warning, is what a test is about."""
    name = last_name(item.context_expr)
    return name in ("raises", "warns", "suppress") or name.startswith("assert")


def last_name(node: ast.expr) -> str:
    """`raises` of `pytest.raises(TypeError)`; "" of what has no name."""
    name = node.func if isinstance(node, ast.Call) else node
    return name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
