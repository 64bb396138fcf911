"""What the tests ask of HTML: that it is balanced, and that nothing in it acts."""

from __future__ import annotations

import re
from html.parser import HTMLParser


VOID = {"br", "wbr", "meta", "link", "img", "input", "hr"}
ELEMENTS = set(
    "div style details summary span p b i em ins small code pre table tbody tr th td br wbr ol li mark "
    "svg title desc g rect path text tspan".split()
)


class Markup(HTMLParser):
    """The elements, attributes and text of some HTML; `problems` when tags are not balanced."""

    def __init__(self, source: str):
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.problems: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()
        self.problems += [f"<{tag}> is never closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.problems.append(f"</{tag}> closes something else")

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def check_still(source: str) -> Markup:
    """Assert that static HTML is balanced, made of the elements we use, and without anything that acts or fetches."""
    markup = Markup(source)
    assert not markup.problems
    assert set(markup.elements) <= ELEMENTS
    for tag, name, value in markup.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name not in ("src", "href", "srcset", "xlink:href", "formaction"), (tag, name)
        assert "javascript:" not in value.lower() or name in ("title", "aria-label"), (tag, name, value)
    return markup


def font_sizes(source: str) -> list[float]:
    """Every font size that is written in some HTML, SVG or CSS."""
    found = re.findall(r"font-size[:=]\s*\"?([\d.]+)", source)
    found += re.findall(r"\bfont:(?:[\w ]*\s)?([\d.]+)px", source)
    return [float(size) for size in found]
