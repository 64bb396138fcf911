"""XLA's foreign function interface: native functions that compiled programs call."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

from .runtime import xc


_PLATFORMS = {"cpu": "cpu", "cuda": "CUDA", "rocm": "ROCM"}


def register_target(name: str, fn: Any, platform: str = "cpu", api_version: int = 1) -> None:
    """Make a native function known to XLA under a name. `fn` is a capsule (see `capsule`), or a dict of those for the
    stages "instantiate", "prepare", "initialize", "execute". Raises RuntimeError where the name is taken by another."""
    xc.register_custom_call_target(name, fn, platform=_PLATFORMS.get(platform, platform), api_version=api_version)


def capsule(funcptr: Any) -> Any:
    """A ctypes function pointer as the capsule that `register_target` takes. Raises ValueError for a null pointer."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    address = ctypes.cast(funcptr, ctypes.c_void_p).value
    if not address:
        raise ValueError("the function pointer is null")
    return make(address, None, None)


def include_dir() -> str:
    """The folder with the C++ headers (`xla/ffi/api/ffi.h`) a native function is written with."""
    import jaxlib

    return str(Path(jaxlib.__file__).parent / "include")
