"""Where NumPy's functions take arrays, and make one of a list or a tuple that they are given: not as shapes, axes or sizes."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cache
from types import ModuleType

import numpy as np


_ARRAYS = frozenset(
    "a a1 a2 a_max a_min A append ar ar1 ar2 arr array ary b bins condition element f fill_value fp indices m object p prepend prototype q "
    "sorter test_elements u v val values weights w x x1 x2 xp y z".split()
)
"""The names that arrays have among parameters."""
_UNTOLD = {"array": 1, "asarray": 1, "dot": 2, "inner": 2, "vdot": 2, "where": 3, "bincount": 2}
"""How many arrays come first in functions whose parameters some versions of NumPy do not tell."""


def arrays_of(node: ast.Call, function: object) -> Iterator[tuple[list[ast.expr] | ast.keyword, int]]:
    """The arguments of a call of this function that are arrays: the list and the place where one stands, or its keyword."""
    names = _parameters(function)
    for k, _ in zip(range(len(node.args)), names, strict=False):
        if isinstance(node.args[k], ast.Starred):
            break
        if names[k] in _ARRAYS:
            yield node.args, k
    for word in node.keywords:
        if word.arg in _ARRAYS and word.arg in names:
            yield word, 0


def lists_given(node: ast.Call, values: Mapping[str, object]) -> list[str]:
    """The names that a call gives to a function of NumPy's as arrays."""
    given = [p.value if isinstance(p, ast.keyword) else p[k] for p, k in arrays_of(node, value_of(node.func, values))]
    return [g.id for g in given if isinstance(g, ast.Name)]


def is_table(value: object) -> bool:
    """Whether a value is a tuple of numbers, or of such tuples of one length: NumPy makes an array of them."""
    return type(value) is tuple and {*map(type, np.ravel(np.array(value, object)).tolist())} <= {int, float, bool}


def value_of(node: ast.expr, values: Mapping[str, object]) -> object:
    """The function, or module, that a chain of attributes names; None where it is not known."""
    if isinstance(node, ast.Name):
        return values.get(node.id)
    owner = value_of(node.value, values) if isinstance(node, ast.Attribute) else None
    return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None  # type: ignore[attr-defined]


def _parameters(function: object) -> tuple[str, ...]:
    """The names of a function's parameters; none of one that is not NumPy's."""
    if isinstance(function, np.ufunc):
        return ("x",) * function.nin
    if isinstance(function, type) or not (getattr(function, "__module__", None) or "").startswith("numpy"):
        return ()
    return _told(function) if isinstance(function, Hashable) and callable(function) else ()


@cache
def _told(function: Callable[..., object]) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return ("a",) * _UNTOLD.get(getattr(function, "__name__", ""), 0)
