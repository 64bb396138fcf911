"""The names of a call's arguments as the user gave them, where a library takes them apart before it calls `jax.jit`.

`nnx.jit` hands on a list of arrays in place of each module, `eqx.filter_jit` one for all arguments. The arrays stay the same objects, so the
user's names are those under which the arguments of the library's own function hold them.
"""

from __future__ import annotations

import inspect
from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from jitscope.backend.function_objects import bound_to
from jitscope.backend.signature import Static, is_hashable
from jitscope.core import source
from jitscope.core.jaxpr import DebugInfo
from jitscope.core.words import root_of

from ..observe.stacks import is_installed
from ..source_code.frames import outwards
from . import private


class LibraryArguments(NamedTuple):
    """What the user calls each of the leaves that a call of `jax.jit` was given; the structure of the arguments in these names, as a tree prints
    it; the plain values in the arguments, which are static; the classes of the outermost objects in them, as (path, name)."""

    names: tuple[str, ...]
    tree: str
    attributes: tuple[Static, ...]
    classes: tuple[tuple[str, str], ...] = ()


def users_arguments(
    frame: FrameType | None, leaves: Sequence[Any], by_name: Collection[str]
) -> LibraryArguments | None:
    """What the user gave, from the frames above a listener; None where no library stands between the user and jax, or the leaves are not
    found with it. `by_name` are the arguments that jax was given by name."""
    for function, args, kwargs in _libraries(frame):
        with suppress(Exception):  # arguments that do not fit, or are no trees
            bound = inspect.signature(function).bind(*args, **kwargs).arguments
            owner = function if (method := bound_to(function)) is None else method[1]
            given = {**({} if inspect.isfunction(function) else {"self": owner}), **bound}
            known = _named(given)
            if all(id(leaf) in known for leaf in leaves):
                names = tuple(_next(known[id(leaf)]) for leaf in leaves)
                held = (one for root, value in given.items() for one in _plain(root, value, set()))
                attributes = (Static.of(*one) for one in held if one[0] not in names)
                classes = tuple(one for root, value in given.items() for one in _classes(root, value))
                return LibraryArguments(
                    names, _tree(names, by_name), tuple(islice(attributes, _MOST_ATTRIBUTES)), classes
                )
    return None


def function_inside(frame: FrameType | None) -> Any:
    """The function that a library's wrapper between the user and jax runs; None where there is none."""
    return next((function for function, _, _ in _libraries(frame)), None)


def directly(frame: FrameType | None) -> bool:
    """Whether the user's own line calls the function that jax compiles: through a library's wrapper at most, not from inside a library."""
    package = ""
    for one in outwards(frame):
        file = one.f_code.co_filename
        if not source.is_internal(file):
            if not is_installed(file):
                return True
            here = one.f_globals.get("__name__", "").partition(".")[0]
            if package not in ("", here) or function_inside(one) is None:
                return False
            package = here
    return True


def _classes(root: str, value: Any) -> Iterator[tuple[str, str]]:
    """The classes of the outermost objects in an argument: of its parts, where it is a container."""
    if isinstance(value, Mapping):
        parts = [(f"{root}[{key!r}]", part) for key, part in islice(value.items(), _MOST_PARTS)]
    elif type(value) in (tuple, list):
        parts = [(f"{root}[{i}]", part) for i, part in enumerate(islice(value, _MOST_PARTS))]
    else:
        known = private.attributes(value) or (isinstance(value, tuple) and hasattr(value, "_fields"))
        parts = [(root, type(value).__qualname__)] if known else []
        yield from parts
        return
    for path, part in parts:
        yield from _classes(path, part)


_MOST_PARTS = 100


_MOST_ATTRIBUTES = 2000


def of_lifted(module: Any, paths: Sequence[str], by_name: Collection[str]) -> LibraryArguments:
    """What the user gave a method of linen's under `nn.jit`; `paths` are the leaves of what flax gave jax."""
    names = tuple(_begun_anew(path, private.LIFTED).removesuffix(".rng") for path in paths)
    attributes = (Static.of(*one) for one in _plain("self", module, set()))
    return LibraryArguments(names, _tree(names, by_name), tuple(islice(attributes, _MOST_ATTRIBUTES)))


def _begun_anew(path: str, called: Mapping[str, str]) -> str:
    """A path with another beginning, where it has one of these."""
    return next((new + path.removeprefix(old) for old, new in called.items() if path.startswith(old)), path)


