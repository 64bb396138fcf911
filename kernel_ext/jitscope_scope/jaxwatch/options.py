"""jax's options, which a program sets for the whole process."""

from __future__ import annotations

from typing import Any

from . import private


def options() -> dict[str, Any]:
    """The options in force, by name; none where jax is not imported."""
    return dict(private.module("jax").config.values) if private.there() else {}


def set_back(before: dict[str, Any]) -> None:
    """Set options to what they were; what jax does not let change any more stays."""
    for name, value in options().items():
        if name in before and before[name] != value:
            try:
                private.module("jax").config.update(name, before[name])
            except Exception:  # jax's backends are there, and the option was theirs
                continue
