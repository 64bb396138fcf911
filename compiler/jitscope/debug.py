"""`jitscope.debug`: printing values of running programs, handing them to Python functions, and stopping there."""

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from .api.debugging import callback as callback, log as log, print as print


if _TYPE_CHECKING:
    from .api.breakpoint import breakpoint as breakpoint, register_debugger as register_debugger
    from .api.layouts import (
        inspect_array_sharding as inspect_array_sharding,
        visualize_array_sharding as visualize_array_sharding,
        visualize_sharding as visualize_sharding,
    )

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
