"""Derivatives of complex functions, and weak types of derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.oracle.library import Library


Z = np.complex64(0.6 - 0.8j)
COMPLEX = {
    "z²": lambda o, z: z * z,
    "sin z": lambda o, z: o.jnp.sin(z),
    "exp(z) log(z)": lambda o, z: o.jnp.exp(z) * o.jnp.log(z),
    "1/z": lambda o, z: 1.0 / z,
    "conj z": lambda o, z: o.jnp.conj(z),
    "complex(re z, 0)": lambda o, z: o.lax.complex(z.real, o.jnp.float32(0)),
    "i im z": lambda o, z: o.lax.complex(z.imag, o.jnp.float32(0)) * 1j,
}
REAL = {
    "re z": lambda o, z: o.jnp.real(z),
    "im z": lambda o, z: o.jnp.imag(z),
    "abs z": lambda o, z: o.jnp.abs(z),
    "abs² z": lambda o, z: (z * o.jnp.conj(z)).real,
    "re sin z": lambda o, z: o.jnp.sin(z).real,
}
WEAK = {
    "weak in, weak out": lambda o: o.jx.grad(lambda x: o.jnp.multiply(x, 2.0))(1.0),
    "weak in, strong out": lambda o: o.jx.grad(lambda x: o.jnp.multiply(x, np.float32(2)))(1.0),
    "strong in": lambda o: o.jx.grad(lambda x: o.jnp.multiply(x, 2.0))(np.float32(1)),
    "in jit": lambda o: o.jx.jit(o.jx.grad(lambda x: o.jnp.multiply(x, 2.0)))(1.0),
    "of jit": lambda o: o.jx.grad(o.jx.jit(lambda x: o.jnp.multiply(x, 2.0)))(1.0),
    "vmap of jit": lambda o: o.jx.vmap(o.jx.jit(lambda x: o.jnp.multiply(x, 2.0)))(o.lax.broadcast(1.0, (2,))),
    "jvp of jit": lambda o: o.jx.jvp(o.jx.jit(lambda x: o.jnp.multiply(x, 2.0)), (1.0,), (1.0,))[1],
}


def _complex(o: Library, name: str) -> Any:
    f = lambda z: COMPLEX[name](o, z)
    pullback = o.jx.vjp(f, Z)[1]
    return o.jx.grad(f, holomorphic=True)(Z), o.jx.jvp(f, (Z,), (np.complex64(1j),))[1], pullback(np.complex64(1 + 2j))


CASES = {
    **{name: lambda o, name=name: _complex(o, name) for name in COMPLEX},
    **{name: lambda o, f=f: o.jx.grad(lambda z: f(o, z))(Z) for name, f in REAL.items()},
    **WEAK,
}
