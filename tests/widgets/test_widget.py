"""The widget: what it displays, what it answers to the view, and that nothing of it raises into the kernel."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import jitscope_widgets
from jitscope_scope.observe import Unavailable
from jitscope_widgets import View, bundle, display_bundle, envelope, static_files, validate, view_problem, widget
from jitscope_widgets.answers import Answers
from jitscope_widgets.envelope import unpack
from jitscope_widgets.view_data import without_views
from tests.widgets import documents as made


WIDGET = "application/vnd.jupyter.widget-view+json"
LOADER, VIEW_CODE = "export default {};", "export const mount = 1;"


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A built front end (a small one), and a kernel."""
    for name, code in ((static_files.LOADER, LOADER), (static_files.VIEW, VIEW_CODE), (static_files.PAGE_VIEW, "1")):
        (tmp_path / name).write_text(code, encoding="utf-8")
    monkeypatch.setattr(static_files, "FOLDER", tmp_path)
    for module in (bundle, widget):
        monkeypatch.setattr(module, "in_kernel", lambda: True)
    return tmp_path


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What views send."""
    messages: list[Any] = []
    monkeypatch.setattr(View, "send", lambda self, content, buffers=None: messages.append(content))
    yield messages


@pytest.mark.usefixtures("built")
def test_a_view_displays_itself_live_still_and_as_text() -> None:
    shown = display_bundle(made.layer_cell())
    assert list(shown) == [WIDGET, "text/html", "text/plain"]
    assert shown[WIDGET]["model_id"]
    assert shown["text/html"].startswith('<div class="jitscope" data-jitscope-document="')
    assert shown["text/plain"].startswith("layer(x: f32[64,20]")


@pytest.mark.usefixtures("built")
def test_the_state_of_a_widget_is_small_and_the_document_is_in_the_html() -> None:
    view = View(made.layer_cell())
    state = view.get_state()
    assert state["_esm"] == LOADER
    assert len(json.dumps(state)) < 1000
    assert view.packed.text in view.bundle()["text/html"]
    assert unpack(view.packed.text) == made.layer_cell()


def test_without_a_kernel_there_is_no_widget() -> None:
    assert list(display_bundle(made.layer_cell())) == ["text/html", "text/plain"]
    assert list(View(made.layer_cell()).bundle()) == ["text/html", "text/plain"]


def test_without_the_built_front_end_one_sentence_says_so(built: Path) -> None:
    assert view_problem() == ""
    (built / static_files.VIEW).unlink()
    assert view_problem().startswith("The interactive views are not part of this installation (view.js not built)")
    shown = display_bundle(made.layer_cell())
    assert list(shown) == ["text/html", "text/plain"]
    assert "The interactive views are not part of this installation" in shown["text/html"]
    assert "interactive" not in shown["text/plain"]
    assert list(View(made.layer_cell()).bundle()) == ["text/html", "text/plain"]


@pytest.mark.usefixtures("built")
def test_what_cannot_be_shown_is_told_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> str:
        raise RuntimeError("<oh> no")

    monkeypatch.setattr(bundle, "html", broken)
    monkeypatch.setattr(bundle, "text", broken)
    shown = display_bundle(made.layer_cell())
    assert "could not be made (RuntimeError: &lt;oh&gt; no)" in shown["text/html"]
    assert "could not be made (RuntimeError: <oh> no)" in shown["text/plain"]
    assert WIDGET in shown


@pytest.mark.usefixtures("built")
def test_a_widget_that_cannot_be_made_leaves_the_still_view(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no comm")

    monkeypatch.setattr(View, "__init__", broken)
    shown = display_bundle(made.layer_cell())
    assert list(shown) == ["text/html", "text/plain"]
    assert "could not be made (RuntimeError: no comm)" in shown["text/html"]


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("document", [{"kind": "novel"}, {"kind": "cell", "version": 1}])
def test_documents_that_are_none_do_not_raise(document: dict[str, Any]) -> None:
    shown = display_bundle(document)
    assert "no view of" in shown["text/plain"] or "could not be made" in shown["text/plain"]


# --- messages -----------------------------------------------------------------------------------------------------------


def _say(view: View, message: object) -> None:
    view._handle_custom_msg(message, [])


@pytest.mark.usefixtures("built")
def test_the_view_code_is_sent_when_asked_for(sent: list[Any]) -> None:
    _say(View(made.layer_cell()), {"type": "view-code?"})
    assert sent == [{"type": "view-code", "code": VIEW_CODE}]


def test_a_view_code_that_is_gone_is_told(built: Path, sent: list[Any]) -> None:
    view = View(made.layer_cell())
    (built / static_files.VIEW).unlink()
    _say(view, {"type": "view-code?"})
    assert sent[0]["code"] == "" and "view.js not built" in sent[0]["message"]


@pytest.mark.usefixtures("built")
def test_measuring_shows_the_new_document(sent: list[Any]) -> None:
    asked: list[int] = []

    def measure(ident: int) -> dict[str, Any]:
        asked.append(ident)
        return {**made.layer_compilation(), "headline": "measured"}

    view = View(made.layer_cell(), Answers(measure=measure))
    known = view.document["compilations"][0]["id"]
    _say(view, {"type": "measure", "id": known})
    assert asked == [known]
    assert view.document["compilations"][0]["headline"] == "measured"
    assert view.changes == 1
    assert [message["type"] for message in sent] == ["document", "saved"]
    assert unpack(sent[0]["data"]) == view.document


@pytest.mark.usefixtures("built")
def test_compiling_once_more_shows_the_new_document_without_what_stems_from_the_old(sent: list[Any]) -> None:
    cell = made.layer_cell()
    cell["compilations"][0]["instruments"] = {"memory": made.memory()} if hasattr(made, "memory") else {}
    view = View(cell, Answers(again=lambda _: {**made.layer_compilation(), "headline": "anew"}))
    known = view.document["compilations"][0]["id"]
    _say(view, {"type": "again", "id": known})
    assert view.document["compilations"][0]["headline"] == "anew"
    assert not view.document["compilations"][0]["instruments"]
    assert [message["type"] for message in sent] == ["document", "saved"]
    _say(View(made.layer_cell()), {"type": "again", "id": known})
    said = "This could not be compiled once more: this view has no kernel that could compile the program"
    assert sent[-1] == {"type": "again-failed", "id": known, "message": said}


@pytest.mark.usefixtures("built")
def test_the_document_and_what_was_left_out_of_it_are_sent_when_asked_for(sent: list[Any]) -> None:
    document = made.cell(compilations=[made.layer_compilation() | {"id": at} for at in range(10)])
    view = View(document)
    _say(view, {"type": "document?"})
    saved = unpack(sent[0]["data"])["compilations"]
    assert [bool(one["graph"]["nodes"]) for one in saved] == [True, *[False] * 8, True]
    _say(view, {"type": "part?", "at": 4})
    assert sent[1]["at"] == 4
    held = without_views(envelope._read(sent[1]["data"]))
    assert held == {name: made.layer_compilation()[name] for name in ("source", "jaxpr", "graph", "fusion")}


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("at", [7, None, "0"])
def test_a_part_that_is_not_there_is_a_sentence(at: object, sent: list[Any]) -> None:
    _say(View(made.layer_cell()), {"type": "part?", "at": at})
    assert sent[0]["data"] == "" and sent[0]["message"]


@pytest.mark.usefixtures("built")
def test_the_kernel_writes_a_page(sent: list[Any]) -> None:
    _say(View(made.layer_cell()), {"type": "page?"})
    assert sent[0]["data"].startswith("<!DOCTYPE html>") and "data-jitscope-view" in sent[0]["data"]


def _refuses(_: int) -> dict[str, Any]:
    raise ValueError("f has callbacks;\nit is not run again")


def _is_stopped(_: int) -> dict[str, Any]:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("measure", "ident", "said"),
    [
        (_refuses, 2, "This could not be measured: f has callbacks;\\nit is not run again"),
        (_is_stopped, 2, "Measuring was stopped."),
        (None, 2, "This could not be measured: this view has no kernel that could run the function"),
        (_refuses, "2", "This could not be measured: the id of a compilation is a whole number, not '2'"),
    ],
)
def test_a_failed_measurement_is_a_sentence(measure: Any, ident: object, said: str, sent: list[Any]) -> None:
    view = View(made.layer_cell(), Answers(measure=measure))
    _say(view, {"type": "measure", "id": ident})
    assert sent == [{"type": "measure-failed", "id": ident, "message": said}]
    assert view.document == made.layer_cell()


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize("message", [None, "text", [], {}, {"type": "novel"}, {"type": None}])
def test_other_messages_are_let_pass(message: object, sent: list[Any]) -> None:
    _say(View(made.layer_cell()), message)
    assert sent == []


# --- the package --------------------------------------------------------------------------------------------------------


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, jitscope_widgets as w; w.html; w.text; w.svg; w.page;"
        "heavy = {'ipywidgets', 'anywidget', 'graphviz', 'nbconvert', 'IPython', 'jitscope', 'numpy', 'traitlets'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names_are_what_they_say() -> None:
    assert all(callable(getattr(jitscope_widgets, name)) for name in jitscope_widgets.__all__)
    assert set(jitscope_widgets.__all__) <= set(dir(jitscope_widgets))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        jitscope_widgets.nothing  # noqa: B018


def test_the_views_know_nothing_of_the_compiler() -> None:
    for path in Path(jitscope_widgets.__file__).parent.glob("*.py"):
        code = path.read_text(encoding="utf-8")
        assert "import jitscope\n" not in code and "from jitscope" not in code, path.name


def asked(view: View, **message: object) -> dict[str, Any]:
    sent: list[dict[str, Any]] = []
    view.send = lambda content, buffers=None: sent.append(content)
    view._receive(None, {"type": "instrument", "token": "t", "options": {}, **message})
    answer, *saved = sent
    assert (answer["type"], answer["token"]) == ("instrument", "t")
    assert [one["type"] for one in saved] == (["saved"] if answer["data"] and not message.get("options") else [])
    for one in saved:
        assert view.packed.text in one["data"]["text/html"] and one["remarks"] == list(view.packed.remarks)
    return answer


def test_an_instrument_is_asked_and_kept_with_the_document() -> None:
    calls: list[tuple] = []

    def instrument(program: int, name: str, options: Mapping[str, object]) -> dict[str, Any]:
        calls.append((program, name, dict(options)))
        return made.passes()

    cell = made.layer_cell()
    known = cell["compilations"][0]["id"]
    view = View(cell, Answers(instrument=instrument))
    assert unpack(asked(view, id=known, name="passes")["data"]) == made.passes()
    assert unpack(asked(view, id=known, name="passes", options={"more": 2})["data"]) == made.passes()
    assert calls == [(known, "passes", {}), (known, "passes", {"more": 2})]
    validate(view.document)
    assert view.document["compilations"][0]["instruments"] == {"passes": made.passes()}
    assert "instruments" not in cell["compilations"][0]  # what was given stays as it was
    assert unpack(view.packed.text) == view.document


def test_the_page_is_told_how_far_an_instrument_is(sent: list[Any]) -> None:
    listeners: list[Any] = []

    @contextmanager
    def told_to(listener: Any) -> Iterator[None]:
        listeners.append(listener)
        yield
        listeners.pop()

    def look(ident: int, name: str, options: object) -> dict[str, Any]:
        (tell,) = listeners
        tell("compiling", 0.1)
        tell("reading", 0.2)  # so soon after it that the page is not told
        return made.memory()

    view = View(made.layer_cell(), Answers(instrument=look, told_to=told_to))
    known = view.document["compilations"][0]["id"]
    _say(view, {"type": "instrument", "id": known, "name": "memory", "token": "t"})
    assert not listeners
    assert sent[0] == {"type": "instrument-step", "token": "t", "step": "compiling"}
    assert [message["type"] for message in sent[1:]] == ["instrument", "saved"]


def test_an_instrument_that_cannot_look_says_why() -> None:
    def instrument(program: int, name: str, options: Mapping[str, object]) -> dict[str, Any]:
        raise Unavailable("the program is no longer kept")

    cell = made.layer_cell()
    view = View(cell, Answers(instrument=instrument))
    known = cell["compilations"][0]["id"]
    assert asked(view, id=known, name="passes")["message"] == "the program is no longer kept"
    slip = View(cell, Answers(instrument=lambda *_: list[Any]()[1]))
    assert asked(slip, id=known, name="passes")["message"] == "IndexError: list index out of range"
    assert "no compilation 10" in asked(view, id=10**9, name="passes")["message"]
    assert "whole number" in asked(view, id="1", name="passes")["message"]
    assert "no kernel" in asked(View(cell), id=known, name="passes")["message"]
    assert view.document == cell


def test_a_measured_compilation_keeps_what_instruments_found() -> None:
    cell = made.layer_cell()
    known = cell["compilations"][0]
    known["instruments"] = {"passes": made.passes()}
    again = {**made.layer_compilation(), "headline": "measured"}
    view = View(cell, Answers(measure=lambda _: again))
    view.send = lambda content, buffers=None: None
    view._receive(None, {"type": "measure", "id": known["id"]})
    (shown,) = view.document["compilations"]
    assert shown["headline"] == "measured"
    assert set(shown["instruments"]) == {"passes"}
