"""Write down what optax makes of optimizer_cases: numbers and dtypes of parameters, updates and states, and of schedules.

Run it in an environment with optax: `python tests/compiler/record_optax.py`. The suite reads the result and needs neither.
"""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from optimizer_cases import COMPLEX, COUNTS, REAL, SCHEDULES, cases, described, mask, trajectory


NAMES = {"o": optax, "np": np, "mask": mask}


def put(tree):
    return jax.tree.map(jnp.asarray, tree)


def main() -> None:
    found: dict = {"optax": optax.__version__}
    for kind, table in (("real", REAL), ("complex", COMPLEX)):
        found[kind] = {
            case: trajectory(eval(case, NAMES), kind, optax.apply_updates, jax.tree.leaves, put)
            for case in cases(table)
        }
    found["schedules"] = {
        case: [described(jnp.asarray(eval(case, NAMES)(jnp.asarray(n, jnp.int32)))) for n in COUNTS]
        for case in cases(SCHEDULES)
    }
    path = Path(__file__).parent / "recorded" / "optax.json"
    path.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
