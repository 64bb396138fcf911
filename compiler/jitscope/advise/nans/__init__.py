"""The NaN hunt for people: what made the first bad value, why, from which numbers, and what to write instead."""

from .causes import wide as wide
from .document import hunt_document as hunt_document, sentence as sentence
from .report import Report as Report, hunt as hunt
