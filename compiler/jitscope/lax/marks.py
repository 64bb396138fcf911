"""Operations that compute nothing and say something to the compiler."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import tree
from ..control.bodies import check_leaves, name_of, trace_body
from ..control.call import call
from ..core.errors import UnexpectedTracerError
from ..core.trace import Tracer
from ..ops.marks import dce_sink_p, optimization_barrier_p


def optimization_barrier(operand: Any, /) -> Any:
    """The same tree of arrays. The compiler moves nothing across and merges no operation behind it with an equal one
    before; nothing behind is computed before all of the operand is there. Raises TypeError for what is no array.

    On the CPU XLA takes barriers out early; they say what is meant, and hold where a compiler keeps to them.
    """
    leaves, structure = tree.flatten(operand)
    check_leaves(leaves, operand, "optimization_barrier got, at operand")
    return structure.unflatten(optimization_barrier_p(*leaves)) if leaves else operand


def dce_sink(val: Any, *, prevent_mlir_dce: bool = False) -> None:
    """Keep what computes a tree of arrays in the jaxpr, though nothing uses it. `prevent_mlir_dce` asks the same of the
    compiler: XLA on the CPU has no such mark, and leaves out of the program what nothing uses."""
    for leaf in tree.leaves(val):
        dce_sink_p(leaf, prevent_mlir_dce=bool(prevent_mlir_dce))


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """`decomposition` as an operation with a name, which a compiler may know a faster way for.

    Positional arguments are trees of arrays, keyword arguments attributes, values known while tracing. The compiler for
    the CPU knows no such operations: what runs is the decomposition, as one nested call of that name, with its derivatives
    and maps; `version` makes no difference. Raises UnexpectedTracerError where the decomposition uses a traced value that
    is no argument.
    """

    @functools.wraps(decomposition)
    def operation(*args: Any, **attributes: Any) -> Any:
        leaves, structure = tree.flatten(args)
        avals = check_leaves(leaves, args, f"{name} got, at arguments")
        body = trace_body(functools.partial(decomposition, **attributes), structure, avals)
        if any(isinstance(x, Tracer) for x in (*tree.leaves(attributes), *body.closed.consts)):
            raise UnexpectedTracerError(
                f"composite {name!r}: {name_of(decomposition)} uses a traced value that is no positional argument: pass it "
                "as one"
            )
        return body.out_tree.unflatten(call(body.closed, leaves, name))

    return operation
