"""`jitscope.scipy.spatial`: geometry. `transform` is loaded when first used."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ...core.late import late as _late


if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from . import transform as transform
else:
    _late(globals(), {".transform": "."})
