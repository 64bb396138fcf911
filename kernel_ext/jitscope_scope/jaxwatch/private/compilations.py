"""What a compilation of jax worked on and gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any, NamedTuple

from .frames import local
from .names import jax, module


__all__ = [
    "Compilation", "compiled", "compiled_again", "compiled_with", "laid_out", "options_with",
]  # fmt: skip


class Compilation(NamedTuple):
    """What a compilation worked on and gave."""

    module: Any
    executable: Any
    backend: Any
    devices: Any
    options: Any
    callbacks: Any
    kept: Any


def compiled(frame: FrameType | None) -> Compilation | None:
    """What the compilation that sent an event left; None where it failed."""
    executable = local(frame, "xla_executable")
    if executable is None:
        return None
    names = ("computation", "backend", "da", "compile_options", "host_callbacks", "kept_var_idx")
    module, backend, devices, options, callbacks, kept = (local(frame, name) for name in names)
    return Compilation(module, executable, backend, devices, options, callbacks, kept)


def compiled_again(one: Compilation) -> Compilation:
    """The same module compiled once more, past jax's persistent cache."""
    made = one.backend.compile_and_load(one.module, executable_devices=one.devices, compile_options=one.options)
    return one._replace(executable=made)


def compiled_with(one: Compilation, lowered: Any, overrides: Mapping[str, Any]) -> Any:
    """The executable of another module for the same devices, with the options of this one and others by name."""
    options = options_with(one, overrides)
    return one.backend.compile_and_load(lowered, one.devices, options, list(one.callbacks or ()))


def options_with(one: Compilation, overrides: Mapping[str, Any]) -> Any:
    """The options of a compilation, and others by name."""
    options = type(one.options).ParseFromString(one.options.SerializeAsString())
    options.env_option_overrides = [*(options.env_option_overrides or ()), *overrides.items()]
    return options


def laid_out(one: Compilation, bufs: Sequence[Any]) -> list[Any]:
    """The arrays that a program for several devices takes, in its layouts."""
    kind = module("jax._src.sharding_impls").GSPMDSharding
    layouts = [kind(one.devices, told) for told in one.executable.get_parameter_shardings() or ()]
    put = jax().device_put  # pyright: ignore[reportOptionalMemberAccess]
    return [x if x.sharding.is_equivalent_to(at, x.ndim) else put(x, at) for x, at in zip(bufs, layouts, strict=True)]
