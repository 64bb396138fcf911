"""The view of a NaN hunt: readable, with the fix that goes into the cell."""

import inspect

import numpy as np
from playwright.sync_api import expect

import jitscope as jx
from jitscope_scope import observe
from tests.browser.audit import assert_readable
from tests.browser.bare import Bare
from tests.browser.conftest import Lab
from tests.browser.programs import LOAD
from tests.browser.view import View
from tests.programs import transformer
from tests.programs.rows import row_of


CODE = """import numpy as np
import jitscope as jx, jitscope.numpy as jnp
from jitscope import lax

def loss(x):
    y = jnp.sqrt(x)
    return jnp.where(x > 0, y, 0.0).sum()

def softmax(x):
    e = jnp.exp(x)
    return e / e.sum(axis=-1, keepdims=True)

def steps(x):
    def step(c, i):
        return jnp.where(i == 37, jnp.log(-1 - c * c), c * 0.5), c
    return lax.scan(step, x, jnp.arange(1000))[0].mean()

x = np.array([0.0, 1.0, 4.0], np.float32)"""


def test_a_hunt_is_shown_with_the_fix(lab: Lab) -> None:
    notebook = lab.open([LOAD, CODE, "%nans jx.grad(loss)(x)", "%nans softmax(x * 1000)", "%nans steps(x)"])
    notebook.run_all()
    for number, words in ((2, "the where"), (3, "softmax of numbers too large"), (4, "37 of 1,000")):
        output = notebook.output(number)
        hunt = output.locator(".jitscope-parts[data-kind=nan-hunt]")
        hunt.wait_for()
        hunt.scroll_into_view_if_needed()
        assert words in hunt.inner_text()
        hunt.locator(".jitscope-graph canvas").first.wait_for()
        assert_readable(hunt)
        notebook.screenshot(f"nans-{number}", notebook.cell(number))
    notebook.dark()
    notebook.output(2).locator(".jitscope-parts[data-kind=nan-hunt]").scroll_into_view_if_needed()
    assert_readable(notebook.output(2).locator(".jitscope-parts[data-kind=nan-hunt]"))
    notebook.screenshot("nans-dark", notebook.cell(2))
    notebook.page.set_viewport_size({"width": 620, "height": 900})
    notebook.output(3).locator(".jitscope-parts[data-kind=nan-hunt]").scroll_into_view_if_needed()
    assert_readable(notebook.output(3).locator(".jitscope-parts[data-kind=nan-hunt]"))
    notebook.screenshot("nans-narrow", notebook.cell(3))
    notebook.output(2).get_by_role("button", name="Apply").or_(
        notebook.output(2).locator(".jitscope-fix button")
    ).first.click()
    notebook.page.wait_for_function(
        "() => jupyterapp.shell.currentWidget.content.model.cells.get(1).sharedModel.getSource().includes('jnp.sqrt(jnp.where')"
    )


def test_two_clicks_say_where_numbers_of_a_training_step_end(bare: Bare) -> None:
    """The scale of the second layer is all but infinite: what normalize multiplies by it is the first that is."""
    params, tokens, targets = transformer.arguments(layers=2)
    params["layers"][1]["scale1"] = np.full_like(params["layers"][1]["scale1"], 3e38)
    args = jx.tree.map(jx.numpy.asarray, (params, tokens, targets))
    row = row_of(transformer.program, *args)
    values = observe.look(row, "values")
    view = View(bare.show({**observe.compilation_document(row), "instruments": {"values": values}}).element)
    view.element.locator("[role=tab][data-tab=values]").click()
    lines, first = inspect.getsourcelines(transformer.normalize)
    number = first + next(n for n, line in enumerate(lines) if "* scale" in line)
    panel = view.element.locator("[data-panel=values]")
    expect(panel).to_contain_text(f"the first with an infinity is mul in line {number} of normalize.")
    expect(panel.locator(".jitscope-table-row").first).to_contain_text(f"line {number} return (x - mean)")
