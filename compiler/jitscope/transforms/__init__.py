"""Transformations: each is a trace (what it does to an operation) and functions on flat values and jaxprs.

jvp (forward derivatives), linearize (jvp + partial evaluation), transpose (backward pass), vmap, dce.
"""
