"""Calls that act on an array they are given, as stores: `np.add(a, b, out=c)` is `c[...] = np.add(a, b)`, `np.add.at(x, i, v)` a store that
adds, `x[1:-1][m] = v` a store into a part that is put back."""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping
from types import ModuleType

import numpy as np

from ..source_code.parameters import keyword
from ..source_code.tree import parts_of
from . import naming
from .answers import CannotCompile
from .parts import numpy_in
from .watching import Visit


_AT = {"add": "add", "subtract": "add", "multiply": "multiply", "maximum": "max", "minimum": "min"}
"""What gathers at an index, by the name of NumPy's function; differences are sums of the negative."""


class GatheredStore(ast.AugAssign):
    """A store that adds (or multiplies, …) once for each time that a place stands in the index; `word` says what it does."""

    word: str


def stores(body: naming.Statements, values: dict[str, object], after: Mapping[str, object]) -> tuple[ast.stmt, ...]:
    """The statements with such calls as stores. `values` are those seen before, and get those of the parts that are given names; `after`
    those that were seen in the end."""
    written = _Stores(values, after)
    new: list[ast.stmt] = []
    for s in body:
        found = written.visit(copy.deepcopy(s))
        new += found if isinstance(found, list) else [found]
    return tuple(new) if written.done else tuple(body)


def acted_on(body: naming.Statements) -> set[str]:
    """Names of what calls may store into: what `out=` names, and what is given to a function of which nothing is asked but its effect."""
    found: set[str | None] = set()
    for n in (n for s in body for n in ast.walk(s)):
        match n:
            case ast.keyword(arg="out", value=value):
                found.add(naming.root_of(value))
            case ast.Call(args=args) as call:
                found |= {a.id for a in args if isinstance(a, ast.Name)}
                if isinstance(call.func, ast.Attribute):
                    found.add(naming.root_of(call.func.value))
    return {n for n in found if n}


def put_into(body: naming.Statements) -> set[str]:
    """Names of what statements certainly store into, be it by a call: `x[i] = …`, `x += …` of an array, `out=x`, `x.sort()`, `np.copyto(x, y)`."""
    found: set[str | None] = {*naming.changed(body)}
    for n in naming.all_of(ast.Call, body):
        word = n.func.attr if isinstance(n.func, ast.Attribute) else ""
        found |= {naming.root_of(k.value) for k in n.keywords if k.arg == "out"}
        found |= {naming.root_of(n.args[0])} if word in ("copyto", "fill_diagonal") and n.args else set()
        if isinstance(n.func, ast.Attribute) and word in ("sort", "fill"):
            found.add(naming.root_of(n.func.value))
    return {n for n in found if n}


def names_stored(body: naming.Statements, values: Mapping[str, object]) -> set[str]:
    """Names that are stored into in place: `x[i] = …`, and `x += …` of arrays."""
    return naming.stored_into(body) | {n for n in naming.augmented(body) if isinstance(values.get(n), np.ndarray)}


def stored_before(body: naming.Statements, values: Mapping[str, object], visit: Visit) -> set[str]:
    """The arrays of before that are stored into, whether that changed what is in them when it was seen or not."""
    anew = naming.bound_for_certain(body) - naming.read_first(body)
    found = {n for n in names_stored(body, values) - anew if isinstance(visit.values.get(n), np.ndarray)}
    if unseen := found - visit.after.keys():
        raise CannotCompile(body[0].lineno, "effect", f"`{min(unseen)}` is stored into, and was not followed")
    return found


def not_through_loops(body: naming.Statements, kept: Mapping[str, object]) -> None:
    """Refuses stores into what a loop goes through by the loop's own name: that is no other name of it in the compiled form. `kept` says what
    names stand for, as far as that is known."""
    for loop in naming.all_of(ast.For, body):
        own, numbers = naming.bound([loop.target]), _goes_through_numbers(loop.iter, kept)
        for s in loop.body:
            added = {n for n in naming.augmented([s]) if not (numbers or _is_number(kept.get(n)))}
            if name := min(own & (naming.stored_into([s]) | added), default=""):
                note = f"`{name}` is stored into, and is part of what the loop goes through"
                raise CannotCompile(naming.line_of([s], name) or s.lineno, "effect", note)
            own -= naming.bound_for_certain([s])


