"""For which kinds of operations XLA's library for the CPU (YNNPACK) is taken, chosen program by program: an option of XLA's that holds for
the whole of a program.

What a convolution takes with and without the library is estimated from what was measured (`_WITHOUT`, `_PACE`), and the library left out
where the program's convolutions together take less without. Sums of what slices are combined to are faster without it, all other
reductions with it: it is left out where all of a program's large reductions are such sums.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

from ..core.avals import ShapedArray
from ..core.jaxpr import Atom, Jaxpr, JaxprEqn, Literal, Var, subjaxprs
from ..named_tuple import NamedTuple
from ..ops.conv_forms import form_of
from ..ops.conv_parts import parts_of
from ..symbolic.dimension import is_static
from ..xla.cpu_tuning import CONVOLUTIONS_WITHOUT_LIBRARY, LIBRARY_FLAG, SUMS_WITHOUT_LIBRARY, library_types_without


CONVOLUTION, REDUCTION = "convolutions", "reductions"
_LARGE = 32 * 1024
"""Elements: smaller reductions take too little time to matter."""
_PACE, _PACE_FOR_WINDOW, _PACE_FOR_WINDOW_OF_LARGE = 220.0, 150.0, 45.0
"""Billions of multiplications and additions in a second, with the library: of convolutions, of those for a gradient by the window, and of these
where the images are large."""
_LARGE_IMAGE = 512
"""Elements in space."""
_WORTH = 0.97


class Choice(NamedTuple):
    """A kind of operations without the library, and why."""

    kind: str
    why: str


def library_types(jaxpr: Jaxpr) -> dict[str, Any]:
    """The flags of XLA's for a program; none where its defaults are best."""
    chosen = library_choices(jaxpr)
    return library_types_without({c.kind for c in chosen}) if chosen else {}


def library_choices(jaxpr: Jaxpr) -> list[Choice]:
    """The kinds of operations of a program for which the library is left out."""
    convolutions, reductions = CONVOLUTIONS_WITHOUT_LIBRARY.holds(), SUMS_WITHOUT_LIBRARY.holds()
    of_users = LIBRARY_FLAG in os.environ.get("XLA_FLAGS", "")
    if of_users or not (convolutions or reductions):
        return []
    found = _contents(jaxpr, {})
    chosen = []
    if convolutions and found.without < _WORTH * found.with_library:
        share = found.without / found.with_library
        chosen.append(Choice(CONVOLUTION, f"its convolutions are estimated to take {share:.2f} of the time without it"))
    if reductions and found.sums_of_slices and not found.other_reductions:
        chosen.append(Choice(REDUCTION, "all of its large reductions are sums of what slices are combined to"))
    return chosen


class _ProgramContents:
    """What a program has at all levels: the estimated seconds of its convolutions, and the number of its large reductions."""

    def __init__(self) -> None:
        self.with_library = self.without = 0.0
        self.sums_of_slices = self.other_reductions = 0

    def add(self, other: _ProgramContents) -> None:
        self.with_library += other.with_library
        self.without += other.without
        self.sums_of_slices += other.sums_of_slices
        self.other_reductions += other.other_reductions


_REDUCTIONS = frozenset(
    ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "argmax", "argmin", "cumsum", "reduce")
)


def _contents(jaxpr: Jaxpr, known: dict[Jaxpr, _ProgramContents]) -> _ProgramContents:
    """Those of a program; `known` are those of the programs inside, each of which is gone through once however often it is called."""
    if jaxpr in known:
        return known[jaxpr]
    found = known[jaxpr] = _ProgramContents()
    makers: dict[Var, JaxprEqn] | None = None
    for _, eqn in jaxpr.live()[0]:
        name = eqn.primitive.name
        if name == "conv_general_dilated":
            _add_convolution(eqn, found)
        elif name in _REDUCTIONS:
            shape = eqn.invars[0].aval.shape
            if is_static(shape) and math.prod(shape) >= _LARGE:
                if makers is None:
                    makers = dict(_makers(jaxpr))
                if name == "reduce_sum" and _combines_slices(eqn.invars[0], makers):
                    found.sums_of_slices += 1
                else:
                    found.other_reductions += 1
        for _, inner in subjaxprs(eqn.params):
            found.add(_contents(inner.jaxpr, known))
    return found


