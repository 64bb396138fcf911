"""What is shown of chips that are not here, on documents that XLA's compilers made: in light and dark, narrow and wide, saved and opened
again; the graph's edges say why kernels are two."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from jitscope_widgets import html, text
from jitscope_widgets.envelope import pack
from jitscope_widgets.views import target
from tests.browser.audit import assert_readable, axe_findings
from tests.browser.bare import Bare
from tests.browser.notebook import SCREENSHOTS
from tests.extent import looks
from tests.targets.record import recorded


NAMES = ("layer-h100", "step-v5e", "norm-beside")


@pytest.mark.parametrize("name", NAMES)
@looks(1280, 480)
def test_it_can_be_read(bare: Bare, name: str, dark: bool, width: int) -> None:
    view = bare.show(recorded(name), dark=dark, width=width)
    assert_readable(view.element, at_least=20)
    assert axe_findings(view.element) == []
    wide = view.page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0
    expect(view.element).to_contain_text("nothing was run")
    SCREENSHOTS.mkdir(exist_ok=True)
    view.page.screenshot(path=SCREENSHOTS / f"target-{name}-{'dark' if dark else 'light'}-{width}.png", full_page=True)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_saved_and_opened_again(bare: Bare, name: str) -> None:
    """Without a kernel: what the saved output carries comes alive, and the still HTML and the text say the same reasons."""
    document = recorded(name)
    view = bare.mount(pack(document, 200_000).text)
    told = " ".join(text(document).split())
    still = html(document)
    assert "<script" not in still
    if document["kind"] == "target":
        reasons = {one["reason"] for one in document["decisions"] if not one["fused"]}
        said = [target.reason(document, one) for one in document["boundaries"]]
    else:
        reasons, said = set(), [reason for pair in document["pairs"] for reason in pair["reasons"]]
        assert [len(side["kernels"]) for side in document["sides"]] == [1, 9, 5]
    assert said
    for one in said:
        expect(view.element).to_contain_text(one)
    assert all(reason in told for reason in reasons)


def test_an_edge_says_why_its_kernels_are_two(bare: Bare) -> None:
    document = recorded("layer-h100")
    told = {target.reason(document, one) for one in document["boundaries"]}
    view = bare.show(document)
    view.element.get_by_text("The program after optimisation").click()
    canvas = view.element.locator(".jitscope-graph canvas").first
    expect(canvas).to_be_visible()
    details = view.element.locator(".jitscope-edge-note")
    found: set[str] = set()
    for giver in {one["giver"] for one in document["boundaries"]}:
        view.element.evaluate(
            "(element, id) => { const { graph } = element.__jitscope; graph.takeFocus(); graph.focus(id); }", giver
        )
        for _ in range(4):
            view.page.keyboard.press("e")
            found |= {one.partition(": ")[2] for one in details.all_inner_texts() if one != "Nothing is said of it."}
    assert found == told


def test_the_schedule_says_what_goes_on_beside_what(bare: Bare) -> None:
    document = recorded("step-v5e")
    view = bare.show(document)
    view.element.get_by_text("The schedule", exact=True).click()
    rows = view.element.get_by_role("grid", name="Steps").locator(".jitscope-table-body > [role=row]")
    steps = [step for step in document["steps"] if not step["inside"]]
    expect(rows).to_have_count(len(steps))
    for row, step in zip(rows.all(), steps, strict=True):
        expect(row).to_contain_text(step["kernel"])
        if step["ends"] and step["beside"]:
            expect(row).to_contain_text(f"{len(step['beside'])} kernel")
    view.page.screenshot(path=SCREENSHOTS / "target-schedule.png", full_page=True)
