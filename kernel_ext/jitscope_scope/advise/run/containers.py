"""Tracers that a dict, a list, an attribute or a global kept from one trace to a later line: which one has it, and which line stored it.
No code of the user's runs."""

from __future__ import annotations

import ast
import re
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FrameType
from typing import Any, NamedTuple

from jitscope.core.source import Position
from jitscope.core.trace import Tracer

from ... import jaxwatch
from ...source_code.bindings import declared
from ...source_code.tree import FUNCTIONS, own_nodes, parsed
from .stale import described


_MOST, _DEEPEST, _LONGEST = 2_000, 3, 200
_CONTAINERS = (list, tuple, deque)
_OF_IPYTHON = re.compile(r"_\d*|__+|_(?:oh|ih|dh|i\d*)|_ii+|In|Out")


class KeptTracer(NamedTuple):
    """A tracer of a trace that has ended: the path by which it is kept, the line that stored it, and the sentences for it."""

    where: Position
    said: str
    fix: str


class _Held(NamedTuple):
    """A value by the path of names, attributes and keys that leads to it."""

    path: str
    names: tuple[str, ...]
    """The last name or attribute at each step, "" for an element."""
    value: Any
    container: str = ""
    """The path without its last step."""


def kept_tracer(
    is_that: Callable[[Any], bool], made: Sequence[Position], frames: Sequence[FrameType]
) -> KeptTracer | None:
    """What keeps the tracer that an error is about, by the names that the frames of the error have, `made` being the lines in which it was
    made; None where nothing is found, or not the one line that stored it."""
    files = {*(frame.f_code.co_filename for frame in frames), *(where.file for where in made)}
    stores = [one for file in sorted(files) for one in _stores(file)]
    for held in _tracers(frames):
        if not is_that(held.value):
            continue
        where = _stored(held, stores, made)
        if where is not None:
            return _told(held, where)
    return None


def _told(held: _Held, where: Position) -> KeptTracer:
    said = (
        f"`{held.path}` keeps a traced value, {described(held.value)}, of a trace that has ended: it has no value. This line stored it, while a function was "
        "traced."
    )
    fix = "Return the value from the traced function, and store what the call gives."
    if not held.names[-1]:
        fix = (
            f"Take it out of `{held.container}`, and store there what has a value: what the traced function returns, or "
            "what is made outside of it, or with NumPy."
        )
    return KeptTracer(where, said, fix)


# --- what is kept --------------------------------------------------------------------------------------------------------------


def _tracers(frames: Iterable[FrameType]) -> Iterator[_Held]:
    """The tracers to which names of the frames lead, those aside that a function has as variables."""
    seen: set[int] = set()
    for frame in reversed(list(frames)):
        own = frame.f_locals if frame.f_locals is not frame.f_globals else {}
        todo = deque(_Held(name, (name,), value) for name, value in list(own.items()) if not _is_tracer(value))
        todo.extend(
            _Held(name, (name,), value)
            for name, value in list(frame.f_globals.items())
            if not _OF_IPYTHON.fullmatch(name)
        )
        while todo and len(seen) < _MOST:
            held = todo.popleft()
            if _is_tracer(held.value):
                yield held
            elif id(held.value) not in seen and len(held.names) <= _DEEPEST:
                seen.add(id(held.value))
                todo.extend(_inside(held))


def _inside(held: _Held) -> Iterator[_Held]:
    path, names, value, _ = held
    if isinstance(value, dict):
        yield from (
            _Held(f"{path}[{key!r}]", (*names, ""), one, path)
            for key, one in list(dict.items(value))[:_LONGEST]
            if type(key) in (str, int, bool, float, tuple)
        )
    elif isinstance(value, _CONTAINERS):
        yield from (_Held(f"{path}[{at}]", (*names, ""), one, path) for at, one in enumerate(list(value)[:_LONGEST]))
    elif _is_users(value):
        own = getattr(value, "__dict__", None)
        if isinstance(own, dict | types.MappingProxyType):
            yield from (
                _Held(f"{path}.{name}", (*names, name), one, path) for name, one in list(own.items())[:_LONGEST]
            )


def _is_users(value: Any) -> bool:
    """Whether it is a class of the user's, or an object of one."""
    kind = value if isinstance(value, type) else type(value)
    if isinstance(value, types.ModuleType | types.FunctionType | types.MethodType) or kind.__module__ == "builtins":
        return False
    return not kind.__module__.startswith(("jax", "jitscope", "numpy", "IPython", "traitlets"))


def _is_tracer(value: Any) -> bool:
    return isinstance(value, Tracer) or jaxwatch.is_tracer(value)


def is_spoken_of(tracer: Any, error: BaseException, cause: Position | None) -> bool:
    """Whether a tracer is the one that an error speaks of, as far as its type and the line that made it tell."""
    if isinstance(tracer, Tracer):
        return tracer._is_over() and tracer.made_at() == cause and tracer.description() in str(error)
    made = jaxwatch.made_at(tracer)
    if made is None or cause is None or (made.file, made.line) != (cause.file, cause.line):
        return False
    aval = tracer.aval
    return f" {aval.dtype}[{','.join(map(str, aval.shape))}] " in str(error)


# --- who stored it -------------------------------------------------------------------------------------------------------------


class _Store(NamedTuple):
    """A line of a function that stores something: the name or attribute that it stores into, whether as an element of that."""

    name: str
    element: bool
    where: Position


def _stored(held: _Held, stores: Sequence[_Store], made: Sequence[Position]) -> Position | None:
    """The line that stored a value; None where none did for sure, or several may have."""
    for at in range(len(held.names) - 1, -1, -1):
        if not held.names[at]:
            continue
        found = [
            one.where for one in stores if one.name == held.names[at] and one.element == (at < len(held.names) - 1)
        ]
        found = found or [one.where for one in stores if one.name == held.names[at]]
        ran = {(where.file, where.function) for where in made}
        same = [one for one in found if (one.file, one.function) in ran]
        found = same or found
        return found[0] if len(found) == 1 else None
    return None


def _stores(file: str) -> Iterator[_Store]:
    tree = parsed(file)
    for function in ast.walk(tree) if tree is not None else ():
        if not isinstance(function, FUNCTIONS):
            continue
        name = getattr(function, "name", "<lambda>")
        start = Position(file, function.lineno, function.lineno, 0, 0, name)
        outer = declared(function)
        for node in own_nodes(function, FUNCTIONS):
            if not isinstance(node, ast.expr | ast.stmt):
                continue
            for target, element in _targets(node):
                if isinstance(target, ast.Attribute):
                    yield _Store(target.attr, element, start.at(node))
                elif isinstance(target, ast.Name) and (element or target.id in outer):
                    yield _Store(target.id, element, start.at(node))


def _targets(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """What a node stores into, and whether as an element."""
    match node:
        case ast.Assign(value=ast.Constant() | ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Tuple(elts=[])):
            return
        case ast.Assign(targets=targets):
            parts = [one for target in targets for one in ast.walk(target) if isinstance(one, ast.expr)]
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
            parts = [target]
        case ast.Call(func=ast.Attribute(value=base, attr=name)) if name in _STORING:
            yield base, True
            return
        case _:
            return
    for part in parts:
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Store):
            yield part.value, True
        elif isinstance(part, ast.Name | ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield part, False


_STORING = frozenset(("append", "appendleft", "add", "insert", "extend", "setdefault", "update", "__setitem__"))
