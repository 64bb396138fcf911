"""Which names and attributes hold lists, dicts and sets, and which hold generators of random numbers."""

from __future__ import annotations

import ast

from . import forms
from .arguments import parameters
from .functions import Functions
from .text import Code, Function


_GENERATORS = {"numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "random.Random"}
Holder = tuple[ast.AST | None, str]
"""A scope and the source of what is in it; of attributes of `self` the class."""


class Holders:
    """What names, and attributes of `self`, are given somewhere in their scope or class."""

    def __init__(self, code: Code, functions: Functions) -> None:
        self._code, self._functions = code, functions
        self._containers: set[Holder] = set()
        self._generators: set[Holder] = set()
        for node in code.of(ast.Assign, ast.AnnAssign):
            if node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    for one, value in forms.pairs(target, node.value):
                        self._note(one, value)

    def _note(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name | ast.Attribute) and forms.is_container(value):
            self._containers.add(self._holder(target))
        if isinstance(value, ast.Call) and self._code.dotted(value.func) in _GENERATORS:
            self._generators.add(self._holder(target))

    def _holder(self, path: ast.expr) -> Holder:
        name, source = forms.root_name(path), self._code.source(path)
        if name == "self" and not isinstance(path, ast.Name):
            return next((one for one in self._code.around(path) if isinstance(one, ast.ClassDef)), None), source
        return self._code.scopes.binding(name, path), source

    def is_container(self, path: ast.expr) -> bool:
        """Whether a name, or an attribute, is given a list, dict or set, by an assignment or by calls."""
        scope, source = self._holder(path)
        if (scope, source) in self._containers:
            return True
        if not isinstance(scope, Function) or not isinstance(path, ast.Name) or path.id not in parameters(scope):
            return False
        return any(map(forms.is_container, self._functions.given(scope, source)))

    def is_generator(self, path: ast.expr) -> bool:
        """Whether a name, or an attribute, is given a random generator of NumPy or Python."""
        return self._holder(path) in self._generators
