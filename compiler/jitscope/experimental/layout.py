"""`jitscope.experimental.layout`: in which order the axes of arrays lie in memory."""

from ..api.layout_constraint import with_layout_constraint
from ..core.formats import Format, Layout


__all__ = ["Format", "Layout", "with_layout_constraint"]
