"""`jitscope.scipy.cluster`: clusters of vectors. `vq` is loaded when first used."""

from ...core.late import late as _late


__getattr__, __dir__ = _late(globals(), {".vq": "."})
