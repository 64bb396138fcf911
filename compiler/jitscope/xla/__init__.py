"""Thin typed wrappers round jaxlib, its only importer; no semantics of arrays or programs live here."""
