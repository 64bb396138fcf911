"""Objects that say one thing, and hold nothing."""

from __future__ import annotations

from .. import tree


class Marker:
    """In trees one without leaves. All of a class are equal."""

    def __init_subclass__(cls) -> None:
        tree.register_pytree_node(cls, lambda _: ((), None), lambda *_: cls())

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
