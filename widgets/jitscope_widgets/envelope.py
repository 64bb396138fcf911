"""A document in an attribute: compressed, as base64 text; the same document always gives the same text.

Beside the fields of a document stands its view (`view`: parts, as js/parts draws them), wherever its kind has one.

The text is pieces with spaces between. The first has the document, without what its compilations hold; each further piece
is what one compilation holds, for a view to read when that compilation is opened. Within a size, pieces are left out or
made lighter, and the first piece says which.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from . import words
from .budget import Part, give_way
from .columns import compact, expand
from .document_forms import HEAVY, WITHOUT_HLO, Form, brief, forms
from .grouping import in_full
from .unusual import unusual
from .view_data import with_views, without_views
from .words import Document, plural


_TOLD = (
    "unusual",
    "busy",
    "profiled",
)  # of a compilation: in the first piece, since its line is seen before the others are loaded
_LEVEL = 6  # of gzip; beyond that, time counts more than the last few per cent
_MANY_NODES = 30_000  # with more in a graph, the HLO programs are not even tried


@dataclass(frozen=True)
class PackedDocument:
    """The text for the attribute, and a sentence for each thing that is not in it."""

    text: str
    remarks: tuple[str, ...] = ()


def pack(document: Document, room: int | None = None, here: str = "") -> PackedDocument:
    """`document` for the attribute `data-jitscope-document`, in at most `room` characters (an empty text: it cannot be). Of an
    instrument's, `here` is the cell or file of the function.

    Raises TypeError, ValueError or RecursionError for what is no plain data.
    """
    if document.get("kind") == "compilation":
        return _parted(document, [document], room, "")
    if document.get("kind") == "cell" and isinstance(document.get("compilations"), list):
        return _parted(document, document["compilations"], room, "compilations")
    part = _Part(document, lambda light: {"document": with_views(light, here)})
    if room is not None and not give_way([part], lambda: room):
        return PackedDocument("")
    return PackedDocument(part.text, (f"Kept without {part.without}.",) if part.without else ())


def unpack(text: str) -> dict[str, Any]:
    """The document that `pack` made `text` of, as much of it as is there."""
    first, *more = text.split()
    said = _read(first)
    document = said["document"]
    whole = [document] if document.get("kind") == "compilation" else document.get("compilations", ())
    for part in said.get("parts", ()):
        compilation = whole[part["at"]]
        for name in _TOLD:
            compilation.pop(name, None)
        compilation.update(_read(more[part["piece"] - 1]))
    return without_views(document)


def renewed(text: str) -> str:
    """The same document with its views made anew; what was left out of it is still told."""
    packed = pack(unpack(text)).text
    told = _read(text.split()[0])
    if "parts" not in told:
        return packed
    first, *more = packed.split()
    said, without = _read(first), {part["at"]: part["without"] for part in told["parts"]}
    parts = [{**part, "without": without.get(part["at"], "")} for part in said["parts"]]
    return " ".join([_piece({**said, "parts": parts, "rows": told["rows"]}), *more])


def pack_compilation(compilation: Document) -> str:
    """What a compilation holds, all of it, as one piece."""
    return _piece(_held(compilation))


# --- by compilations --------------------------------------------------------------------------------------------------


class _Part(Part):
    """A document, or what a compilation holds, as a piece of text that has lighter and lighter forms."""

    def __init__(self, document: Document, held: Callable[[Document], Mapping[str, Any]], at: int = 0):
        self.document, self.place = document, at
        self.lighter = forms(document)
        super().__init__([partial(self._piece_of, form, held) for form in self.lighter])

    def _piece_of(self, form: Form, held: Callable[[Document], Mapping[str, Any]]) -> str:
        return _piece(held(form.make(self.document)))

    @property
    def without(self) -> str:
        """What is not in the form that stands at present."""
        return self.lighter[self.at].without


def _parted(document: Document, compilations: list[Any], room: int | None, key: str) -> PackedDocument:
    kept = set(range(len(compilations))) if room is None else in_full(compilations)
    parts = [_Part(one, _held, at) for at, one in enumerate(compilations) if at in kept and _has_parts(one)]
    for part in parts if room is not None else ():
        if part.document.get("fusion") and _nodes(part.document) > _MANY_NODES:
            part.at = len(part.forms) + WITHOUT_HLO
    rows = [at for at, one in enumerate(compilations) if at not in kept and _has_parts(one)]

    def first() -> str:
        return _piece(_outside(document, compilations, parts, rows, key))

    if room is not None and not give_way(parts, lambda: room - len(parts) - len(first())):
        return PackedDocument("")
    return PackedDocument(" ".join([first(), *(part.text for part in parts)]), _remarks(parts, rows))


def _has_parts(compilation: Any) -> bool:
    return isinstance(compilation, dict) and all(name in compilation for name in HEAVY if name != "instruments")


def _nodes(compilation: Document) -> int:
    try:
        return len(compilation["graph"]["nodes"])
    except (KeyError, TypeError):
        return 0


def _held(compilation: Document) -> dict[str, Any]:
    here = words.here_of(compilation) if "source" in compilation else ""
    return {name: with_views(compilation[name], here) for name in (*HEAVY, *_TOLD) if name in compilation}


def _outside(
    document: Document, compilations: list[Any], parts: list[_Part], rows: list[int], key: str
) -> dict[str, Any]:
    """The first piece: the document but for what is in the others."""
    inside, few = {part.place for part in parts}, set(rows)
    shells = []
    for at, one in enumerate(compilations):
        if at in inside:
            one = {name: value for name, value in one.items() if name not in HEAVY} | _told(one)
        shells.append(with_views(brief(one) if at in few else one))
    told = [{"at": part.place, "piece": place, "without": part.without} for place, part in enumerate(parts, 1)]
    shell = {**{name: with_views(value) for name, value in document.items()}, key: shells} if key else shells[0]
    return {"document": shell, "parts": told, "rows": rows}


def _told(compilation: Document) -> dict[str, Any]:
    found = {name: compilation.get(name) or say(compilation) for name, say in zip(_TOLD, (unusual, _busy, _profiled))}
    return {name: said for name, said in found.items() if said}


def _busy(compilation: Document) -> dict[str, Any] | None:
    """How busy a recorded call was; None where there is no profile."""
    call = ((compilation.get("instruments") or {}).get("profile") or {}).get("timeline") or {}
    return {"seconds": call["seconds"], "busy": call["busy"]} if call.get("busy") else None


def _profiled(compilation: Document) -> Document | None:
    """What a run takes by the profile, where no other calls were timed."""
    found = words.steady_of(compilation) if "timing" in compilation else None
    return found if found and not compilation["timing"]["steady"] else None


def _remarks(parts: list[_Part], rows: list[int]) -> tuple[str, ...]:
    said: dict[str, list[str]] = {}
    for part in parts:
        if part.without:
            said.setdefault(part.without, []).append(str(part.document["function"]))
    remarks = [f"Of {', '.join(dict.fromkeys(names))}, {without} are not kept." for without, names in said.items()]
    if rows:
        remarks.append(f"Of {plural(len(rows), 'compilation')} only a row is kept.")
    return tuple(remarks)


# --- pieces -----------------------------------------------------------------------------------------------------------


def _piece(value: Mapping[str, Any]) -> str:
    said = json.dumps(compact(value), separators=(",", ":"), allow_nan=False).encode()
    return base64.b64encode(gzip.compress(said, _LEVEL, mtime=0)).decode()


def _read(piece: str) -> Any:
    return expand(json.loads(gzip.decompress(base64.b64decode(piece))))
