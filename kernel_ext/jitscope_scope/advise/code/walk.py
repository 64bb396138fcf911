"""A walk over a program that follows what its names hold, in the order of execution, and reports what it meets.

Each function is walked as what it is: a traced function with traced arguments, one called by a traced function with what it
is called with, or plain code. Listeners are given `Event`s.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ...source_code.parameters import default_values, parameters
from ...source_code.text import Code
from ...source_code.tree import Function
from .body import Body, Scope
from .decided import never_none, switched_off
from .events import Event, Region
from .functions import Functions, TracedFunction
from .holders import Holders
from .raising import Failures
from .values import Kind, joined


Listener = Callable[[Event, "Walk"], None]


class Walk:
    """The walk over one program."""

    def __init__(self, code: Code, listener: Listener) -> None:
        self.code, self.functions, self.listener = code, Functions(code), listener
        self._returned: dict[Any, Kind] = {}
        self.sequences: dict[str, ast.expr] = {}
        """Names of the module that hold lists, tuples and dicts, with what makes these."""
        self.holders = Holders(code, self.functions)
        self.failures = Failures(code)
        self.conditions: list[ast.expr] = []
        """The tests of values that no trace knows less of than the program does, under which the walk stands, of callers as well."""
        self.with_arrays: list[ast.Call] = []
        """Calls that are given arrays."""
        self.given_arrays: set[ast.expr] = set()  # what they are given
        self.given_traced: set[ast.expr] = set()  # what calls are given while tracing that is traced
        self.outer: dict[Function | None, set[str]] = {}
        """The names that functions assign in a scope around them."""
        for node in code.of(ast.Global, ast.Nonlocal):
            self.outer.setdefault(code.function_around(node), set()).update(node.names)

    def are_arrays(self, function: Function, name: str) -> bool | None:
        """Whether all calls that the program shows give an argument an array; None where it shows no call."""
        return self._is_array(function, name) if self.functions.given(function, name) else None

    def run(self) -> None:
        """Walk the module, then all functions that are not traced, then those that are."""
        top = Region(None, None)
        Body(self, {}, top).block(self.code.tree.body)
        for node in self.code.of(ast.FunctionDef, ast.AsyncFunctionDef):
            if node not in self.functions.traced_functions:
                plain = dict.fromkeys(parameters(node), Kind.UNKNOWN)
                self.function(node, plain, Region(node, None))
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
        known = never_none(traced.site, self.code) | self._off(traced.function)
        self.function(traced.function, kinds, Region(traced.function, traced, 0, outer, known))

    def _off(self, function: Function) -> dict[str, bool]:
        """The flags of a function that are False in all calls that the program shows: it calls it, and gives none of them."""
        if not self.functions.is_called(function):
            return {}
        off = [name for name, value in switched_off(function).items() if value is False]
        return {name: False for name in off if not self.functions.given(function, name)}

    def _perhaps_known(self, traced: TracedFunction) -> frozenset[str]:
        """The arguments of a traced function that may be Python values."""
        function = traced.function
        unsure = {
            n
            for n in traced.unsure
            if not (given := self.functions.given(function, n)) or not self.given_traced.issuperset(given)
        }
        return traced.static | {*default_values(function)} | unsure

    def _is_array(self, function: Function, name: str) -> bool:
        """Whether all calls give an argument an array, for all that was walked so far."""
        given = self.functions.given(function, name)
        return bool(given) and all(one in self.given_arrays for one in given)

    def function(self, function: Function, given: Scope, region: Region) -> Kind:
        """What a function returns for arguments of these kinds."""
        of_region = region.abstract, region.stages, region.outer, tuple(region.known.items())
        key = (function, of_region, tuple(given.values()), not self.conditions)
        if key in self._returned:
            return self._returned[key]
        self._returned[key] = Kind.UNKNOWN  # of a call in its own body
        body = Body(self, {**self._closure(function, region), **given}, region)
        if isinstance(function, ast.Lambda):
            result = body.value(function.body)
        else:
            body.block(function.body)
            result = joined(body.results) if body.results else Kind.STATIC
        self._returned[key] = result
        return result

    @contextmanager
    def unheard(self) -> Iterator[None]:
        """What is walked inside is told to nobody, and not kept."""
        listener, returned = self.listener, self._returned
        self.listener, self._returned = lambda event, walk: None, {}
        try:
            yield
        finally:
            self.listener, self._returned = listener, returned

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
