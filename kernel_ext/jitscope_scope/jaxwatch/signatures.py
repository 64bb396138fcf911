"""The key of a call of `jax.jit`, as the ledger compares keys: arguments by path, static values, structure, options, configuration,
function object, device."""

from __future__ import annotations

import inspect
import itertools
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any

from jitscope.backend.contents import numbers_in, parts_of_partial
from jitscope.backend.function_objects import FunctionObject, bound_to, function_object
from jitscope.backend.signature import BY_NAME, Leaf, Signature, Static, is_hashable, short_repr
from jitscope.core.words import cut

from ..observe.stacks import is_installed
from . import private
from .layouts import layout_text
from .library_arguments import function_inside, of_lifted, users_arguments
from .private import TracedCall
from .programs import CallArguments
from .translating import OtherAval, aval_of, one_line


_numbers = itertools.count(1)
_known: dict[int, tuple[Callable[[], Any], int]] = {}


def number_of(fun: Any) -> int:
    """A number for a function object, the same as long as it lives."""
    found = _known.get(id(fun))
    if found is not None and found[0]() is fun:
        return found[1]
    number, key = next(_numbers), id(fun)
    try:
        _known[key] = (weakref.ref(fun, lambda _: _known.pop(key, None)), number)
    except TypeError:
        pass
    return number


class Call:
    """What is kept of a call: its signature and, weakly, the arrays it was given (`leaves` has them until they are recorded); `names` are what the user calls these, where a library
    gave jax others, and `own_result` leads to what the user's function gave. `frame` is below the call."""

    def __init__(self, entered: TracedCall, frame: FrameType | None):
        tree = private.module("jax.tree_util")
        fun, info = entered.fun, entered.info
        self.function = fun_name(fun)
        runs = written(entered, frame)
        self.made, bundled = function_object(runs), runs is not fun
        args, kwargs, statics = _parted(entered)
        with_paths, structure = tree.tree_flatten_with_path((tuple(args.values()), kwargs))
        given = _parameters(fun, entered.args)
        names = [given[i] for i in args]
        paths = [_path(path, names, tree) for path, _ in with_paths]
        self.leaves = [leaf for _, leaf in with_paths]
        self.given = CallArguments(self.leaves)
        lifted = private.lifted(fun, entered.args)
        if lifted is not None:
            own = of_lifted(lifted.module, paths, entered.kwargs)
            self.own_result, self.returned = private.LIFTED_RESULT, private.LIFTED_RETURNED
        else:
            own = users_arguments(frame, [leaf for _, leaf in with_paths], entered.kwargs)
            self.own_result = private.own_result(fun)
            self.returned = _returned(fun, list(args), [path for path, _ in with_paths], own.names, tree) if own else {}
        static = tuple(_static(name, value, bundled, own is not None) for name, value in statics if is_hashable(value))
        if lifted is not None:
            static = (Static.of("mutable", lifted.mutable), _by_class("self", lifted.module, lifted.key), *static[1:])
        self.names = own.names if own else ()
        shown = [_leaf(path, leaf) for path, (_, leaf) in zip(self.names or paths, with_paths)]
        text = str(structure)
        self.signature = Signature(
            number_of(fun),
            tuple(leaf for leaf, _ in shown),
            own.tree if own else text,
            static,
            (*_configuration(), *_options(info), _by_name(entered)),
            bool(private.module("jax").config.jax_enable_x64),
            _device([device for _, device in shown]),
            hash((text, _structure(structure, text))) if own else _structure(structure, text),
            private.clearings()(),
            0,
            FunctionObject(*self.made),
            own.attributes if own else (),
            own.classes if own else (),
            () if own else _numbers_of(structure, text),
        )


def _returned(
    fun: Any, places: list[int], paths: list[tuple[Any, ...]], names: Sequence[str], tree: Any
) -> dict[str, dict[str, str]]:
    """For each argument that a library gives back with the result, the names of its arrays there and what the user calls them."""
    found: dict[str, dict[str, str]] = {}
    for (which, key, *rest), name in zip(paths, names, strict=True):
        argument = key.key if getattr(which, "idx", 0) else places[key.idx]
        if part := private.returned(fun, argument):
            found.setdefault(part, {})[part + tree.keystr(tuple(rest))] = name
    return found


def _structure(structure: Any, text: str) -> int:
    """A number that tells structures apart that print alike: static data of nodes."""
    if "CustomNode" not in text:
        return 0
    return hash(structure) if is_hashable(structure) else 0


