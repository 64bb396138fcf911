"""Pages of the API: one for each public module, with a section for each file its functions come from.

What all functions of a file have in common stands in the file's own docstring, so that begins the section.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from docstrings import as_rst, escaped


# The groups of the index, and the modules in them.
MODULES = {
    "Transformations and compilation": ("jitscope", "jitscope.stages", "jitscope.custom_batching", "jitscope.checkify", "jitscope.export"),
    "Arrays": ("jitscope.numpy", "jitscope.numpy.linalg", "jitscope.numpy.fft", "jitscope.lax", "jitscope.lax.linalg"),
    "Random numbers, networks, optimizers": (
        "jitscope.random", "jitscope.nn", "jitscope.nn.initializers", "jitscope.optimizers", "jitscope.image",
    ),
    "SciPy": (
        "jitscope.scipy.special", "jitscope.scipy.linalg", "jitscope.scipy.stats", "jitscope.scipy.signal", "jitscope.scipy.fft",
        "jitscope.scipy.ndimage", "jitscope.scipy.interpolate", "jitscope.scipy.integrate", "jitscope.scipy.optimize",
    ),
    "Trees and values": ("jitscope.tree", "jitscope.tree_util", "jitscope.ref", "jitscope.sharding", "jitscope.dtypes", "jitscope.errors"),
    "Looking inside": ("jitscope_scope.observe", "jitscope_scope.advise", "jitscope.debug", "jitscope.profiler", "jitscope.monitoring"),
    "Extending": ("jitscope.extend", "jitscope.ffi"),
}  # fmt: skip


# Of the module jitscope: what is read first. Other files follow in the order of their names.
FIRST = (
    "api.jit", "api.gradients", "api.vmap", "api.linear_maps", "api.jacobians", "api.linear_transpose", "api.checkpoint",
    "control.custom_jvp", "control.custom_vjp", "control.closures", "api.abstract_tracing", "api.arrays", "api.devices", "control.refs",
    "core.config", "api.callbacks", "api.scopes",
)  # fmt: skip


WITH_SUBMODULES = ("jitscope.scipy.stats",)


def write(folder: Path, only: Sequence[str] | None = None) -> None:
    """Write the index and the pages into `folder`; with `only`, the pages of these modules."""
    folder.mkdir(parents=True)
    shown: dict[type, str] = {}
    index = [
        "API",
        "===",
        "",
        "Names and semantics are JAX's. Each page lists a module; :ref:`genindex` lists all names.",
        "",
    ]
    for group, names in MODULES.items():
        chosen = [name for name in names if only is None or name in only]
        if chosen:
            index += [
                group,
                "-" * len(group),
                "",
                ".. toctree::",
                "   :titlesonly:",
                "",
                *(f"   {name}" for name in chosen),
                "",
            ]
        for name in chosen:
            (folder / f"{name}.rst").write_text("\n".join(page(name, shown)) + "\n", encoding="utf-8")
    (folder / "index.rst").write_text("\n".join(index), encoding="utf-8")


def page(name: str, shown: dict[type, str]) -> list[str]:
    """The page of a module; `shown` are the classes that have a place, and where."""
    module = importlib.import_module(name)
    lines = [name, "=" * len(name), "", f".. py:module:: {name}", "", *as_rst(inspect.getdoc(module) or "", module), ""]
    found = public(module)
    for origin, names in by_origin(module, found).items():
        lines += _heading(origin, name)
        for one in names:
            lines += _entry(f"{name}.{one}", getattr(module, one), shown)
    for inner in submodules(module, found):
        lines += _heading(inner.__name__, name, inner.__name__.rpartition(".")[2])
        for one in public(inner):
            lines += _entry(f"{inner.__name__}.{one}", getattr(inner, one), shown)
    primitives = [one for one in names_of(module) if one.endswith("_p") and one not in found]
    if primitives:
        listed = ", ".join(f"``{one}``" for one in primitives)
        lines += ["Primitives", "-" * 10, "", "Operations as objects, whose methods are their rules:", "", listed, ""]
    return lines


def names_of(module: ModuleType) -> list[str]:
    return [one for one in getattr(module, "__all__", dir(module)) if not one.startswith("_")]


def public(module: ModuleType) -> list[str]:
    """The functions and classes that a module gives to its users: what it lists, or what it does not merely use itself."""
    names = [one for one in names_of(module) if not one.endswith("_p") and _is_entry(getattr(module, one))]
    if hasattr(module, "__all__"):
        return names
    return [one for one in names if not _USED.search(getattr(module, one).__module__)]


def _is_entry(value: Any) -> bool:
    origin = getattr(value, "__module__", None) or ""
    return callable(value) and origin.startswith(("jitscope", "jaxlib")) and bool(inspect.getdoc(value))


_USED = re.compile(r"\._|^jitscope\.(core\.(avals|records)|eager|numpy\.structure)\b")
_RANKS = {f"jitscope.{name}": rank for rank, name in enumerate(FIRST)}
_TITLE = re.compile(r"(.+?)(?:[:;.](?:\s+|$)|$)(.*)", re.DOTALL)


def by_origin(module: ModuleType, names: list[str]) -> dict[str, list[str]]:
    """The names by the file that defines them, files in the order of their first name; of jitscope itself, as in FIRST."""
    found: dict[str, list[str]] = {}
    for one in names:
        found.setdefault(getattr(module, one).__module__, []).append(one)
    return (
        found
        if module.__name__ != "jitscope"
        else dict(sorted(found.items(), key=lambda item: _RANKS.get(item[0], len(FIRST))))
    )


def submodules(module: ModuleType, found: list[str]) -> list[ModuleType]:
    """The modules in a module that have no page of their own and from which it takes nothing itself: SciPy's distributions."""
    if module.__name__ not in WITH_SUBMODULES:
        return []
    values = [getattr(module, one) for one in names_of(module)]
    taken = set(by_origin(module, found))
    return [one for one in values if isinstance(one, ModuleType) and one.__name__ not in taken]


def _heading(origin: str, shown_on: str, title: str = "") -> list[str]:
    """The title of a section, and what its file says of all its functions."""
    if origin == shown_on:
        return []
    said = (inspect.getdoc(importlib.import_module(origin)) or "") if origin.startswith("jitscope") else "Of jaxlib"
    first, rest = _TITLE.fullmatch(said or origin).groups()
    if title:
        rest = said
    title = escaped(title or " ".join(first.replace("`", "").split()))
    return [title, "-" * (len(title) + 2), "", *as_rst(rest[:1].upper() + rest[1:], None), ""]


def _entry(path: str, value: Any, shown: dict[type, str]) -> list[str]:
    if not inspect.isclass(value):
        return [f".. autofunction:: {path}", ""]
    if value in shown:
        return [f"``{path}`` is :py:class:`{shown[value]}`.", ""]
    shown[value] = path
    fields = hasattr(value, "_fields")  # of a named tuple: the signature has them
    members = ["   :members:"] if value.__module__.startswith("jitscope") and not fields else []
    return [f".. autoclass:: {path}", *members, ""]
