"""The text that an edit was written from: the functions and classes that its region names, with all that these call and keep, and the functions
and constants of modules. An edit asks whether it is still the same, however names were bound since, and in any process."""

from __future__ import annotations

import ast
import builtins
import functools
import hashlib
from collections.abc import Iterable, Mapping
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType

import numpy as np

from . import naming
from .array_arguments import value_of
from .descriptions import is_of_library, of_a_library, read_by
from .homes import attributes_of, is_array, is_users_object


MOST = 20_000
"""Values that are looked at."""
UNKNOWN = "unknown"
"""Stands for the digest of more values than are looked at: no edit is written from such."""
_NUMBERS = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic)
_OF_CLASSES = frozenset(
    "__dict__ __weakref__ __doc__ __module__ __annotations__ __static_attributes__ __firstlineno__".split()
)
_MISSING = object()


def sources(*roots: object, names: Mapping[str, object] = MappingProxyType({})) -> str:
    """A digest of the text behind these values. `names` are what names stand for, whatever the globals of functions have."""
    walk = _Walk(names)
    try:
        return _digest([walk.of(v, isinstance(v, (*_NUMBERS, np.ndarray))) for v in roots])
    except RecursionError:
        return UNKNOWN


def functions_of(body: naming.Statements, values: Mapping[str, object]) -> list[FunctionType]:
    """The functions of the user's behind the expressions by which statements name them."""
    walk = _Walk(values)
    for root in roots_of(body, values):
        walk.of(eval(root, {}, dict(values)))
    return walk.functions


def roots_of(body: naming.Statements, values: Mapping[str, object]) -> list[str]:
    """The expressions by which statements name functions, classes, objects of such, and what is in modules."""
    nodes = [n for s in body for n in ast.walk(s)]
    inner = {n.arg for n in nodes if isinstance(n, ast.arg)}
    inner |= naming.bound([g.target for n in nodes for g in getattr(n, "generators", ())])
    read = (naming.loaded(body) - naming.bound(body) | naming.read_first(body)) - inner
    found = {n: values.get(n, getattr(builtins, n, _MISSING)) for n in read}
    modules = {n: v for n, v in found.items() if isinstance(v, ModuleType)}
    texts = {n for n, v in found.items() if n not in modules and _has_text(v, values)}
    for n in nodes:
        if isinstance(n, ast.Attribute) and isinstance(value_of(n.value, modules), ModuleType):
            if not isinstance(value_of(n, modules), ModuleType):
                texts.add(ast.unparse(n))
    return sorted(texts)


def _has_text(value: object, names: Mapping[str, object]) -> bool:
    try:
        return _Walk(names).of(value) is not None
    except RecursionError:
        return True


