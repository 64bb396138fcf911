"""Checks of what is exported: which native functions an exported module calls will mean the same elsewhere and later."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..core.messages import with_advice
from ..xla import portable


class DisabledSafetyCheck:
    """A check that is left out: made by `platform()` or `custom_call(target)`."""

    __slots__ = ("_impl",)

    def __init__(self, _impl: str):
        self._impl = _impl

    @classmethod
    def platform(cls) -> DisabledSafetyCheck:
        """Let a function be called on another platform than it was exported for. Looked at when it is called."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name: str) -> DisabledSafetyCheck:
        """Let a function be exported that calls a native function whose meaning may change. Looked at when it is exported."""
        return cls(f"custom_call:{target_name}")

    def is_custom_call(self) -> str | None:
        """The native function it allows, if it is of that kind."""
        found = re.match("custom_call:(.+)$", self._impl)
        return found and found[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DisabledSafetyCheck) and self._impl == other._impl

    def __hash__(self) -> int:
        return hash(self._impl)

    def __repr__(self) -> str:
        return self._impl


_LAPACK = {
    f"lapack_{letter}{routine}_ffi"
    for routine in "potrf geqrf geev gesdd getrf gehrd gees trsm gtsv".split()
    for letter in "sdcz"
} | {
    f"lapack_{name}_ffi"
    for name in "sorgqr dorgqr cungqr zungqr ssyevd dsyevd cheevd zheevd ssytrd dsytrd chetrd zhetrd".split()
}
_OF_ALL_PLATFORMS = {
    "LayoutConstraint", "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
    "ApproxTopK", "stablehlo.dynamic_approx_top_k", "stablehlo.dynamic_reduce_window",
    "stablehlo.dynamic_rng_bit_generator", "stablehlo.dynamic_top_k", "shape_assertion", "mhlo.topk",
}  # fmt: skip


def check_targets(module: Any, name: str, platforms: Sequence[str], disabled: Sequence[DisabledSafetyCheck]) -> None:
    """Raise ValueError for native functions without a promise to stay as they are, and NotImplementedError for those of the
    CPU in a function that is exported for another platform."""
    called = portable.custom_calls(module)
    allowed = {check.is_custom_call() for check in disabled}
    unknown = sorted(called - _LAPACK - _OF_ALL_PLATFORMS - allowed) if "ALL" not in allowed else []
    if unknown:
        raise ValueError(
            with_advice(
                "Cannot serialize code with custom calls whose targets have no compatibility guarantees. "
                f"{name} calls {', '.join(unknown)}.",
                f"if the function will be there, and the same, where it is called, "
                f"pass disabled_checks=[export.DisabledSafetyCheck.custom_call({unknown[0]!r})]",
            )
        )
    native = sorted(called & _LAPACK)
    others = [p for p in platforms if p != "cpu"]
    if native and others:
        raise NotImplementedError(
            f"{name} computes with the CPU's library ({', '.join(native)}): this release exports it for the CPU, not for "
            f"{', '.join(others)}"
        )
