"""Transformations for a part of the parameters, for several steps together, and with numbers that can be changed."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import numpy as jnp, tree
from ..core.annotations import Array, DTypeLike, PyTree
from ..named_tuple import NamedTuple
from .base import (
    GradientTransformation,
    GradientTransformationExtraArgs,
    count_up,
    each,
    with_extra_args_support,
    zero_count,
    zeros_like,
)


__all__ = ["InjectHyperparamsState", "MaskedNode", "MaskedState", "MultiSteps", "MultiStepsState",
           "inject_hyperparams", "masked"]  # fmt: skip


class MaskedNode(NamedTuple):
    """Stands where the inner transformation sees no parameter."""


class MaskedState(NamedTuple):
    """The state of `masked`: the state of the inner transformation."""

    inner_state: Any


def masked(inner: GradientTransformation, mask: PyTree) -> GradientTransformationExtraArgs:
    """`inner` for those leaves where the mask is true; the other updates go through as they are.

    The mask is a tree of bools in the structure of the parameters or of its upper part, or a function of the parameters (when
    a state is made) or updates (in steps) that gives one.
    """
    part = with_extra_args_support(inner)

    def picked(values, chosen):
        return tree.map(lambda yes, x: x if yes else MaskedNode(), chosen, values)

    def init(params):
        return MaskedState(part.init(picked(params, mask(params) if callable(mask) else mask)))

    def update(updates, state, params=None, **extra_args):
        chosen = mask(updates) if callable(mask) else mask
        some = None if params is None else picked(params, chosen)
        new, inner_state = part.update(picked(updates, chosen), state.inner_state, some, **extra_args)
        updates = tree.map(lambda yes, x, old: x if yes else old, chosen, new, updates)
        return updates, MaskedState(inner_state)

    return GradientTransformationExtraArgs(init, update)


class InjectHyperparamsState(NamedTuple):
    """The state of `inject_hyperparams`: the steps done, the numbers by name, and the state of the optimizer made with them."""

    count: Any
    hyperparams: dict[str, Any]
    inner_state: Any


def inject_hyperparams(
    inner_factory: Callable[..., GradientTransformation],
    static_args: str | Iterable[str] = (),
    hyperparam_dtype: DTypeLike | None = None,
) -> Callable[..., GradientTransformationExtraArgs]:
    """`inner_factory` with its numbers in the state, under `hyperparams` by name, where they can be read and changed between
    steps; those given as schedules are set anew in each step. Names in static_args, and bools, stay as they are. Numbers are
    kept in hyperparam_dtype (None: the widest floating dtype of the parameters). Raises ValueError for names in
    static_args that the factory does not take."""
    fixed = {static_args} if isinstance(static_args, str) else set(static_args)
    signature = inspect.signature(inner_factory)
    if not fixed <= set(signature.parameters):
        raise ValueError(
            f"static_args {sorted(fixed - set(signature.parameters))} are not parameters of {inner_factory.__name__}, "
            f"which takes {', '.join(signature.parameters)}"
        )

    @functools.wraps(inner_factory)
    def factory(*args: Any, **kwargs: Any) -> GradientTransformationExtraArgs:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        sorts = {name: _sort(value, name in fixed) for name, value in bound.arguments.items()}
        schedules, numbers, others = (
            {name: value for name, value in bound.arguments.items() if sorts[name] == sort}
            for sort in ("schedule", "number", "other")
        )

        def values(given, count, params):
            dtype = hyperparam_dtype or _float_dtype(params)
            now = given | {name: schedule(count) for name, schedule in schedules.items()}
            return {name: _in_dtype(value, dtype) for name, value in now.items()}

        def init(params):
            count = zero_count()
            hyperparams = values(numbers, count, params)
            return InjectHyperparamsState(count, hyperparams, inner_factory(**others, **hyperparams).init(params))

        def update(updates, state, params=None, **extra_args):
            hyperparams = values(state.hyperparams, state.count, updates if params is None else params)
            inner = with_extra_args_support(inner_factory(**others, **hyperparams))
            updates, inner_state = inner.update(updates, state.inner_state, params, **extra_args)
            return updates, InjectHyperparamsState(count_up(state.count), hyperparams, inner_state)

        return GradientTransformationExtraArgs(init, update)

    return factory


def _sort(value: Any, fixed: bool) -> str:
    if fixed or isinstance(value, bool) or value is None:
        return "other"
    if callable(value):
        return "schedule"
    return "number" if isinstance(value, (int, float, np.ndarray, np.generic)) or hasattr(value, "aval") else "other"


def _float_dtype(params: Any) -> Any:
    found = [jnp.asarray(x).dtype for x in tree.leaves(params)]
    found = [d for d in found if jnp.issubdtype(d, jnp.floating)]
    return functools.reduce(jnp.promote_types, found) if found else jnp.asarray(0.0).dtype


def _in_dtype(value: Any, dtype: Any) -> Any:
    array = jnp.asarray(value)
    return array.astype(dtype) if jnp.issubdtype(array.dtype, jnp.floating) else array


class MultiStepsState(NamedTuple):
    """The state of `MultiSteps`: gradients seen since the last step, steps done, the state of the optimizer, and the gradients so far."""

    mini_step: Any
    gradient_step: Any
    inner_opt_state: Any
    acc_grads: Any


class MultiSteps:
    """An optimizer that takes one step for every k gradients, on their mean (on their sum with use_grad_mean=False); between
    steps the updates are zeros. `every_k_schedule`: k, or a function from the number of steps taken to it. Gradients are
    gathered in accumulator_dtype."""

    def __init__(
        self,
        opt: GradientTransformation,
        every_k_schedule: int | Callable[[Array], Array],
        use_grad_mean: bool = True,
        *,
        accumulator_dtype: DTypeLike | None = jnp.float32,
    ):
        self._opt = with_extra_args_support(opt)
        self._every = every_k_schedule if callable(every_k_schedule) else lambda step: every_k_schedule
        self._mean, self._dtype = use_grad_mean, accumulator_dtype

    def init(self, params: PyTree) -> MultiStepsState:
        """The state before the first gradient."""
        return MultiStepsState(zero_count(), zero_count(), self._opt.init(params), zeros_like(params, self._dtype))

    def update(
        self, updates: PyTree, state: MultiStepsState, params: PyTree = None, **extra: object
    ) -> tuple[PyTree, MultiStepsState]:
        """(updates, state) after one more gradient."""
        every = self._every(state.gradient_step)
        seen = state.mini_step + 1
        gathered = each(
            lambda g, a: (a + (g - a) / seen if self._mean else a + g).astype(a.dtype), updates, state.acc_grads
        )
        given = each(lambda a, g: a.astype(g.dtype), gathered, updates)
        final, inner = self._opt.update(given, state.inner_opt_state, params, **extra)
        now = seen >= every
        inner = tree.map(lambda new, old: jnp.where(now, new, old).astype(old.dtype), inner, state.inner_opt_state)
        after = MultiStepsState(
            jnp.where(now, 0, seen).astype(jnp.int32),
            jnp.where(now, count_up(state.gradient_step), state.gradient_step),
            inner,
            each(lambda a: jnp.where(now, jnp.zeros_like(a), a), gathered),
        )
        return each(lambda u: jnp.where(now, u, jnp.zeros_like(u)), final), after

    def has_updated(self, state: MultiStepsState) -> Array:
        """Whether the last gradient ended a group, a boolean scalar."""
        return (state.mini_step == 0) & (state.gradient_step > 0)

    def gradient_transformation(self) -> GradientTransformation:
        """As a pair of functions."""
        return GradientTransformationExtraArgs(self.init, self.update)
