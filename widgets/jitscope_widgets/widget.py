"""The live view as a widget. Its code is a small loader; the view itself comes from the page, or once from the kernel."""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from . import words
from .bundle import Measure, in_kernel, static_bundle
from .static_files import LOADER, VIEW, read, view_problem
from .words import Document


_WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


class View(anywidget.AnyWidget):
    """A document as a live view; assign `document` to show another one in its place."""

    _esm = traitlets.Unicode().tag(sync=True)
    document = traitlets.Dict().tag(sync=True)

    def __init__(self, document: Document, on_measure: Measure | None = None, **traits: Any):
        self.on_measure = on_measure
        super().__init__(document=dict(document), **traits)
        self.on_msg(self._receive)

    @traitlets.default("_esm")
    def _loader(self) -> str:
        return "" if view_problem() else read(LOADER)

    def bundle(self) -> dict[str, Any]:
        """The MIME bundle of this view: live, static, text."""
        return self._repr_mimebundle_()[0]

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        problem = view_problem()
        static = static_bundle(self.document, problem)
        if problem or not in_kernel():
            return static, {}
        live, metadata = super()._repr_mimebundle_() or ({}, {})
        return {_WIDGET_MIME: live[_WIDGET_MIME], **static} if _WIDGET_MIME in live else static, metadata

    def _receive(self, _: object, message: object, __: object = None) -> None:
        """Answer a message of the view; whatever goes wrong is answered too and never reaches the kernel's loop."""
        if not isinstance(message, dict):
            return
        try:
            if message.get("type") == "view-code?":
                self.send({"type": "view-code", "code": read(VIEW)})
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
            self.document = dict(self.on_measure(ident))
        except KeyboardInterrupt:
            self._not_measured(ident, "Measuring was stopped.")
        except Exception as error:
            self._not_measured(ident, f"This could not be measured: {words.clean(str(error)) or type(error).__name__}")

    def _not_measured(self, ident: object, sentence: str) -> None:
        self.send({"type": "measure-failed", "id": ident, "message": sentence})
