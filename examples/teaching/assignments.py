"""The lessons as assignments for nbgrader: `python examples/teaching/assignments.py COURSE`.

It leaves COURSE/source/NAME/NAME.ipynb, with the solution and the hidden tests where `nbgrader generate_assignment` takes them out, and a
COURSE/nbgrader_config.py. What that hands out is the lesson as it stands in examples/lessons.
"""

import json
import shutil
import sys
from pathlib import Path

from notes import LESSONS, names, notes


HERE = Path(__file__).parent
HELPERS = ("predict.py", "grading.py", "real_jax.py")
CONFIG = """c = get_config()
c.ClearSolutions.code_stub = {"python": "# Change what stands above, or write it anew here."}
c.ClearSolutions.enforce_metadata = False
"""


def main(course):
    """Write all assignments; gives the folders."""
    (course / "source").mkdir(parents=True, exist_ok=True)
    (course / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    return [write(name, course / "source" / name) for name in names()]


def write(name, folder):
    """Write one assignment, with what its notebook imports."""
    folder.mkdir(parents=True, exist_ok=True)
    for helper in HELPERS:
        shutil.copy(LESSONS / helper, folder / helper)
    text = json.dumps(assignment(name), indent=1, ensure_ascii=False) + "\n"
    (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    return folder


def assignment(name):
    """The notebook of a lesson with the solution and the hidden tests."""
    notebook = json.loads((LESSONS / f"{name}.ipynb").read_text(encoding="utf-8"))
    task = notes(name)["task"]
    for cell in notebook["cells"]:
        kind = cell["metadata"].get("nbgrader", {})
        if kind.get("solution"):
            _add(cell, "SOLUTION", task["solution"])
        elif kind.get("grade"):
            _add(cell, "HIDDEN TESTS", f"{task['hidden'].strip()}\nassert again, again.said")
            cell["metadata"]["tags"] = ["hide-input"]  # a grader counts the cell that raises
    return notebook


def _add(cell, what, code):
    text = f"{''.join(cell['source']).rstrip()}\n\n### BEGIN {what}\n{code.strip()}\n### END {what}"
    cell["source"] = text.splitlines(keepends=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for made in main(Path(sys.argv[1])):
        print(made)
