"""Indices that stand in a program of jax's as numbers, and lie outside of their axis whatever the arguments are. (Ours are told while they
are traced.)"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jitscope.core import call_sites
from jitscope.core.jaxpr import Jaxpr, JaxprEqn, Literal, Var
from jitscope.core.source import is_installed

from ...observe.ledger import Row
from ...source_code.edits import Span
from ..diagnostic import Diagnostic, Fix
from .errors import says_what_is_meant
from .values import axis_told, is_mapped


_MOST = 64
"""So many indices of an equation are looked at."""


class _Outside(NamedTuple):
    """A read or a write outside: its equation, the one that stands for it in the user's code, the index as it was written, the axis and its
    size, and how many elements are read there along it."""

    eqn: JaxprEqn
    at: JaxprEqn
    index: int
    axis: int
    size: int
    window: int = 1


def of_indices(jaxpr: Jaxpr, row: Row) -> Iterator[Diagnostic]:
    """oob-index of what every call of a program does: nothing inside of a branch or of a loop."""
    for one in _Numbers().outside(jaxpr, {}):
        where = call_sites.user_position(one.at.traceback)
        if where is None or is_installed(where.file) or says_what_is_meant(where):
            continue
        what, how, fix = f"index {one.index}", _READ.get(_mode(one.eqn), "the element at the edge is read"), _TO_READ
        if one.eqn.primitive.name.startswith("scatter"):
            how, fix = "what is written is dropped", _TO_WRITE
        elif one.window > 1:
            what, how = f"the window {one.index}:{one.index + one.window}", "it is moved until it fits"
            fix = "Correct where it starts, or its size."
        axis = axis_told(one.eqn, one.axis)
        message = f"{what} is outside of {axis}, which has size {one.size}: {how}, whatever the arguments are."
        yield Diagnostic("oob-index", where.file, Span.of(where), message, Fix(fix), (), "trace")


_READ = {"FILL_OR_DROP": "NaN (of whole numbers the least or the largest) is read"}
_TO_READ = "Correct the index, or say what is meant: x.at[i].get(mode='fill', fill_value=jnp.nan)."
_TO_WRITE = "Correct the index, or say what is meant: x.at[i].set(y, mode='drop')."


def _mode(eqn: JaxprEqn) -> str:
    return str(getattr(eqn.params.get("mode"), "name", eqn.params.get("mode")))


def _takes(eqn: JaxprEqn) -> bool:
    """Whether an access is none that clips on purpose: of the window of each example `vmap` makes a gather that clips."""
    return _mode(eqn) != "CLIP" or is_mapped(eqn)


def _is_of_library(eqn: JaxprEqn) -> bool:
    """Whether a function of jax's is called, whose trace may stem from another line."""
    name = str(eqn.params.get("name", ""))
    return name.startswith("_") or hasattr(sys.modules.get("jax.numpy"), name)


