"""What types say of a value over several devices: the marks of avals.

Outside of `shard_map` a mark is a NamedSharding: how the value lies along the Explicit axes of a mesh. Inside, a value is one device's
part, and its mark is a `PartType`, which says that of the axes that are left, and of those over which the function sees one device,
whether the value differs between devices (`varying`), is a term of a sum still to be taken (`unreduced`), or stands where the
cotangents of all devices are to be summed (`reduced`). Both marks say over which axes sums are open.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

from ..named_tuple import NamedTuple
from .avals import ShapedArray


nothing: frozenset = frozenset()

_known: WeakValueDictionary[Any, PartType] = WeakValueDictionary()


class PartType:
    """The mark of an aval inside `shard_map`. `laid` is a NamedSharding of the axes that are left, or None. Equal ones are one object."""

    __slots__ = ("__weakref__", "laid", "reduced", "unreduced", "varying")
    varying: frozenset
    unreduced: frozenset
    reduced: frozenset
    laid: Any

    def __new__(cls, varying: frozenset, unreduced: frozenset, reduced: frozenset, laid: Any) -> PartType:
        key = (varying, unreduced, reduced, laid)
        found = _known.get(key)
        if found is None:
            made = object.__new__(cls)
            made.varying, made.unreduced, made.reduced, made.laid = key
            found = _known.setdefault(key, made)
        return found

    def __reduce__(self) -> Any:
        return PartType, (self.varying, self.unreduced, self.reduced, self.laid)

    def shape_text(self, shape: tuple[Any, ...]) -> str:
        """As types show it: [2,4@y]{V:x}."""
        spec = self.laid.spec if self.laid is not None else None
        sums = (spec.unreduced, spec.reduced) if spec is not None else (nothing, nothing)
        text = f"[{','.join(map(str, shape))}]" if self.laid is None else self.laid.cut_text(shape)
        return text + sums_text(self.varying, self.unreduced | sums[0], self.reduced | sums[1])

    def without(self, axis: int) -> Any:
        """Of a value without one of its axes."""
        return self._relaid(None if self.laid is None else self.laid.without(axis))

    def beside(self, axis: int, names: tuple[Any, ...] = ()) -> Any:
        """Of a value with one more axis, which lies along those of `names` that are left."""
        if self.laid is None:
            return self
        free = self.laid.mesh.explicit_axes
        return self._relaid(self.laid.beside(axis, tuple(n for n in names if n in free)))

    def swapped(self) -> Any:
        """Of cotangents."""
        laid = None if self.laid is None else self.laid.swapped()
        return PartType(self.varying, self.reduced, self.unreduced, laid)

    def is_whole_along(self, axis: int) -> bool:
        """Whether the devices along the axes that are left do not divide this axis."""
        return self.laid is None or self.laid.is_whole_along(axis)

    def _relaid(self, laid: Any) -> PartType:
        return PartType(self.varying, self.unreduced, self.reduced, laid)

    def __repr__(self) -> str:
        return f"a part {self.shape_text(())}"


def sums_text(varying: frozenset, unreduced: frozenset, reduced: frozenset) -> str:
    """As types show it: {V:x, U:(y,z)}."""
    said = [f"{letter}:{_names(axes)}" for letter, axes in zip("VUR", (varying, unreduced, reduced)) if axes]
    return f"{{{', '.join(said)}}}" if said else ""


def _names(axes: frozenset) -> str:
    names = sorted(map(str, axes))
    return names[0] if len(names) == 1 else f"({','.join(names)})"


def laid_of(aval: Any) -> Any:
    """How a value lies along Explicit axes, a NamedSharding; None where its type says nothing."""
    mark = getattr(aval, "mark", None)
    return mark.laid if type(mark) is PartType else mark


def varying(aval: Any) -> frozenset:
    """The mesh axes over which a value varies."""
    mark = getattr(aval, "mark", None)
    return mark.varying if type(mark) is PartType else nothing


class Sums(NamedTuple):
    """The mesh axes over which the sum of a value is still to be taken, and those over which its cotangents' is."""

    unreduced: frozenset = nothing
    reduced: frozenset = nothing


NO_SUMS = Sums()


def sums_of(aval: Any) -> Sums:
    """Over which axes sums are open, inside and outside of `shard_map`."""
    mark = getattr(aval, "mark", None)
    if mark is None:
        return NO_SUMS
    spec = None if (laid := laid_of(aval)) is None else laid.spec
    found = NO_SUMS if spec is None else Sums(spec.unreduced, spec.reduced)
    return Sums(found.unreduced | mark.unreduced, found.reduced | mark.reduced) if type(mark) is PartType else found


def with_mark(aval: ShapedArray, along: frozenset, sums: Sums, laid: Any) -> ShapedArray:
    """The aval of the same value, whose type says this; `laid` says nothing of sums."""
    mark: Any = laid
    if laid is not None and any(sums):
        own = frozenset(laid.mesh.explicit_axes)
        mark = laid = laid.with_spec(laid.spec.update(unreduced=sums.unreduced & own, reduced=sums.reduced & own))
        sums = Sums(sums.unreduced - own, sums.reduced - own)
    if along or any(sums):
        mark = PartType(along, *sums, laid)
    return aval if aval.mark is mark else aval.update(sharding=mark)


def without_sums(laid: Any) -> Any:
    """A layout that says nothing of sums."""
    return laid if laid is None or not (laid.spec.unreduced or laid.spec.reduced) else laid.with_spec(laid.spec.update(unreduced=nothing, reduced=nothing))  # fmt: skip


def with_sums(aval: ShapedArray, sums: Sums) -> ShapedArray:
    """The aval of the same value with sums open over these axes."""
    return aval if sums_of(aval) == sums else with_mark(aval, varying(aval), sums, without_sums(laid_of(aval)))


def with_varying(aval: ShapedArray, axes: frozenset) -> ShapedArray:
    """The aval of the same value, varying over these axes, over which no sums are open then."""
    if varying(aval) == axes:
        return aval
    unreduced, reduced = sums_of(aval)
    return with_mark(aval, axes, Sums(unreduced - axes, reduced - axes), without_sums(laid_of(aval)))
