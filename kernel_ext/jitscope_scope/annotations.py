"""The types of the documents that are made here, for annotations: widgets, where they are defined, are not loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from jitscope_widgets.documents.annotations import *
else:

    def _find(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return Any

    globals().update(__getattr__=_find)  # a `def` of that name would be all names to type checkers