def _tree(names: Sequence[str], by_name: Collection[str]) -> str:
    given: dict[str, Any] = {}
    for name in names:
        given.setdefault(root := root_of(name), {})[name.removeprefix(root)] = 0
    parts = {root: 0 if list(inside) == [""] else inside for root, inside in given.items()}
    positional = tuple(part for root, part in parts.items() if root not in by_name)
    named = {root: part for root, part in parts.items() if root in by_name}
    return str(private.module("jax.tree_util").tree_structure((positional, named)))


def _plain(name: str, value: Any, met: set[int]) -> Iterator[tuple[str, Any]]:
    """The plain values inside of an argument, functions and dtypes, by name: in containers and in modules of the libraries."""
    if value is None or isinstance(value, (bool, int, float, complex, str, np.dtype)) or _is_function(value):
        yield name, value
        return
    if id(value) in met:
        return
    met.add(id(value))
    if isinstance(value, Mapping) and len(value) < _MOST_ATTRIBUTES:
        inside = ((f"{name}[{key!r}]", part) for key, part in value.items())
    elif isinstance(value, Sequence) and len(value) < _MOST_ATTRIBUTES:
        inside = ((f"{name}[{i}]", part) for i, part in enumerate(value))
    else:
        inside = ((f"{name}.{key}", part) for key, part in private.attributes(value).items())
    for key, part in inside:
        yield from _plain(key, part, met)


def _is_function(value: Any) -> bool:
    return callable(value) and isinstance(getattr(value, "__qualname__", None), str) and is_hashable(value)


def renamed(debug: DebugInfo, names: Sequence[str]) -> DebugInfo:
    """A program's names with these for its arguments, where there is one for each."""
    return debug._replace(arg_names=tuple(names)) if len(names) == len(debug.arg_names) else debug


def of_lowered(
    traced: DebugInfo, arguments: Sequence[str], own: str, returned: Mapping[str, Mapping[str, str] | str]
) -> Callable[[DebugInfo], DebugInfo]:
    """What gives a program, lowered from a traced one without the arguments that nothing needs, the user's names: for the arguments, for
    what `own` leads to in the results, which is what the user's function gave, and for what the arguments hold after the call: `returned`
    has, by the beginning of their names, those of an argument's arrays, or of the argument. The others are the library's."""
    called = dict(zip(traced.arg_names, renamed(traced, arguments).arg_names))
    results = {own: "result"}
    for part, held in returned.items():
        back = {name for name in traced.result_names if _begins(name, part)}
        if isinstance(held, str):
            results[part] = f"new {held}"
        elif back == held.keys():  # else one came or went, and their numbers say nothing
            results |= {name: f"new {one}" for name, one in held.items()}

    def result(name: str) -> str:
        found = next((part for part in results if _begins(name, part)), None)
        return f"jit's {name}" if found is None else results[found] + name.removeprefix(found)

    def given(debug: DebugInfo) -> DebugInfo:
        return debug._replace(
            arg_names=tuple(called.get(name, name) for name in debug.arg_names),
            result_names=tuple(map(result, debug.result_names)),
        )

    return given


def _begins(path: str, part: str) -> bool:
    return path == part or path.startswith((f"{part}[", f"{part}."))


def _next(paths: deque[str]) -> str:
    """The first of the names of an object; where it was given several times, each name once."""
    return paths.popleft() if len(paths) > 1 else paths[0]


def _libraries(frame: FrameType | None) -> Iterator[tuple[Any, tuple[Any, ...], dict[str, Any]]]:
    """Functions of a library between the user's code and jax, innermost first: what is called, the arguments."""
    for here in islice(outwards(frame), _MOST_FRAMES):
        code = here.f_code
        if source.is_internal(code.co_filename):
            continue
        if not is_installed(code.co_filename):
            return
        if not {"args", "kwargs"} <= {*code.co_varnames, *code.co_cellvars}:
            continue
        found = here.f_locals
        called, args, kwargs = found[code.co_varnames[0]], found["args"], found["kwargs"]
        if hasattr(called, "__wrapped__") and isinstance(args, tuple) and isinstance(kwargs, dict):
            yield called.__wrapped__, args, kwargs


_MOST_FRAMES = 64


def _named(given: Mapping[str, Any]) -> dict[int, deque[str]]:
    """The names of the leaves in arguments, by identity."""
    tree, variable = private.module("jax.tree_util"), private.variables()
    found: defaultdict[int, deque[str]] = defaultdict(deque)
    for root, value in given.items():
        for path, leaf in tree.tree_flatten_with_path(value, is_leaf=lambda x: isinstance(x, variable))[0]:
            for inside, part in tree.tree_flatten_with_path(leaf)[0]:  # of a variable, the name without its `.value`
                found[id(part)].append(root + tree.keystr((*path, *inside[1:])))
    return found
