"""What flax and equinox hand to jax in place of what the user gave them."""

from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from .names import module


__all__ = [
    "LIFTED",
    "LIFTED_RESULT",
    "LIFTED_RETURNED",
    "STANDS_FOR",
    "LiftedMethod",
    "attributes",
    "held_by_flax",
    "lifted",
    "own_result",
    "returned",
    "surroundings",
    "variables",
]  # fmt: skip


def surroundings(fun: Any) -> contextlib.AbstractContextManager[Any]:
    """What has to be there while a function is traced: for one under `nnx.jit`, flax's context of its updates."""
    tag, nnx = getattr(fun, "ctxtag", None), module("flax.nnx")
    return nnx.update_context(tag) if nnx is not None and tag is not None else contextlib.nullcontext()


def variables() -> tuple[type, ...]:
    """The classes of flax's variables, each of which holds one value."""
    found = getattr(module("flax.nnx"), "Variable", None)
    return () if found is None else (found,)


def attributes(value: Any) -> dict[str, Any]:
    """The attributes of a module of flax's or equinox's, which are arrays or count as static; none of another object."""
    for name, attribute in (("flax.nnx", "Pytree"), ("equinox", "Module"), ("flax.linen", "Module")):
        if (kind := getattr(module(name), attribute, None)) is not None and isinstance(value, kind):
            of_flax = ("parent", "name", "scope") if name == "flax.linen" else ()
            return {key: x for key, x in vars(value).items() if not key.startswith("_") and key not in of_flax}
    return {}


def own_result(fun: Any) -> str:
    """The part of a program's results that is what the user's function gives, where another library gave jax a function of its own."""
    return _OWN_RESULTS.get(fun.__module__ if inspect.isfunction(fun) else type(fun).__module__, "result")


_NNX = "flax.nnx.transforms.compilation"
_OWN_RESULTS = {_NNX: "result[2]", "equinox._jit": "result[1]"}


def returned(fun: Any, argument: int | str) -> str:
    """The part of a program's results that is what an argument, by its place or name, holds after the call, where nnx gives that back with
    what the user's function gives; "" where nothing does."""
    if type(fun).__module__ != _NNX:
        return ""
    return f"result[0][{argument}]" if isinstance(argument, int) else f"result[1][{argument!r}]"


class LiftedMethod(NamedTuple):
    """A call of a method of linen's under `nn.jit`, for which flax jits a function of its own: it takes a static argument, the module's
    variables and random keys, then what the method takes. `module` is the method's, `key` stands for it in the static argument, `mutable`
    for the collections that the method may change."""

    module: Any
    key: Any
    mutable: Any


LIFTED = {"variables[0][0]": "self.variables", "rngs[0][0]": "rngs"}
"""What the user calls the parts of the second and third arguments of that function, where there is one module."""
LIFTED_RESULT, LIFTED_RETURNED = "result[0]", {"result[1][0][0]": "self.variables"}


_HELD = {
    ("core_fn", os.path.join("flax", "linen", "transforms.py")): "fn",
    ("grad_wrapper", os.path.join("flax", "nnx", "transforms", "autodiff.py")): "f",
}
"""Functions of flax's that stand for another and do not name it, and what they call it."""
STANDS_FOR = tuple(name for name, _ in _HELD)
"""Their names, which say nothing of the user's."""


def held_by_flax(fun: Any) -> Any:
    """The function that a wrapper of flax's stands for: the method in whose place `nn.jit(Class)` puts one, what `nnx.grad` was given; None
    where it is another function."""
    code = getattr(fun, "__code__", None)
    if code is None:
        return None
    ends = (held for (name, file), held in _HELD.items() if code.co_name == name and code.co_filename.endswith(file))
    cells = dict(zip(code.co_freevars, fun.__closure__ or ()))
    return next((cells[held].cell_contents for held in ends if held in cells), None)


def lifted(fun: Any, args: Sequence[Any]) -> LiftedMethod | None:
    """The call of linen's that a function of flax's stands for; None where it is another function."""
    code = getattr(fun, "__code__", None)
    if code is None or code.co_qualname != "jit.<locals>.jitted" or not code.co_filename.endswith(_LIFT):
        return None
    (mutable, *_), key = args[0]
    found = getattr(key, "module", None)
    return LiftedMethod(found, key, mutable) if found is not None else None


_LIFT = os.path.join("flax", "core", "lift.py")
