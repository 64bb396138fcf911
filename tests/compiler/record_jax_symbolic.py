"""Record what real JAX says of symbolic dimensions, and functions it exports: `python record_jax_symbolic.py`, in an
environment with jax 0.10.2 and flatbuffers. Writes recorded/symbolic.json; the suite reads it and needs neither."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
from jax import export  # pyright: ignore[reportMissingImports]
from jax._src import core  # pyright: ignore[reportMissingImports]


HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import symbolic_cases as cases  # noqa: E402


@jax.jit
def model(params, x, *, n):
    y = jnp.tanh(x @ params["w"] + params["b"][0])
    return {"y": y - y.mean(0), "n": [n + x.shape[0], None], "order": jnp.argsort(y[:, 0])}


def exported() -> dict[str, str]:
    b, n = export.symbolic_shape("b, n", constraints=["b >= 2"])
    f32 = "float32"
    params = {"w": jax.ShapeDtypeStruct((n, 4), f32), "b": (jax.ShapeDtypeStruct((4,), f32),)}
    symbolic = export.export(model)(params, jax.ShapeDtypeStruct((b, n), f32), n=jax.ShapeDtypeStruct((), "int32"))
    plain = export.export(jax.jit(lambda x, unused: jnp.sin(x) * 2), platforms=("tpu", "cpu"))(
        jax.ShapeDtypeStruct((3,), f32), jax.ShapeDtypeStruct((2,), "int32")
    )
    return {
        "symbolic": base64.b64encode(symbolic.serialize(vjp_order=2)).decode(),
        "platforms": base64.b64encode(plain.serialize(vjp_order=1)).decode(),
    }


def main() -> None:
    asked = [*cases.expressions(7, 330)]
    found = {
        "jax": jax.__version__,
        "answers": [
            cases.answers(case, export.symbolic_shape, core.max_dim, core.min_dim, core.InconclusiveDimensionOperation)
            for case in asked
        ],
        "shapes": [cases.shape_of(spec, like, export.symbolic_shape) for spec, like in cases.SPECS],
        "exported": exported(),
    }
    (HERE / "recorded" / "symbolic.json").write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
