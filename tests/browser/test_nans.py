"""The view of a NaN hunt: readable, with the fix that goes into the cell."""

from tests.browser.audit import assert_readable
from tests.browser.conftest import Lab
from tests.browser.programs import LOAD


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
