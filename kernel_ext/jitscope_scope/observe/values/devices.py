"""The inner program of a `shard_map` run equation by equation, for all devices at once: a value is what each of them has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from jitscope.backend.array import Array, to_array
from jitscope.backend.callbacks import numbers_of
from jitscope.backend.hunt.programs import run
from jitscope.control.shard_map import shard_map_p
from jitscope.core.avals import ShapedArray, aval_of
from jitscope.core.jaxpr import ClosedJaxpr, JaxprEqn, equations_in, subjaxprs
from jitscope.core.meshes import AxisType, Mesh
from jitscope.core.shardings import PartitionSpec, names_of, padded
from jitscope.core.staging import jaxpr_as_fun, trace_to_jaxpr
from jitscope.core.varying import AxesCast, inside
from jitscope.ops.linear import reshape

from .evaluation import Evaluation, changed_equation, one_equation


class Parts:
    """What each device has of a value, in the order of the devices along the axes of the `shard_map`. As an array of NumPy's, all of
    them, along a new first axis."""

    def __init__(self, arrays: Sequence[Any], places: Sequence[str]):
        self.arrays, self.places = list(arrays), places

    @property
    def aval(self) -> ShapedArray:
        """That of one part."""
        return self.arrays[0].aval

    @property
    def is_one(self) -> bool:
        """Whether all devices have one array, not only equal ones."""
        return all(x is self.arrays[0] for x in self.arrays)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.stack([np.asarray(x, dtype) for x in self.arrays])


class OnDevices(Evaluation):
    """Evaluates the program of a `shard_map`, within the limits of the evaluation of what is around it. What devices compute each by
    itself is run for one part after the other, what they exchange over the mesh."""

    def __init__(self, around: Evaluation, eqn: JaxprEqn):
        super().__init__(around.seconds, around.memory, around.iteration)
        self.followers, self.loops, self.whole_at = around.followers, around.loops, around.whole_at
        self.end, self.alive = around.end, around.alive
        self.mesh, self.axes, self.check = (eqn.params[name] for name in ("mesh", "axes", "check"))
        sizes = [self.mesh.shape[name] for name in self.axes]
        self.at = [dict(zip(self.axes, place)) for place in np.ndindex(*sizes)]
        self.copies = len(self.at)
        self.places = [", ".join(f"{name} {k}" for name, k in one.items()) for one in self.at]
        self._exchanges: dict[int, tuple[JaxprEqn, ClosedJaxpr]] = {}

    @staticmethod
    def can(eqn: JaxprEqn, operands: Sequence[Any]) -> bool:
        """Whether the program of a `shard_map` can be evaluated by parts: its devices are known and all of this process, and no type
        inside says how something lies over axes of the mesh that it leaves alone."""
        mesh, axes = eqn.params["mesh"], eqn.params["axes"]
        others = [t for name, t in zip(mesh.axis_names, mesh.axis_types) if name not in axes]
        here = all(getattr(x, "is_fully_addressable", True) for x in operands)
        return isinstance(mesh, Mesh) and AxisType.Explicit not in others and here

    def cut(self, x: Any, spec: PartitionSpec) -> Parts:
        """The parts of an operand."""
        aval, below = x.aval, numbers_of(x)
        entries = padded(spec, aval.ndim).partitions
        known: dict[Any, Any] = {}
        found = []
        for at in self.at:
            index = tuple(self._slice(names_of(entry), at, n) for entry, n in zip(entries, aval.shape))
            key = tuple((one.start, one.stop) for one in index)
            if key not in known:
                known[key] = _array(
                    below[index], aval.update(shape=tuple(s.stop - s.start for s in index), sharding=None)
                )
            found.append(known[key])
        return self._parts(found)

    def _slice(self, names: Sequence[Any], at: dict[Any, int], size: int) -> slice:
        number = 0
        for name in names:
            number = number * self.mesh.shape[name] + at[name]
        step = size // math.prod(self.mesh.shape[name] for name in names)
        return slice(number * step, (number + 1) * step)

    def _parts(self, arrays: Sequence[Any]) -> Parts:
        return Parts(arrays, self.places)

    # --- what runs an equation ------------------------------------------------------------------------------------------

    def constants(self, closed: ClosedJaxpr) -> list[Any]:
        return [self._parts([x] * self.copies) for x in super().constants(closed)]

    def literal(self, atom: Any) -> Any:
        return self._parts([super().literal(atom)] * self.copies)

    def decided(self, x: Any) -> Any:
        values = [super(OnDevices, self).decided(part) for part in x.arrays]
        return values[0] if all(value == values[0] for value in values) else None

    def going_rows(self, going: Any, condition: ClosedJaxpr, carry: list[Any]) -> None:
        return None

    def on_devices(self, eqn: JaxprEqn, operands: list[Any]) -> None:
        return None

    def element(self, x: Any, at: int | slice) -> Any:
        if x.is_one:
            return self._parts([super().element(x.arrays[0], at)] * self.copies)
        return self._parts([super(OnDevices, self).element(part, at) for part in x.arrays])

    def apply(self, eqn: JaxprEqn, operands: list[Any]) -> list[Any]:
        if isinstance(eqn.primitive, AxesCast) and not eqn.primitive.adds:
            return operands
        return self._exchanged(eqn, operands) if _exchanges(eqn) else self._each(super().apply, eqn, operands)

    def whole(self, eqn: JaxprEqn, operands: list[Any]) -> list[Any]:
        return self._exchanged(eqn, operands) if _exchanges(eqn) else self._each(super().whole, eqn, operands)

    def other(self, eqn: JaxprEqn, operands: list[Any], params: dict[str, Any]) -> list[Any]:
        avals = [a.aval.update(shape=x.aval.shape) for a, x in zip(eqn.invars, operands)]
        with inside(self.mesh, self.axes, self.check):
            changed = changed_equation(eqn, avals, params)
        return self.whole(changed, operands)

    def _each(self, run_one: Any, eqn: JaxprEqn, operands: list[Any]) -> list[Any]:
        """The results of an equation that each device computes by itself: once, where all have the same operands."""
        same = all(x.is_one for x in operands) and not eqn.effects
        each = [[x.arrays[i] for x in operands] for i in range(1 if same else self.copies)]
        outs = zip(*[[_unmarked(out) for out in run_one(eqn, one)] for one in each])
        return [self._parts(list(parts) * (self.copies if same else 1)) for parts in outs]

    def _exchanged(self, eqn: JaxprEqn, operands: list[Any]) -> list[Any]:
        """The results of an equation in which devices exchange something, run on the mesh."""
        if id(eqn) not in self._exchanges:
            self._exchanges[id(eqn)] = eqn, self._on_mesh(eqn)
        stacked = [
            _array(np.stack([numbers_of(part) for part in x.arrays]), x.aval.update(shape=(self.copies, *x.aval.shape)))
            for x in operands
        ]
        outs = run(self._exchanges[id(eqn)][1], stacked)
        return [self._unstacked(numbers_of(out), out.aval) for out in outs]

    def _unstacked(self, below: np.ndarray, aval: ShapedArray) -> Parts:
        one = aval.update(shape=aval.shape[1:], sharding=None)
        return self._parts([_array(below[i], one) for i in range(self.copies)])

    def _on_mesh(self, eqn: JaxprEqn) -> ClosedJaxpr:
        """An equation as a program of operands, and with results, whose first axis lies along the devices."""
        one, spec = one_equation(eqn), PartitionSpec(tuple(self.axes))

        def part(*rows: Any) -> list[Any]:
            outs = jaxpr_as_fun(one)(*[reshape(x, aval_of(x).shape[1:]) for x in rows])
            return [reshape(x, (1, *aval_of(x).shape)) for x in outs]

        given = [a.update(shape=(1, *a.shape)) for a in one.in_avals]
        with inside(self.mesh, self.axes, self.check):
            inner = trace_to_jaxpr(part, given, one.jaxpr.debug)
        params = {"mesh": self.mesh, "axes": self.axes, "check": self.check}
        specs = {"in_specs": (spec,) * len(given), "out_specs": (spec,) * len(one.out_avals)}
        stacked = [a.update(shape=(self.copies, *a.shape), sharding=None) for a in one.in_avals]
        return trace_to_jaxpr(lambda *xs: shard_map_p.apply(inner, xs, **specs, **params), stacked, one.jaxpr.debug)


_OF_THE_MESH = {"shard_map", "reshard", "sharding_constraint"}


def _exchanges(eqn: JaxprEqn) -> bool:
    """Whether an equation, or one inside of it, is about several devices."""
    primitive = eqn.primitive
    if isinstance(primitive, AxesCast) and not primitive.adds:
        return False
    if isinstance(primitive, AxesCast) or primitive.name in _OF_THE_MESH:
        return True
    inner = [sub.jaxpr for _, sub in subjaxprs(eqn.params)]
    return (
        any(map(_exchanges, (e for one in inner for e in equations_in(one))))
        if inner
        else bool(primitive.named_axes(**eqn.params))
    )


def _array(below: np.ndarray, aval: ShapedArray) -> Array:
    return Array(to_array(np.array(below)).buf, aval)


def _unmarked(x: Any) -> Any:
    aval = x.aval.update(sharding=None)
    return x if aval is x.aval else Array(x.buf, aval)
