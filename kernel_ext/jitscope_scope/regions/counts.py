"""Counts of whole numbers (`np.bincount`), whose number depends on values: where these are seen to stay below a number that is known."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

import numpy as np

from ..source_code.parameters import keyword
from . import naming
from .answers import CannotCompile
from .parts import ReadByName, calls_in_any_case, placed_at


def of_known_size(body: naming.Statements, values: Mapping[str, object]) -> tuple[naming.Statements, tuple[str, ...]]:
    """The statements with a length for each count, and what has to be true of the arrays before the region so that nothing lies
    outside. Raises CannotCompile for a count whose length depends on values."""
    if not any(isinstance(n, ast.Call) and _counts(n, values) for s in body for n in ast.walk(s)):
        return body, ()
    writer = _Writer(body, values)
    new = [writer.visit(copy.deepcopy(s)) for s in body]
    flat = [t for s in new for t in (s if isinstance(s, list) else [s])]
    return tuple(flat), tuple(dict.fromkeys(writer.tests))


def unproved(node: ast.expr, body: naming.Statements, values: Mapping[str, object]) -> list[tuple[ast.Call, ast.expr]]:
    """The counts that an expression makes in any case of which no text shows that all that is counted stays below the least length, with
    that length."""
    found = []
    for call in calls_in_any_case(node):
        if _counts(call, values) and keyword(call, "length") is None:
            writer = _Writer(body, values)
            least = writer.least(call)
            if least is not None and writer.size(call.args[0], ast.unparse(least)) is None:
                found.append((call, least))
    return found


def _counts(call: ast.Call, values: Mapping[str, object]) -> bool:
    """Whether NumPy's function is called that counts."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=module), attr="bincount"):
            return values.get(module) is np and 1 <= len(call.args) <= 2
    return False


class _Writer(ast.NodeTransformer):
    def __init__(self, body: naming.Statements, values: Mapping[str, object]) -> None:
        self.values, self.tests = values, list[str]()
        self.changing = naming.bound(body) | naming.stored_into(body)
        self.given: dict[str, list[ast.expr | None]] = {}
        nodes = [n for s in body for n in ast.walk(s)]
        for s in nodes:
            for t in naming.targets_of(s):
                alone = isinstance(s, ast.Assign) and s.targets == [t]
                if root := naming.root_of(t):
                    self.given.setdefault(root, []).append(s.value if alone and isinstance(t, ast.Name) else None)  # type: ignore[attr-defined]
        calls = [n for n in nodes if isinstance(n, ast.Call) and _counts(n, values)]
        self.of_extremes = {
            n.args[0].id for n in calls if isinstance(n.args[0], ast.Name) and self._extreme(n.args[0].id)
        }

    def _extreme(self, name: str) -> tuple[ast.expr, str] | None:
        """The array of whose smallest or largest elements these are the places, and the number that they stay below."""
        match self.given.get(name):
            case [
                ast.Call(
                    func=ast.Attribute(value=ast.Name(id=module), attr="argmin" | "argmax"),
                    args=[of, *rest],
                    keywords=named,
                )
            ] if self.values.get(module) is np:
                pass
            case [ast.Call(func=ast.Attribute(value=of, attr="argmin" | "argmax"), args=rest, keywords=named)]:
                pass
            case _:
                return None
        axes = [*rest, *(k.value for k in named if k.arg == "axis")]
        if len(axes) != 1 or len(named) + len(rest) != 1:
            return None
        return of, f"of_{name}.shape[{ast.unparse(axes[0])}]"

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.of_extremes:
            name = node.targets[0].id
            found = self._extreme(name)
            assert found is not None
            first = placed_at(ast.Assign([ast.Name(f"of_{name}", ast.Store())], found[0]), node)
            value = ReadByName({ast.unparse(found[0]): f"of_{name}"}).visit(node.value)
            assert isinstance(value, ast.expr)
            return [first, ast.copy_location(ast.Assign(node.targets, value), node)]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`bincount(…).argmax()` and `.max()` are those of a longer count as well."""
        if node.attr in ("argmax", "max") and isinstance(node.value, ast.Call) and _counts(node.value, self.values):
            node.value = self._padded(node.value)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id=module), attr="argmax" | "max"), args=[ast.Call() as inner]
            ) if self.values.get(module) is np and _counts(inner, self.values):
                node.args = [self._padded(inner)]
                return node
        self.generic_visit(node)
        if not _counts(node, self.values) or keyword(node, "length") is not None:
            return node
        least = self.least(node)
        size = self.size(node.args[0], ast.unparse(least)) if least is not None else None
        if size is None:
            raise CannotCompile(node.lineno, "shape", f"the length of `{ast.unparse(node)[:60]}` depends on values")
        return self._with(node, size)

    def least(self, node: ast.Call) -> ast.expr | None:
        """The least length, where it is no value that the region computes."""
        least = keyword(node, "minlength")
        return least if least is not None and not naming.loaded([least]) & self.changing else None

    def size(self, node: ast.expr, least: str) -> str | None:
        """The length of the count, `least` where all that is counted stays below it."""
        match node:
            case ast.Name(id=name) if name in self.of_extremes:
                bound = self._extreme(name)
                assert bound is not None
                return f"{least} if {bound[1]} <= {least} else None"
            case ast.BinOp(op=ast.Mod(), right=modulus) if self._known_number(modulus):
                return f"{least} if 0 < {ast.unparse(modulus)} <= {least} else None"
        root = node.value if isinstance(node, ast.Subscript) else node
        if self._whole(root):
            self.tests.append(f"(({root.id} >= 0) & ({root.id} < {least})).all()")  # type: ignore[attr-defined]
            return least
        return None

    def _known_number(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Constant):
            return type(node.value) is int
        return isinstance(node, ast.Name) and node.id not in self.changing and type(self.values.get(node.id)) is int

    def _whole(self, node: ast.expr) -> bool:
        """Whether this is an array of whole numbers that the region leaves alone."""
        found = self.values.get(node.id) if isinstance(node, ast.Name) and node.id not in self.changing else None
        return isinstance(found, np.ndarray) and found.dtype.kind in "iu" and found.size > 0

    def _padded(self, node: ast.Call) -> ast.Call:
        """A count of any length that is enough."""
        root = node.args[0].value if isinstance(node.args[0], ast.Subscript) else node.args[0]
        if len(node.args) > 1 or node.keywords or not self._whole(root):
            return node
        name = root.id  # type: ignore[attr-defined]
        size = str(int(np.max(self.values[name])) + 1)  # type: ignore[arg-type]
        self.tests.append(f"(({name} >= 0) & ({name} < {size})).all()")
        return self._with(node, size)

    def _with(self, node: ast.Call, size: str) -> ast.Call:
        parts = [k for k in node.keywords if k.arg == "weights"]
        weights = node.args[1] if len(node.args) > 1 else parts[0].value if parts else None
        new = [node.args[0]]
        if weights is not None:
            new.append(
                ast.parse(
                    f"{ast.unparse(node.func).partition('.')[0]}.float64({ast.unparse(weights)})", mode="eval"
                ).body
            )
        length = ast.keyword("length", ast.parse(size, mode="eval").body)
        return placed_at(ast.Call(node.func, new, [length]), node)
