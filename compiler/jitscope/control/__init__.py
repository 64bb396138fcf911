"""Primitives with inner jaxprs; they use the transformations."""
