"""A density estimated from points: a normal density round each of them, of one covariance."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ... import lax, numpy as jnp, random
from ...core.annotations import Array, ArrayLike
from ...core.avals import aval_of
from ...core.dtypes import to_inexact
from ...eager.functions import eager_jit
from ...nn.normalizing import logsumexp
from ...numpy.operands import lenient, promoted
from ...numpy.structure import array_operand
from ...tree import register_pytree_node_class
from .. import special


def _rows(name: str, x: Any) -> Any:
    """Points as columns of a matrix. Raises NotImplementedError for complex numbers."""
    x = jnp.atleast_2d(jnp.asarray(array_operand(name, x)))
    if jnp.iscomplexobj(x):
        raise NotImplementedError(f"{name} is not there for complex numbers; give their parts as two variables")
    return x


_FIELDS = ("neff", "dataset", "weights", "covariance", "inv_cov")


@register_pytree_node_class
class gaussian_kde:
    """A density estimated from the points `dataset` [d, n] (or [n]), of `weights` [n] (None: equal ones). A pytree; it cannot be
    changed. Source: D. Scott, "Multivariate Density Estimation" (1992).

    The covariance of each point's density is the data's times a squared factor. `bw_method` gives it: "scott" (None)
    neff^(-1 / (d + 4)), "silverman" ((d + 2) neff / 4)^(-1 / (d + 4)), neff being the number of points, for weights
    1 / sum of their squares; a number; or a function of this object. Raises ValueError for fewer than two elements, weights of
    another shape and another `bw_method`, NotImplementedError for complex numbers, TypeError for what is not an array.
    """

    __slots__ = _FIELDS

    neff: Any
    dataset: Any
    weights: Any
    covariance: Any
    inv_cov: Any

    def __init__(
        self,
        dataset: ArrayLike,
        bw_method: str | ArrayLike | Callable[..., Any] | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        points = _rows("gaussian_kde", dataset)
        if points.size < 2:
            raise ValueError(f"gaussian_kde: a dataset has several elements; its shape is {points.shape}")
        if weights is not None:
            weights = jnp.atleast_1d(jnp.asarray(array_operand("gaussian_kde", weights)))
            if weights.shape != points.shape[1:]:
                raise ValueError(
                    f"gaussian_kde: there are {points.shape[1]} points, and weights of shape {weights.shape}"
                )
        self._set(**dict(zip(("dataset", "weights", "neff"), _weighed(points, weights))))
        rule = "scott" if bw_method is None else bw_method
        if isinstance(rule, str):
            if rule not in ("scott", "silverman"):
                raise ValueError(
                    f"gaussian_kde: bw_method is 'scott', 'silverman', a number or a function, not {rule!r}"
                )
            factor = None
        elif callable(rule):
            rule, factor = None, rule(self)
        elif not np.ndim(rule):
            rule, factor = None, rule
        else:
            raise ValueError(f"gaussian_kde: bw_method is one number, not of shape {np.shape(rule)}")
        self._set(**dict(zip(("covariance", "inv_cov"), _widths(self.dataset, self.weights, self.neff, factor, rule))))

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a gaussian_kde cannot be changed: make a new one instead of setting {name!r}")

    def tree_flatten(self) -> tuple[tuple[Any, ...], None]:
        """Its arrays, for trees."""
        return tuple(getattr(self, name) for name in _FIELDS), None

    @classmethod
    def tree_unflatten(cls, aux_data: None, children: Sequence[Any]) -> gaussian_kde:
        """A density of these arrays, which are not looked at."""
        made = cls.__new__(cls)
        made._set(**dict(zip(_FIELDS, children)))
        return made

    @property
    def d(self) -> int:
        """The number of variables."""
        return self.dataset.shape[0]

    @property
    def n(self) -> int:
        """The number of points."""
        return self.dataset.shape[1]

    def evaluate(self, points: ArrayLike) -> Array:
        """The density [m] at `points` [d, m]. Raises ValueError for another number of variables."""
        return _density(self.dataset, self.weights, self.inv_cov, self._placed("evaluate", points), False)

    def __call__(self, points: ArrayLike) -> Array:
        """The density at points; see `evaluate`."""
        return self.evaluate(points)

    def pdf(self, x: ArrayLike) -> Array:
        """The density at points; see `evaluate`."""
        return self.evaluate(x)

    def logpdf(self, x: ArrayLike) -> Array:
        """The logarithm of the density; see `evaluate`."""
        return _density(self.dataset, self.weights, self.inv_cov, self._placed("logpdf", x), True)

    def _placed(self, name: str, points: Any) -> Any:
        points = _rows(name, points)
        if points.shape[0] == self.d:
            return points
        if points.shape != (1, self.d):
            raise ValueError(f"{name}: points of {points.shape[0]} variables for a density of {self.d}")
        return points.reshape(self.d, 1)

    def integrate_gaussian(self, mean: ArrayLike, cov: ArrayLike) -> Array:
        """The integral of the density times a normal one of `mean` [d] and `cov` [d, d]. Raises ValueError for other shapes."""
        mean, cov = jnp.atleast_1d(jnp.squeeze(jnp.asarray(mean))), jnp.atleast_2d(jnp.asarray(cov))
        if mean.shape != (self.d,) or cov.shape != (self.d, self.d):
            raise ValueError(
                f"integrate_gaussian: for {self.d} variables, mean and cov have shapes ({self.d},) and ({self.d}, "
                f"{self.d}), not {mean.shape} and {cov.shape}"
            )
        return _product(self.covariance + cov, self.dataset, self.weights, mean[:, None], jnp.ones(1, mean.dtype))

    def integrate_kde(self, other: gaussian_kde) -> Array:
        """The integral of the product of two densities. Raises ValueError where their numbers of variables differ."""
        if other.d != self.d:
            raise ValueError(f"integrate_kde: one density is of {self.d} variables, the other of {other.d}")
        widths = self.covariance + other.covariance
        return _product(widths, self.dataset, self.weights, other.dataset, other.weights)

    def integrate_box_1d(self, low: ArrayLike, high: ArrayLike) -> Array:
        """The integral of a density of one variable between two numbers. Raises ValueError for others."""
        if self.d != 1:
            raise ValueError(f"integrate_box_1d is for densities of one variable; this one is of {self.d}")
        if aval_of(low).shape or aval_of(high).shape:
            raise ValueError("integrate_box_1d: the limits are two numbers, not arrays")
        return _between(self.dataset, self.weights, self.covariance, low, high)

    def integrate_box(self, low_bounds: ArrayLike, high_bounds: ArrayLike, maxpts: int | None = None) -> NoReturn:
        """Raises NotImplementedError: see `integrate_box_1d`."""
        raise NotImplementedError("integrate_box: there are integrals over one variable only: use integrate_box_1d")

    def set_bandwidth(self, bw_method: str | ArrayLike | Callable[..., Any] | None = None) -> None:
        """Raises NotImplementedError."""
        raise NotImplementedError("set_bandwidth: a gaussian_kde cannot be changed: make a new one with that bw_method")

    def resample(self, key: ArrayLike, shape: Sequence[int] = ()) -> Array:
        """Points drawn from the density: [d, *shape]."""
        return _drawn(key, self.dataset, self.weights, self.covariance, shape)


# Programs ------------------------------------------------------------------------------------------------------------


@lenient
@eager_jit(nested=True)
def _weighed(points: Any, weights: Any) -> tuple[Any, Any, Any]:
    """The points, their weights with sum 1, and the number of points of equal weights that say as much."""
    if weights is None:
        points = points.astype(to_inexact(points.dtype))
        weights = jnp.full(points.shape[1], 1 / points.shape[1], points.dtype)
    else:
        points, weights = promoted("gaussian_kde", (points, weights), inexact=True)[0]
        weights = weights / jnp.sum(weights)
    return points, weights, 1 / jnp.sum(weights * weights)


@lenient
@eager_jit(static="rule", nested=True)
def _widths(points: Any, weights: Any, neff: Any, factor: Any, rule: str | None) -> tuple[Any, Any]:
    d = points.shape[0]
    if rule is not None:
        factor = (neff if rule == "scott" else neff * ((d + 2) / 4)) ** (-1 / (d + 4))
    of_data = jnp.atleast_2d(jnp.cov(points, bias=False, aweights=weights))
    return of_data * factor**2, jnp.linalg.inv(of_data) / factor**2


@lenient
@eager_jit(static="in_log", nested=True)
def _density(points: Any, weights: Any, precision: Any, places: Any, in_log: bool) -> Any:
    points, weights, precision, places = promoted("gaussian_kde", (points, weights, precision, places), inexact=True)[0]
    root = jnp.linalg.cholesky(precision)
    whole = jnp.sum(jnp.log(jnp.diagonal(root))) - 0.5 * points.shape[0] * math.log(2 * math.pi)
    far = jnp.matmul(places.T, root)[:, None, :] - jnp.matmul(points.T, root)[None, :, :]
    exponents = whole - 0.5 * jnp.sum(far * far, -1)
    if in_log:
        return logsumexp(jnp.log(weights) + exponents, 1)
    return jnp.sum(weights * jnp.exp(exponents), 1)


@lenient
@eager_jit(nested=True)
def _product(widths: Any, x: Any, x_weights: Any, y: Any, y_weights: Any) -> Any:
    """The sum of normal densities of covariance `widths` at all differences of points."""
    d = x.shape[0]
    root = lax.linalg.cholesky(widths.T, symmetrize_input=False)  # the upper triangle is read
    apart = (x[:, :, None] - y[:, None, :]).reshape(d, -1)
    whitened = lax.linalg.triangular_solve(root, apart, left_side=True, lower=True)
    densities = jnp.exp(-0.5 * jnp.sum(whitened * whitened, 0)).reshape(x.shape[1], y.shape[1])
    total = jnp.sum(densities * x_weights[:, None] * y_weights[None, :])
    return total / (math.sqrt(2 * math.pi) ** d * jnp.prod(jnp.diagonal(root)))


@lenient
@eager_jit(nested=True)
def _between(points: Any, weights: Any, covariance: Any, low: Any, high: Any) -> Any:
    width = jnp.sqrt(covariance[0, 0])
    low, high = (special.ndtr((limit - points[0]) / width) for limit in (low, high))
    return jnp.sum(weights * (high - low))


@lenient
@eager_jit(static="shape", nested=True)
def _drawn(key: Any, points: Any, weights: Any, covariance: Any, shape: Any) -> Any:
    choosing, moving = random.split(key)
    chosen = random.choice(choosing, points.shape[1], shape, p=weights)
    moved = random.multivariate_normal(
        moving, jnp.zeros(points.shape[0], covariance.dtype), covariance, shape, points.dtype
    )
    return points[:, chosen] + moved.T
