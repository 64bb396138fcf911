"""Advice on sharp bits: found in the code, while tracing, in what was compiled again, and in runs; at the line, with a fix."""

from ..source_code.edits import Edit, Span
from .catalogue import CATALOGUE
from .diagnostic import Diagnostic, Fix, distinct, together
from .look import look
from .silencing import heard, silencer
from .why import WHY


__all__ = ["CATALOGUE", "WHY", "Diagnostic", "Edit", "Fix", "Span", "distinct", "heard", "look", "silencer", "together"]
