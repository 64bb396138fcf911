"""Many devices, derivatives and control flow, Python inside, other ways to compile: more of what people do with jax. As in `programs`,
each function makes what it needs, calls what it compiles, and gives a tree of arrays."""

import dataclasses
import functools
import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.jaxwatch.training import IMAGES


P = jax.sharding.PartitionSpec


def mesh_of(*shape):
    names = "xyz"[: len(shape)]
    return jax.sharding.Mesh(np.array(jax.devices()[: int(np.prod(shape))]).reshape(shape), tuple(names))


# --- many devices -----------------------------------------------------------------------------------------------------


def sharded_training():
    mesh = mesh_of(2, len(jax.devices()) // 2)
    put = jax.sharding.NamedSharding
    data, weights = put(mesh, P("x", None)), put(mesh, P(None, "y"))
    params = {
        "a": jax.device_put(jnp.ones((8, 16)) / 8, weights),
        "b": jax.device_put(jnp.ones((16, 4)), put(mesh, P("y", None))),
    }
    x = jax.device_put(jnp.asarray(IMAGES), data)

    def loss(p, x):
        h = lax.with_sharding_constraint(jax.nn.gelu(x @ p["a"]), put(mesh, P("x", "y")))
        return ((h @ p["b"]) ** 2).mean()

    @functools.partial(
        jax.jit, donate_argnums=0, out_shardings=(jax.tree.map(lambda v: v.sharding, params), put(mesh, P()))
    )
    def train(p, x):
        value, grads = jax.value_and_grad(loss)(p, x)
        return jax.tree.map(lambda p, g: p - 0.1 * g, p, grads), value

    for _ in range(2):
        params, value = train(params, x)
    return params, value


def collectives():
    mesh = mesh_of(2, len(jax.devices()) // 2)

    def exchange(a, b):
        i = lax.axis_index("x")
        a = lax.ppermute(a, "x", [(0, 1), (1, 0)]) + i
        whole = lax.all_gather(b, "y", tiled=True)
        part = lax.psum_scatter(whole * 2, "y", tiled=True)
        swapped = lax.all_to_all(a.reshape(2, -1), "x", 0, 1, tiled=True)
        return lax.pmean(swapped.sum() * part, ("x", "y")), lax.pmax(a, "y")

    n = len(jax.devices()) // 2
    f = jax.shard_map(exchange, mesh=mesh, in_specs=(P("x"), P("y")), out_specs=(P(), P("x")), check_vma=False)
    return jax.jit(f)(jnp.arange(8.0), jnp.arange(2.0 * n * n))


def sharded_gradient():
    mesh = mesh_of(len(jax.devices()))

    @jax.jit
    def gradient(w, x):
        def loss(w):
            inner = jax.shard_map(
                lambda w, x: lax.pmean(jnp.tanh(x @ w).sum(), "x"), mesh=mesh, in_specs=(P(), P("x")), out_specs=P()
            )
            return inner(w, x)

        return jax.grad(loss)(w)

    return gradient(jnp.ones((3, 2)), jnp.linspace(0, 1, 48).reshape(16, 3))


def mapped_over_devices():
    n = len(jax.devices())
    over = jax.pmap(lambda x, w: lax.pmean(jnp.sin(x) * w, "d"), axis_name="d", in_axes=(0, None))
    return over(jnp.arange(2.0 * n).reshape(n, 2), 3.0), jax.vmap(over, (1, None))(jnp.ones((n, 2, 3)), 2.0)


# --- derivatives and control flow -------------------------------------------------------------------------------------


def rules_with_statics():
    @functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
    def apply(f, x):
        return f(x)

    @apply.defjvp
    def apply_jvp(f, primals, tangents):
        (x,), (t,) = primals, tangents
        return apply(f, x), t * f(x) * 0.5

    @functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
    def clip(x, limit):
        return x

    clip.defvjp(lambda x, limit: (x, None), lambda limit, _, g: (jnp.clip(g, -limit, limit),))

    @jax.jit
    def f(xs):
        def body(c, x):
            return clip(apply(jnp.sin, c) * x, 0.3), c

        return jax.grad(lambda xs: lax.scan(body, 1.0, xs)[0])(xs)

    return f(jnp.linspace(0.5, 2, 5))


def checkpoint_policies():
    from jax.ad_checkpoint import checkpoint_name

    def block(x, w):
        return jnp.tanh(checkpoint_name(x @ w, "product")) @ w.T

    policies = jax.checkpoint_policies
    kept = [
        policies.save_only_these_names("product"),
        policies.nothing_saveable,
        policies.dots_with_no_batch_dims_saveable,
    ]
    w = jnp.eye(3) / 2
    return [jax.jit(jax.grad(lambda x: jax.checkpoint(block, policy=p)(x, w).sum()))(jnp.ones((2, 3))) for p in kept]  # noqa: B023


def other_derivatives():
    def f(x, w):
        return jnp.tanh(w @ x)

    x, w = jnp.linspace(0, 1, 3), jnp.eye(3) + 0.1
    out, run = jax.linearize(lambda x: f(x, w), x)
    back = jax.linear_transpose(lambda x: w @ x, x)
    hvp = jax.jit(lambda v: jax.jvp(jax.grad(lambda x: f(x, w).sum()), (x,), (v,))[1])
    shape = jax.eval_shape(f, x, w)
    converted, captured = jax.closure_convert(lambda y: y * w.sum(), x)
    jacobians = jax.jit(lambda x: (jax.jacfwd(f)(x, w), jax.jacrev(f, argnums=1)(x, w)))(x)
    return out, run(x), back(out), hvp(x), jnp.zeros(shape.shape), jax.jit(converted)(x, *captured), jacobians


def nested_control():
    @jax.jit
    def f(x, n):
        def body(carry):
            i, x = carry
            x = lax.cond(
                x.sum() > 2, lambda x: x / 2, lambda x: lax.switch(i % 3, [jnp.sin, jnp.cos, lambda v: v + 1], x), x
            )
            return i + 1, x

        i, x = lax.while_loop(lambda c: (c[0] < n) & (c[1].max() < 10), body, (0, x))
        return i, lax.associative_scan(jnp.add, x), lax.map(lambda v: lax.select(v > 0, v, -v), x, batch_size=2)

    return f(jnp.linspace(0, 1, 5), 4), f(jnp.linspace(0, 1, 5), 2)


def implicit():
    from jax.scipy.sparse.linalg import cg

    def root(a):
        def f(x):
            return x**3 - a

        def solve(f, x0):
            return lax.fori_loop(0, 10, lambda i, x: x - f(x) / (3 * x**2), x0)

        return lax.custom_root(f, 1.0, solve, lambda g, y: y / g(1.0))

    a = jnp.eye(3) * 2 + 0.1
    return jax.jit(jax.value_and_grad(root))(3.0), jax.jit(jax.grad(lambda b: cg(lambda v: a @ v, b)[0].sum()))(
        jnp.ones(3)
    )


# --- Python inside, other ways to compile -----------------------------------------------------------------------------


def ordered_callbacks():
    from jax.experimental import io_callback

    log = []

    def write(i, v):
        log.append((int(i), float(v)))
        return np.float32(v * 2)

    @jax.jit
    def f(x):
        def body(i, x):
            return x + io_callback(write, jax.ShapeDtypeStruct((), jnp.float32), i, x, ordered=True)

        return lax.fori_loop(0, 3, body, x)

    out = f(jnp.float32(1))
    jax.effects_barrier()
    return out, np.array(log)


def printed():
    @jax.jit
    def f(x):
        jax.debug.print("x is {x}, {y}", x=x[0], y=x.sum())
        return jax.vmap(lambda v: (jax.debug.print("v {v}", v=v), v * 2)[1])(x)

    out = f(jnp.arange(3.0))
    jax.effects_barrier()
    return out


def exported():
    from jax import export

    f = jax.jit(lambda x, w: jnp.tanh(x @ w))
    (n,) = export.symbolic_shape("n")
    made = export.export(f)(jax.ShapeDtypeStruct((n, 3), jnp.float32), jax.ShapeDtypeStruct((3, 2), jnp.float32))
    x, w = jnp.linspace(0, 1, 12).reshape(4, 3), jnp.ones((3, 2))
    return made.call(x, w), jax.jit(lambda x: made.call(x, w).sum() * 2)(x)


def stages():
    @functools.partial(jax.jit, static_argnames="power")
    def f(x, *, scale, power):
        return (x * scale["a"]) ** power

    traced = f.trace(jnp.ones(3), scale={"a": jnp.float32(2)}, power=3)
    lowered = traced.lower()
    compiled = lowered.compile(compiler_options={"xla_embed_ir_in_executable": False})
    cost = compiled.cost_analysis()
    assert cost and lowered.as_text() and compiled.as_text()
    shapes = jax.eval_shape(lambda x: f(x, scale={"a": x}, power=2), jax.ShapeDtypeStruct((3,), jnp.float32))
    return (
        compiled(jnp.ones(3), scale={"a": jnp.float32(2)}),
        f(jnp.ones(3), scale={"a": 2.0}, power=2),
        np.zeros(shapes.shape),
    )


def numpy_between():
    @jax.jit
    def first(x):
        return jnp.cumsum(x, axis=0)

    @jax.jit
    def second(x, at):
        return x[at] * 2

    host = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    found = np.array(first(host))
    found[0] = 0
    order = np.argsort(found[:, 0])
    return second(found, order), float(second(jnp.asarray(found), 1)[0]), [first(v) for v in (host[:2], host[2:])]


def one_name():
    """Functions of one name inside each other, in a list, made by a factory."""

    @jax.jit
    def f(x):
        return x * 2

    inner = f

    @jax.jit
    def f(x):
        return inner(x) + inner(x + 1)

    def make(k):
        @jax.jit
        def f(x):
            return inner(x) * k

        return f

    outer = jax.jit(lambda x: f(x) + make(3)(x), inline=True)
    return f(2.0), [make(k)(jnp.ones(2)) for k in range(2)], outer(jnp.ones(2)), f(jnp.ones(2))


def threads():
    @jax.jit
    def f(x, k):
        return jnp.sin(x) * k + jnp.sum(x)

    f(jnp.ones(9), 1.0)  # what all threads need is compiled before: two of them at once may both compile it
    found = {}

    def work(n):
        found[n] = (
            [f(jnp.ones(n + 1), float(k)) for k in range(3)],
            jax.jit(jax.grad(lambda x: f(x, 2.0)[0]))(jnp.ones(n + 1)),
        )

    workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [w.start() for w in workers]
    [w.join() for w in workers]
    return [found[n] for n in range(4)]


def cleared():
    @jax.jit
    def f(x):
        return jnp.cos(x) - 1

    out = [f(jnp.ones(3))]
    jax.clear_caches()
    out.append(f(jnp.ones(3)))
    f.clear_cache()
    return [*out, f(jnp.ones(3))]


def exceptions():
    class Stop(Exception):
        pass

    @jax.jit
    def f(x, kind):
        y = jnp.sin(x)
        if kind["raise"]:
            raise kind["raise"]
        return y * 2

    @jax.jit
    def outer(x):
        try:
            return f(x, {"raise": Stop("one")})
        except (Stop, TypeError):
            return x + 1

    @jax.jit
    def wrong(x):
        return x @ jnp.ones((7, 7))

    seen = []
    for bad in (lambda: wrong(jnp.ones(3)), lambda: jax.jit(lambda x: 1 / 0)(1.0), interrupted):
        try:
            bad()
        except (TypeError, ZeroDivisionError, KeyboardInterrupt) as error:
            seen.append(type(error).__name__)
    assert seen == ["TypeError", "ZeroDivisionError", "KeyboardInterrupt"]
    try:
        jax.jit(branching)(jnp.ones(3))
    except jax.errors.TracerBoolConversionError:
        return outer(jnp.ones(3)), jax.jit(lambda x: x * 5)(jnp.ones(3))
    raise AssertionError("a branch on a traced value went through")


def branching(x):
    return x if x.sum() > 0 else -x


def interrupted():
    @jax.jit
    def f(x):
        jnp.sin(x)
        raise KeyboardInterrupt

    f(jnp.ones(2))


def debugged():
    @jax.jit
    def f(x):
        return lax.scan(lambda c, v: (c / v, c), 1.0, x)[0]

    with jax.debug_nans(True), jax.debug_infs(False):
        first = jax.grad(f)(jnp.array([1.0, 2.0]))
        try:
            f(jnp.array([0.0, 0.0]) * jnp.array([1.0, -1.0]) + jnp.nan)
        except FloatingPointError:
            pass
    with jax.disable_jit():
        second = f(jnp.array([3.0, 2.0]))
    with jax.enable_x64(True):
        third = f(np.array([3.0, 2.0]))
    with jax.default_matmul_precision("float32"), jax.numpy_dtype_promotion("strict"):
        fourth = jax.jit(lambda a: a @ a)(jnp.eye(2))
    return first, second, third, fourth


@functools.partial(jax.tree_util.register_dataclass, data_fields=["w", "b"], meta_fields=["name"])
@dataclasses.dataclass
class Layer:
    w: jax.Array
    b: jax.Array
    name: str

    @jax.jit
    def __call__(self, x):
        return jnp.tanh(x @ self.w + self.b)


def own_trees():
    layer = Layer(jnp.ones((3, 2)), jnp.zeros(2), "one")
    bound = jax.tree_util.Partial(jnp.dot, jnp.ones((2, 2)))
    run = jax.jit(lambda f, layer, x: f(layer(x)[0]))
    return (
        layer(jnp.ones((1, 3))),
        run(bound, layer, jnp.ones((1, 3))),
        jax.jit(jax.grad(lambda l: l(jnp.ones((1, 3))).sum()))(layer),
    )


def references():
    @jax.jit
    def f(x):
        ref = jax.new_ref(x)

        def body(i, _):
            ref[i] = ref[i] * 2 + ref[0]

        lax.fori_loop(0, 3, body, None)
        return ref[...]

    held = jax.new_ref(jnp.zeros(2))

    @jax.jit
    def count(v):
        held[...] += v

    count(1.0), count(2.0)
    return f(jnp.ones(3)), held[...]


def kernels():
    from jax.experimental import pallas as pl

    def kernel(x, y, o):
        o[...] = jnp.maximum(x[...] @ y[...], 0)

    @jax.jit
    def f(x, y):
        call = pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((4, 4), jnp.float32), interpret=True)
        return call(x, y) + 1

    @jax.jit
    def by_blocks(x, y):
        rows = pl.BlockSpec((2, 4), lambda i, j: (i, 0))
        columns, block = pl.BlockSpec((4, 2), lambda i, j: (0, j)), pl.BlockSpec((2, 2), lambda i, j: (i, j))
        out = jax.ShapeDtypeStruct((4, 4), jnp.float32)
        return pl.pallas_call(
            kernel, out_shape=out, grid=(2, 2), in_specs=[rows, columns], out_specs=block, interpret=True
        )(x, y)

    return f(jnp.ones((4, 4)), jnp.eye(4)), by_blocks(jnp.ones((4, 4)), jnp.eye(4))


LAZY = (kernels,)
"""Whose first run has jax load what makes it compile small programs twice, watched or not."""


def sparse():
    from jax.experimental import sparse as sp

    a = sp.BCOO.fromdense(jnp.eye(4) * jnp.arange(4.0))
    return jax.jit(lambda a, x: a @ x)(a, jnp.ones(4)), jax.jit(
        jax.grad(lambda d: (sp.BCOO((d, a.indices), shape=a.shape) @ jnp.ones(4)).sum())
    )(a.data)


def library():
    @jax.jit
    def f(x, key):
        image = x.reshape(1, 4, 4, 1)
        return (
            lax.conv_general_dilated(image, jnp.ones((2, 2, 1, 1)), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
            lax.reduce_window(image, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
            jnp.fft.rfft(x).real, lax.top_k(x, 3), lax.sort((x, -x), num_keys=1), jnp.einsum("i,j->ij", x, x).trace(),
            jnp.interp(0.5, jnp.linspace(0, 1, 16), x), jnp.unique(x.round(), size=4), jnp.histogram(x, bins=3)[0],
            jax.random.permutation(key, x), jax.scipy.special.logsumexp(x), jax.image.resize(image[0], (2, 2, 1), "linear"),
            jax.ops.segment_sum(x, jnp.arange(16) % 3, 3), jnp.vectorize(lambda a, b: a * b, signature="(),()->()")(x, x),
        )  # fmt: skip

    return f(jnp.linspace(0, 2, 16), jax.random.key(5, impl="rbg"))


KINDS = [
    sharded_training, collectives, sharded_gradient, mapped_over_devices, rules_with_statics, checkpoint_policies,
    other_derivatives, nested_control, implicit, ordered_callbacks, printed, exported, stages, numpy_between, one_name, threads,
    cleared, exceptions, debugged, own_trees, references, kernels, sparse, library,
]  # fmt: skip
LONG = (sparse, library, implicit)
"""These take long to compile."""
