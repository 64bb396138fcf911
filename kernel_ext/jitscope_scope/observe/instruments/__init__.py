"""The instruments: documents about one program that cost more than looking at records, made when somebody asks for them.

Each has a file here of its name, which is the kind of its document, with an `OFFER` that says what it shows and costs. Its function,
`instrument`, stands in the same file, or in the module that the offer names. It takes a row and arguments to run the program on (None:
those of the call that the row tells of, while they are there), with options of its own, and raises Unavailable, with a sentence, where
there is nothing to show, ValueError for options that do not fit, and RuntimeError where what it needs is in use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from jitscope.backend.call_arguments import CallArguments

from ...annotations import InstrumentDocument
from ..ledger import Row
from .offer import Offer as Offer


@cache
def instrument_names() -> tuple[str, ...]:
    """The names of all instruments."""
    return tuple(sorted(module.name for module in iter_modules(__path__) if module.name != "offer"))


def offer_of(name: str) -> Offer:
    """What an instrument shows and costs. Raises ValueError for an unknown one."""
    if name not in instrument_names():
        raise ValueError(f"there is no instrument {name!r}; there are {', '.join(instrument_names())}")
    return import_module(f".{name}", __name__).OFFER


def offers() -> list[dict[str, str]]:
    """All instruments with what they show and cost, for a view that offers them."""
    named = [(name, offer_of(name)) for name in instrument_names()]
    return [{"name": name, "button": o.button, "shows": o.shows, "costs": o.costs} for name, o in named]


def silent_about(row: Row) -> list[str]:
    """The instruments that have nothing to say of a row's program, whatever it is: those for our own, where it is another library's."""
    return [name for name in instrument_names() if row.library and not offer_of(name).of_libraries]


def look(row: Row, name: str, given: CallArguments | None = None, **options: Any) -> InstrumentDocument:
    """What an instrument says of a row's program. Raises ValueError for an unknown instrument, TypeError for an unknown option, and
    what the instrument raises."""
    place = offer_of(name).place or f"{__name__}.{name}"
    instrument: Callable[..., InstrumentDocument] = import_module(place).instrument
    return instrument(row, given, **options)
