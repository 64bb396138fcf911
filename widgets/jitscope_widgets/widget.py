"""The live view as a widget. Its code is a small loader; the view itself comes from the page, or once from the kernel."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

import anywidget
import traitlets

from . import words
from .answers import SILENT, Answers
from .bundle import in_kernel, static_bundle
from .document_forms import lacks_programs
from .documents.annotations import CompilationDocument, InstrumentDocument
from .envelope import PackedDocument, pack, pack_compilation
from .html import pack_with_remarks
from .instrument_documents import with_instrument
from .page import page
from .static_files import LOADER, VIEW, read, view_problem
from .view_data import fusion_of, timing_of, title_of
from .words import Document


_WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


class View(anywidget.AnyWidget):
    """A document as a live view; assign `document` to show another one in its place.

    The document is no part of the widget's state, which notebooks may save: it stands, packed, in the HTML of the same
    output, where JupyterLab's extension finds it; other front ends ask for it. `changes` counts the documents that came after.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    changes = traitlets.Int(0).tag(sync=True)

    def __init__(self, document: Document, answers: Answers = SILENT, **traits: Any):
        self.answers = answers
        self._document: dict[str, Any] = dict(document)
        self._packed: PackedDocument | None = None
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
        self._change(document)
        self._send_document()

    def _change(self, document: Document) -> None:
        self._document, self._packed = dict(document), None
        self.changes += 1

    @property
    def _compilations(self) -> list[Document]:
        return [self._document] if self._document.get("kind") == "compilation" else self._document["compilations"]

    def _with(self, compilation: Document) -> Document:
        """The document with a newer form of one of its compilations; what is on show does not change under its view."""
        if self._document.get("kind") == "compilation":
            return compilation
        newer = [compilation if one["id"] == compilation["id"] else one for one in self._compilations]
        return {**self._document, "compilations": newer}

    def _compilation(self, ident: object) -> Document:
        if not isinstance(ident, int):
            raise TypeError(f"the id of a compilation is a whole number, not {ident!r}")
        for one in self._compilations:
            if one["id"] == ident:
                return one
        raise ValueError(f"this view has no compilation {ident}")

    @property
    def packed(self) -> PackedDocument:
        """The document as it is saved and sent."""
        if self._packed is None:
            self._packed = pack_with_remarks(self._document)
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

    def _send_saved(self) -> None:
        """What a saved notebook should have of this output from now on; JupyterLab's extension writes it there."""
        data = static_bundle(self._document, view_problem(), self.packed)
        self.send({"type": "saved", "data": data, "remarks": list(self.packed.remarks)})

    def _send_offers(self) -> None:
        """What instruments there are, each with the title of its view."""
        found = self.answers.offers() if self.answers.offers else []
        self.send({"type": "offers", "data": [{**one, "title": title_of(one["name"])} for one in found]})

    def _send_part(self, at: object) -> None:
        """All that one compilation holds; the view had a part of it."""
        try:
            if not isinstance(at, int):
                raise TypeError(f"the place of a compilation is a whole number, not {at!r}")
            self.send({"type": "part", "at": at, "data": self._part(at)})
        except Exception as error:
            self.send({"type": "part", "at": at, "data": "", "message": words.reason(error)})

    def _part(self, at: int) -> str:
        one = self._compilations[at]
        if self.answers.whole and lacks_programs(one):
            one = {**self.answers.whole(one["id"]), "instruments": one.get("instruments", {})}
        return pack_compilation(one)

    def _send_page(self) -> None:
        try:
            self.send({"type": "page", "data": page(self._document, words.title(self._document))})
        except Exception as error:
            self.send({"type": "page", "data": "", "message": words.reason(error)})

    def _receive(self, _: object, message: object, __: object = None) -> None:
        """Answer a message of the view; whatever goes wrong is answered too and never reaches the kernel's loop."""
        if not isinstance(message, dict):
            return
        try:
            if message.get("type") == "view-code?":
                self.send({"type": "view-code", "code": read(VIEW)})
            elif message.get("type") == "document?":
                self._send_document()
            elif message.get("type") == "offers?":
                self._send_offers()
            elif message.get("type") == "part?":
                self._send_part(message.get("at"))
            elif message.get("type") == "page?":
                self._send_page()
            elif message.get("type") == "measure":
                self._measure(message.get("id"))
            elif message.get("type") == "again":
                self._compile_again(message.get("id"))
            elif message.get("type") == "instrument":
                self._look(message)
        except OSError:
            self.send({"type": "view-code", "code": "", "message": view_problem()})

    def _measure(self, ident: object) -> None:
        with self._failures("measure", ident, "Measuring was stopped.", "This could not be measured"):
            if self.answers.measure is None:
                raise RuntimeError("this view has no kernel that could run the function")
            known = self._compilation(ident)
            again = self.answers.measure(known["id"])
            self._shown_anew({**again, "instruments": known.get("instruments", {})})

    def _compile_again(self, ident: object) -> None:
        with self._failures("again", ident, "Compiling was stopped.", "This could not be compiled once more"):
            if self.answers.again is None:
                raise RuntimeError("this view has no kernel that could compile the program")
            self._shown_anew({**self.answers.again(self._compilation(ident)["id"]), "instruments": {}})

    def _shown_anew(self, compilation: Document) -> None:
        self.document = self._with(compilation)
        self._send_saved()

    @contextmanager
    def _failures(self, asked: str, ident: object, stopped: str, failed: str) -> Iterator[None]:
        """What goes wrong inside is answered."""
        said = ""
        try:
            yield
        except KeyboardInterrupt:
            said = stopped
        except Exception as error:
            said = f"{failed}: {words.reason(error)}"
        if said:
            self.send({"type": f"{asked}-failed", "id": ident, "message": said})

    def _look(self, message: Mapping[str, Any]) -> None:
        """Answer with the document of an instrument; one that was asked for without options belongs to the document from then on."""
        asked = {"type": "instrument", "token": message.get("token")}
        try:
            options = message.get("options") or {}
            with self._telling(message.get("token")):
                found = self._looked(message.get("id"), str(message.get("name")), options)
            here = words.here_of(self._compilation(message.get("id")))
            self.send({**asked, "data": pack(found, here=here).text})
            if not options and message.get("name") != "fusion":
                self._send_saved()
        except KeyboardInterrupt:
            self.send({**asked, "data": "", "message": "It was ended; nothing of it is kept."})
        except Exception as error:
            self.send({**asked, "data": "", "message": words.reason(error)})

    def _telling(self, token: object) -> AbstractContextManager[None]:
        """The page is told how far an instrument is, once a second at most."""
        said = [0.0]

        def tell(step: str, seconds: float) -> None:
            if step and time.monotonic() - said[0] >= 1:
                said[0] = time.monotonic()
                self.send({"type": "instrument-step", "token": token, "step": step})

        return self.answers.told_to(tell) if self.answers.told_to else nullcontext()

    def _looked(self, ident: object, name: str, options: Mapping[str, Any]) -> Document:
        if self.answers.instrument is None:
            raise RuntimeError("this view has no kernel that could look at the program")
        known = self._compilation(ident)
        if name in ("fusion", "timing"):
            return fusion_of(known) if name == "fusion" else timing_of(known)
        if not options and name in known.get("instruments", {}):
            return known["instruments"][name]
        found = self.answers.instrument(known["id"], name, options)
        if options:
            return found
        newer = cast(
            "Document", with_instrument(cast("CompilationDocument", known), name, cast("InstrumentDocument", found))
        )
        self._change(self._with(newer))
        return newer["instruments"][name]
