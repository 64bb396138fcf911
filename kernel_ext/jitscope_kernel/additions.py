"""Instruments of one's own, in three files each."""

from __future__ import annotations

from pathlib import Path

from jitscope_scope.observe import instruments
from jitscope_widgets import documents, views


def add_instruments(folder: str | Path) -> None:
    """Make the instruments of a folder known: `%%jit --with NAME`, `inspect(f)(x).look("NAME")`, a tab in the live view.

    An instrument NAME has three files there: `documents/NAME.py` with the type of its document (`class NameDocument(TypedDict)`),
    `instruments/NAME.py` with `OFFER` and the function `instrument(row, given)` that makes one, and `views/NAME.py` with the function
    `view(document)`, which gives parts, and `NAME`, what the view is called. Raises FileNotFoundError where one of the folders is not
    there.
    """
    whole = Path(folder).resolve()
    places = {documents: "documents", instruments: "instruments", views: "views"}
    for name in places.values():
        if not (whole / name).is_dir():
            raise FileNotFoundError(
                f"{whole / name} is not there: a folder of instruments has documents, instruments and views"
            )
    for package, name in places.items():
        if str(whole / name) not in package.__path__:
            package.__path__.append(str(whole / name))
    documents.kinds.cache_clear()
    instruments.instrument_names.cache_clear()
    views.known.cache_clear()
