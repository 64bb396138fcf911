"""`jitscope.scipy.sparse`: solvers for systems given by a function. `linalg` is loaded when first used."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ...core.late import late as _late


if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from . import linalg as linalg
else:
    _late(globals(), {".linalg": "."})
