"""The lessons run from top to bottom, fail where they say so, and judge predictions and tasks as they should.

Each lesson runs once in a kernel of its own. Behind every question its cell is run again with the right prediction and with wrong ones,
behind the task with wrong solutions and with a right one: they stand in the teacher's notes, not in the lesson.
"""

import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jitscope.numpy as jnp
from jitscope_scope.advise import CATALOGUE, look, program
from tests import notebooks
from tests.extent import one_in


sys.path[:0] = [
    str(Path(__file__).parents[2] / folder) for folder in ("examples/lessons", "examples/teaching", "docs/site")
]
predict: Any = import_module("predict")
real_jax: Any = import_module("real_jax")
teaching_pages: Any = import_module("teaching_pages")
assignment: Any = import_module("assignments").assignment
copied: Any = import_module("assignments").HELPERS
names, notes = import_module("notes").names, import_module("notes").notes


LESSONS = sorted((Path(__file__).parents[2] / "examples" / "lessons").glob("*.ipynb"))
NAMES = [path.stem for path in LESSONS]
OPEN = "prediction = ..."
HELPERS = [(LESSONS[0].parent / name).read_text(encoding="utf-8") for name in copied]
AS_USERS = {"12-fusion", "13-measuring", "15-regions"}  # these look at what XLA made

# What a look at the code finds in each lesson, because its text steps on it; others of the notes are found in runs alone.
SEEN = {
    "02-what-is-recorded": "trace-time-print host-call-on-tracer host-nondeterminism",
    "03-jaxprs": "stale-capture",
    "04-grad": "grad-bad-signature",
    "06-one-branch": "branch-on-tracer cond-runs-both logical-op-on-tracer isinstance-on-tracer data-dependent-shape "
    "traced-slice-bound",
    "07-static-arguments-and-the-cache": "flag-arg-traced static-unhashable recompile-fresh-function",
    "08-control-flow": "loop-on-tracer tracer-leak recompile-fresh-function",
    "10-purity": "stale-capture trace-time-mutation tracer-leak item-assignment update-result-dropped donation-misuse",
    "11-randomness": "key-reuse host-nondeterminism key-not-threaded",
}


def test_the_lessons_are_in_order() -> None:
    assert [int(name[:2]) for name in NAMES] == list(range(1, len(NAMES) + 1))
    assert names() == NAMES and set(SEEN) <= set(NAMES)


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_a_lesson_is_stored_without_outputs(path: Path) -> None:
    notebook = notebooks.read(path)
    notebooks.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert code[0].source.startswith("%load_ext jitscope\n")


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_a_lesson_for_jax_has_the_lines_of_the_lesson(path: Path) -> None:
    """So errors, views and edits name the lines that stand in the cell."""
    for cell in notebooks.read(path).cells:
        lines = cell.source.splitlines(keepends=True)
        for number, (line, written) in enumerate(zip(lines, real_jax._as_for_jax(lines))):
            kept = not re.match(r"%%jit|import jitscope|from jitscope", line) and "jx.inspect" not in line
            assert line.strip() == written.strip() or not kept or not line.strip(), (number, line, written)


@pytest.mark.parametrize(
    ("cell", "written"),
    [
        ("%%jit\ndef f(x):\n    y = x\n\n    return y\n\nf(1)", ["", "def f(x):", "    y = x", "", "    return y", "f = jx.jit(f)", "f(1)"]),
        ("%%jit --static f:n\ndef f(\n    x, n\n):\n    return x", ["", "def f(", "    x, n", "):", "    return x", "f = jx.jit(f, static_argnames=['n'])"]),
        ("%%jit\ndef f(x):\n    return x\nf(1)", ["", "def f(x):", "    return x", "f = jx.jit(f)", "f(1)"]),
        ("%%jit\n@rule\ndef f(x):\n    return x\n\ndef g():\n    return 1\n", ["", "@rule", "def f(x):", "    return x", "", "def g():", "    return 1"]),
        ("def f(x):\n    return x\n\nf(1)", ["def f(x):", "    return x", "", "f(1)"]),
    ],
)  # fmt: skip
def test_functions_of_a_cell_are_compiled_below_their_code(cell: str, written: list[str]) -> None:
    lines = "".join(real_jax._as_for_jax(cell.splitlines(keepends=True))).splitlines()
    assert [line.partition("%%jit")[0] for line in lines] == written


