"""LAPACK for the CPU: custom call targets `lapack_<s|d|c|z><routine>_ffi`."""

import threading
from importlib import import_module

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


def _register() -> None:
    lapack = import_module("jaxlib.lapack")

    for name, capsule, version in lapack.registrations()["cpu"]:
        xc.register_custom_call_target(name, capsule, platform="cpu", api_version=version)
    for name in lapack.batch_partitionable_targets():
        xc.register_custom_call_as_batch_partitionable(name)
    lapack._lapack.initialize()
