"""One selection through all panes, by keyboard, in a saved output without a kernel: from an operation that a pass changed to its lines, its
kernels and their machine code, and from a line to the passes."""

import functools
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope_scope import observe
from jitscope_scope.observe.instruments import look
from jitscope_widgets.envelope import pack
from tests.browser.bare import Bare
from tests.browser.view import View, own_texts
from tests.programs.rows import row_of
from tests.widgets import documents as made


def recurrent(w, xs):
    def step(state, x):
        state = jnp.tanh(x @ w + state)
        return state, jnp.where(state > 0, state, 0.1 * state)

    state, outs = lax.scan(step, jnp.zeros(6), xs)
    shares = jnp.exp(outs - outs.max(1, keepdims=True))
    shares = shares / shares.sum(1, keepdims=True)
    return (shares[::-1] * outs).sum() + state.mean()


def filtered(x, kernel):
    y = lax.conv_general_dilated(x, kernel, (1, 1), "SAME")
    mean = y.mean((2, 3), keepdims=True)
    y = (y - mean) / jnp.sqrt(((y - mean) ** 2).mean((2, 3), keepdims=True) + 1e-5)
    return jnp.sort(y.max((2, 3)), axis=1)


PROGRAMS: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "gradient of a scan": (jx.grad(recurrent), [(5, 6), (7, 5)]),
    "convolution": (filtered, [(2, 3, 8, 8), (4, 3, 3, 3)]),
}


@functools.cache
def document_of(name: str) -> dict[str, Any]:
    fun, shapes = PROGRAMS[name]
    row = row_of(fun, *(np.ones(shape, np.float32) for shape in shapes))
    return {**observe.compilation_document(row), "instruments": {n: look(row, n) for n in ("passes", "machine")}}


def stage(view: View, name: str) -> None:
    view.open("stages")
    view.stage(name)


