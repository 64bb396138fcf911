"""Tracing a function of jax's once more: a call is remembered by the shapes and dtypes of its arguments.

The user's functions may have other code for as long as that lasts. jax keeps what it traced by function object, so the trace is kept
apart from all others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from jitscope.core.unfinished_traces import is_count

from ..source_code.frames import entries
from . import private
from .private import TracedCall


_ATTRIBUTE, _ORIGIN = "traced_by_jax", "raised_by_jax"


class FailedCall:
    """A call whose trace failed; with `jitted` false, of one of jax's own functions (`lax.scan`, what `vmap` gives), whose numbers and
    functions are no arguments of a trace. `names` are what the user calls the arguments, where a library gave jax others; `numbers`
    are the values of the arguments that are single booleans and integers, by their place;
    `by_jax` tells whether code of jax's raised the error (later its frames are taken out of the traceback)."""

    def __init__(self, entered: TracedCall, by_jax: bool, jitted: bool = True, names: Sequence[str] = ()):
        self.by_jax, self.names = by_jax, names
        tree, info = private.module("jax.tree_util"), entered.info
        self._fun = entered.fun
        static, named = set(info.static_argnums or ()), set(info.static_argnames or ())
        static = {n + len(entered.args) if n < 0 else n for n in static}
        self._static = {i: x for i, x in enumerate(entered.args) if i in static}
        self._named = {name: x for name, x in entered.kwargs.items() if name in named}
        given = [x for i, x in enumerate(entered.args) if i not in static]
        leaves, self._tree = tree.tree_flatten((given, {n: x for n, x in entered.kwargs.items() if n not in named}))
        self._leaves = [_abstract(x) for x in leaves]
        counts = [i for i, x in enumerate(leaves) if jitted and is_count(x)]
        self.numbers = {i: leaves[i] if isinstance(leaves[i], bool) else int(leaves[i]) for i in counts}
        self._fixed = {} if jitted else {i: x for i, x in enumerate(leaves) if not _is_array(x)}

    def __call__(self, fixed: Mapping[int, Any]) -> None:
        """Trace it; `fixed` are values of arguments that are to be static, by place. Raises what the trace raises."""
        jax, fixed = private.module("jax"), {**self._fixed, **fixed}

        def call(*others: Any) -> Any:
            rest = iter(others)
            leaves = [fixed[i] if i in fixed else next(rest) for i in range(len(self._leaves))]
            given, named = jax.tree_util.tree_unflatten(self._tree, leaves)
            rest = iter(given)
            count = len(given) + len(self._static)
            args = [self._static[i] if i in self._static else next(rest) for i in range(count)]
            return self._fun(*args, **named, **self._named)

        with private.apart(), private.surroundings(self._fun):
            jax.make_jaxpr(call)(*[leaf for i, leaf in enumerate(self._leaves) if i not in fixed])


def remember(error: BaseException, entered: TracedCall, names: Sequence[str]) -> None:
    """Keep the call on the error that ended its trace; `names` see `FailedCall`."""
    with suppress(Exception):
        setattr(error, _ATTRIBUTE, FailedCall(entered, raised_by_jax(error), names=names))


def remember_direct_call(error: BaseException) -> None:
    """Keep the outermost call of a function of jax's that an error went through, one without `jit` around it, and whether jax raised it,
    before jax's frames are taken out of its traceback."""
    if not private.there():
        return
    with suppress(Exception):
        setattr(error, _ORIGIN, raised_by_jax(error))
        if hasattr(error, _ATTRIBUTE):
            return
        if (entered := private.entered_directly(error.__traceback__)) is not None:
            setattr(error, _ATTRIBUTE, FailedCall(entered, raised_by_jax(error), jitted=False))


def raised_by_jax(error: BaseException) -> bool:
    """Whether jax raised an error: one of its own kinds, or any other in its code, such as that of shapes that do not fit."""
    last = next(reversed([*entries(error.__traceback__)]), None)
    inside = last is not None and last.tb_frame.f_code.co_filename.startswith(private.folder())
    return inside or type(error).__module__.startswith("jax") or getattr(error, _ORIGIN, False)


def remembered(error: BaseException) -> FailedCall | None:
    """The call kept on an error, which is let go."""
    found = getattr(error, _ATTRIBUTE, None)
    if found is not None:
        delattr(error, _ATTRIBUTE)
    return found


def _abstract(x: Any) -> Any:
    if not _is_array(x):
        return x
    return private.module("jax").ShapeDtypeStruct(x.shape, x.dtype, weak_type=getattr(x, "weak_type", False))


def _is_array(x: Any) -> bool:
    return hasattr(x, "shape") and hasattr(x, "dtype")
