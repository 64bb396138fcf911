"""Derivatives that are zero whatever the arguments are: what is differentiated reaches the result only through what has no slope."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...source_code.bindings import read
from ...source_code.parameters import parameters
from ...source_code.tree import Function
from ..code.walk import Walk
from ..diagnostic import Diagnostic
from .diagnostics import diagnostic


_DIFFERENTIATED = {"grad", "value_and_grad", "jacfwd", "jacrev", "hessian"}
_FLAT = {
    f"jax.numpy.{name}"
    for name in (
        "round", "rint", "floor", "ceil", "trunc", "fix", "sign", "argmax", "argmin", "argsort", "argwhere", "nonzero", "searchsorted",
        "digitize", "floor_divide", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isclose", "isnan", "isfinite",
        "isinf", "logical_and", "logical_or", "logical_not", "logical_xor", "any", "all", "bincount", "count_nonzero", "shape", "ndim",
        "size", "zeros_like", "ones_like", "full_like",
        "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool_",
    )
} | {"jax.lax.stop_gradient", "jax.lax.round", "jax.lax.floor", "jax.lax.ceil", "jax.lax.sign", "jax.lax.argmax", "jax.lax.argmin"}  # fmt: skip
"""Functions of the library whose derivative is zero, or that are not differentiated."""
_FLOATS = {f"jax.{room}.{name}" for room in ("numpy", "lax") for name in ("round", "rint", "floor", "ceil", "trunc", "fix", "sign")} | {
    "jax.numpy.floor_divide", "jax.lax.stop_gradient", "jax.numpy.zeros_like", "jax.numpy.ones_like", "jax.numpy.full_like",
}  # fmt: skip
"""Those of them that give floats for floats."""
_WHOLE_RESULTS = {"argmax", "argmin", "argsort", "any", "all", "nonzero", "searchsorted"}
_FLAT_METHODS = {"argmax", "argmin", "argsort", "round", "any", "all", "nonzero", "searchsorted"}
_WHOLE = {"int", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool", "bool_"}
_FACTS = {"shape", "dtype", "ndim", "size", "aval", "sharding"}


def zeros(walk: Walk) -> Iterator[Diagnostic]:
    """grad-zero of `grad(lambda w: jnp.round(w).sum())`: of functions that are one line after the other."""
    if any(word in walk.code.text for word in _OWN_RULES):
        return
    told: set[Function] = set()
    for traced in walk.functions.traced:
        function = traced.function
        if traced.by in _DIFFERENTIATED and function not in told and not isinstance(function, ast.AsyncFunctionDef):
            told.add(function)
            given = traced.static | traced.bound | traced.unsure
            by = {name for name in parameters(function) if name not in given}
            if by and (flat := _Slopes(by, walk).ends_flat(function)) is not None:
                what = " and ".join(f"`{name}`" for name in sorted(by)) if len(by) < 3 else "the arguments"
                message = f"this has slope zero, and it is the only way from {what} to the result: the derivative is zero, whatever the arguments are."
                fix = "Differentiate something smooth in its place: a loss on the scores, and not on what was chosen, rounded or stopped."
                yield diagnostic(walk.code, "grad-zero", flat, message, fix)


_OWN_RULES = ("custom_vjp", "custom_jvp", "custom_gradient")
"""With these a function has the derivative that the program says."""


class _Slopes:
    """Which names have a slope in the arguments that are differentiated (`live`), and where it was lost on the way to the others (`flat`)."""

    def __init__(self, live: set[str], walk: Walk) -> None:
        self._live, self._floats, self._walk = set(live), set(live), walk
        self._flat: dict[str, ast.expr] = {}

    def ends_flat(self, function: Function) -> ast.expr | None:
        """Where the slope of a function's result is lost; None where it is not, or is not known to be."""
        if isinstance(function, ast.Lambda):
            return self._end(function.body)
        *before, last = function.body
        if not isinstance(last, ast.Return) or last.value is None:
            return None
        for statement in before:
            if not self._follow(statement):
                return None
        value = last.value.elts[0] if isinstance(last.value, ast.Tuple) and last.value.elts else last.value
        return self._end(value)

    def _end(self, value: ast.expr) -> ast.expr | None:
        """`grad` refuses whole numbers and booleans."""
        return self._lost(value) if self._is_float(value) and not self._is_live(value) else None

    def _follow(self, statement: ast.stmt) -> bool:
        """Take in a statement; False where what it does is not known."""
        match statement:
            case ast.Expr(value=ast.Constant()):
                return True
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
            ):
                self._give(name, value, self._is_live(value), self._is_float(value))
                return True
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                floats = name in self._floats or self._is_float(value) or isinstance(op, ast.Div)
                self._give(name, value, name in self._live or self._is_live(value), floats)
                return True
        return False

    def _give(self, name: str, value: ast.expr, live: bool, floats: bool) -> None:
        lost = self._lost(value) or self._flat.get(name)
        (self._floats.add if floats else self._floats.discard)(name)
        self._live.discard(name)
        self._flat.pop(name, None)
        if live:
            self._live.add(name)
        elif lost is not None:
            self._flat[name] = lost

    def _is_live(self, node: ast.AST) -> bool:
        """Whether a result may have a slope."""
        if isinstance(node, ast.Name):
            return node.id in self._live
        if self._is_flat(node) or (isinstance(node, ast.Attribute) and node.attr in _FACTS):
            return False
        if (
            isinstance(node, ast.Call)
            and self._walk.code.dotted(node.func) == "jax.numpy.where"
            and len(node.args) == 3
        ):
            return any(map(self._is_live, node.args[1:]))
        return any(map(self._is_live, ast.iter_child_nodes(node)))

    def _is_float(self, node: ast.AST) -> bool:
        """Whether a result is certainly a float; what is differentiated is one."""
        match node:
            case ast.Name(id=name):
                return name in self._floats
            case ast.Constant(value=value):
                return isinstance(value, float)
            case ast.BinOp(op=ast.Div()):
                return True
            case ast.Compare() | ast.keyword():
                return False
            case ast.Call(func=ast.Attribute(value=base, attr="astype"), args=[kind, *_]):
                name = str(getattr(kind, "attr", getattr(kind, "id", getattr(kind, "value", ""))))
                return "float" in name or (isinstance(kind, ast.Attribute) and name == "dtype" and self._is_float(base))
            case ast.Call(func=func, args=args):
                dotted, name = self._walk.code.dotted(func), getattr(func, "attr", "")
                if name in ("mean", "average", "var", "std") or dotted.startswith(
                    ("jax.numpy.float", "jax.numpy.bfloat")
                ):
                    return True
                if dotted == "jax.numpy.where":
                    return any(map(self._is_float, args[1:]))
                if name in _WHOLE_RESULTS or dotted in _FLAT - _FLOATS:
                    return False
        return any(map(self._is_float, ast.iter_child_nodes(node)))

    def _lost(self, node: ast.AST) -> ast.expr | None:
        """The first place inside of an expression where a slope is lost."""
        if isinstance(node, ast.Name):
            return self._flat.get(node.id)
        if self._is_flat(node) and self._reads_live(node):
            return node if isinstance(node, ast.expr) else None
        return next((found for one in ast.iter_child_nodes(node) if (found := self._lost(one)) is not None), None)

    def _reads_live(self, node: ast.AST) -> bool:
        return bool(read(node) & self._live) and any(map(self._is_live, ast.iter_child_nodes(node)))

    def _is_flat(self, node: ast.AST) -> bool:
        match node:
            case ast.Compare() | ast.BinOp(op=ast.FloorDiv()):
                return True
            case ast.Call(func=ast.Attribute(attr="astype"), args=[kind, *_]):
                name = getattr(kind, "attr", getattr(kind, "id", getattr(kind, "value", "")))
                return name in _WHOLE
            case ast.Call(func=func):
                if self._walk.code.dotted(func) in _FLAT:
                    return True
                return isinstance(func, ast.Attribute) and func.attr in _FLAT_METHODS and self._is_live(func.value)
        return False
