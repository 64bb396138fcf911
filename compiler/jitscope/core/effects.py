"""Effects: what an equation does beside giving its results. Dead code removal keeps equations that have any."""


class Effect:
    """Base of effects. `ordered`: such equations run in program order."""

    ordered = False


Effects = frozenset[Effect]
no_effects: Effects = frozenset()
