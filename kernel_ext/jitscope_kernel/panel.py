"""The extension's end in the kernel of what JupyterLab shows beside a notebook: a comm on which the session's list of
compilations and its sharp bits go to the page, and the cells as they stand in the editor come from it.

Whoever opens first, a page that connects or the kernel that loads the extension, is answered with both; then each is sent
after changes, at most a few times a second: the list also while a long cell runs, the sharp bits between cells. Neither takes more than
a twentieth of the time.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

from IPython.core.getipython import get_ipython

from jitscope_scope.advise.code.ipython import python_of
from jitscope_widgets.documents.annotations import LedgerDocument
from jitscope_widgets.view_data import with_views

from .sharp_bits import SharpBits


TARGET = "jitscope"
_PAUSE = 0.3  # seconds between two sendings while a cell runs, at least
_SHARE = 0.05  # of the time, that sending may take

Message = dict[str, Any]


class Page:
    """One comm, and the cells that its page has, as (id, text), once it has told them."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.cells: list[tuple[str, str]] | None = None

    def send(self, message: Message) -> None:
        with contextlib.suppress(Exception):  # a page that is gone is no error of the user's cell
            self.comm.send(message)


class DelayedSender:
    """Calls `send` some time after it was wanted, in a thread of its own or where `hand` takes it, so that it takes a small share of the
    time."""

    def __init__(
        self, send: Callable[[], None], hand: Callable[[Callable[[], None]], Any] = lambda work: work()
    ) -> None:
        self._send, self._hand = send, hand
        self._lock, self._busy = threading.Lock(), threading.Lock()
        self._timer: threading.Timer | None = None
        self._wanted = self._closed = False
        self.spent = 0.0  # seconds, for the last sending

    def want(self) -> None:
        """Returns at once; may be called from any thread."""
        with self._lock:
            self._wanted = True
            if self._timer is None and not self._closed:
                self._timer = threading.Timer(max(_PAUSE, self.spent / _SHARE), self._after_pause)
                self._timer.daemon = True
                self._timer.start()

    def flush(self) -> None:
        """Send now what is still to be sent."""
        with self._lock:
            wanted, self._wanted = self._wanted and not self._closed, False
        if wanted:
            with self._busy:
                start = time.perf_counter()
                self._send()
                self.spent = time.perf_counter() - start

    def close(self) -> None:
        with self._lock:
            self._closed = True
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def _after_pause(self) -> None:
        with self._lock:
            self._timer = None
        with contextlib.suppress(Exception):
            self._hand(self._flush_quietly)

    def _flush_quietly(self) -> None:
        with contextlib.suppress(Exception):
            self.flush()


def between_cells(work: Callable[[], None]) -> None:
    """Have the kernel's main thread do some work when no cell runs: while one thread of CPython parses, another must not, or IPython's
    own parsing of what an error's traceback shows may fail."""
    loop = getattr(getattr(get_ipython(), "kernel", None), "io_loop", None)
    if loop is not None:
        loop.add_callback(work)


class Panel:
    """`document` makes the ledger document; `ignore` is called with an id that nobody wants to hear of."""

    def __init__(
        self, document: Callable[[], LedgerDocument], sharp_bits: SharpBits, ignore: Callable[[str], None]
    ) -> None:
        self._document, self._sharp_bits, self._ignore = document, sharp_bits, ignore
        self._pages: dict[str, Page] = {}
        self._lock = threading.Lock()
        self._ledger = DelayedSender(self._send_ledger)
        self._looks = DelayedSender(self._send_looks, between_cells)

    def open(self) -> None:
        """Make the target known, and open a comm to the pages that are there now."""
        import comm

        comm.get_comm_manager().register_target(TARGET, self._opened)
        self._keep(comm.create_comm(target_name=TARGET, data=self._message()))

    def close(self) -> None:
        import comm

        self._ledger.close()
        self._looks.close()
        with self._lock:
            pages, self._pages = self._pages, {}
        targets = comm.get_comm_manager().targets
        if getattr(targets.get(TARGET), "__self__", None) is self:
            comm.get_comm_manager().unregister_target(TARGET, self._opened)
        for page in pages.values():
            with contextlib.suppress(Exception):
                page.comm.close()

    def changed(self) -> None:
        """The ledger has something new. Returns at once; may be called from any thread."""
        if self._pages:
            self._ledger.want()

    def ran(self, id: str | None, text: str) -> None:
        """A cell runs now: its text is what the pages have."""
        for page in self._every():
            if page.cells is not None:
                page.cells = [(known, text if known == id else before) for known, before in page.cells]

    def look(self) -> None:
        """A cell ran, or what is ignored changed: look for sharp bits again. Returns at once."""
        if self._pages:
            self._looks.want()

    def flush(self) -> None:
        """Send now what is still to be sent of the ledger."""
        self._ledger.flush()

    # --- pages --------------------------------------------------------------------------------------------------------

    def _opened(self, opened: Any, _message: Any) -> None:
        page = self._keep(opened)
        page.send(self._message())
        page.send(self._diagnostics(page))

    def _keep(self, one: Any) -> Page:
        identity, page = one.comm_id, Page(one)
        one.on_close(lambda _message: self._forget(identity))
        one.on_msg(lambda message: self._asked(page, message))
        with self._lock:
            self._pages[identity] = page
        return page

    def _forget(self, identity: str) -> None:
        with self._lock:
            self._pages.pop(identity, None)

    def _asked(self, page: Page, message: Any) -> None:
        match message.get("content", {}).get("data", {}):
            case {"type": "ledger?"}:
                page.send(self._message())
            case {"type": "look", "cells": [*cells]}:
                page.cells = [(str(cell["id"]), str(cell["text"])) for cell in cells]
                page.send(self._diagnostics(page))
            case {"type": "ignore", "id": str() as id}:
                self._ignore(id)

    # --- messages -----------------------------------------------------------------------------------------------------

    def _send_ledger(self) -> None:
        message = self._message()
        for page in self._every():
            page.send(message)

    def _send_looks(self) -> None:
        for page in self._every():
            page.send(self._diagnostics(page))

    def _every(self) -> list[Page]:
        with self._lock:
            return list(self._pages.values())

    def _message(self) -> Message:
        return {"type": "ledger", "document": with_views(self._document())}

    def _diagnostics(self, page: Page) -> Message:
        """The sharp bits of a page's cells, with their view. `cells` are those that were looked at: not those that are no Python as they stand.
        `seconds` is what the look took, for the page to ask less often where it is long."""
        start = time.perf_counter()
        cells = None if page.cells is None else self._sharp_bits.written(page.cells)
        read = None if cells is None else [cell.id for cell in cells if python_of(cell.text)]
        document = with_views(self._sharp_bits.document(cells))
        return {"type": "diagnostics", "document": document, "cells": read, "seconds": time.perf_counter() - start}
