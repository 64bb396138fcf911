"""The site of `make docs`, with one lesson executed and one page of the API: it stands alone, its views can be clicked, it can be read."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, expect

from tests.browser.audit import assert_readable
from tests.browser.notebook import SCREENSHOTS, wait
from tests.browser.view import MOUNTED, View


pytestmark = pytest.mark.timeout(600)
LESSON = "examples/lessons/04-grad.html"
REFERENCE = re.compile(r'<(?:a|link|img|script)\b[^>]*?\b(?:href|src)="([^"]*)"')


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    command = [
        sys.executable,
        "docs/site/build.py",
        str(target),
        "--notebooks",
        "04-grad",
        "--modules",
        "jitscope.tree",
    ]
    made = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=400)
    assert made.returncode == 0, made.stdout[-3000:] + made.stderr[-3000:]
    return target / "html"


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, str]:
    """The HTML of the pages by their paths."""
    return {str(path.relative_to(site)): path.read_text(encoding="utf-8") for path in site.rglob("*.html")}


def test_every_link_leads_somewhere(site: Path, pages: dict[str, str]) -> None:
    names = {page: set(re.findall(r'\bid="([^"]+)"', text)) for page, text in pages.items()}
    lost = set()
    for page, text in pages.items():
        for reference in map(html.unescape, REFERENCE.findall(text)):
            if reference.startswith(("http:", "https:", "data:", "mailto:")):
                continue
            path, _, anchor = unquote(reference).partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), path.partition("?")[0])) if path else page
            if not (site / target).exists() or (anchor and target in names and anchor not in names[target]):
                lost.add(f"{page}: {reference}")
    assert not lost
    assert len(pages) > 40


def test_nothing_is_fetched_and_no_folder_of_the_builder_is_named(
    root: Path, site: Path, pages: dict[str, str]
) -> None:
    fetched = (
        r'<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)="(?:https?:)?//|@import\s+["\']?https?:|url\(["\']?https?:'
    )
    styles = {str(path.relative_to(site)): path.read_text() for path in site.rglob("*.css")}
    assert [name for name, text in (pages | styles).items() if re.search(fetched, text)] == []
    folders = {str(root), str(site.parent), str(Path.home()), sys.prefix} - {"/"}
    texts = pages | {path.name: path.read_text() for path in site.rglob("*.js")}
    assert [(name, folder) for name, text in texts.items() for folder in folders if folder in text] == []


def test_the_view_code_stands_once_where_views_are(pages: dict[str, str]) -> None:
    for page, text in pages.items():
        wanted = 1 if re.search(r"<[^>]+\bdata-jitscope-document=", text) else 0
        assert len(re.findall(r"<script[^>]*jitscope-view\.js", text)) == wanted, page
        assert "application/vnd.jupyter.widget" not in text
    assert "data-jitscope-document=" in pages[LESSON] and "data-jitscope-document=" in pages["index.html"]


def test_an_api_page_has_signatures_conventions_and_errors(pages: dict[str, str]) -> None:
    page = pages["api/jitscope.tree.html"]
    assert 'id="jitscope.tree.map"' in page and "Raises ValueError" in page
    assert "0x" not in page and "&lt;object" not in page and "`" not in re.sub(r"<[^>]+>", "", page)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_lesson_has_a_graph_that_can_be_clicked(page: Page, site: Path, dark: bool) -> None:
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.goto((site / LESSON).as_uri())
    view = View(page.locator(".cell_output .jitscope-live .jitscope").last)
    view.open("graph")
    before = len(view.nodes())
    view.collapse_all()
    view.expand_all()
    assert len(view.nodes("equation")) >= 15
    assert len(view.nodes()) >= before
    node = next(node for node in view.nodes("equation") if node["label"].startswith("tanh"))
    view.click_node(node["id"])
    expect(view.element).to_contain_text("tanh")
    assert view.element.get_attribute("data-theme") == ("dark" if dark else "light")
    assert_readable(view.element)
    view.element.scroll_into_view_if_needed()
    page.screenshot(path=SCREENSHOTS / f"site-lesson-{'dark' if dark else 'light'}.png")


def test_the_view_follows_the_switch_of_the_page(page: Page, site: Path) -> None:
    page.goto((site / LESSON).as_uri())
    view = page.locator(".cell_output .jitscope-live .jitscope").last
    seen = set()
    for _ in range(3):
        before = page.locator("body").get_attribute("data-theme") or ""
        page.locator("button.theme-toggle:visible").first.click()
        wait(page, "before => document.body.dataset.theme !== before", "the page switches", argument=before)
        theme = page.locator("body").get_attribute("data-theme") or ""
        expect(view).to_have_attribute("data-theme", {"auto": "light"}.get(theme, theme))
        seen.add(theme)
    assert seen >= {"light", "dark"}


def test_search_works_from_the_disk(page: Page, site: Path) -> None:
    page.goto((site / "search.html").as_uri() + "?q=cotangent")
    found = page.locator("#search-results li a")
    expect(found.first).to_be_visible()
    assert any("04-grad" in (link.get_attribute("href") or "") for link in found.all())


@pytest.mark.parametrize("name", ["index.html", LESSON, "api/jitscope.tree.html"])
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (420, True)], ids=["wide-light", "narrow-dark"])
def test_pages_can_be_read(page: Page, root: Path, site: Path, name: str, width: int, dark: bool) -> None:
    page.set_viewport_size({"width": width, "height": 1000})
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.goto((site / name).as_uri())
    wait(page, MOUNTED, "every view is mounted")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=SCREENSHOTS / f"site-{Path(name).stem}-{width}.png")
    page.add_script_tag(path=root / "node_modules/axe-core/axe.min.js")
    found = page.evaluate("async () => (await axe.run(document, {preload: false})).violations")
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    assert not serious, "\n".join(f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in serious)
