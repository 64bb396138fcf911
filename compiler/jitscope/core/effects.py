"""Effects: what an equation does beside giving its results. Dead code removal keeps equations that have any."""

from collections.abc import Callable, Iterable
from functools import cache


__all__ = ["Effect", "Effects", "no_effects"]


class Effect:
    """An effect by its name. `ordered`: equations that have it run in program order, and no transformation may repeat or
    reorder them."""

    __slots__ = ("name", "ordered")

    def __init__(self, name: str = "", ordered: bool = False):
        self.name, self.ordered = name or type(self).__name__, ordered

    def __repr__(self) -> str:
        return self.name


Effects = frozenset[Effect]
no_effects: Effects = frozenset()

debug_effect, ordered_debug_effect = Effect("Debug"), Effect("OrderedDebug", True)
"""Something is shown: transformations may repeat it or leave it out."""

io_effect, ordered_io_effect = Effect("IO"), Effect("OrderedIO", True)
"""The outside world is read or changed."""

python_effects: Effects = frozenset([debug_effect, ordered_debug_effect, io_effect, ordered_io_effect])
"""The effects of calling Python from programs."""


class RefEffect(Effect):
    """A reference is read, written or added to: operand number `index` of an equation; of a program, the argument of that
    number, captured values counted first. One object for each kind and number."""

    __slots__ = ("index",)

    def __init__(self, name: str, index: int):
        super().__init__(name)
        self.index = index

    def __repr__(self) -> str:
        return f"{self.name}<{self.index}>"


READ, WRITE, ACCUMULATE = "Read", "Write", "Accum"


@cache
def ref_effect(kind: str, index: int) -> RefEffect:
    """The effect of that kind on that operand."""
    return RefEffect(kind, index)


own_refs = Effect("OwnRefs")
"""The program makes references of its own, or holds one that does. To those who run it, it is pure."""

_pure_outside = frozenset([own_refs])


def matters(effects: Effects) -> bool:
    """Whether anybody outside sees the effects."""
    return bool(effects) and effects != _pure_outside


def has_refs(effects: Effects) -> bool:
    """Whether references are at work."""
    return any(type(e) is RefEffect or e is own_refs for e in effects)


def moved(effects: Effects, place: Callable[[int], int]) -> Effects:
    """Effects with the numbers of their operands changed."""
    return frozenset(ref_effect(e.name, place(e.index)) if isinstance(e, RefEffect) else e for e in effects)


def written(effects: Iterable[Effect]) -> set[int]:
    """The numbers of the references that are changed."""
    return {e.index for e in effects if isinstance(e, RefEffect) and e.name != READ}
