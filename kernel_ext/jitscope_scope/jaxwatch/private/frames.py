"""What stands in the frames of jax above a listener: functions, arguments, jaxprs, programs."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from types import CodeType, FrameType, SimpleNamespace, TracebackType
from typing import Any, NamedTuple

import numpy as np

from ...source_code.frames import entries, outwards
from .names import folder, module


__all__ = [
    "OF_PMAP", "Run", "TracedCall", "body_of_loop", "branches", "called", "entered", "entered_directly", "given_to",
    "jitted", "local", "raised", "refines", "refused_leaf", "running", "traced", "transposed",
]  # fmt: skip


_SENDER = 24
"""So many frames above an event's listener, at most, is what the stage works on."""


def _above(frame: FrameType | None, most: int) -> Iterator[FrameType]:
    """The frames of jax's from this one on. Those of the user's are not touched: a look at the local variables of a frame keeps their
    values alive until it ends."""
    own = (folder(), *_BETWEEN)
    inside = itertools.takewhile(lambda one: one.f_code.co_filename.startswith(own), outwards(frame))
    return itertools.islice(inside, most)


_BETWEEN = (contextlib.__file__, functools.__file__)


def local(frame: FrameType | None, name: str, most: int = _SENDER) -> Any:
    """The value of the nearest frame's local variable of that name; None where there is none."""
    return next((f.f_locals[name] for f in _above(frame, most) if name in f.f_locals), None)


class TracedCall(NamedTuple):
    """A call of a jitted function that is being traced: the function, what jit was told, the arguments; whether it is part of another
    trace, of which some versions of jax tell, too."""

    fun: Any
    info: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    nested: bool


def entered(frame: FrameType | None) -> TracedCall | None:
    """The call whose trace sent an event."""
    for f in _above(frame, _SENDER):
        found = f.f_locals
        if {"fun", "args", "kwargs"}.issubset(found) and ("ji" in found or "jit_info" in found):
            info = found["ji"] if "ji" in found else found["jit_info"]
            here = TracedCall(
                found["fun"], info, tuple(found["args"]), dict(found["kwargs"]), _runs(f.f_code, f.f_back)
            )
            by_pmap = getattr(here.fun, "__name__", "") in OF_PMAP
            return (_pmapped(f, here.nested) if by_pmap else None) or here
    return None


def jitted(frames: Iterable[FrameType]) -> Any:
    """The jitted function that one of these frames calls, in jax's Python code for that; None where none does."""
    return next((f.f_locals.get("fun") for f in frames if f.f_code.co_name == "_run_python_pjit"), None)


def entered_directly(traceback: TracebackType | None) -> TracedCall | None:
    """The first call of one of jax's documented functions that an error went through, while its frames are in the traceback."""
    for frame in (one.tb_frame for one in entries(traceback)):
        if frame.f_code.co_name == _BOUNDARY and frame.f_code.co_filename.startswith(folder()):
            found = frame.f_locals
            if not {"fun", "args", "kwargs"}.issubset(found):
                return None
            info = SimpleNamespace(static_argnums=(), static_argnames=())
            return TracedCall(found["fun"], info, tuple(found["args"]), dict(found["kwargs"]), False)
    return None


_BOUNDARY = "reraise_with_filtered_traceback"
OF_PMAP = ("_fun",)
"""What `pmap` calls the function of its own that it jits."""


def _pmapped(frame: FrameType, nested: bool) -> TracedCall | None:
    """The call of a function under `pmap`, which jits one of its own that takes the leaves of the arguments."""
    for f in _above(frame, _SENDER):
        infer = f.f_locals.get("infer_params") if f.f_code.co_name == "wrapped" else None
        cells = dict(zip(infer.__code__.co_freevars, infer.__closure__ or ())) if infer is not None else {}
        if {"static_broadcasted_tuple", "donate_tuple", "axis_name"} <= cells.keys():
            told = {name: cell.cell_contents for name, cell in cells.items()}
            fun = told["wrapped_fun"].f if "wrapped_fun" in told else told["f"]
            info = SimpleNamespace(
                static_argnums=told["static_broadcasted_tuple"],
                static_argnames=(),
                donate_argnums=told["donate_tuple"],
                axis_name=told["axis_name"],
                devices=told.get("devices"),
            )
            return TracedCall(fun, info, tuple(f.f_locals["args"]), dict(f.f_locals["kwargs"]), nested)
    return None


