"""Convolutions that are written as other operations, where XLA's own are slow on the CPU: as a product of matrices, or as a sum over the
few elements of the window (or of the result).

Each form computes the same sums of products; where they are added in another order, results differ by rounding alone: by no more than
2 n eps times the sum of the products' magnitudes, n being how many there are (Higham, "Accuracy and Stability of Numerical
Algorithms", 2nd ed., section 3.1; twice, as both orders are off).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

from ..core.avals import ShapedArray, aval_of
from ..core.jaxpr import JaxprEqn
from ..named_tuple import NamedTuple
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import CONVOLUTIONS_AS_PRODUCTS, CONVOLUTIONS_BY_ELEMENTS, CONVOLUTIONS_IN_LOOPS, Tuning
from .dot import dot_general_p
from .families import scalar_like
from .linear import (
    add_p,
    broadcast_in_dim,
    concatenate_p,
    moveaxis,
    mul_p,
    pad_p,
    reduce_sum_p,
    reshape,
    slice_p,
    transpose,
)


class Form(NamedTuple):
    """What is written in place of a convolution: in words, the function of both operands, and by which rule."""

    words: str
    function: Callable[[Any, Any], Any]
    rule: Tuning


def form_of(
    x: ShapedArray, y: ShapedArray, out: ShapedArray, params: dict[str, Any], platform: str | None = None
) -> Form | None:
    """How a convolution of operands of these avals is written for a platform (by default the one that the rules are for); None: as it is.
    `params` are those of its equation."""
    geometry = geometry_of(x, y, out, params)
    if geometry is None:
        return None
    if geometry.groups == 1 and holds(CONVOLUTIONS_AS_PRODUCTS, platform) and geometry.is_product():
        small = all(k == 1 for k in geometry.window)
        what = "a window of one element" if small else "a window as large as the array"
        return Form(
            f"written as a product of matrices: the convolution has {what}", geometry.product, CONVOLUTIONS_AS_PRODUCTS
        )
    if not holds(CONVOLUTIONS_BY_ELEMENTS, platform):
        return None
    most = CONVOLUTIONS_BY_ELEMENTS.value["elements"]
    if geometry.is_depthwise() and math.prod(geometry.window) <= most and geometry.is_worth_it():
        return Form(
            "written as a sum over the window: each feature has a window of its own",
            geometry.by_window,
            CONVOLUTIONS_BY_ELEMENTS,
        )
    if geometry.is_grouped_gradient() and math.prod(geometry.sizes) <= most and geometry.is_quicker_by_result():
        return Form(
            "written element by element of the result: the batch is in groups",
            geometry.by_result,
            CONVOLUTIONS_BY_ELEMENTS,
        )
    return None


def elements_summed(eqn: JaxprEqn, platform: str) -> int:
    """The elements of the window over which a convolution is written as a sum that XLA fuses with what reads it; 0: it is not."""
    (x, y), out = [a.aval for a in eqn.invars], eqn.outvars[0].aval
    geometry = geometry_of(x, y, out, eqn.params) if holds(CONVOLUTIONS_BY_ELEMENTS, platform) else None
    if geometry is None or not geometry.is_depthwise() or not geometry.is_worth_it():
        return 0
    elements = math.prod(geometry.window)
    return elements if 1 < elements <= CONVOLUTIONS_IN_LOOPS.value["window"] else 0  # with more it may be a loop


def geometry_of(x: ShapedArray, y: ShapedArray, out: ShapedArray, params: dict[str, Any]) -> Geometry | None:
    """The geometry of a convolution that may be written in another form: of floats, all of one type, whose sizes are known."""
    static = all(map(is_static, (x.shape, y.shape, out.shape, *params["padding"])))
    if not static or not x.dtype == y.dtype == out.dtype or x.dtype.name not in ("float32", "float64"):
        return None
    return Geometry.of(x, y, out, params)


def holds(rule: Tuning, platform: str | None) -> bool:
    """Whether a rule holds for a platform, by default the one that it is for."""
    return rule.holds() if platform is None else rule.holds(platform)


def folded(x: Any, axis: int, into: int) -> Any:
    """An axis becomes the slower part of another, which is axis `into` of the result."""
    x = moveaxis(x, axis, into)
    shape = aval_of(x).shape
    return reshape(x, (*shape[:into], math.prod(shape[into : into + 2]), *shape[into + 2 :]))


class Geometry(NamedTuple):
    """A convolution with its axes in the order batch, features, space for the left operand and the result, and result's features, input
    features, space for the right one."""

    x_shape: tuple[int, ...]
    y_shape: tuple[int, ...]
    sizes: tuple[int, ...]
    specs: tuple[tuple[int, ...], ...]
    params: dict[str, Any]

    @classmethod
    def of(cls, x: ShapedArray, y: ShapedArray, out: ShapedArray, params: dict[str, Any]) -> Geometry:
        specs = params["dimension_numbers"]
        shapes = [tuple(a.shape[i] for i in spec) for a, spec in zip((x, y, out), specs)]
        return cls(shapes[0], shapes[1], shapes[2][2:], tuple(specs), params)

    @property
    def window(self) -> tuple[int, ...]:
        return self.y_shape[2:]

    @property
    def groups(self) -> int:
        return self.params["feature_group_count"] * self.batch_groups

    @property
    def batch_groups(self) -> int:
        return self.params["batch_group_count"]

    @property
    def features(self) -> int:
        """The groups of the left operand's features."""
        return self.params["feature_group_count"]

    @property
    def features_of_group(self) -> int:
        """How many features of the left operand (of its batch, where this is in groups) are in a group."""
        return self.x_shape[0 if self.batch_groups > 1 else 1] // self.groups

    def products(self) -> int:
        """How many products are added up, those with padding and gaps with them."""
        return self.x_shape[0] // self.batch_groups * math.prod((*self.sizes, *self.y_shape))

    def padded_sizes(self) -> list[int]:
        """The left operand's sizes in space, with gaps and padding."""
        return [max(0, (n - 1) * spread + 1) + low + high for n, *_, (low, high), spread in self.along()]

    def along(self) -> Iterator[tuple[int, int, int, int, int, tuple[int, int], int]]:
        """For each spatial axis the sizes of the left operand, window and result, stride, gap in the window, padding, gap in the operand."""
        p = self.params
        return zip(self.x_shape[2:], self.window, self.sizes, p["window_strides"], p["rhs_dilation"], p["padding"], p["lhs_dilation"])  # fmt: skip

    # As a product

    def is_product(self) -> bool:
        """Whether each element of the left operand meets one of the window, or all of them meet one of the result."""
        return all(
            pads == (0, 0) and spread == 1 and (k == 1 or (m == 1 and (k - 1) * apart + 1 <= n))
            for n, k, m, _, apart, pads, spread in self.along()
        )

    def product(self, x: Any, y: Any) -> Any:
        x_spec, y_spec, out_spec = self.specs
        starts, limits, steps = [0] * len(x_spec), list(aval_of(x).shape), [1] * len(x_spec)
        contracted_x, contracted_y, kept = [x_spec[1]], [y_spec[1]], []
        for i, (_, k, m, stride, apart, _, _) in enumerate(self.along()):
            axis, within = x_spec[2 + i], y_spec[2 + i]
            steps[axis] = stride if k == 1 else apart
            limits[axis] = (m - 1) * stride + 1 if k == 1 else (k - 1) * apart + 1
            if k == 1:
                kept.append(i)
            else:
                contracted_x.append(axis)
                contracted_y.append(within)
        x = slice_p(x, start_indices=tuple(starts), limit_indices=tuple(limits), strides=tuple(steps))
        ones = [y_spec[2 + i] for i in kept]
        y_left = [a for a in range(len(y_spec)) if a not in ones]
        y = reshape(y, tuple(aval_of(y).shape[a] for a in y_left))
        contracted_y = [y_left.index(a) for a in contracted_y]
        # The names of the axes of the result are their places in (batch, features, space).
        names = {x_spec[0]: 0, **{x_spec[2 + i]: 2 + i for i in kept}}
        left = [names[a] for a in range(len(x_spec)) if a not in contracted_x]
        own: dict[str, Any] = {"preferred_element_type": None}
        precision = self.params["precision"]
        y_first = out_spec[1] < min((out_spec[n] for n in left), default=0)
        if y_first:
            pairs, order = (tuple(contracted_y), tuple(contracted_x)), [1, *left]
            precision = precision and precision[::-1]
            made = dot_general_p(y, x, dimension_numbers=(pairs, ((), ())), precision=precision, **own)
        else:
            pairs, order = (tuple(contracted_x), tuple(contracted_y)), [*left, 1]
            made = dot_general_p(x, y, dimension_numbers=(pairs, ((), ())), precision=precision, **own)
        order += [2 + i for i in range(len(self.sizes)) if i not in kept]  # of size 1
        made = reshape(made, (*aval_of(made).shape, *[1] * (len(self.sizes) - len(kept))))
        axes = {axis: name for name, axis in enumerate(out_spec)}
        return transpose(made, tuple(order.index(axes[a]) for a in range(len(out_spec))))

    # By elements

    def is_depthwise(self) -> bool:
        groups = self.params["feature_group_count"]
        return self.x_shape[1] == groups == self.y_shape[0]

    def is_worth_it(self) -> bool:
        """(Of one feature, small ones are as quick and compiled in less time as they are.)"""
        products = self.x_shape[0] * math.prod(self.sizes) * math.prod(self.window)
        return self.features > 1 or products >= CONVOLUTIONS_BY_ELEMENTS.value["products"]

    def is_grouped_gradient(self) -> bool:
        """Whether there are groups of the batch: so are the gradients by the windows of groups of features."""
        return self.params["batch_group_count"] > 1

    def is_quicker_by_result(self) -> bool:
        """(Where each group has one feature, XLA's own way is slow with many of them only.)"""
        groups = self.params["batch_group_count"]
        alone = self.x_shape[0] == groups == self.y_shape[0]
        return not alone or groups >= 128 or (groups >= 64 and math.prod(self.sizes) <= 9)

    def canonical(self, x: Any, y: Any) -> tuple[Any, Any]:
        """Both operands, as tracers, with their axes as batch, space, features, and space, input features, result's features; the left one padded."""
        (x0, x1, *xs), (y0, y1, *ys) = self.specs[:2]
        config = [(0, 0, 0)] * len(self.specs[0])
        for axis, (low, high), spread in zip(xs, self.params["padding"], self.params["lhs_dilation"]):
            config[axis] = (low, high, spread - 1)
        if any(map(any, config)):
            x = pad_p(x, scalar_like(x, 0), padding_config=tuple(config))
        return transpose(x, (x0, *xs, x1)), transpose(y, (*ys, y1, y0))

    def _seen(self, x: Any, at: tuple[int, ...], counts: tuple[int, ...], steps: tuple[int, ...]) -> Any:
        """A part of the padded operand: so many elements along each spatial axis, from `at`, `steps` apart."""
        shape = aval_of(x).shape
        limits = [a + (n - 1) * step + 1 for a, n, step in zip(at, counts, steps)]
        return slice_p(
            x, start_indices=(0, *at, 0), limit_indices=(shape[0], *limits, shape[-1]), strides=(1, *steps, 1)
        )

    def placed(self, out: Any) -> Any:
        """The result, whose axes are batch, space, features, with its axes where they belong."""
        spec = self.specs[2]
        own = (spec[0], *spec[2:], spec[1])
        return transpose(out, tuple(own.index(a) for a in range(len(spec))))

    def by_window(self, x: Any, y: Any) -> Any:
        x, y = self.canonical(x, y)
        strides, apart, terms = self.params["window_strides"], self.params["rhs_dilation"], []
        for at in itertools.product(*map(range, self.window)):
            seen = self._seen(x, tuple(i * d for i, d in zip(at, apart)), self.sizes, strides)
            one = slice_p(
                y, start_indices=(*at, 0, 0), limit_indices=(*[i + 1 for i in at], 1, self.y_shape[0]), strides=None
            )
            one = reshape(one, (self.y_shape[0],))
            terms.append(mul_p(seen, broadcast_in_dim(one, aval_of(seen).shape, (aval_of(seen).ndim - 1,))))
        return self.placed(functools.reduce(add_p, terms))

    def by_result(self, x: Any, y: Any) -> Any:
        """For each place of the result the products of the window with what it sees, in each group of the batch."""
        groups, (batch, _, *_), features = self.params["batch_group_count"], self.x_shape, self.y_shape[0]
        x, y = self.canonical(x, y)
        y = reshape(y, (*aval_of(y).shape[:-1], groups, features // groups))
        strides, apart, found = self.params["window_strides"], self.params["rhs_dilation"], []
        space = len(self.sizes)
        for at in itertools.product(*map(range, self.sizes)):
            seen = self._seen(x, tuple(i * s for i, s in zip(at, strides)), self.window, apart)
            seen = reshape(seen, (groups, batch // groups, *aval_of(seen).shape[1:]))
            if batch == groups == features:
                # one product each: elementwise, then summed over space and input features
                both = mul_p(transpose(reshape(seen, (groups, *aval_of(seen).shape[2:])), (*range(1, space + 2), 0)),
                             reshape(y, (*aval_of(y).shape[:-2], groups)))  # fmt: skip
                part = reshape(reduce_sum_p(both, axes=tuple(range(space + 1))), (1, groups))
            else:
                pairs = (tuple(range(2, space + 3)), tuple(range(space + 1))), ((0,), (space + 1,))
                part = dot_general_p(
                    seen, y, dimension_numbers=pairs, precision=self.params["precision"], preferred_element_type=None
                )
                part = reshape(transpose(part, (1, 0, 2)), (batch // groups, features))
            found.append(broadcast_in_dim(part, (aval_of(part).shape[0], 1, features), (0, 2)))
        made = concatenate_p(*found, dimension=1) if len(found) > 1 else found[0]
        return self.placed(reshape(made, (batch // groups, *self.sizes, features)))