class Truth:
    """What belongs to paths, from the document's lists alone."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.equations = [n for n in document["graph"]["nodes"] if n["kind"] in ("equation", "scope")]

    def lines(self, paths: set[str]) -> set[int]:
        return {n["positions"][0]["line"] for n in self.equations if n["positions"] and self._inside(n["id"], paths)}

    def kernels(self, paths: set[str]) -> set[str]:
        def own(kernel: dict[str, Any]) -> set[str]:
            return {*kernel["paths"], *(path for member in kernel["members"] for path in member["paths"])}

        kernels = self.document["fusion"]["kernels"]
        return {kernel["name"] for kernel in kernels if any(self._inside(path, paths) for path in own(kernel))}

    def functions(self, kernels: set[str]) -> set[str]:
        machine = self.document["instruments"]["machine"]
        return {function["name"] for function in machine["functions"] if kernels & set(function["kernels"])}

    @staticmethod
    def _inside(path: str, paths: set[str]) -> bool:
        return any(path == one or path.startswith(f"{one}/") for one in paths)


def lines_of(row: dict[str, Any]) -> int:
    """How many lines show a change: what was and what is."""
    return 2 if row["kind"] in ("changed", "rewired") and None not in (row["before"], row["after"]) else 1


def marked_functions(view: View) -> set[str]:
    found = view.element.locator("[aria-label='Functions of the program'] .jitscope-step[data-related]")
    return set(own_texts(found))


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_operation_of_any_pass_leads_to_lines_kernels_and_code(bare: Bare, name: str) -> None:
    document = document_of(name)
    truth, passes = Truth(document), document["instruments"]["passes"]
    view = bare.mount(pack(made.cell(document), 500_000).text)
    stage(view, "passes")
    slider = view.element.get_by_role("slider", name="State of the program")
    slider.press("Home")
    looked = 0
    for state in passes["states"][1:]:
        slider.press("ArrowRight")
        wanted = next((row for row in state["rows"] if row["paths"] and truth.lines(set(row["paths"]))), None)
        if wanted is not None:
            paths = set(wanted["paths"])
            before = state["rows"][: state["rows"].index(wanted)]
            row = view.element.locator(".jitscope-selecting ~ .jitscope-part-code .jitscope-code-row")
            row = row.nth(sum(map(lines_of, before)))
            row.focus()
            row.press("Enter")
            selected = view.selection()
            assert set(selected["paths"]) == paths
            assert {line % 1_000_000 for line in selected["lines"]} == truth.lines(paths)
            assert set(selected["kernels"]) == truth.kernels(paths)
            if functions := truth.functions(truth.kernels(paths)):
                stage(view, "code")
                assert marked_functions(view) == functions
                stage(view, "passes")
            row.press("Escape")
            looked += 1
    assert looked >= len(passes["states"]) / 2 > 4


@pytest.mark.parametrize("name", ["gradient of a scan"])
def test_a_scope_that_is_picked_lights_the_lines_of_what_is_in_it(bare: Bare, name: str) -> None:
    document = document_of(name)
    truth = Truth(document)
    view = bare.mount(pack(made.cell(document), 500_000).text)
    view.open("graph")
    scopes = [node for node in truth.equations if node["kind"] == "scope"]
    assert len(scopes) == 2
    for scope in scopes:
        view.select({"node": scope["id"]})
        wanted = truth.lines({scope["id"]})
        assert len(wanted) > 1
        assert {line % 1_000_000 for line in view.selection()["lines"]} == wanted
        lit = view.element.locator(".jitscope-graphpane .jitscope-line.jitscope-selected").all()
        assert {int(line.get_attribute("data-line")) % 1_000_000 for line in lit} <= wanted and lit


def test_a_line_leads_to_the_passes_that_changed_it(bare: Bare) -> None:
    document = document_of("gradient of a scan")
    truth, passes = Truth(document), document["instruments"]["passes"]
    view = bare.mount(pack(made.cell(document), 500_000).text)
    lines = sorted({n["positions"][0]["line"] for n in truth.equations if n["kind"] == "equation" and n["positions"]})
    for line in lines:
        view.open("graph")
        source = view.element.locator(f".jitscope-graphpane .jitscope-line[data-line$='{line}'][data-marked]").first
        if not source.is_visible():
            continue  # of another call than the one that is shown
        source.focus()
        source.press("Enter")
        paths = set(view.selection()["paths"])
        assert {n["id"] for n in truth.equations if n["positions"] and n["positions"][0]["line"] == line} <= paths
        stage(view, "passes")
        related = {p["name"] for p in passes["passes"] if p["state"] and _touched(passes["states"][p["state"]], paths)}
        marked = view.element.locator("[aria-label='Passes that ran'] .jitscope-step[data-related]").all_inner_texts()
        assert {text.split("\n")[0].split(",")[0] for text in marked} == related and related
        view.select(None)


def _touched(state: dict[str, Any], paths: set[str]) -> bool:
    told = {path for row in state["rows"] for path in row["paths"]} | set(state["also"])
    return any(path == one or path.startswith(f"{one}/") for path in told for one in paths)


def written_apart(größe, w):
    total = "größe", jnp.tanh(größe @ w) + jnp.sin(w.sum())
    return total[1]


def test_what_wrote_an_operation_is_underlined_in_its_line(bare: Bare) -> None:
    """Columns of Python are bytes; of a line that is picked as a whole nothing is underlined."""
    row = row_of(written_apart, np.ones((3, 3), np.float32), np.ones((3, 3), np.float32))
    document = observe.compilation_document(row)
    view = bare.show(document)
    view.open("graph")
    code = view.element.locator(".jitscope-graphpane .jitscope-line").nth(1)
    underlined = code.locator(".jitscope-columns")
    before = code.locator("code").inner_text()
    wanted = {"dot_general": "größe @ w", "tanh": "jnp.tanh(größe @ w)", "sin": "jnp.sin(w.sum())"}
    for node in document["graph"]["nodes"]:
        if node["label"] in wanted:
            view.select({"node": node["id"]})
            assert "".join(underlined.all_inner_texts()) == wanted.pop(node["label"])
            assert code.locator("code").inner_text() == before
    assert not wanted
    code.click()
    assert underlined.count() == 0 and code.get_attribute("aria-selected") == "true"
