"""Effects that the statements of a region, and the functions of the user's that they call, are seen to have in their text."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping
from types import FunctionType, MethodType, ModuleType

import numpy as np

from ..source_code.parameters import parameters
from . import naming, paths, words
from .answers import CannotCompile
from .functions import Definitions, definition_of
from .homes import is_users_object


MISSING = object()
_HARD = frozenset(("random", "input or output", "time", "effect", "other library"))
_ON_COPIES = (print, np.fill_diagonal, np.copyto, np.put, np.place, np.putmask, np.put_along_axis)
_TRACED = frozenset("jax jaxlib jitscope optax chex flax equinox jaxopt".split())
"""Libraries whose functions are made to be traced."""


class Effects:
    """Looks through statements and what they call. `reads` are the names outside of themselves that called functions,
    whose names are `called`, read. `on_copies` says that they are to be run on copies, silently: printing, and stores into arrays that are
    handed to NumPy, do nothing then that is seen."""

    def __init__(self, definitions: Definitions, on_copies: bool = False) -> None:
        self.definitions, self.on_copies = definitions, on_copies
        self.reads: set[str] = set()
        self.called: set[str] = set()
        self._known: set[int] = set()
        self._followed: set[int] = set()
        """Functions whose variables are places of the region, as attributes of objects are."""

    def of_region(self, body: naming.Statements, values: Mapping[str, object]) -> None:
        """Raises CannotCompile with the first effect that the text shows."""
        bound = naming.bound(body)
        self._followed = paths.followed(values)

        def look(name: str) -> object:
            return MISSING if name in bound else values.get(name, getattr(builtins, name, MISSING))

        for node in _in_order(body):
            if isinstance(node, (ast.Try, ast.Raise, ast.Assert)):
                said = ast.unparse(node).splitlines()[0][:60]
                raise CannotCompile(node.lineno, "exception", f"`{said}` may raise or catch an exception")
            if isinstance(node, (ast.Global, ast.Nonlocal, ast.Delete)):
                raise CannotCompile(
                    node.lineno,
                    "effect",
                    f"`{ast.unparse(node)[:60]}` binds or removes what stands outside of the region",
                )
            if isinstance(node, ast.For) and (why := _generates(look, node.iter)):
                raise CannotCompile(node.lineno, "effect", why)
            self._node(node, look, None, "")

    def _node(self, node: ast.AST, look: Callable[[str], object], line: int | None, inside: str) -> None:
        if isinstance(node, ast.Call):
            found = self.resolved(node.func, look)
            at, where = line or node.lineno, f" (in `{inside}`)" if inside else ""
            said = words.dotted(node.func)
            if found is MISSING:
                if isinstance(node.func, ast.Attribute):
                    word, note = words.why_not_method(node.func.attr)
                    if word in ("random", "input or output") and not self._own_methods(node.func.attr):
                        raise CannotCompile(at, word, note + where)
                    self._methods(node.func.attr, look, at)
                return
            if found is np.fill_diagonal and (
                not inside or all(look(n) is MISSING for n in naming.loaded(node.args[:1]))
            ):
                return
            if (why := self._why_not(found, said)) is not None:
                raise CannotCompile(at, why[0], why[1] + where)
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found = self.resolved(node, look)
            function = _function(found)
            if function is not None and function.__code__.co_filename != "<string>":
                self._function(function, line or node.lineno)

    def _methods(self, name: str, look: Callable[[str], object], line: int) -> None:
        """Looks through the methods of the cells' classes that have this name: whose it is, is not known from the text."""
        for node in self._own_methods(name):
            if id(node) not in self._known:
                self._known.add(id(node))
                self.called.add(name)
                own = {*parameters(node)} | naming.bound(node.body)
                for inner in _in_order(node.body):
                    self._node(inner, lambda n, own=own: MISSING if n in own else look(n), line, name)  # type: ignore[misc]

    def _own_methods(self, name: str) -> list[ast.FunctionDef]:
        """The methods of the cells' classes that have this name."""
        named = [node for node in self.definitions.values() if node.name == name and node.args.args]
        return [node for node in named if node.args.args[0].arg == "self"]

    def _why_not(self, found: object, said: str) -> tuple[str, str] | None:
        if _function(found) is not None and words.of_users(_function(found)):
            return None
        if isinstance(found, type) and found.__module__ in ("__main__", "cell"):
            return None
        if self.on_copies and found in _ON_COPIES:
            return None
        if found in (next, iter):
            return "effect", f"`{said}` moves an iterator on"
        module = getattr(found, "__module__", None) or type(found).__module__
        if module.partition(".")[0] in _TRACED:
            return None
        why = words.why_not_function(found, said)
        return why if why is not None and why[0] in _HARD else None

    def _function(self, function: FunctionType, line: int) -> None:
        if id(function) in self._known or not words.of_users(function):
            return
        self._known.add(id(function))
        name = function.__name__
        self.called.add(name)
        node = definition_of(function, self.definitions)
        if node is None:
            return
        outside = {n for s in naming.all_of(ast.Nonlocal, [node]) for n in s.names}
        places = {*function.__code__.co_freevars} if id(function) in self._followed else set()
        if naming.has(ast.Global, [node]) or outside - places:
            raise CannotCompile(line, "effect", f"`{name}` binds names outside of itself")
        given = {a.arg for a in naming.all_of(ast.arg, [node])}
        own = given | {*naming.stored([node])}
        if touched := naming.stored_into(node.body) - own:
            raise CannotCompile(line, "effect", f"`{name}` stores into `{min(touched)}`")
        for n in ast.walk(node):
            if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call) and isinstance(n.value.func, ast.Attribute):
                root = naming.root_of(n.value.func)
                if root is not None and root not in own and _grows(n.value.func.attr):
                    raise CannotCompile(line, "effect", f"`{name}` does `{ast.unparse(n)[:50]}` to what lives on")
        cells = dict(zip(function.__code__.co_freevars, (c.cell_contents for c in function.__closure__ or ())))
        self.reads |= naming.loaded(node.body) - own

        def look(name: str) -> object:
            if name in own:
                return MISSING
            return cells.get(name, function.__globals__.get(name, getattr(builtins, name, MISSING)))

        for inner in _in_order(node.body):
            self._node(inner, look, line, name)

    def resolved(self, node: ast.expr, look: Callable[[str], object]) -> object:
        """The value of a name, or of an attribute of a module, a class or an object of the user's; else MISSING."""
        if isinstance(node, ast.Name):
            return look(node.id)
        if not isinstance(node, ast.Attribute):
            return MISSING
        owner = self.resolved(node.value, look)
        if isinstance(owner, (ModuleType, type)) or is_users_object(owner) or _draws(owner):
            return getattr(owner, node.attr, MISSING)
        return MISSING


