"""Where a program of jax's came from, and which part of its values each device has: in one click, held against jax."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.audit import assert_readable
from tests.browser.bare import Bare
from tests.browser.test_questions import in_jax
from tests.browser.view import View
from tests.extent import full


@pytest.mark.parametrize(
    "name", ["linen_parallel", *(pytest.param(n, marks=full) for n in ("nnx_resnet", "linen_gpt"))]
)
def test_a_program_from_disk_says_so(bare: Bare, name: str) -> None:
    found = in_jax(name, "disk")
    assert found["hits"] > 0 and found["document"]["cache"] == "loaded"
    words = bare.show(found["document"]).headline().inner_text()
    assert "loaded from disk in" in words and "compiled in" not in words


def test_what_each_device_has_and_gives(bare: Bare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
    found = in_jax("linen_parallel", "devices")
    view = View(bare.show(found["document"], width=480).element)
    view.open_graph()
    view.element.locator("[role=tab][data-tab=communication]").click()
    panel = view.element.locator("[data-panel=communication]")
    count = len(re.findall(r" all-reduce(?:-start)?\(", found["text"]))
    expect(panel).to_contain_text(f"8 devices. In one run: {count} × all-reduce")
    rows = panel.get_by_role("grid", name="Arguments and results").or_(
        panel.get_by_role("treegrid", name="Arguments and results")
    )
    told = [row.inner_text() for row in rows.locator(".jitscope-table-row").all()]
    for one, text in zip(found["given"], told):
        whole, part = ("f32[" + ",".join(map(str, one[of])) + "]" for of in ("whole", "part"))
        assert whole in text and part in text and one["devices"] == 8
        assert ("whole on each device" in text) == (one["whole"] == one["part"])
        assert ("axis 0 in parts" in text) == (one["whole"][0] != one["part"][0])
    assert len(told) > len(found["given"])
    assert_readable(view.element)
