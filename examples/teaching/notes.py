"""What a teacher knows of each lesson: `NN-name.toml` beside this file, read as it stands.

goal, minutes, needs, sharp (the ids of the sharp bits that it steps on)
[[question]]  right, wrong: pairs of an answer that people give and what is behind it; in the order of the lesson
[task]        solution, hidden (tests that readers do not see), unsolved: a part of what is said of the task before it is solved
[[task.wrong]] code of a wrong solution, why people write it, says: a part of what the check answers
"""

import tomllib
from functools import cache
from pathlib import Path


HERE = Path(__file__).parent
LESSONS = HERE.parent / "lessons"


@cache
def notes(name):
    """The notes on a lesson, by its name without the ending."""
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def names():
    """The lessons in their order."""
    return sorted(path.stem for path in LESSONS.glob("*.ipynb"))
