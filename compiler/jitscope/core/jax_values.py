"""Values of JAX, where a program uses both libraries: how they are told, and what is said where one cannot be taken.

Nothing here imports JAX: who has a value of it has imported it. Each library traces its own operations only.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any


def jax_kind(x: Any) -> str | None:
    """What a value of JAX is: "array", "key" (or an array of keys) or "tracer"; None for what is none of these."""
    if not type(x).__module__.startswith("jax"):
        return None
    jax = sys.modules.get("jax")
    if jax is None or not hasattr(jax, "Array"):
        return None
    if isinstance(x, jax.core.Tracer):
        return "tracer"
    if not isinstance(x, jax.Array):
        return None
    return "key" if jax.dtypes.issubdtype(x.dtype, jax.dtypes.extended) else "array"


def refuse(x: Any, kind: str) -> TypeError:
    """The error for a key or a tracer of JAX."""
    shown = f"{x.dtype}[{','.join(map(str, x.shape))}]"
    if kind == "tracer":
        return TypeError(
            f"a tracer of JAX ({shown}), which stands for a value while JAX transforms a function: jitscope traces its own operations "
            "only. What to do: in functions that JAX transforms (jax.jit, grad, vmap, scan) write "
            "jax.numpy in place of jitscope.numpy; or transform the function with jitscope"
        )
    return TypeError(
        f"a random key of JAX ({shown}): jitscope's keys are values of its own. What to do: "
        f"jitscope.random.wrap_key_data(jax.random.key_data(key){_implementation(x)}) is a key that draws the same numbers"
    )


def _implementation(key: Any) -> str:
    impl = str(sys.modules["jax"].random.key_impl(key))
    return "" if impl in ("fry", "threefry2x32") else f", impl={impl!r}"


def refuse_tracer_to_jax(described: str) -> ValueError:
    """The error for a tracer of this library that a function of JAX got. (A TypeError would be hidden behind one of JAX's own.)"""
    return ValueError(
        f"a function of JAX was given a tracer of jitscope, {described}; JAX traces its own operations only. What to do: in "
        "functions that jitscope transforms (jit, grad, vmap, scan) write jitscope.numpy in place of jax.numpy; or transform the "
        "function with JAX"
    )


def asked_by_jax(frame: FrameType) -> str | None:
    """The name of the function of JAX that asks in a frame; None for other code."""
    return frame.f_code.co_name if frame.f_globals.get("__name__", "").startswith("jax._src") else None


def is_operator(function: str) -> bool:
    """Whether a function of JAX is an operator, which lets the other operand answer where it does not know it."""
    return function.startswith(("_operator_", "deferring_binary_op", "_defer_to"))
