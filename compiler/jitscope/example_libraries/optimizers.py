"""Optimizers as three functions: `init(params)` gives a state, `update(i, grads, state)` the next one, `get_params(state)` the
parameters in it. A step size is a number, or a function of the step's number."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ParamSpec

from .. import numpy as jnp, tree
from ..core.annotations import Array, ArrayLike, PyTree
from ..named_tuple import NamedTuple
from ..tree import leaves


P = ParamSpec("P")


Schedule = Callable[[Any], Any]


class OptimizerState(NamedTuple):
    """For each parameter the leaves of its state; the structure of the parameters, and those of the states."""

    packed_state: tuple[tuple[Any, ...], ...]
    tree_def: Any
    subtree_defs: tuple[Any, ...]


tree.register_pytree_node(
    OptimizerState,
    lambda state: ((state.packed_state,), (state.tree_def, state.subtree_defs)),
    lambda data, children: OptimizerState(children[0], *data),
)


class Optimizer(NamedTuple):
    """`init_fn`, `update_fn` and `params_fn`, as the page above says."""

    init_fn: Callable[[Any], OptimizerState]
    update_fn: Callable[[Any, Any, OptimizerState], OptimizerState]
    params_fn: Callable[[OptimizerState], Any]


def optimizer(opt_maker: Callable[P, tuple[Any, Any, Any]]) -> Callable[P, Optimizer]:
    """Decorator: an optimizer of trees from one of single arrays. `opt_maker(...)` gives `init(x)`, `update(i, g, state)` and
    `get_params(state)`, where a state is any tree."""

    @functools.wraps(opt_maker)
    def make(*args: P.args, **kwargs: P.kwargs) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        def init_tree(params: Any) -> OptimizerState:
            leaves, treedef = tree.flatten(params)
            return _packed([init(x) for x in leaves], treedef)

        def update_tree(i: Any, grads: Any, state: OptimizerState) -> OptimizerState:
            found, treedef = tree.flatten(grads)
            if treedef != state.tree_def:
                raise TypeError(f"the gradients have the structure {treedef}, the parameters {state.tree_def}")
            return _packed([update(i, g, s) for g, s in zip(found, _states(state))], treedef)

        def params_tree(state: OptimizerState) -> Any:
            return tree.unflatten(state.tree_def, [get_params(s) for s in _states(state)])

        return Optimizer(init_tree, update_tree, params_tree)

    return make


class JoinPoint:
    """A leaf that holds a tree: where the trees of the parameters' states hang in the tree of the parameters."""

    def __init__(self, subtree: PyTree):
        self.subtree = subtree

    def __iter__(self) -> Iterator[Any]:
        yield self.subtree


def unpack_optimizer_state(opt_state: OptimizerState) -> PyTree:
    """The state as a tree like the parameters, with a JoinPoint in the place of each: to be written down, say."""
    return tree.unflatten(opt_state.tree_def, list(map(JoinPoint, _states(opt_state))))


def pack_optimizer_state(marked_pytree: PyTree) -> OptimizerState:
    """The state of which `unpack_optimizer_state` made this tree. Raises TypeError for leaves that are not JoinPoint."""
    points, treedef = tree.flatten(marked_pytree)
    wrong = [point for point in points if not isinstance(point, JoinPoint)]
    if wrong:
        raise TypeError(f"pack_optimizer_state takes a tree of JoinPoints; it contains a {type(wrong[0]).__name__}")
    return _packed([point.subtree for point in points], treedef)


def _packed(states: Sequence[Any], treedef: Any) -> OptimizerState:
    flat = [tree.flatten(state) for state in states]
    return OptimizerState(tuple(tuple(leaves) for leaves, _ in flat), treedef, tuple(kind for _, kind in flat))


def _states(state: OptimizerState) -> list[Any]:
    return [tree.unflatten(kind, leaves) for kind, leaves in zip(state.subtree_defs, state.packed_state)]


