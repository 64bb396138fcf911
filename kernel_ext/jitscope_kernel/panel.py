"""The side panel's end in the kernel: a comm on which the session's list of compilations goes to JupyterLab.

Whoever opens first, a page that connects or the kernel that loads the extension, is answered with the list; then it is sent
after each change, at most a few times a second, also while a long cell runs.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any


TARGET = "jitscope"
_PAUSE = 0.3  # seconds between two sendings while a cell runs, at least
_SHARE = 0.05  # of the time, that sending may take


class Panel:
    """`document` makes the ledger document."""

    def __init__(self, document: Callable[[], dict[str, Any]]) -> None:
        self._document = document
        self._comms: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._sending = threading.Lock()
        self._timer: threading.Timer | None = None
        self._changed = False
        self._closed = False
        self._spent = 0.0  # seconds, for the last sending

    def open(self) -> None:
        """Make the target known, and open a comm to the pages that are there now."""
        import comm

        comm.get_comm_manager().register_target(TARGET, self._opened)
        self._keep(comm.create_comm(target_name=TARGET, data=self._message()))

    def close(self) -> None:
        import comm

        with self._lock:
            self._closed = True
            comms, self._comms = self._comms, {}
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        targets = comm.get_comm_manager().targets
        if getattr(targets.get(TARGET), "__self__", None) is self:
            comm.get_comm_manager().unregister_target(TARGET, self._opened)
        for one in comms.values():
            with contextlib.suppress(Exception):
                one.close()

    def changed(self) -> None:
        """The ledger has something new. Returns at once; may be called from any thread."""
        with self._lock:
            self._changed = True
            if self._timer is None and self._comms and not self._closed:
                self._timer = threading.Timer(max(_PAUSE, self._spent / _SHARE), self._after_pause)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Send now what is still to be sent."""
        with self._lock:
            changed, self._changed = self._changed, False
            comms = list(self._comms.values()) if changed else []
        if comms:
            with self._sending:
                start = time.perf_counter()
                message = self._message()
                for one in comms:
                    self._send(one, message)
                self._spent = time.perf_counter() - start

    def _after_pause(self) -> None:
        with self._lock:
            self._timer = None
        with contextlib.suppress(Exception):
            self.flush()

    def _opened(self, opened: Any, _message: Any) -> None:
        self._keep(opened)
        self._send(opened, self._message())

    def _keep(self, one: Any) -> None:
        identity = one.comm_id
        one.on_close(lambda _message: self._forget(identity))
        one.on_msg(lambda message: self._asked(one, message))
        with self._lock:
            self._comms[identity] = one

    def _forget(self, identity: str) -> None:
        with self._lock:
            self._comms.pop(identity, None)

    def _asked(self, one: Any, message: Any) -> None:
        if message.get("content", {}).get("data", {}).get("type") == "ledger?":
            self._send(one, self._message())

    def _message(self) -> dict[str, Any]:
        return {"type": "ledger", "document": self._document()}

    def _send(self, one: Any, message: dict[str, Any]) -> None:
        with contextlib.suppress(Exception):  # a page that is gone is no error of the user's cell
            one.send(message)
