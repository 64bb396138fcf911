"""Programs that use keys, rightly and wrongly: whether KeyReuseError is raised, by each operation, and in the compiled program.
Each gets a key and what it needs of the library: jit, vmap, grad, checkpoint, lax, jnp, random."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tests.oracle.library import Library
from tests.oracle.programs import raised
from tests.oracle.results import Plain


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {}


def program(fun: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    PROGRAMS[fun.__name__] = fun
    return fun


def simple(text: str) -> None:
    """A program of statements separated by `;`, the last one an expression."""
    *statements, last = text.split("; ")
    code = "\n".join(["def fun(o, key):", "  r, jnp, lax = o.random, o.jnp, o.lax", *[f"  {s}" for s in statements],
                      f"  return {last}"])  # fmt: skip
    space: dict[str, Any] = {}
    exec(code, space)
    PROGRAMS[text] = space["fun"]


for line in """
r.normal(key)
a = r.normal(key); r.normal(key)
a = r.normal(key); r.split(key)
a = r.split(key); r.normal(key)
a = r.split(key); r.split(key)
a = r.bits(key); r.uniform(key)
a = r.fold_in(key, 1); r.normal(key)
a = r.normal(key); r.fold_in(key, 1)
a = r.fold_in(key, 1); b = r.fold_in(key, 1); (r.normal(a), r.normal(b))
a = r.fold_in(key, 1); b = r.normal(a); r.normal(a)
k1, k2 = r.split(key); (r.normal(k1), r.normal(k2))
k1, k2 = r.split(key); (r.normal(k1), r.normal(k1))
ks = r.split(key); (r.normal(ks[0]), r.normal(ks[1]))
ks = r.split(key); (r.normal(ks[0]), r.normal(ks[0]))
ks = r.split(key, 4); a = r.normal(ks[1]); ks[1]
ks = r.split(key, 4); a = ks[:2]; ks[1]
ks = r.split(key, 4); a = ks[:2]; ks[2:]
ks = r.split(key, 4); a = o.vmap(r.normal)(ks); o.vmap(r.normal)(ks)
ks = r.split(key, 4); a = o.vmap(r.normal)(ks[:2]); o.vmap(r.normal)(ks[2:])
ks = r.split(key, 4); a = o.vmap(r.normal)(ks[:2]); o.vmap(r.normal)(ks)
ks = r.split(key, 4); a = o.vmap(r.normal)(ks); r.normal(ks[0])
ks = r.split(key, 4); (o.vmap(r.normal)(ks[::2]), o.vmap(r.normal)(ks[1::2]))
ks = r.split(key, (2, 2)).reshape(4); a = r.normal(ks[0]); r.normal(ks[3])
ks = r.split(key, (2, 2)); a = o.vmap(r.normal)(ks[0]); o.vmap(r.normal)(ks[1])
ks = r.split(key, (2, 2)); a = o.vmap(r.normal)(ks[0]); o.vmap(r.normal)(ks[0])
a = r.clone(key); (r.normal(key), r.normal(a))
a = r.normal(key); r.normal(r.clone(key))
a = r.normal(key); b = r.clone(key); c = r.normal(b); r.normal(b)
a = r.normal(key); r.key_data(key)
a = r.key_data(key); r.normal(key)
a = r.normal(key); r.wrap_key_data(r.key_data(key))
a = r.normal(key); r.normal(r.wrap_key_data(r.key_data(key)))
a = r.normal(key); b = key.reshape(1); r.normal(b[0])
b = key.reshape(1); a = r.normal(key); r.normal(b[0])
b = jnp.stack([key, key]); r.normal(key)
b = jnp.concatenate([key[None]]); (r.normal(key), 0)
b = jnp.concatenate([key[None], r.key(5)[None]]); r.normal(key)
b = jnp.where(True, key, key); r.normal(key)
b = jnp.where(True, key, r.key(1)); r.normal(b)
b = jnp.where(True, key, r.key(1)); r.normal(key)
a = r.normal(key); key == key
b = jnp.broadcast_to(key, (3,)); a = r.normal(key); o.vmap(r.normal)(b)
b = jnp.broadcast_to(key, (3,)); o.vmap(r.normal)(b)
ks = r.split(key, 3); b = ks.at[0].set(r.key(7)); (r.normal(b[0]), r.normal(b[1]))
ks = r.split(key, 3); a = o.vmap(r.normal)(ks); b = ks.at[0].set(r.key(7)); r.normal(b[0])
a = o.jit(r.normal)(key); o.jit(r.normal)(key)
a = o.jit(lambda k: r.fold_in(k, 1))(key); r.normal(key)
a = o.jit(lambda k: k)(key); (r.normal(a), r.normal(key))
a = o.jit(lambda k: k)(key); r.normal(a)
a, b = o.jit(r.split)(key); (r.normal(a), r.normal(b))
a, b = o.jit(r.split)(key); (r.normal(a), r.normal(a))
f = o.jit(lambda: r.normal(key)); f()
f = o.jit(lambda: r.normal(key)); a = f(); r.normal(key)
f = o.jit(lambda: r.normal(key)); a = f(); f()
lax.cond(True, r.normal, lambda k: 0.0, key)
a = lax.cond(True, r.normal, lambda k: 0.0, key); r.normal(key)
a = lax.cond(False, lambda k: 1.0, lambda k: 0.0, key); r.normal(key)
lax.cond(True, lambda k: r.normal(k) + r.normal(k), lambda k: 0.0, key)
lax.cond(True, r.normal, r.uniform, key)
a = lax.switch(0, [r.normal, r.uniform, lambda k: 0.0], key); r.bits(key)
lax.scan(lambda c, _: (r.split(c)[0], 0.0), key, None, length=3)[1]
lax.scan(lambda c, _: (c, r.normal(c)), key, None, length=3)[1]
lax.scan(lambda c, _: (c, r.normal(key)), 0.0, None, length=3)[1]
lax.scan(lambda c, k: (c, r.normal(k)), 0.0, r.split(key, 3))[1]
lax.scan(lambda c, k: (c, r.normal(k) + r.normal(k)), 0.0, r.split(key, 3))[1]
a = lax.scan(lambda c, _: (r.split(c)[0], 0.0), key, None, length=3)[1]; r.normal(key)
lax.scan(lambda c, i: (c, r.normal(r.fold_in(key, i))), 0.0, jnp.arange(3))[1]
ks = r.split(key, 3); a = lax.scan(lambda c, k: (c, r.normal(k)), 0.0, ks)[1]; lax.scan(lambda c, k: (c, r.normal(k)), 0.0, ks)[1]
lax.while_loop(lambda c: c[1] < 3, lambda c: (r.split(c[0])[0], c[1] + 1), (key, 0))[1]
lax.while_loop(lambda c: c[1] < 3, lambda c: (c[0], c[1] + r.normal(c[0])), (key, 0.0))[1]
lax.while_loop(lambda c: c < 3, lambda c: c + 1 + 0 * r.normal(key), 0.0)
lax.while_loop(lambda c: r.normal(c[0]) < c[1], lambda c: (c[0], -100.0), (key, 100.0))[1]
a = lax.while_loop(lambda c: c[1] < 3, lambda c: (r.split(c[0])[0], c[1] + 1), (key, 0))[1]; r.normal(key)
lax.fori_loop(0, 3, lambda i, c: c + r.normal(r.fold_in(key, i)), 0.0)
lax.fori_loop(0, 3, lambda i, c: c + r.normal(key), 0.0)
o.checkpoint(r.normal)(key)
a = o.checkpoint(r.normal)(key); r.normal(key)
o.vmap(lambda i: r.normal(r.fold_in(key, i)))(jnp.arange(3))
o.vmap(lambda i: i + r.normal(key))(jnp.arange(3.0))
a = o.vmap(lambda i: i + r.normal(key))(jnp.arange(3.0)); r.normal(key)
a = o.grad(lambda x: x * r.normal(key))(2.0); r.normal(key)
o.grad(lambda x: x * r.normal(key) * r.normal(key))(2.0)
ks = r.split(key, 3); i = jnp.array([0, 1]); a = o.vmap(r.normal)(ks[i]); r.normal(ks[2])
ks = r.split(key, 3); a = r.normal(ks[jnp.asarray(0)]); r.normal(ks[jnp.asarray(0)])
a = r.PRNGKey(0); (r.normal(a), r.normal(a))
""".strip().splitlines():
    simple(line)


@program
def in_a_python_loop(o: Any, key: Any) -> Any:
    total = 0.0
    for _ in range(3):
        key, own = o.random.split(key)
        total += o.random.normal(own)
    return total


@program
def in_a_python_loop_wrongly(o: Any, key: Any) -> Any:
    total = 0.0
    for _ in range(3):
        total += o.random.normal(key)
    return total


@program
def nested_calls(o: Any, key: Any) -> Any:
    inner = o.jit(lambda k: o.random.normal(k))
    return o.jit(lambda k: inner(k) + o.random.uniform(k))(key)


def _verdicts(o: Library, name: str) -> Plain:
    """JAX overlooks some of what a program does wrong by single operations that it finds in the compiled one: it is asked that."""
    rooms = SimpleNamespace(
        **{n: getattr(o.jx, n) for n in ("jit", "vmap", "grad", "checkpoint")}, lax=o.lax, jnp=o.jnp, random=o.random
    )
    run = PROGRAMS[name]
    eager = (lambda key: run(rooms, key)) if o.root != "jax" else None
    compiled = o.jx.jit(lambda key: run(rooms, key))

    def verdict(run: Any) -> str:
        with o.jx.debug_key_reuse(True):
            return raised(lambda: o.jx.block_until_ready(run(o.random.key(3))))

    return Plain([verdict(eager or compiled), verdict(compiled)])


CASES = {name: lambda o, name=name: _verdicts(o, name) for name in PROGRAMS}
OURS = {
    # No key is used twice: slicing, stacking and choosing keys uses none up here.
    "ks = r.split(key, 4); a = r.normal(ks[1]); ks[1]": ["ok", "ok"],
    "ks = r.split(key, 4); a = ks[:2]; ks[1]": ["ok", "ok"],
    "b = jnp.concatenate([key[None], r.key(5)[None]]); r.normal(key)": ["ok", "ok"],
    "b = jnp.where(True, key, key); r.normal(key)": ["KeyReuseError", "ok"],
    "b = jnp.where(True, key, r.key(1)); r.normal(b)": ["ok", "ok"],
    # The places are known,
    "ks = r.split(key, 3); a = o.vmap(r.normal)(ks); b = ks.at[0].set(r.key(7)); r.normal(b[0])": ["ok", "ok"],
    # or taken to differ where their indices are computed differently.
    "ks = r.split(key, 3); i = jnp.array([0, 1]); a = o.vmap(r.normal)(ks[i]); r.normal(ks[2])": ["ok", "ok"],
}
