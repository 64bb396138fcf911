"""Operations that XLA's partitioner has divided by Python: it asks how, and for one device's program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .runtime import xc


TARGET = "JitscopePartitioning"
"""The custom call of such operations; its configuration is the number of the rule."""

Values = Sequence[tuple[tuple[int, ...], np.dtype, Any]]
Rule = Callable[[Values, Values], tuple[bytes, list[Any], list[Any]]]
"""Gets shapes, dtypes and HloShardings of operands and results; gives the program of one device as MLIR bytecode, and the
HloShardings of operands and results that it is for."""

_rules: list[Rule] = []
# A module names its rules by their numbers, and may be compiled again as long as somebody has its text.
_failed: list[Exception] = []


def configuration(rule: Rule) -> str:
    """What a custom call to `TARGET` has as its configuration, to be divided by `rule`."""
    if not _rules:
        xc.register_custom_call_partitioner(TARGET, _given, _partition, _unknown, can_side_effecting_have_replicated_sharding=True)  # fmt: skip
    _rules.append(rule)
    return str(len(_rules) - 1)


def failure() -> Exception | None:
    """What a rule raised while a program was compiled, once."""
    found = _failed[-1] if _failed else None
    _failed.clear()
    return found


def _partition(arg_shapes: Any, arg_shardings: Any, result_shape: Any, result_sharding: Any, number: bytes) -> Any:
    several = result_shape.is_tuple()
    shapes = result_shape.tuple_shapes() if several else [result_shape]
    shardings = result_sharding.tuple_elements() if several else [result_sharding]
    try:
        program, ins, outs = _rules[int(number)](_values(arg_shapes, arg_shardings), _values(shapes, shardings))
    except Exception as error:
        _failed.append(error)
        raise
    return program, ins, _packed(result_shape, outs)


def _values(shapes: Any, shardings: Any) -> Values:
    return [(tuple(s.dimensions()), s.numpy_dtype(), at) for s, at in zip(shapes, shardings)]


def _packed(shape: Any, shardings: list[Any]) -> Any:
    return xc.HloSharding.tuple_sharding(shape, shardings) if shape.is_tuple() else shardings[0]


def _given(sharding: Any, shape: Any, number: bytes) -> Any:
    return sharding


def _unknown(arg_shapes: Any, arg_shardings: Any, result_shape: Any, number: bytes) -> Any:
    count = len(result_shape.tuple_shapes()) if result_shape.is_tuple() else 1
    return _packed(result_shape, [xc.HloSharding.replicate()] * count)
