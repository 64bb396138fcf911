"""Record what programs with callbacks do in real JAX: `python record_jax_callbacks.py`, in an environment with jax 0.10.

Writes recorded/callbacks.json; the suite reads it and needs no jax.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from types import SimpleNamespace

import jax  # pyright: ignore[reportMissingImports]
import jax.numpy as jnp  # pyright: ignore[reportMissingImports]
from jax import debug, lax  # pyright: ignore[reportMissingImports]
from jax.experimental import io_callback  # pyright: ignore[reportMissingImports]


HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import callback_cases as cases  # noqa: E402


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    names = SimpleNamespace(jx=jax, jnp=jnp, lax=lax, debug=debug, io_callback=io_callback)
    found = cases.everything(names)
    (HERE / "recorded" / "callbacks.json").write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
