"""Fixtures of the browser tests.

    lab.open(cells or path)    a notebook in a real JupyterLab, with a kernel of its own; see notebook.Notebook
    lab_of_file                the same for fixtures that the tests of a file share
    bare.show(document)        a view on a page without a notebook
    page                       a bare page of Chromium, for HTML from disk
    demo_html                  what `make demo` leaves behind

Every request to another machine fails the test, and so does every error in the page (unless the test is marked
`page_errors`). Pictures go to `screenshots/`; a test that fails leaves `failed-….png` there.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

from tests.browser import chromium
from tests.browser.bare import Bare
from tests.browser.notebook import PATIENCE, SCREENSHOTS, Notebook
from tests.browser.server import Server


FLAGS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
    # Nothing outside this machine has an address.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
WINDOW: ViewportSize = {"width": 1400, "height": 1000}
HERE = {"127.0.0.1", "localhost", ""}

expect.set_options(timeout=1000 * PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item):
    report = yield
    if report.failed and isinstance(item, pytest.Function):
        having_pages = (item.funcargs.get(name) for name in ("page_of_file", "lab_of_file"))
        page = item.funcargs.get("page") or next((one.page for one in having_pages if one is not None), None)
        if isinstance(page, Page) and not page.is_closed():
            SCREENSHOTS.mkdir(exist_ok=True)
            page.screenshot(path=SCREENSHOTS / f"failed-{item.name}-{report.when}.png")
    return report


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = chromium.find()
    if executable is None:
        if os.environ.get("JITSCOPE_SKIP_BROWSER"):
            pytest.skip("JITSCOPE_SKIP_BROWSER is set")
        pytest.fail(chromium.ADVICE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield browser
        browser.close()


class Watched:
    """A page, and what it did that no page may do."""

    def __init__(self, browser: Browser) -> None:
        self._elsewhere: list[str] = []
        self._errors: list[str] = []
        self._context = browser.new_context(viewport=WINDOW, reduced_motion="reduce")
        self._context.on("request", lambda request: _is_elsewhere(request.url) and self._elsewhere.append(request.url))
        self._context.on("weberror", lambda one: _is_notebooks(one.error) or self._errors.append(str(one.error)))
        self.page = self._context.new_page()
        self.page.on("console", lambda message: _is_ours(message) and self._errors.append(message.text))
        self.page.set_default_timeout(1000 * PATIENCE)

    def close(self, forgiven: bool = False) -> None:
        self._context.close()
        self.check(forgiven)

    def check(self, forgiven: bool = False) -> None:
        """Fails when the page asked another machine for something, or when a script in it failed."""
        elsewhere, self._elsewhere[:] = list(self._elsewhere), []
        assert not elsewhere, f"the page asked other machines: {elsewhere}"
        errors, self._errors[:] = list(self._errors), []
        assert forgiven or not errors, "errors in the page:\n" + "\n".join(errors)

    def empty(self) -> None:
        """The page as it was when it was new: light, and nothing in it. Chromium never quite comes back from forced colours."""
        self.page.goto("about:blank")
        self.page.emulate_media(color_scheme="light", reduced_motion="reduce")
        self.page.set_viewport_size(WINDOW)
        self.page.mouse.move(0, 0)


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page that fails the test when it asks another machine for something, or when a script in it fails."""
    watched = Watched(browser)
    yield watched.page
    watched.close(request.node.get_closest_marker("page_errors") is not None)


def _is_elsewhere(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in ("http", "https", "ws", "wss") and (parts.hostname or "") not in HERE


def _is_notebooks(error) -> bool:
    """Notebook 7 starts with an error of its own, about the settings of a plug-in. JupyterLab asks for a subshell for each comm that
    an extension opens, and leaves that request without an answer when the kernel restarts."""
    stack = error.stack or ""
    of_a_comm = "Canceled future for create_subshell_request" in str(error)
    return of_a_comm or ("/static/notebook/" in stack and "jitscope" not in stack)


def _is_ours(message) -> bool:
    """Also what the widgets' own extension says of a view of ours whose kernel is gone."""
    if message.type != "error":
        return False
    return "widget model not found" in message.text or "jitscope" in (message.text + message.location["url"]).lower()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("lab"))
    yield server
    server.stop()


@pytest.fixture(scope="module")
def page_of_file(browser: Browser) -> Iterator[Watched]:
    watched = Watched(browser)
    yield watched
    watched.close()


@pytest.fixture
def bare(page_of_file: Watched, root: Path, request: pytest.FixtureRequest) -> Iterator[Bare]:
    """A page without a notebook: one for the tests of a file, since a new one takes longer than most tests; each finds it empty."""
    page_of_file.empty()
    yield Bare(page_of_file.page, root)
    page_of_file.check(request.node.get_closest_marker("page_errors") is not None)


class Lab:
    def __init__(self, server: Server, page: Page, name: str) -> None:
        server.forget_settings()
        self.page = page
        self._server = server
        self._name = name
        self._others = server.running()

    def open(self, notebook: list[str] | Path, name: str = "", app: str = "lab/tree") -> Notebook:
        """A notebook made of these cells (numbered from 0), or a copy of one on disk, with its kernel started.

        `app` is "notebooks" for Notebook 7.
        """
        name = name or self._name
        if isinstance(notebook, Path):
            shutil.copy(notebook, self._server.notebooks / name)
        else:
            self._server.write(name, notebook)
        opened = Notebook(self.page, f"{self._server.url}/{app}/{name}")
        opened.open()
        return opened

    def file(self) -> Path:
        """The notebook as it was saved."""
        return self._server.notebooks / self._name

    def delete_kernels(self) -> None:
        self._server.delete_kernels(self._others)


@pytest.fixture
def lab(server: Server, page: Page) -> Iterator[Lab]:
    lab = Lab(server, page, "test.ipynb")
    yield lab
    lab.delete_kernels()


@pytest.fixture(scope="module")
def lab_of_file(server: Server, browser: Browser) -> Iterator[Lab]:
    watched = Watched(browser)
    lab = Lab(server, watched.page, "shared.ipynb")
    yield lab
    lab.delete_kernels()
    watched.close()


@pytest.fixture(scope="session")
def demo_html(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page that `make demo` leaves, made now from the tour."""
    page = tmp_path_factory.mktemp("demo") / "tour.html"
    command = [sys.executable, "-m", "jitscope_kernel.demo", "examples/tour.ipynb", str(page)]
    made = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=170)
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    return page