def _makers(jaxpr: Jaxpr) -> Iterator[tuple[Var, JaxprEqn]]:
    for _, eqn in jaxpr.live()[0]:
        for var in eqn.outvars:
            yield var, eqn


# Convolutions ---------------------------------------------------------------------------------------------------------


def _add_convolution(eqn: JaxprEqn, found: _ProgramContents) -> None:
    (x, y), out = [a.aval for a in eqn.invars], eqn.outvars[0].aval
    if out.dtype.name in ("float32", "float64"):
        _add_estimate(x, y, out, eqn.params, 1, found)


def _add_estimate(
    x: ShapedArray, y: ShapedArray, out: ShapedArray, p: dict[str, Any], count: int, found: _ProgramContents
) -> None:
    """Add what so many convolutions are estimated to take with the library and without, if the library would take them."""
    if not all(map(is_static, (x.shape, y.shape, out.shape))):
        return
    parts = parts_of(x, y, out, p)
    if parts is not None:
        (x, y), out = parts.operands, parts.out
        return _add_estimate(x, y, out, parts.params, count * parts.count, found)
    if p["batch_group_count"] != 1 or len(p["window_strides"]) != 2 or form_of(x, y, out, p) is not None:
        return
    x_spec, y_spec, out_spec = p["dimension_numbers"]
    features, made = x.shape[x_spec[1]], out.shape[out_spec[1]]
    sizes, window = [[a.shape[i] for i in spec[2:]] for a, spec in ((out, out_spec), (y, y_spec))]
    seen = [x.shape[i] for i in x_spec[2:]]
    if max(features, made) <= 16 or any(d != 1 for d in p["lhs_dilation"]):
        return
    if any(m > n or k > n for m, k, n in zip(sizes, window, seen)):
        return
    for_window = math.prod(window) > math.prod(sizes)
    work = 2.0 * count * out.size * math.prod(window) * y.shape[y_spec[1]]
    if for_window:
        large = math.prod(window) >= _LARGE_IMAGE
        seconds = work / (_PACE_FOR_WINDOW_OF_LARGE if large else _PACE_FOR_WINDOW)
        share = _share_for_window(math.prod(sizes), large, max(features, made))
    else:
        seconds, share = work / _PACE, _share_without(math.prod(window), features)
    found.with_library += seconds
    found.without += seconds * share


def _share_for_window(elements: int, large: bool, features: int) -> float:
    """The time of a gradient by the window without the library as a part of that with it. `elements` of the result (the window), `large`
    images, `features` of the operands."""
    if elements > 9:
        return 0.9 if elements <= 25 else 1.25
    if large:
        return 1.05 if features <= 40 else 0.64 if features <= 80 else 0.4
    return 1.15 if features <= 40 else 1.05 if features <= 80 else 0.9 if features <= 140 else 0.8


def _share_without(elements: int, features: int) -> float:
    """The time of another convolution without the library as a part of that with it. `elements` of the window, `features` of the left
    operand."""
    if features <= 8:
        return 1.8
    if features <= 48:
        return 1.4 if elements <= 9 else 1.15
    return 1.12 if features <= 80 else 1.0 if features <= 140 else 0.85


# Sums of slices -------------------------------------------------------------------------------------------------------

_THROUGH = frozenset(("add", "sub", "mul", "neg", "square", "integer_pow", "abs", "convert_element_type", "reshape"))
_MOST_STEPS = 64


def _combines_slices(atom: Atom, makers: dict[Var, JaxprEqn]) -> bool:
    """Whether sums and products alone lead from at least two slices to a value."""
    todo, slices, steps, seen = [atom], 0, 0, set()
    while todo:
        one = todo.pop()
        steps += 1
        if isinstance(one, Literal) or one in seen:
            continue
        seen.add(one)
        eqn = makers.get(one)
        if eqn is None or steps > _MOST_STEPS:
            continue
        name = eqn.primitive.name
        if name == "slice":
            slices += 1
        elif name in _THROUGH:
            todo += eqn.invars
        elif name == "jit":
            return False
        elif name not in ("broadcast_in_dim", "iota"):
            return False
    return slices >= 2
