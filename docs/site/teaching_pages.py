"""Pages for who teaches with the lessons: one for each, from examples/teaching and the notebook; and a handout of the sharp bits by
lesson."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any


ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples" / "teaching"))

from jitscope_scope.advise import CATALOGUE  # noqa: E402


teaching: Any = import_module("notes")
LESSONS, names, notes = teaching.LESSONS, teaching.names, teaching.notes


_SEVERITY = {"error": "raises", "warning": "wrong without a word", "info": "slow, or misleading"}
HANDOUT = """# Sharp bits by lesson

What each lesson steps on, on purpose. Each has a page in
[the list of sharp bits](../docs/sharp-bits.md); `jitscope explain ID` shows an example and what to write instead.
"""


def write(folder: Path) -> None:
    """Leave a page for each lesson, the handout and an index in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names():
        (folder / f"{name}.md").write_text(page(name), encoding="utf-8")
    (folder / "handout.md").write_text(handout(), encoding="utf-8")
    (folder / "index.md").write_text(index(), encoding="utf-8")


def index() -> str:
    """The page that lists them, with the minutes."""
    rows = [f"| [{title(name)}]({name}.md) | {notes(name)['minutes']} | {notes(name)['goal']} |" for name in names()]
    total = sum(notes(name)["minutes"] for name in names())
    listed = "\n".join(["handout", *names()])
    return (
        "# For teachers\n\n"
        "Each page has the goal of a lesson, the time it takes, the right answers, those that people give instead and what is behind them, a "
        "solution of the task and wrong ones with what the notebook says to them. **They have the answers.**\n\n"
        "The minutes are for people who answer before they run, with the task. The notebooks are slides, too: `jupyter nbconvert --to slides`. For "
        "nbgrader, `python examples/teaching/assignments.py COURSE` writes the assignments with solutions and hidden tests (tried with nbgrader 0.9.6: what is "
        "handed out is the lesson, the solution gets all points, a wrong one and none at all get 0). "
        "[The handout](handout.md) lists the sharp bits by lesson.\n\n"
        f"| lesson | minutes | goal |\n| --- | --: | --- |\n{chr(10).join(rows)}\n| together | {total} | |\n\n"
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    )


def page(name: str) -> str:
    """What a teacher needs to know of one lesson."""
    told, cells = notes(name), notebook(name)
    lines = [f"# {title(name)}: for teachers", "", f"**Goal.** {told['goal']}", ""]
    lines += [f"**Time.** {told['minutes']} minutes with the task. **Needs.** {told['needs']}", ""]
    lines += [f"[The lesson](../examples/lessons/{name}.ipynb)", "", "## Questions", ""]
    for asked, question in zip(questions(cells), told["question"], strict=True):
        lines += [f"**{asked}**", "", f"* Right: `{question['right']}`"]
        lines += [f"* `{answer}`: {why}" for answer, why in question["wrong"]] + [""]
    task = told["task"]
    lines += ["## The task", "", *task_text(cells), "", "A solution:", "", *_code(task["solution"])]
    for wrong in task["wrong"]:
        lines += [f"Wrong: {wrong['why']}. The notebook says “… {wrong['says']} …”", "", *_code(wrong["code"])]
    lines += ["Tests that only nbgrader runs:", "", *_code(task["hidden"]), "## Sharp bits", ""]
    lines += [_bit(id) for id in bits(name)] or ["It steps on none."]
    return "\n".join(lines) + "\n"


def handout() -> str:
    """The sharp bits by lesson."""
    lines = [HANDOUT]
    for name in names():
        lines += [f"## {title(name)}", "", *([_bit(id) for id in bits(name)] or ["None of the catalogue's."]), ""]
    return "\n".join(lines)


def bits(name: str) -> list[str]:
    """The ids of the sharp bits that a lesson steps on, in the order of the catalogue."""
    return [id for id in CATALOGUE if id in notes(name)["sharp"]]


def _bit(id: str) -> str:
    one = CATALOGUE[id]
    return f"* [`{id}`](../docs/sharp-bits.md#{id}) ({_SEVERITY[one.severity]}): {one.title}"


def notebook(name: str) -> list[dict[str, Any]]:
    """The cells of a lesson."""
    return json.loads((LESSONS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


def title(name: str) -> str:
    """`7. Static arguments and the cache`"""
    return "".join(notebook(name)[0]["source"]).splitlines()[0].removeprefix("# ")


def questions(cells: list[dict[str, Any]]) -> Iterator[str]:
    """What is asked, without the word Predict."""
    for cell in cells:
        if cell["cell_type"] == "markdown":
            for found in re.findall(r"\*\*Predict\.\*\* (.*?)(?=\n\n|\Z)", "".join(cell["source"]), re.DOTALL):
                yield " ".join(found.split())


def task_text(cells: list[dict[str, Any]]) -> list[str]:
    """What is to be built, and the code that the reader begins with."""
    at = next(n for n, cell in enumerate(cells) if cell["metadata"].get("nbgrader", {}).get("solution"))
    said = "".join(cells[at - 1]["source"]).partition("\n\n")[2]
    return [said, "", *_code("".join(cells[at]["source"]))]


def _code(text: str) -> list[str]:
    return ["```python", text.strip(), "```", ""]
