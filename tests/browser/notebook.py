"""A notebook open in JupyterLab, as a person and a test see it: run, look, reload, switch to dark, ask the kernel."""

import ast
import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, TimeoutError as PlaywrightTimeout


SCREENSHOTS = Path(__file__).parent / "screenshots"
PATIENCE = 40
"""Seconds that the page has for what it does in one, as a rule: others may use the machine."""
NOTEBOOK = "jupyterapp.shell.currentWidget"

# What every code cell has printed, failed with, and whether it is done; from the model, so nothing need be on screen.
CELLS = f"""() => [...{NOTEBOOK}.content.model.cells].filter(c => c.type === 'code').map(cell => {{
  const outputs = cell.sharedModel.getOutputs();
  return {{source: cell.sharedModel.getSource(), count: cell.sharedModel.execution_count, outputs: outputs,
           error: outputs.filter(o => o.output_type === 'error').map(o => `${{o.ename}}: ${{o.evalue}}`)[0] ?? null}};
}})"""

SHOWN = f"() => globalThis.jupyterapp && {NOTEBOOK}?.content?.model"
UNCOVERED = "() => !document.getElementById('jupyterlab-splash')"
IDLE = f"() => {NOTEBOOK}?.sessionContext?.isReady && {NOTEBOOK}.sessionContext.session?.kernel?.status === 'idle'"

DONE = f"""() => {{
  const cells = ({CELLS})().filter(c => c.source.trim());
  return (cells.every(c => c.count !== null) || cells.some(c => c.error)) && ({IDLE})();
}}"""

RUN_ALL = f"""() => {{
  for (const cell of {NOTEBOOK}.content.model.cells) if (cell.type === 'code') cell.clearExecution();
  jupyterapp.commands.execute('notebook:run-all-cells');
}}"""

RUN = f"""i => {{
  const content = {NOTEBOOK}.content;
  content.model.cells.get(i).sharedModel.execution_count = null;
  content.activeCellIndex = i;
  content.deselectAll();
  jupyterapp.commands.execute('notebook:run-cell');
}}"""

RAN = f"i => {NOTEBOOK}.content.model.cells.get(i).sharedModel.execution_count !== null && ({IDLE})()"

RESTART = f"async () => {{ await {NOTEBOOK}.sessionContext.restartKernel(); }}"

WRITE = f"([i, text]) => {NOTEBOOK}.content.model.cells.get(i).sharedModel.setSource(text)"

ASK = f"""async ([code, expression]) => {{
  const kernel = {NOTEBOOK}.sessionContext.session.kernel;
  const future = kernel.requestExecute({{code, silent: true, store_history: false, user_expressions: {{value: expression}}}});
  return (await future.done).content;
}}"""


def wait(page: Page, condition: str, what: str, seconds: float = PATIENCE, argument: object = None) -> None:
    """Wait until a JavaScript condition holds; `what` names it in the failure."""
    try:
        page.wait_for_function(condition, arg=argument, timeout=seconds * 1000)
    except PlaywrightTimeout:
        raise AssertionError(f"within {seconds:g} s it did not happen that {what}") from None


class Notebook:
    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self._url = url

    def open(self) -> None:
        self.page.goto(f"{self._url}?reset", timeout=60_000)
        self._wait_until_ready()

    def reload(self) -> None:
        """Load the page anew; the kernel lives on."""
        self.page.goto(self._url, timeout=60_000)
        self._wait_until_ready()

    def restart(self) -> None:
        """Another kernel process; the page lives on."""
        self.page.evaluate(RESTART)
        wait(self.page, IDLE, "the kernel is idle", 60)

    def _wait_until_ready(self) -> None:
        wait(self.page, SHOWN, "JupyterLab shows the notebook", 60)
        wait(self.page, IDLE, "the kernel is idle", 60)
        self._wait_until_uncovered()
        self.page.evaluate("() => jupyterapp.shell.collapseLeft()")

    def _wait_until_uncovered(self) -> None:
        wait(self.page, UNCOVERED, "JupyterLab's splash screen goes away", 30)

    # --- running ------------------------------------------------------------------------------------------------------

    def run_all(self, seconds: float = 60, allow_errors: bool = False) -> None:
        # Never await the command itself: it does not return in some versions of JupyterLab.
        self.page.evaluate(RUN_ALL)
        self._wait_until_done(seconds, allow_errors)

    def run(self, cell: int, seconds: float = 60, allow_errors: bool = False) -> None:
        """Run one cell, as Ctrl-Enter does."""
        self.page.evaluate(RUN, cell)
        wait(self.page, RAN, f"cell {cell} has run", seconds, cell)
        self._check_errors(allow_errors)

    def _wait_until_done(self, seconds: float, allow_errors: bool) -> None:
        wait(self.page, DONE, "all cells have run", seconds)
        self._check_errors(allow_errors)

    def _check_errors(self, allow_errors: bool) -> None:
        errors = [cell["error"] for cell in self.cells() if cell["error"]]
        assert allow_errors or not errors, errors

    def write(self, cell: int, source: str) -> None:
        self.page.evaluate(WRITE, [cell, source])

    # --- looking ------------------------------------------------------------------------------------------------------

    def cells(self) -> list[dict[str, Any]]:
        """The code cells of the model: source, count, outputs (as in the saved notebook), error."""
        return self.page.evaluate(CELLS)

    def text(self, cell: int) -> str:
        """What a cell printed to stdout and its plain-text results."""
        parts = []
        for output in self.cells()[cell]["outputs"]:
            part = output.get("text") or output.get("data", {}).get("text/plain") or ""
            parts.append("".join(part))
        return "\n".join(parts)

    def cell(self, index: int) -> Locator:
        """The cell in the page."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def output(self, cell: int) -> Locator:
        return self.cell(cell).locator(".jp-Cell-outputWrapper")

    def screenshot(self, name: str, of: Locator | None = None) -> Path:
        path = SCREENSHOTS / f"{name}.png"
        path.parent.mkdir(exist_ok=True)
        (of or self.page).screenshot(path=path)
        return path

    # --- settings -----------------------------------------------------------------------------------------------------

    def dark(self, on: bool = True) -> None:
        theme = f"JupyterLab {'Dark' if on else 'Light'}"
        if self.page.evaluate("document.body.dataset.jpThemeLight") == ("false" if on else "true"):
            return
        self.page.evaluate("theme => { jupyterapp.commands.execute('apputils:change-theme', {theme}); }", theme)
        condition = "light => document.body.dataset.jpThemeLight === light"
        wait(self.page, condition, f"the theme is {theme}", argument="false" if on else "true")
        self._wait_until_uncovered()

    def save(self) -> None:
        self.page.evaluate("() => { jupyterapp.commands.execute('docmanager:save'); }")
        wait(self.page, f"() => !{NOTEBOOK}.content.model.dirty", "the notebook is saved")

    # --- the compiler itself ------------------------------------------------------------------------------------------

    def ask(self, expression: str, code: str = "") -> Any:
        """The value of a Python expression in the notebook's kernel (JSON), after running `code` there, unseen by views."""
        dumped = f"__import__('json').dumps({expression})"
        reply = self.page.evaluate(ASK, [code, dumped])
        assert reply["status"] == "ok", "\n".join(reply.get("traceback", [reply["status"]]))
        value = reply["user_expressions"]["value"]
        assert value["status"] == "ok", f"{expression}: {value.get('ename')}: {value.get('evalue')}"
        return json.loads(ast.literal_eval(value["data"]["text/plain"]))
