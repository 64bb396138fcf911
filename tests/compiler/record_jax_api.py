"""Record what real JAX answers, for tests that compare with it: `python record_jax_api.py`, in an environment with jax 0.10.

Writes recorded/api.json (jaxprs, complex derivatives, weak types) and recorded/random.json (bits of keys and samplers).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import numpy as np
from jax import lax  # pyright: ignore[reportMissingImports]


HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import shown  # noqa: E402
from random_cases import CASES, CASES64  # noqa: E402


def operations() -> SimpleNamespace:
    """JAX's operations, by the names that `shown` uses."""
    o = SimpleNamespace(jit=jax.jit, grad=jax.grad, vmap=jax.vmap, jvp=jax.jvp)
    for name in ("sin cos exp mul add sub neg rem lt gt eq max sqrt rsqrt pow floor ceil sign abs is_finite real imag complex "
                 "integer_pow convert_element_type reshape transpose rev squeeze slice pad concatenate cumsum clamp "
                 "broadcast_in_dim dot_general").split():  # fmt: skip
        setattr(o, name, getattr(lax, name))
    o.and_, o.or_, o.not_ = lax.bitwise_and, lax.bitwise_or, lax.bitwise_not
    o.select_n = lax.select_n
    o.iota = lambda dtype, shape, dimension: lax.broadcasted_iota(dtype, shape, dimension)
    o.argmax = lambda x, axis: lax.argmax(x, axis, np.int32)
    o.argmin = lambda x, axis: lax.argmin(x, axis, np.int32)
    o.reduce_max = lambda x, axes: lax.reduce_max(x, axes)
    o.reduce_min = lambda x, axes: lax.reduce_min(x, axes)
    o.reduce_prod = lambda x, axes: lax.reduce_prod(x, axes)
    o.reduce_sum = lambda x, axes: lax.reduce_sum(x, axes)
    return o


def jaxprs() -> dict[str, str]:
    o = operations()
    texts = {}
    for name, make in shown.PROGRAMS.items():
        fun, args = make(o)
        texts[name] = str(jax.make_jaxpr(fun)(*args))
    return texts


def pair(z: Any) -> list[float]:
    z = complex(z)
    return [z.real, z.imag]


def complex_derivatives() -> dict[str, Any]:
    functions = {
        "z²": lambda z: z * z,
        "sin z": jnp.sin,
        "exp(z) log(z)": lambda z: jnp.exp(z) * jnp.log(z),
        "1/z": lambda z: 1.0 / z,
        "conj z": jnp.conj,
        "complex(re z, 0)": lambda z: lax.complex(z.real, jnp.float32(0)),
        "i im z": lambda z: lax.complex(z.imag, jnp.float32(0)) * 1j,
    }
    z = np.complex64(0.6 - 0.8j)
    return {
        name: [
            pair(jax.grad(f, holomorphic=True)(z)),
            pair(jax.jvp(f, (z,), (np.complex64(1j),))[1]),
            pair(jax.vjp(f, z)[1](np.complex64(1 + 2j))[0]),
        ]
        for name, f in functions.items()
    }


def real_of_complex() -> dict[str, Any]:
    functions = {"re z": jnp.real, "im z": jnp.imag, "abs z": jnp.abs, "abs² z": lambda z: (z * jnp.conj(z)).real,
                 "re sin z": lambda z: jnp.sin(z).real}  # fmt: skip
    return {name: pair(jax.grad(f)(np.complex64(0.6 - 0.8j))) for name, f in functions.items()}


def weak_types() -> dict[str, bool]:
    mul = jnp.multiply
    results = {
        "weak in, weak out": jax.grad(lambda x: mul(x, 2.0))(1.0),
        "weak in, strong out": jax.grad(lambda x: mul(x, np.float32(2)))(1.0),
        "strong in": jax.grad(lambda x: mul(x, 2.0))(np.float32(1)),
        "in jit": jax.jit(jax.grad(lambda x: mul(x, 2.0)))(1.0),
        "of jit": jax.grad(jax.jit(lambda x: mul(x, 2.0)))(1.0),
        "vmap of jit": jax.vmap(jax.jit(lambda x: mul(x, 2.0)))(lax.broadcast(1.0, (2,))),
        "jvp of jit": jax.jvp(jax.jit(lambda x: mul(x, 2.0)), (1.0,), (1.0,))[1],
    }
    return {name: x.aval.weak_type for name, x in results.items()}


def random_numbers() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for cases, wide in ((CASES, False), (CASES64, True)):
        with jax.enable_x64(wide):
            for name, call in cases.items():
                try:
                    found[name] = written(call(jax.random))
                except OverflowError:  # bounds that JAX cannot be given; ours are wider
                    found[name] = None
    return found


def written(x: Any) -> dict[str, Any]:
    """An array as JSON: its bytes."""
    x = np.asarray(jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x)
    return {"dtype": x.dtype.name, "shape": list(x.shape), "hex": x.tobytes().hex()}


def main() -> None:
    folder = HERE / "recorded"
    folder.mkdir(exist_ok=True)
    api = {"jax": jax.__version__, "jaxprs": jaxprs(), "complex": complex_derivatives(),
           "real of complex": real_of_complex(), "weak types": weak_types()}  # fmt: skip
    for name, content in (("api", api), ("random", random_numbers())):
        text = json.dumps(content, indent=1, ensure_ascii=False)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
