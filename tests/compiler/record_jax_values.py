"""Record what real JAX says about dtypes, trees and keys: `python record_jax_values.py`, in an environment with jax 0.10.

Writes recorded/values.json; the suite reads it and needs no jax.
"""

from __future__ import annotations

import inspect
import json
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
import numpy as np
from jax import dtypes, flatten_util, lax, random, tree, tree_util as tu  # pyright: ignore[reportMissingImports]


HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import values_cases as cases  # noqa: E402
from key_programs import PROGRAMS  # noqa: E402


def subdtypes() -> dict[str, str]:
    named = cases.names(jnp, dtypes, random.key(0))
    return {f"{a} | {b}": cases.outcome(jnp.issubdtype, x, y) for a, x in named.items() for b, y in named.items()}


def promoted(x64: bool) -> dict[str, str]:
    named = cases.promoted()
    with jax.enable_x64(x64):
        return {
            f"{a} | {b}": cases.outcome(jnp.promote_types, x, y) for a, x in named.items() for b, y in named.items()
        }


def limits() -> dict[str, dict[str, float]]:
    found = {}
    for name in cases.DTYPES:
        info = jnp.iinfo(name) if "int" in name else jnp.finfo(name) if "float" in name or "complex" in name else None
        fields = ("bits", "max", "min", "eps", "tiny", "nmant")
        found[name] = {f: float(getattr(info, f)) for f in fields if info is not None and hasattr(info, f)}
    return found


def expressions() -> dict[str, str]:
    cases.register(tu)
    space = {**vars(cases), "tu": tu, "tree": tree, "dtypes": dtypes, "jnp": jnp, "key": random.key(0)}
    found = {e: cases.outcome(eval, e, dict(space)) for e in cases.DTYPE_EXPRESSIONS}
    for expression in cases.EXPRESSIONS:
        for name, t in cases.TREES.items():
            found[f"{name}: {expression}"] = cases.outcome(eval, expression, {**space, "t": t})
    return found


def parameters(function: Any) -> list[str]:
    return [
        f"{p.kind.name} {p.name}{'' if p.default is p.empty else '='}"
        for p in inspect.signature(function).parameters.values()
    ]


def signatures() -> dict[str, list[str]]:
    modules = {"tree": tree, "tree_util": tu, "flatten_util": flatten_util, "dtypes": dtypes}
    found = {
        f"{module}.{name}": parameters(value)
        for module, there in modules.items()
        for name, value in vars(there).items()
        if inspect.isfunction(value) or (callable(value) and name == "ravel_pytree")
    }
    for name in "key PRNGKey split fold_in wrap_key_data key_data key_impl clone".split():
        found[f"random.{name}"] = parameters(getattr(random, name))
    for name in "devices device_put device_get block_until_ready live_arrays copy_to_host_async".split():
        found[f".{name}"] = parameters(getattr(jax, name))
    return found


def reuse() -> dict[str, list[str]]:
    o = SimpleNamespace(
        jit=jax.jit, vmap=jax.vmap, grad=jax.grad, checkpoint=jax.checkpoint, lax=lax, jnp=jnp, random=random
    )

    def verdict(run: Any, *args: Any) -> str:
        try:
            with jax.debug_key_reuse(True):
                jax.block_until_ready(run(*args))
            return "ok"
        except Exception as error:
            return type(error).__name__

    return {
        name: [verdict(fun, o, random.key(3)), verdict(jax.jit(partial(fun, o)), random.key(3))]
        for name, fun in PROGRAMS.items()
    }


if __name__ == "__main__":
    np.seterr(all="ignore")
    tables = {
        "issubdtype": subdtypes(),
        "limits": limits(),
        "promote_types": {"x32": promoted(False), "x64": promoted(True)},
        "expressions": expressions(),
        "signatures": signatures(),
        "key_reuse": reuse(),
        "options": sorted(name for name in jax.config._value_holders if name.startswith("jax_")),
    }
    (HERE / "recorded" / "values.json").write_text(json.dumps(tables, indent=0) + "\n", encoding="utf-8")
