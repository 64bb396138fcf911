"""What a function gives with rules of `xla.cpu_tuning` and without."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import jitscope as jx
from jitscope.xla.cpu_tuning import Tuning


def with_and_without(
    rules: Sequence[Tuning], function: Callable[..., Any], *args: Any
) -> tuple[list[np.ndarray], list[np.ndarray], bool]:
    """The results with the rules and without, and whether the programs differ."""
    found, texts = [], []
    for off in (False, True):
        for rule in rules:
            rule.off = off
        try:
            jx.clear_caches()
            lowered = jx.jit(lambda *xs: function(*xs)).lower(*args)
            texts.append(lowered.as_text())
            found.append([np.asarray(r) for r in jx.tree.leaves(lowered.compile()(*args))])
        finally:
            for rule in rules:
                rule.off = False
    jx.clear_caches()
    return found[0], found[1], texts[0] != texts[1]
