"""The NaN hunt for people: what made the first bad value, why, from which numbers, and what to write instead."""

from .causes import wide
from .document import hunt_document, sentence
from .report import Report, hunt


__all__ = ["Report", "hunt", "hunt_document", "sentence", "wide"]