def _draws(owner: object) -> bool:
    return type(owner).__module__.startswith(("numpy.random", "random"))


def _generates(look: Callable[[str], object], node: ast.expr) -> str | None:
    """Why a loop cannot go over this: it is a generator, or the call of a function that makes one."""
    found = look(node.id) if isinstance(node, ast.Name) else MISSING
    if type(found).__name__ in ("generator", "map", "filter", "zip", "enumerate", "list_iterator"):
        return f"`{words.dotted(node)}` is an iterator, which is used up"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        function = _function(look(node.func.id))
        if function is not None and function.__code__.co_flags & 0x20:
            return f"`{node.func.id}` is a generator or a coroutine"
    return None


def _function(found: object) -> FunctionType | None:
    if isinstance(found, MethodType):
        found = found.__func__
    if isinstance(found, type) and found.__module__ in ("__main__", "cell"):
        found = vars(found).get("__init__")
    for _ in range(8):  # what a library's transformations made of a function of the user's keeps it so
        if not callable(found) or words.of_users(found) or not hasattr(found, "__wrapped__"):
            break
        found = found.__wrapped__  # type: ignore[attr-defined]
    return found if isinstance(found, FunctionType) else None


def _grows(name: str) -> bool:
    return words.why_not_method(name)[0] == "object" and "changes a Python container" in words.why_not_method(name)[1]


def _in_order(body: Iterable[ast.stmt]) -> list[ast.AST]:
    """The nodes by their place in the text."""
    nodes = [n for s in body for n in ast.walk(s) if hasattr(n, "lineno")]
    return sorted(nodes, key=lambda n: (n.lineno, n.col_offset))  # type: ignore[attr-defined]