@pytest.mark.long
@pytest.mark.parametrize("path", one_in(2, LESSONS))
def test_a_lesson_runs_and_its_questions_check_themselves(path: Path) -> None:
    lesson = notes(path.stem)
    cells = tried(asked(notebooks.read(path).cells, lesson["question"]), lesson["task"])
    executed = run(cells, path.parent, quickly=path.stem not in AS_USERS)
    for before, cell, after in zip([None, *executed], executed, [*executed[1:], None]):
        if cell.cell_type != "code":
            continue
        error = next((out.ename for out in cell.outputs if out.output_type == "error"), None)
        if "raises-exception" in cell.metadata.get("tags", ()):
            said = [text.source for text in (before, after) if text is not None and text.cell_type == "markdown"]
            assert error and any(f"`{error}`" in text for text in said), (
                f"{error} is not what is said about {cell.source}"
            )
        assert not (cell.source.startswith("prediction = ") or "\nprediction = " in cell.source) or not cell.outputs, (
            f"what stands below a question may answer it: {cell.source}"
        )
        verdict = cell.metadata.get("verdict")
        if verdict:
            (result,) = (out for out in cell.outputs if out.output_type == "execute_result")
            said = result.data["text/plain"]
            assert said.startswith(verdict), (said, cell.source)
            assert cell.metadata.get("says", "") in said, (said, cell.metadata["says"])
            folded = "<details>" in result.data["text/html"]
            assert folded == ("check(" in cell.source and verdict != "Right:")  # an answer that was found needs no fold
            shown = [out for out in cell.outputs if out is not result]
            assert verdict == "Right:" or not shown, f"{shown} answers the question"


def asked(cells: list[Any], questions: list[dict[str, Any]]) -> list[Any]:
    """The cells, with each question put again and again: not answered, answered, answered wrongly."""
    found, rest = [], list(questions)
    for cell, following in zip(cells, [*cells[1:], None]):
        if is_check(cell):
            continue
        found.append(cell)
        if cell.cell_type == "code" and OPEN in cell.source:
            assert following is not None and following.metadata["jupyter"]["source_hidden"], "the answer is not hidden"
            question = rest.pop(0)
            found.append(with_verdict(following, "Unanswered:"))
            answers = [(answer, "Not yet:") for answer, _ in question["wrong"]]
            for prediction, verdict in (*answers[:1], (question["right"], "Right:"), *answers[1:]):
                again = notebooks.code(cell.source.replace(OPEN, f"prediction = {prediction}"))
                found += [again, with_verdict(following, verdict)]
    assert not rest, "the lesson has fewer questions"
    return found


def is_check(cell: Any) -> bool:
    return cell.cell_type == "code" and re.search(r"^check\(", cell.source, re.M) is not None


def tried(cells: list[Any], task: dict[str, Any]) -> list[Any]:
    """The cells, with the task tried again and again: left as it is, wrongly, rightly, and then the hidden tests."""
    kinds = [cell.metadata.get("nbgrader", {}) for cell in cells]
    (build,) = (at for at, kind in enumerate(kinds) if kind.get("solution"))
    (test,) = (at for at, kind in enumerate(kinds) if kind.get("grade"))
    grading = cells[build + 1]
    assert grading.source.endswith("\nverdict") and grading.metadata["jupyter"]["source_hidden"]
    found = [*cells[: build + 1], with_verdict(grading, "Not yet:", task["unsolved"]), *cells[build + 2 : test + 1]]
    for wrong in task["wrong"]:
        found += [notebooks.code(cells[build].source), notebooks.code(wrong["code"])]
        found.append(with_verdict(grading, "Not yet:", wrong["says"]))
    found += [notebooks.code(cells[build].source), notebooks.code(task["solution"]), with_verdict(grading, "Right:")]
    hidden = notebooks.code(f"{cells[test].source}\n{task['hidden']}\nassert again, again.said\nagain")
    return [*found, with_verdict(hidden, "Right:"), *cells[test + 1 :]]


