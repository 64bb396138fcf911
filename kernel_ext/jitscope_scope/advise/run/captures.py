"""What compiled functions read from outside while they were traced, and whether it is still the same when they run again.

Names, attributes and elements with a constant index are looked up as the code writes them, in the functions it calls too;
no code of the user's runs for it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import types
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from jitscope import tree
from jitscope.backend.array import Array
from jitscope.backend.signature import short_repr
from jitscope.core import notices, source
from jitscope.core.config import NOT_GIVEN
from jitscope.core.jaxpr import ClosedJaxpr
from jitscope.core.source import Position

from ... import jaxwatch
from ...source_code.bindings import bound, declared, root_name, stored
from ...source_code.places import node_of_function


_PROGRAMS, _DEEPEST, _LEAVES, _BYTES = 200, 6, 1_000, 1 << 20
_SCALARS = (int, float, complex, bool, str, bytes, type(None))


class CapturedValue(NamedTuple):
    """A path as the code writes it (`config['lr']`), where it stands, whether it is of a static argument, and its value."""

    path: str
    where: Position
    static: bool
    value: Any


class Captures:
    """To be put into `notices.trace_listeners` (`traced`) and `notices.run_listeners` (`ran`). Keeps no function alive, and none of the
    objects that it was called with."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[Any, _Call, list[CapturedValue]]] = OrderedDict()

    def traced(self, closed: Any, fun: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        """A function was traced; the program is known again by the identity of `closed`."""
        self._known[id(closed)] = (closed, _Call(fun, args, kwargs), list(_reads(fun, args, kwargs)))
        while len(self._known) > _PROGRAMS:
            self._known.popitem(last=False)

    def ran(self, closed: ClosedJaxpr, name: str, args: list[Any], outs: list[Any]) -> None:
        found = self._known.get(id(closed))
        call = found[1].call() if found is not None else None
        if found is None or call is None:
            return
        now = {(read.path, read.where): read.value for read in _reads(*call)}
        pairs = [(read, now.get((read.path, read.where), read.value)) for read in found[2]]
        changed: dict[tuple[str, int, bool], list[tuple[CapturedValue, Any]]] = {}
        for read, value in pairs:
            if not _same(read.value, value):
                changed.setdefault((read.where.file, read.where.line, read.static), []).append((read, value))
        for one in changed.values():
            _tell(name, one)


class _Call:
    """What was called with what, held by weak references where there can be such."""

    def __init__(self, fun: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        self._fun, self._args = _weakly(fun), [_weakly(x) for x in args]
        self._kwargs = {name: _weakly(x) for name, x in kwargs.items()}

    def call(self) -> tuple[Any, tuple, dict[str, Any]] | None:
        """The function and the arguments, None in place of those that are gone; None where the function is."""
        fun = self._fun()
        kwargs = {name: found() for name, found in self._kwargs.items()}
        return None if fun is None else (fun, tuple(found() for found in self._args), kwargs)


def _weakly(x: Any) -> Callable[[], Any]:
    try:
        return weakref.WeakMethod(x) if isinstance(x, types.MethodType) else weakref.ref(x)
    except TypeError:
        return lambda: x


def _tell(name: str, changed: Sequence[tuple[CapturedValue, Any]]) -> None:
    """Tell of values that one line read, and that are other ones now."""
    changed = sorted(changed, key=lambda one: one[0].where.column)
    said = {read.path: _said(name, read, value, first=at == 0) for at, (read, value) in enumerate(changed)}
    read = changed[0][0]
    message = f"{'; '.join(said.values())}: the compiled program keeps the old value{'s' if len(said) > 1 else ''}."
    them = "it" if len(said) == 1 else "them"
    fix = f"Pass {them} as {'an argument' if len(said) == 1 else 'arguments'} of {name}."
    if read.static:
        fix = fix.removesuffix(f" of {name}.") + ", or register the class as a pytree."
    notices.tell("static-mutable-stale" if read.static else "stale-capture", message, fix, read.where)


def _said(name: str, read: CapturedValue, value: Any, first: bool) -> str:
    before, now = _shown(read.value), _shown(value)
    when = f" when {name} was traced" if first else ""
    if before != now:
        return f"`{read.path}` was {before}{when} and is {now} now"
    return f"`{read.path}`, {before}, has other values now than {'when ' + name + ' was traced' if first else 'then'}"


def _shown(value: Any) -> str:
    if _is_array(value):
        return f"an array {value.dtype}{list(value.shape)}" if value.size > 1 else f"{value.item()}"
    return short_repr(value, 40)


# --- reading ------------------------------------------------------------------------------------------------------------------


def _reads(
    fun: Any, args: tuple, kwargs: dict[str, Any], depth: int = 0, seen: frozenset[Any] = frozenset()
) -> Iterator[CapturedValue]:
    """What a function reads from outside; `args` may hold anything for arguments that are not known."""
    given = len(args)
    fun, args, named = _plain(fun, args)
    kwargs = {**named, **kwargs}
    where = source.position_of_function(fun) if isinstance(fun, types.FunctionType) else None
    node = node_of_function(where) if where is not None else None
    if where is None or node is None or depth > _DEEPEST or fun.__code__ in seen:
        return
    held = {*fun.__code__.co_varnames[: len(args) - given], *named}
    objects = _objects(fun.__code__, args, kwargs, held)
    local = stored(node)
    local |= {*fun.__code__.co_varnames} - objects.keys()
    look = _Names(fun, objects, local - {*fun.__code__.co_freevars})
    inner: set[int] = set()
    for part, hidden in _nodes(node):
        if id(part) in inner or not isinstance(part, ast.Name | ast.Attribute | ast.Subscript):
            if isinstance(part, ast.Call):
                given_to = (part.func, *part.args, *(keyword.value for keyword in part.keywords))
                for one in (one for one in given_to if root_name(one) not in hidden):
                    called, own = look.called(one)
                    if called is not None:
                        yield from _reads(called, own, {}, depth + 1, seen | {fun.__code__})
            continue
        inner.update(id(one) for one in ast.walk(part))
        value = look.value(part) if root_name(part) not in hidden else NOT_GIVEN
        if value is not NOT_GIVEN and _is_data(value):
            root = root_name(part)
            static = depth == 0 and root in objects and root not in held
            yield CapturedValue(ast.unparse(part), where.at(part), static, _kept(value))


def _nodes(function: ast.AST) -> Iterator[tuple[ast.AST, frozenset[str]]]:
    """The nodes of a function's body, outer ones first, with the names that functions and comprehensions inside it, around a node, have
    of their own."""
    body = function.body if isinstance(function, ast.FunctionDef) else [function.body]  # pyright: ignore
    todo = deque((statement, frozenset[str]()) for statement in body)
    while todo:
        node, hidden = todo.popleft()
        yield node, hidden
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                hidden = (hidden | bound(node)) - declared(node)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                hidden |= stored(*(one.target for one in node.generators))
        todo.extend((child, hidden) for child in ast.iter_child_nodes(node))


def _plain(fun: Any, args: tuple) -> tuple[Any, tuple, dict[str, Any]]:
    """The Python function behind a compiled one, a method, a partial or an object that is called, its arguments, and those that a
    partial names."""
    named: dict[str, Any] = {}
    for _ in range(20):
        match fun:
            case types.FunctionType() if not hasattr(fun, "__wrapped__"):
                return fun, args, named
            case types.MethodType():
                fun, args = fun.__func__, (fun.__self__, *args)
            case functools.partial():
                fun, args, named = fun.func, (*fun.args, *args), {**fun.keywords, **named}
            case _ if hasattr(fun, "__wrapped__"):
                fun = fun.__wrapped__
            case _ if isinstance(method := inspect.getattr_static(type(fun), "__call__", None), types.FunctionType):
                fun, args = method, (fun, *args)
            case _:
                break
    return fun, args, named


def _objects(code: types.CodeType, args: tuple, kwargs: dict[str, Any], bound: set[str]) -> dict[str, Any]:
    """The arguments that are objects of the user's classes, and no trees; of those that are `bound` beforehand, all."""
    named = {**dict(zip(code.co_varnames[: code.co_argcount], args)), **kwargs}
    return {
        name: x
        for name, x in named.items()
        if name in bound or (hasattr(x, "__dict__") and not _is_tree(x) and not hasattr(x, "aval"))
    }


def _is_tree(x: Any) -> bool:
    return tree.is_tree_node(type(x)) or jaxwatch.is_tree(x)


class _Names:
    """What the names of a function mean, without running code."""

    def __init__(self, fun: types.FunctionType, objects: dict[str, Any], local: set[str]) -> None:
        self.closure = dict(zip(fun.__code__.co_freevars, fun.__closure__ or ()))
        self.globals, self.objects, self.local = fun.__globals__, objects, local

    def value(self, node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name):
                return self._named(name)
            case ast.Attribute(value=base, attr=attr):
                return _attribute(self.value(base), attr)
            case ast.Subscript(value=base, slice=ast.Constant(value=key)):
                of = self.value(base)
                if type(of) in (dict, list, tuple):
                    try:
                        return of[key]
                    except (KeyError, IndexError, TypeError):
                        return NOT_GIVEN
        return NOT_GIVEN

    def _named(self, name: str) -> Any:
        if name in self.objects:
            return self.objects[name]
        if name in self.closure:
            try:
                return self.closure[name].cell_contents
            except ValueError:
                return NOT_GIVEN
        return NOT_GIVEN if name in self.local else self.globals.get(name, NOT_GIVEN)

    def called(self, node: ast.expr) -> tuple[Any, tuple]:
        """What a call calls, with the object it is called on; None for what is the library's own or not known."""
        found = self.value(node)
        if found is NOT_GIVEN and isinstance(node, ast.Attribute):
            of = self.value(node.value)
            method = getattr(type(of), node.attr, None) if of is not NOT_GIVEN else None
            return (method, (of,)) if isinstance(method, types.FunctionType) else (None, ())
        return (found, ()) if callable(found) and not isinstance(found, type) else (None, ())


def _attribute(of: Any, name: str) -> Any:
    """An attribute of an object or a class that is plain data: no property, no descriptor."""
    if of is NOT_GIVEN or isinstance(of, types.ModuleType):
        return NOT_GIVEN
    for one in (of, *type(of).__mro__) if not isinstance(of, type) else of.__mro__:
        own = getattr(one, "__dict__", {})
        if name in own:
            found = own[name]
            return NOT_GIVEN if hasattr(type(found), "__get__") else found
    return NOT_GIVEN


# --- values -------------------------------------------------------------------------------------------------------------------


def _is_array(value: Any) -> bool:
    return isinstance(value, (Array, np.ndarray)) or jaxwatch.is_array(value)


def _is_data(value: Any, room: int = _LEAVES) -> bool:
    if isinstance(value, (np.generic, *_SCALARS)) or _is_array(value):
        return True
    if type(value) in (list, tuple):
        return len(value) <= room and all(_is_data(one, room // (len(value) or 1)) for one in value)
    return type(value) is dict and len(value) <= room and all(_is_data(x, room // len(value)) for x in value.values())


def _kept(value: Any) -> Any:
    """The value as it is now: what can be changed is copied."""
    if type(value) is np.ndarray:
        return value.copy() if value.nbytes <= _BYTES else value
    if type(value) in (list, tuple):
        return type(value)(map(_kept, value))
    return {key: _kept(x) for key, x in value.items()} if type(value) is dict else value


def _same(before: Any, now: Any) -> bool:
    if before is now:
        return True
    if _is_array(before) and _is_array(now):
        if before.shape != now.shape or before.dtype != now.dtype or before.size * 8 > _BYTES:
            return False
        if hasattr(before, "is_deleted") and (before.is_deleted() or not hasattr(before, "__array__")):
            return True
        return bool(np.array_equal(np.asarray(before), np.asarray(now), equal_nan=before.dtype.kind in "fc"))
    if type(before) is not type(now):
        return False
    if type(before) in (list, tuple):
        return len(before) == len(now) and all(map(_same, before, now))
    if type(before) is dict:
        return before.keys() == now.keys() and all(_same(before[key], now[key]) for key in before)
    return bool(before == now) or before != before
