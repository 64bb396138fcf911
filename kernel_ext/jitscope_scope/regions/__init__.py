"""Regions of a cell that could be compiled: found by watching the cell run, priced, proved on what was recorded, and written as an edit.

Nothing here compiles silently or changes a cell: `find` answers with regions, each a verdict with its reason and, where it is
"compile", the edit and how far its results were from the plain ones."""

from .answers import Cut, Region, Sameness
from .cells import Cell, cells_of, read
from .files import of_file


__all__ = ["Cell", "Cut", "Region", "Sameness", "cells_of", "of_file", "read"]