def with_verdict(cell: Any, verdict: str, says: str = "") -> Any:
    checking = notebooks.code(cell.source)
    checking.metadata.update(verdict=verdict, says=says)
    return checking


def run(cells: list[Any], folder: Path, quickly: bool) -> list[Any]:
    notebook = notebooks.of_cells(type(cell)({**cell, "id": f"c{i}"}) for i, cell in enumerate(cells))
    notebooks.execute(notebook, folder, timeout=120, quickly=quickly, extra_arguments=["--log-level=ERROR"])
    return notebook.cells


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_a_look_finds_what_a_lesson_steps_on_and_nothing_else(path: Path) -> None:
    cells = [cell.source for cell in notebooks.read(path).cells if cell.cell_type == "code"]
    checked = program.of_cells(cells, path.name)
    found = {one.id for one in look(checked.text, checked.file, checked.cells)}
    sharp = set(notes(path.stem)["sharp"])
    assert set(SEEN.get(path.stem, "").split()) <= found <= sharp <= set(CATALOGUE)


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_a_lesson_leads_to_the_next(path: Path) -> None:
    cells = notebooks.read(path).cells
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", "\n".join(c.source for c in cells if c.cell_type == "markdown"))
    assert all((path.parent / target).is_file() for target in targets)
    following = NAMES.index(path.stem) + 1
    assert following == len(NAMES) or f"{NAMES[following]}.ipynb" in targets


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_an_assignment_hands_out_the_lesson_as_it_stands(path: Path) -> None:
    """What nbgrader takes out of an assignment is what the assignment adds; and it is what nbgrader looks for."""
    made = assignment(path.stem)
    lesson = [cell.source for cell in notebooks.read(path).cells]
    handed = ["".join(cell["source"]) for cell in made["cells"]]
    for what in ("SOLUTION", "HIDDEN TESTS"):
        assert sum(f"### BEGIN {what}" in text for text in handed) == 1
    cut = re.compile(r"\n*### BEGIN (SOLUTION|HIDDEN TESTS)\n.*\n### END \1", re.DOTALL)
    assert [cut.sub("", text) for text in handed] == lesson
    kinds = [cell["metadata"]["nbgrader"] for cell in made["cells"] if "nbgrader" in cell["metadata"]]
    assert [(kind["solution"], kind["grade"], kind["locked"]) for kind in kinds] == [
        (True, False, False),
        (False, True, True),
    ]
    imported = set(re.findall(r"^(?:from|import) (predict|grading|real_jax)", "\n".join([*lesson, *HELPERS]), re.M))
    assert imported <= {Path(helper).stem for helper in copied}
    assert all(kind["schema_version"] == 3 for kind in kinds) and kinds[1]["points"] > 0


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_every_cell_of_a_lesson_is_part_of_the_slides(path: Path) -> None:
    kinds = [cell.metadata["slideshow"]["slide_type"] for cell in notebooks.read(path).cells]
    assert set(kinds) <= {"slide", "subslide", "fragment", "skip", "-"} and kinds[0] == "slide"


def test_a_teacher_s_page_has_each_question_and_the_handout_each_lesson() -> None:
    for name in NAMES:
        assert teaching_pages.page(name).count("* Right: ") == len(notes(name)["question"])
    assert teaching_pages.handout().count("\n## ") == len(NAMES)