class _Walk:
    def __init__(self, names: Mapping[str, object]) -> None:
        self.names = names
        self.known: dict[object, int] = {}
        self.kept: list[object] = []
        self.functions: list[FunctionType] = []
        self.count = 0

    def of(self, v: object, whole: bool = False) -> object:
        """What there is of text in a value, None where there is none; with `whole` numbers and arrays count as well."""
        if isinstance(v, _NUMBERS):
            return (type(v).__name__, repr(v)) if whole else None
        if isinstance(v, np.ndarray) or is_array(v):
            return _of_array(v) if whole else None
        if v is _MISSING:
            return None
        if (one := _identity(v)) in self.known:
            return "again", self.known[one]
        if isinstance(v, (list, tuple, dict, set, frozenset)):
            return self._of_parts(v, whole)
        self._know(v)
        return self._of_one(v)

    def _know(self, v: object) -> None:
        self.known[_identity(v)] = len(self.known)
        self.kept.append(v)  # what is made on the way must not give its id to another

    def _of_parts(self, v: Iterable[object], whole: bool) -> object:
        inside = v.values() if isinstance(v, dict) else v
        if not whole and all(issubclass(kind, (*_NUMBERS, np.ndarray)) for kind in {*map(type, inside)}):
            return None
        parts = v if isinstance(v, dict) else enumerate(v if isinstance(v, (list, tuple)) else sorted(v, key=repr))
        self._know(v)
        parts = dict(parts)
        self.count += len(parts)
        if self.count > MOST:
            raise RecursionError
        found = [(repr(k), text) for k, x in parts.items() if (text := self.of(x, whole)) is not None]
        return (type(v).__name__, found) if found or whole else None

    def _of_one(self, v: object) -> object:
        if isinstance(v, FunctionType) and not is_of_library(v.__code__.co_filename):
            self.functions.append(v)
            return self._of_function(v)
        if isinstance(v, type):
            return _name_of(v) if of_a_library(v) else self._of_class(v)
        if isinstance(v, ModuleType):
            return v.__name__
        if isinstance(v, MethodType):
            return self.of(v.__func__), self.of(v.__self__)
        if isinstance(v, functools.partial):
            return self.of(v.func), self.of(v.args, True), self.of(v.keywords, True)
        inside = [getattr(v, n, None) for n in ("__func__", "__wrapped__", "fget", "fset", "func")]
        if texts := [self.of(f) for f in inside if callable(f)]:
            return type(v).__name__, texts
        if is_users_object(v):
            return self.of(type(v)), self._of_parts(attributes_of(v), False)
        return _name_of(v) if callable(v) else None

    def _of_function(self, f: FunctionType) -> object:
        read, attributes, _ = read_by(f.__code__)
        cells = [getattr(c, "cell_contents", _MISSING) for c in f.__closure__ or ()]
        around = [
            self._global(self.names.get(n, f.__globals__.get(n, getattr(builtins, n, _MISSING))), attributes)
            for n in read
        ]
        defaults = self.of(f.__defaults__, True), self.of(f.__kwdefaults__, True)
        return _said(f.__code__), defaults, [self.of(v) for v in cells], around

    def _global(self, value: object, attributes: Iterable[str]) -> object:
        """What a name of a function stands for: of a module, what the function takes of it."""
        if not isinstance(value, ModuleType):
            return self.of(value)
        inside = {n: getattr(value, n, _MISSING) for n in attributes if n in vars(value) or n in _offered(value)}
        found = [
            (n, self._global(v, attributes) if _is_inside(v, value) else self.of(v, True)) for n, v in inside.items()
        ]
        return value.__name__, found

    def _of_class(self, kind: type) -> object:
        """The bases that are no library's, with their methods and values."""
        own = [b for b in kind.__mro__ if not of_a_library(b)]
        kept = [(b.__qualname__, n, v) for b in own for n, v in vars(b).items() if not n.startswith("_abc_")]
        return [(k, n, self.of(v, True)) for k, n, v in kept if n not in _OF_CLASSES]


def _identity(v: object) -> object:
    """What is the same for one value. A function that keeps nothing is known by its code: `jax.grad(f)` may have another copy of `f`."""
    if isinstance(v, FunctionType) and not v.__closure__:
        return id(v.__code__), id(v.__defaults__), id(v.__kwdefaults__)
    return id(v)


def _is_inside(value: object, module: ModuleType) -> bool:
    """Whether this is a module in another one."""
    return isinstance(value, ModuleType) and value.__name__.startswith(f"{module.__name__}.")


@functools.cache
def _offered(module: ModuleType) -> frozenset[str]:
    return frozenset(dir(module))


def _name_of(value: object) -> str:
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or type(value).__name__
    return f"{(getattr(value, '__module__', None) or '').partition('.')[0]}.{name}"


def _of_array(value: object) -> object:
    x = np.asarray(value)
    said = repr(x.tolist()).encode() if x.dtype.hasobject else x.tobytes()
    return x.dtype.str, x.shape, hashlib.blake2b(said, digest_size=8).hexdigest()


@functools.lru_cache(maxsize=1024)
def _said(c: CodeType) -> str:
    consts = [
        _said(k) if isinstance(k, CodeType) else sorted(map(repr, k)) if isinstance(k, frozenset) else repr(k)
        for k in c.co_consts
    ]
    return _digest((c.co_code, c.co_names, c.co_varnames, c.co_freevars, consts))


def _digest(said: object) -> str:
    return hashlib.blake2b(repr(said).encode(), digest_size=8).hexdigest()
