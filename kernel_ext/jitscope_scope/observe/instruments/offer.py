"""What is said of an instrument before anybody asked it."""

from __future__ import annotations

from typing import NamedTuple


class Offer(NamedTuple):
    """The text of the button that has it look; a sentence on what it shows, and one on what that costs; the module that has the function
    `instrument`, where that is another one than the offer's; whether it can look at programs that another library traced."""

    button: str
    shows: str
    costs: str
    place: str = ""
    of_libraries: bool = True
