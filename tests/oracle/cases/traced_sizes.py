"""By which of its classes the error of a number that is traced can be caught, where a size, an axis or a count is wanted."""

from __future__ import annotations

import functools
from typing import Any

from tests.oracle.answers import error_types
from tests.oracle.library import Library
from tests.oracle.programs import Cases
from tests.oracle.results import Plain


CASES = Cases()

SIZES = """
np.zeros(n)
np.zeros((n, 2))
np.zeros((2, 3 * n))
np.ones((n,))
np.empty(n)
np.full((n,), 1.0)
np.eye(n)
np.eye(3, n)
np.eye(3, k=n)
np.identity(n)
np.tri(n)
np.arange(n)
np.arange(0, n)
np.arange(0, 5, n)
np.linspace(0, 1, n)
np.logspace(0, 1, n)
np.geomspace(1, 2, n)
np.ones(6).reshape(n)
np.ones(6).reshape(n, -1)
np.reshape(np.ones(6), (n, 2))
np.broadcast_to(1.0, (n,))
np.repeat(np.ones(3), n)
np.repeat(np.ones(3), n, axis=0)
np.tile(np.ones(3), n)
np.tile(np.ones(3), (n, 1))
np.pad(np.ones(3), n)
np.pad(np.ones(3), (n, 1))
np.resize(np.ones(3), (n,))
np.indices((n, 2))
np.mgrid[0:n]
np.triu_indices(n)
np.diag_indices(n)
np.fromfunction(lambda i: i, (n,))
np.kron(np.eye(n), np.ones(2))
np.arange(5)[:n]
np.arange(6)[n : n + 2]
np.split(np.ones(6), n)
np.split(np.ones(6), [n])
np.array_split(np.ones(6), n)
np.bincount(np.array([1, 2]), length=n)
np.histogram(np.ones(3), n)
np.unique(np.ones(3), size=n)
np.nonzero(np.ones(3) * n)
np.ones(3)[np.arange(3) < n]
np.hamming(n)
np.fft.fft(np.ones(5), n)
np.sum(np.ones((2, 2)), axis=n)
np.concatenate([np.ones(2)], axis=n)
np.expand_dims(np.ones(2), n)
np.squeeze(np.ones((1, 1, 1, 1)), n)
np.swapaxes(np.ones((2, 2, 2, 2)), 0, n)
np.moveaxis(np.ones((2, 2, 2, 2)), 0, n)
np.transpose(np.ones((2, 2)), (n, 0))
np.tril(np.ones((3, 3)), n)
np.diag(np.ones(3), n)
np.diagonal(np.ones((3, 3)), n)
np.rot90(np.ones((3, 3)), n)
np.diff(np.ones(5), n)
np.argpartition(np.ones(5), n)
np.vander(np.ones(3), n)
np.polyfit(np.ones(3), np.ones(3), n)
np.linalg.matrix_power(np.eye(2), n)
lax.iota(onp.int32, n)
lax.broadcasted_iota(onp.int32, (n, 2), 0)
lax.broadcast(1.0, (n,))
lax.slice(np.arange(5), (0,), (n,))
lax.slice_in_dim(np.arange(5), 0, n)
lax.dynamic_slice(np.arange(5), (0,), (n,))
lax.dynamic_slice_in_dim(np.ones(5), 0, n)
lax.pad(np.ones(3), 0.0, [(n, 0, 0)])
lax.fori_loop(0, 3, lambda i, s: s + np.zeros(i).sum(), 0.0)
random.split(key, n)
random.normal(key, (n,))
random.uniform(key, (n,))
random.randint(key, (n,), 0, 3)
random.gamma(key, 1.0, (n,))
random.bernoulli(key, 0.5, (n,))
random.categorical(key, np.ones(3), shape=(n,))
random.dirichlet(key, np.ones(2), (n,))
random.orthogonal(key, n)
nn.one_hot(np.arange(3), n)
jx.ops.segment_sum(np.ones(3), np.arange(3), n)
jx.image.resize(np.ones((3, 3)), (n, n), "linear")
"""


def _caught_as(expr: str, o: Library) -> Plain:
    """Whether each class that people catch takes the error: of Python's and of JAX's."""
    given: dict[str, Any] = {**o.scope, "key": o.jx.random.key(0)}
    try:
        o.jx.jit(lambda n: eval(expr, {**given, "n": n}))(3)
    except Exception as error:
        kinds = ("TypeError", "ValueError", "IndexError", "ConcretizationTypeError", "TracerIntegerConversionError")
        return Plain([kind for kind in kinds if kind in error_types(error)])
    return Plain("no error")


for line in SIZES.strip().splitlines():
    CASES.named(line)(functools.partial(_caught_as, line))
