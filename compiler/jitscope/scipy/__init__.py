"""`jitscope.scipy`: SciPy's functions under JAX's names. Each part is loaded when first used."""

from ..core.late import late as _late


_MODULES = "cluster fft integrate interpolate linalg ndimage optimize signal sparse spatial special stats"

__getattr__, __dir__ = _late(globals(), {f".{module}": "." for module in _MODULES.split()})