def _with_slots(count: int, step: Callable[..., Any]) -> tuple[Any, Any, Any]:
    """An optimizer of one array whose state is the array and `count` more of its shape, zeros at first;
    `step(i, g, x, *slots)` gives all of them anew."""
    return (
        lambda x: (x, *[jnp.zeros_like(x) for _ in range(count)]),
        lambda i, g, state: step(i, g, *state),
        lambda state: state[0],
    )


@optimizer
def sgd(step_size: float | Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    """Gradient descent."""
    size = make_schedule(step_size)
    return _with_slots(0, lambda i, g, x: (x - size(i) * g,))


@optimizer
def momentum(step_size: float | Callable[[Any], Any], mass: float) -> tuple[Any, Any, Any]:
    """Gradient descent with momentum: v becomes mass v + g, and x falls by step_size v."""
    size = make_schedule(step_size)

    def step(i, g, x, speed):
        speed = mass * speed + g
        return x - size(i) * speed, speed

    return _with_slots(1, step)


@optimizer
def nesterov(step_size: float | Callable[[Any], Any], mass: float) -> tuple[Any, Any, Any]:
    """Gradient descent with Nesterov's momentum: v becomes mass v + g, and x falls by step_size (mass v + g)."""
    size = make_schedule(step_size)

    def step(i, g, x, speed):
        speed = mass * speed + g
        return x - size(i) * (mass * speed + g), speed

    return _with_slots(1, step)


@optimizer
def adagrad(step_size: float | Callable[[Any], Any], momentum: float = 0.9) -> tuple[Any, Any, Any]:
    """Adagrad (Duchi and others, 2011), with momentum."""
    size = make_schedule(step_size)

    def step(i, g, x, squares, mean):
        squares = squares + jnp.square(g)
        mean = (1 - momentum) * (g * _inverse_root(squares)) + momentum * mean
        return x - size(i) * mean, squares, mean

    return _with_slots(2, step)


def _inverse_root(x: Any) -> Any:
    return jnp.where(x > 0, 1 / jnp.sqrt(x), 0.0)


@optimizer
def rmsprop(step_size: float | Callable[[Any], Any], gamma: float = 0.9, eps: float = 1e-8) -> tuple[Any, Any, Any]:
    """RMSProp (Tieleman and Hinton, 2012): gradients over the root of the running mean of their squares."""
    size = make_schedule(step_size)

    def step(i, g, x, squares):
        squares = gamma * squares + (1 - gamma) * jnp.square(g)
        return x - size(i) * g / jnp.sqrt(squares + eps), squares

    return _with_slots(1, step)


@optimizer
def rmsprop_momentum(
    step_size: float | Callable[[Any], Any], gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9
) -> tuple[Any, Any, Any]:
    """RMSProp with momentum."""
    size = make_schedule(step_size)

    def step(i, g, x, squares, speed):
        squares = gamma * squares + (1 - gamma) * jnp.square(g)
        speed = momentum * speed + size(i) * g / jnp.sqrt(squares + eps)
        return x - speed, squares, speed

    return _with_slots(2, step)


@optimizer
def adam(
    step_size: float | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> tuple[Any, Any, Any]:
    """Adam (Kingma and Ba, 2014)."""
    size = make_schedule(step_size)

    def step(i, g, x, mean, squares):
        mean = (1 - b1) * g + b1 * mean
        squares = (1 - b2) * jnp.square(g) + b2 * squares
        unbiased = mean / (1 - jnp.asarray(b1, mean.dtype) ** (i + 1))
        root = jnp.sqrt(squares / (1 - jnp.asarray(b2, mean.dtype) ** (i + 1)))
        return x - size(i) * unbiased / (root + eps), mean, squares

    return _with_slots(2, step)


@optimizer
def adamax(
    step_size: float | Callable[[Any], Any], b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> tuple[Any, Any, Any]:
    """AdaMax (Kingma and Ba, 2014): Adam by the largest gradient in place of the mean square."""
    size = make_schedule(step_size)

    def step(i, g, x, mean, largest):
        mean = (1 - b1) * g + b1 * mean
        largest = jnp.maximum(b2 * largest, jnp.abs(g))
        scale = size(i) / (1 - jnp.asarray(b1, mean.dtype) ** (i + 1))
        return x - scale * mean / (largest + eps), mean, largest

    return _with_slots(2, step)


@optimizer
def sm3(step_size: float | Callable[[Any], Any], momentum: float = 0.9) -> tuple[Any, Any, Any]:
    """SM3 (Anil and others, 2019): one number for each index along each axis in place of one for each element."""
    size = make_schedule(step_size)

    def init(x):
        x = jnp.asarray(x)
        full = jnp.atleast_1d(x)
        return x, jnp.zeros_like(full), [jnp.zeros(n, full.dtype) for n in full.shape]

    def update(i, g, state):
        x, mean, largest = state
        g = jnp.atleast_1d(g)
        along = [v.reshape([-1 if a == axis else 1 for a in range(g.ndim)]) for axis, v in enumerate(largest)]
        squares = functools.reduce(jnp.minimum, along) + jnp.square(g)
        mean = (1 - momentum) * (g * _inverse_root(squares)) + momentum * mean
        rows = [squares.max([a for a in range(g.ndim) if a != axis]) for axis in range(g.ndim)]
        return x - size(i) * mean.reshape(x.shape), mean, rows

    return init, update, lambda state: state[0]


# Schedules -----------------------------------------------------------------------------------------------------------


def constant(step_size: float) -> Schedule:
    """The same size at each step."""
    return lambda i: step_size


def exponential_decay(step_size: float, decay_steps: float, decay_rate: float) -> Schedule:
    """Sizes that fall by `decay_rate` in `decay_steps` steps."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(step_size: float, decay_steps: float, decay_rate: float, staircase: bool = False) -> Schedule:
    """Sizes that fall as one over the number of steps; with `staircase` after each `decay_steps` steps."""
    return lambda i: step_size / (1 + decay_rate * (jnp.floor(i / decay_steps) if staircase else i / decay_steps))


def polynomial_decay(step_size: float, decay_steps: float, final_step_size: float, power: float = 1.0) -> Schedule:
    """Sizes that go to `final_step_size` in `decay_steps` steps."""

    def schedule(i):
        left = (1 - jnp.minimum(i, decay_steps) / decay_steps) ** power
        return left * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Sequence[float] | ArrayLike, values: Sequence[float] | ArrayLike) -> Schedule:
    """`values[k]` for steps after `k` of the `boundaries`. Raises ValueError unless there is one value more."""
    limits, sizes = jnp.array(boundaries), jnp.array(values)
    if limits.ndim != 1 or sizes.shape != (limits.size + 1,):
        raise ValueError(f"{limits.size} boundaries part {limits.size + 1} values; there are {sizes.size}")
    return lambda i: sizes[jnp.sum(i > limits)]


def make_schedule(scalar_or_schedule: float | Callable[[Any], Any]) -> Schedule:
    """A schedule: given, or constant. Raises TypeError for an array that is not a scalar."""
    if callable(scalar_or_schedule):
        return scalar_or_schedule
    if jnp.ndim(scalar_or_schedule) != 0:
        raise TypeError(f"a step size is a number or a function of the step's, not {scalar_or_schedule!r}")
    return constant(scalar_or_schedule)


# Gradients -----------------------------------------------------------------------------------------------------------


def l2_norm(tree: PyTree) -> Array:
    """The norm of all leaves as one vector."""
    return jnp.sqrt(sum(jnp.vdot(x, x) for x in leaves(tree)))


def clip_grads(grad_tree: PyTree, max_norm: ArrayLike) -> PyTree:
    """The gradients, made shorter where their norm is above `max_norm`."""
    norm = l2_norm(grad_tree)
    return tree.map(lambda g: jnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree)