class _Numbers:
    """What of a program is known without its arguments: small numbers, and what is computed from them. Of an index that counts from
    the end, which jax adds the size to, the program has both: `_negative` are those."""

    def __init__(self) -> None:
        self._negative: dict[Var, Any] = {}

    def outside(self, jaxpr: Jaxpr, known: dict[Var, Any]) -> Iterator[_Outside]:
        """The equations that read or write outside: the index as it was written, the axis and its size. What is `known` of the arguments,
        it learns of all values."""
        for eqn in jaxpr.eqns:
            values = [_value(atom, known) for atom in eqn.invars]
            if (inner := _called(eqn)) is not None:
                inside: dict[Var, Any] = {}
                self._hand_on(eqn.invars, known, inner.invars, inside)
                for one in self.outside(inner, inside):
                    yield one._replace(at=eqn) if _is_of_library(eqn) else one
                self._hand_on(inner.outvars, inside, eqn.outvars, known)
            elif eqn.primitive.name in _COMPUTED and all(x is not None for x in values):
                result = _COMPUTED[eqn.primitive.name](eqn, *values)
                if result is not None and result.size <= _MOST:
                    known[eqn.outvars[0]] = result
                    self._follow(eqn, values)
            else:
                yield from self._of_access(eqn, values)

    def _hand_on(
        self, atoms: Sequence[Any], known: Mapping[Var, Any], to: Sequence[Var], their: dict[Var, Any]
    ) -> None:
        """What is known of values, to the variables that stand for them inside of a call, or after it."""
        for atom, var in zip(atoms, to):
            self._negative.pop(var, None)  # of a program that was called before
            if (x := _value(atom, known)) is not None:
                their[var] = x
                if isinstance(atom, Var) and atom in self._negative:
                    self._negative[var] = self._negative[atom]

    def _follow(self, eqn: JaxprEqn, values: list[Any]) -> None:
        """Keep what an index was before the size was added to it: `select_n(i < 0, i, i + size)`."""
        out = eqn.outvars[0]
        if eqn.primitive.name == "select_n" and values[0].shape == values[1].shape:
            self._negative[out] = values[1]
        elif isinstance(eqn.invars[0], Var) and eqn.invars[0] in self._negative:
            before = self._negative[eqn.invars[0]]
            self._negative[out] = _COMPUTED[eqn.primitive.name](eqn, before, *values[1:])

    def _of_access(self, eqn: JaxprEqn, values: list[Any]) -> Iterator[_Outside]:
        shape = getattr(eqn.invars[0].aval, "shape", ()) if eqn.invars else ()
        if eqn.primitive.name == "dynamic_slice":
            for axis, (atom, start, size) in enumerate(zip(eqn.invars[1:], values[1:], eqn.params["slice_sizes"])):
                if start is not None and start.size == 1 and not 0 <= int(start) <= shape[axis] - size:
                    yield _Outside(eqn, eqn, int(self._written(atom, start)), axis, shape[axis], size)
                    return
        elif eqn.primitive.name in _ACCESSES and values[1] is not None and _takes(eqn):
            axes, sizes = _axes(eqn), eqn.params.get("slice_sizes")
            columns = values[1].reshape(-1, values[1].shape[-1]) if values[1].ndim else values[1].reshape(1, 1)
            written = self._written(eqn.invars[1], values[1]).reshape(columns.shape)
            for column, axis in enumerate(axes if len(axes) == columns.shape[1] else ()):
                bad = (columns[:, column] < 0) | (columns[:, column] > shape[axis] - (sizes[axis] if sizes else 1))
                if bad.any():
                    yield _Outside(eqn, eqn, int(written[bad][0, column]), axis, shape[axis])
                    return

    def _written(self, atom: Any, value: Any) -> Any:
        return self._negative.get(atom, value) if isinstance(atom, Var) else value


def _value(atom: Any, known: Mapping[Var, Any]) -> Any:
    if isinstance(atom, Literal):
        value = np.asarray(atom.value)
        return value if value.dtype.kind in "iub" else None
    return known.get(atom)


def _called(eqn: JaxprEqn) -> Jaxpr | None:
    """The program of an equation that runs another one once, as it is."""
    inner = eqn.params.get("jaxpr") if eqn.primitive.name in ("jit", "pjit", "closed_call") else None
    return getattr(inner, "jaxpr", None)


def _axes(eqn: JaxprEqn) -> tuple[int, ...]:
    found = _MAP.search(str(eqn.params["dimension_numbers"]))
    return tuple(int(n) for n in re.findall(r"\d+", found[1])) if found is not None else ()


_MAP = re.compile(r"(?:start_index_map|scatter_dims_to_operand_dims)=\(([\d, ]*)\)")
_ACCESSES = frozenset(("gather", "scatter", "scatter-add", "scatter_add", "scatter-mul", "scatter_mul"))


def _spread(eqn: JaxprEqn, x: Any) -> Any:
    shape, axes = eqn.params["shape"], eqn.params["broadcast_dimensions"]
    if np.prod(shape, dtype=int) > _MOST:
        return None
    own = [1] * len(shape)
    for axis, n in zip(axes, x.shape):
        own[axis] = n
    return np.broadcast_to(x.reshape(own), shape)


def _chosen(eqn: JaxprEqn, which: Any, *cases: Any) -> Any:
    return np.where(which.astype(bool), cases[1], cases[0]) if len(cases) == 2 else None


_COMPUTED: dict[str, Callable[..., Any]] = {
    "lt": lambda _, a, b: np.less(a, b),
    "add": lambda _, a, b: np.add(a, b),
    "sub": lambda _, a, b: np.subtract(a, b),
    "select_n": _chosen,
    "broadcast_in_dim": _spread,
    "convert_element_type": lambda eqn, x: (
        x.astype(np.int64) if np.dtype(eqn.params["new_dtype"]).kind in "iu" else None
    ),
    "reshape": lambda eqn, x: x.reshape(eqn.params["new_sizes"]),
    "concatenate": lambda eqn, *parts: np.concatenate(parts, eqn.params["dimension"]),
}
"""What indices are computed with."""