def _goes_through_numbers(node: ast.expr, kept: Mapping[str, object]) -> bool:
    match node:
        case ast.Name(id=name):
            value = kept.get(name)
            if isinstance(value, np.nditer):
                return False
            return getattr(value, "ndim", 0) == 1 or (isinstance(value, (list, tuple)) and all(map(_is_number, value)))
        case ast.Call(func=ast.Name(id="range")):
            return True
        case ast.Call(func=ast.Name(id="enumerate" | "zip" | "reversed"), args=args):
            return all(_goes_through_numbers(a, kept) for a in args)
    return False


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, complex, np.generic))


class _Stores(ast.NodeTransformer):
    def __init__(self, values: dict[str, object], after: Mapping[str, object]) -> None:
        self.values, self.after, self.done, self.count = values, after, False, 0
        self.numpy = numpy_in(values)

    def _is_array(self, name: str) -> bool:
        """Whether a name stands for an array before the statements, or for one that they make."""
        return isinstance(self.values.get(name, self.after.get(name)), np.ndarray)

    def _found(self, node: ast.expr) -> object:
        """What a dotted name of a module's stands for."""
        if isinstance(node, ast.Name):
            return self.values.get(node.id)
        if isinstance(node, ast.Attribute):
            owner = self._found(node.value)
            return getattr(owner, node.attr, None) if isinstance(owner, (ModuleType, np.ufunc)) else None
        return None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        new = self._of_call(node.value) if isinstance(node.value, ast.Call) else None
        return node if new is None else self._placed(new, node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        if len(node.targets) == 1 and isinstance(node.value, ast.Call):
            new = self._of_call(node.value)
            if isinstance(new, ast.Assign) and naming.root_of(new.targets[0]) == ast.unparse(node.targets[0]):
                return self._placed(new, node)
        if len(node.targets) == 1 and (parts := self._part(node.targets[0], node)) is not None:
            first, inner, last = parts
            return [first, ast.copy_location(ast.Assign([inner], node.value), node), last]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        if (parts := self._part(node.target, node)) is None:
            return node
        first, inner, last = parts
        return [first, ast.copy_location(ast.AugAssign(inner, node.op, node.value), node), last]

    def _placed(self, new: ast.stmt, old: ast.stmt) -> ast.stmt:
        self.done = True
        return ast.fix_missing_locations(ast.copy_location(new, old))

    def _part(self, target: ast.expr, s: ast.stmt) -> tuple[ast.stmt, ast.Subscript, ast.stmt] | None:
        """For a store into a part of a part, `a[1:-1][m] = v`: what takes the first part, the place in it, and what puts it back."""
        match target:
            case ast.Subscript(value=ast.Subscript(value=ast.Name(id=name), slice=first), slice=second):
                pass
            case _:
                return None
        array = self.values.get(name)
        axes = parts_of(first)
        if not isinstance(array, np.ndarray) or not all(isinstance(a, ast.Slice) or _is_whole_number(a) for a in axes):
            return None
        self.count += 1
        part = f"part_{self.count}_of_{name}"
        try:
            whole = ast.Expression(ast.Subscript(ast.Name(name, ast.Load()), first, ast.Load()))
            code = compile(ast.fix_missing_locations(copy.deepcopy(whole)), "<part>", "eval")
            self.values[part] = np.array(eval(code, {"__builtins__": {}}, dict(self.values)))
        except Exception:
            return None
        taken = ast.Call(ast.Attribute(copy.deepcopy(whole.body), "copy", ast.Load()), [], [])
        inner = ast.Subscript(ast.Name(part, ast.Load()), second, ast.Store())
        back = ast.Subscript(ast.Name(name, ast.Load()), copy.deepcopy(first), ast.Store())
        take = self._placed(ast.Assign([ast.Name(part, ast.Store())], taken), s)
        put = self._placed(ast.Assign([back], ast.Name(part, ast.Load())), s)
        self._placed(ast.Assign([inner], ast.Constant(0)), s)
        return take, inner, put

    def _of_call(self, call: ast.Call) -> ast.stmt | None:
        function = self._found(call.func)
        if isinstance(call.func, ast.Attribute) and isinstance(owner := self._found(call.func.value), np.ufunc):
            return self._at(owner, call) if call.func.attr == "at" else None
        if function is np.copyto and len(call.args) == 2:
            return self._whole(call.args[0], call.args[1], call.keywords)
        if function is np.fill_diagonal and len(call.args) == 2 and not call.keywords:
            return self._diagonal(call.args[0], call.args[1])
        if isinstance(call.func, ast.Attribute) and self._is_array(_name(call.func.value)):
            if call.func.attr == "fill" and len(call.args) == 1:
                return self._whole(call.func.value, call.args[0], [])
            if call.func.attr == "sort" and not call.args:
                sort = ast.Attribute(ast.Name(self.numpy, ast.Load()), "sort", ast.Load())
                return self._whole(call.func.value, ast.Call(sort, [call.func.value], call.keywords), [])
        return self._out(call, function)

    def _out(self, call: ast.Call, function: object) -> ast.stmt | None:
        """The call of NumPy's function, or of an array's method, with `out=`."""
        of_numpy = isinstance(function, np.ufunc) or (getattr(function, "__module__", None) or "").startswith("numpy")
        of_array = isinstance(call.func, ast.Attribute) and self._is_array(_name(call.func.value))
        if not of_numpy and not of_array:
            return None
        args, named = list(call.args), [k for k in call.keywords if k.arg not in ("out", "where")]
        out = keyword(call, "out")
        if out is None and isinstance(function, np.ufunc) and function.nout == 1 and len(args) == function.nin + 1:
            out = args.pop()
        under = [k for k in call.keywords if k.arg == "where"]
        if out is None or (under and not isinstance(function, np.ufunc)):
            return None
        return self._whole(out, ast.Call(call.func, args, named), under)

    def _whole(self, target: ast.expr, value: ast.expr, named: list[ast.keyword]) -> ast.stmt | None:
        """`target[...] = value`, under a mask if `where=` is named."""
        to = copy.deepcopy(target)
        if isinstance(to, ast.Name) and self._is_array(to.id):
            to = ast.Subscript(to, ast.Constant(...), ast.Store())
        elif not isinstance(to, ast.Subscript):
            return None
        to.ctx = ast.Store()
        if [k.arg for k in named] == ["where"]:
            where = ast.Attribute(ast.Name(self.numpy, ast.Load()), "where", ast.Load())
            value = ast.Call(where, [named[0].value, value, copy.deepcopy(target)], [])
        elif named:
            return None
        return ast.Assign([to], value)

    def _diagonal(self, target: ast.expr, value: ast.expr) -> ast.stmt | None:
        """`x[k, k] = value` for all `k`, with an index for each axis of an array that a function makes."""
        inner = value.operand if isinstance(value, ast.UnaryOp) else value
        number = isinstance(inner, ast.Constant) or isinstance(self._found(inner), (int, float))
        if not isinstance(target, ast.Name) or not number:
            return None
        each = f"({self.numpy}.arange(min({target.id}.shape)),) * {target.id}.ndim"
        return ast.Assign([ast.Subscript(target, ast.parse(each, mode="eval").body, ast.Store())], value)

    def _at(self, function: np.ufunc, call: ast.Call) -> ast.stmt | None:
        match call.args:
            case [ast.Name() as target, index, value] if function.__name__ in _AT and not call.keywords:
                if function is np.subtract:
                    value = ast.UnaryOp(ast.USub(), value)
                made = GatheredStore(ast.Subscript(target, index, ast.Store()), ast.Add(), value)
                made.word = _AT[function.__name__]
                return made
        return None


def _is_whole_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
