"""The live view as a widget. Its code is a small loader; the view itself comes from the page, or once from the kernel."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from . import words
from .bundle import Measure, in_kernel, static_bundle
from .envelope import Packed, pack_compilation
from .html import carried
from .lighter import lacks_programs
from .page import page
from .static_files import LOADER, VIEW, read, view_problem
from .words import Document


_WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


class View(anywidget.AnyWidget):
    """A document as a live view; assign `document` to show another one in its place.

    The document is no part of the widget's state, which notebooks may save: it stands, packed, in the HTML of the same
    output, where JupyterLab's extension finds it; other front ends ask for it. `changes` counts the documents that came after.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    changes = traitlets.Int(0).tag(sync=True)

    def __init__(
        self, document: Document, on_measure: Measure | None = None, on_whole: Measure | None = None, **traits: Any
    ):
        self.on_measure = on_measure
        self.on_whole = on_whole
        self._document: dict[str, Any] = dict(document)
        self._packed: Packed | None = None
        super().__init__(**traits)
        self.on_msg(self._receive)

    @traitlets.default("_esm")
    def _loader(self) -> str:
        return "" if view_problem() else read(LOADER)

    @property
    def document(self) -> dict[str, Any]:
        """What is shown."""
        return self._document

    @document.setter
    def document(self, document: Document) -> None:
        self._document, self._packed = dict(document), None
        self.changes += 1
        self._send_document()

    @property
    def packed(self) -> Packed:
        """The document as it is saved and sent."""
        if self._packed is None:
            self._packed = carried(self._document)
        return self._packed

    def bundle(self) -> dict[str, Any]:
        """The MIME bundle of this view: live, static, text."""
        return self._repr_mimebundle_()[0]

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        problem = view_problem()
        static = static_bundle(self._document, problem, self.packed)
        if problem or not in_kernel():
            return static, {}
        live, metadata = super()._repr_mimebundle_() or ({}, {})
        return {_WIDGET_MIME: live[_WIDGET_MIME], **static} if _WIDGET_MIME in live else static, metadata

    def _send_document(self) -> None:
        self.send({"type": "document", "data": self.packed.text, "remarks": list(self.packed.remarks)})

    def _send_part(self, at: object) -> None:
        """All that one compilation holds; the view had a part of it."""
        try:
            if not isinstance(at, int):
                raise TypeError(f"the place of a compilation is a whole number, not {at!r}")
            self.send({"type": "part", "at": at, "data": self._part(at)})
        except Exception as error:
            self.send(
                {"type": "part", "at": at, "data": "", "message": words.clean(str(error)) or type(error).__name__}
            )

    def _part(self, at: int) -> str:
        one = self._document if self._document.get("kind") == "compilation" else self._document["compilations"][at]
        return pack_compilation(self.on_whole(one["id"]) if self.on_whole and lacks_programs(one) else one)

    def _send_page(self) -> None:
        try:
            self.send({"type": "page", "data": page(self._document, words.title(self._document))})
        except Exception as error:
            self.send({"type": "page", "data": "", "message": words.clean(str(error)) or type(error).__name__})

    def _receive(self, _: object, message: object, __: object = None) -> None:
        """Answer a message of the view; whatever goes wrong is answered too and never reaches the kernel's loop."""
        if not isinstance(message, dict):
            return
        try:
            if message.get("type") == "view-code?":
                self.send({"type": "view-code", "code": read(VIEW)})
            elif message.get("type") == "document?":
                self._send_document()
            elif message.get("type") == "part?":
                self._send_part(message.get("at"))
            elif message.get("type") == "page?":
                self._send_page()
            elif message.get("type") == "measure":
                self._measure(message.get("id"))
        except OSError:
            self.send({"type": "view-code", "code": "", "message": view_problem()})

    def _measure(self, ident: object) -> None:
        try:
            if self.on_measure is None:
                raise RuntimeError("this view has no kernel that could run the function")
            if not isinstance(ident, int):
                raise TypeError(f"the id of a compilation is a whole number, not {ident!r}")
            self.document = self.on_measure(ident)
        except KeyboardInterrupt:
            self._not_measured(ident, "Measuring was stopped.")
        except Exception as error:
            self._not_measured(ident, f"This could not be measured: {words.clean(str(error)) or type(error).__name__}")

    def _not_measured(self, ident: object, sentence: str) -> None:
        self.send({"type": "measure-failed", "id": ident, "message": sentence})
