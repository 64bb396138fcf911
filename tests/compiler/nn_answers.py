"""Our answers to the expressions of nn_cases beside JAX's recorded ones."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import image, lax, nn, ops, tree
from jitscope.nn import initializers
from tests.compiler import nn_cases as cases


RECORDED = json.loads((Path(__file__).parent / "recorded" / "nn.json").read_text())
QUICK = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
"""Options of XLA with which large programs compile several times faster."""
ROOMS = {"nn": nn, "init": initializers, "image": image, "ops": ops, "np": jnp, "jx": jx, "lax": lax}
TOLERANCES = {"float64": (1e-11, 1e-13), "float32": (3e-5, 1e-5), "complex64": (3e-5, 1e-5), "bfloat16": (2e-2, 1e-2), "float16": (4e-3, 1e-3)}  # fmt: skip


def letters(dtype: str) -> dict[str, Any]:
    return {name: jnp.asarray(x) for name, x in cases.arrays(dtype).items()} | {"key": jx.random.key(3)}


def differences(table: str, exprs: list[str], dtype: str = "float32", eagerly: bool = False) -> list[str]:
    """What differs between our answers and JAX's. All expressions are one compiled program, unless they run `eagerly`."""
    wanted = {expr: RECORDED[table][expr] for expr in exprs}
    given = letters(dtype)
    refused = [expr for expr, answer in wanted.items() if isinstance(answer, str)]
    wrong = [f"{expr}: JAX raises {wanted[expr]}" for expr in refused if raised(expr, given) is None]

    def program(arrays: dict[str, Any]) -> dict[str, Any]:
        named = ROOMS | arrays
        return {e: list(map(jnp.asarray, tree.leaves(cases.evaluate(e, named)))) for e in exprs if e not in refused}

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        found = program(given) if eagerly else jx.jit(program, compiler_options=QUICK)(given)
    for expr, leaves in found.items():
        if len(leaves) != len(wanted[expr]):
            wrong.append(f"{expr}: {len(leaves)} results, JAX has {len(wanted[expr])}")
        bends = 10 if "grad(jx.grad" in expr else 1  # differences of numbers near 1, multiplied
        wrong += [f"{expr}: {why}" for x, w in zip(leaves, wanted[expr]) if (why := _difference(x, w, bends))]
    return wrong


def _number(x: Any) -> Any:
    return complex(_number(x[0]), _number(x[1])) if isinstance(x, list) else float(x) if isinstance(x, str) else x


def _difference(found: Any, wanted: dict[str, Any], looser: float) -> str | None:
    ours = f"{found.dtype.name}{list(found.shape)}{'*' * found.aval.weak_type}"
    theirs = f"{wanted['dtype']}{wanted['shape']}{'*' * wanted['weak']}"
    if ours != theirs:
        return f"{ours}, JAX has {theirs}"
    values = np.array([_number(x) for x in wanted["values"]]).reshape(wanted["shape"])
    plain = np.asarray(found)
    plain = plain.astype(np.float64) if plain.dtype.kind == "V" else plain
    relative, absolute = TOLERANCES.get(wanted["dtype"], (0, 0))
    if np.allclose(plain, values, rtol=relative, atol=absolute * looser, equal_nan=True):
        return None
    return f"{plain.tolist()}, JAX has {values.tolist()}"


def raised(expr: str, arrays: dict[str, Any]) -> str | None:
    """The error that an expression raises, by name, and those it is derived from."""
    try:
        cases.evaluate(expr, ROOMS | arrays)
    except Exception as error:
        return " ".join(kind.__name__ for kind in type(error).__mro__)
    return None
