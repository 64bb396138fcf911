"""Programs that call Python.

XLA calls one function for all of them, `answer`, with two numbers before the arrays. The number of the *run* tells whose
call it is: the context (contextvars) it goes on in, and where its exception is kept. It is an argument of the program,
the last one, and its last result; where calls have effects it passes through each of them, so that they keep their
order. The number of the *site* tells which Python function, with which shapes and dtypes.

XLA reads what a callback returns without looking: a site gives arrays that fit, or raises.
"""

import contextvars
import itertools
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .buffers import block_until_ready, put
from .errors import XlaError
from .runtime import RuntimeFailure
from .spread import Spread


TARGET = "xla_ffi_python_cpu_callback"
MARK = "run of Python callbacks"
"""What the argument is called that is the number of the run."""
NUMBER = ((), np.dtype(np.int32))
"""Shape and dtype of the numbers of runs and sites."""

_site_numbers, _run_numbers = itertools.count(1), itertools.count(1)


class Site:
    """A place where programs call Python: `call(*views)` gets read-only NumPy views that are valid during the call, and
    gives arrays of the promised shapes and dtypes, in row-major order. `threaded`: the run's number passes through it.

    Programs know a site by its `number`; whoever keeps the program keeps the site.
    """

    __slots__ = ("__weakref__", "call", "number", "threaded")

    def __init__(self, call: Callable[..., Sequence[np.ndarray]], threaded: bool):
        self.call, self.threaded = call, threaded
        self.number = next(_site_numbers)
        _sites[self.number] = self


class _Run:
    """A run of a program: the context of the caller, and the first exception."""

    __slots__ = ("context", "error", "number")

    def __init__(self):
        self.number = next(_run_numbers) % 2**31
        self.context = contextvars.copy_context()
        self.error: BaseException | None = None


_sites: WeakValueDictionary[int, Site] = WeakValueDictionary()
_runs: dict[int, _Run] = {}


class RunStop(Exception):
    """What XLA is told when a run is to end; the caller gets the exception that was the reason."""


def answer(run_number: Any, site_number: Any, *views: Any) -> tuple[Any, ...]:
    """What XLA calls."""
    run = _runs.get(int(run_number))
    if run is None or run.error is not None:
        raise RunStop("the run was given up")
    try:
        site = _sites[int(site_number)]
        # A context can be entered once at a time, and calls of one run may be nested or in several threads.
        found = run.context.copy().run(site.call, *views)
    except BaseException as error:
        if run.error is None:
            run.error = error
        raise RunStop("the callback raised") from None
    return (run_number, *found) if site.threaded else tuple(found)


class Runner:
    """Stands for `execute_sharded` of a program that calls Python.

    It returns when the program has ended, so what callbacks print belongs to the caller's cell, one program's effects are
    over before the next one's begin, and an exception of a callback is raised here as it is. Ctrl-C in the main thread ends
    the run at its next callback.
    """

    __slots__ = ("device", "handlers", "raw")

    def __init__(self, raw: Any, handlers: Sequence[Any], number_handler: Any, device: Any):
        self.raw, self.handlers, self.device = raw, [*handlers, number_handler], device

    def __call__(self, bufs: Sequence[Any]) -> "_RunResults":
        block_until_ready(list(bufs))
        run = _Run()
        number = _put_number(run.number, self.device)
        _runs[run.number] = run
        try:
            outs, failure = self._to_the_end([*bufs, number])
        finally:
            del _runs[run.number]
        error, run.error = run.error, None  # its traceback leads back to the run
        if error is None and failure is not None:
            error = KeyboardInterrupt() if _was_interrupted(failure) else failure
        if error is not None:
            raise error
        return _RunResults(outs[:-1])

    def _to_the_end(self, bufs: list[Any]) -> tuple[list[Any], RuntimeError | None]:
        """The results, or the failure."""
        try:
            outs = self.raw.execute_sharded(bufs).consume_with_handlers(self.handlers)
            _wait(outs)
        except RuntimeFailure as failure:
            return [], failure
        except XlaError as failure:
            return [], failure
        return outs, None


def _put_number(number: int, device: Any) -> Any:
    value = np.asarray(number, np.int32)
    if type(device) is not Spread:
        return put(value, device)
    from .parts import put_pieces, replicated

    return put_pieces((), value.dtype, replicated(device.group), [value] * len(device.group.local))


class _RunResults:
    """The results of a run, in the form of jaxlib's own."""

    __slots__ = ("outs",)

    def __init__(self, outs: list[Any]):
        self.outs = outs

    def consume_with_handlers(self, handlers: Any) -> list[Any]:
        return self.outs


def _wait(outs: list[Any]) -> None:
    """Until the program has ended. The main thread looks now and then instead of waiting, so that Ctrl-C reaches it."""
    if threading.current_thread() is threading.main_thread():
        start, last = time.perf_counter(), outs[-1]
        while not last.is_ready():
            time.sleep(min(0.02, max(5e-5, 0.05 * (time.perf_counter() - start))))
    block_until_ready(outs)


def _was_interrupted(failure: BaseException) -> bool:
    """Whether Ctrl-C arrived between XLA's call and the first line of `answer`."""
    return "KeyboardInterrupt" in str(failure)


def calls_python(module: str | bytes) -> bool:
    """Whether the text or bytecode of a module calls Python, or takes the number of the run."""
    found = module.encode() if isinstance(module, str) else module
    return TARGET.encode() in found or MARK.encode() in found
