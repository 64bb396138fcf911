"""How long the steps of a compilation took, and a steady run."""

from typing import Literal, NotRequired, TypedDict

from .parts import Cost, Quantity


StageName = Literal["trace", "lower", "compile", "load", "convert arguments", "first run"]


class Stage(TypedDict):
    """A step on the way from the function to its first result."""

    name: StageName
    seconds: Quantity


class SteadyRun(TypedDict):
    """The time of a run when everything is compiled and warm."""

    median: Quantity
    low: Quantity
    high: Quantity
    runs: int
    source: Literal["button", "cell", "profile"]


class TimingDocument(TypedDict):
    """The times of one compilation."""

    kind: Literal["timing"]
    version: Literal[1]
    title: str
    stages: list[Stage]
    total: Quantity
    steady: SteadyRun | None
    call: NotRequired[str]
    """What the user's call takes, where something wraps the jitted function, or it is not jitted itself."""
    cost: NotRequired[Cost]
    """What a run takes, where a view of a compilation tells it together."""
    devices: NotRequired[int]
    """The cost is that of each of so many devices; absent where there is one."""
    can_measure: bool
    """A live kernel can time steady runs when asked."""
