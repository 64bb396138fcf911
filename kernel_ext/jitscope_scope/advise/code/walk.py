"""A walk over a program that follows what its names hold, in the order of execution, and reports what it meets.

Each function is walked as what it is: a traced function with traced arguments, one called by a traced function with what it
is called with, or plain code. Listeners are given `Event`s.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from ...source_code.parameters import arguments, default_values, is_open, parameters, positional
from ...source_code.text import Code
from ...source_code.tree import Function, below, parts_of
from . import forms, values
from .decided import decision, given_constants, never_none, switched_off
from .events import Event, Region
from .functions import Functions, TracedFunction
from .holders import Holders
from .raising import Failures
from .values import Kind, joined


Listener = Callable[[Event, "Walk"], None]
Scope = dict[str, Kind]
_DEEPEST = 6


class Walk:
    """The walk over one program."""

    def __init__(self, code: Code, listener: Listener) -> None:
        self.code, self.functions, self._listener = code, Functions(code), listener
        self._returned: dict[Any, Kind] = {}
        self.sequences: dict[str, ast.expr] = {}
        """Names of the module that hold lists, tuples and dicts, with what makes these."""
        self.holders = Holders(code, self.functions)
        self.failures = Failures(code)
        self.conditions: list[ast.expr] = []
        """The tests of values that no trace knows less of than the program does, under which the walk stands, of callers as well."""
        self.with_arrays: list[ast.Call] = []
        """Calls that are given arrays."""
        self._arrays: set[ast.expr] = set()  # what they are given
        self._traced: set[ast.expr] = set()  # what calls are given while tracing that is traced
        self._outer: dict[Function | None, set[str]] = {}
        """The names that functions assign in a scope around them."""
        for node in code.of(ast.Global, ast.Nonlocal):
            self._outer.setdefault(code.function_around(node), set()).update(node.names)

    def are_arrays(self, function: Function, name: str) -> bool | None:
        """Whether all calls that the program shows give an argument an array; None where it shows no call."""
        return self._is_array(function, name) if self.functions.given(function, name) else None

    def run(self) -> None:
        """Walk the module, then all functions that are not traced, then those that are."""
        top = Region(None, None)
        scope: Scope = {}
        self._block(self.code.tree.body, scope, top)
        traced = {one.function for one in self.functions.traced}
        for node in self.code.of(ast.FunctionDef, ast.AsyncFunctionDef):
            if node not in traced:
                plain = dict.fromkeys(parameters(node), Kind.UNKNOWN)
                self._function(node, plain, Region(node, None))
        for one in sorted(self.functions.traced, key=lambda one: bool(one.unsure)):
            if not self.failures.are_of(one):
                self.enter(one)

    def enter(self, traced: TracedFunction) -> None:
        """Walk a traced function with traced arguments."""
        known = self._perhaps_known(traced)
        kinds = {n: Kind.UNKNOWN if n in known else Kind.TREE for n in parameters(traced.function)}
        if traced.sorts:
            kinds |= {n: Kind.TREE for n in kinds if n not in traced.bound and self._is_array(traced.function, n)}
        outer = frozenset() if traced.sorts else traced.static
        known = never_none(traced.site, self.code)
        self._function(traced.function, kinds, Region(traced.function, traced, 0, outer, known))

    def _perhaps_known(self, traced: TracedFunction) -> frozenset[str]:
        """The arguments of a traced function that may be Python values."""
        function = traced.function
        unsure = {
            n
            for n in traced.unsure
            if not (given := self.functions.given(function, n)) or not self._traced.issuperset(given)
        }
        return traced.static | {*default_values(function)} | unsure

    def _is_array(self, function: Function, name: str) -> bool:
        """Whether all calls give an argument an array, for all that was walked so far."""
        given = self.functions.given(function, name)
        return bool(given) and all(one in self._arrays for one in given)

    def _function(self, function: Function, given: Scope, region: Region) -> Kind:
        """What a function returns for arguments of these kinds."""
        of_region = region.abstract, region.stages, region.outer, tuple(region.known.items())
        key = (function, of_region, tuple(given.values()), not self.conditions)
        if key in self._returned:
            return self._returned[key]
        self._returned[key] = Kind.UNKNOWN  # of a call in its own body
        scope = {**self._closure(function, region), **given}
        if isinstance(function, ast.Lambda):
            result = self.value(function.body, scope, region)
        else:
            results: list[Kind] = []
            self._block(function.body, scope, region, results)
            result = joined(results) if results else Kind.STATIC
        self._returned[key] = result
        return result

    def _closure(self, function: Function, region: Region) -> Scope:
        """What names of an outer traced function hold for one inside it: traced, if they are its arguments."""
        scope: Scope = {}
        outer = self.code.function_around(function)
        while outer is not None:
            found = next((one for one in self.functions.traced if one.function is outer and one.abstract), None)
            known = self._perhaps_known(found) if found is not None else frozenset(parameters(outer))
            for name in parameters(outer):
                is_traced = name not in known and len(self.code.scopes.binders(outer, name)) == 1
                scope.setdefault(name, Kind.TREE if is_traced else Kind.UNKNOWN)
            outer = self.code.function_around(outer)
        return scope

    # statements

    def _block(self, body: list[ast.stmt], scope: Scope, region: Region, results: list[Kind] | None = None) -> None:
        for statement in body:
            self._statement(statement, scope, region, [] if results is None else results)

    def _statement(self, node: ast.stmt, scope: Scope, region: Region, results: list[Kind]) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                kind = self.value(value, scope, region)
                for target in targets:
                    self._assign(target, kind, scope, region, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self.value(value, scope, region), scope, region, value)
            case ast.AugAssign(target=target, value=value):
                kind = self._arithmetic([self.value(target, scope, region), self.value(value, scope, region)])
                self._assign(target, kind, scope, region, None)
            case ast.Return(value=value):
                results.append(self.value(value, scope, region) if value is not None else Kind.STATIC)
            case ast.Expr(value=value):
                kind = self.value(value, scope, region)
                self._tell("drop", value, kind, region)
            case ast.If(test=test, body=body, orelse=orelse):
                kind = self._truth(test, scope, region)
                said = False if self._is_never(test, scope, region) else decision(test, region.known)
                with self._under(test, kind, region) if said is None else nullcontext():
                    blocks = [body, orelse] if said is None else [body if said else orelse]
                    self._branches(blocks, scope, region, results)
            case ast.While(test=test, body=body, orelse=orelse):
                self._truth(test, scope, region)
                self._branches([body, []], scope, region, results)
                self._block(orelse, scope, region, results)
            case ast.For(target=target, iter=iterated, body=body, orelse=orelse):
                kind = self.value(iterated, scope, region)
                self._tell("iterate", node, kind, region)
                self._each(target, iterated, self._element(iterated, kind, scope, region), scope, region)
                self._block(body, scope, region, results)
                self._block(orelse, scope, region, results)
            case ast.Assert(test=test):
                self._truth(test, scope, region)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                if any(forms.is_apart(item) for item in items):
                    return
                for item in items:
                    kind = self.value(item.context_expr, scope, region)
                    if item.optional_vars is not None:
                        self._assign(item.optional_vars, kind, scope, region, None)
                self._block(body, scope, region, results)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                self._branches([body + orelse, *(h.body for h in handlers)], scope, region, results)
                self._block(finalbody, scope, region, results)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                scope[name] = Kind.STATIC
                if isinstance(node, ast.ClassDef):
                    self._block([one for one in node.body if not isinstance(one, ast.FunctionDef)], {}, region)
                elif region.traced is not None:
                    self._inner(node, scope, region)
            case ast.Raise(exc=ast.expr() as exc):
                self.value(exc, scope, region)
            case ast.Match(subject=subject, cases=cases):
                kind = self.value(subject, scope, region)
                self._cases(cases, Kind.UNKNOWN if isinstance(subject, ast.Tuple) else kind, scope, region)
                self._branches([case.body for case in cases], scope, region, results)

    def _cases(self, cases: list[ast.match_case], kind: Kind, scope: Scope, region: Region) -> None:
        """What `match` asks of a value of this kind."""
        for case in cases:
            for part in below(case.pattern):
                if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name is not None:
                    scope[part.name] = kind
            self._tell("match", case.pattern, kind, region)
            if case.guard is not None:
                self._truth(case.guard, scope, region)
        valued = [
            case.pattern
            for case in cases
            if any(isinstance(one, ast.MatchValue) for one in forms.choices(case.pattern))
        ]
        if valued and kind.is_tracer:
            self._tell("truth", valued[0], kind, region)

    def _inner(self, node: Function, scope: Scope, region: Region) -> None:
        """A function defined while tracing, that no transformation takes by name: what it captures is traced."""
        if any(one.function is node for one in self.functions.traced) or self.functions.is_called_back(node):
            return
        given = dict.fromkeys(parameters(node), Kind.UNKNOWN)
        known = {name: one for name, one in region.known.items() if name not in given} | switched_off(node)
        self._function(node, {**scope, **given}, Region(node, region.traced, region.depth + 1, known=known))

    def _branches(self, blocks: list[list[ast.stmt]], scope: Scope, region: Region, results: list[Kind]) -> None:
        after: list[Scope] = []
        for block in blocks:
            own = dict(scope)
            self._block(block, own, region, results)
            if not (block and isinstance(block[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)):
                after.append(own)
        names = {name for one in after for name in one}
        for name in names:
            scope[name] = joined([one.get(name, Kind.UNKNOWN) for one in after])

    def _assign(self, target: ast.expr, kind: Kind, scope: Scope, region: Region, value: ast.expr | None) -> None:
        match target:
            case ast.Name(id=name):
                if name in self._outer.get(region.function, ()):
                    self._tell("name", target, kind, region)
                if region.function is None and isinstance(value, ast.List | ast.Tuple | ast.Dict | ast.ListComp):
                    self.sequences[name] = value
                scope[name] = kind
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                parts = value.elts if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(elts) else None
                for i, one in enumerate(elts):
                    inner = self.value(parts[i], scope, region) if parts else self._part(kind)
                    self._assign(one, inner, scope, region, parts[i] if parts else None)
            case ast.Starred(value=inner):
                self._assign(inner, self._part(kind), scope, region, None)
            case ast.Subscript(value=base, slice=index):
                of = self.value(base, scope, region)
                of = self.holders.array(base) if of is Kind.UNKNOWN else of
                inner = self._index_kinds(index, scope, region)
                self._tell("store", target, of, region, inner=inner, stored=kind)
            case ast.Attribute(value=base):
                self._tell("store", target, self.value(base, scope, region), region, stored=kind)

    @staticmethod
    def _part(kind: Kind) -> Kind:
        return Kind.TREE if kind.is_traced else kind if kind in (Kind.ARRAY, Kind.NUMPY) else Kind.UNKNOWN

    def _each(self, target: ast.expr, iterated: ast.expr, kind: Kind, scope: Scope, region: Region) -> None:
        """What a loop gives its target: the keys of a dict are no arrays."""
        match iterated, target:
            case ast.Call(func=ast.Attribute(attr="items"), args=[]), ast.Tuple(elts=[key, value]):
                self._assign(key, Kind.STATIC, scope, region, None)
                self._assign(value, kind, scope, region, None)
            case ast.Call(func=ast.Attribute(attr="keys"), args=[]), _:
                self._assign(target, Kind.STATIC, scope, region, None)
            case _:
                self._assign(target, kind, scope, region, None)

    def _element(self, iterated: ast.expr, kind: Kind, scope: Scope, region: Region) -> Kind:
        match iterated:
            case ast.Call(func=ast.Name(id="range")):
                return Kind.STATIC
            case ast.Call(func=ast.Name(id="enumerate" | "zip" | "reversed")):
                return Kind.UNKNOWN
        return self._part(kind)

    # expressions

    def value(self, node: ast.expr, scope: Scope, region: Region) -> Kind:
        """What an expression gives."""
        match node:
            case ast.Constant() | ast.Lambda():
                return Kind.STATIC
            case ast.Name(id=name):
                return scope.get(name, Kind.UNKNOWN)
            case ast.Attribute(value=base, attr=attr):
                return self._attribute(base, attr, scope, region)
            case ast.BinOp(left=ast.Constant(value=str()), op=ast.Mod(), right=right):
                self._tell("format", node, self.value(right, scope, region), region)
                return Kind.STATIC
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() | ast.BitXor(), right=right):
                kinds = [self.value(left, scope, region), self.value(right, scope, region)]
                return Kind.MASK if Kind.MASK in kinds else self._arithmetic(kinds)
            case ast.BinOp(left=left, right=right):
                return self._arithmetic([self.value(left, scope, region), self.value(right, scope, region)])
            case ast.UnaryOp(op=op, operand=operand):
                if isinstance(op, ast.Not):
                    self._truth(operand, scope, region, node)
                    return Kind.STATIC
                kind = self.value(operand, scope, region)
                return kind if kind is Kind.MASK else self._arithmetic([kind])
            case ast.BoolOp(values=parts):
                return self._logical(node, parts, scope, region)
            case ast.Compare():
                return self._compare(node, scope, region)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                kind = self._truth(test, scope, region, node)
                arms = [orelse] if self._is_never(test, scope, region) else [body, orelse]
                with self._under(test, kind, region):
                    return joined([self.value(arm, scope, region) for arm in arms])
            case ast.Subscript(value=base, slice=index):
                kind, inner = self.value(base, scope, region), self._index_kinds(index, scope, region)
                self._tell("index", node, kind, region, inner=inner)
                if kind.is_tracer:
                    return kind
                return Kind.TRACED if kind.is_traced and forms.cuts_axes(index) else self._part(kind)
            case ast.Call():
                return self._call(node, scope, region)
            case ast.JoinedStr(values=parts):
                for part in parts:
                    if isinstance(part, ast.FormattedValue):
                        self._tell("format", part, self.value(part.value, scope, region), region)
                return Kind.STATIC
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
                kinds = [self.value(one, scope, region) for one in elts]
                if any(kind.is_traced for kind in kinds):
                    return Kind.TREE
                return Kind.STATIC if all(kind is Kind.STATIC for kind in kinds) else Kind.UNKNOWN
            case ast.Dict(values=parts):
                kinds = [self.value(one, scope, region) for one in parts]
                return Kind.TREE if any(kind.is_traced for kind in kinds) else Kind.UNKNOWN
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                return self._comprehension(node, scope, region)
            case ast.NamedExpr(target=target, value=value):
                kind = self.value(value, scope, region)
                self._assign(target, kind, scope, region, value)
                return kind
            case ast.Starred(value=value) | ast.Await(value=value):
                return self.value(value, scope, region)
        return Kind.UNKNOWN

    @staticmethod
    def _arithmetic(kinds: list[Kind]) -> Kind:
        if any(kind.is_traced for kind in kinds):
            return Kind.TRACED
        for kind in (Kind.ARRAY, Kind.UNKNOWN, Kind.NUMPY):
            if kind in kinds:
                return kind
        return Kind.STATIC

    def _attribute(self, base: ast.expr, attr: str, scope: Scope, region: Region) -> Kind:
        if self.code.dotted(base):
            return Kind.STATIC
        kind = self.value(base, scope, region)
        if attr in values.STATIC_ATTRIBUTES and kind is not Kind.UNKNOWN:
            return Kind.STATIC
        if kind is Kind.TREE:
            return Kind.TRACED if attr in ("T", "mT", "at", "real", "imag") else Kind.UNKNOWN
        return Kind.TRACED if kind.is_tracer else kind if kind in (Kind.ARRAY, Kind.NUMPY) else Kind.UNKNOWN

    def _compare(self, node: ast.Compare, scope: Scope, region: Region) -> Kind:
        sides = [node.left, *node.comparators]
        kinds = [self.value(side, scope, region) for side in sides]
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            return Kind.STATIC
        if any(isinstance(side, ast.Constant) and isinstance(side.value, str | None | bytes) for side in sides):
            return Kind.STATIC
        if any(isinstance(side, ast.Attribute) and self.functions.is_class(side.value) for side in sides):
            return (
                Kind.UNKNOWN
            )  # `Mode.TRAIN`, a member of a class of this program: what is compared with it is hardly an array
        if (
            isinstance(node.ops[0], ast.Eq | ast.NotEq)
            and Kind.TREE in kinds
            and any(forms.is_shape(side, self.code) for side in sides)
        ):
            return Kind.STATIC  # arrays are not compared with containers: it is one itself
        if len(node.ops) > 1 or isinstance(node.ops[0], ast.In | ast.NotIn):
            whole = kinds[-1] if isinstance(node.ops[0], ast.In | ast.NotIn) else self._arithmetic(kinds)
            if whole.is_tracer:
                self._tell("truth", node, Kind.TRACED, region)
            return Kind.STATIC
        return Kind.MASK if (kind := self._arithmetic(kinds)).is_tracer else kind

    def _logical(self, node: ast.BoolOp, parts: list[ast.expr], scope: Scope, region: Region) -> Kind:
        kinds: list[Kind] = []
        for i, part in enumerate(parts):
            kind = self.value(part, scope, region)
            kinds.append(kind)
            if i < len(parts) - 1:
                self._tell("truth", node, kind, region, dotted="logical")
            if kind is Kind.STATIC and forms.excludes(part):
                return Kind.UNKNOWN  # `x is None or x > 0`: what follows may not run
        return joined(kinds)

    def _truth(self, test: ast.expr, scope: Scope, region: Region, around: ast.expr | None = None) -> Kind:
        """What an expression gives whose truth is asked for, by the statement or expression around it."""
        kind = self.value(test, scope, region)
        if not (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
            last = test.values[-1] if isinstance(test, ast.BoolOp) else test
            self._tell("truth", last if around is None or isinstance(around, ast.IfExp) else around, kind, region)
        return kind

    @contextmanager
    def _under(self, test: ast.expr, kind: Kind, region: Region) -> Iterator[None]:
        """What is walked inside runs only where a test says so, and the program alone knows what it says."""
        if region.abstract and not isinstance(test, ast.Constant) and not kind.is_tracer:
            self.conditions.append(test)
            yield
            self.conditions.pop()
        else:
            yield

    def _is_never(self, test: ast.expr, scope: Scope, region: Region) -> bool:
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
        return all(name in forms.VALUE_TYPES for name in names) and self.value(value, scope, region).is_traced

    def _index_kinds(self, index: ast.expr, scope: Scope, region: Region) -> list[Kind]:
        parts = parts_of(index)
        kinds: list[Kind] = []
        for part in parts:
            if isinstance(part, ast.Slice):
                for bound in (part.lower, part.upper, part.step):
                    if bound is not None:
                        kinds.append(self.value(bound, scope, region))
            else:
                kinds.append(self.value(part, scope, region))
        return kinds

    def _comprehension(self, node: Any, scope: Scope, region: Region) -> Kind:
        own = dict(scope)
        for generator in node.generators:
            kind = self.value(generator.iter, own, region)
            self._tell("iterate", generator, kind, region)
            self._each(generator.target, generator.iter, self._element(generator.iter, kind, own, region), own, region)
            for test in generator.ifs:
                self._truth(test, own, region)
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        kinds = [self.value(part, own, region) for part in parts]
        return Kind.TREE if any(kind.is_traced for kind in kinds) else Kind.UNKNOWN

    def _call(self, node: ast.Call, scope: Scope, region: Region) -> Kind:
        given = [self.value(a, scope, region) for a in node.args]
        given += [self.value(k.value, scope, region) for k in node.keywords]
        dotted = self.code.dotted(node.func)
        base = Kind.UNKNOWN
        if isinstance(node.func, ast.Attribute) and not dotted:
            base = self.value(node.func.value, scope, region)
        elif isinstance(node.func, ast.Call):
            self.value(node.func, scope, region)
        if Kind.ARRAY in given:
            self.with_arrays.append(node)
        for one, kind in zip(arguments(node), given):
            if kind is Kind.ARRAY:
                self._arrays.add(one)
            elif kind.is_traced and region.abstract:
                self._traced.add(one)
        self._tell("call", node, base, region, dotted, given)
        return self._result(node, dotted, base, given, scope, region)

    def _result(self, node: ast.Call, dotted: str, base: Kind, given: list[Kind], scope: Scope, region: Region) -> Kind:
        any_traced = any(kind.is_traced for kind in given)
        if dotted in values.TREE_MAPS and node.args:
            return self._mapped(node, given, scope, region)
        if dotted:
            found = values.given_by(dotted, any_traced, region.abstract, region.stages)
            if found is not None:
                return found
        if any_traced and region.abstract and self.functions.gives_arrays(node.func, node):
            self._of_transformed(node, given, region)
            return Kind.TREE
        match node.func:
            case ast.Call():
                found = self._of_object(node, given, scope, region)
                return self._of_transformed(node, given, region) if found is None else found
            case ast.Name(id=name):
                function = self.functions.named(name, node)
                if function is None:
                    self._of_transformed(node, given, region)
                elif region.depth < _DEEPEST and region.traced is not None:
                    return self._called(function, node, given, region)
                if (found := self._of_object(node, given, scope, region)) is not None:
                    return found
                if name in values.BUILTINS_STATIC and name not in scope:
                    return Kind.STATIC
                if name in ("max", "min", "abs", "sum", "round", "pow") and name not in scope:
                    return self._arithmetic(given)
            case ast.Attribute(attr=attr):
                if (found := self._of_object(node, given, scope, region)) is not None:
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

    def _mapped(self, node: ast.Call, given: list[Kind], scope: Scope, region: Region) -> Kind:
        """What a map over trees gives: trees of what its function gives, which need not be arrays. The function itself is not looked at."""
        function, leaves = node.args[0], [self._part(kind) for kind in given[1 : len(node.args)]]
        if dotted := self.code.dotted(function):
            made = self._result(node, dotted, Kind.UNKNOWN, leaves, scope, region)
            return Kind.TREE if made.is_traced else Kind.UNKNOWN
        if isinstance(function, ast.Name):
            if (named := self.functions.named(function.id, node)) is None:
                return Kind.STATIC if function.id in values.BUILTINS_STATIC else Kind.UNKNOWN
            function = named
        if not isinstance(function, ast.FunctionDef | ast.Lambda) or region.depth >= _DEEPEST:
            return Kind.UNKNOWN
        if self.code.dotted(node.func).endswith("with_path"):
            leaves.insert(0, Kind.STATIC)
        kinds = dict.fromkeys(parameters(function), Kind.UNKNOWN) | dict(zip(parameters(function), leaves))
        listener, returned, self._listener, self._returned = (
            self._listener,
            self._returned,
            lambda event, walk: None,
            {},
        )
        try:
            made = self._function(
                function, {**scope, **kinds}, replace(region, function=function, depth=region.depth + 1)
            )
        finally:
            self._listener, self._returned = listener, returned
        return made if made is Kind.STATIC else Kind.TREE if made.is_traced else Kind.UNKNOWN

    def _of_transformed(self, node: ast.Call, given: list[Kind], region: Region) -> Kind:
        """`nnx.grad(loss)(model)`, called while tracing: the function is traced with it."""
        function = self.functions.transformed(node.func, node)
        if function is None or region.traced is None or region.depth >= _DEEPEST:
            return Kind.UNKNOWN
        if not any(one.function is function and one.abstract for one in self.functions.traced):
            self._called(function, node, given, region)
        return Kind.TREE

    def _of_object(self, node: ast.Call, given: list[Kind], scope: Scope, region: Region) -> Kind | None:
        """What a method of a class of this program gives that is called while tracing; None: it is none."""
        if region.traced is None or region.depth >= _DEEPEST:
            return None
        function = self.functions.of_object(node.func, node)
        if function is None:
            function = self.functions.applied(node.func, node) if node.args else None
            if function is None:
                is_layer = self.functions.is_layer(node.func, node)
                return Kind.TREE if is_layer and any(kind.is_traced for kind in given) else None
            called = ast.Call(node.func, node.args[1:], node.keywords)
            return self._called(function, called, given[1:], region, frozenset(), parameters(function)[:1])
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        name = receiver.id if isinstance(receiver, ast.Name) else ""
        is_outer = bool(name) and (name in region.outer or name not in scope)
        own, *_ = parameters(function)
        return self._called(function, node, given, region, frozenset([own]) if is_outer else frozenset(), [own])

    def _called(
        self,
        function: Function,
        node: ast.Call,
        given: list[Kind],
        region: Region,
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
        known = given_constants(function, node, len(bound), region.known)
        return self._function(function, kinds, Region(function, region.traced, region.depth + 1, outer, known))

    def _tell(
        self,
        what: str,
        node: Any,
        kind: Kind,
        region: Region,
        dotted: str = "",
        inner: list[Kind] | None = None,
        stored: Kind = Kind.UNKNOWN,
    ) -> None:
        self._listener(Event(what, node, kind, region, dotted, inner or [], stored), self)
