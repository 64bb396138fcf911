"""The public names of JAX that are to be here, and the few that are not, with the reason."""

from __future__ import annotations

import functools
import json
from pathlib import Path


MODULES = (
    "numpy", "numpy.linalg", "numpy.fft", "lax", "lax.linalg", "random", "nn", "nn.initializers", "image", "ops", "dtypes",
    "dlpack", "scipy", "scipy.special", "scipy.linalg", "scipy.fft", "scipy.stats", "scipy.signal", "scipy.ndimage",
    "scipy.optimize", "scipy.cluster.vq", "scipy.integrate", "scipy.interpolate", "scipy.sparse.linalg",
    "scipy.spatial.transform",
    *(f"scipy.stats.{name}" for name in (
        "bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r laplace logistic "
        "multinomial multivariate_normal nbinom norm pareto poisson t truncnorm uniform vonmises wrapcauchy"
    ).split()),
)  # fmt: skip
RECORDED = Path(__file__).parent / "recorded" / "names.json"
NUMPYS = Path(__file__).parent / "recorded" / "numpy_names.json"

LATER = {
    f"lax.{name}": "a send between GPUs, which XLA's runtime for CPUs does not have; it says so when called"
    for name in ("precv", "psend")
}
"""Name → why it raises NotImplementedError."""
SEVERAL_DEVICES = frozenset({"lax.pcast", "lax.ragged_all_to_all", "lax.with_sharding_constraint"})
"""What means something over several devices alone: compared there, in tests/many_devices."""

_TOKENS = "tokens put infeed and outfeed in order, which no function here has; ordered effects need none"
_PARTS = "JAX's part of another operation, which is made otherwise here"
_DEVICES = "the operation of a function that waits for several devices"
LEFT_OUT = {
    "lax.after_all_p": _TOKENS,
    "lax.create_token_p": _TOKENS,
    "lax.eq_to_p": f"{_PARTS} (the order of floats in `sort`)",
    "lax.le_to_p": f"{_PARTS} (the order of floats in `sort`)",
    "lax.lt_to_p": f"{_PARTS} (the order of floats in `sort`)",
    "lax.select_and_scatter_p": f"{_PARTS} (derivatives of `reduce_window`)",
    "lax.linalg.symmetric_product_p": f"{_PARTS} (`symmetric_product`)",
    "lax.stage_p": _DEVICES,
    "lax.ragged_all_to_all_p": f"{_PARTS} (`ragged_all_to_all`)",
    "lax.sharding_constraint_p": _DEVICES,
    "Array.device_buffer": "JAX has removed it: it raises there",
    "Array.device_buffers": "JAX has removed it: it raises there",
    "Array.format": "layouts over devices come in a later release",
    "Array.traceback": "where an array was made: JAX keeps it only when asked to, the ledger here tells it of programs",
}
"""Name → why a user would not miss it."""


@functools.cache
def public() -> dict[str, dict[str, str]]:
    """By module, JAX's public names and what they are: function, class, constant, primitive, module."""
    return json.loads(RECORDED.read_text())


@functools.cache
def of_numpy() -> tuple[str, tuple[str, ...]]:
    """NumPy's version, and its public functions."""
    found = json.loads(NUMPYS.read_text())
    return found["version"], tuple(found["functions"])
