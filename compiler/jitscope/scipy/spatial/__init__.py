"""`jitscope.scipy.spatial`: geometry. `transform` is loaded when first used."""

from ...core.late import late as _late


__getattr__, __dir__ = _late(globals(), {".transform": "."})
