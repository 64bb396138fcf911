"""Effects: what an equation does beside giving its results. Dead code removal keeps equations that have any."""


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
