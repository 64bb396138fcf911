"""Calls of jax's functions, its switches and its registry of trees."""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

from .frames import given_to
from .names import folder, jax, module


__all__ = [
    "Hook", "again", "apart", "clearings", "handed_on", "is_tree_class", "maps", "rebuilds", "recording", "room_of",
    "staging", "takes_apart", "whole_tracebacks", "without_debugging",
]  # fmt: skip


def again(jitted: Any, **more: Any) -> Any:
    """A jitted function made once more, with what jit was told and `more`, so that jax compiles it again."""
    info = jitted._jit_info
    return jax().jit(  # pyright: ignore[reportOptionalMemberAccess]
        functools.partial(jitted._fun),
        static_argnums=info.static_argnums,
        static_argnames=info.static_argnames,
        donate_argnums=info.donate_argnums,
        donate_argnames=info.donate_argnames,
        keep_unused=info.keep_unused,
        inline=info.inline,
        **more,
    )


@contextlib.contextmanager
def handed_on() -> Iterator[list[Any]]:
    """Gives a list of what the program of the first function that is lowered inside is given, empty until then: a library that jits a
    function of its own hands on other arguments than it gets."""
    found, before, own = [], sys.getprofile(), folder()

    def told(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name == "jit_trace" and frame.f_code.co_filename.startswith(own):
            sys.setprofile(before)
            found.extend(given_to(frame.f_locals["jit_func"], frame.f_locals["args"], frame.f_locals["kwargs"]))

    sys.setprofile(told)
    try:
        yield found
    finally:
        sys.setprofile(before)


@functools.cache
def clearings() -> Callable[[], int]:
    """Tells how often jax's caches were seen cleared (`jax.clear_caches()`): a cache of our own is among them."""
    register, numbers = getattr(module("jax._src.util"), "cache", None), itertools.count()
    return register(1, False)(lambda: next(numbers)) if register else lambda: 0


_apart = itertools.count(1)


def apart() -> contextlib.AbstractContextManager[Any]:
    """What is traced inside is not found in jax's caches afterwards, nor is found there what was traced before: metadata for XLA are a part
    of their keys, and these have not been there yet."""
    metadata = importlib.import_module("jax.experimental.xla_metadata")
    return metadata.set_xla_metadata(apart=str(next(_apart)))


def without_debugging() -> contextlib.AbstractContextManager[Any]:
    """Inside, jax raises no error for NaNs and infinities. jax's hook for calls, which it takes away where it sets these options, is put
    back at the end."""
    found, stack = jax(), contextlib.ExitStack()
    if (hook := getattr(module("jax._src.api"), "_post_hook_state", None)) is not None:
        stack.callback(hook.set_local, hook.get_local())
    for option in ("debug_nans", "debug_infs"):
        if getattr(found.config, f"jax_{option}"):  # pyright: ignore[reportOptionalMemberAccess]
            stack.enter_context(getattr(found, option)(False))
    return stack


def whole_tracebacks() -> Callable[[], None]:
    """Errors keep jax's own frames from now on; gives the function that ends it."""
    found = jax().config  # pyright: ignore[reportOptionalMemberAccess]
    before = found.jax_traceback_filtering
    found.update("jax_traceback_filtering", "off")
    return lambda: found.update("jax_traceback_filtering", before)


def staging() -> bool:
    """Whether jax records operations now, or does them for all rows of a `vmap` at once, so that values are not known; also where it does
    not say."""
    core = module("jax._src.core")
    if core is None:
        return False
    trace = getattr(getattr(core, "trace_ctx", None), "trace", None)
    if trace is None:
        return True
    while trace is not None and type(trace).__name__ not in ("DynamicJaxprTrace", "BatchTrace"):
        trace = getattr(trace, "parent_trace", None)
    return trace is not None


def recording() -> Any:
    """What jax records operations on now, an object with equations; None where it evaluates them, or does not tell."""
    trace = getattr(getattr(module("jax._src.core"), "trace_ctx", None), "trace", None)
    while trace is not None and getattr(trace, "frame", None) is None:
        trace = getattr(trace, "parent_trace", None)
    return getattr(trace, "frame", None)


def room_of(code: CodeType) -> str:
    """The part of jax's library that code belongs to, such as "numpy"; "" for what makes it run."""
    parts = code.co_filename.removeprefix(folder()).removesuffix(".py").split(os.sep)
    return parts[1] if len(parts) > 1 and parts[1] in _MODULES else ""


_MODULES = ("lax", "numpy", "ops", "nn", "scipy", "random", "image")


def maps(code: CodeType) -> bool:
    """Whether code belongs to what `vmap` makes of operations."""
    return code.co_filename == f"{folder()}_src{os.sep}interpreters{os.sep}batching.py"


def _tree_classes() -> dict[type, Any]:
    """The classes that are registered as trees, with how they are taken apart."""
    return getattr(module("jax._src.tree_util"), "_registry", {})


def is_tree_class(typ: type) -> bool:
    """Whether objects of a class are nodes of jax's trees."""
    return typ in _tree_classes()


def rebuilds(code: CodeType) -> bool:
    """Whether code rebuilds objects of a class that is registered as a tree."""
    return _is_registered(code, "from_iter")


def takes_apart(code: CodeType) -> bool:
    """Whether code takes such objects apart: a function, or a method that is called by its name."""
    return code.co_name in ("tree_flatten", "tree_flatten_with_keys") or _is_registered(code, "to_iter")


def _is_registered(code: CodeType, way: str) -> bool:
    for entry in list(_tree_classes().values()):
        function = getattr(entry, way, None)
        function = getattr(function, "__func__", function)
        if getattr(function, "__code__", None) is code:
            return True
    return False


class Hook:
    """Tells of each call of a jitted function in this thread that jax answers from its caches, with its arguments and result, while it
    is on. jax has one such hook, and `debug_nans` has it where that is on: then it is left alone."""

    def __init__(self, told: Callable[[Any, Any, Any, Any], None]):
        self._told = told
        self._state: Any = None

    def on(self) -> bool:
        """Whether it could be put on."""
        state = getattr(module("jax._src.api"), "_post_hook_state", None)
        if state is None or state.value is not None:
            return False

        def hook(fun: Any, args: Any, kwargs: Any, out: Any) -> None:
            self._told(fun, args, kwargs, out)

        self._hook, self._state = hook, state
        self.stay()
        return True

    def stay(self) -> None:
        """Put it on once more where jax took it off: it does so at the end of each `with jax.debug_nans(…)`, its own ones included."""
        if self._state is not None and self._state.value is None:
            self._state.set_local(self._hook)

    def off(self) -> None:
        state, self._state = self._state, None
        if state is not None and state.value is self._hook:
            unset = getattr(module("jax._src.config").config_ext, "unset", None)
            state.set_local(unset if unset is not None else None)