RIGHT = [
    (11, "11 11.0 np.int64(11) np.float32(11) jnp.int32(11) '11' '11.0' np.array(11)"),
    (True, "True np.True_ 'True' 'true' 'yes' jnp.array(True)"),
    ((4, 1), "(4, 1) [4, 1] np.array([4, 1]) '4, 1' '(4, 1)' (4.0, np.int64(1)) jnp.array([4, 1])"),
    ("nan", "'nan' 'NaN' float('nan') np.nan jnp.nan np.float32('nan')"),
    (float("nan"), "float('nan') 'NaN' np.nan"),
    ("-inf", "'-inf' '-Inf' -np.inf float('-inf') '-infinity'"),
    ("two", "'two' 'Two' ' two ' '\"two\"'"),
    ({"yes", "no"}, "['no','yes'] ('yes','no') {'no','yes'}"),
    (0.1, "0.1 np.float32(0.1) '0.1'"),
]
WRONG = [
    (11, "12 '12' None True [11] (11, 11) 'eleven' object() np.nan jnp.ones(3)"),
    (True, "False 1 'no' 'False' 0 None"),
    (1, "True"),
    ((4, 1), "(1, 4) 4 '4' [4, 1, 1] {4, 1} np.array([[4, 1]])"),
    ("nan", "'inf' 0.0 None 1"),
    ("two", "2 'one' ('two',)"),
    ({"yes", "no"}, "['yes'] 'yes' ['yes', 'yes']"),
    (0.1, "0.11 0 '1/10'"),
]


@pytest.mark.parametrize(("truth", "answers"), RIGHT, ids=lambda x: x[:12] if isinstance(x, str) else type(x).__name__)
def test_an_answer_is_right_in_every_form_that_people_write(truth: object, answers: str) -> None:
    for answer in answers_of(answers):
        assert predict.check(answer, truth, hint="?", because="so"), answer


@pytest.mark.parametrize(("truth", "answers"), WRONG, ids=lambda x: x[:12] if isinstance(x, str) else type(x).__name__)
def test_a_wrong_answer_is_told_so_and_never_raises(truth: object, answers: str) -> None:
    for answer in answers_of(answers):
        said = predict.check(answer, lambda: truth, hint="Look again.", because="so")
        assert said.verdict == "Not yet" and said.said.startswith("You said "), answer
        assert "Look again." in said.said or "here" in said.said


def answers_of(text: str) -> list[object]:
    """The values of expressions with spaces between them."""
    parts, depth = [""], 0
    for word in text.split(" "):
        parts[-1] += word
        depth = sum(parts[-1].count(c) for c in "([{") - sum(parts[-1].count(c) for c in ")]}")
        open_text = parts[-1].count("'") % 2
        if depth or open_text:
            parts[-1] += " "
        else:
            parts.append("")
    return [eval(part, {"np": np, "jnp": jnp}) for part in parts if part]


def test_a_wrong_list_is_not_told_to_be_a_list() -> None:
    said = predict.check(["yes"], {"yes", "no"}, hint="Look again.", because="Both.")
    assert said.said == "You said ['yes']. Look again." and said.answer == "['no', 'yes']. Both."


def test_an_answer_of_another_kind_is_told_which_kind_is_asked_for() -> None:
    assert "True or False" in predict.check("perhaps", True, hint="?", because="").said
    assert "number" in predict.check([1], 1, hint="?", because="").said
    assert "between quotes" in predict.check(3, "two", hint="?", because="").said


def test_what_a_question_prints_waits_for_the_right_answer(capsys: pytest.CaptureFixture[str]) -> None:
    def loud() -> int:
        print("it is two")
        return 2

    predict.check(..., loud, hint="", because="")
    predict.check(3, loud, hint="", because="")
    assert capsys.readouterr().out == ""
    predict.check(2, loud, hint="", because="")
    assert capsys.readouterr().out == "it is two\n"
