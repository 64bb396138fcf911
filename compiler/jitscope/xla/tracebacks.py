"""Where we are in the user's program, at a tenth of a microsecond."""

from types import CodeType
from typing import Any

from .runtime import xc


Handle = xc.Traceback
"""A captured stack: code objects and offsets, no frames and no locals."""

capture = xc.Traceback.get_traceback
"""capture(): the present stack from the caller on, for `frames`; None when jaxlib's tracebacks were switched off."""


def frames(traceback: Any) -> list[tuple[CodeType, int]]:
    """(code, byte offset of the instruction) of each frame, innermost first.

    `list(code.co_positions())[offset // 2]` is the frame's position.
    """
    if traceback is None:
        return []
    codes, offsets = traceback.raw_frames()
    return list(zip(codes, offsets, strict=True))
