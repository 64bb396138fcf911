"""An instrument of one's own in the live page: its tab, its button, its view, linked with the other panes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import jitscope.numpy as jnp
from jitscope_kernel import add_instruments
from jitscope_scope import observe
from jitscope_scope.observe import instruments
from jitscope_widgets import documents, views
from tests.browser.bare import Bare, Kernel
from tests.programs.rows import row_of


FOLDER = Path(__file__).parents[1] / "kernel_ext" / "an_instrument"


@pytest.fixture
def added() -> Iterator[None]:
    packages = (documents, instruments, views)
    before = [list(package.__path__) for package in packages]
    add_instruments(FOLDER)
    yield
    for package, path in zip(packages, before):
        package.__path__[:] = path
        sys.modules.pop(f"{package.__name__}.primitives", None)
    documents.kinds.cache_clear()
    instruments.instrument_names.cache_clear()
    views.known.cache_clear()


def program() -> tuple[Any, dict[str, Any]]:
    row = row_of(lambda x: jnp.sin(jnp.sin(x)) + 1, np.ones(3, "f"))
    return row, observe.compilation_document(row)


@pytest.mark.usefixtures("added")
def test_it_has_a_tab_and_a_button_where_there_is_a_kernel(page: Page) -> None:
    row, document = program()
    cell = {"kind": "cell", "version": 1, "cell": "In [1]", "cell_id": None, "compilations": [document], "reused": [],
            "recompilations": document["recompilations"], "left_alone": [], "error": None, "note": ""}  # fmt: skip
    view = Kernel(cell, lambda _, name, options: observe.look(row, name, None, **options)).shown(page)
    view.open("primitives")
    panel = view.element.locator("[data-panel=primitives]")
    expect(panel).to_contain_text("How often each primitive is used.")
    expect(panel).to_contain_text("Nothing is compiled or run.")
    panel.get_by_role("button", name="Count primitives").click()
    expect(panel.get_by_text("2 primitives in use.")).to_be_visible()
    panel.locator(".jitscope-table-row").first.click()
    assert set(view.selection()["paths"]) == {"e0", "e1"}


@pytest.mark.usefixtures("added")
def test_it_is_there_without_a_kernel(bare: Bare) -> None:
    row, document = program()
    document["instruments"] = {"primitives": observe.look(row, "primitives")}
    view = bare.show(document)
    view.open("primitives")
    rows = view.element.locator("[data-panel=primitives] .jitscope-table-row")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("sin")
