"""`jitscope.debug`: printing values of running programs, handing them to Python functions, and stopping there."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from .api.debugging import *


if _TYPE_CHECKING:
    from .api.breakpoint import *
    from .api.layouts import *

_LATE = {
    "breakpoint": "breakpoint",
    "register_debugger": "breakpoint",
    "inspect_array_sharding": "layouts",
    "visualize_array_sharding": "layouts",
    "visualize_sharding": "layouts",
}


def __getattr__(name: str) -> _Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_importlib.import_module(f".api.{_LATE[name]}", __package__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATE})