def _runs(code: CodeType, frame: FrameType | None) -> bool:
    """Whether code runs in this frame or above it."""
    return any(one.f_code is code for one in outwards(frame))


def raised(frame: FrameType | None) -> BaseException | None:
    """The error with which a stage ended, seen from the listener of its end."""
    for f in _above(frame, 6):
        if f.f_code.co_name == "__exit__" and "exc_type" in f.f_locals:
            return next((v for name in ("exc_value", "exc_val") if (v := f.f_locals.get(name)) is not None), None)
    return None


def traced(frame: FrameType | None) -> Any:
    """The jaxpr that a trace gave, which is lowered now; what is lowered is without the equations and arguments that nothing needs."""
    for f in _above(frame, _SENDER):
        if (
            "closed_jaxpr" in f.f_locals
        ):  # the frame that lowers: its `jaxpr`, which is closed as all are since 0.11, is the other one
            continue
        found = getattr(f.f_locals.get("jaxpr"), "jaxpr", None)
        if found is not None:
            return found
    return None


def refines(frame: FrameType | None) -> bool:
    """Whether jax writes a module down to give it the sizes of its arguments: it compiles what it reads again."""
    return any(f.f_code.co_name == "refine_polymorphic_shapes" for f in _above(frame, 4))


class Run(NamedTuple):
    """A program that runs: its closed jaxpr and the leaves of its arguments; which of these it may take over."""

    closed: Any
    args: Sequence[Any]
    donated: Sequence[bool]


def running(frame: FrameType | None) -> Run | None:
    """The program that is about to run, or ran, below this frame of jax's."""
    for f in _above(frame, _SENDER):
        found = f.f_locals
        if {"args", "jaxpr", "donated_invars"}.issubset(found):
            return Run(found["jaxpr"], tuple(found["args"]), tuple(found["donated_invars"]))
    return None


def called(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Run:
    """The program of a call of a jitted function, which jax has traced before."""
    return Run(fun.trace(*args, **kwargs).jaxpr, given_to(fun, args, kwargs), ())


def given_to(fun: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The leaves that the program of a jitted function's call is given: static arguments are none."""
    info = fun._jit_info
    static, named = set(info.static_argnums or ()), set(info.static_argnames or ())
    static = {n + len(args) if n < 0 else n for n in static}
    given = tuple(x for i, x in enumerate(args) if i not in static)
    return module("jax.tree_util").tree_leaves((given, {n: x for n, x in kwargs.items() if n not in named}))


def transposed(frame: FrameType | None) -> Any:
    """The equation whose transpose runs in the backward pass of a derivative outside of jit; None where none does."""
    for f in _above(frame, _SENDER):
        if f.f_code.co_name.startswith("backward_pass") and "eqn" in f.f_locals:
            return f.f_locals["eqn"]
    return None


def body_of_loop(frame: FrameType) -> tuple[Any, Any]:
    """The closed jaxpr and the function of a loop's body that this frame of jax's checks; None where it checks none."""
    found = frame.f_locals
    return found.get("body_jaxpr", found.get("jaxpr")), found.get("body_fun", found.get("f"))


def refused_leaf(frame: FrameType) -> tuple[str, str] | None:
    """The path and the type of the first argument without a derivative that this frame of jax's checks; None where it checks none."""
    found, tree = frame.f_locals, module("jax.tree_util")
    argnums = found.get("argnums", 0)
    numbers = [argnums] if isinstance(argnums, int) else list(argnums)
    for (first, *rest), leaf in tree.tree_flatten_with_path(found.get("dyn_args", ()))[0]:
        dtype = module("jax.numpy").result_type(leaf)
        if not module("jax.numpy").issubdtype(dtype, np.inexact):
            return (
                f"argument {numbers[first.idx]}{tree.keystr(tuple(rest))}",
                f"{dtype}[{','.join(map(str, np.shape(leaf)))}]",
            )
    return None


def branches(frame: FrameType) -> tuple[Sequence[Any], Any]:
    """The closed jaxprs of the branches that this frame of jax's checks, none where it checks none, and the function of the last one
    where it is known."""
    found = frame.f_locals
    if "true_jaxpr" in found and "false_jaxpr" in found:
        return (found["true_jaxpr"], found["false_jaxpr"]), found.get("false_fun")
    closed = found.get("jaxprs")
    return closed if isinstance(closed, (list, tuple)) else (), None
