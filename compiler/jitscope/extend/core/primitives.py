"""`jitscope.extend.core.primitives`: the operations by the names that `jax.extend.core.primitives` has for them."""

from __future__ import annotations

import importlib
from typing import Any

from ...control.remat import checkpoint_p as remat_p  # noqa: F401
from ...core.primitive import Primitive
from ...core.staging import eval_jaxpr
from ...lax import primitives
from ...ops.families import add_any_p as add_jaxvals_p  # noqa: F401


_ELSEWHERE = {
    "custom_jvp_call_p": "control.custom_jvp",
    "custom_lin_p": "control.custom_vjp",
    "custom_vjp_call_p": "control.custom_vjp",
    "jit_p": "control.call",
    "random_bits_p": "ops.rng",
    "random_fold_in_p": "ops.rng",
    "random_seed_p": "ops.rng",
    "random_split_p": "ops.rng",
}


class Inlined(Primitive):
    """A call that leaves no trace: the equations of what it calls stand in its place, in every program."""

    multiple_results = call_primitive = True

    def bind(self, *args: Any, call_jaxpr: Any = None, **params: Any) -> list[Any]:
        """Call the first operand (a `linear_util.WrappedFun`) on the others, or run the program `call_jaxpr`."""
        if call_jaxpr is None:
            return list(args[0].call_wrapped(*args[1:]))
        return eval_jaxpr(getattr(call_jaxpr, "jaxpr", call_jaxpr), getattr(call_jaxpr, "consts", ()), *args)


call_p = Inlined("call")
closed_call_p = Inlined("closed_call")


def __getattr__(name: str) -> Any:
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(f"jitscope.{_ELSEWHERE[name]}"), name)
    for room in ("lax", "lax.linalg"):
        try:
            return primitives.find(name, room)
        except AttributeError:
            continue
    raise AttributeError(f"no operation is called {name!r} here")


def __dir__() -> list[str]:
    known = (primitives.PRIMITIVES, primitives.OF_LINALG, _ELSEWHERE)
    return sorted({"add_jaxvals_p", "call_p", "closed_call_p", "remat_p", *[name for names in known for name in names]})
