"""Inside `shard_map`: over which mesh axes a value varies, and the two operations that change it.

A function that is run on each device's part has values that differ between devices and values that are the same. Their avals say
along which axes they may differ (`varying`). Operations take operands that vary alike: where some do not, recording inserts
`pvary`, whose transpose is a sum over these axes. So a value used on all devices gets the sum of its cotangents.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

from .avals import ShapedArray, aval_of
from .axes import current_axes, use_axes
from .effects import no_effects
from .primitive import Primitive
from .zeros import Zero, is_zero


class Manual(NamedTuple):
    """The mesh of a function that sees one device's part, the axes over which it does, and whether it is checked over which its
    values vary."""

    mesh: Any
    axes: tuple[Hashable, ...]
    check: bool


_manual: ContextVar[Manual | None] = ContextVar("jitscope_manual", default=None)


def manual() -> Manual | None:
    """Where the code that is being traced or lowered runs: None outside of `shard_map`."""
    return _manual.get()


@contextmanager
def inside(mesh: Any, axes: Iterable[Hashable], check: bool) -> Iterator[None]:
    """Inside a function that sees one device's part along these axes of a mesh."""
    from . import meshes  # of several devices

    outer, new = _manual.get(), tuple(axes)
    sizes = mesh.shape
    names = (*(outer.axes if outer else ()), *new)
    own = mesh.abstract_mesh.update_axis_types(dict.fromkeys(names, meshes.AxisType.Manual))
    token = _manual.set(Manual(mesh, meshes.ordered(mesh, names), check))
    try:
        with use_axes((*current_axes(), *[(name, sizes[name]) for name in new])), meshes.use_abstract_mesh(own):
            yield
    finally:
        _manual.reset(token)


_known: WeakValueDictionary[Any, Varying] = WeakValueDictionary()


class Varying:
    """The mark of an aval that varies over mesh axes. Equal ones are one object."""

    __slots__ = ("__weakref__", "axes")
    axes: frozenset

    def __new__(cls, axes: frozenset) -> Varying:
        found = _known.get(axes)
        if found is None:
            made = object.__new__(cls)
            made.axes = axes
            found = _known.setdefault(axes, made)
        return found

    def __reduce__(self) -> Any:
        return Varying, (self.axes,)

    def shape_text(self, shape: tuple[Any, ...]) -> str:
        """As types show it."""
        names = sorted(map(str, self.axes))
        said = names[0] if len(names) == 1 else f"({','.join(names)})"
        return f"[{','.join(map(str, shape))}]{{V:{said}}}"

    def without(self, axis: int) -> Varying:
        """Of a value without one of its axes."""
        return self

    def beside(self, axis: int, names: tuple[Any, ...] = ()) -> Varying:
        """Of a value with one more axis."""
        return self

    def __repr__(self) -> str:
        return f"varying over {', '.join(sorted(map(str, self.axes)))}"


nothing: frozenset = frozenset()


def varying(aval: Any) -> frozenset:
    """The mesh axes over which a value varies."""
    mark = getattr(aval, "sharding", None)
    return mark.axes if type(mark) is Varying else nothing


def with_varying(aval: ShapedArray, axes: frozenset) -> ShapedArray:
    """The aval of the same value, varying over these axes."""
    return aval if varying(aval) == axes else aval.update(sharding=Varying(axes) if axes else None)


def as_said(x: Any, aval: ShapedArray) -> Any:
    """`x` with what the type of another value says of several devices."""
    if varying(aval):
        return varied(x, varying(aval))
    own = aval_of(x).sharding
    if own is aval.sharding or type(own) is Varying:
        return x
    from .resharding import as_typed

    return as_typed(x, aval)


def lie_alike(a: Any, b: Any) -> bool:
    """Whether two types do not contradict each other in how values lie along Explicit axes."""
    one, other = getattr(a, "sharding", None), getattr(b, "sharding", None)
    if one is other or one is None or other is None or type(one) is Varying or type(other) is Varying:
        return True
    from .explicit import entries_of

    return entries_of(a) == entries_of(b)


def vary_alike(one: str, a: Any, other: str, b: Any) -> str:
    """What to do where two values must vary over the same mesh axes: the names of both, and their avals."""
    missing = [(one, varying(b) - varying(a)), (other, varying(a) - varying(b))]
    said = [
        f"{name} with lax.pcast(x, {tuple(sorted(map(str, axes)))}, to='varying')" for name, axes in missing if axes
    ]
    return f"values that differ between devices have types that say so: take {', and '.join(said)}"


def checked_axes(names: Iterable[Hashable]) -> frozenset:
    """Those of these axes over which values are checked here."""
    here = _manual.get()
    return frozenset(n for n in names if n in here.axes) if here is not None and here.check else nothing


class AlongAxes(Primitive):
    """An operation along mesh axes that is linear in its one operand, element by element."""

    types_itself = True

    def jvp(self, primals, tangents, /, *, axes):
        out = self(*primals, axes=axes)
        return out, Zero(aval_of(out)) if is_zero(tangents[0]) else self(*tangents, axes=axes)

    def batch(self, axis, args, dims, /, *, axes):
        return self(*args, axes=axes), dims[0]


class Vary(AlongAxes):
    """The same value, taken for one that varies over `axes`."""

    def abstract(self, x, /, *, axes):
        both = set(axes) & varying(x)
        if both:
            raise ValueError(f"pvary: {x.short()} varies over {', '.join(sorted(map(str, both)))} already")
        return with_varying(x, varying(x) | frozenset(axes)), no_effects

    def lower(self, ctx, x, /, *, axes):
        return x

    def transpose(self, ct, x, /, *, axes):
        return [psum_invariant_p(ct, axes=axes)]


class SumInvariant(AlongAxes):
    """The sum over the devices along `axes`, which is the same on all of them."""

    def abstract(self, x, /, *, axes):
        left = set(axes) - varying(x)
        if left:
            raise ValueError(f"psum_invariant: {x.short()} does not vary over {', '.join(sorted(map(str, left)))}")
        return with_varying(x, varying(x) - frozenset(axes)), no_effects

    def lower(self, ctx, x, /, *, axes):
        return ctx.all_reduce(x, axes, "add")

    def transpose(self, ct, x, /, *, axes):
        return [pvary_p(ct, axes=axes)]


pvary_p = Vary("pvary")
psum_invariant_p = SumInvariant("psum_invariant")


def sum_invariant(x: Any, axes: tuple[Any, ...]) -> Any:
    """The sum over mesh axes, which does not vary over them."""
    return psum_invariant_p(x, axes=axes)


def varied(x: Any, axes: Iterable[Hashable]) -> Any:
    """A value that varies over these axes at least."""
    left = tuple(sorted(frozenset(axes) - varying(aval_of(x)), key=str))
    return pvary_p(x, axes=left) if left else x
