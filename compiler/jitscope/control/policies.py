"""Policies of checkpoint: which intermediate values are saved for the backward pass, and which are computed anew.

A policy is a function of a primitive, the avals of its operands and its parameters, and says whether the results may be
saved: True or `Saveable`, False or `Recompute`, or an `Offloadable`, which names the memories to move them between.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable, Sequence
from typing import Any

from ..named_tuple import NamedTuple


__all__ = ["Offloadable", "Recompute", "Saveable", "checkpoint_policies"]


class Offloadable(NamedTuple):
    """A policy's answer: save, in the memory `dst`."""

    src: str
    dst: str


class _Answer(enum.Enum):
    SAVE = "Saveable"
    RECOMPUTE = "Recompute"

    def __repr__(self) -> str:
        return self.value


Saveable, Recompute = _Answer
"""A policy's answers: save, and compute anew."""

Answer = bool | _Answer | Offloadable
Policy = Callable[..., Answer]

_PRODUCTS = ("dot_general", "conv_general_dilated")


def everything_saveable(*_: Any, **__: Any) -> bool:
    """Save everything, as if there were no checkpoint."""
    return True


def nothing_saveable(*_: Any, **__: Any) -> bool:
    """Save the arguments alone and compute everything anew: what holds without a policy."""
    return False


def dots_saveable(prim: Any, *_: Any, **__: Any) -> bool:
    """Save the results of matrix products and convolutions."""
    return prim.name in _PRODUCTS


def dots_with_no_batch_dims_saveable(prim: Any, *_: Any, **params: Any) -> bool:
    """Save the results of matrix products without batch dimensions (those of weights with activations)."""
    if prim.name != "dot_general":
        return False
    _, (left, right) = params["dimension_numbers"]
    return not left and not right


class _Names:
    """Policies that go by the names given with `checkpoint_name`; equal ones are equal."""

    def __init__(self, names: tuple[str, ...], wanted: bool):
        wrong = [n for n in names if not isinstance(n, str)]
        if wrong:
            raise TypeError(f"pass the names as separate strings; got {wrong[0]!r}")
        self.names, self.wanted = frozenset(names), wanted

    def __call__(self, prim: Any, *_: Any, **params: Any) -> bool:
        return prim.name == "name" and (params["name"] in self.names) is self.wanted

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Names) and (self.names, self.wanted) == (other.names, other.wanted)

    def __hash__(self) -> int:
        return hash((self.names, self.wanted))

    def __repr__(self) -> str:
        called = "save_only_these_names" if self.wanted else "save_any_names_but_these"
        return f"{called}({', '.join(map(repr, sorted(self.names)))})"


def save_only_these_names(*names: str) -> Policy:
    """Save the values named so by `checkpoint_name`, and no others."""
    return _Names(names, True)


def save_any_names_but_these(*names: str) -> Policy:
    """Save the values named by `checkpoint_name`, but those of these names."""
    return _Names(names, False)


def save_anything_except_these_names(*names: str) -> Policy:
    """Save everything but the values named so. As in JAX, the value a name was given to is saved all the same, so this
    policy saves as much as `everything_saveable`."""
    return everything_saveable


class _Either:
    """What one of two policies saves."""

    def __init__(self, one: Policy, other: Policy):
        self.one, self.other = one, other

    def __call__(self, prim: Any, *avals: Any, **params: Any) -> Answer:
        answers = self.one(prim, *avals, **params), self.other(prim, *avals, **params)
        if not all(isinstance(a, bool) for a in answers):
            raise ValueError(
                f"save_from_both_policies combines policies that return True or False; they returned {answers}"
            )
        return answers[0] or answers[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Either) and (self.one, self.other) == (other.one, other.other)

    def __hash__(self) -> int:
        return hash((self.one, self.other))

    def __repr__(self) -> str:
        parts = [getattr(p, "__name__", None) or repr(p) for p in (self.one, self.other)]
        return f"save_from_both_policies({', '.join(parts)})"


def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
    """Save what either policy saves."""
    return _Either(policy_1, policy_2)


def save_and_offload_only_these_names(
    *,
    names_which_can_be_saved: Sequence[str],
    names_which_can_be_offloaded: Sequence[str],
    offload_src: str,
    offload_dst: str,
) -> Policy:
    """Save the values with names of the first kind, and offload those of the second from the memory `offload_src` to
    `offload_dst`. Raises ValueError for a name of both kinds."""
    return _Offloading(names_which_can_be_saved, names_which_can_be_offloaded, Offloadable(offload_src, offload_dst))


class _Offloading:
    """What `save_and_offload_only_these_names` gives; equal ones are equal."""

    def __init__(self, saved: Sequence[str], offloaded: Sequence[str], how: Offloadable):
        self.saved, self.offloaded, self.how = frozenset(saved), frozenset(offloaded), how
        both = sorted(self.saved & self.offloaded)
        if both:
            raise ValueError(
                f"save_and_offload_only_these_names: {both[0]!r} cannot be saved and offloaded; name it once"
            )

    def __call__(self, prim: Any, *_: Any, **params: Any) -> Answer:
        name = params["name"] if prim.name == "name" else None
        return Saveable if name in self.saved else self.how if name in self.offloaded else Recompute

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Offloading) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((self.saved, self.offloaded, self.how))


class _OffloadDots(NamedTuple):
    """What `offload_dot_with_no_batch_dims` gives."""

    how: Offloadable

    def __call__(self, prim: Any, *avals: Any, **params: Any) -> Answer:
        return self.how if dots_with_no_batch_dims_saveable(prim, *avals, **params) else Recompute


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """Offload the results of matrix products without batch dimensions, from one memory to another."""
    return _OffloadDots(Offloadable(offload_src, offload_dst))


def says_save(answer: Any, primitive: Any) -> bool:
    """Whether a policy's answer is to save. What is to be offloaded is saved where it is: the CPU's device memory is the
    host's. Raises TypeError for what is not an answer."""
    if isinstance(answer, bool):
        return answer
    if answer is Saveable or isinstance(answer, Offloadable):
        return True
    if answer is Recompute:
        return False
    raise TypeError(
        "a checkpoint policy must return True or Saveable (save), False or Recompute (compute again), or an Offloadable; for "
        f"{primitive.name} it returned {answer!r}"
    )


checkpoint_policies = types.SimpleNamespace(
    everything_saveable=everything_saveable,
    nothing_saveable=nothing_saveable,
    dots_saveable=dots_saveable,
    checkpoint_dots=dots_saveable,
    dots_with_no_batch_dims_saveable=dots_with_no_batch_dims_saveable,
    checkpoint_dots_with_no_batch_dims=dots_with_no_batch_dims_saveable,
    save_only_these_names=save_only_these_names,
    save_any_names_but_these=save_any_names_but_these,
    save_anything_except_these_names=save_anything_except_these_names,
    save_from_both_policies=save_from_both_policies,
    offload_dot_with_no_batch_dims=offload_dot_with_no_batch_dims,
    save_and_offload_only_these_names=save_and_offload_only_these_names,
)
"""The policies by name."""
