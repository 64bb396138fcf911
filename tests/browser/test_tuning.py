"""The card of a tuned program: on a bare page in all widths, and in a notebook in the place of its progress."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.audit import assert_readable
from tests.browser.bare import Bare
from tests.browser.conftest import Lab
from tests.browser.notebook import SCREENSHOTS
from tests.browser.programs import LOAD
from tests.widgets.tuning_documents import tuning


CARDS = {"taken": tuning(), "none": tuning(taken=False), "jax": tuning(library="jax")}
TUNE = "@jx.jit\ndef f(x):\n    return (x @ x).sum()\n\nx = jnp.ones((64, 64))"


@pytest.mark.parametrize("name", CARDS)
def test_a_card_says_what_was_tried_and_can_be_read(bare: Bare, name: str) -> None:
    for width, dark in ((1280, False), (1280, True), (480, False)):
        view = bare.show(CARDS[name], dark=dark, width=width)
        assert_readable(view.element)
        SCREENSHOTS.mkdir(exist_ok=True)
        view.page.screenshot(path=SCREENSHOTS / f"tuning-{name}-{width}-{'dark' if dark else 'light'}.png")
    text = view.element.inner_text()
    shown: dict[str, Any] = CARDS[name]
    assert ("Nothing helped" in text) == (name == "none")
    assert ("jax.jit(nbody, compiler_options=" in text) == (name == "jax")
    assert "<b>no</b>" in text
    assert "2e-7" not in text and ("differ from those before by at most 4e-6 of" in text) == (name != "none")
    places = [text.index(one["name"], text.index("What was tried")) for one in shown["tried"]]
    assert places == sorted(places)


def test_intervals_are_whole_where_a_cell_is_narrow(bare: Bare) -> None:
    """As in JupyterLab at 320 px, where an output has 185."""
    view = bare.show(tuning(), width=185)
    frame = view.element.locator(".jitscope-table-scroll").first
    assert frame.evaluate("frame => frame.scrollWidth - frame.clientWidth") <= 0


def test_the_card_stands_in_the_place_of_its_progress(lab: Lab) -> None:
    notebook = lab.open([LOAD, TUNE, "%tune --seconds 6 f(x)", "float(f(x))"])
    notebook.run_all()
    output = notebook.output(2)
    card = output.locator(".jitscope-parts[data-kind=tuning]")
    expect(card).to_have_count(1)
    assert_readable(card)
    assert "jitscope tunes" not in output.inner_text()
    assert "262144" in notebook.output(3).inner_text()
    notebook.screenshot("tuning-notebook", notebook.cell(2))
