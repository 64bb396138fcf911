"""A view that fails says so in its place, and everything else stands."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from . import words
from .budget import Part
from .escapes import escape


Pieces = list[str | Part]


def attempt(what: str, make: Callable[[], str]) -> str:
    """What `make` returns, or the sentence that says why there is none."""
    try:
        return make()
    except Exception as error:
        return said(words.failure(what, error))


def attempt_all(what: str, make: Callable[[], Iterable[str | Part]]) -> Pieces:
    """The same for pieces."""
    try:
        return list(make())
    except Exception as error:
        return [said(words.failure(what, error))]


def said(sentence: str) -> str:
    """A sentence in the place of a view."""
    return f"<p>{escape(sentence)}</p>"


def part(what: str, *forms: Callable[[], str], worth: float = 1.0) -> Part:
    """A part with these forms, none of which can raise; the last resort is a sentence."""
    left_out = f"{what[0].upper()}{what[1:]}: left out here to keep the saved output small; the live view shows it."
    guarded = [lambda form=form: attempt(what, form) for form in forms]
    return Part([*guarded, lambda: said(left_out)], worth)
