"""Python's count of calls within calls, which jaxlib gets wrong.

Its walk through a tree adds one for each level, and takes nothing back where the walk ends with an error. A few errors later
Python would refuse every call. `mend` takes back what is too much.
"""

import ctypes
import sys
import threading


_enter = ctypes.pythonapi.Py_EnterRecursiveCall
_enter.argtypes = (ctypes.c_char_p,)
leave = ctypes.pythonapi.Py_LeaveRecursiveCall
leave.restype = None
_MOST = 50_000


def mend() -> None:
    """Set this thread's count to what its frames make it; those of C do not count, so it may be a little low."""
    fresh: list[int] = []
    thread = threading.Thread(target=lambda: fresh.append(_left() + _frames()))
    thread.start()
    thread.join()
    if fresh and (now := _left()) < _MOST:
        more = fresh[0] - _frames() - now
        for _ in range(abs(more)):
            leave() if more > 0 else _enter(b"")


def _left() -> int:
    """How many more calls there may be."""
    count = 0
    try:
        while count < _MOST:
            _enter(b"")
            count += 1
    except (RecursionError, ctypes.ArgumentError):
        pass
    for _ in range(count):
        leave()
    return count


def _frames() -> int:
    """The calls of Python under way, where they count as those of C do."""
    if sys.version_info >= (3, 12):
        return 0
    count, frame = 0, sys._getframe()
    while frame is not None:
        count, frame = count + 1, frame.f_back
    return count
