"""The types of documents and of what is in them, for annotations.

Annotations are texts when a program runs, so no document's file is loaded for them: type checkers and editors read the types, Python gets a
name. Who needs a type itself imports it from its file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


if TYPE_CHECKING:
    from . import AnyDocument as AnyDocument
    from .cell import *
    from .checking import *
    from .communication import *
    from .comparison import *
    from .compilation import *
    from .diagnostics import *
    from .fusion import *
    from .graph import *
    from .ledger import *
    from .machine import *
    from .memory import *
    from .nan_hunt import *
    from .parts import *
    from .passes import *
    from .profile import *
    from .reasons import *
    from .recompilations import *
    from .regions import *
    from .sharding import *
    from .source import *
    from .stopped import *
    from .target import *
    from .targets import *
    from .timing import *
    from .trace import *
    from .transformations import *
    from .tuning import *
    from .values import *
else:

    def _find(name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return Any

    globals().update(__getattr__=_find)  # a `def` of that name would be all names to type checkers
