"""Where the cotangents of a pullback go: back to the caller, into references, or nowhere."""

from __future__ import annotations

from typing import Any

from .. import tree
from ..control.refs import Ref, addupdate
from ..core.folding import folding
from ..core.messages import message_here
from ..core.references import ReferenceAval
from .markers import Marker


__all__ = ["DidntWant", "DontWant", "GradRef", "GradValue"]


class GradValue(Marker):
    """The cotangent is given back."""


class GradRef(Marker):
    """Stands in a result for a cotangent that was added to a reference."""


class DontWant(Marker):
    """The cotangent is not computed."""


class DidntWant(Marker):
    """Stands in a result for a cotangent that was not computed."""


_PLACES = (GradValue, GradRef, DontWant, DidntWant)


class BoundPullback:
    """What `f_vjp.with_refs(...)` gives: called with a cotangent of the result, it gives those of the arguments, with
    GradRef() for those that were added to references, and DidntWant() for those that nobody wanted."""

    __slots__ = ("pullback", "wanted")

    def __init__(self, pullback: Any, wanted: tuple):
        program = pullback.program
        found, structure = tree.flatten(wanted, _is_place)
        if structure != program.in_tree:
            raise ValueError(
                message_here(
                    f"with_refs takes, for each array among the arguments of {program.name}, a reference, GradValue() or DontWant(): "
                    f"the structure {program.in_tree}, not {structure}"
                )
            )
        for x, aval, path in zip(found, program.in_avals, tree.paths_in(program.in_tree)):
            if not isinstance(x, (Ref, GradValue, DontWant)):
                raise ValueError(f"with_refs: at {path} stands {x!r}, not a reference, GradValue() or DontWant()")
            if isinstance(aval, ReferenceAval) and isinstance(x, GradValue):
                raise ValueError(f"with_refs: the argument at {path} is a reference, so its cotangent needs one, too")
            if isinstance(x, Ref) and (x.shape, x.dtype) != (aval.shape, aval.dtype):
                raise ValueError(
                    f"with_refs: the argument at {path} is {aval.short()}, the reference for its cotangent {x.aval!r}"
                )
        self.pullback, self.wanted = pullback, found

    def __call__(self, cotangent: Any) -> Any:
        with folding:
            cts = self.pullback.cotangents(cotangent, [not isinstance(x, DontWant) for x in self.wanted])
            return self.pullback.program.in_tree.unflatten(list(map(_placed, self.wanted, cts)))

    def __repr__(self) -> str:
        return f"<{self.pullback!r} with references>"


def _is_place(x: Any) -> bool:
    return isinstance(x, _PLACES)


def _placed(wanted: Any, ct: Any) -> Any:
    if isinstance(wanted, Ref):
        addupdate(wanted, ..., ct)
        return GradRef()
    return DidntWant() if isinstance(wanted, DontWant) else ct
