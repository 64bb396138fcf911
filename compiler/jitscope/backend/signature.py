"""The key of a trace, as plain data: what the ledger compares to say why something was traced again."""

from __future__ import annotations

import enum
import functools
import re
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.annotations import FunctionObject
from ..core.avals import ShapedArray
from ..core.config import Settings
from ..core.dtypes import short_name
from ..core.references import ReferenceAval
from ..core.words import cut
from ..named_tuple import NamedTuple
from .contents import content_of, numbers_in


_COMMA = re.compile(r",\)(?= of |$)")


def as_written(sharding: str) -> str:
    """`P('data') of Mesh('data': 8)` for `P('data',) of Mesh('data': 8)`: a tuple of one prints with a comma that nobody writes.
    `P('data', None)` stays: it lies as `P('data')` does, but what is compiled for the one does not serve the other."""
    return _COMMA.sub(")", sharding, count=1)


WEAK = " (weak)"
"""How the type of a weak array ends."""


class Leaf(NamedTuple):
    """One array of the arguments: where it stands and what it is; `sharding` says how it is laid out over devices, "" on one.
    Kept by many rows of the ledger, so equal ones are one object as a rule."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    weak_type: bool
    sharding: str = ""

    @staticmethod
    @functools.lru_cache(1 << 16)
    def of(path: str, aval: ShapedArray) -> Leaf:
        kind = "Ref " if isinstance(aval, ReferenceAval) else ""
        sharding = "" if aval.mark is None else as_written(str(aval.mark))
        return Leaf(path, aval.shape, kind + short_name(aval.dtype), aval.weak_type, sharding)

    def __str__(self) -> str:
        kind = f"{self.dtype}[{','.join(map(str, self.shape))}]" + (WEAK if self.weak_type else "")
        return f"{kind} {self.spec}" if self.spec else kind

    @property
    def spec(self) -> str:
        """How it is cut, without the mesh; "" on one device."""
        spec, on, _ = self.sharding.partition(" of Mesh(")
        return spec if on else ""


class StaticObject:
    """A weak reference to an object, which is no part of what is compared: a `Static` tells its object by `token`."""

    __slots__ = ("_found",)

    def __init__(self, found: Callable[[], Any]) -> None:
        self._found = found

    @staticmethod
    def of(value: Any) -> StaticObject | None:
        """None for what has no weak reference."""
        try:
            return StaticObject(weakref.ref(value))
        except TypeError:
            return None

    def __call__(self) -> Any:
        return self._found()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class Static(NamedTuple):
    """One static argument; `token` differs between unequal values that print alike. `content` is what an object holds that is
    compared by identity (`UNTOLD` in it: as far as it is told), "" for one that is compared by value; `code` see `code_of`; `held` are
    the numbers inside of a function or an object, by name; `object` is a weak reference to one that is compared by identity."""

    name: str
    type: str
    text: str
    token: int
    content: str = ""
    code: str = ""
    held: tuple[tuple[str, str], ...] = ()
    object: StaticObject | None = None

    @staticmethod
    def of(name: str, value: Any) -> Static:
        content = content_of(value)
        return Static(
            name,
            type(value).__name__,
            _text(value),
            hash(value),
            content,
            code_of(value),
            _numbers(value),
            StaticObject.of(value) if content else None,
        )

    def is_same(self, other: Static) -> bool:
        """Whether both are one key: an object that is compared by identity is itself whatever was written to it."""
        known = other.content if self.token == other.token else ""
        return self[:4] == other[:4] if not known else (self.name, self.type) == (other.name, other.type)

    def __str__(self) -> str:
        return f"{self.text} ({self.type})"


def _numbers(value: Any) -> tuple[tuple[str, str], ...]:
    plain = isinstance(value, (bool, int, float, complex, str, bytes, enum.Enum, type, type(None)))
    return () if plain else numbers_in(value)


def code_of(value: Any) -> str:
    """What a function or an object of somebody's class does: the function's name, with its line where it has none of its own, or the
    class's name. "" for plain values."""
    kind = type(value)
    name = value.__dict__.get("__qualname__") if hasattr(value, "__dict__") and not isinstance(value, type) else None
    name = name or (getattr(value, "__qualname__", None) if isinstance(value, _FUNCTIONS) else None)
    if isinstance(name, str):
        code = getattr(value, "__code__", None)
        return f"{name} of line {code.co_firstlineno}" if code is not None and "<lambda>" in name else name
    module = kind.__module__.partition(".")[0]
    plain = module in _PLAIN_MODULES or isinstance(value, (enum.Enum, type, tuple, list, dict))
    return "" if plain else kind.__qualname__


