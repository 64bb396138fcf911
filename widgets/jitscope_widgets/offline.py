"""An HTML page without anything that the browser would fetch from the network by itself; links to click on stay."""

from __future__ import annotations

import re


_PIECES = re.compile(
    r"<!--.*?-->"
    r"|<script\b(?P<script>(?:[^>\"']|\"[^\"]*\"|'[^']*')*)>(?P<code>.*?)</script\s*>"
    r"|<style\b(?:[^>\"']|\"[^\"]*\"|'[^']*')*>(?P<css>.*?)</style\s*>"
    r"|<(?P<tag>[a-zA-Z][\w:-]*)(?P<attributes>(?:[^>\"']|\"[^\"]*\"|'[^']*')*)>",
    re.DOTALL | re.IGNORECASE,
)
_ADDRESS = r"[\"']?\s*(?:https?:)?//"
_FETCHING_ATTRIBUTE = re.compile(
    rf"(?<![\w-])(src|srcset|poster|data|xlink:href|href|action|background)(\s*=\s*{_ADDRESS})", re.IGNORECASE
)
_EXTERNAL_SCRIPT = re.compile(rf"(?<![\w-])src\s*=\s*{_ADDRESS}", re.IGNORECASE)
_FETCHING_CODE = re.compile(
    r"""\bimport\s*\(?\s*["'](?:https?:)?//|\bfrom\s*["'](?:https?:)?//|jupyter-widgets/html-manager"""
)
_FETCHING_CSS = re.compile(
    r"""@import\s+(?:url\()?\s*["']?(?:https?:)?//[^;]*;?|url\(\s*["']?(?:https?:)?//[^)]*\)""", re.IGNORECASE
)
_CLICKED = ("a", "area")


def without_network(page: str) -> str:
    """`page` with external scripts and style sheets removed and other external addresses kept as `data-offline-…`."""
    return _PIECES.sub(_offline, page)


def _offline(piece: re.Match[str]) -> str:
    whole = piece.group()
    if piece["code"] is not None:
        return "" if _EXTERNAL_SCRIPT.search(piece["script"]) or _FETCHING_CODE.search(piece["code"]) else whole
    if piece["css"] is not None:
        return _FETCHING_CSS.sub("", whole)
    if piece["tag"] is None or piece["tag"].lower() in _CLICKED:
        return whole
    if piece["tag"].lower() == "link" and _FETCHING_ATTRIBUTE.search(whole):
        return ""
    return _FETCHING_ATTRIBUTE.sub(r"data-offline-\1\2", whole)
