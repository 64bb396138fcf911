"""Tracing a function of jax's once more, as it is or with another text of its file: a call is remembered by the shapes and dtypes of its
arguments.

jax keeps programs by function object, and a function with other code for a while would leave wrong ones behind: the functions of the
file are copied, and the copies traced.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import CodeType, FunctionType, MethodType
from typing import Any

from . import private
from .private import Entered
from .signatures import python_function


_ATTRIBUTE = "traced_by_jax"


class Again:
    """A call whose trace failed. `numbers` are the values of the arguments that are single booleans and integers, by their place;
    `by_jax` tells whether code of jax's raised the error (later its frames are taken out of the traceback)."""

    def __init__(self, entered: Entered, by_jax: bool):
        self.by_jax = by_jax
        tree, info = private.module("jax.tree_util"), entered.info
        self._fun = entered.fun
        static, named = set(info.static_argnums or ()), set(info.static_argnames or ())
        static = {n + len(entered.args) if n < 0 else n for n in static}
        self._static = {i: x for i, x in enumerate(entered.args) if i in static}
        self._named = {name: x for name, x in entered.kwargs.items() if name in named}
        given = [x for i, x in enumerate(entered.args) if i not in static]
        leaves, self._tree = tree.tree_flatten((given, {n: x for n, x in entered.kwargs.items() if n not in named}))
        self._leaves = [_abstract(x) for x in leaves]
        self.numbers = {i: int(x) if not isinstance(x, bool) else x for i, x in enumerate(leaves) if _is_count(x)}

    def __call__(self, fixed: Mapping[int, Any], text: str | None = None, file: str = "") -> None:
        """Trace it; `fixed` are values of arguments that are to be static, by place. Raises what the trace raises, LookupError where
        functions of the file cannot have another text."""
        jax, fun = private.module("jax"), self._fun if text is None else _copied(self._fun, text, file)

        def call(*others: Any) -> Any:
            rest = iter(others)
            leaves = [fixed[i] if i in fixed else next(rest) for i in range(len(self._leaves))]
            given, named = jax.tree_util.tree_unflatten(self._tree, leaves)
            rest = iter(given)
            count = len(given) + len(self._static)
            args = [self._static[i] if i in self._static else next(rest) for i in range(count)]
            return fun(*args, **named, **self._named)

        jax.make_jaxpr(call)(*[leaf for i, leaf in enumerate(self._leaves) if i not in fixed])


def remember(error: BaseException, entered: Entered) -> None:
    """Keep the call on the error that ended its trace."""
    with suppress(Exception):
        setattr(error, _ATTRIBUTE, Again(entered, raised_by_jax(error)))


def raised_by_jax(error: BaseException) -> bool:
    """Whether jax raised an error: one of its own kinds, or any other in its code, such as that of shapes that do not fit."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    inside = last is not None and last.tb_frame.f_code.co_filename.startswith(private.folder())
    return inside or type(error).__module__.startswith("jax")


def remembered(error: BaseException) -> Again | None:
    """The call kept on an error, which is let go."""
    found = getattr(error, _ATTRIBUTE, None)
    if found is not None:
        delattr(error, _ATTRIBUTE)
    return found


def _abstract(x: Any) -> Any:
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        return x
    return private.module("jax").ShapeDtypeStruct(x.shape, x.dtype, weak_type=getattr(x, "weak_type", False))


def _is_count(x: Any) -> bool:
    return isinstance(x, int) or (getattr(x, "shape", None) == () and getattr(x.dtype, "kind", "") in ("b", "i", "u"))


# --- functions with another text ------------------------------------------------------------------------------------------


def _copied(fun: Any, text: str, file: str) -> Any:
    """A function that calls copies of the functions of its file, with their code in another text."""
    new = [*_codes(compile(text, file, "exec", _AWAITS, dont_inherit=True))]
    own = python_function(fun)
    if not isinstance(own, FunctionType):
        raise LookupError("no function of Python's")
    around = dict(own.__globals__)
    copies = {}
    for name, value in [*around.items(), ("", own)]:
        one = own if value is own else python_function(value) if callable(value) else None
        if isinstance(one, FunctionType) and one.__code__.co_filename == file and one.__globals__ is own.__globals__:
            if one not in copies:
                copies[one] = _copy(one, new, around)
            if name:
                around[name] = copies[one] if value is one else _in_place(value, copies)
    found = _in_place(fun, copies)
    if found is None:
        raise LookupError("the function that is traced was made of one of the file's")
    return found


_AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def _copy(one: FunctionType, new: Sequence[CodeType], around: dict[str, Any]) -> FunctionType:
    old = one.__code__
    named = [code for code in new if code.co_qualname == old.co_qualname and code.co_freevars == old.co_freevars]
    found = named if len(named) == 1 else [code for code in named if code.co_firstlineno == old.co_firstlineno]
    if not found:
        raise LookupError(f"{one.__name__} is another function in this text")
    made = FunctionType(found[0], around, one.__name__, one.__defaults__, one.__closure__)
    made.__kwdefaults__ = one.__kwdefaults__
    return made


def _in_place(fun: Any, copies: Mapping[FunctionType, FunctionType]) -> Any:
    """What calls the copies where `fun` calls the functions: a jitted one is run as part of the program. None for what is made by
    a transformation."""
    if isinstance(fun, FunctionType):
        return copies.get(fun)
    if isinstance(fun, functools.partial):
        inner = _in_place(fun.func, copies)
        return functools.partial(inner, *fun.args, **fun.keywords) if inner is not None else None
    if isinstance(fun, MethodType):
        inner = _in_place(fun.__func__, copies)
        return MethodType(inner, fun.__self__) if inner is not None else None
    return _in_place(fun._fun, copies) if hasattr(fun, "_fun") and hasattr(fun, "_jit_info") else None


def _codes(code: CodeType) -> Iterator[CodeType]:
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield one
            yield from _codes(one)
