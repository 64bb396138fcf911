"""Python functions that write their results into the buffers they are given."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import tree
from ..api.callbacks import io_callback, pure_callback
from ..core.annotations import PyTree
from ..core.avals import aval_of


class ExecutionStage(enum.Enum):
    """What a program does when it calls a function: on the CPU always EXECUTE."""

    INSTANTIATE = 0
    PREPARE = 1
    INITIALIZE = 2
    EXECUTE = 3


class ExecutionContext:
    """What a function is told of its call."""

    stage = ExecutionStage.EXECUTE

    @property
    def stream(self) -> int:
        """Raises RuntimeError: the CPU has no streams."""
        raise RuntimeError("the CPU has no streams")


class Buffer:
    """Memory of an array: `np.asarray(buffer)` shares it. That of results is there to be written to (`writeable`)."""

    __slots__ = ("_values",)

    def __init__(self, values: np.ndarray):
        self._values = values

    @property
    def shape(self) -> tuple[int, ...]:
        return self._values.shape

    @property
    def dtype(self) -> np.dtype:
        return self._values.dtype

    @property
    def ndim(self) -> int:
        return self._values.ndim

    @property
    def writeable(self) -> bool:
        return self._values.flags.writeable

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._values, dtype, copy=copy)

    def __dlpack__(self, **options: Any) -> Any:
        return self._values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __repr__(self) -> str:
        return f"Buffer({self.dtype.name}[{','.join(map(str, self.shape))}])"


def buffer_callback(
    callback: Callable[..., None],
    result_shape_dtypes: PyTree,
    *,
    has_side_effect: bool = False,
    vmap_method: str | None = None,
    input_output_aliases: Mapping[int, int] | None = None,
    command_buffer_compatible: bool = False,
) -> Callable[..., Any]:
    """The function of arrays that calls `callback(context, out, *args, **kwargs)` when the program runs, and gives what that wrote
    into `out`, a tree of `Buffer` like `result_shape_dtypes`. The arguments are buffers that cannot be written to.

    `has_side_effect`: it is called once for each time the program comes by, under vmap for each example; else as
    `pure_callback`, with `vmap_method`. `input_output_aliases` says by number which results begin with the values of which
    arguments. `command_buffer_compatible` means nothing on the CPU. Raises TypeError for a `callback` that is not a function,
    ValueError for aliases that do not fit.
    """
    if not callable(callback):
        raise TypeError(f"buffer_callback: callback is a function, not {type(callback).__name__}")
    promised, out_tree = tree.flatten(result_shape_dtypes)
    aliases = dict(input_output_aliases or {})

    def called(*args: Any, **kwargs: Any) -> Any:
        leaves, in_tree = tree.flatten((args, kwargs))
        avals = [aval_of(x) for x in leaves]
        _check_aliases(aliases, avals, promised)
        ranks = [aval.ndim for aval in avals]

        def host(*values: Any) -> Any:
            given = [np.asarray(x) for x in values]
            leading = np.broadcast_shapes(*[x.shape[: x.ndim - rank] for x, rank in zip(given, ranks)])
            outs = [np.zeros((*leading, *p.shape), p.dtype) for p in promised]
            for i, j in aliases.items():
                outs[j][...] = given[i]
            positional, named = in_tree.unflatten(list(map(Buffer, given)))
            callback(ExecutionContext(), out_tree.unflatten(list(map(Buffer, outs))), *positional, **named)
            return out_tree.unflatten(outs)

        host.__name__ = getattr(callback, "__name__", type(callback).__name__)
        if has_side_effect:
            return io_callback(host, result_shape_dtypes, *leaves)
        return pure_callback(host, result_shape_dtypes, *leaves, vmap_method=vmap_method)

    return called


def _check_aliases(aliases: Mapping[int, int], avals: Sequence[Any], promised: Sequence[Any]) -> None:
    for i, j in aliases.items():
        if not (0 <= i < len(avals) and 0 <= j < len(promised)):
            raise ValueError(
                f"buffer_callback: input_output_aliases names argument {i} and result {j}; there are {len(avals)} and "
                f"{len(promised)}"
            )
        own, other = avals[i], promised[j]
        if (own.shape, own.dtype) != (tuple(other.shape), np.dtype(other.dtype)):
            raise ValueError(
                f"buffer_callback: argument {i}, {own.short()}, cannot be result {j}, {np.dtype(other.dtype).name}"
                f"{list(other.shape)}"
            )
