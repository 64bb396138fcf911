"""A tracing error in the notebook: the way to it, the graph, and rewrites that the button makes in the cell."""

from playwright.sync_api import expect

from tests.browser.audit import assert_readable
from tests.browser.conftest import Lab
from tests.browser.notebook import wait
from tests.browser.programs import LOAD
from tests.browser.view import views


CELL = """%%jit
def loss(w, x, limit):
    error = x @ w - 1.0
    total = jnp.sum(error * error)
    if total > limit:
        step = w * 0.5
    else:
        step = w - 0.1 * jnp.mean(error)
    return step

loss(jnp.ones(3), jnp.ones((4, 3)), 2.0)"""

LEFT = """output => [".jitscope-error strong", ".jitscope-parts > .jitscope-sentence", ".jitscope-fix strong"].map(one => {
  const text = document.createRange();
  text.selectNodeContents(output.querySelector(one));
  return text.getBoundingClientRect().left;
})"""
"""Where the error's name begins, the sentence below it, and the first fix."""


def test_a_tracing_error_shows_the_way_to_it_and_a_rewrite_that_runs(lab: Lab) -> None:
    notebook = lab.open([LOAD, CELL])
    notebook.run_all(allow_errors=True)
    output = notebook.output(1)
    stopped = output.locator(".jitscope-parts[data-kind=stopped]")
    assert "stopped at" in stopped.inner_text()
    steps = stopped.locator("ol > li").all_inner_texts()
    assert [step.split()[0] for step in steps[:3]] == ["argument"] * 3 and "✕" in steps[-1]
    view = views(output)[0]
    assert not view.headline().count()
    texts = output.evaluate(LEFT)
    assert len(texts) == 3 and max(texts) - min(texts) <= 1, texts
    assert_readable(stopped)
    notebook.screenshot("stopped", notebook.cell(1))
    notebook.dark()
    assert_readable(stopped)
    notebook.screenshot("stopped-dark", notebook.cell(1))
    notebook.dark(False)
    notebook.page.set_viewport_size({"width": 640, "height": 1000})
    assert_readable(stopped)
    notebook.screenshot("stopped-narrow", notebook.cell(1))
    notebook.page.set_viewport_size({"width": 1280, "height": 1000})
    fixes = stopped.locator(".jitscope-fix")
    expect(fixes).to_have_count(2)
    fixes.nth(0).get_by_role("button").click()
    wait(notebook.page, "() => document.querySelector('.jitscope-fix-do')?.innerText.length > 0", "the button answers")
