"""Symbolic dimensions: sizes of axes as expressions of variables, what is known about them, and their solution from shapes."""
