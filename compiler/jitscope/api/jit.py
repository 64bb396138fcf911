"""`jit`, and forgetting what it compiled."""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ParamSpec, TypedDict, TypeVar, Unpack, overload

from .. import tree
from ..backend.caches import clear_traces
from ..backend.compile import clear_executables, options_of
from ..backend.dispatch import JitFunction
from ..backend.static import StaticSpec
from ..control.bodies import clear_bodies
from ..core.config import NOT_GIVEN
from ..eager import operations  # noqa: F401  (puts the evaluating trace in place)
from ..eager.running import clear_programs
from ..xla import client, mappings
from ._flat import check_callable
from .processes import check_backend


__all__ = ["Inline", "clear_caches", "jit"]


class Inline(enum.Enum):
    """What becomes of a call inside another traced function: `JAX_EARLY`, its equations become that function's own; with the others it
    stays one equation, and XLA decides (on CPUs it takes in what is called)."""

    JAX_EARLY = "jax_early"
    JAX_LATE = "jax_late"
    XLA_EARLY = "xla_early"
    XLA_LATE = "xla_late"
    AUTO = "auto"


P = ParamSpec("P")
R = TypeVar("R")


class JitOptions(TypedDict, total=False):
    """What `jit` takes besides the function."""

    in_shardings: Any
    out_shardings: Any
    static_argnums: int | Sequence[int] | None
    static_argnames: str | Iterable[str] | None
    donate_argnums: int | Sequence[int] | None
    donate_argnames: str | Iterable[str] | None
    keep_unused: bool
    device: client.Device | None
    backend: str | None
    inline: bool | Inline
    compiler_options: dict[str, Any] | None
    auto_static: bool


@overload
def jit(fun: Callable[P, R], /, **options: Unpack[JitOptions]) -> JitFunction[P, R]: ...
@overload
def jit(**options: Unpack[JitOptions]) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...
def jit(
    fun: Any = NOT_GIVEN,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    device: client.Device | None = None,
    backend: str | None = None,
    inline: bool | Inline = False,
    compiler_options: dict[str, Any] | None = None,
    auto_static: bool = False,
) -> Any:
    """`fun` compiled: the first call for each kind of argument traces and compiles it, later ones run the program.

    Arguments are pytrees of arrays and numbers. Those in `static_argnums` or `static_argnames` are part of the program
    instead (hashable; each value gets its own), the memory of those in `donate_argnums` or `donate_argnames` may be
    taken by results of as many elements (those taken are deleted, UserWarning tells of those that no result fits).
    Defaults of arguments that are left out stay Python values.

    `keep_unused`: the program takes the arguments that nobody reads, too. `device` or `backend`: where it runs.
    `inline`: `Inline.JAX_EARLY`, called inside another traced function, its equations become that function's own instead of one call;
    True is `Inline.JAX_LATE`, False `Inline.AUTO`.
    `compiler_options` are XLA flags by name. `in_shardings` and `out_shardings` say how arguments by position and results lie on
    devices: a sharding, a PartitionSpec for the mesh in force, None (arguments lie as they are, for results XLA chooses), or a
    tree of those that is a prefix. `auto_static`: text, None, callables, types and enums passed directly
    are static, a call without any array or number runs as Python, and so does one inside another traced function, whose
    Python values stay what they are.

    The result has `trace`, `lower`, `eval_shape`, `clear_cache`, and the Python function as `__wrapped__`; as an attribute
    of a class it is a method. Also a decorator, with or without arguments. Raises TypeError for arguments or results that
    are not arrays, ValueError for options that do not go together and for a device that is none.

    >>> @jx.jit
    ... def norm(x):
    ...     return jnp.sqrt((x * x).sum())
    >>> norm(jnp.array([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    if fun is NOT_GIVEN:
        return functools.partial(
            jit,
            in_shardings=in_shardings,
            out_shardings=out_shardings,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            donate_argnames=donate_argnames,
            keep_unused=keep_unused,
            device=device,
            backend=backend,
            inline=inline,
            compiler_options=compiler_options,
            auto_static=auto_static,
        )
    check_callable(fun, "jit")
    spec = StaticSpec(fun, static_argnums, static_argnames, donate_argnums, donate_argnames)
    options = options_of(compiler_options or {})
    where = _device(device, backend)
    shardings = None
    if tree.leaves((in_shardings, out_shardings)):  # None, and trees of None, say nothing
        if device is not None or backend is not None:
            raise ValueError(
                "jit takes device (or backend), or in_shardings and out_shardings, not both: each says where it runs"
            )
        from ..backend.spread_calls import Shardings  # few functions have them

        ins = tuple(in_shardings) if isinstance(in_shardings, list) else in_shardings
        shardings = Shardings(ins, out_shardings)
    return JitFunction(fun, spec, options, where, auto_static, bool(keep_unused), inline is Inline.JAX_EARLY, shardings)


def _device(device: Any, backend: str | None) -> Any:
    if device is not None and backend is not None:
        raise ValueError(f"jit takes device or backend, not both: {device!r} and {backend!r}")
    check_backend(backend)
    if device is not None and not client.is_device(device):
        raise ValueError(f"device must be one of jitscope.devices(), not {device!r}")
    return device if backend is None else client.all_devices()[0]


def clear_caches() -> None:
    """Forget all traces and compiled programs."""
    clear_traces()
    clear_bodies()
    clear_programs()
    clear_executables()
    mappings.give_back()
