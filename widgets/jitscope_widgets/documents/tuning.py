"""Which other ways of compiling a program were tried, what each gave, and which was taken."""

from typing import Literal, TypedDict

from .parts import Quantity
from .regions import RegionSame


class TunedForm(TypedDict):
    """One way that was tried: its time as a part of the plain form's, with the ends of the 99 % interval (None: not raced, or in too few pairs
    for an interval)."""

    name: str
    outcome: Literal[
        "taken", "faster", "no difference", "slower", "other results", "more memory", "failed", "not tried"
    ]
    why: str
    """More on it; may be empty."""
    ratio: float | None
    low: float | None
    high: float | None
    pairs: int
    same: RegionSame | None
    """How far its results were from the plain form's; None where it did not run."""
    share: float | None
    """The largest difference as a share of the number or of the root mean square of its array, whichever is larger."""
    compile: Quantity
    memory: Quantity
    """What a run needs, as XLA plans it."""


class TuningDocument(TypedDict):
    """What came of tuning a program."""

    kind: Literal["tuning"]
    version: Literal[1]
    title: str
    """The function."""
    library: str
    """Whose program it is, "" for jitscope's own."""
    taken: str | None
    """The form that was taken; None: nothing helped."""
    plain: Quantity
    """The time of a run as it was."""
    tried: list[TunedForm]
    bound: str
    """Up to which difference a form was taken for the same, in words."""
    stopped: str
    """Why not everything was tried; may be empty."""
    on: str
    """What it ran on."""
    kept: str
    """Why later sessions do not take it by themselves; empty where they do."""
    written: str
    """The code that the user writes to have it; empty where none is needed."""
    method: str
    compilations: int
    limit: Quantity
    cost: Quantity
