"""A call that is asked for and whose function is not jitted, as a function of its arrays: what else it is given belongs to its program."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import jitscope
from jitscope import tree
from jitscope.core import source


_NUMBERS = (bool, int, float, complex)


class AskedCall(NamedTuple):
    """A function and the arguments that it is traced for."""

    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def jitted(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> AskedCall:
    """The call of a function that is jitted: itself, or what `of_arrays` makes of it."""
    if hasattr(function, "trace"):
        return AskedCall(function, args, kwargs)
    asked = of_arrays(function, args, kwargs)
    return asked._replace(function=jitscope.jit(asked.function, auto_static=True))


def of_arrays(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], trees: Any = tree, more: tuple[type, ...] = ()
) -> AskedCall:
    """The call with None for each part of its arguments that is no data: text, booleans, functions, types and objects that are no arrays.
    The function puts them back, and gives what is data of its result. Numbers are data of the user's functions, unless their type is one
    `more`; in calls of a library's (`jnp.reshape(x, (2, 2))`) they say sizes, axes and powers. `trees`: `jax.tree` for jax's."""
    leaves, form = trees.flatten((args, kwargs))
    kinds = (bool, *more, *(_NUMBERS if _is_of_library(function) else ()))
    fixed = {i: leaf for i, leaf in enumerate(leaves) if isinstance(leaf, kinds) or not _is_data(leaf)}
    if not fixed:
        return AskedCall(function, args, kwargs)
    count = len(leaves)  # the function keeps no arrays

    @functools.wraps(function)
    def of_data(*args: Any, **kwargs: Any) -> Any:
        data = iter(trees.leaves((args, kwargs)))
        whole = trees.unflatten(form, [fixed[i] if i in fixed else next(data) for i in range(count)])
        return trees.map(lambda leaf: leaf if _is_data(leaf) else None, function(*whole[0], **whole[1]))

    of_data.__name__ = name_of(function)
    args, kwargs = trees.unflatten(form, [None if i in fixed else leaf for i, leaf in enumerate(leaves)])
    return AskedCall(of_data, args, kwargs)


def _is_data(leaf: Any) -> bool:
    if isinstance(leaf, type):
        return False
    kinds = (*_NUMBERS, np.generic, np.ndarray)
    return isinstance(leaf, kinds) or any(
        hasattr(leaf, name) for name in ("dtype", "aval", "__jax_array__", "__array__")
    )


def _innermost(function: Any) -> Any:
    function = inspect.unwrap(function)
    while isinstance(function, functools.partial):
        function = inspect.unwrap(function.func)
    return function


def _is_of_library(function: Any) -> bool:
    called = _innermost(function)
    called = getattr(called, "__func__", called)
    code = getattr(called, "__code__", None) or getattr(type(called).__call__, "__code__", None)
    return code is not None and not source.in_program(code.co_filename)


def name_of(function: Callable[..., Any]) -> str:
    """What a function, or an object that is called, is called in its program."""
    innermost = _innermost(function)
    names = (getattr(one, "__name__", _UNNAMED) for one in (function, innermost))
    return next((name for name in names if name != _UNNAMED), type(innermost).__name__)


_UNNAMED = "<unnamed function>"
"""What jax calls transformations of objects that are called."""
