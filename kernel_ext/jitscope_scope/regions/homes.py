"""Whose arrays a region computes with: NumPy's, jitscope's or jax's; its edit is compiled by jitscope for the first two, by jax for the last."""

from __future__ import annotations

import ast
import dis
import functools
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import CellType, CodeType, FunctionType, ModuleType

import numpy as np

from . import naming


MADE_BY_PYTHON = 1 << 9
"""The flag of classes that Python code made: their objects have nothing that their attributes do not show."""


@dataclass(frozen=True)
class Home:
    """`arrays` is "numpy", "jitscope" or "jax"; "mixed with jitscope" or "mixed with jax" where NumPy's arrays stand among those."""

    arrays: str

    @property
    def numpy(self) -> bool:
        """Whether arrays of the cell are NumPy's, with 64-bit types and stores in place."""
        return self.arrays == "numpy" or self.mixed

    @property
    def mixed(self) -> bool:
        """Whether jitscope's or jax's arrays stand among NumPy's."""
        return self.arrays.startswith("mixed")

    @property
    def library(self) -> str:
        """The module that compiles."""
        return "jax" if self.arrays.endswith("jax") else "jitscope"


def home_of(body: Iterable[ast.stmt], values: Mapping[str, object]) -> Home:
    """The home of statements that read these values. One array of jax's or of jitscope's, also inside of objects and containers, or one
    of their modules decides."""
    seen = [values.get(n) for n in naming.loaded(body)]
    found = {root for v in seen for root in _roots(v, 3)}
    return Home("jax" if "jax" in found else "jitscope" if "jitscope" in found else "numpy")


def _roots(value: object, depth: int) -> set[str]:
    if isinstance(value, ModuleType):
        return {value.__name__.partition(".")[0]} & {"jax", "jitscope"}
    if is_array(value):
        return {"jax" if type(value).__module__.startswith("jax") else "jitscope"}
    if hasattr(value, "__wrapped__"):  # what a transformation made of a function
        module = getattr(value, "__globals__", {}).get("__name__") or type(value).__module__
        return {"jax" if module.startswith("jax") else module.partition(".")[0]} & {"jax", "jitscope"}
    if depth and isinstance(value, (list, tuple, dict)):
        parts = list(value.values() if isinstance(value, dict) else value)[:20]
        return {root for v in parts for root in _roots(v, depth - 1)}
    if depth and is_users_object(value):
        return {root for v in attributes_of(value).values() for root in _roots(v, depth - 1)}
    return set()


def holds_arrays(value: object) -> bool:
    """Whether a value is an array of jitscope's or of jax's, or has one inside."""
    return bool(_roots(value, 3))


def is_array(value: object) -> bool:
    """Whether a value is an array of jitscope's or of jax's."""
    root = type(value).__module__.partition(".")[0]
    return root in ("jitscope", "jax", "jaxlib") and hasattr(value, "dtype") and hasattr(value, "shape")


def data_of(value: object) -> object:
    """What is in an array of random keys, which NumPy cannot hold; other values are themselves."""
    if is_array(value) and str(value.dtype).startswith("key<"):  # type: ignore[attr-defined]
        return sys.modules["jax" if type(value).__module__.startswith("jax") else "jitscope"].random.key_data(value)
    return value


def shares(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have an element's memory in common; fields of one array of records have none."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def is_users_object(value: object) -> bool:
    """Whether a value is an object of a class that a cell defines, with nothing in it but its attributes."""
    kind = type(value)
    if kind.__module__ not in ("__main__", "cell") or isinstance(value, type):
        return False
    return all(b is object or b.__flags__ & MADE_BY_PYTHON for b in kind.__mro__)


def slots_of(kind: type) -> list[str]:
    """The names of the attributes that a class, beside its bases, keeps apart from the dict."""
    found = vars(kind).get("__slots__", ())
    names = [found] if isinstance(found, str) else list(found)
    private = f"_{kind.__name__.lstrip('_')}"
    names = [private + n if n.startswith("__") and not n.endswith("__") else n for n in names]
    return [n for n in names if n not in ("__dict__", "__weakref__")]


def attributes_of(value: object) -> dict[str, object]:
    """What an object of the user's keeps, in its dict or in slots."""
    slots = [n for kind in type(value).__mro__ for n in slots_of(kind) if hasattr(value, n)]
    return {n: getattr(value, n) for n in slots} | getattr(value, "__dict__", {})


def keep_attributes(value: object, found: Mapping[str, object]) -> None:
    """Puts attributes where the object keeps them, past what its class does when they are set."""
    inside = getattr(value, "__dict__", {})
    slots = {n for kind in type(value).__mro__ for n in slots_of(kind)}
    for n, v in found.items():
        if n in slots:
            object.__setattr__(value, n, v)
        else:
            inside[n] = v


def variables_of(function: FunctionType) -> dict[int, CellType]:
    """The variables of those that made a function which it binds itself (`nonlocal`), by their numbers in its closure."""
    kept = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return {k: cell for k, (n, cell) in enumerate(kept) if n in bound_outside(function.__code__)}


@functools.cache
def bound_outside(code: CodeType) -> frozenset[str]:
    """The free names that a function's text, and what is defined in it, bind."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_DEREF", "DELETE_DEREF")}
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            found |= bound_outside(inner)
    return frozenset(found) & {*code.co_freevars}


def has_value(cell: CellType) -> bool:
    """Whether a variable has been bound."""
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def is_number(value: object) -> bool:
    """Whether a value is an array or a number."""
    return isinstance(value, (np.ndarray, np.generic, int, float, complex)) or is_array(value)
