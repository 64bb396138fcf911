"""The views: one file a kind of document, with the function `view` from a document to the parts of `jitscope_widgets.view`, one after the other, and
what such a view is called (`NAME`).

A file is found by the name of its kind (`memory.py` for "memory", `nan_hunt.py` for "nan-hunt"), so a new one needs no entry anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from ..documents import file_name
from ..view.parts import View


Document = Mapping[str, Any]


def has_view(kind: object) -> bool:
    """Whether documents of a kind are shown as parts."""
    return isinstance(kind, str) and known(kind) is not None


def view_of(document: Document) -> View:
    """The parts of a document. Raises LookupError for a kind without a view, and what the view raises."""
    module = known(document["kind"])
    if module is None:
        raise LookupError(f"there is no view of documents of kind {document['kind']!r}")
    return tuple(module.view(document))


def name_of(kind: str) -> str:
    """What the view of a kind is called: `Memory`. Raises LookupError for a kind without a view."""
    module = known(kind)
    if module is None:
        raise LookupError(f"there is no view of documents of kind {kind!r}")
    return module.NAME


@cache
def known(kind: str) -> ModuleType | None:
    """The file of a kind; None where it has none."""
    name = f"{__name__}.{file_name(kind)}"
    if not kind.replace("-", "").isidentifier() or find_spec(name) is None:
        return None
    return import_module(name)
