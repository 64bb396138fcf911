"""`jitscope.scipy.sparse`: solvers for systems given by a function. `linalg` is loaded when first used."""

from ...core.late import late as _late


__getattr__, __dir__ = _late(globals(), {".linalg": "."})
