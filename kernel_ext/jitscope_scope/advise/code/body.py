"""The body of a function, or of the module, followed in the order of execution: what its names hold, and what its expressions give."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...source_code.parameters import arguments, is_open, parameters, positional
from ...source_code.tree import Function, below, parts_of
from . import forms, values
from .decided import decision, given_constants, switched_off
from .events import Event, Region
from .values import Kind, joined


if TYPE_CHECKING:
    from .walk import Walk


Scope = dict[str, Kind]
_DEEPEST = 6


class Body:
    """Walks a body: `scope` is what its names hold so far, `region` what it is a part of, `results` what it returned."""

    def __init__(self, walk: Walk, scope: Scope, region: Region, results: list[Kind] | None = None) -> None:
        self.walk, self.code, self.functions = walk, walk.code, walk.functions
        self.scope, self.region = scope, region
        self.results: list[Kind] = [] if results is None else results

    def _inside(self) -> Body:
        """The same with names of its own from here on: a branch, or a comprehension."""
        return Body(self.walk, dict(self.scope), self.region, self.results)

    # statements

    def block(self, body: list[ast.stmt]) -> None:
        """Walk statements one after the other."""
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                kind = self.value(value)
                for target in targets:
                    self._assign(target, kind, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self.value(value), value)
            case ast.AugAssign(target=target, value=value):
                kind = self._arithmetic([self.value(target), self.value(value)])
                self._assign(target, kind, None)
            case ast.Return(value=value):
                self.results.append(self.value(value) if value is not None else Kind.STATIC)
            case ast.Expr(value=value):
                kind = self.value(value)
                self._tell("drop", value, kind)
            case ast.If(test=test, body=body, orelse=orelse):
                kind = self._truth(test)
                said = False if self._is_never(test) else decision(test, self.region.known)
                with self._under(test, kind) if said is None else nullcontext():
                    blocks = [body, orelse] if said is None else [body if said else orelse]
                    self._branches(blocks)
            case ast.While(test=test, body=body, orelse=orelse):
                self._truth(test)
                self._branches([body, []])
                self.block(orelse)
            case ast.For(target=target, iter=iterated, body=body, orelse=orelse):
                kind = self.value(iterated)
                self._tell("iterate", node, kind)
                self._each(target, iterated, self._element(iterated, kind))
                self.block(body)
                self.block(orelse)
            case ast.Assert(test=test):
                self._truth(test)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                if any(forms.is_apart(item) for item in items):
                    return
                for item in items:
                    kind = self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, kind, None)
                self.block(body)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                self._branches([body + orelse, *(h.body for h in handlers)])
                self.block(finalbody)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self.scope[name] = Kind.STATIC
                if isinstance(node, ast.ClassDef):
                    own = [one for one in node.body if not isinstance(one, ast.FunctionDef)]
                    Body(self.walk, {}, self.region).block(own)
                elif self.region.traced is not None:
                    self._inner(node)
            case ast.Raise(exc=ast.expr() as exc):
                self.value(exc)
            case ast.Match(subject=subject, cases=cases):
                kind = self.value(subject)
                self._cases(cases, Kind.UNKNOWN if isinstance(subject, ast.Tuple) else kind)
                self._branches([case.body for case in cases])

    def _cases(self, cases: list[ast.match_case], kind: Kind) -> None:
        """What `match` asks of a value of this kind."""
        for case in cases:
            for part in below(case.pattern):
                if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name is not None:
                    self.scope[part.name] = kind
            self._tell("match", case.pattern, kind)
            if case.guard is not None:
                self._truth(case.guard)
        valued = [
            case.pattern
            for case in cases
            if any(isinstance(one, ast.MatchValue) for one in forms.choices(case.pattern))
        ]
        if valued and kind.is_tracer:
            self._tell("truth", valued[0], kind)

    def _inner(self, node: Function) -> None:
        """A function defined while tracing, that no transformation takes by name: what it captures is traced."""
        if node in self.functions.traced_functions or self.functions.is_called_back(node):
            return
        given = dict.fromkeys(parameters(node), Kind.UNKNOWN)
        known = {name: one for name, one in self.region.known.items() if name not in given} | switched_off(node)
        self.walk.function(
            node, {**self.scope, **given}, Region(node, self.region.traced, self.region.depth + 1, known=known)
        )

    def _branches(self, blocks: list[list[ast.stmt]]) -> None:
        after: list[Scope] = []
        for block in blocks:
            own = self._inside()
            own.block(block)
            if not (block and isinstance(block[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)):
                after.append(own.scope)
        names = {name for one in after for name in one}
        for name in names:
            self.scope[name] = joined([one.get(name, Kind.UNKNOWN) for one in after])

    def _assign(self, target: ast.expr, kind: Kind, value: ast.expr | None) -> None:
        match target:
            case ast.Name(id=name):
                if name in self.walk.outer.get(self.region.function, ()):
                    self._tell("name", target, kind)
                if self.region.function is None and isinstance(value, ast.List | ast.Tuple | ast.Dict | ast.ListComp):
                    self.walk.sequences[name] = value
                self.scope[name] = kind
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                parts = value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(elts) else None
                for i, one in enumerate(elts):
                    inner = self.value(parts[i]) if parts else self._part(kind)
                    self._assign(one, inner, parts[i] if parts else None)
            case ast.Starred(value=inner):
                self._assign(inner, self._part(kind), None)
            case ast.Subscript(value=base, slice=index):
                of = self.value(base)
                of = self.walk.holders.array(base) if of is Kind.UNKNOWN else of
                inner = self._index_kinds(index)
                self._tell("store", target, of, inner=inner, stored=kind)
            case ast.Attribute(value=base):
                self._tell("store", target, self.value(base), stored=kind)

    @staticmethod
    def _part(kind: Kind) -> Kind:
        return Kind.TREE if kind.is_traced else kind if kind in (Kind.ARRAY, Kind.NUMPY) else Kind.UNKNOWN

    def _each(self, target: ast.expr, iterated: ast.expr, kind: Kind) -> None:
        """What a loop gives its target: the keys of a dict are no arrays."""
        match iterated, target:
            case ast.Call(func=ast.Attribute(attr="items"), args=[]), ast.Tuple(elts=[key, value]):
                self._assign(key, Kind.STATIC, None)
                self._assign(value, kind, None)
            case ast.Call(func=ast.Attribute(attr="keys"), args=[]), _:
                self._assign(target, Kind.STATIC, None)
            case _:
                self._assign(target, kind, None)

    def _element(self, iterated: ast.expr, kind: Kind) -> Kind:
        match iterated:
            case ast.Call(func=ast.Name(id="range")):
                return Kind.STATIC
            case ast.Call(func=ast.Name(id="enumerate" | "zip" | "reversed")):
                return Kind.UNKNOWN
        return self._part(kind)

    # expressions

    def value(self, node: ast.expr) -> Kind:
        """What an expression gives."""
        match node:
            case ast.Constant() | ast.Lambda():
                return Kind.STATIC
            case ast.Name(id=name):
                return self.scope.get(name, Kind.UNKNOWN)
            case ast.Attribute(value=base, attr=attr):
                return self._attribute(base, attr)
            case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=right):
                self._tell("format", node, self.value(right))
                return Kind.STATIC
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
                kinds = [self.value(left), self.value(right)]
                return Kind.MASK if Kind.MASK in kinds else self._arithmetic(kinds)
            case ast.BinOp(left=left, right=right):
                return self._arithmetic([self.value(left), self.value(right)])
            case ast.UnaryOp(op=op, operand=operand):
                if isinstance(op, ast.Not):
                    self._truth(operand, node)
                    return Kind.STATIC
                kind = self.value(operand)
                return kind if kind is Kind.MASK else self._arithmetic([kind])
            case ast.BoolOp(values=parts):
                return self._logical(node, parts)
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                kind = self._truth(test, node)
                arms = [orelse] if self._is_never(test) else [body, orelse]
                with self._under(test, kind):
                    return joined([self.value(arm) for arm in arms])
            case ast.Subscript(value=base, slice=index):
                kind, inner = self.value(base), self._index_kinds(index)
                self._tell("index", node, kind, inner=inner)
                if kind.is_tracer:
                    return kind
                return Kind.TRACED if kind.is_traced and forms.cuts_axes(index) else self._part(kind)
            case ast.Call():
                return self._call(node)
            case ast.JoinedStr(values=parts):
                for part in parts:
                    if isinstance(part, ast.FormattedValue):
                        self._tell("format", part, self.value(part.value))
                return Kind.STATIC
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
                kinds = [self.value(one) for one in elts]
                if any(kind.is_traced for kind in kinds):
                    return Kind.TREE
                return Kind.STATIC if all(kind is Kind.STATIC for kind in kinds) else Kind.UNKNOWN
            case ast.Dict(values=parts):
                kinds = [self.value(one) for one in parts]
                return Kind.TREE if any(kind.is_traced for kind in kinds) else Kind.UNKNOWN
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                return self._comprehension(node)
            case ast.NamedExpr(target=target, value=value):
                kind = self.value(value)
                self._assign(target, kind, value)
                return kind
            case ast.Starred(value=value) | ast.Await(value=value):
                return self.value(value)
        return Kind.UNKNOWN

    @staticmethod
    def _arithmetic(kinds: list[Kind]) -> Kind:
        if any(kind.is_traced for kind in kinds):
            return Kind.TRACED
        for kind in (Kind.ARRAY, Kind.UNKNOWN, Kind.NUMPY):
            if kind in kinds:
                return kind
        return Kind.STATIC

    def _attribute(self, base: ast.expr, attr: str) -> Kind:
        if self.code.dotted(base):
            return Kind.STATIC
        kind = self.value(base)
        if attr in values.STATIC_ATTRIBUTES and kind is not Kind.UNKNOWN:
            return Kind.STATIC
        if kind is Kind.TREE:
            return Kind.TRACED if attr in ("T", "mT", "at", "real", "imag") else Kind.UNKNOWN
        return Kind.TRACED if kind.is_tracer else kind if kind in (Kind.ARRAY, Kind.NUMPY) else Kind.UNKNOWN

    def _compare(self, node: ast.Compare) -> Kind:
        sides = [node.left, *node.comparators]
        kinds = [self.value(side) for side in sides]
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            return Kind.STATIC
        if any(isinstance(side, ast.Constant) and isinstance(side.value, str | None | bytes) for side in sides):
            return Kind.STATIC
        if any(isinstance(side, ast.Attribute) and self.functions.is_class(side.value) for side in sides):
            return Kind.UNKNOWN  # `Mode.TRAIN`, of a class of this program: what is compared with it is hardly an array
        if (
            isinstance(node.ops[0], ast.Eq | ast.NotEq)
            and Kind.TREE in kinds
            and any(forms.is_shape(side, self.code) for side in sides)
        ):
            return Kind.STATIC  # arrays are not compared with containers: it is one itself
        if len(node.ops) > 1 or isinstance(node.ops[0], ast.In | ast.NotIn):
            whole = kinds[-1] if isinstance(node.ops[0], ast.In | ast.NotIn) else self._arithmetic(kinds)
            if whole.is_tracer:
                self._tell("truth", node, Kind.TRACED)
            return Kind.STATIC
        return Kind.MASK if (kind := self._arithmetic(kinds)).is_tracer else kind

    def _logical(self, node: ast.BoolOp, parts: list[ast.expr]) -> Kind:
        kinds: list[Kind] = []
        for i, part in enumerate(parts):
            kind = self.value(part)
            kinds.append(kind)
            if i < len(parts) - 1:
                self._tell("truth", node, kind, dotted="logical")
            if kind is Kind.STATIC and forms.excludes(part):
                return Kind.UNKNOWN  # `x is None or x > 0`: what follows may not run
        return joined(kinds)

    def _truth(self, test: ast.expr, around: ast.expr | None = None) -> Kind:
        """What an expression gives whose truth is asked for, by the statement or expression around it."""
        kind = self.value(test)
        if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            last = test.values[-1] if isinstance(test, ast.BoolOp) else test
            self._tell("truth", last if around is None or isinstance(around, ast.IfExp) else around, kind)
        return kind

    @contextmanager
    def _under(self, test: ast.expr, kind: Kind) -> Iterator[None]:
        """What is walked inside runs only where a test says so, and the program alone knows what it says."""
        if self.region.abstract and not isinstance(test, ast.Constant) and not kind.is_tracer:
            self.walk.conditions.append(test)
            yield
            self.walk.conditions.pop()
        else:
            yield

    def _is_never(self, test: ast.expr) -> bool:
        """Whether a test asks a traced value for a type that no tracer has."""
        match test:
            case ast.Call(func=ast.Name(id="isinstance"), args=[value, classes]):
                named = parts_of(classes)
            case ast.Compare(
                left=ast.Call(func=ast.Name(id="type"), args=[value]), ops=[ast.Is() | ast.Eq()], comparators=named
            ):
                pass
            case _:
                return False
        names = [self.code.dotted(one) or getattr(one, "id", "") for one in named]
        return all(name in forms.VALUE_TYPES for name in names) and self.value(value).is_traced

    def _index_kinds(self, index: ast.expr) -> list[Kind]:
        parts = parts_of(index)
        kinds: list[Kind] = []
        for part in parts:
            if isinstance(part, ast.Slice):
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None:
                        kinds.append(self.value(bound))
            else:
                kinds.append(self.value(part))
        return kinds

    def _comprehension(self, node: Any) -> Kind:
        own = self._inside()
        for generator in node.generators:
            kind = own.value(generator.iter)
            self._tell("iterate", generator, kind)
            own._each(generator.target, generator.iter, own._element(generator.iter, kind))
            for test in generator.ifs:
                own._truth(test)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        kinds = [own.value(part) for part in parts]
        return Kind.TREE if any(kind.is_traced for kind in kinds) else Kind.UNKNOWN

    def _call(self, node: ast.Call) -> Kind:
        given = [self.value(a) for a in node.args]
        given += [self.value(k.value) for k in node.keywords]
        dotted = self.code.dotted(node.func)
        base = Kind.UNKNOWN
        if isinstance(node.func, ast.Attribute) and not dotted:
            base = self.value(node.func.value)
        elif isinstance(node.func, ast.Call):
            self.value(node.func)
        if Kind.ARRAY in given:
            self.walk.with_arrays.append(node)
        for one, kind in zip(arguments(node), given):
            if kind is Kind.ARRAY:
                self.walk.given_arrays.add(one)
            elif kind.is_traced and self.region.abstract:
                self.walk.given_traced.add(one)
        self._tell("call", node, base, dotted, given)
        return self._result(node, dotted, base, given)

    def _result(self, node: ast.Call, dotted: str, base: Kind, given: list[Kind]) -> Kind:
        any_traced = any(kind.is_traced for kind in given)
        if dotted in values.TREE_MAPS and node.args:
            return self._mapped(node, given)
        if dotted:
            found = values.given_by(dotted, any_traced, self.region.abstract, self.region.stages)
            if found is not None:
                return found
        if any_traced and self.region.abstract and self.functions.gives_arrays(node.func, node):
            self._of_transformed(node, given)
            return Kind.TREE
        match node.func:
            case ast.Call():
                found = self._of_object(node, given)
                return self._of_transformed(node, given) if found is None else found
            case ast.Name(id=name):
                function = self.functions.named(name, node)
                if function is None:
                    self._of_transformed(node, given)
                elif self.region.depth < _DEEPEST and self.region.traced is not None:
                    return self._called(function, node, given)
                if (found := self._of_object(node, given)) is not None:
                    return found
                if name in values.BUILTINS_STATIC and name not in self.scope:
                    return Kind.STATIC
                if name in ("max", "min", "abs", "sum", "round", "pow") and name not in self.scope:
                    return self._arithmetic(given)
            case ast.Attribute(attr=attr):
                if (found := self._of_object(node, given)) is not None:
                    return found
                if attr == "keys" and not base.is_tracer:
                    return Kind.STATIC
                if attr in ("items", "values", "get", "pop", "copy", "_replace", "replace"):
                    return base if base.is_traced else Kind.UNKNOWN
                if base is Kind.TREE and attr in values.METHODS:
                    return Kind.TRACED
                if attr == "astype" and base.is_traced and node.args and forms.is_bool(node.args[0]):
                    return Kind.MASK
                if base.is_tracer or base in (Kind.ARRAY, Kind.NUMPY):
                    base = Kind.TRACED if base is Kind.MASK else base
                    return Kind.STATIC if attr in ("item", "tolist") else base
        return Kind.UNKNOWN

    def _mapped(self, node: ast.Call, given: list[Kind]) -> Kind:
        """What a map over trees gives: trees of what its function gives, which need not be arrays. The function itself is not looked at."""
        function, leaves = node.args[0], [self._part(kind) for kind in given[1 : len(node.args)]]
        if dotted := self.code.dotted(function):
            made = self._result(node, dotted, Kind.UNKNOWN, leaves)
            return Kind.TREE if made.is_traced else Kind.UNKNOWN
        if isinstance(function, ast.Name):
            if (named := self.functions.named(function.id, node)) is None:
                return Kind.STATIC if function.id in values.BUILTINS_STATIC else Kind.UNKNOWN
            function = named
        if not isinstance(function, ast.FunctionDef | ast.Lambda) or self.region.depth >= _DEEPEST:
            return Kind.UNKNOWN
        if self.code.dotted(node.func).endswith("with_path"):
            leaves.insert(0, Kind.STATIC)
        kinds = dict.fromkeys(parameters(function), Kind.UNKNOWN) | dict(zip(parameters(function), leaves))
        with self.walk.unheard():
            region = replace(self.region, function=function, depth=self.region.depth + 1)
            made = self.walk.function(function, {**self.scope, **kinds}, region)
        return made if made is Kind.STATIC else Kind.TREE if made.is_traced else Kind.UNKNOWN

    def _of_transformed(self, node: ast.Call, given: list[Kind]) -> Kind:
        """`nnx.grad(loss)(model)`, called while tracing: the function is traced with it."""
        function = self.functions.transformed(node.func, node)
        if function is None or self.region.traced is None or self.region.depth >= _DEEPEST:
            return Kind.UNKNOWN
        if not any(one.function is function and one.abstract for one in self.functions.traced):
            self._called(function, node, given)
        return Kind.TREE

    def _of_object(self, node: ast.Call, given: list[Kind]) -> Kind | None:
        """What a method of a class of this program gives that is called while tracing; None: it is none."""
        if self.region.traced is None or self.region.depth >= _DEEPEST:
            return None
        function = self.functions.of_object(node.func, node)
        if function is None:
            function = self.functions.applied(node.func, node) if node.args else None
            if function is None:
                is_layer = self.functions.is_layer(node.func, node)
                return Kind.TREE if is_layer and any(kind.is_traced for kind in given) else None
            called = ast.Call(node.func, node.args[1:], node.keywords)
            return self._called(function, called, given[1:], frozenset(), parameters(function)[:1])
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        name = receiver.id if isinstance(receiver, ast.Name) else ""
        is_outer = bool(name) and (name in self.region.outer or name not in self.scope)
        own, *_ = parameters(function)
        return self._called(function, node, given, frozenset([own]) if is_outer else frozenset(), [own])

    def _called(
        self,
        function: Function,
        node: ast.Call,
        given: list[Kind],
        outer: frozenset[str] = frozenset(),
        bound: Sequence[str] = (),
    ) -> Kind:
        """A function of this program, called while tracing with these arguments, after those that are `bound`."""
        if is_open(node):
            return Kind.UNKNOWN
        names = parameters(function)[len(bound) :]
        kinds: Scope = dict.fromkeys(names, Kind.STATIC)
        kinds.update(zip(positional(function)[len(bound) :], given[: len(node.args)]))
        if function.args.vararg is not None:
            kinds[function.args.vararg.arg] = Kind.UNKNOWN
        kinds.update({k.arg: kind for k, kind in zip(node.keywords, given[len(node.args) :]) if k.arg in kinds})
        if not any(kind.is_traced for kind in kinds.values()):
            kinds = dict.fromkeys(kinds, Kind.UNKNOWN)
        kinds.update(dict.fromkeys(bound, Kind.UNKNOWN))
        known = given_constants(function, node, len(bound), self.region.known)
        return self.walk.function(
            function, kinds, Region(function, self.region.traced, self.region.depth + 1, outer, known)
        )

    def _tell(
        self,
        what: str,
        node: Any,
        kind: Kind,
        dotted: str = "",
        inner: list[Kind] | None = None,
        stored: Kind = Kind.UNKNOWN,
    ) -> None:
        self.walk.listener(Event(what, node, kind, self.region, dotted, inner or [], stored), self.walk)
