"""What is to be written to disk waits here for a thread of its own, so that no call waits for it."""

from __future__ import annotations

import atexit
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from ...xla.forks import run_in_children


Job = Callable[[], None]
_IDLE = 2.0
_AT_EXIT = 5.0
_MOST = 1024


class Writer:
    """Does jobs one after the other in a thread, which ends when there has been nothing to do for a while."""

    def __init__(self) -> None:
        self._left: deque[Job] = deque()
        self.renew()

    def renew(self) -> None:
        """Begin anew, in a forked child: the thread was not copied, and what waits is the parent's to do. It is not let go
        of, since programs of the parent cannot be taken down here."""
        self._left.extend(getattr(self, "_waiting", ()))
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._working = self._running = self._closed = False

    def submit(self, job: Job) -> None:
        """Do `job()` soon; what it raises goes no further. When too much waits, or the process ends, it is dropped."""
        with self._changed:
            if self._closed or len(self._waiting) >= _MOST:
                return
            self._waiting.append(job)
            if self._running:
                self._changed.notify_all()
                return
            try:
                threading.Thread(target=self._run, name="jitscope writes", daemon=True).start()
                self._running = True
            except RuntimeError:  # no thread can be started any more
                self._waiting.clear()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._working = False
                self._changed.notify_all()
                if not self._waiting and not self._closed:
                    self._changed.wait(_IDLE)
                if not self._waiting:
                    self._running = False
                    return
                job = self._waiting.popleft()
                self._working = True
            with suppress(Exception):  # what cannot be written stops no program
                job()
            del job  # it holds a program

    def flush(self, seconds: float | None = None) -> bool:
        """Wait until all jobs are done; False if they are not after so many seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._working, seconds)

    def close(self) -> None:
        """At the end of the process: what waits has a moment to be done, the rest is dropped. The job at work is waited
        for: a thread that comes back from XLA while Python is taken down would crash the process."""
        with suppress(KeyboardInterrupt):
            self.flush(_AT_EXIT)
        with self._changed:
            self._waiting.clear()
            self._closed = True
            self._changed.notify_all()
        with suppress(KeyboardInterrupt):
            self.flush(_AT_EXIT)


writer = Writer()
atexit.register(writer.close)
run_in_children(writer.renew)
