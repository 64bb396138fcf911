"""How often a program uses each primitive."""

from typing import Literal, TypedDict


class Use(TypedDict):
    """A primitive with the paths of its equations."""

    primitive: str
    paths: list[str]


class PrimitivesDocument(TypedDict):
    """The primitives of a program, those that are used most first."""

    kind: Literal["primitives"]
    version: Literal[1]
    title: str
    uses: list[Use]
