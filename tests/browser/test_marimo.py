"""Views in marimo, where it is installed: its notebooks are programs, run here by its own server."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect


pytest.importorskip("marimo")

NOTEBOOK = """
import marimo

app = marimo.App()


@app.cell
def _():
    import jitscope as jx
    import jitscope.numpy as jnp

    def layer(x, w):
        return jnp.tanh(x @ w).sum()

    x = jnp.ones((8, 8))
    seen = jx.inspect(layer)(x, x)
    seen
    return (seen, x)


@app.cell
def _(seen):
    seen.values
    return
"""
STARTING = 60.0


@pytest.fixture
def marimo(tmp_path: Path) -> Iterator[str]:
    """The address of a notebook that marimo runs."""
    (tmp_path / "layer.py").write_text(NOTEBOOK.lstrip())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [
        sys.executable,
        "-m",
        "marimo",
        "run",
        "layer.py",
        "--headless",
        "--no-token",
        "--host",
        "127.0.0.1",
        "-p",
        port,
    ]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait(f"{address}/health", server, tmp_path / "log")
        yield address
    finally:
        server.terminate()
        server.wait(20)


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + STARTING
    while time.monotonic() < end and server.poll() is None:
        try:
            with urlopen(address):
                return
        except URLError:
            time.sleep(0.2)
    raise AssertionError(f"marimo did not start: {log.read_text()[-2000:]}")


def test_views_are_live(marimo: str, page: Page) -> None:
    page.goto(marimo)
    expect(page.locator(".jitscope-headline").first).to_contain_text("3 equations → 2 kernels", timeout=60_000)
    page.get_by_role("tab", name="Timing").click()
    measured = page.get_by_text("the arguments of the call")
    expect(measured).to_have_count(0)
    page.get_by_role("button", name="Measure").first.click()
    expect(measured.first).to_be_visible(timeout=30_000)
    rows = page.locator(".jitscope-parts[data-kind=values] .jitscope-table-row")
    rows.filter(has=page.locator("strong", has_text="tanh")).click()
    expect(page.locator(".jitscope-table-inside")).to_contain_text("axis 0 (8) from top to bottom")
