"""Calls of methods and functions of the cells, with their statements in the calls' places."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from types import FunctionType

from ..source_code.parameters import arguments
from . import naming, words
from .aggregate_expressions import Expressions
from .counted_dicts import as_lists
from .functions import definition_of
from .returns import at_the_end
from .stand_ins import evaluates_again
from .structures import Box, Function, Grows, InWholes, Known, Leaf, Part, Scope, fields_of, is_structure, of_class


DEEPEST = 8
"""Calls inside of calls are followed so deep."""
_NEVER = (
    *(ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.Try, ast.With, ast.Raise, ast.Delete),
    *(ast.Import, ast.ImportFrom, ast.NamedExpr, ast.ClassDef),
)


class Calls(Expressions):
    """The part of `AggregateReplacement` that writes calls."""

    def call(self, node: ast.Call, scope: Scope) -> Part:
        match node.func:
            case ast.Attribute(value=ast.Call(func=ast.Name(id="super"), args=[]), attr=name):
                return self._of_super(node, name, scope)
            case ast.Attribute(value=of, attr=name):
                owner = self.ev(of, scope)
                if (
                    isinstance(owner, Box)
                    and not owner.is_object
                    and (name.startswith("_") or not isinstance(of_class(owner, name), FunctionType))
                ):
                    return self._of_container(owner, name, node, scope)
                if isinstance(owner, Box):
                    return self._called(self.attribute(owner, name), node, scope)
                return self._called(self.attribute(owner, name), node, scope)
            case ast.Name(id=name) if self._is_builtin(name, scope):
                found = self._of_python(name, node, scope)
                if found is not None:
                    return found
        return self._called(self.ev(node.func, scope), node, scope)

    def _is_builtin(self, name: str, scope: Scope) -> bool:
        found = self.lookup(name, scope)
        return isinstance(found, ast.Name) and found.id == name and name not in self.roots.visit.values

    def _called(self, function: Part, node: ast.Call, scope: Scope) -> Part:
        if isinstance(function, Box):
            function = self.attribute(function, "__call__") if "__call__" not in function.parts else function
            if isinstance(function, Box):
                raise InWholes("an object is called")
        if isinstance(function, ast.Name):
            kind = self.roots.visit.values.get(function.id, self.roots.values.get(function.id))
            if isinstance(kind, type) and kind.__module__ in ("__main__", "cell"):
                return self._made(kind, node, scope)
        start = len(self.out)
        args = self.in_order(node.args, scope)
        mark = len(self.out)
        named = dict(
            zip([k.arg for k in node.keywords], self.in_order([k.value for k in node.keywords], scope), strict=True)
        )
        if len(self.out) > mark and any(isinstance(a, ast.expr) for a in args):
            raise InWholes("a named argument acts on an object")
        if isinstance(function, ast.expr) and (root := naming.root_of(function)) != getattr(function, "id", ""):
            if (root is None and len(self.out) > start) or root in naming.bound(self.out[start:]):
                raise InWholes("an argument acts on an object")
        if None in named:
            more = named.pop(None)
            if not isinstance(more, Box) or more.of is not dict:
                raise InWholes("named arguments are starred")
            named |= {str(k): p for k, p in more.parts.items()}
        if isinstance(function, Function):
            if not self._stays(function, [*args, *named.values()]):
                return self.inline(function, args, named)  # type: ignore[arg-type]
            assert function.text is not None
            function = ast.Name(function.text, ast.Load())
        keywords = [ast.keyword(n, self.text(p)) for n, p in named.items()]
        return ast.Call(self.text(function), [self.text(a) for a in args], keywords)

    def _stays(self, function: Function, args: list[Part]) -> bool:
        """Whether the call of a function can stand as it is: no object has a part in it."""
        if function.value is None or function.owner is not None or not (function.text or "").isidentifier():
            return False
        node = definition_of(function.value, self.definitions)
        if node is not None and any(isinstance(n, ast.Dict) or _appends(n) for n in ast.walk(node)):
            return False
        for a in args:
            if isinstance(a, Box) and (a.of is dict or a.is_object or a.name is not None):
                return False
            if isinstance(a, Box) and not self._stays(function, list(a.parts.values())):
                return False
            if isinstance(a, Function) and not (
                (a.text or "").isidentifier() and a.value and not self._reaches(a.value, set())
            ):
                return False
        return not self._reaches(function.value, set())

    def _reaches(self, f: FunctionType, known: set[int]) -> bool:
        if id(f) in known:
            return False
        known.add(id(f))
        codes, names = [f.__code__], set[str]()
        while codes:
            c = codes.pop()
            names |= {*c.co_names}
            codes += [k for k in c.co_consts if inspect.iscode(k)]
        inside = [f.__globals__[n] for n in names if n in f.__globals__]
        inside += [c.cell_contents for c in f.__closure__ or ()]
        for v in inside:
            users_class = isinstance(v, type) and v.__module__ in ("__main__", "cell")
            if users_class or is_structure(v) or (words.of_users(v) and self._reaches(v, known)):  # type: ignore[arg-type]
                return True
        return False

    # Functions of the cells --------------------------------------------------------------------------------------

    def inline(self, function: Function, args: list[Part], named: Mapping[str, Part]) -> Part:
        """The function's statements are written here; its result."""
        node, args = self._definition(function), list(args)
        if self.calls >= DEEPEST or naming.has(_NEVER, [node]):
            raise InWholes("a function that is not written out")
        if function.owner is not None:
            args.insert(0, function.owner)
        body: list[ast.stmt] = (
            [ast.Return(node.body)] if isinstance(node, ast.Lambda) else as_lists(at_the_end(node, always=True).body)
        )
        *first, last = body
        self.count += 1
        scope, given = Scope(function=function, around=function.around), self._given(node, function, args, named)
        name = getattr(node, "name", "it")
        for n in sorted(naming.bound(body) | given.keys()):
            scope.own[n] = self.roots.name(f"{n}_of_{name}_{self.count}")
        stores = naming.stored(body)
        scope.once = frozenset(n for n in stores if stores.count(n) == 1 and n not in given)
        self.inlined.add(name)
        self.calls += 1
        self.scopes.append(scope)
        for n, part in given.items():
            self._give(
                n,
                part,
                scope,
                self.rebinds(body, n, Leaf(part.id) if isinstance(part, ast.Name) else part),
                sum(isinstance(m, ast.Name) and m.id == n for b in body for m in ast.walk(b)) < 2,
            )
        if isinstance(last, ast.Return):
            self.block(first, scope)
            result = self.ev(last.value, scope) if last.value is not None else Known(None)
        else:
            self.block(body, scope)
            result = Known(None)
        if isinstance(result, Function) and result.around is scope:
            raise InWholes("a function makes a function")
        self.scopes.pop()
        self.calls -= 1
        return result

    def _give(self, name: str, part: Part, scope: Scope, changes: bool, once: bool) -> None:
        """A parameter stands for what it is given."""
        if isinstance(part, ast.Name):
            part = Leaf(part.id)
        if isinstance(part, Box) and part.name is None:
            self.store(scope.names, name, part, scope.own[name])  # type: ignore[arg-type]
        elif isinstance(part, (Box, Function)):
            scope.names[name] = part
        elif (isinstance(part, Known) and (not changes or part.value is None or isinstance(part.value, str))) or (
            isinstance(part, Leaf) and not changes and (not self.copies or self._stays_the_same(part))
        ):
            scope.names[name] = part
        elif self.quiet and once and not changes:
            scope.names[name] = part
        else:
            self.assign([scope.own[name]], [self.text(part)])

    def _stays_the_same(self, leaf: Leaf) -> bool:
        """Whether a name of the cell is bound to one thing all the while."""
        return leaf.name in self.roots.visit.values and leaf.name not in self.bound_in_region

    def _definition(self, function: Function) -> ast.FunctionDef | ast.Lambda:
        if function.value is None:
            assert function.node is not None
            return function.node
        node = definition_of(function.value, self.definitions)
        if node is None or any(ast.unparse(d) not in ("staticmethod", "property") for d in node.decorator_list):
            raise InWholes("a function whose text is not known")
        return node

    def _given(
        self,
        node: ast.FunctionDef | ast.Lambda,
        function: Function,
        args: list[Part],
        named: Mapping[str, Part],
    ) -> dict[str, Part]:
        a, rest = node.args, dict(named)
        names = [p.arg for p in (*a.posonlyargs, *a.args)]
        defaults = dict(zip(names[len(names) - len(a.defaults) :], a.defaults, strict=True))
        defaults |= {p.arg: d for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None}
        found: dict[str, Part] = dict(zip(names, args, strict=False))
        if len(args) > len(names):
            if a.vararg is None:
                raise InWholes("too many arguments")
            found[a.vararg.arg] = Box(tuple, dict(enumerate(args[len(names) :])))
        elif a.vararg is not None:
            found[a.vararg.arg] = Box(tuple, {})
        for n in [*names, *(p.arg for p in a.kwonlyargs)]:
            if n in rest:
                found[n] = rest.pop(n)
            elif n not in found:
                found[n] = self._default(defaults.get(n))
        if a.kwarg is not None:
            found[a.kwarg.arg] = Box(dict, {**rest})
        elif rest:
            raise InWholes("a name that is no parameter")
        return found

    def _default(self, node: ast.expr | None) -> Part:
        try:
            value = ast.literal_eval(node) if node is not None else ...
        except ValueError:
            value = ...
        if not isinstance(value, (int, float, str, type(None))):
            raise InWholes("a default that is no number")
        return Known(value)

    def _of_super(self, node: ast.Call, name: str, scope: Scope) -> Part:
        inner = scope
        while inner.function is None and inner.around is not None:
            inner = inner.around
        f, owner = (inner.function.value, inner.function.owner) if inner.function else (None, None)
        if f is None or owner is None or "__class__" not in f.__code__.co_freevars:
            raise InWholes("`super()` of what is not known")
        kind = (f.__closure__ or ())[f.__code__.co_freevars.index("__class__")].cell_contents
        order = owner.of.__mro__
        found = next((vars(k)[name] for k in order[order.index(kind) + 1 :] if name in vars(k)), None)
        if found is object.__init__:
            return Known(None)
        if not isinstance(found, FunctionType):
            raise InWholes(f"`super().{name}`")
        return self._called(Function(None, found, owner=owner), node, scope)

    def _made(self, kind: type, node: ast.Call, scope: Scope) -> Part:
        """A new object, or named tuple."""
        if fields_of(kind):
            return self._named_tuple(kind, node, scope)
        if (
            type(kind) is not type
            or kind.__new__ is not object.__new__
            or not all(b is object or b.__module__ == kind.__module__ for b in kind.__mro__)
        ):
            raise InWholes("an object of a class with ways of its own")
        self.count += 1
        box = Box(kind, {}, name=self.roots.name(f"{kind.__name__.lower()}_{self.count}"))
        fields = vars(kind).get("__dataclass_fields__")
        if fields is None:
            if kind.__init__ is not object.__init__:  # type: ignore[misc]
                self._called(Function(None, kind.__init__, owner=box), node, scope)  # type: ignore[misc]
            return box
        args = self.in_order(node.args, scope)
        named = {k.arg: self.ev(k.value, scope) for k in node.keywords}
        if hasattr(kind, "__post_init__") or vars(kind)["__dataclass_params__"].frozen or None in named:
            raise InWholes("an object of a class with ways of its own")
        for k, f in enumerate(fields.values()):
            part = args[k] if k < len(args) else named.get(f.name)
            if part is None:
                if not isinstance(f.default, (int, float, str, type(None))):
                    raise InWholes("a default that is no number")
                part = Known(f.default)
            self.store(box.parts, f.name, part, f"{box.name}.{f.name}")
        return box

    def _named_tuple(self, kind: type, node: ast.Call, scope: Scope, old: Mapping[object, Part] | None = None) -> Part:
        """One of the values given, and otherwise of the `old` ones, or of the defaults."""
        fields, defaults = fields_of(kind), kind._field_defaults  # type: ignore[attr-defined]
        args = self.in_order(arguments(node), scope)
        names = [*fields[: len(args) - len(node.keywords)], *(k.arg for k in node.keywords)]
        if len(names) != len(args):
            raise InWholes("parts that a named tuple does not have")
        given = dict(zip(names, args, strict=True))
        parts: dict[object, Part] = {}
        for k, n in enumerate(fields):
            part = given.pop(n, None) or (old or {}).get(k)
            if part is None and type(defaults.get(n, ...)) in (int, float, str, type(None)):
                part = Known(defaults[n])
            if part is None:
                raise InWholes("a part that is not given")
            parts[k] = part
        if given:
            raise InWholes("parts that a named tuple does not have")
        self.roots.named_class(kind)
        return Box(kind, parts)

    # Python's own ------------------------------------------------------------------------------------------------

    def _of_python(self, name: str, node: ast.Call, scope: Scope) -> Part | None:
        if node.keywords or not node.args:
            return None
        first = node.args[0]
        if name == "sum" and len(node.args) == 1:
            part = self.ev(first, scope)
            if not isinstance(part, Box):
                return ast.Call(ast.Name("sum", ast.Load()), [self.text(part)], [])
            whole: ast.expr = ast.Constant(0)
            for p in part.parts.values():
                whole = ast.BinOp(whole, ast.Add(), self.text(p))
            return whole
        if name in ("list", "tuple", "reversed", "enumerate", "zip", "dict", "sorted"):
            if name == "dict" and isinstance(part := self.ev(first, scope), Box) and part.of is dict:
                return Box(dict, dict(part.parts))
            things = self.things(node, None, scope)
            return Box(tuple if name == "tuple" else list, dict(enumerate(things))) if things is not None else None
        if name not in ("len", "isinstance", "hasattr", "getattr"):
            return None
        part = self.ev(first, scope)
        if not isinstance(part, Box):
            return None
        part.touched = True
        if name == "len" and not part.is_object:
            return Known(len(part.parts))
        if (
            name in ("hasattr", "getattr")
            and len(node.args) == 2
            and isinstance(word := self.ev(node.args[1], scope), Known)
        ):
            if name == "getattr":
                return self.attribute(part, str(word.value))
            return Known(str(word.value) in part.parts or hasattr(part.of, str(word.value)))
        if name == "isinstance" and isinstance(node.args[1], ast.Name):
            kind = self.roots.visit.values.get(node.args[1].id, getattr(__builtins__, node.args[1].id, None))
            if isinstance(kind, type):
                return Known(issubclass(part.of, kind))
        raise InWholes(f"`{name}` of an object")

    def _of_container(self, box: Box, name: str, node: ast.Call, scope: Scope) -> Part:
        box.touched = True
        if (things := self.things(node, None, scope)) is not None:
            return Box(list, dict(enumerate(things)))
        if name == "_replace" and fields_of(box.of) and not node.args:
            return self._named_tuple(box.of, node, scope, box.parts)
        args = self.in_order(node.args, scope)
        if node.keywords:
            raise InWholes(f"`.{name}` of a container")
        if name == "copy" and not args:
            return Box(box.of, dict(box.parts))
        if box.of is dict and name == "get" and isinstance(args[0], Known):
            return self.roots.reached(box.parts.get(args[0].value, args[1] if len(args) > 1 else Known(None)))
        if box.of is dict and name == "update" and len(args) == 1 and isinstance(args[0], Box) and args[0].of is dict:
            self.changed(box)
            for k, p in args[0].parts.items():
                self.store(box.parts, k, p, f"{self.path(box)}[{k!r}]")
            return Known(None)
        more = args if name == "append" else None
        if name == "extend" and len(args) == 1 and isinstance(rows := args[0], Box) and rows.of in (list, tuple):
            more = [*rows.parts.values()]
        if box.of is list and len(args) == 1 and more is not None:
            if box.text is not None or box.loops < self.dynamic:
                raise Grows(box.text or box.site)
            self.changed(box)
            for k, part in enumerate(more, len(box.parts)):
                if self._held_as_it_is(part):
                    box.parts[k] = part
                else:
                    self.store(box.parts, k, part, f"{self.path(box)}[{k}]")
            return Known(None)
        raise InWholes(f"`.{name}` of a container")

    def _held_as_it_is(self, part: Part) -> bool:
        """Whether a list takes a part, or a tuple of such, under the name that it has."""
        if isinstance(part, Box):
            return part.of is tuple and part.name is None and all(map(self._held_as_it_is, part.parts.values()))
        return isinstance(part, Leaf) and not self.copies

    def begins(self, source: ast.expr, scope: Scope) -> str | None:
        """What is true when the region begins if a loop inside of it has a turn each time; None where that is not known then."""
        reads = naming.loaded([source])
        match source:
            case ast.Call(func=ast.Name(id="range")) if (
                scope is self.top
                and evaluates_again(source)
                and not reads & (self.bound_in_region | scope.names.keys())
                and not any(self.roots.at(n) for n in reads)
            ):
                return f"len({ast.unparse(source)}) > 0"
        return None

    def is_whole(self, leaf: Leaf) -> bool:
        """Whether a name stands for a whole number of Python's that is not copied, as where it says which part of an array is meant."""
        return not self.copies and type(self.roots.values.get(leaf.name)) is int

    def path(self, box: Box) -> str:
        if box.text is None and box.name is None:
            self.count += 1
            box.name = self.roots.name(f"box_{self.count}")
        return box.text or box.name or ""


def _appends(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append"
