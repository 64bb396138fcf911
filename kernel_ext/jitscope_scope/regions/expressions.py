"""An expression of a cell, written for the compiler: `numpy` becomes `jitscope.numpy`, branches become selections, moving slices `ds`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import reduce
from types import ModuleType

import numpy as np

from ..source_code.parameters import keyword
from . import memberships, words
from .answers import CannotCompile
from .array_arguments import arrays_of, is_table
from .homes import Home
from .named_turns import MOST as FEW
from .naming import has, loaded, names, root_of
from .parts import Renamed, placed_at


MISSING = object()
_PLACES = frozenset(("searchsorted", "digitize"))
"""Functions whose places are of 64 bits in NumPy, and of 32 in the compiled counterparts."""
OF_LISTS = frozenset(
    "array asarray stack vstack sum mean max min amax amin argmax argmin median std var prod any all cumsum sort argsort norm".split()
)
"""Functions of NumPy that take a list as the array of its elements."""
_MADE_OF_LISTS = frozenset("array asarray stack vstack".split())
_REFUSED: dict[type[ast.expr], tuple[str, str]] = {
    ast.NamedExpr: ("object", "`:=` stands in an expression"),
    ast.Await: ("effect", "`await` waits for something outside"),
    ast.Yield: ("effect", "`yield` hands values to a caller"),
    ast.YieldFrom: ("effect", "`yield from` hands values to a caller"),
    ast.JoinedStr: ("value read by Python", "text is made of values"),
    ast.Lambda: ("object", "a lambda is made"),
    ast.GeneratorExp: ("object", "a generator is made"),
}
"""Expressions that have no compiled form, and why."""
_REDUCTIONS = (sum, max, min, any, all)
_AT_ONCE = (sum, max, min, any, all, list, tuple)


class Expressions(ast.NodeTransformer):
    """Rewrites expressions. `values` are the values of the names as they were seen (arrays, functions, modules); `moving` the names
    whose values are not known while tracing; `inlined` is told each function of the user's that is called."""

    def __init__(
        self,
        values: Mapping[str, object],
        moving: set[str],
        jnp: str,
        inlined: Callable[[str, ast.expr], None],
        home: Home,
        tests: dict[str, str],
        windows: list[ast.Slice],
    ) -> None:
        """`tests` gets what has to be true of names whose values the text is written with, `windows` the parts of a fixed size that move."""
        self.values, self.moving, self.jnp, self.inlined, self.home = values, moving, jnp, inlined, home
        self.tests, self.windows = tests, windows
        self.after: Mapping[str, object] = {}
        """The values seen after the region."""
        self.local: set[str] = set()
        self.lambdas: set[str] = set()
        """Names that the statements give to lambdas."""

    def moves(self, node: ast.AST) -> bool:
        """Whether the value is unknown while tracing."""
        if isinstance(node, ast.Attribute) and node.attr in words.STATIC_ATTRIBUTES:
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
            return False
        if isinstance(node, ast.Name):
            return node.id in self.moving
        if isinstance(node, ast.Call) and self.value(node.func) is not MISSING and not isinstance(node.func, ast.Name):
            if self.values.get(root_of(node.func) or "") is not None and not node.args:
                return any(map(self.moves, ast.iter_child_nodes(node)))
            return True
        return any(map(self.moves, ast.iter_child_nodes(node)))

    def value(self, node: ast.expr) -> object:
        """What a name, or an attribute of a module, was seen to be; MISSING where that is unknown or bound in the region."""
        if isinstance(node, ast.Name):
            if node.id in self.local:
                return MISSING
            if node.id in self.values:
                return self.values[node.id]
            import builtins

            return getattr(builtins, node.id, MISSING)
        if isinstance(node, ast.Attribute):
            owner = self.value(node.value)
            return getattr(owner, node.attr, MISSING) if isinstance(owner, (ModuleType, type)) else MISSING
        return MISSING

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        owner = self.value(node.value)
        if isinstance(owner, ModuleType) or isinstance(owner, type):
            return self._of_module(node, owner)
        if node.attr not in words.ARRAY_ATTRIBUTES and self.value_is_object(node.value):
            raise CannotCompile(node.lineno, "object", f"`{words.dotted(node)}` is an attribute of an object")
        node.value = self.visit(node.value)
        return node

    def value_is_object(self, node: ast.expr) -> bool:
        """Whether this is the name of something that is neither array, number nor module."""
        found = self.value(node)
        return found is not MISSING and not hasattr(found, "dtype")

    def _of_module(self, node: ast.Attribute, owner: object) -> ast.expr:
        found = getattr(owner, node.attr, MISSING)
        name = getattr(owner, "__name__", "")
        if found is MISSING:
            raise CannotCompile(node.lineno, "object", f"`{words.dotted(node)}` is not known")
        if isinstance(found, ModuleType):
            return node
        if name.startswith("numpy") or name == "math":
            return self._counterpart(node, found)
        if callable(found) and (why := words.why_not_function(found, words.dotted(node))):
            raise CannotCompile(node.lineno, *why)
        return node

    def _counterpart(self, node: ast.expr, found: object) -> ast.expr:
        if isinstance(found, (int, float)) or found is None:
            return (
                ast.copy_location(ast.Name(self.jnp + "." + node.attr, ast.Load()), node)
                if isinstance(node, ast.Attribute) and found is not None
                else ast.copy_location(ast.Constant(found), node)
            )
        said = words.dotted(node)
        if why := words.why_not_function(found, said):
            raise CannotCompile(node.lineno, *why)
        if self.home.numpy and (special := words.special(found)):
            return ast.copy_location(ast.Name(f"{self.home.library}.scipy.special.{special}", ast.Load()), node)
        if (name := words.counterpart(found)) is None:
            raise CannotCompile(node.lineno, "object", f"`{said}` has no compiled counterpart")
        return ast.copy_location(ast.Name(f"{self.jnp}.{name}", ast.Load()), node)

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.value(node)
        if found is MISSING or not callable(found) or isinstance(found, ModuleType):
            return node
        module = getattr(found, "__module__", None) or ""
        if module.startswith("numpy") or module == "math" or type(found).__name__ == "ufunc":
            return self._counterpart(node, found)
        if words.of_users(found):
            self.inlined(node.id, node)
        elif why := words.why_not_function(found, node.id):
            raise CannotCompile(node.lineno, *why)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if keyword(node, "out") is not None:
            raise CannotCompile(node.lineno, "effect", f"`{words.dotted(node.func)}` writes into `out=`")
        if isinstance(node.func, ast.Attribute) and self.value(node.func) is MISSING:
            return self._method(node)
        found = self.value(node.func)
        self._listed(node)
        for place, k in arrays_of(node, found):
            self._as_array(place, k, node)
        if (reduced := self._reduced(node, found)) is not None:
            return reduced
        if (rows := self._independent(node, found)) is not None:
            node.args[0] = rows
        elif node.args and getattr(found, "__name__", "") in words.AVERAGES and self._may_be_narrow(node.args[0]):
            node.args = [self._averaged(node.args[0]), *(self.visit(a) for a in node.args[1:])]
            node.func, node.keywords = self.visit(node.func), [self.visit(k) for k in node.keywords]
            return node
        if found is MISSING:
            if isinstance(node.func, ast.Name) and node.func.id in self.local | self.lambdas:
                return self.generic_visit(node)  # type: ignore[return-value]
            raise CannotCompile(node.lineno, "object", f"`{words.dotted(node.func)}` is not known")
        if isinstance(node.func, ast.Name) and getattr(found, "__module__", "") == "builtins":
            return self._builtin(node, found)
        if not words.of_users(found) and (why := words.why_not_function(found, words.dotted(node.func))):
            raise CannotCompile(node.lineno, *why)
        if found is np.delete and len(node.args) == 2 and not node.keywords and self.moves(node.args[1]):
            return self._without(*map(self.visit, node.args))
        new = self.generic_visit(node)
        if getattr(found, "__name__", "") in _PLACES and (getattr(found, "__module__", None) or "").startswith("numpy"):
            return self._call(f"{self.jnp}.int64", [new], node)  # type: ignore[list-item]
        return new  # type: ignore[return-value]

    def _without(self, of: ast.expr, at: ast.expr) -> ast.expr:
        """A row without the number at one place that values decide: its size is known."""
        of_, at_ = ast.unparse(of), ast.unparse(at)
        picked = "(lambda x, i, k: x[k + (k >= i + x.size * (i < 0))])"
        given = f"{self.jnp}.ravel({of_}), {self.jnp}.asarray({at_}).reshape(()), {self.jnp}.arange({self.jnp}.size({of_}) - 1)"
        return ast.copy_location(ast.Name(f"{picked}({given})", ast.Load()), of)

    def _listed(self, node: ast.Call) -> None:
        """What Python's own functions and NumPy's go through at once may as well be a list."""
        if node.args and isinstance(node.args[0], ast.GeneratorExp) and self.value(node.func) in _AT_ONCE:
            inner = node.args[0]
            node.args[0] = ast.copy_location(ast.ListComp(inner.elt, inner.generators), inner)

    def _as_array(self, place: list[ast.expr] | ast.keyword, k: int, node: ast.Call) -> None:
        """Makes an array of a list that is written there, or of a tuple that is known while tracing."""
        given = place.value if isinstance(place, ast.keyword) else place[k]
        if not isinstance(given, (ast.List, ast.Tuple)) and not is_table(self.value(given)):
            return
        if words.dotted(node.func).rpartition(".")[2] in _MADE_OF_LISTS:
            return
        text = ast.unparse(self._call(f"{self.jnp}.asarray", [self.visit(given)], node))
        made = ast.copy_location(ast.Name(text, ast.Load()), given)
        if isinstance(place, ast.keyword):
            place.value = made
        else:
            place[k] = made

    def _independent(self, node: ast.Call, found: object) -> ast.expr | None:
        """`vmap` in place of a list of independent values that is made into an array at once: `np.array([f(i) for i in range(n)])`."""
        name = getattr(found, "__name__", "")
        if not (getattr(found, "__module__", None) or "").startswith("numpy") or name not in OF_LISTS:
            return None
        return self._mapped(node.args[0]) if node.args else None

    def _mapped(self, node: ast.expr, otherwise: ast.expr | None = None) -> ast.expr | None:
        """`vmap` in place of a list of independent values; `otherwise` is what those are that a condition leaves out."""
        match node:
            case ast.ListComp(elt=value, generators=[ast.comprehension(target=target, iter=over, ifs=tests)]):
                rows = self._gone_through(target, over)
            case _:
                return None
        if (
            rows is None
            or (tests and otherwise is None)
            or has((ast.Lambda, ast.NamedExpr, ast.Slice), [value, *tests])
        ):
            return None
        own, before, moving = [n for n, _ in rows], self.local, self.moving
        self.local, self.moving = before | {*own}, moving | {*own}
        try:
            inner = self._mapped(value) or self.visit(value)
            for test in tests:
                inner = self._call(f"{self.jnp}.where", [self.visit(test), inner, otherwise or inner], node)
        finally:
            self.local, self.moving = before, moving
        one = ast.Lambda(ast.parse(f"lambda {', '.join(own)}: 0", mode="eval").body.args, inner)  # type: ignore[attr-defined]
        mapped = self._call_of(self._call(f"{self.home.library}.vmap", [one], node), [r for _, r in rows], node)
        return ast.copy_location(ast.Name(ast.unparse(mapped), ast.Load()), node)

    def _gone_through(self, target: ast.expr, over: ast.expr) -> list[tuple[str, ast.expr]] | None:
        """The names that a comprehension binds, each with the array whose elements it stands for."""
        match target, over:
            case ast.Name(id=name), ast.Call(func=ast.Name(id="range"), args=args) if not any(map(self.moves, args)):
                return [(name, self._call(f"{self.jnp}.arange", args, over))]
            case ast.Name(id=name), ast.Name(id=of) if of in self.moving and hasattr(self._seen(of), "shape"):
                return [(name, over)]
            case ast.Tuple(elts=parts), ast.Call(func=ast.Name(id="zip"), args=args, keywords=[]) if len(parts) == len(
                args
            ):
                each = [self._gone_through(p, a) for p, a in zip(parts, args, strict=True)]
                return None if None in each else [row for one in each for row in one or ()]
            case ast.Tuple(elts=[ast.Name(id=count), rest]), ast.Call(
                func=ast.Name(id="enumerate"), args=[ast.Name() as of], keywords=[]
            ) if (inner := self._gone_through(rest, of)) is not None:
                counts = self._call(f"{self.jnp}.arange", [self._call("len", [of], over)], over)
                return [(count, counts), *inner]
            case ast.Name(id=name), _ if self.moves(over) and self._is_row(over):
                return [(name, self.visit(over))]
        return None

    def _is_row(self, node: ast.expr) -> bool:
        """Whether this is what a function of NumPy's gives, or a part of such a row or of an array."""
        match node:
            case ast.Subscript(value=of, slice=ast.Slice()):
                return self._is_row(of) or (isinstance(of, ast.Name) and hasattr(self._seen(of.id), "shape"))
            case ast.Call(func=ast.Attribute() as function):
                return (getattr(self.value(function), "__module__", None) or "").startswith("numpy")
        return False

    def _seen(self, name: str) -> object:
        """What a name of the region's stood for before it, or after it."""
        return self.values.get(name, self.after.get(name)) if name not in self.local else None

    def _reduced(self, node: ast.Call, found: object) -> ast.expr | None:
        """What Python makes of the values of a generator over arrays' elements: `sum(w * f(p) for w, p in zip(ws, ps))`."""
        word = next((f.__name__ for f in _REDUCTIONS if f is found), None)
        if word is None or node.keywords:
            return None
        match node.args:
            case [ast.ListComp(generators=[ast.comprehension(iter=over)]) as part, *start] if len(start) <= (
                word == "sum"
            ) and self.moves(over):
                pass
            case _:
                return None
        left_out = {"sum": ast.Constant(0), "any": ast.Constant(False), "all": ast.Constant(True)}
        if (rows := self._mapped(part, left_out.get(word))) is None:
            return None
        total = self._call(f"{self.jnp}.{word}", [rows], node)
        total.keywords = [ast.keyword("axis", ast.Constant(0))]
        return ast.copy_location(ast.BinOp(self.visit(start[0]), ast.Add(), total), node) if start else total

    def _call_of(self, function: ast.expr, args: list[ast.expr], at: ast.expr) -> ast.Call:
        return ast.copy_location(ast.Call(function, args, []), at)

    def _method(self, node: ast.Call) -> ast.expr:
        assert isinstance(node.func, ast.Attribute)
        if node.func.attr not in words.ARRAY_METHODS:
            raise CannotCompile(node.lineno, *words.why_not_method(node.func.attr))
        if self.value_is_object(node.func.value) and not isinstance(self.value(node.func.value), (float, int)):
            raise CannotCompile(
                node.lineno, "object", f"`{words.dotted(node.func)}` is a method of an object", runs=True
            )
        averages = node.func.attr in words.AVERAGES
        node.func.value = self._averaged(node.func.value) if averages else self.visit(node.func.value)
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        return node

    def _builtin(self, node: ast.Call, found: object) -> ast.expr:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if why := words.why_not_function(found, name):
            raise CannotCompile(node.lineno, *why)
        moving = any(map(self.moves, node.args))
        node.args = [self.visit(a) for a in node.args]
        if not moving or name in ("len", "abs", "range", "zip", "enumerate", "tuple", "list", "pow"):
            return node
        if name == "complex" and len(node.args) == 2:
            imaginary = ast.BinOp(ast.Constant(1j), ast.Mult(), node.args[1])
            return ast.copy_location(ast.BinOp(node.args[0], ast.Add(), imaginary), node)
        if name in ("min", "max") and len(node.args) == 1 and isinstance(node.args[0], (ast.ListComp, ast.List)):
            stacked = self._call(f"{self.jnp}.stack", node.args, node)
            return self._call(f"{self.jnp}.{name}", [stacked], node)
        if name in ("any", "all") and len(node.args) == 1 and isinstance(node.args[0], (ast.ListComp, ast.List)):
            return self._call(f"{self.jnp}.{name}", [self._call(f"{self.jnp}.asarray", node.args, node)], node)
        if name in ("float", "int", "bool", "complex"):
            kind = {"float": "float64", "int": "int64", "bool": "bool_", "complex": "complex128"}[name]
            if not self.home.numpy:
                raise CannotCompile(node.lineno, "value read by Python", f"`{name}` makes a Python number of an array")
            return self._call(f"{self.jnp}.{kind}", node.args, node)
        if name in ("min", "max") and len(node.args) > 1:
            first = node.args[0]
            for other in node.args[1:]:
                test = ast.Compare(other, [ast.Lt() if name == "min" else ast.Gt()], [first])
                first = self._call(f"{self.jnp}.where", [test, other, first], node)
            return first
        if name == "sum" and not node.keywords:
            return node
        raise CannotCompile(node.lineno, "value read by Python", f"Python's `{name}` goes through an array's values")

    def _call(self, name: str, args: list[ast.expr], at: ast.expr) -> ast.Call:
        return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), args, []), at)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        narrow = isinstance(node.op, ast.Div) and self.narrow(node.left)
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        if narrow:
            node.left = self._in_floats(node.left)
        return node

    def narrow(self, node: ast.expr) -> bool:
        """Whether a value is of truth values or of whole numbers below 64 bits, which NumPy averages and divides in float64."""
        match node:
            case ast.Name() | ast.Subscript():
                found = self.values.get(root_of(node) or "") if (root_of(node) not in self.local) else None
                return isinstance(found, np.ndarray) and found.dtype.kind in "biu" and found.dtype.itemsize < 8
            case ast.Compare():
                return self.home.numpy and self.moves(node)
            case ast.UnaryOp(op=ast.Invert(), operand=inner):
                return self.narrow(inner)
            case ast.BinOp(left=a, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=b):
                return self.narrow(a) and self.narrow(b)
        return False

    def _may_be_narrow(self, node: ast.expr) -> bool:
        """The same, where arrays that the region makes, or a function is given, may be of any type."""
        if self.home.arrays != "numpy" or not self.moves(node) or isinstance(node, (ast.List, ast.ListComp)):
            return self.narrow(node)
        seen = [self.after.get(n, self.values.get(n)) for n in loaded([node]) - self.local]
        return not any(isinstance(v, np.ndarray) and v.dtype.kind in "fc" for v in seen) or self.narrow(node)

    def _averaged(self, node: ast.expr) -> ast.expr:
        """What an average is taken of, in NumPy's type: one times a number is a float, one times a float is itself."""
        if self.narrow(node):
            return self._in_floats(self.visit(node))
        if not self._may_be_narrow(node):
            return self.visit(node)
        return ast.copy_location(ast.BinOp(self.visit(node), ast.Mult(), ast.Constant(1.0)), node)

    def _in_floats(self, node: ast.expr) -> ast.expr:
        made = self._call(f"{self.jnp}.asarray", [node, ast.Name(f"{self.jnp}.float64", ast.Load())], node)
        return ast.copy_location(made, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        if not self.moves(node):
            return self.generic_visit(node)  # type: ignore[return-value]
        parts = [self.visit(v) for v in node.values]
        word = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        first = parts[0]
        for other in parts[1:]:
            first = self._call(f"{self.jnp}.{word}", [first, other], node)
        return first

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        moving = self.moves(node)
        node.operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not) and moving:
            return self._call(f"{self.jnp}.logical_not", [node.operand], node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        if self.moves(node) and (among := self._among(node)) is not None:
            return among
        if any(isinstance(o, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for o in node.ops) and self.moves(node):
            raise CannotCompile(node.lineno, "value read by Python", f"`{words.dotted(node)}` asks for a Python object")
        moving = self.moves(node)
        sides = [self.visit(node.left), *(self.visit(c) for c in node.comparators)]
        node.left, node.comparators = sides[0], sides[1:]
        if len(node.ops) == 1 or not moving:
            return node
        pairs: list[ast.expr] = [
            ast.copy_location(ast.Compare(a, [op], [b]), node)
            for a, op, b in zip(sides, node.ops, sides[1:], strict=False)
        ]
        first = pairs[0]
        for other in pairs[1:]:
            first = self._call(f"{self.jnp}.logical_and", [first, other], node)
        return first

    def _among(self, node: ast.Compare) -> ast.expr | None:
        """`k in (1, 2)`, and `(i, j) == (8, 8)`, as comparisons; None for other comparisons."""
        right, op = node.comparators[0], node.ops[0]
        if len(node.ops) > 1 or not isinstance(op, (ast.In, ast.NotIn, ast.Eq, ast.NotEq)):
            return None
        if isinstance(op, (ast.Eq, ast.NotEq)):
            asked = memberships.equal(node.left, right, self.value(right))
        else:
            found = memberships.things(right, self.value(right))
            rows = memberships.comparisons(node.left, found[0]) if found is not None else None
            asked = (rows, found[1]) if found is not None and rows is not None else None
        if asked is None:
            return None
        rows = asked[0]
        if isinstance(right, ast.Name):
            self.tests[right.id] = asked[1]
        both = lambda a, b: self._call(f"{self.jnp}.logical_and", [a, b], node)
        each = [reduce(both, map(self.visit, row)) for row in rows]
        none = self._call(f"{self.jnp}.asarray", [ast.Constant(False)], node)
        among = reduce(lambda a, b: self._call(f"{self.jnp}.logical_or", [a, b], node), each, none)
        return among if isinstance(op, (ast.In, ast.Eq)) else self._call(f"{self.jnp}.logical_not", [among], node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        moving = self.moves(node.test)
        node.test, node.body, node.orelse = self.visit(node.test), self.visit(node.body), self.visit(node.orelse)
        return self._call(f"{self.jnp}.where", [node.test, node.body, node.orelse], node) if moving else node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        rows = self.value(node.value) if self.home.numpy and self.moves(node.slice) else None
        node.value = self.visit(node.value)
        if type(rows) is tuple and {*map(type, np.ravel(np.array(rows, object)).tolist())} in ({int}, {float}):
            node.value = self._call(f"{self.jnp}.asarray", [node.value], node)
        node.slice = self.index(node.slice)
        return node

    def index(self, node: ast.expr) -> ast.expr:
        """What stands between brackets; slices whose edges move become `ds(start, size)`."""
        if isinstance(node, ast.Tuple):
            self._one_with_steps(node)
            return ast.copy_location(ast.Tuple([self.index(e) for e in node.elts], node.ctx), node)
        if isinstance(node, ast.List):
            return self._call(f"{self.jnp}.asarray", [self.visit(node)], node)
        if not isinstance(node, ast.Slice):
            return self.visit(node)
        if not any(map(self.moves, filter(None, (node.lower, node.upper)))):
            return self.generic_visit(node)  # type: ignore[return-value]
        step = node.step.value if isinstance(node.step, ast.Constant) else None if node.step is not None else 1
        if node.lower is None or node.upper is None or not isinstance(step, int) or step < 1:
            raise CannotCompile(node.lineno, "shape", f"the size of the slice `{words.dotted(node)}` is no constant")
        size = difference(node.upper, node.lower, self.moves)
        if size is None:
            raise CannotCompile(node.lineno, "shape", f"the size of the slice `{words.dotted(node)}` is no constant")
        self.windows.append(node)
        start = self.visit(node.lower)
        if step > 1:
            size = ast.parse(f"-(-({ast.unparse(ast.fix_missing_locations(size))}) // {step})", mode="eval").body
            steps = ast.BinOp(self._call(f"{self.jnp}.arange", [size], node), ast.Mult(), ast.Constant(step))
            return ast.copy_location(ast.BinOp(start, ast.Add(), steps), node)
        if self.home.library == "jitscope":
            return self._call("jitscope.ds", [start, size], node)
        return ast.copy_location(ast.BinOp(start, ast.Add(), self._call(f"{self.jnp}.arange", [size], node)), node)

    def _one_with_steps(self, node: ast.Tuple) -> None:
        """Refuses moving slices with steps, which become rows of places, where those would go together with other parts in NumPy's way."""
        moving = [p for p in node.elts if isinstance(p, ast.Slice) and p.step is not None and self.moves(p)]
        slices = sum(isinstance(p, ast.Slice) for p in node.elts)
        if len(moving) > 1 or (moving and 1 < slices < len(node.elts)):
            raise CannotCompile(node.lineno, "shape", f"the slice `{words.dotted(moving[0])}` has steps and moves")

    def _refused(self, node: ast.expr) -> ast.expr:
        raise CannotCompile(node.lineno, *_REFUSED[type(node)])

    visit_NamedExpr = visit_Await = visit_Yield = visit_YieldFrom = _refused
    visit_JoinedStr = visit_Lambda = visit_GeneratorExp = _refused

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        raise CannotCompile(node.lineno, "object", "a dict is made", runs=True)

    def named(self, name: str, node: ast.Lambda) -> ast.expr:
        """A lambda that a statement gives a name to: its text, with parameters that move. Raises CannotCompile where it takes more than
        such parameters."""
        a = node.args
        if a.vararg or a.kwarg or a.kwonlyargs or a.defaults:
            return self._refused(node)
        given = {p.arg for p in (*a.posonlyargs, *a.args)}
        before, moving = self.local, self.moving
        self.local, self.moving = before | given, moving | given
        try:
            node.body = self.visit(node.body)
        finally:
            self.local, self.moving = before, moving
        self.lambdas.add(name)
        return node

    def _row_by_row(self, node: ast.ListComp) -> None:
        """Takes the few elements of an array by their places, which are known while tracing: `[x[s:s + 5] for s in starts]`."""
        for part in node.generators:
            match part:
                case ast.comprehension(target=ast.Name(id=one) as target, iter=ast.Name(id=name)) if (
                    name not in self.local
                ):
                    found = self.values.get(name, self.after.get(name))
                    if (
                        not isinstance(found, np.ndarray)
                        or not found.ndim
                        or len(found) > FEW
                        or not self.moves(part.iter)
                    ):
                        continue
                    place = f"place_of_{one}"
                    element = ast.parse(f"{name}[{place}]", mode="eval").body
                    node.elt = Renamed({one: element}).visit(node.elt)
                    part.ifs = [Renamed({one: element}).visit(test) for test in part.ifs]
                    target.id = place
                    part.iter = placed_at(ast.parse(f"range(len({name}))", mode="eval").body, part.iter)

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        self._row_by_row(node)
        if any(map(self.moves, (g.iter for g in node.generators))):
            raise CannotCompile(node.lineno, "value read by Python", "a list is made of an array's values")
        hidden = names(g.target for g in node.generators)
        before, self.local = self.local, self.local | hidden
        try:
            return self.generic_visit(node)  # type: ignore[return-value]
        finally:
            self.local = before


def difference(upper: ast.expr, lower: ast.expr, moves: Callable[[ast.AST], bool]) -> ast.expr | None:
    """`upper - lower` where what moves cancels."""
    a, b = _linear(upper, moves), _linear(lower, moves)
    if a[0] != b[0]:
        return None
    parts: list[ast.expr] = [ast.BinOp(ast.Constant(k), ast.Mult(), node) for node, k in a[1]]
    parts += [ast.BinOp(ast.Constant(-k), ast.Mult(), node) for node, k in b[1]]
    total, others = 0, []
    for part in parts:
        match part:
            case ast.BinOp(left=ast.Constant(value=int(n)), right=ast.Constant(value=int(k))):
                total += n * k
            case _:
                others.append(part)
    first: ast.expr = ast.Constant(total)
    for part in others:
        first = ast.BinOp(first, ast.Add(), part)
    return first


def _linear(node: ast.expr, moves: Callable[[ast.AST], bool]) -> tuple[dict[str, int], list[tuple[ast.expr, int]]]:
    """Moving names, and other expressions that move, with their whole factors, and what does not move."""
    if not moves(node):
        return {}, [(node, 1)]
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            a, b = _linear(left, moves), _linear(right, moves)
            sign = 1 if isinstance(op, ast.Add) else -1
            names = {k: a[0].get(k, 0) + sign * b[0].get(k, 0) for k in a[0] | b[0]}
            return {k: n for k, n in names.items() if n}, a[1] + [(e, sign * n) for e, n in b[1]]
        case (
            ast.BinOp(left=inner, op=ast.Mult(), right=ast.Constant(value=int(factor)))
            | ast.BinOp(left=ast.Constant(value=int(factor)), op=ast.Mult(), right=inner)
        ):
            names, others = _linear(inner, moves)
            return {k: n * factor for k, n in names.items()}, [(e, n * factor) for e, n in others]
    return {ast.unparse(node): 1}, []
