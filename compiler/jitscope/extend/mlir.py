"""`jitscope.extend.mlir`: jaxlib's bindings of MLIR, `ir`, `passmanager` and `dialects`, with which lowering rules write. They
are jaxlib's modules, under names of ours."""

import sys

from ..xla.dialects import builders, dialects, ir, passmanager  # pyright: ignore[reportAttributeAccessIssue]


__all__ = ["dialects", "ir", "passmanager"]

__path__: list[str] = []
sys.modules.update({f"{__name__}.{name}": globals()[name] for name in __all__})
sys.modules.update({f"{__name__}.dialects.{m.__name__.rpartition('.')[2]}": m for m in builders})
