"""The operations on references, as equations of programs: `b <- a[0]`, `a[0] <- b`, `a[0] += b`."""

from __future__ import annotations

from ..core.effects import ACCUMULATE, READ, WRITE, ref_effect
from ..core.primitive import Primitive
from .indexers import index_text, reading, rebuilt, swapping


class RefPrimitive(Primitive):
    """An operation on references: its first operand is one."""

    takes_references = True


class Get(RefPrimitive):
    def bind(self, ref, /, *operands, index):  # pyright: ignore[reportIncompatibleMethodOverride]
        return ref[rebuilt(index, operands)]

    def abstract(self, ref, /, *operands, index):
        (out,) = reading(ref.inner_aval, index, operands).out_avals
        return out, frozenset([ref_effect(READ, 0)])

    def text(self, outs, atoms, avals, /, *, index):
        """b:f32[] <- a[0]"""
        return f"{outs[0]} <- {atoms[0]}[{index_text(index, atoms[1:], avals[0].shape)}]"


class Swap(RefPrimitive):
    def bind(self, ref, value, /, *operands, index):  # pyright: ignore[reportIncompatibleMethodOverride]
        return ref.swap(rebuilt(index, operands), value)

    def abstract(self, ref, value, /, *operands, index):
        out, _ = swapping(ref.inner_aval, index, value, operands).out_avals
        return out, frozenset([ref_effect(WRITE, 0)])

    def text(self, outs, atoms, avals, /, *, index):
        """a[0] <- b, or with what was there before c:f32[], a[0] <- a[0], b"""
        where = f"{atoms[0]}[{index_text(index, atoms[2:], avals[0].shape)}]"
        return f"{where} <- {atoms[1]}" if outs[0].startswith("_:") else f"{outs[0]}, {where} <- {where}, {atoms[1]}"


class AddUpdate(RefPrimitive):
    multiple_results = True

    def bind(self, ref, value, /, *operands, index):  # pyright: ignore[reportIncompatibleMethodOverride]
        ref.addupdate(value, rebuilt(index, operands))
        return []

    def abstract(self, ref, value, /, *operands, index):
        return [], frozenset([ref_effect(ACCUMULATE, 0)])

    def text(self, outs, atoms, avals, /, *, index):
        """a[0] += b"""
        return f"{atoms[0]}[{index_text(index, atoms[2:], avals[0].shape)}] += {atoms[1]}"


class Freeze(RefPrimitive):
    def bind(self, ref, /):  # pyright: ignore[reportIncompatibleMethodOverride]
        return ref.end()

    def abstract(self, ref, /):
        return ref.inner_aval, frozenset([ref_effect(READ, 0)])


get_p, swap_p, addupdate_p, freeze_p = Get("get"), Swap("swap"), AddUpdate("addupdate"), Freeze("freeze")
