"""Expressions with names in place of the parts of objects and containers."""

from __future__ import annotations

import ast
import builtins
import copy
import operator
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from . import naming, words
from .aggregate_state import State
from .structures import (
    Box,
    Function,
    Grows,
    InWholes,
    Known,
    Leaf,
    Part,
    PickedByValue,
    Scope,
    fields_of,
    is_plain_number,
    is_structure,
    key_text,
    of_class,
)


MOST_NUMBERS = 32
_FOLDED: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip


class Expressions(State):
    """The part of `AggregateReplacement` that writes expressions."""

    def ev(self, node: ast.expr, scope: Scope) -> Part:
        """What an expression stands for; statements that have to stand before it are emitted."""
        match node:
            case ast.Constant(value=value):
                return Known(value) if isinstance(value, (int, float, str, type(None))) else copy.copy(node)
            case ast.Name(id=name):
                return self.lookup(name, scope)
            case ast.Attribute(value=of, attr=attr):
                return self.attribute(self.ev(of, scope), attr)
            case ast.Subscript(value=of, slice=index):
                return self._element(node, of, index, scope)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                found = self.in_order(parts, scope)
                made = Box(tuple if isinstance(node, ast.Tuple) else list, dict(enumerate(found)))
                made.site, made.loops = f"[{node.lineno}:{node.col_offset}]", self.dynamic
                if isinstance(node, ast.List) and made.site in self.roots.plain:
                    return ast.List([self.text(p) for p in found], ast.Load())
                return made
            case ast.Dict(keys=keys, values=values):
                names = [self.ev(k, scope) if k is not None else None for k in keys]
                if not all(isinstance(k, Known) for k in names):
                    raise InWholes("a dict whose keys are computed")
                return Box(dict, dict(zip([k.value for k in names], self.in_order(values, scope), strict=True)))  # type: ignore[union-attr]
            case ast.Call():
                return self.call(node, scope)
            case ast.IfExp():
                return self._chosen(node, scope)
            case ast.BoolOp():
                return self._both(node, scope)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._compared(left, op, right, scope)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = self.in_order([left, right], scope)
                return self._operated(a, op, b)
            case ast.UnaryOp(op=op, operand=operand):
                part = self.ev(operand, scope)
                if isinstance(part, Known) and isinstance(op, (ast.USub, ast.Not)) and part.value is not None:
                    return Known(-part.value if isinstance(op, ast.USub) else not part.value)  # type: ignore[operator]
                if isinstance(part, Box) and isinstance(op, ast.Not) and not part.is_object:
                    return Known(not part.parts)
                return ast.UnaryOp(op, self.text(part))
            case ast.Lambda():
                return Function(node, around=scope)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, scope)
            case ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                raise InWholes("an expression that binds")
        return self._other(node, scope)

    def _other(self, node: ast.expr, scope: Scope) -> ast.expr:
        new = copy.copy(node)
        inner: list[tuple[object, object, ast.expr]] = []
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                inner.append((new, name, value))
            elif isinstance(value, list):
                setattr(new, name, kept := list(value))
                inner += [(kept, k, v) for k, v in enumerate(value) if isinstance(v, ast.expr)]
        for (owner, key, _), part in zip(inner, self.in_order([v for _, _, v in inner], scope), strict=True):
            if isinstance(owner, list):
                owner[key] = self.text(part)  # type: ignore[call-overload]
            else:
                setattr(owner, key, self.text(part))  # type: ignore[call-overload]
        return new

    def in_order(self, nodes: Iterable[ast.expr], scope: Scope) -> list[Part]:
        """What expressions stand for that are evaluated one after the other."""
        done: list[Part] = []
        for n in nodes:
            mark = len(self.out)
            part = self.ev(n.value if isinstance(n, ast.Starred) else n, scope)
            if len(self.out) > mark:
                late, self.out[mark:] = self.out[mark:], []
                bound = naming.bound(late)
                done = [self._before(d, bound) for d in done]
                self.out += late
            if isinstance(n, ast.Starred):
                if not isinstance(part, Box) or part.of is dict:
                    raise InWholes("arguments are starred")
                done += part.parts.values()
            else:
                done.append(part)
        return done

    def _before(self, part: Part, bound: set[str]) -> Part:
        """A part that was evaluated before statements that bind names."""
        if isinstance(part, Box) and part.name is None:
            part.parts = {k: self._before(p, bound) for k, p in part.parts.items()}
            return part
        if isinstance(part, Leaf):
            return part if part.name not in bound else self.held(part)
        if isinstance(part, ast.Name):
            return part if part.id not in bound else self.held(part)
        return self.held(part) if isinstance(part, ast.expr) and not isinstance(part, ast.Constant) else part

    def held(self, part: Part) -> Part:
        """A part under a name of its own."""
        if isinstance(part, Box) and part.name is None:
            part.parts = {k: self.held(p) for k, p in part.parts.items()}
        if isinstance(part, (Box, Function, Known)):
            return part
        name = self.fresh("part")
        self.emit(ast.Assign([ast.Name(name, ast.Store())], self.text(part)))
        return ast.Name(name, ast.Load())

    def fresh(self, word: str) -> str:
        self.count += 1
        return self.roots.name(f"{word}_{self.count}")

    def text(self, part: Part) -> ast.expr:
        """A part as an expression."""
        match part:
            case Leaf(name=name):
                return ast.Name(name, ast.Load())
            case Known(value=value):
                return ast.Constant(value)  # type: ignore[arg-type]
            case Box(of=of, parts=parts) if of in (list, tuple):
                inside = [self.text(p) for p in parts.values()]
                return ast.List(inside, ast.Load()) if of is list else ast.Tuple(inside, ast.Load())
            case Box(of=of, parts=parts) if fields_of(of):
                name = ast.Name(self.roots.named_class(of), ast.Load())
                return ast.Call(name, [self.text(p) for p in parts.values()], [])
            case Box():
                raise InWholes("an object is used as a whole")
            case Function(node=ast.Lambda() as node, value=None, around=around) if around is not None:
                return self._lambda(node, around)
            case Function(text=str() as text) if text.isidentifier():
                return ast.Name(text, ast.Load())
            case Function():
                raise InWholes("a function is used as a whole")
        return copy.deepcopy(part)

    def _lambda(self, node: ast.Lambda, around: Scope) -> ast.expr:
        own = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        if node.args.defaults or node.args.kw_defaults:
            raise InWholes("a lambda with defaults")
        body = self.quietly(node.body, Scope(own={n: n for n in own}, around=around, function=around.function))
        return ast.Lambda(node.args, self.text(body))

    def quietly(self, node: ast.expr, scope: Scope) -> Part:
        """What an expression stands for that may not be evaluated, or more than once."""
        quiet, self.quiet = self.quiet, True
        try:
            return self.ev(node, scope)
        finally:
            self.quiet = quiet

    def is_plain(self, part: Part) -> bool:
        """Whether a part is an array or a number."""
        return isinstance(part, (Leaf, ast.expr)) or (isinstance(part, Known) and isinstance(part.value, (int, float)))

    # Names and parts ---------------------------------------------------------------------------------------------

    def name_in(self, name: str, scope: Scope) -> str:
        return scope.own.get(name, name)

    def lookup(self, name: str, scope: Scope) -> Part:
        while True:
            if name in scope.names:
                part = scope.names[name]
                if isinstance(part, ast.Constant):
                    raise InWholes(f"`{name}` may stand for several things")
                return part
            if name in scope.own:
                return ast.Name(scope.own[name], ast.Load())
            if scope is self.top:
                return self._at_top(name)
            if scope.around is None:
                assert scope.function is not None
                return self._global(name, scope.function)
            scope = scope.around

    def _at_top(self, name: str) -> Part:
        if (part := self.roots.at(name)) is not None:
            return part
        value = self.roots.visit.values.get(name, self.roots.values.get(name))
        if isinstance(value, FunctionType) and words.of_users(value) and name not in self.bound_in_region:
            return Function(None, value, text=name)
        return ast.Name(name, ast.Load())

    def _global(self, name: str, function: Function) -> Part:
        f, visit = function.value, self.roots.visit
        assert f is not None
        if name in f.__code__.co_freevars:
            cell = (f.__closure__ or ())[f.__code__.co_freevars.index(name)].cell_contents
            if name in visit.live and visit.live[name] is cell:
                return self._at_top(name)
            if function.text is None:
                raise InWholes(f"`{name}` is kept by a function")
            k = f.__code__.co_freevars.index(name)
            return self.roots.built(cell, f"{function.text}.__closure__[{k}].cell_contents", 0)
        if name not in f.__globals__:
            if not hasattr(builtins, name):
                raise InWholes(f"`{name}` is not known")
            return ast.Name(name, ast.Load())
        value = f.__globals__[name]
        if name in self.bound_in_region and (name in visit.own or f.__globals__ is not self.roots.visit.around):
            raise InWholes(f"`{name}` is a name of the region as well")
        if name not in visit.live:
            if name in self.bound_in_region:
                return self._at_top(name)
            if is_structure(value):
                raise InWholes(f"`{name}` is not among what was seen")
            self.roots.values.setdefault(name, value)
        elif visit.live[name] is not value and name not in self.bound_in_region:
            raise InWholes(f"`{name}` is a name of the region as well")
        return self._at_top(name)

    def attribute(self, owner: Part, name: str) -> Part:
        if isinstance(owner, (Function, Known)):
            raise InWholes(f"`.{name}` of a function")
        if not isinstance(owner, Box):
            return ast.Attribute(self.text(owner), name, ast.Load())
        owner.touched = True
        if name in (fields := fields_of(owner.of)):
            return self.roots.reached(owner.parts[fields.index(name)])
        if not owner.is_object and not fields:
            raise InWholes(f"`.{name}` of a container")
        if self.hides(owner, name):
            return self.inline(Function(None, of_class(owner, name).fget, owner=owner), [], {})  # type: ignore[attr-defined, union-attr]
        if name in owner.parts:
            return self.roots.reached(owner.parts[name])
        found = of_class(owner, name)
        if isinstance(found, FunctionType):
            return Function(None, found, owner=owner)
        if isinstance(found, staticmethod):
            return Function(None, found.__func__)  # type: ignore[arg-type]
        if is_plain_number(found) and owner.text is not None:
            return self.roots.leaf(found, key_text(owner.text, name, True))
        raise InWholes(f"`.{name}` is not an attribute that was seen")

    def hides(self, owner: Box, name: str) -> bool:
        """Whether the class answers for an attribute, whatever the object has."""
        found = of_class(owner, name)
        if isinstance(found, property):
            return True
        if found is not None and hasattr(type(found), "__set__"):
            raise InWholes(f"`.{name}` is made by its class")
        return False

    def _element(self, node: ast.expr, of: ast.expr, index: ast.expr, scope: Scope) -> Part:
        owner = self.ev(of, scope)
        if not isinstance(owner, Box):
            mark = len(self.out)
            where = self.ev(index, scope)
            if len(self.out) > mark and not isinstance(owner, (Leaf, ast.Name)):
                raise InWholes("an index acts on an object")
            return ast.Subscript(self.text(owner), self.text(where), ast.Load())
        owner.touched = True
        if owner.is_object:
            raise InWholes("an element of an object")
        if isinstance(index, ast.Slice) and owner.of is not dict:
            ends = [
                None if e is None else self.number(self.ev(e, scope)) for e in (index.lower, index.upper, index.step)
            ]
            kind = list if owner.of is list else tuple
            return Box(kind, dict(enumerate(list(owner.parts.values())[slice(*ends)])))
        key = self.key(owner, index, scope)
        if key not in owner.parts:
            raise Grows(owner.site) if owner.of is list and owner.site else InWholes(f"{key!r} is not among the parts")
        return self.roots.reached(owner.parts[key])

    def key(self, owner: Box, index: ast.expr, scope: Scope) -> object:
        """The key that an index stands for."""
        part = self.ev(index, scope)
        if owner.of is dict and isinstance(part, Known):
            return part.value
        if (
            owner.of is dict
            and isinstance(part, Box)
            and part.of is tuple
            and all(isinstance(p, Known) for p in part.parts.values())
        ):
            return tuple(p.value for p in part.parts.values())  # type: ignore[union-attr]
        number = self.number(part, owner)
        return number + len(owner.parts) if number < 0 and owner.of is not dict else number

    def number(self, part: Part, box: Box | None = None) -> int:
        """A whole number that the text shows, or that was seen and does not change."""
        if isinstance(part, Known) and type(part.value) is int:
            return part.value
        name = part.name if isinstance(part, Leaf) else part.id if isinstance(part, ast.Name) else None
        value = self.roots.values.get(name or "", self.roots.visit.values.get(name or ""))
        if name is None or type(value) is not int:
            raise PickedByValue(box)
        self.pinned[name] = value
        return value

    # Operations --------------------------------------------------------------------------------------------------

    def _operated(self, a: Part, op: ast.operator, b: Part) -> Part:
        if (
            isinstance(a, Known)
            and isinstance(b, Known)
            and type(a.value) is int
            and type(b.value) is int
            and type(op) in _FOLDED
        ):
            if b.value or not isinstance(op, (ast.FloorDiv, ast.Mod)):
                return Known(_FOLDED[type(op)](a.value, b.value))
        if (
            isinstance(a, Box)
            and isinstance(b, Box)
            and isinstance(op, ast.Add)
            and a.of is b.of
            and a.of in (list, tuple)
        ):
            return Box(a.of, dict(enumerate([*a.parts.values(), *b.parts.values()])))
        if (
            isinstance(a, Box)
            and a.of is list
            and isinstance(b, Known)
            and type(b.value) is int
            and isinstance(op, ast.Mult)
        ):
            if all(isinstance(p, Known) and p.value is None for p in a.parts.values()):
                return Box(list, dict(enumerate([*a.parts.values()] * b.value)))
        if isinstance(a, Box) and a.is_object:
            name = {
                "Add": "__add__",
                "Sub": "__sub__",
                "Mult": "__mul__",
                "Div": "__truediv__",
                "MatMult": "__matmul__",
            }
            found = of_class(a, name.get(type(op).__name__, ""))
            if isinstance(found, FunctionType):
                return self.inline(Function(None, found, owner=a), [b], {})
        return ast.BinOp(self.text(a), op, self.text(b))

    def _compared(self, left: ast.expr, op: ast.cmpop, right: ast.expr, scope: Scope) -> Part:
        a, b = self.in_order([left, right], scope)
        if isinstance(op, (ast.In, ast.NotIn)) and isinstance(b, Box) and isinstance(a, Known) and b.of is dict:
            b.touched = True
            return Known((a.value in b.parts) is isinstance(op, ast.In))
        if isinstance(a, Known) and isinstance(b, Known) and type(op) in _FOLDED:
            return Known(_FOLDED[type(op)](a.value, b.value))
        if (
            isinstance(b, Known)
            and b.value is None
            and isinstance(op, (ast.Is, ast.IsNot))
            and isinstance(a, (Leaf, Box, Function))
        ):
            return Known(isinstance(op, ast.IsNot))
        if isinstance(a, Box) and isinstance(b, Box) and a.is_object and isinstance(op, (ast.Is, ast.IsNot)):
            return Known((a is b) is isinstance(op, ast.Is))
        return ast.Compare(self.text(a), [op], [self.text(b)])

    def _both(self, node: ast.BoolOp, scope: Scope) -> Part:
        ends = isinstance(node.op, ast.Or)
        kept: list[Part] = []
        for k, v in enumerate(node.values):
            part = self.quietly(v, scope) if kept else self.ev(v, scope)
            if isinstance(part, Known):
                if bool(part.value) is ends:
                    kept.append(part)
                    break
                if k < len(node.values) - 1 or kept:
                    continue
            kept.append(part)
        if len(kept) == 1:
            return kept[0]
        return ast.BoolOp(node.op, [self.text(p) for p in kept]) if kept else Known(not ends)

    def _chosen(self, node: ast.IfExp, scope: Scope) -> Part:
        test = self.ev(node.test, scope)
        if isinstance(test, Known):
            return self.ev(node.body if test.value else node.orelse, scope)
        return ast.IfExp(
            self.text(test), self.text(self.quietly(node.body, scope)), self.text(self.quietly(node.orelse, scope))
        )

    def _comprehension(self, node: Any, scope: Scope) -> Part:
        first, *rest = node.generators
        things = None if rest or first.is_async else self.things(first.iter, None, scope)
        if things is None:
            return self._plain_comprehension(node, scope)
        own = naming.names([first.target])
        found: dict[object, Part] = {}
        for thing in things:
            inner = Scope(around=scope, function=scope.function)
            self._picked(first.target, thing, inner)
            if own - inner.names.keys():
                raise InWholes("a comprehension binds parts")
            tests = [self.ev(t, inner) for t in first.ifs]
            if not all(isinstance(t, Known) for t in tests):
                raise InWholes("a comprehension picks parts by values")
            if all(t.value for t in tests):  # type: ignore[union-attr]
                key: object = len(found)
                if isinstance(node, ast.DictComp):
                    part = self.ev(node.key, inner)
                    if not isinstance(part, Known):
                        raise InWholes("a dict whose keys are computed")
                    key = part.value
                mark = len(self.out)
                value = self.ev(node.value if isinstance(node, ast.DictComp) else node.elt, inner)
                if len(self.out) > mark:
                    late, self.out[mark:] = self.out[mark:], []
                    found = {k: self._before(p, naming.bound(late)) for k, p in found.items()}
                    self.out += late
                found[key] = value
        return Box(dict if isinstance(node, ast.DictComp) else list, found)

    def _picked(self, target: ast.expr, thing: Part, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope.names[target.id] = thing
        elif (
            isinstance(target, (ast.Tuple, ast.List))
            and isinstance(thing, Box)
            and len(target.elts) == len(thing.parts)
        ):
            for t, p in zip(target.elts, thing.parts.values(), strict=True):
                self._picked(t, p, scope)

    def _plain_comprehension(self, node: Any, scope: Scope) -> ast.expr:
        new, inner = copy.copy(node), scope
        new.generators = []
        for k, g in enumerate(node.generators):
            source = self.ev(g.iter, inner) if k == 0 else self.quietly(g.iter, inner)
            own = {n.id: n.id for n in ast.walk(g.target) if isinstance(n, ast.Name)}
            inner = Scope(own=own, around=inner, function=scope.function)
            ifs = [self.text(self.quietly(t, inner)) for t in g.ifs]
            new.generators.append(ast.comprehension(g.target, self.text(source), ifs, g.is_async))
        for name in ("elt", "key", "value"):
            if hasattr(node, name):
                setattr(new, name, self.text(self.quietly(getattr(node, name), inner)))
        return new

    # Things that a loop goes through -----------------------------------------------------------------------------

    def things(self, node: ast.expr, loop: ast.For | None, scope: Scope) -> list[Part] | None:
        """The parts that a loop goes through, where the text and what was seen show them; None for other loops."""
        match node:
            case ast.Call(func=ast.Name(id="enumerate"), args=[of]) if (
                found := self.things(of, loop, scope)
            ) is not None:
                return [Box(tuple, {0: Known(k), 1: p}) for k, p in enumerate(found)]
            case ast.Call(
                func=ast.Name(id="reversed" | "list" | "tuple" | "sorted" as way), args=[of], keywords=[]
            ) if (found := self.things(of, loop, scope)) is not None:
                if way == "sorted":
                    if not all(isinstance(p, Known) and isinstance(p.value, str) for p in found):
                        return None
                    return sorted(found, key=lambda p: p.value)  # type: ignore[union-attr, arg-type, return-value]
                return found[::-1] if way == "reversed" else found
            case ast.Call(func=ast.Name(id="range"), args=args) if loop is None and (
                numbers := self.numbers(
                    ast.Call(ast.Name("range"), [self.text(self.quietly(a, scope)) for a in args], [])
                )
            ):
                return numbers
            case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as args):
                each = [self.things(a, loop, scope) for a in args]
                if all(e is not None for e in each):
                    return [Box(tuple, dict(enumerate(row))) for row in zip(*each, strict=False)]  # type: ignore[arg-type]
                if any(e is not None for e in each):
                    raise InWholes("parts are gone through beside arrays")
                return None
            case ast.Call(func=ast.Attribute(value=of, attr="items" | "keys" | "values" as way), args=[]):
                owner = self.ev(of, scope)
                if not isinstance(owner, Box) or owner.of is not dict:
                    return None
                owner.touched = True
                if way == "items":
                    return [Box(tuple, {0: Known(k), 1: self.roots.reached(p)}) for k, p in owner.parts.items()]
                return (
                    [Known(k) for k in owner.parts]
                    if way == "keys"
                    else list(map(self.roots.reached, owner.parts.values()))
                )
            case ast.Name() | ast.Attribute() | ast.Subscript() | ast.Tuple() | ast.List() | ast.BinOp():
                part = self.ev(node, scope)
                if not isinstance(part, Box) or part.is_object or (part.name is None and _are_numbers(part)):
                    return None
                part.touched = True
                return (
                    [Known(k) for k in part.parts]
                    if part.of is dict
                    else list(map(self.roots.reached, part.parts.values()))
                )
        return None

    def numbers(self, source: ast.expr) -> list[Part] | None:
        """The numbers that `range(…)` goes through, if they are few and known."""
        match source:
            case ast.Call(func=ast.Name(id="range"), args=args):
                try:
                    ends = [self.number(Known(ast.literal_eval(a)) if not isinstance(a, ast.Name) else a) for a in args]
                except (InWholes, ValueError):
                    return None
                found = range(*ends)
                return [Known(k) for k in found] if len(found) <= MOST_NUMBERS else None
        return None


def _are_numbers(box: Box) -> bool:
    return all(isinstance(p, Known) or (isinstance(p, Box) and _are_numbers(p)) for p in box.parts.values())
