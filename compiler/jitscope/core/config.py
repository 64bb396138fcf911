"""Options of the compiler: few, each settable by name, by environment variable and by context manager.

`settings()` gives the options in force as an interned, immutable `Settings`, so that identity can stand in a cache key.
"""

import dataclasses
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any


@dataclasses.dataclass(frozen=True, eq=False)
class Settings:
    """The options in force. Interned: equal options are one object.

    `enable_x64`: 64-bit dtypes are kept; otherwise they become their 32-bit counterparts.
    `disable_jit`: `jit` calls the Python function, operation by operation.
    `numpy_dtype_promotion`: "standard" or "strict" (mixed dtypes raise).
    `default_device`: where arrays are made; None is the first device.
    """

    enable_x64: bool = False
    disable_jit: bool = False
    numpy_dtype_promotion: str = "standard"
    default_device: Any = None


_NAMES = tuple(field.name for field in dataclasses.fields(Settings))
_interned: dict[tuple, Settings] = {}


def _intern(value: Settings) -> Settings:
    key = tuple(getattr(value, name) for name in _NAMES)
    return _interned.setdefault(key, value)


def _flag(text: str) -> bool:
    return text.strip().lower() in ("1", "true", "yes", "on")


def _from_environment() -> Settings:
    values: dict[str, Any] = {}
    for field in dataclasses.fields(Settings):
        text = os.environ.get(f"JITSCOPE_{field.name.upper()}")
        if text is not None and field.name != "default_device":
            values[field.name] = _flag(text) if field.type is bool or field.type == "bool" else text
    return _intern(Settings(**values))


_default: Settings = _from_environment()
_override: ContextVar[dict[str, Any] | None] = ContextVar("jitscope_settings", default=None)


def settings() -> Settings:
    """The options in force in this thread or task."""
    override = _override.get()
    if override is None:
        return _default
    return _intern(dataclasses.replace(_default, **override))


def _check(name: str, value: Any) -> tuple[str, Any]:
    name = name.removeprefix("jax_")
    if name not in _NAMES:
        raise AttributeError(f"no option is called {name!r}; there are {', '.join(sorted(_NAMES))}")
    if name == "numpy_dtype_promotion" and value not in ("standard", "strict"):
        raise ValueError(f"numpy_dtype_promotion is 'standard' or 'strict', not {value!r}")
    return name, value


@contextmanager
def override(**values: Any) -> Iterator[None]:
    """Set options inside a `with` block, for this thread or task alone.

    Raises AttributeError for an unknown option, ValueError for an unknown value.
    """
    checked = dict(_check(name, value) for name, value in values.items())
    token = _override.set({**(_override.get() or {}), **checked})
    try:
        yield
    finally:
        _override.reset(token)


class Config:
    """`jitscope.config`: options by attribute, `update` to set one for the whole process."""

    def update(self, name: str, value: Any) -> None:
        """Set option `name` (JAX's spelling `jax_enable_x64` works too). Raises AttributeError for an unknown one."""
        global _default
        name, value = _check(name, value)
        _default = _intern(dataclasses.replace(_default, **{name: value}))

    def __getattr__(self, name: str) -> Any:
        name, _ = _check(name, "standard")
        return getattr(settings(), name)

    def __repr__(self) -> str:
        return f"Config({settings()})"


config = Config()


def enable_x64(new_value: bool = True):
    """Context manager: 64-bit dtypes on (or off) inside the block."""
    return override(enable_x64=bool(new_value))


def disable_jit(disable: bool = True):
    """Context manager: `jit` calls the Python function itself inside the block."""
    return override(disable_jit=bool(disable))


def default_device(device: Any):
    """Context manager: arrays made inside the block live on `device`."""
    return override(default_device=device)
