"""Primitives that hold jaxprs; they use the transformations."""