def _numbers_of(structure: Any, text: str) -> tuple[tuple[str, str], ...]:
    """The numbers inside of the static data of a tree's nodes, by name."""
    found: list[tuple[str, str]] = []
    todo = [structure] if "CustomNode" in text else []
    while todo and len(found) < _MOST_PARTS:
        node = todo.pop(0)
        data = node.node_data()
        if data is not None and data[0] not in _CONTAINERS:
            found += numbers_in(data[1])
        todo += node.children()
    return tuple(found)


_CONTAINERS = (tuple, list, dict, type(None))


def fun_name(fun: Any) -> str:
    """What a function is called: its own name, or that of what it wraps; with the class where it is the call of an object."""
    name = getattr(fun, "__name__", None) or getattr(python_function(fun), "__name__", None) or type(fun).__name__
    return (
        str(getattr(python_function(fun), "__qualname__", name)).rpartition(">.")[2]
        if name in ("__call__", *private.STANDS_FOR)
        else str(name)
    )


def python_function(fun: Any) -> Any:
    """The Python function inside of wrappers, partials and methods."""
    met: set[int] = set()
    while id(fun) not in met:
        met.add(id(fun))
        inner = getattr(fun, "__dict__", {}).get("__wrapped__") if not isinstance(fun, type) else None
        if (bound := bound_to(fun)) is not None:
            fun = bound[0]
        elif inner is not None:
            fun = inner
        elif (partial := parts_of_partial(fun)) is not None:
            fun = partial[0]
        elif (method := private.held_by_flax(fun)) is not None:
            fun = method
        elif not isinstance(fun, types.FunctionType) and hasattr(type(fun), "__wrapped__"):
            fun = fun.__wrapped__
    return fun


def written(entered: TracedCall, frame: FrameType | None = None) -> Any:
    """The function that runs: that of the call, or where a library jits one of its own, the one that this wraps, or the user's among its
    static arguments. `frame` is below the call."""
    if private.lifted(entered.fun, entered.args) is not None:
        return python_function(entered.fun)
    if _is_users(entered.fun):
        return entered.fun
    inside = function_inside(frame)
    if inside is not None and (_is_users(inside) or _is_object_of_users(inside)):
        return inside
    return next(_users_functions(_parted(entered)[2]), entered.fun if inside is None else inside)


def _users_functions(value: Any, depth: int = 6) -> Iterator[Any]:
    if _is_users(value):
        yield value
    elif depth and isinstance(value, (list, tuple)):
        for part in value[:_MOST_PARTS]:
            yield from _users_functions(part, depth - 1)


_MOST_PARTS = 1000


def _is_users(value: Any) -> bool:
    code = getattr(python_function(value), "__code__", None) if callable(value) else None
    return isinstance(code, types.CodeType) and not is_installed(code.co_filename)


def _is_object_of_users(value: Any) -> bool:
    """Whether a call of an object runs code of the user's."""
    code = getattr(python_function(type(value).__call__ if callable(value) else None), "__code__", None)
    return isinstance(code, types.CodeType) and not is_installed(code.co_filename)


def _static(name: str, value: Any, bundled: bool, named: bool) -> Static:
    """A static argument; of what a library bundled, with the function and the structure of trees, the values that are in it, unless these
    are known by the user's names."""
    static = Static.of(name, value)
    if not bundled:
        return static
    return static._replace(text="" if named else cut(", ".join(map(short_repr, _bundled(value))), 60), object=None)


def _by_class(name: str, value: Any, key: Any) -> Static:
    """A static argument that is told by its class, and compared by another object."""
    return Static(name, type(value).__name__, type(value).__name__, hash(key))


def _bundled(value: Any, depth: int = 6) -> Iterator[Any]:
    if isinstance(value, (list, tuple)) and depth:
        for part in value[:_MOST_PARTS]:
            yield from _bundled(part, depth - 1)
    elif value is not None and not callable(value) and type(value).__name__ != "PyTreeDef":
        yield value


def _parted(entered: TracedCall) -> tuple[dict[int, Any], dict[str, Any], list[tuple[str, Any]]]:
    """Arguments by position, by name, and the static ones by name, however these were given."""
    numbers, named = set(entered.info.static_argnums or ()), set(entered.info.static_argnames or ())
    count = len(entered.args)
    numbers = {n + count if n < 0 else n for n in numbers}
    names = _parameters(entered.fun, entered.args)
    statics = [(names[i], value) for i, value in enumerate(entered.args) if i in numbers]
    statics += [(name, value) for name, value in entered.kwargs.items() if name in named]
    args = {i: value for i, value in enumerate(entered.args) if i not in numbers}
    return args, {name: v for name, v in entered.kwargs.items() if name not in named}, statics


