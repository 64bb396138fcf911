"""What an optimizer is: a pair of functions, `init` and `update`, and the ways to put several together.

Gradients go in, updates come out, both in the structure of the parameters; everything an optimizer remembers is in its state,
a pytree of arrays, so that a step can be compiled, scanned, mapped and differentiated like any other function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import numpy as jnp, tree
from ..core.annotations import Array
from ..named_tuple import NamedTuple


if TYPE_CHECKING:
    import numpy as np


__all__ = ["EmptyState", "GradientTransformation", "GradientTransformationExtraArgs", "Schedule", "apply_updates",
           "chain", "global_norm", "identity", "set_to_zero", "stateless", "stateless_with_tree_map",
           "with_extra_args_support"]  # fmt: skip


Params: TypeAlias = Any
Updates: TypeAlias = Any
State: TypeAlias = Any
"""Trees of arrays: parameters, gradients and what becomes of them, what an optimizer remembers."""
Schedule = Callable[[Any], Any]
"""From the number of steps done so far to a number."""
if TYPE_CHECKING:
    Number: TypeAlias = float | np.floating | np.integer | np.ndarray | Array
    ScalarOrSchedule: TypeAlias = Number | Schedule


class GradientTransformation(NamedTuple):
    """`init(params)` gives the state; `update(updates, state, params=None)` new updates and the next state."""

    init: Callable[[Params], State]
    update: Callable[..., tuple[Updates, State]]


class GradientTransformationExtraArgs(GradientTransformation):
    """One whose `update` takes further keyword arguments, and ignores those it has no use for."""


class EmptyState(NamedTuple):
    """The state of a transformation that remembers nothing."""


def with_extra_args_support(tx: GradientTransformation) -> GradientTransformationExtraArgs:
    """The same transformation, one that does not mind further keyword arguments."""
    if isinstance(tx, GradientTransformationExtraArgs):
        return tx

    def update(updates, state, params=None, **extra_args):
        return tx.update(updates, state, params)

    return GradientTransformationExtraArgs(tx.init, update)


def stateless(f: Callable[[Updates, Params | None], Updates]) -> GradientTransformation:
    """The transformation that replaces updates by `f(updates, params)`."""

    def update(updates, state, params=None):
        return f(updates, params), state

    return GradientTransformation(lambda params: EmptyState(), update)


def stateless_with_tree_map(f: Callable[[Any, Any], Any]) -> GradientTransformation:
    """The transformation that replaces each leaf by `f(update, parameter)`; the parameter is None where `update` is called
    without any."""

    def leaf_by_leaf(updates, params):
        return each(lambda g: f(g, None), updates) if params is None else each(f, updates, params)

    return stateless(leaf_by_leaf)


def identity() -> GradientTransformation:
    """Updates as they come."""
    return stateless(lambda updates, params: updates)


def set_to_zero() -> GradientTransformation:
    """Zeros in place of all updates."""
    return stateless(lambda updates, params: each(jnp.zeros_like, updates))


def chain(*args: GradientTransformation) -> GradientTransformationExtraArgs:
    """One after another; the state is a tuple of theirs. Raises ValueError for a state of another length."""
    parts = [with_extra_args_support(tx) for tx in args]

    def init(params):
        return tuple(tx.init(params) for tx in parts)

    def update(updates, state, params=None, **extra_args):
        if not isinstance(state, tuple) or len(state) != len(parts):
            raise ValueError(
                f"a chain of {len(parts)} transformations needs a state of as many parts, it got {_described(state)}: "
                "make one with its init(params)"
            )
        states = []
        for tx, old in zip(parts, state):
            updates, new = tx.update(updates, old, params, **extra_args)
            states.append(new)
        return updates, tuple(states)

    return GradientTransformationExtraArgs(init, update)


def _described(state: Any) -> str:
    return f"a tuple of {len(state)}" if isinstance(state, tuple) else f"a {type(state).__name__}"


def apply_updates(params: Params, updates: Updates) -> Params:
    """`params + updates` leaf by leaf, in the dtypes of the parameters; None stays None."""
    return each(lambda p, u: jnp.asarray(p + u).astype(jnp.asarray(p).dtype), params, updates)


# What the transformations are made of ---------------------------------------------------------------------------------


def each(f: Callable[..., Any], updates: Any, *rest: Any) -> Any:
    """`f` leaf by leaf; None where the first tree has None, whatever the others have there."""
    return tree.map(lambda x, *xs: None if x is None else f(x, *xs), updates, *rest, is_leaf=lambda x: x is None)


def zeros_like(params: Params, dtype: Any = None) -> Any:
    """A tree of zeros."""
    return tree.map(lambda p: jnp.zeros_like(p, dtype=dtype), params)


def full_like(params: Params, value: Any) -> Any:
    """A tree of arrays filled with one number."""
    return tree.map(lambda p: jnp.full_like(p, value), params)


def cast(values: Any, dtype: Any) -> Any:
    """All leaves in a dtype; as they are for None."""
    return values if dtype is None else tree.map(lambda x: x.astype(dtype), values)


def zero_count() -> Any:
    """No steps so far."""
    return jnp.zeros((), jnp.int32)


def count_up(count: Any) -> Any:
    """One more, but for the greatest number there is."""
    greatest = jnp.iinfo(count.dtype).max
    return jnp.where(count < greatest, count + jnp.ones((), count.dtype), jnp.full((), greatest, count.dtype))


def square_of_size(x: Any) -> Any:
    """`|x|²`, a real number."""
    return jnp.square(x) if jnp.isrealobj(x) else jnp.square(jnp.real(x)) + jnp.square(jnp.imag(x))


def global_norm(updates: Updates) -> Array:
    """The Euclidean norm of all leaves together, a scalar; 0 without leaves."""
    return jnp.sqrt(jnp.asarray(sum((jnp.sum(square_of_size(x)) for x in tree.leaves(updates)), 0.0)))
