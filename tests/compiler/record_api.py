"""Record what real JAX answers to the programs of api_cases: `python tests/compiler/record_api.py`, in an environment with
jax 0.10. Writes recorded/api_cases.json; the suite reads it and needs no jax."""

from __future__ import annotations

import inspect
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]


HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import api_cases  # noqa: E402


SIGNATURES = """jit grad value_and_grad jvp vjp linearize vmap jacfwd jacrev jacobian hessian eval_shape make_jaxpr fwd_and_bwd
make_mesh pmap shard_map block_until_ready effects_barrier default_backend device_count local_device_count local_devices
process_count process_index process_indices devices ensure_compile_time_eval typeof copy_to_host_async ShapeDtypeStruct
clear_caches""".split()
COLLECTIVES = """psum pmean pmax pmin all_gather all_to_all ppermute pshuffle psum_scatter axis_index axis_size
pswapaxes pbroadcast""".split()
STAGES = {"Traced": jax.stages.Traced, "Lowered": jax.stages.Lowered, "Compiled": jax.stages.Compiled}


def signature(function: Any) -> list[list[str]]:
    parameters = inspect.signature(function).parameters.values()
    return [[p.name, p.kind.name, "" if p.default is p.empty else repr(p.default)] for p in parameters]


def bases(error: type) -> list[str]:
    kept = (TypeError, IndexError, RuntimeError, ValueError)
    return [base.__name__ for base in error.__mro__ if base in kept]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    tables = {
        "jax": jax.__version__,
        "values": api_cases.answers(jax, jnp, jax.lax, api_cases.VALUES),
        "shapes": api_cases.answers(jax, jnp, jax.lax, api_cases.SHAPES),
        "jaxprs": {name: str(case(jax, jnp, jax.lax)) for name, case in api_cases.JAXPRS.items()},
        "signatures": {name: signature(getattr(jax, name)) for name in SIGNATURES},
        "collectives": {name: signature(getattr(jax.lax, name)) for name in COLLECTIVES},
        "stages": {k: [n for n in dir(v) if not n.startswith("_")] for k, v in STAGES.items()},
        "errors": {n: bases(e) for n, e in vars(jax.errors).items() if isinstance(e, type)},
    }
    text = json.dumps(tables, indent=1, ensure_ascii=False)
    (HERE / "recorded" / "api_cases.json").write_text(text + "\n", encoding="utf-8")
