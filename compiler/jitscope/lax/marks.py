"""Operations that compute nothing and say something to the compiler."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, overload

from .. import tree
from ..control.bodies import check_leaves, name_of, trace_body
from ..control.composite import composite as bind_composite
from ..core.annotations import Array, ArrayLike, PyTree
from ..core.errors import UnexpectedTracerError
from ..core.trace import Tracer
from ..core.wrapping import wraps
from ..ops.marks import dce_sink_p, optimization_barrier_p


__all__ = ["after_all", "composite", "create_token", "dce_sink", "optimization_barrier"]


T = TypeVar("T")


class Token:
    """What is there to be waited for, without a value: a tree without leaves, which compiled functions and loops take and
    give. The compiler for the CPU keeps effects in order by itself, so a token orders nothing that is not in order."""

    def block_until_ready(self) -> Token:
        """The token itself."""
        return self


tree.register_pytree_node(Token, lambda token: ((), None), lambda _, children: Token())


def create_token(_: Any = None) -> Token:
    """A token that waits for nothing. The argument means nothing."""
    return Token()


def after_all(*operands: Token) -> Token:
    """A token for all of several. Raises TypeError for what is not a token."""
    if not all(isinstance(token, Token) for token in operands):
        raise TypeError("after_all joins tokens, which create_token makes")
    return Token()


@overload
def optimization_barrier(operand: ArrayLike, /) -> Array: ...
@overload
def optimization_barrier(operand: T, /) -> T: ...
def optimization_barrier(operand: Any, /) -> Any:
    """The same tree of arrays. The compiler moves nothing across and merges no operation behind it with an equal one
    before; nothing behind is computed before all of the operand is there. Raises TypeError for what is not an array.

    On the CPU XLA takes barriers out early; they say what is meant, and hold where a compiler keeps to them.
    """
    leaves, structure = tree.flatten(operand)
    check_leaves(leaves, operand, "optimization_barrier got, at operand")
    return structure.unflatten(optimization_barrier_p(*leaves)) if leaves else operand


def dce_sink(val: PyTree, *, prevent_mlir_dce: bool = False) -> None:
    """Keep what computes a tree of arrays in the jaxpr, though nothing uses it; with `prevent_mlir_dce` in the compiled program, too,
    which calls a native function that does nothing with it."""
    for leaf in tree.leaves(val):
        dce_sink_p(leaf, prevent_mlir_dce=bool(prevent_mlir_dce))


def composite(decomposition: Callable[..., Any], name: str, version: int = 0) -> Callable[..., Any]:
    """`decomposition` as an operation with a name, which a compiler may know a faster way for: a composite in StableHLO.

    Positional arguments are trees of arrays; keyword arguments are attributes, numbers, texts, arrays and sequences of those,
    which are known while tracing. The compiler for the CPU knows no such operations: what runs is the decomposition. The
    operation has neither derivative (ValueError; `custom_jvp` around it gives it one) nor map (NotImplementedError). Raises
    UnexpectedTracerError where the decomposition uses a traced value that is not an argument, TypeError for other attributes.
    """

    @wraps(decomposition)
    def operation(*args: Any, **attributes: Any) -> Any:
        leaves, structure = tree.flatten(args)
        avals = check_leaves(leaves, args, f"{name} got, at arguments")
        body = trace_body(functools.partial(decomposition, **attributes), structure, avals)
        if any(isinstance(x, Tracer) for x in (*tree.leaves(attributes), *body.closed.consts)):
            raise UnexpectedTracerError(
                f"composite {name!r}: {name_of(decomposition)} uses a traced value that is not a positional argument: pass it "
                "as one"
            )
        return body.out_tree.unflatten(bind_composite(body.closed, leaves, name, attributes, int(version)))

    return operation
