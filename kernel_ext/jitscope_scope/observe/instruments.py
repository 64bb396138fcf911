"""The instruments: documents about one program that cost more than looking at records, made when somebody asks for them.

An instrument is a function of a row and of arguments to run the program on (None: those of the call that the row tells of, while
they are there), with options of its own. It raises Unavailable, with a sentence, where there is nothing to show, ValueError for
options that do not fit, and RuntimeError where what it needs is in use.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from jitscope.backend.given import Given

from .ledger import Row


if TYPE_CHECKING:
    from jitscope_widgets.documents.compilation import InstrumentDocument


_WHERE = {
    "transformations": ".transformations",
    "passes": ".passes",
    "memory": ".memory",
    "profile": ".profiling.document",
    "values": ".values",
    "machine": ".machine",
    "communication": ".communication",
}
"""Each instrument by name, which is the kind of its document, and the module whose `instrument` is the function. They are loaded when
asked for."""

INSTRUMENTS = tuple(_WHERE)


def look(row: Row, name: str, given: Given | None = None, **options: Any) -> InstrumentDocument:
    """What an instrument says of a row's program. Raises ValueError for an unknown instrument, TypeError for an unknown option, and
    what the instrument raises."""
    if name not in _WHERE:
        raise ValueError(f"there is no instrument {name!r}; there are {', '.join(INSTRUMENTS)}")
    instrument: Callable[..., InstrumentDocument] = import_module(_WHERE[name], __package__).instrument
    return instrument(row, given, **options)