_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc)
_PLAIN_MODULES = frozenset(("builtins", "numpy", "collections", "ml_dtypes", "jaxlib", "jax", "jitscope", "functools"))
"""Modules whose objects are values, unless they are functions."""


def _text(value: Any) -> str:
    """A value as people write it: of a function its name, and not its address."""
    name = getattr(value, "__qualname__", None)
    return name if callable(value) and isinstance(name, str) else short_repr(value)


class Signature(NamedTuple):
    """Everything a program depends on beside the code: `function` numbers the function object, `options` are (name,
    repr) of everything that is neither an argument nor named here; `structure` tells trees apart that print alike. `cleared` and
    `dropped` count how often the function's caches were emptied, and made room; `made` says how the function came to be; `attributes` are
    the plain values inside of objects that another library counts as static, which tell why `structure` or its own statics changed;
    `classes` those of the outermost objects in the arguments, as (path, name), where a library took these apart, so that `tree` has
    none; `held` are the numbers inside of what nodes of the tree hold as static data, by name."""

    function: int
    leaves: tuple[Leaf, ...]
    tree: str
    statics: tuple[Static, ...]
    options: tuple[tuple[str, str], ...]
    x64: bool
    device: str
    structure: int
    cleared: int
    dropped: int
    made: FunctionObject
    attributes: tuple[Static, ...] = ()
    classes: tuple[tuple[str, str], ...] = ()
    held: tuple[tuple[str, str], ...] = ()

    def same(self, other: Signature) -> bool:
        """Whether the programs are: what happened to the caches does not count."""
        return self[:_KEY] == other[:_KEY] and self.attributes == other.attributes


_KEY = Signature._fields.index("cleared")


BY_NAME = "static arguments by name"
"""The option that lists which static arguments a call gives by name: another key than by position."""

ANY_DEVICE = "any"
"""The device of a trace that was made for use inside another."""


def is_hashable(value: Any) -> bool:
    """Whether a value can be a static argument."""
    try:
        hash(value)
    except Exception:  # `__hash__` of a class of the user's
        return False
    return True


def short_repr(value: Any, most: int = 200) -> str:
    """`repr`, cut to a length that fits a record; a `repr` that fails does not matter."""
    try:
        text = repr(value)
    except Exception as error:
        text = f"<{type(value).__name__} whose repr raises {type(error).__name__}>"
    return cut(text, most)


def message_of(error: BaseException, most: int = 200) -> str:
    """The first line of what an exception says, cut to a length that fits a record; an exception that cannot say it does not matter."""
    try:
        text = str(error)
    except Exception as failure:
        text = f"<{type(error).__name__} whose text raises {type(failure).__name__}>"
    return cut(text.partition("\n")[0], most)


_OPTIONS = tuple(name for name in Settings._fields if name not in ("enable_x64", "disable_jit"))


def options_text(
    settings: Settings,
    axes: tuple,
    options: tuple,
    *,
    donated: tuple[str, ...],
    static: tuple[str, ...],
    by_name: Iterable[str],
    auto_static: bool,
    keep_unused: bool = False,
    results: Any = None,
) -> tuple[tuple[str, str], ...]:
    """The options a program depends on, as (name, repr)."""
    rows = [
        *((name, getattr(settings, name)) for name in _OPTIONS),
        ("donated arguments", donated),
        ("static arguments", static),
        ("auto_static", auto_static),
        ("keep_unused", keep_unused),
        ("out_shardings", results),
    ]
    rows += [(f"axis {name!r}", size) for name, size in axes]
    rows += [(f"compiler option {name}", value) for name, value in options]
    return (*((name, short_repr(value)) for name, value in rows), (BY_NAME, ", ".join(sorted(by_name))))
