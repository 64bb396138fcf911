"""Guards of transfers: what `transfer_guard` and its kin say of values that move from the host to a device, or between devices.

On the CPU, reading an array moves nothing, so that `transfer_guard_device_to_host` has nothing to guard there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import call_sites, config, source
from ..core.errors import JaxRuntimeError
from ..core.messages import with_advice


_WORDS = {
    "host_to_device": ("host-to-device", "jitscope.device_put(x)"),
    "device_to_device": ("device-to-device", "jitscope.device_put(x, device)"),
}


def guard(kind: str, what: Callable[[], str], explicit: bool = False) -> None:
    """Look at a transfer that is about to happen, of `what`. Raises JaxRuntimeError if it is not allowed. `explicit`: the user
    asked for it, by `device_put`."""
    level = config.value_of(f"transfer_guard_{kind}") or config.value_of("transfer_guard") or "allow"
    name, advice = _WORDS[kind]
    if level == "disallow_explicit" or (level == "disallow" and not explicit):
        line = source.position_text(call_sites.here(), ", in ")
        too = ", which disallow_explicit forbids, too" if level == "disallow_explicit" else ""
        refused = f"INVALID_ARGUMENT: Disallowed {name} transfer of {what()}{line}"
        raise JaxRuntimeError(with_advice(refused, f"{advice} moves it explicitly{too}"))
    if level == "log_explicit" or (level == "log" and not explicit):
        import logging  # few programs log

        logging.getLogger("jitscope.transfers").warning("%s transfer of %s", name, what())


def without_guards() -> Any:
    """Context manager: what is moved inside has been looked at, or is a part of a program."""
    return config.override(**dict.fromkeys(config.GUARDS))
