"""What is written as other operations in a traced program."""

from __future__ import annotations

from typing import Any

from ..core.annotations import Rewrite
from .compile import lower_closed


def rewrites_of(stage: Any) -> list[Rewrite]:
    """The rewrites in their order. (The program is lowered for that.)"""
    found: list[Rewrite] = []
    closed, donated = stage._pure
    keep = stage._function._keep_unused
    lower_closed(closed, donated, keep, device=stage._device, orders=stage._orders, rewrites=found)
    return found
