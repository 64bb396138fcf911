"""`jitscope.extend.linear_util`: functions with transformations put round them, for code that is written against
`jax.extend.linear_util`. A transformation is a function that gets the function to call, and then its own arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..core.jaxpr import NO_DEBUG, DebugInfo


class StoreException(Exception):
    """What a transformation was to store is not there, or is there already."""


class Store:
    """What a transformation leaves for its caller, once."""

    __slots__ = ("_values",)

    def __init__(self) -> None:
        self._values: list[Any] = []

    def store(self, value: object) -> None:
        """Keep what the transformation leaves. Raises StoreException where something is there already."""
        if self._values:
            raise StoreException("the transformed function ran a second time: what the first run left is still there")
        self._values.append(value)

    @property
    def val(self) -> Any:
        """What the transformation left. Raises StoreException where nothing is there yet."""
        if not self._values:
            raise StoreException("the transformed function has not run yet, so that it left nothing")
        return self._values[0]

    def __bool__(self) -> bool:
        return bool(self._values)


class WrappedFun:
    """A function and the transformations round it: `call_wrapped` calls all of it."""

    __slots__ = ("call_wrapped", "debug_info", "f", "params", "transforms")

    def __init__(
        self,
        f: Callable[..., Any],
        call_wrapped: Callable[..., Any],
        params: dict[str, Any],
        debug_info: DebugInfo,
        transforms: tuple[Any, ...] = (),
    ):
        self.f, self.call_wrapped, self.params = f, call_wrapped, params
        self.debug_info, self.transforms = debug_info, transforms

    @property
    def __name__(self) -> str:
        return getattr(self.f, "__name__", "<unnamed>")

    def wrap(self, transformation: Callable[..., Any], arguments: tuple[Any, ...], store: Store | None) -> WrappedFun:
        """With one more transformation outermost: `transformation(function, [store,] *arguments, *args)`."""
        given = arguments if store is None else (store, *arguments)
        whole = functools.partial(transformation, self.call_wrapped, *given)
        return WrappedFun(self.f, whole, self.params, self.debug_info, ((transformation, arguments), *self.transforms))


def wrap_init(f: Callable[..., Any], params: dict[str, Any] | None = None, *, debug_info: Any = None) -> WrappedFun:
    """A function without transformations; `params` are keyword arguments it gets at every call."""
    given = dict(params or {})
    return WrappedFun(f, functools.partial(f, **given), given, debug_info or NO_DEBUG)


def transformation2(gen: Callable[..., Any]) -> Callable[..., WrappedFun]:
    """Of `gen(function, *arguments, *args, **kwargs)`: what puts it round a WrappedFun, given the arguments."""
    return lambda fun, *arguments: fun.wrap(gen, arguments, None)


def transformation_with_aux2(gen: Callable[..., Any]) -> Callable[..., tuple[WrappedFun, Callable[[], Any]]]:
    """As `transformation2` of `gen(function, store, *arguments, …)`, which stores something while it runs; gives the
    function that fetches it, too."""

    def put(fun: WrappedFun, *arguments: Any) -> tuple[WrappedFun, Callable[[], Any]]:
        store = Store()
        return fun.wrap(gen, arguments, store), lambda: store.val

    return put


def transformation(gen: Callable[..., Any]) -> Callable[..., WrappedFun]:
    """As `transformation2`, for a generator: it yields arguments and keyword arguments, gets the results, and yields the
    transformed ones."""

    def run(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        steps = gen(*args, **kwargs)
        inner, named = next(steps)
        return steps.send(f(*inner, **named))

    return transformation2(run)


def transformation_with_aux(gen: Callable[..., Any]) -> Callable[..., tuple[WrappedFun, Callable[[], Any]]]:
    """As `transformation_with_aux2`, for a generator that yields results and what it leaves at the end."""

    def run(f: Callable[..., Any], store: Store, *args: Any, **kwargs: Any) -> Any:
        steps = gen(*args, **kwargs)
        inner, named = next(steps)
        out, left = steps.send(f(*inner, **named))
        store.store(left)
        return out

    return transformation_with_aux2(run)


def merge_linear_aux(first: Callable[[], Any], second: Callable[[], Any]) -> tuple[bool, Any]:
    """What one of two transformations left, and whether it was the first. Raises StoreException if not just one did."""
    left = []
    for is_first, fetch in ((True, first), (False, second)):
        try:
            left.append((is_first, fetch()))
        except StoreException:
            continue
    if len(left) != 1:
        raise StoreException(f"{len(left)} of two functions ran, where one was to run")
    return left[0]


__all__ = ["Store", "StoreException", "WrappedFun", "merge_linear_aux", "transformation", "transformation2",
           "transformation_with_aux", "transformation_with_aux2", "wrap_init"]  # fmt: skip
