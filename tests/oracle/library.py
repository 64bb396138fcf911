"""jax, or jitscope, behind one set of names: samples and cases are written for both."""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import math
import operator
import warnings
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy

from tests.oracle import operands


SCIPY = ("special", "linalg", "fft", "stats", "signal", "ndimage", "optimize", "cluster.vq", "integrate", "interpolate",
         "sparse.linalg", "spatial.transform")  # fmt: skip


class Library:
    """`jx`, the package, `jnp` and `lax`; by their own names its other rooms (`random`, `custom_batching`); `scope`: what expressions may name."""

    def __init__(self, root: str):
        self.jx = importlib.import_module(root)
        self.jnp = importlib.import_module(f"{root}.numpy")
        self.root = root
        found = {
            "jx": self.jx,
            "np": self.jnp,
            "onp": numpy,
            "math": math,
            "operator": operator,
            "functools": functools,
        }
        for name, path in {
            "lax": "lax",
            "random": "random",
            "nn": "nn",
            "init": "nn.initializers",
            "scipy": "scipy",
        }.items():
            found[name] = importlib.import_module(f"{root}.{path}")
        for part in (*(f"scipy.{p}" for p in SCIPY), "numpy.linalg", "numpy.fft", "image", "ops", "dtypes", "dlpack"):
            with contextlib.suppress(ImportError):
                importlib.import_module(f"{root}.{part}")
        self.scope = found
        self.operands, self.pairs = functools.cache(self._operands), functools.cache(self._pairs)

    def __getattr__(self, name: str) -> Any:
        if name == "optimizers":
            return importlib.import_module("optax" if self.root == "jax" else f"{self.root}.optimizers")
        try:
            return importlib.import_module(f"{self.root}.{name}")
        except ImportError:
            return getattr(self.jx, name)

    @contextlib.contextmanager
    def width(self, dtype: str) -> Iterator[None]:
        """64 bits for the dtypes that have them."""
        with self.jx.enable_x64(dtype in operands.WIDE), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield

    def _operands(self, dtype: str, variant: int = 0) -> Mapping[str, Any]:
        """Arrays by the names that samples have for them."""
        found: dict[str, Any] = {name: self.jnp.asarray(x) for name, x in operands.operands(dtype, variant).items()}
        found["key"] = self.jx.random.key(7 + variant)
        found["kd"] = self.jx.random.PRNGKey(7 + variant)
        return MappingProxyType(found)

    def _pairs(self, dtype: str) -> Mapping[str, Any]:
        """The operands of both variants, stacked."""
        first, second = (self.operands(dtype, variant) for variant in (0, 1))
        return MappingProxyType({name: self.jnp.stack([first[name], second[name]]) for name in first})

    def value(self, expr: str, given: Mapping[str, Any]) -> Any:
        return eval(_code(expr), {**self.scope, **given})

    def leaves(self, expr: str, given: Mapping[str, Any]) -> tuple[list[Any], list[str]]:
        """The arrays of a result, and a description of all its leaves."""
        arrays, shown = [], []
        for leaf in self.jx.tree_util.tree_leaves(self.value(expr, given)):
            if isinstance(leaf, (self.jx.Array, numpy.ndarray, numpy.generic)):
                arrays.append(leaf)
                shown.append("array")
            else:
                shown.append("=" + repr(leaf).replace(self.root, "jax"))
        return arrays, shown

    def signature(self, name: str) -> list[list[str]] | None:
        """Names, kinds and defaults of a function's parameters; None where Python cannot tell."""
        try:
            found = inspect.signature(self.function(name)).parameters.values()
        except (ValueError, TypeError):
            return None
        return [[p.name, p.kind.name, "" if p.default is p.empty else self._default(p.default)] for p in found]

    def _default(self, value: Any) -> str:
        shown = getattr(value, "__name__", None) or repr(value)
        return shown.replace(self.root, "jax").split(" at 0x")[0]

    def function(self, name: str) -> Any:
        if name.startswith("Array."):
            return getattr(type(self.jnp.zeros(3)), name.removeprefix("Array."))
        return functools.reduce(getattr, name.split("."), self.jx)


@functools.cache
def _code(expr: str) -> Any:
    return compile(expr, expr, "eval")
