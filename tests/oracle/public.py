"""JAX's public modules, what is in them and what it takes: `recorded/public.json`, of jax 0.12.0.1. `python -m tests.oracle.public`,
in an environment with it, records it anew."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any


RECORDED = Path(__file__).parent / "recorded" / "public.json"
MODULES = (
    "", "ad_checkpoint", "custom_batching", "custom_derivatives", "debug", "distributed", "dlpack", "dtypes", "errors", "export",
    "ffi", "flatten_util", "image", "lax", "lax.linalg", "monitoring", "nn", "nn.initializers", "numpy", "numpy.fft", "numpy.linalg",
    "ops", "profiler", "random", "ref", "scipy.fft", "scipy.linalg", "scipy.ndimage", "scipy.signal", "scipy.special", "scipy.stats",
    "sharding", "stages", "test_util", "tree", "tree_util", "typing", "experimental", "experimental.checkify",
    "experimental.compute_on", "experimental.layout", "experimental.mesh_utils", "experimental.pjit",
)  # fmt: skip
Parameters = list[str] | None
"""The names of what a function takes; None for what is no function."""


def parameters(value: Any) -> Parameters:
    """Of a function alone: what a class takes is its own affair."""
    if not callable(value) or isinstance(value, type):
        return None
    try:
        return list(inspect.signature(value).parameters)
    except (ValueError, TypeError):
        return None


def names_in(root: str, module: str) -> dict[str, Parameters]:
    found = importlib.import_module(f"{root}.{module}" if module else root)
    values = {name: getattr(found, name, None) for name in dir(found) if not name.startswith("_")}
    return {n: parameters(v) for n, v in sorted(values.items()) if not isinstance(v, types.ModuleType)}


@functools.cache
def recorded() -> dict[str, dict[str, Parameters]]:
    """By module, JAX's names and what they take."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def lacking(find: Callable[[str], Any], module: str) -> list[str]:
    """The names of a module that are not here, and `name(parameter)` for each parameter that a function has not; `find` gives what has a path."""
    missing = []
    for name, wanted in recorded()[module].items():
        path = f"{module}.{name}".lstrip(".")
        try:
            own = parameters(find(path))
        except AttributeError:
            missing.append(path)
        else:
            missing += [f"{path}({each})" for each in wanted or () if own is not None and each not in own]
    return missing


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    rows = [f"{json.dumps(m)}: {json.dumps(names_in('jax', m), separators=(',', ':'))}" for m in MODULES]
    RECORDED.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
