"""The trace line by line on a page of its own, without a kernel: what is on screen is what the document says, by pointer and by keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import jitscope as jx
import jitscope.numpy as jnp
from tests.browser.audit import assert_readable
from tests.browser.notebook import SCREENSHOTS


def square(v: jx.Array) -> jx.Array:
    return v * v


def wave(x: jx.Array) -> jx.Array:
    if x.ndim == 1:
        y = jnp.sin(x)
    else:
        y = jnp.cos(x)
    for step in (1, 2):
        y = square(y) + step * x
    return y


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 1280), (False, 480), (True, 480)])
def test_each_step_shows_its_line_and_the_tape_up_to_it(page: Page, tmp_path: Path, dark: bool, width: int) -> None:
    shown = jx.step(wave)(jnp.ones(3))
    document = shown.document
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if dark else "light")
    page.goto(shown.save(tmp_path / "wave.html").as_uri())
    steps = page.locator(".jitscope-step")
    expect(steps).to_have_count(len(document["steps"]))
    for at, step in enumerate(document["steps"]):
        if at == 0:
            steps.nth(0).click()
        else:
            page.keyboard.press("ArrowDown")
        expect(steps.nth(at)).to_have_attribute("aria-current", "step")
        code, tape = page.locator(".jitscope-steps-body .jitscope-part-code").all()[:2]
        here = code.locator('[data-mark="here"]')
        expect(here.locator(".jitscope-code-number")).to_have_text(str(step["line"]))
        length = step["tapes"][0]["length"]
        expect(tape.locator(".jitscope-code-row")).to_have_count(length + 1)
        if length:
            expect(tape.locator(".jitscope-code-row").last).to_contain_text(document["tapes"][0]["lines"][length - 1])
    off = page.locator('.jitscope-steps-body [data-mark="off"]')
    expect(off).to_have_count(1)
    expect(page.locator(".jitscope-steps-body .jitscope-code-row", has_text="# not taken")).to_contain_text(
        "jnp.cos(x)"
    )
    assert_readable(page.locator(".jitscope").first)
    page.screenshot(path=SCREENSHOTS / f"stepper-{'dark' if dark else 'light'}-{width}.png", full_page=True)
