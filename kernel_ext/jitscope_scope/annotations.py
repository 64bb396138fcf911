"""The types of the documents that are made here, for annotations: widgets, where they are defined, are not loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from jitscope_widgets.documents.annotations import *
else:

    def __getattr__(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return Any
