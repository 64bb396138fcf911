"""`jitscope.extend.core.primitives`: the operations by the names that `jax.extend.core.primitives` has for them."""

from __future__ import annotations

import functools
from typing import Any

from ...control.remat import checkpoint_p as remat_p  # noqa: F401
from ...core.late import late
from ...core.primitive import Primitive
from ...core.staging import eval_jaxpr
from ...lax import primitives
from ...ops.families import add_any_p as add_jaxvals_p  # noqa: F401


_late, _known = late(
    globals(),
    {
        "...control.call": "jit_p",
        "...control.custom_jvp": "custom_jvp_call_p",
        "...control.custom_vjp": "custom_lin_p custom_vjp_call_p",
        "...ops.rng": "random_bits_p random_fold_in_p random_seed_p random_split_p",
    },
)


class InlineCall(Primitive):
    """A call that leaves no trace: the equations of what it calls stand in its place, in every program."""

    multiple_results = call_primitive = True

    def bind(self, *args: Any, call_jaxpr: Any = None, **params: Any) -> list[Any]:
        """Call the first operand (a `linear_util.WrappedFun`) on the others, or run the program `call_jaxpr`."""
        if call_jaxpr is None:
            return list(args[0].call_wrapped(*args[1:]))
        return eval_jaxpr(getattr(call_jaxpr, "jaxpr", call_jaxpr), getattr(call_jaxpr, "consts", ()), *args)


call_p = InlineCall("call")
closed_call_p = InlineCall("closed_call")


def __getattr__(name: str) -> Any:
    for find in (_late, primitives.find, functools.partial(primitives.find, module="lax.linalg")):
        try:
            return find(name)
        except AttributeError:
            continue
    raise AttributeError(f"no operation is called {name!r} here")


def __dir__() -> list[str]:
    known = {*_known(), *primitives.PRIMITIVES, *primitives.OF_LINALG}
    return sorted(name for name in known if name.endswith("_p"))
