"""Pages that stand alone: nothing fetched, the view code once, names escaped."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path

import pytest

from jitscope_widgets import enliven_notebook_html, html, page, static_files
from jitscope_widgets.columns import compact
from jitscope_widgets.envelope import _read, pack, unpack
from jitscope_widgets.offline import without_network
from tests.widgets import documents as made
from tests.widgets.markup import Markup


CODE = 'globalThis.seen = "</script><!-- ";'


@pytest.fixture(autouse=True)
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (static_files.LOADER, static_files.VIEW, static_files.PAGE_VIEW):
        (tmp_path / name).write_text(CODE, encoding="utf-8")
    monkeypatch.setattr(static_files, "FOLDER", tmp_path)
    return tmp_path


def test_a_page_holds_blocks_and_the_view_code_once() -> None:
    shown = page([made.layer_cell(), "<p>between</p>", made.ledger()], "The <tour> & more")
    markup = Markup(shown)
    assert not markup.problems
    assert markup.elements.count("script") == 1
    assert "<title>The &lt;tour&gt; &amp; more</title>" in shown
    assert shown.index("data-jitscope-document") < shown.index("<p>between</p>") < shown.index("recompiled")
    assert len(re.findall("data-jitscope-document=", shown)) == 2


def test_code_cannot_end_its_own_element() -> None:
    shown = page(made.layer_cell())
    code = re.findall(r"<script data-jitscope-view>(.*?)</script>", shown)
    assert code == ['globalThis.seen = "<\\/script><\\!-- ";']


def test_a_page_asks_the_network_for_nothing() -> None:
    shown = page(made.layer_cell())
    assert "default-src 'none'" in shown
    assert not [found for found in re.findall(r"https?://[^\"'<> ]*", shown) if found != "http://www.w3.org/2000/svg"]


def test_a_large_program_is_whole_on_a_page() -> None:
    shown = page(made.long_program(600))
    assert "left out" not in shown and "Kept without" not in shown


def test_without_the_view_code_a_page_is_still_a_page(built: Path) -> None:
    (built / static_files.PAGE_VIEW).unlink()
    shown = page(made.layer_cell())
    assert "<script" not in shown
    assert "The interactive views are not part of this installation" in shown


def test_what_an_earlier_version_saved_has_its_view_on_a_page() -> None:
    text = json.dumps(compact({"document": made.memory()}), separators=(",", ":")).encode()
    old = base64.b64encode(gzip.compress(text)).decode()
    block = f'<div class="jitscope-view" data-jitscope-document="{old}"></div>'
    for shown in (page([block]), enliven_notebook_html(EXPORTED % block)):
        (carried,) = re.findall(r'data-jitscope-document="([^"]+)"', shown)
        assert carried == pack(made.memory()).text != old


def test_an_exported_notebook_says_what_its_outputs_lack() -> None:
    small = pack(made.long_program(600), 12_000)
    (without,) = {part["without"] for part in _read(small.text.split()[0])["parts"]}
    shown = enliven_notebook_html(EXPORTED % f'<div class="jitscope" data-jitscope-document="{small.text}"></div>')
    (carried,) = re.findall(r'data-jitscope-document="([^"]+)"', shown)
    assert without and [part["without"] for part in _read(carried.split()[0])["parts"]] == [without]
    assert unpack(carried) == unpack(small.text)


def test_what_cannot_be_read_stays_as_it_was_saved() -> None:
    block = '<div data-jitscope-document="bm8gZG9jdW1lbnQ="></div>'
    assert block in page([block])


EXPORTED = """<!DOCTYPE html><html><head>
<script src="https://cdn.example/require.min.js"></script>
<script src='//cdn.example/x.js' defer></script>
<script type="module">const m = (await import("https://cdn.example/mermaid.mjs")).default;</script>
<script type="module">import m from "https://cdn.example/m.mjs"; import 'https://cdn.example/n.mjs';</script>
<script>(function() { s.src = '@jupyter-widgets/html-manager@*/dist/embed-amd.js'; }());</script>
<script>const kept = "https://in.a.text";</script>
<link rel="stylesheet" href="https://cdn.example/a.css"><link rel="icon" href="data:,">
<style>@import url("https://cdn.example/f.css"); a{background:url(https://cdn.example/i.png)} b{background:url(data:,)}</style>
</head><body><p>src="https://in.text" <a href="https://a.link">link</a></p>
<img alt="picture > one" src="https://cdn.example/p.png"><img src="data:image/png;base64,AA">
<iframe src="https://video.example"></iframe>
%s
</body></html>"""


def test_an_exported_notebook_loses_what_it_would_fetch() -> None:
    still = without_network(EXPORTED)
    assert "cdn.example" not in re.sub(r'data-offline-src="[^"]*"', "", still)
    assert 'data-offline-src="https://cdn.example/p.png"' in still
    assert 'data-offline-src="https://video.example"' in still
    for kept in (
        'const kept = "https://in.a.text"',
        '<a href="https://a.link">',
        'src="https://in.text"',
        "url(data:,)",
    ):
        assert kept in still
    assert 'href="data:,"' in still and 'src="data:image/png;base64,AA"' in still


def test_an_exported_notebook_comes_alive_once() -> None:
    exported = EXPORTED % (html(made.layer_cell()) + html(made.ledger()))
    alive = enliven_notebook_html(exported)
    assert alive.count("<script data-jitscope-view>") == 1
    assert alive.index("<script data-jitscope-view>") < alive.index("</body>")
    assert enliven_notebook_html(alive) == alive


def test_a_notebook_without_our_views_gets_no_code() -> None:
    assert "data-jitscope-view" not in enliven_notebook_html(EXPORTED % "<p>nothing</p>")


def test_a_fragment_without_body_gets_the_code_at_its_end() -> None:
    assert enliven_notebook_html(html(made.ledger())).endswith("</script>")
