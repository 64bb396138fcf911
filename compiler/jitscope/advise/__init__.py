"""Advice on sharp bits: found in the code, while tracing, in what was compiled again, and in runs; at the line, with a fix."""

from .catalogue import CATALOGUE
from .diagnostic import Diagnostic, Edit, Fix, Span, distinct
from .look import look


__all__ = ["CATALOGUE", "Diagnostic", "Edit", "Fix", "Span", "distinct", "look"]
