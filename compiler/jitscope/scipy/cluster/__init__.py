"""`jitscope.scipy.cluster`: clusters of vectors. `vq` is loaded when first used."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ...core.late import late as _late


if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from . import vq as vq
else:
    _late(globals(), {".vq": "."})
