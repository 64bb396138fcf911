"""`jitscope.scipy`: SciPy's functions under JAX's names. Each part is loaded when first used."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from ..core.late import late as _late


_MODULES = "cluster fft integrate interpolate linalg ndimage optimize signal sparse spatial special stats"

if _TYPE_CHECKING:  # what is loaded late, for editors and type checkers
    from . import (
        cluster as cluster,
        fft as fft,
        integrate as integrate,
        interpolate as interpolate,
        linalg as linalg,
        ndimage as ndimage,
        optimize as optimize,
        signal as signal,
        sparse as sparse,
        spatial as spatial,
        special as special,
        stats as stats,
    )
else:
    _late(globals(), {f".{module}": "." for module in _MODULES.split()})
