"""Looking at programs without running them (make_jaxpr, eval_shape), and running while tracing."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, overload

from .. import tree
from ..backend.arguments import Arguments
from ..backend.dispatch import JitFunction
from ..backend.stages import aval_like, struct_of
from ..backend.static import StaticSpec
from ..backend.tracing import check_results
from ..control.bodies import name_of
from ..core.annotations import PyTree
from ..core.axes import current_axes, use_axes
from ..core.config import value_of
from ..core.folding import folding
from ..core.jaxpr import ClosedJaxpr, DebugInfo
from ..core.primitive import Primitive
from ..core.source import position_of_function
from ..core.staging import trace_to_jaxpr
from ..core.trace import Trace, Tracer, current_trace, evaluation, using
from ..core.wrapping import wraps
from ._flat import check_callable


__all__ = ["ensure_compile_time_eval", "eval_shape", "make_jaxpr"]


@overload
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Iterable[int] = (),
    axis_env: Sequence[tuple[Hashable, int]] | None = None,
    return_shape: Literal[False] = False,
) -> Callable[..., ClosedJaxpr]: ...
@overload
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Iterable[int] = (),
    axis_env: Sequence[tuple[Hashable, int]] | None = None,
    *,
    return_shape: Literal[True],
) -> Callable[..., tuple[ClosedJaxpr, PyTree]]: ...
def make_jaxpr(
    fun: Callable[..., Any],
    static_argnums: int | Iterable[int] = (),
    axis_env: Sequence[tuple[Hashable, int]] | None = None,
    return_shape: bool = False,
) -> Callable[..., Any]:
    """The function that gives the jaxpr of `fun` for its arguments; nothing is run.

    Arguments are trees of arrays, numbers, or anything with a shape and a dtype (ShapeDtypeStruct); those in
    `static_argnums` are passed as they are. `axis_env` opens named axes: ((name, size), …). With `return_shape`, (jaxpr,
    shapes and dtypes of the result).

    Raises TypeError for arguments or results that are not arrays, RuntimeError where the option `no_tracing` is set.

    >>> jx.make_jaxpr(lambda x: jnp.sin(x) * 2)(1.0)
    { lambda ; a:f32[]. let b:f32[] = sin a; c:f32[] = mul b 2.0:f32[] in (c,) }
    """
    check_callable(fun, "make_jaxpr")
    spec = StaticSpec(fun, static_argnums)
    axes = tuple((name, int(size)) for name, size in axis_env or ())

    @wraps(fun)
    def jaxpr_of(*args: Any, **kwargs: Any) -> Any:
        if value_of("no_tracing"):
            raise RuntimeError("the option no_tracing is set, and make_jaxpr was to trace a function")
        with folding:
            with use_axes((*current_axes(), *axes)):
                closed, out_tree = _trace(fun, spec, args, kwargs)
        if return_shape:
            return closed, out_tree.unflatten([struct_of(a) for a in closed.out_avals])
        return closed

    jaxpr_of.__name__, jaxpr_of.__qualname__ = (
        f"make_jaxpr({name})" for name in (name_of(fun), getattr(fun, "__qualname__", name_of(fun)))
    )
    return jaxpr_of


def _trace(fun: Any, spec: StaticSpec, args: tuple, kwargs: dict[str, Any]) -> tuple[ClosedJaxpr, Any]:
    arguments = Arguments(spec, args, kwargs)
    out_trees: list[Any] = []

    def flat_fun(*tracers: Any) -> list[Any]:
        positional, named = arguments.filled(tracers)
        outs, out_tree = tree.flatten(out := fun(*positional, **named))
        check_results(name_of(fun), fun, outs, out, "make_jaxpr")
        out_trees.append(out_tree)
        return outs

    names = tuple(arguments.names())
    debug = DebugInfo(name_of(fun), names, defined=position_of_function(fun))
    avals = [aval_like(x, f"argument {name} of {name_of(fun)}") for x, name in zip(arguments.leaves, names)]
    return trace_to_jaxpr(flat_fun, avals, debug), out_trees[0]


def eval_shape(fun: Callable[..., Any], *args: PyTree, **kwargs: PyTree) -> PyTree:
    """Shapes and dtypes of `fun(*args, **kwargs)`, as a tree of ShapeDtypeStructs; nothing is computed.

    Arguments are trees of arrays, numbers, or anything with a shape and a dtype. Raises what `fun` raises while traced.

    >>> jx.eval_shape(jnp.matmul, jx.ShapeDtypeStruct((3, 4), "float32"), jx.ShapeDtypeStruct((4, 5), "float32"))
    ShapeDtypeStruct(shape=(3, 5), dtype=float32)
    """
    if isinstance(fun, JitFunction):
        return fun.eval_shape(*args, **kwargs)
    with folding:
        return make_jaxpr(fun, return_shape=True)(*args, **kwargs)[1]


@contextmanager
def ensure_compile_time_eval() -> Iterator[None]:
    """Context manager: operations on values that are there run now, also while a function is traced, and their results are
    constants of the program. Operations on traced values are traced, as outside."""
    with using(_EagerTrace(current_trace())):
        yield


class _EagerTrace(Trace):
    """Evaluates what it can, and hands on to `parent` what takes tracers."""

    __slots__ = ("parent",)
    evaluates_known = True

    def __init__(self, parent: Trace):
        self.parent = parent

    def process(self, primitive: Primitive, args: tuple, params: dict[str, Any]) -> Any:
        trace = self.parent if any(isinstance(x, Tracer) for x in args) else evaluation()
        with using(trace):
            return trace.process(primitive, args, params)
