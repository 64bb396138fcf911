"""The types of the documents that are made here, for annotations: widgets, where they are defined, are not loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jitscope.core.late import any_names


if TYPE_CHECKING:
    from jitscope_widgets.documents.annotations import *
else:
    any_names(globals())
