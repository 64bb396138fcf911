"""Still pages, as nbconvert writes them: no text is small, however narrow the page is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from jitscope_widgets import html
from tests.widgets import documents
from tests.widgets.profile_documents import profile


SMALLEST = 11  # px
# Each text in a picture with its size on the screen, and each other text with its own.
SIZES = """() => {
  document.querySelectorAll("details").forEach(one => one.open = true);
  const drawn = [...document.querySelectorAll("svg text")].map(text => {
    const { a, b } = text.getScreenCTM();
    return [parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b), text.textContent];
  });
  const written = [...document.querySelectorAll("body :not(svg, svg *, style)")]
    .filter(one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
    .map(one => [parseFloat(getComputedStyle(one).fontSize), one.textContent]);
  return { drawn, written };
}"""


def everything() -> dict[str, Any]:
    cell = documents.layer_cell()
    cell["compilations"][0]["instruments"] = {
        "profile": profile(),
        "memory": documents.memory(),
        "values": documents.values(),
    }
    return cell


def notebook_style() -> Path:
    """The style sheet of the pages that nbconvert makes."""
    from jupyter_core.paths import jupyter_path

    sheets = (Path(folder) / "nbconvert/templates/lab/static/index.css" for folder in jupyter_path())
    return next(sheet for sheet in sheets if sheet.exists())


@pytest.mark.parametrize("width", [480, 1280])
def test_no_text_is_small_on_a_page_of_nbconvert(page: Page, width: int) -> None:
    """Its style sheet squeezes pictures."""
    page.set_viewport_size({"width": width, "height": 800})
    page.set_content(
        f'<!doctype html><body><div class="jp-RenderedHTMLCommon">{html(documents.long_program(60, scopes=3))}</div>'
    )
    page.add_style_tag(path=notebook_style())
    page.evaluate("() => document.querySelectorAll('details').forEach(one => { one.open = true; })")
    found = page.evaluate(SIZES)
    assert len(found["drawn"]) > 40
    assert [text for size, text in found["drawn"] if size < SMALLEST - 0.01] == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [320, 700, 1000])
def test_no_text_is_small(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.set_content(f"<!doctype html><body>{html(everything())}")
    found = page.evaluate(SIZES)
    assert len(found["drawn"]) > 40 and len(found["written"]) > 100
    assert [text for size, text in (*found["drawn"], *found["written"]) if size < SMALLEST - 0.01] == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
