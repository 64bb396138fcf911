"""Colours: enough contrast, light and dark, on every paper; the style sheets use nothing but the palette."""

from __future__ import annotations

import re

import pytest

from jitscope_widgets import html
from jitscope_widgets.html_style import html_style
from jitscope_widgets.palette import HUES, INK, LINES, PAPER, hue_of, style
from jitscope_widgets.svg_style import svg_style
from tests.widgets.communication_documents import shardings


HOST_PAPERS = (("#ffffff", "#fafafa"), ("#111111", "#212121"))  # JupyterLab's layout colours, light and dark


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_the_measure_is_that_of_wcag() -> None:
    assert _contrast("#000000", "#ffffff") == pytest.approx(21)
    assert _contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("ink", INK)
def test_text_is_readable_on_every_paper(ink: str, theme: int) -> None:
    papers = [pair[theme] for pair in PAPER.values()] + list(HOST_PAPERS[theme])
    assert min(_contrast(INK[ink][theme], paper) for paper in papers) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_lines_and_bars_are_seen(theme: int) -> None:
    for name in ("edge", "bar", "round"):
        assert _contrast(LINES[name][theme], PAPER["bg"][theme]) >= 3, name


def test_hues_are_apart_and_go_on_as_broken_stripes() -> None:
    assert len({pair[0] for pair in HUES}) == len({pair[1] for pair in HUES}) == len(HUES)
    assert hue_of(0) == (0, False)
    assert hue_of(len(HUES)) == (0, True)


@pytest.mark.parametrize("sheet", [html_style(), svg_style()], ids=["html", "svg"])
def test_style_sheets_write_with_inks_on_papers(sheet: str) -> None:
    assert set(re.findall(r"(?:^|[;{])color:var\(--(\w+)\)", sheet)) <= set(INK)
    assert set(re.findall(r"background:var\(--(\w+)\)", sheet)) <= {*PAPER, "bar"}
    rules = re.sub(r"--\w+:[^;}]*[;}]", "", sheet)
    assert not re.findall(r"#[0-9a-f]{3,8}\b", rules)
    defined = set(re.findall(r"--(\w+):", sheet))
    assert set(re.findall(r"var\(--(\w+)\)", rules)) <= defined


def test_the_host_decides_before_the_readers_preference() -> None:
    sheet = style(".x")
    plain = sheet.index(".x{")
    preferred = sheet.index("@media(prefers-color-scheme:dark)")
    light, dark = sheet.index("[data-jp-theme-light=true] .x"), sheet.index("[data-jp-theme-light=false] .x")
    assert plain < preferred < light < dark
    assert f"--fg:var(--jp-content-font-color1,{INK['fg'][1]})" in sheet[dark:]
    assert sheet.count("{") == sheet.count("}")


def test_tiles_of_28_parts_look_different() -> None:
    document = shardings()[0]
    tiles = [{"at": [i, 0], "index": [f"{i}:{i + 1}", "0:4"], "devices": [f"CPU {i}"]} for i in range(28)]
    shown = html({**document, "tiles": tiles, "drawn": True, "rows": 0, "columns": 1})
    assert len(set(re.findall(r'<td style="([^"]*)"', shown))) == 28
