"""LAPACK for the CPU: custom call targets `lapack_<s|d|c|z><routine>_ffi`."""

import threading
from importlib import import_module

from . import versions
from .runtime import xc


_lock = threading.Lock()
_done = False


def register() -> None:
    """Make the targets known to XLA; call before compiling a program that uses one. Needs scipy. Repeatable, cheap.

    Raises ImportError without scipy.
    """
    global _done
    if _done:
        return
    with _lock:
        if not _done:
            _register()
            _done = True


_names: set[str] = set()


def require(target: str) -> None:
    """Raises NotImplementedError for a target that this jaxlib lacks."""
    register()
    if target not in _names:
        raise versions.lacking(target, "0.10")


def _register() -> None:
    lapack = import_module("jaxlib.lapack")

    for name, capsule, version in lapack.registrations()["cpu"]:
        _names.add(name)
        xc.register_custom_call_target(name, capsule, platform="cpu", api_version=version)
    lapack._lapack.initialize()
