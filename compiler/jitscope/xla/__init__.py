"""Thin typed wrappers round jaxlib, its only importer; no semantics of arrays or programs live here."""

from .versions import warn_if_unverified


warn_if_unverified()
