"""What a function would be traced with, beside its arguments, as one value: equal as long as nothing that the function reads is another."""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import hashlib
import sys
import sysconfig
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType

import numpy as np

from .homes import MADE_BY_PYTHON, is_array, slots_of, variables_of


MOST = 20_000
"""Values that are looked at; a function that reads more is not described."""
_PLAIN = frozenset((type(None), bool, int, str, bytes, type(...), type(NotImplemented), range))
_OF_CLASSES = ("__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__static_attributes__")
_MAKERS = ("__new__", "__init__", "__post_init__", "__init_subclass__")


class Unknown(Exception):
    """Raised for a value of which nobody can say whether it is still the same."""


class _Itself:
    """Stands for an object that is compared by being it, and keeps it alive."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def description(function: FunctionType, places: Collection[tuple[object, object]]) -> Hashable | None:
    """The function's text, and what it and the functions that it calls read: kept names, globals, attributes, elements, content of
    arrays. None where that cannot be said. `places` are left out: pairs of an object and the attribute, key or index in it."""
    walk = _Walk({(id(owner), key) for owner, key in places})
    try:
        return walk.of(function)
    except (Unknown, RecursionError):
        return None


class _Walk:
    def __init__(self, left_out: set[tuple[int, object]]) -> None:
        self.left_out = left_out
        self.known: dict[int, int] = {}
        self.count = 0
        self.kept: list[object] = []

    def of(self, v: object) -> Hashable:
        self.count += 1
        if self.count > MOST:
            raise Unknown
        if type(v) in _PLAIN or isinstance(v, np.dtype) or type(v).__name__ == "PyTreeDef":
            return type(v).__name__, v
        if isinstance(v, float):
            return type(v), v.hex()
        if isinstance(v, complex):
            return type(v), v.real.hex(), v.imag.hex()
        if isinstance(v, type):
            return "class", self._kind(v), self._makers(v)
        if id(v) in self.known:
            return "again", self.known[id(v)]
        self._know(v)
        return self._of_one(v)

    def _know(self, v: object) -> None:
        self.known[id(v)] = len(self.known)
        self.kept.append(v)  # what is made on the way must not give its id to another

    def _kind(self, kind: type) -> Hashable:
        """The class of an object that is there: what makes new ones is not read."""
        if id(kind) in self.known:
            return "again", self.known[id(kind)]
        self._know(kind)
        return self._of_class(kind)

    def _makers(self, kind: type) -> Hashable:
        own = [b for b in kind.__mro__ if not of_a_library(b)]
        return tuple((n, self.of(vars(b)[n])) for b in own for n in _MAKERS if n in vars(b))

    def _of_one(self, v: object) -> Hashable:
        if _has_a_place(v) or type(v).__module__.startswith(__package__ or "-"):
            return _Itself(v)
        if isinstance(v, (np.ndarray, np.generic)) or is_array(v):
            return _of_array(v)
        if isinstance(v, FunctionType):
            return self._of_function(v)
        if isinstance(v, MethodType):
            return "method", self.of(v.__func__), self.of(v.__self__)
        if isinstance(v, (tuple, list)):
            if type(v) not in (tuple, list) and not hasattr(v, "_fields"):
                raise Unknown
            return self._kind(type(v)), tuple(self._inside(v, k, x) for k, x in enumerate(v))
        if type(v) in (dict, OrderedDict):
            return self._kind(type(v)), tuple((self.of(k), self._inside(v, k, x)) for k, x in v.items())  # type: ignore[attr-defined]
        if type(v) in (set, frozenset) and all(type(x) in _PLAIN for x in v):  # type: ignore[attr-defined]
            return type(v).__name__, frozenset(v)  # type: ignore[call-overload]
        if isinstance(v, functools.partial):
            return "partial", self.of(v.func), self.of(v.args), self.of(v.keywords)
        if isinstance(v, (ModuleType, np.ufunc, enum.Enum)):
            return _Itself(v)
        if isinstance(v, BuiltinFunctionType):
            owner = v.__self__
            return v.__name__, _Itself(owner) if owner is None or isinstance(owner, ModuleType) else self.of(owner)
        if isinstance(v, (staticmethod, classmethod)):
            return type(v).__name__, self.of(v.__func__)
        if isinstance(v, property):
            return "property", self.of(v.fget), self.of(v.fset)
        if callable(getattr(v, "__wrapped__", None)) and "Function" in type(v).__name__:
            return _Itself(v), self.of(v.__wrapped__)  # type: ignore[attr-defined]
        return self._of_object(v)

    def _inside(self, owner: object, key: object, value: object) -> Hashable:
        return "given" if (id(owner), key) in self.left_out else self.of(value)

    def _of_function(self, f: FunctionType) -> Hashable:
        defaults = (self.of(f.__defaults__), self.of(f.__kwdefaults__))
        try:
            cells = tuple(self._inside(c, "cell_contents", c.cell_contents) for c in f.__closure__ or ())
        except ValueError:  # one that has no value yet
            raise Unknown from None
        if is_of_library(f.__code__.co_filename):
            return f.__code__, f.__module__, defaults, cells
        read, attributes, stores = read_by(f.__code__)
        bound = [(id(c), "cell_contents") for c in variables_of(f).values()]
        if stores or not self.left_out.issuperset(bound):
            raise Unknown
        found = []
        for n in read:
            if n in f.__globals__:
                found.append((n, self._of_global(f.__globals__[n], attributes)))
            elif not hasattr(builtins, n):
                raise Unknown
        return f.__code__, defaults, cells, tuple(found)

    def _of_global(self, value: object, attributes: Iterable[str]) -> Hashable:
        if not isinstance(value, ModuleType) or _is_library(value):
            return self.of(value)
        inside = vars(value)
        return _Itself(value), tuple((n, self.of(inside[n])) for n in attributes if n in inside)

    def _of_class(self, kind: type) -> Hashable:
        """A class of a library is itself; of another one the methods and values count too."""
        if of_a_library(kind):
            return _Itself(kind)
        slots = slots_of(kind)
        inside = [(n, v) for n, v in vars(kind).items() if n not in (*_OF_CLASSES, *_MAKERS, *slots)]
        own = tuple((n, self._inside(kind, n, v)) for n, v in inside if not n.startswith(("_abc_", "__firstl")))
        return kind.__qualname__, tuple(map(self._kind, kind.__bases__)), own

    def _of_object(self, v: object) -> Hashable:
        """An object whose state Python can see: that of its attributes."""
        kind = type(v)
        if any(b is not object and not b.__flags__ & MADE_BY_PYTHON for b in kind.__mro__):
            raise Unknown
        names = [n for b in kind.__mro__ for n in slots_of(b)]
        state = [(n, self._inside(v, n, getattr(v, n))) for n in names if hasattr(v, n)]
        if hasattr(v, "__dict__"):
            state += [(n, self._inside(v, n, x)) for n, x in vars(v).items() if (id(v), n) not in self.left_out]
        elif not names:
            raise Unknown
        return self._kind(kind), tuple(state)


def _has_a_place(v: object) -> bool:
    """Whether a library's module has this function or class under its name: it stays what it is."""
    module = sys.modules.get(getattr(v, "__module__", None) or "")
    if module is None or module.__name__ == "__main__" or not _is_library(module):
        return False
    return getattr(module, getattr(v, "__qualname__", ""), None) is v


