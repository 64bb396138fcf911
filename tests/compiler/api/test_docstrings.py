"""Docstrings: their examples give what they say; what the API pages show has one, which names the errors that are raised."""

from __future__ import annotations

import ast
import builtins
import doctest
import importlib
import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import api, control, lax, special


def test_examples_in_docstrings_run() -> None:
    names = {"jx": jx, "jnp": jnp, "lax": lax}
    with_examples = set()
    for room in (api, control, lax, special):
        for info in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            for test in doctest.DocTestFinder().find(importlib.import_module(info.name), globs=names):
                if test.examples:
                    said: list[str] = []
                    failed = doctest.DocTestRunner(verbose=False).run(test, out=said.append).failed
                    assert not failed, "".join(said)
                    with_examples.add(test.name.rpartition(".")[2])
    assert {"jit", "grad", "vmap", "vjp", "jvp", "make_jaxpr", "scan", "cond", "while_loop"} <= with_examples


SITE = Path(__file__).parents[3] / "docs" / "site"
BESIDE_THE_PAGES = (
    "jitscope.api_util", "jitscope.custom_derivatives", "jitscope.distributed", "jitscope.experimental.hijax",
    "jitscope.experimental.layout", "jitscope.experimental.sparse", "jitscope.extend.core", "jitscope.interpreters.ad", "jitscope.ir",
    "jitscope.test_util", "jitscope.testing", "jitscope.typing", "jitscope_kernel", "jitscope_widgets",
)  # fmt: skip


@pytest.fixture(scope="module")
def shown() -> dict[int, tuple[str, Any]]:
    """The functions and classes of the API pages, and of public modules that have no page, with their names."""
    sys.path.insert(0, str(SITE))
    try:
        pages = importlib.import_module("api")
    finally:
        sys.path.remove(str(SITE))
    names = [*(name for group in pages.MODULES.values() for name in group), *BESIDE_THE_PAGES]
    found = {}
    for module in map(importlib.import_module, names):
        for name in pages.public(module):
            value = getattr(module, name)
            found.setdefault(id(value), (f"{module.__name__}.{name}", value))
    return found


def test_public_methods_and_properties_have_docstrings(shown: dict[int, tuple[str, Any]]) -> None:
    checked = [(name, member) for name, _, member in _members(shown)]
    assert len(checked) > 300
    bare = [name for name, member in checked if not inspect.getdoc(member)]
    assert not bare, "\n".join(bare)


def test_docstrings_name_the_errors_that_are_raised(shown: dict[int, tuple[str, Any]]) -> None:
    every = [(path, value, _function(value)) for path, value in shown.values() if not inspect.isclass(value)]
    every += [(name, member, function) for name, function, member in _members(shown)]
    every += [
        (path, value, _function(vars(value)[making]))
        for path, value in shown.values()
        if inspect.isclass(value)
        for making in ("__init__", "__new__")
        if making in vars(value)
    ]
    silent = {
        f"{path}: {name}"
        for path, value, function in every
        for name, error in _raised(function).items()
        if not any(said in (inspect.getdoc(value) or "") for said in (name, *(e.__name__ for e in error.__mro__[:-3])))
    }
    assert not silent, "\n".join(sorted(silent))


def _members(shown: dict[int, tuple[str, Any]]) -> Iterator[tuple[str, Callable[..., Any], Any]]:
    """What public classes define by name: where, the function, and the attribute."""
    for path, value in shown.values():
        if inspect.isclass(value):
            for name, member in inspect.getmembers_static(value):
                function = _function(member)
                if (name[0] != "_" or name == "__call__") and _is_ours(function) and function.__name__ != "<lambda>":
                    yield f"{path}.{name}", function, member if isinstance(member, property) else getattr(value, name)


def _function(value: Any) -> Any:
    if isinstance(value, (property, cached_property)):
        return value.fget if isinstance(value, property) else value.func
    return inspect.unwrap(getattr(value, "__func__", value))


def _is_ours(function: Any) -> bool:
    return inspect.isfunction(function) and function.__module__.startswith("jitscope")


def _raised(function: Any) -> dict[str, type[Exception]]:
    """The errors that the function's own lines raise, as far as they name a class, by that name."""
    if not _is_ours(function) or function.__code__.co_filename.startswith("<"):
        return {}  # jaxlib's, or a method that the standard library wrote
    lines = textwrap.dedent(inspect.getsource(function))
    names = [
        ast.unparse(node.exc.func if isinstance(node.exc, ast.Call) else node.exc)
        for node in ast.walk(ast.parse(lines))
        if isinstance(node, ast.Raise) and node.exc is not None
    ]
    known = {**vars(builtins), **function.__globals__}
    found = {name: known.get(name) for name in names}
    return {name: error for name, error in found.items() if inspect.isclass(error) and issubclass(error, Exception)}
