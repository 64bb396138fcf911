"""Which names and attributes hold lists, dicts and sets, and which hold generators of random numbers."""

from __future__ import annotations

import ast

from ...source_code.bindings import pairs, root_name, stored
from ...source_code.parameters import parameters
from ...source_code.text import Code
from ...source_code.tree import Function
from . import forms
from .functions import Functions
from .values import Kind, gives_array


_GENERATORS = {"numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "random.Random"}
_MAKERS = {"array", "asarray", "zeros", "ones", "full", "empty", "arange", "linspace", "eye", "identity"}
Holder = tuple[ast.AST | None, str]
"""A scope and the source of what is in it; of attributes of `self` the class."""


class Holders:
    """What names, and attributes of `self`, are given somewhere in their scope or class."""

    def __init__(self, code: Code, functions: Functions) -> None:
        self._code, self._functions = code, functions
        self._containers: set[Holder] = set()
        self._generators: set[Holder] = set()
        self._given: dict[Holder, list[ast.expr]] = {}
        for node in code.of(ast.Assign, ast.AnnAssign):
            if node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    for one, value in pairs(target, node.value):
                        self._note(one, value)

    def _note(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name | ast.Attribute):
            self._given.setdefault(self._holder(target), []).append(value)
        if isinstance(target, ast.Name | ast.Attribute) and forms.is_container(value):
            self._containers.add(self._holder(target))
        if isinstance(value, ast.Call) and self._code.dotted(value.func) in _GENERATORS:
            self._generators.add(self._holder(target))

    def _holder(self, path: ast.expr) -> Holder:
        name, source = root_name(path), self._code.source(path)
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

    def array(self, path: ast.expr) -> Kind:
        """ARRAY of an attribute of `self` that the program gives arrays of the library alone, NUMPY of a name that it gives one array of
        NumPy; UNKNOWN of all else."""
        match path:
            case ast.Attribute(value=ast.Name(id="self"), attr=attr):
                given = self._given.get(self._holder(path), [])
                stores = [n for n in self._code.of(ast.Attribute) if n.attr == attr and isinstance(n.ctx, ast.Store)]
                added = [n.target for n in self._code.of(ast.AugAssign)]
                alone = len([one for one in stores if one not in added]) == len(given)
                declared = any(attr in self._declared(one) for one in self._code.of(ast.ClassDef))
                is_array = given and alone and not declared and all(map(self._is_array, given))
                return Kind.ARRAY if is_array else Kind.UNKNOWN
            case ast.Name(id=name):
                scope = self._code.scopes.binding(name, path)
                given = self._given.get((scope, name), [])
                once = scope is not None and len(given) == len(self._code.scopes.binders(scope, name)) == 1
                return Kind.NUMPY if once and self._is_numpy(given[0]) else Kind.UNKNOWN
        return Kind.UNKNOWN

    def _declared(self, owner: ast.ClassDef) -> set[str]:
        """The names that a class itself gives a value, or a type, and its methods."""
        named = {
            one.target.id for one in owner.body if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        }
        functions = {one.name for one in owner.body if isinstance(one, ast.FunctionDef)}
        return named | functions | stored(*(one for one in owner.body if isinstance(one, ast.Assign)))

    def _is_array(self, value: ast.expr) -> bool:
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Subscript(value=ast.Attribute(attr="at")))):
                return True
            case ast.Call(func=func):
                return gives_array(self._code.dotted(func)) and self._code.dotted(func).startswith("jax.")
        return False

    def _is_numpy(self, value: ast.expr) -> bool:
        dotted = self._code.dotted(value.func) if isinstance(value, ast.Call) else ""
        return dotted.startswith("numpy.") and dotted.partition(".")[2] in _MAKERS
