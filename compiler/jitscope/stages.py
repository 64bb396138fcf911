"""`jitscope.stages`: the types of ahead-of-time stages, by JAX's names: jit(f).trace(x) is a Traced, .lower() a Lowered,
.compile() a Compiled."""

from typing import Any

from .backend.arg_info import ArgInfo
from .backend.dispatch import JitFunction as Wrapped
from .backend.stages import (
    CompiledStage as Compiled,
    LoweredStage as Lowered,
    TracedStage as Traced,
)


CompilerOptions = dict[str, Any]

__all__ = ["ArgInfo", "Compiled", "CompilerOptions", "Lowered", "Traced", "Wrapped"]