def _parameters(fun: Any, args: Sequence[Any]) -> list[str]:
    """What the arguments given by position are called."""
    if private.lifted(fun, args) is not None:
        own = _parameters(python_function(fun), args[2:])
        return ["mutable", "variables", "rngs", *own[1:]]
    count = len(args)
    try:
        parameters = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError, RecursionError):
        parameters = []
    names: list[str] = []
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            names.append(parameter.name)
        elif parameter.kind is parameter.VAR_POSITIONAL:
            names += [f"{parameter.name}[{i}]" for i in range(max(count - len(names), 0))]
    return [*names, *(f"argument {i}" for i in range(len(names), count))]


def _path(path: tuple[Any, ...], names: list[str], tree: Any) -> str:
    """`params['w']`: the parameter and the way inside it."""
    which, key, *rest = path
    root = str(getattr(key, "idx", getattr(key, "key", key)))
    if getattr(which, "idx", 0) == 0:
        root = names[int(root)]
    return root + tree.keystr(tuple(rest))


def _leaf(path: str, value: Any) -> tuple[Leaf, str]:
    """A leaf of the arguments and, where it is committed to one, its device."""
    sharding, device = _placed(value)
    try:
        aval: Any = private.module("jax").typeof(value)
    except Exception:  # no value that jax knows; what it raises then is its own affair
        return Leaf(path, (), one_line(type(value).__name__), False), device
    found = aval_of(aval)
    leaf = Leaf(path, (), found.short(), False) if isinstance(found, OtherAval) else Leaf.of(path, found)
    return (leaf._replace(sharding=sharding) if sharding else leaf), device


def _placed(value: Any) -> tuple[str, str]:
    if not getattr(value, "_committed", False):
        return "", ""
    try:
        devices = value.devices()
        return ("", str(next(iter(devices)))) if len(devices) == 1 else (layout_text(value.sharding), "")
    except Exception:  # deleted, or an object of another library that says it is committed
        return "", ""


def elsewhere(signature: Signature, values: Any) -> Signature:
    """The signature of a call that needs no trace, since only where its arguments lie is new; `values` are these arguments."""
    if not isinstance(values, (list, tuple)) or len(values) != len(signature.leaves):
        return signature
    placed = [_placed(value) for value in values]
    leaves = tuple(leaf._replace(sharding=sharding) for leaf, (sharding, _) in zip(signature.leaves, placed))
    return signature._replace(leaves=leaves, device=_device([device for _, device in placed]))


def _device(devices: list[str]) -> str:
    found = sorted(set(filter(None, devices)))
    if found:
        return ", ".join(found)
    default = private.module("jax").config.jax_default_device
    return str(default) if default is not None else "the default device"


_OF_JIT = (
    ("donated arguments", ("donate_argnums", "donate_argnames")),
    ("static arguments", ("static_argnums", "static_argnames")),
    ("keep_unused", ("keep_unused",)),
    ("inline", ("inline",)),
    ("backend", ("backend",)),
    ("in_shardings", ("in_shardings_leaves",)),
    ("out_shardings", ("out_shardings_leaves",)),
    ("compiler options", ("compiler_options_kvs",)),
    ("the mapped axis", ("axis_name",)),
    ("devices", ("devices",)),
)


def _options(info: Any) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, ", ".join(one_line(getattr(info, attribute, "")) for attribute in attributes))
        for name, attributes in _OF_JIT
    )


def _by_name(entered: TracedCall) -> tuple[str, str]:
    """Which static arguments are given by name: jax makes a program of its own for each way."""
    return BY_NAME, ", ".join(sorted(set(entered.info.static_argnames or ()) & set(entered.kwargs)))


_SILENT = (
    "jax_log", "jax_explain", "jax_traceback", "jax_persistent_cache", "jax_compilation_cache", "jax_enable_compilation",
)  # fmt: skip
_last: tuple[tuple[str, str], ...] = ()


def _configuration() -> tuple[tuple[str, str], ...]:
    """jax's options that programs depend on, as (name, repr); equal ones are one object."""
    global _last
    config = private.module("jax").config
    found = []
    for name in getattr(config, "values", {}):
        if not name.startswith(_SILENT) and name != "jax_enable_x64":
            try:
                read = getattr(config, "_read", None)
                found.append((name, short_repr(read(name) if read is not None else config.values[name])))
            except Exception:  # an option that needs what is not initialised yet
                continue
    if tuple(found) != _last:
        _last = tuple(found)
    return _last
