"""A user's program, read by type checkers alone (test_public_types): what stands behind a line is what pyright tells of it."""
# ruff: noqa
# pyright: basic

import numpy as np
from typing_extensions import reveal_type

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax, nn, random, tree
from jitscope.sharding import NamedSharding, PartitionSpec as P
from jitscope.typing import ArrayLike, PyTree


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

# Derivatives as linear maps
reveal_type(jx.jvp(loss, (w, x), (w, x)))  # type: tuple[Array, Array]
out, pull = jx.vjp(loss, w, x)
reveal_type(pull)  # type: Pullback
reveal_type(jx.linearize(loss, w, x)[1])  # type: Pushforward
reveal_type(jx.make_jaxpr(loss)(w, x))  # type: ClosedJaxpr


@jx.custom_jvp
def clipped(x: jx.Array, most: float) -> jx.Array:
    return jnp.clip(x, -most, most)


reveal_type(clipped(x, 1.0))  # type: Array
clipped(x)  # error: reportCallIssue


# Control flow
def cell(h: jx.Array, x: jx.Array) -> tuple[jx.Array, dict[str, jx.Array]]:
    h = jnp.tanh(h + x)
    return h, {"seen": h}


last, seen = lax.scan(cell, w, x)
reveal_type(last)  # type: Array
reveal_type(seen["seen"])  # type: Array
reveal_type(lax.scan(lambda c, x: (c + x, c), w, x))  # type: tuple[Array, Array]
lax.scan(cell)  # error: reportCallIssue
reveal_type(lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x))  # type: Array
reveal_type(lax.switch(0, [nn.relu, nn.gelu], x))  # type: Array
reveal_type(lax.while_loop(lambda c: c[1].sum() < 9, lambda c: (c[0], c[1] * 2), (w, x)))  # type: tuple[Array, Array]
reveal_type(lax.map(jnp.sum, x))  # type: Array

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
reveal_type(x.at[0].set(1.0))  # type: Array
reveal_type(x.block_until_ready())  # type: Array
for row in x:
    reveal_type(row)  # type: Array

# The library
reveal_type(jnp.where(x > 0, x, 0))  # type: Array
reveal_type(jnp.where(x > 0))  # type: tuple[Array, ...]
reveal_type(jnp.add(x, 1))  # type: Array
reveal_type(jnp.add.reduce(x))  # type: Array
reveal_type(jnp.float32(1.5))  # type: Array
reveal_type(jnp.linalg.svd(x).S)  # type: Array
reveal_type(jnp.linalg.svd(x, compute_uv=False))  # type: Array
reveal_type(jnp.linalg.eigh(x @ x.T).eigenvalues)  # type: Array
reveal_type(jnp.linspace(0, 1, 5, retstep=True))  # type: tuple[Array, Array]
reveal_type(jnp.unique(x))  # type: Array
reveal_type(jx.scipy.stats.norm.logpdf(x))  # type: Array
reveal_type(nn.softmax(x))  # type: Array
reveal_type(nn.initializers.he_normal()(random.key(0), (3, 3)))  # type: Array
reveal_type(random.split(random.key(0)))  # type: Array
reveal_type(random.normal(random.key(0), (3,)))  # type: Array
jnp.sin("x")  # error: reportArgumentType
jnp.sum(x, axes=0)  # error: reportCallIssue
jnp.ones((3,), dtype=3)  # error: reportArgumentType
random.normal(random.key(0), "3,")  # error: reportArgumentType


def norm(params: PyTree) -> jx.Array:
    leaves, structure = tree.flatten(params)
    reveal_type(structure.num_leaves)  # type: int
    return jnp.sqrt(sum(jnp.vdot(x, x) for x in leaves))


# Layouts and stages
mesh = jx.make_mesh((1,), ("data",))
sharding = NamedSharding(mesh, P("data"))
reveal_type(jx.device_put(x, sharding))  # type: Array
reveal_type(x.sharding)  # type: Sharding
reveal_type(jx.shard_map(loss, mesh=mesh, in_specs=P(), out_specs=P())(w, x))  # type: Array
NamedSharding(mesh, "data")  # error: reportArgumentType
compiled = step.lower(w, x).compile()
reveal_type(compiled.as_text())  # type: str
reveal_type(compiled.cost_analysis())  # type: dict[str, float]
reveal_type(step.trace(w, x).jaxpr)  # type: ClosedJaxpr

# Modules and their names
jx.nonsense  # error: reportAttributeAccessIssue
jnp.nonsense  # error: reportAttributeAccessIssue
lax.nonsense  # error: reportAttributeAccessIssue
random.nonsense  # error: reportAttributeAccessIssue
reveal_type(jx.scipy.special.gamma(0.5))  # type: Array
reveal_type(lax.add_p)  # type: Primitive

# What the compiler did
seen_by = jx.inspect(loss)(w, x)
reveal_type(seen_by)  # type: Inspection
reveal_type(seen_by.hlo)  # type: Program
reveal_type(seen_by.memory)  # type: Memory
reveal_type(seen_by.graph)  # type: Graph
reveal_type(seen_by.save("seen.html"))  # type: Path
reveal_type(seen_by.document["graph"])  # type: GraphDocument
reveal_type(seen_by.kernels)  # type: list[Kernel]
reveal_type(seen_by.profile.document["lines"])  # type: list[ProfileLine]
seen_by.hlos  # error: reportAttributeAccessIssue
