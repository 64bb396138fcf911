"""Fixtures of the kernel extension's tests.

shell     an IPython shell in this process with the extension loaded; `shell.cell(text)` runs a cell
kernel    a real Jupyter kernel, shared by a module; `kernel.cell(text)` runs a cell
"""

import atexit
import os
import queue
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

import jitscope
from jitscope_scope import observe
from jitscope_widgets.envelope import unpack


HTML = "text/html"
PLAIN = "text/plain"
WIDGET = "application/vnd.jupyter.widget-view+json"
CARRIER = 'data-jitscope-document="'
TIMEOUT = 60


@dataclass
class Ran:
    """What a cell left behind. `shown` are the bundles of displays, `result` that of `Out[n]`."""

    stdout: str = ""
    stderr: str = ""
    shown: list[dict[str, Any]] = field(default_factory=list)
    result: Any = None
    error: str = ""
    exception: BaseException | None = None
    traceback: str = ""
    count: int = 0
    order: list[str] = field(default_factory=list)

    @property
    def documents(self) -> list[dict[str, Any]]:
        """The documents of the views that were shown."""
        carried = [bundle[HTML] for bundle in self.shown if CARRIER in bundle.get(HTML, "")]
        return [unpack(html.partition(CARRIER)[2].partition('"')[0]) for html in carried]

    @property
    def document(self) -> dict[str, Any]:
        """The one document that was shown."""
        (document,) = self.documents
        return document

    @property
    def texts(self) -> list[str]:
        """The text of everything that was shown."""
        return [bundle[PLAIN] for bundle in self.shown]

    @property
    def functions(self) -> list[str]:
        """What the one document says was compiled."""
        return [compilation["function"] for compilation in self.document["compilations"]]


# --- in this process --------------------------------------------------------------------------------------------------


class Shell:
    def __init__(self, shell: InteractiveShell) -> None:
        self.ip = shell

    def cell(self, text: str, **options: Any) -> Ran:
        """Run a cell as the user does."""
        count = self.ip.execution_count
        with capture_output() as captured:
            result = self.ip.run_cell(text, store_history=True, **options)
        error = result.error_before_exec or result.error_in_exec
        shown = [out.data for out in captured.outputs]
        return Ran(
            stdout=captured.stdout,
            stderr=captured.stderr,
            shown=shown,
            result=result.result,
            error=f"{type(error).__name__}: {error}" if error else "",
            exception=error,
            traceback=captured.stdout + captured.stderr if error else "",
            count=count,
        )

    @property
    def names(self) -> dict[str, Any]:
        return self.ip.user_ns


@pytest.fixture
def bare_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """An IPython shell without the extension."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    config = Config({"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}})
    jitscope.clear_caches()
    ledger = observe.Ledger()
    monkeypatch.setattr(sys.modules["jitscope_scope.observe.ledger"], "_session", ledger)
    main, hook = sys.modules["__main__"], sys.displayhook
    InteractiveShell.clear_instance()  # `jitscope check`, run in this process, leaves one that names cells in its own way
    shell = InteractiveShell.instance(config=config)
    yield Shell(shell)
    shell.run_line_magic("unload_ext", "jitscope")
    shell.restore_sys_module_state()
    sys.modules["__main__"], sys.displayhook = main, hook
    InteractiveShell.clear_instance()
    # Else it lives as long as the process, which then empties the namespace of each and searches for garbage.
    atexit.unregister(shell.atexit_operations)
    ledger.close()


@pytest.fixture
def shell(bare_shell: Shell) -> Shell:
    ran = bare_shell.cell("%load_ext jitscope\nimport numpy as np, jitscope as jx, jitscope.numpy as jnp")
    assert not ran.error, ran.traceback
    return bare_shell


# --- in a kernel ------------------------------------------------------------------------------------------------------


class Kernel:
    """A kernel process and a client, as a notebook front end has them."""

    def __init__(self, folder: Path) -> None:
        from jupyter_client.manager import KernelManager

        paths = [path for path in sys.path if path]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "IPYTHONDIR": str(folder)}
        self.manager = KernelManager(kernel_name="python3")
        self.manager.start_kernel(env=environment, cwd=str(folder))
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=TIMEOUT)
        self.comms: list[dict[str, Any]] = []

    def stop(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)
        self.manager.cleanup_resources()

    def send(self, text: str, cell_id: str | None = None, **options: Any) -> str:
        """Send a cell; gives the id of the request."""
        content = {"code": text, "silent": False, "store_history": True, "user_expressions": {}}
        content |= {"allow_stdin": True, "stop_on_error": True} | options
        message = self.client.session.msg("execute_request", content, metadata={"cellId": cell_id} if cell_id else {})
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def cell(self, text: str, cell_id: str | None = None, **options: Any) -> Ran:
        """Run a cell and wait for it."""
        return self.wait(self.send(text, cell_id, **options))

    def wait(self, request: str, timeout: float = TIMEOUT, until: str = "") -> Ran:
        """What a request printed and showed, once it is done (or once its stderr contains `until`)."""
        ran = Ran()
        deadline = time.monotonic() + timeout
        while True:
            message = self.client.get_iopub_msg(timeout=max(0.0, deadline - time.monotonic()))
            kind, content = message["msg_type"], message["content"]
            if kind.startswith("comm_"):
                self.comms.append(message)
            if message["parent_header"].get("msg_id") != request:
                continue
            if kind == "status" and content["execution_state"] == "idle":
                break
            self._take(ran, kind, content)
            if until and until in ran.stderr:
                return ran
        reply = self.client.get_shell_msg(timeout=TIMEOUT)
        while reply["parent_header"].get("msg_id") != request:
            reply = self.client.get_shell_msg(timeout=TIMEOUT)
        ran.count = reply["content"].get("execution_count", 0)
        if reply["content"]["status"] != "ok":
            ran.error = f"{reply['content'].get('ename')}: {reply['content'].get('evalue')}"
        return ran

    @staticmethod
    def _take(ran: Ran, kind: str, content: dict[str, Any]) -> None:
        if kind == "stream":
            setattr(ran, content["name"], getattr(ran, content["name"]) + content["text"])
            ran.order.append(content["name"])
        elif kind == "display_data":
            ran.shown.append(content["data"])
            ran.order.append("shown")
        elif kind == "execute_result":
            assert ran.result is None, "a result was shown twice"
            ran.result = content["data"][PLAIN]
            ran.order.append("result")
        elif kind == "error":
            ran.traceback = "\n".join(content["traceback"])
            ran.order.append("error")

    def interrupt(self) -> None:
        self.manager.interrupt_kernel()

    def drain(self) -> None:
        """Take the messages that are there."""
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=0.5)
            except queue.Empty:
                return
            if message["msg_type"].startswith("comm_"):
                self.comms.append(message)


@pytest.fixture(scope="module")
def fresh_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel without the extension."""
    kernel = Kernel(tmp_path_factory.mktemp("kernel"))
    yield kernel
    kernel.stop()


@pytest.fixture(scope="module")
def kernel(fresh_kernel: Kernel) -> Kernel:
    ran = fresh_kernel.cell(
        "%load_ext jitscope\n%colors nocolor\nimport numpy as np, jitscope as jx, jitscope.numpy as jnp"
    )
    assert not ran.error, ran.traceback
    return fresh_kernel