def of_a_library(kind: type) -> bool:
    module = sys.modules.get(kind.__module__)
    return kind.__module__ != "__main__" and module is not None and _is_library(module)


def _of_array(v: object) -> Hashable:
    kind = type(v)
    if "Tracer" in kind.__name__ or (isinstance(v, np.ndarray) and (v.dtype.hasobject or kind is not np.ndarray)):
        raise Unknown
    try:
        x = np.asarray(v)
        said = hashlib.blake2b(np.ascontiguousarray(x).tobytes(), digest_size=16).digest()
    except Exception:
        raise Unknown from None
    return kind, x.dtype, x.shape, x.strides, getattr(v, "weak_type", None), getattr(v, "sharding", None), said


@functools.cache
def read_by(code: CodeType) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """The globals that a function's text and what is defined in it read, the attributes that it takes, and whether it binds globals."""
    read, attributes, stores = {}, {}, False
    for one in dis.get_instructions(code):
        if one.opname.startswith("LOAD") and one.opname.endswith(("GLOBAL", "NAME", "GLOBALS")):
            read[str(one.argval)] = None
        elif one.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes[str(one.argval)] = None
        elif one.opname in ("STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME"):
            stores = True
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            more = read_by(inner)
            read |= dict.fromkeys(more[0])
            attributes |= dict.fromkeys(more[1])
            stores = stores or more[2]
    return tuple(read), tuple(attributes), stores


def _roots() -> tuple[str, ...]:
    paths = [sysconfig.get_paths()[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")]
    ours = [p for n in ("jitscope", "jitscope_scope") for p in getattr(sys.modules.get(n), "__path__", [])]
    numpys = [str(Path(np.__file__).parent.parent)]
    return tuple(p.rstrip("/\\") + "/" for p in dict.fromkeys([*paths, *ours, *numpys]))


@functools.cache
def is_of_library(file: str) -> bool:
    """Whether a file is of an installed library or of Python, whose functions and names stay as they are."""
    return file.startswith((*_roots(), "<frozen"))


def _is_library(module: ModuleType) -> bool:
    file = getattr(module, "__file__", None)
    return module.__name__ in sys.builtin_module_names if file is None else is_of_library(file)
