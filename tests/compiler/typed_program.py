"""A user's program, read by type checkers alone (test_public_types): what stands behind a line is what pyright tells of it."""
# ruff: noqa
# pyright: basic

import numpy as np
from typing_extensions import reveal_type

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, random
from jitscope.typing import ArrayLike


def loss(w: jx.Array, x: jx.Array, scale: float = 1.0) -> jx.Array:
    return jnp.sum(jnp.tanh(x @ w) ** 2) * scale


w, x = jnp.ones(3), jnp.ones((4, 3))

# Transformations keep the parameters
step = jx.jit(loss)
reveal_type(step(w, x, scale=2.0))  # type: Array
step(w)  # error: reportCallIssue
step(w, x, sclae=2.0)  # error: reportCallIssue
reveal_type(step.lower(w, x))  # type: LoweredStage
reveal_type(step.lower(w, x).compile())  # type: CompiledStage
reveal_type(jx.value_and_grad(loss)(w, x))  # type: tuple[Array, Any]
jx.grad(loss)(w)  # error: reportCallIssue
reveal_type(jx.vmap(loss, in_axes=(None, 0))(w, x))  # type: Array
reveal_type(jx.checkpoint(loss)(w, x))  # type: Array
reveal_type(jx.jit(static_argnames="scale")(loss)(w, x))  # type: Array
jx.jit(loss, static_argnmes="scale")  # error: reportCallIssue


class Model:
    @jx.jit
    def __call__(self, x: jx.Array) -> jx.Array:
        return x

    @jx.jit
    def step(self, x: jx.Array) -> tuple[jx.Array, int]:
        return x, 1


reveal_type(Model().step(x))  # type: tuple[Array, int]

# Arrays
reveal_type(x.shape)  # type: tuple[int, ...]
reveal_type(x + 1)  # type: Array
reveal_type(1.0 / x)  # type: Array
reveal_type(x @ w)  # type: Array
reveal_type(x[0, 1:])  # type: Array
reveal_type(x > 0)  # type: Array
reveal_type(x.sum(axis=0))  # type: Array
reveal_type(x.T.reshape(2, -1).astype("float32"))  # type: Array
reveal_type(float(x[0, 0]))  # type: float
reveal_type(np.asarray(x).ndim)  # type: int
x.smu()  # error: reportAttributeAccessIssue

# Modules and their names
jx.nonsense  # error: reportAttributeAccessIssue
jnp.nonsense  # error: reportAttributeAccessIssue
lax.nonsense  # error: reportAttributeAccessIssue
random.nonsense  # error: reportAttributeAccessIssue
reveal_type(jx.scipy.special.gamma(0.5))  # type: Array
reveal_type(lax.add_p)  # type: Primitive
reveal_type(jx.inspect(loss)(w, x))  # type: Inspection
