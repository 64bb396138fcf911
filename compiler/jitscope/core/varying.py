"""Inside `shard_map`: over which mesh axes a value varies, and the operations that change what its type says of them.

A function that is run on each device's part has values that differ between devices and values that are the same. Their avals say
along which axes they may differ (`varying`). Operations take operands that vary alike: where some do not, recording inserts
`pvary`, whose transpose is a sum over these axes. So a value used on all devices gets the sum of its cotangents. Of a value that is
`reduced` over axes the sum is left to be taken: its cotangent is `unreduced`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..named_tuple import NamedTuple
from .avals import ShapedArray, aval_of
from .axes import current_axes, use_axes
from .effects import no_effects
from .part_types import NO_SUMS, Sums, laid_of, nothing, sums_of, varying, with_mark, without_sums
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


def as_said(x: Any, aval: ShapedArray) -> Any:
    """`x`, zeros or the same on all devices, with what the type of another value says of several devices."""
    own, wanted = aval_of(x), aval
    if own.mark is wanted.mark:
        return x
    if laid_of(own) is not laid_of(wanted):
        from .resharding import as_typed

        x = as_typed(x, wanted)
    unreduced, reduced = sums_of(wanted)
    here = frozenset(manual_axes())
    x = vary_over(x, varying(wanted) | (unreduced & here) - sums_of(aval_of(x)).unreduced)
    x = _cast(vary_unreduced_p, x, unreduced & here & varying(aval_of(x)))
    return _cast(preduced_p, x, reduced & here - sums_of(aval_of(x)).reduced)


def manual_axes() -> tuple[Hashable, ...]:
    """The mesh axes over which the code at hand sees one device."""
    here = _manual.get()
    return () if here is None else here.axes


def lie_alike(a: Any, b: Any) -> bool:
    """Whether two types do not contradict each other in how values lie along Explicit axes, and in the sums that are open."""
    if getattr(a, "mark", None) is getattr(b, "mark", None):
        return True
    (terms, cut), (other_terms, other_cut) = sums_of(a), sums_of(b)
    if terms != other_terms or cut - varying(b) != other_cut - varying(a):
        return False
    one, other = laid_of(a), laid_of(b)
    if one is other or one is None or other is None:
        return True
    from .explicit import entries_of

    return entries_of(a) == entries_of(b)


def seen_here(aval: Any) -> Any:
    """The aval of a value from outside of a `shard_map`, inside of it: its type speaks of the axes that are left."""
    here, laid = _manual.get(), laid_of(aval)
    if here is None or laid is None or laid.mesh.manual_axes == here.axes:
        return aval
    own = frozenset(laid.mesh.explicit_axes) - frozenset(here.axes)
    return with_mark(aval, varying(aval), NO_SUMS, laid.within(here.axes) if own else None)


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


class AxesCast(AlongAxes):
    """The same value with another type: `axes` are no longer among those that its mark names `before` (None: not at all), but among
    those that it names `after`. With `adds`, it is the sum over the devices along them."""

    transposed: AxesCast

    def __init__(self, name: str, before: str | None, after: str | None, adds: bool = False):
        super().__init__(name)
        self.before, self.after, self.adds = before, after, adds

    def abstract(self, x, /, *, axes):
        mark = {"varying": varying(x), **sums_of(x)._asdict()}
        names = frozenset(axes)
        for word, said in mark.items():
            wrong = names - said if word == self.before else names & said
            if wrong:
                how = "not" if word == self.before else "already" if word == self.after else ""
                text = f"{self.name}: {x.short()} is {how} {word} over {', '.join(sorted(map(str, wrong)))}"
                raise ValueError(text.replace("  ", " ") + _ADVICE.get(word if word != self.before else "", ""))
            if word == self.before:
                mark[word] = said - names
        if self.after is not None:
            mark[self.after] |= names
        return with_mark(
            x, mark["varying"], Sums(mark["unreduced"], mark["reduced"]), without_sums(laid_of(x))
        ), no_effects

    def lower(self, ctx, x, /, *, axes):
        return ctx.all_reduce(x, axes, "add") if self.adds else x

    def transpose(self, ct, x, /, *, axes):
        return [self.transposed(ct, axes=axes)]


_ADVICE = {"unreduced": ". What to do: take the sum first, with lax.psum or lax.psum_scatter"}

pvary_p = AxesCast("pvary", None, "varying")
psum_invariant_p = AxesCast("psum_invariant", "varying", None, adds=True)
vary_unreduced_p = AxesCast("vary_unreduced_cast", "varying", "unreduced")
reduced_vary_p = AxesCast("reduced_vary_cast", "reduced", "varying")
preduced_p = AxesCast("preduced", None, "reduced")
unreduced_psum_p = AxesCast("unreduced_psum", "unreduced", None, adds=True)
for _one, _other in ((pvary_p, psum_invariant_p), (vary_unreduced_p, reduced_vary_p), (preduced_p, unreduced_psum_p)):
    _one.transposed, _other.transposed = _other, _one


def _cast(primitive: AxesCast, x: Any, axes: frozenset) -> Any:
    return primitive(x, axes=tuple(sorted(axes, key=str))) if axes else x


def sum_invariant(x: Any, axes: tuple[Any, ...]) -> Any:
    """The sum over mesh axes, which does not vary over them; it may be open over all of them."""
    return (
        unreduced_psum_p(x, axes=axes) if set(axes) <= sums_of(aval_of(x)).unreduced else psum_invariant_p(x, axes=axes)
    )


def vary_over(x: Any, axes: Iterable[Hashable]) -> Any:
    """A value that varies over these axes at least."""
    left = frozenset(axes) - varying(aval_of(x))
    reduced = left & sums_of(aval_of(x)).reduced
    return _cast(pvary_p, _cast(reduced_vary_p, x, reduced), left - reduced)


def summed(x: Any) -> Any:
    """The value, whose open sums are taken."""
    x = _cast(unreduced_psum_p, x, sums_of(aval_of(x)).unreduced & frozenset(manual_axes()))
    laid = laid_of(aval_of(x))
    if laid is None or not laid.spec.unreduced:
        return x
    from .resharding import reshard_p

    return reshard_p(x, sharding=laid.with_spec(laid.spec.update(unreduced=nothing)))


def as_term(x: Any, axes: Iterable[Hashable]) -> Any:
    """A value that varies over these axes, or is the sum's over them already, as a term of a sum over them."""
    return _cast(vary_unreduced_p, x, frozenset(axes) - sums_of(aval_of(x)).unreduced)
