"""The moving picture of the README: `python -m tests.browser.moving_picture` writes docs/first-screen.webp from a real JupyterLab."""

from __future__ import annotations

import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from tests.browser import chromium
from tests.browser.conftest import FLAGS, Lab, Watched
from tests.browser.notebook import Notebook
from tests.browser.server import Server
from tests.browser.view import View


TARGET = Path(__file__).parents[2] / "docs" / "first-screen.webp"
SIZE = {"width": 1060, "height": 640}
CELLS = [
    "%load_ext jitscope\nimport jitscope as jx, jitscope.numpy as jnp",
    "%%jit\ndef layer(x, w, b):\n    z = x @ w + b\n    return 1.05 * jnp.where(z > 0, z, 1.67 * (jnp.exp(z) - 1))\n\n"
    "y = layer(jnp.ones((64, 20)), jnp.ones((20, 7)), jnp.zeros(7))",
    "for n in (48, 32, 16):\n    layer(jnp.ones((n, 20)), jnp.ones((20, 7)), jnp.zeros(7))\n%recompiles layer",
    "%nans jx.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0).sum())(jnp.zeros(3))",
]


def frames(book: Notebook) -> list[tuple[Image.Image, int]]:
    """The pictures, each with the milliseconds that it stands."""
    page, taken = book.page, []

    def take(milliseconds: int) -> None:
        page.mouse.move(2, 2)
        page.wait_for_timeout(400)
        taken.append((Image.open(BytesIO(page.locator(".jp-NotebookPanel").screenshot())).convert("RGB"), milliseconds))

    def view_of(cell: int) -> View:
        book.cell(cell).evaluate("element => element.scrollIntoView({block: 'start'})")
        return View(book.output(cell).locator(".jitscope").first)

    book.run(0)
    take(1200)
    book.run(1)
    shown = view_of(1)
    take(2200)
    shown.open("graph")
    take(2800)
    shown.open("fusion")
    take(2800)
    shown.close()
    for cell in (2, 3):
        book.run(cell)
        view_of(cell)
        take(3400)
    return taken


def write(taken: list[tuple[Image.Image, int]]) -> None:
    """One file of all pictures, shown again and again."""
    first, *rest = [picture for picture, _ in taken]
    options = {"duration": [time for _, time in taken], "loop": 0, "quality": 72, "method": 6}
    first.save(TARGET, "WEBP", save_all=True, append_images=rest, **options)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder))
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=FLAGS)
        watched = Watched(browser)
        watched.page.set_viewport_size(SIZE)  # pyright: ignore[reportArgumentType]
        book = Lab(server, watched.page, "first.ipynb").open(CELLS)
        for command in ("application:toggle-left-area", "statusbar:toggle"):
            watched.page.evaluate("name => jupyterapp.commands.execute(name)", command)
        write(frames(book))
        watched.close()
        browser.close()
        server.stop()
    print(TARGET, TARGET.stat().st_size)


if __name__ == "__main__":
    main()
