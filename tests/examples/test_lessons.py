"""The lessons run from top to bottom, fail where they say so, and judge predictions as they should.

Each lesson runs once in a kernel of its own. Behind every question its cell is run twice more, with the right prediction and with a
wrong one: both stand here, not in the lesson.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from jitscope_scope.advise import look, program
from tests import notebooks


LESSONS = sorted((Path(__file__).parents[2] / "examples" / "lessons").glob("*.ipynb"))
NAMES = [path.stem for path in LESSONS]
OPEN = "prediction = ..."
AS_USERS = {"12-fusion", "13-measuring"}  # these look at what XLA made

# For each question of a lesson, in order: the right prediction, and one that a reader may well make.
QUESTIONS = {
    "01-a-tracer-in-40-lines": [("11", "12"), ("8", "8_000_000")],
    "02-what-is-recorded": [("1", "5"), ("1", "9"), ("True", "False")],
    "03-jaxprs": [("'another number'", "'an error'"), ("3.0", "-3.0"), ("5", "4")],
    "04-grad": [("6.0", "3.0"), ("0.0", "0.5")],
    "05-vmap": [("False", "True"), ("(5, 7)", "(7, 5)"), ("True", "False")],
    "06-one-branch": [("['no', 'yes']", "['yes']"), ("'matrix'", "'error'"), ("1.0", "10.0"), ("14.0", "0.0")],
    "07-static-arguments-and-the-cache": [("2", "3"), ("10", "1"), ("(4, 1)", "(1, 1)"), ("5", "1")],
    "08-control-flow": [("'more'", "'fewer'"), ("1", "50"), ("'known length'", "'both'")],
    "09-pytrees-and-classes": [("4", "5"), ("2", "3"), ("20.0", "30.0")],
    "10-purity": [("2.0", "5.0"), ("1", "5"), ("0.0", "9.0"), ("2.0", "1.0")],
    "11-randomness": [("True", "False"), ("1", "5"), ("1", "100"), ("True", "False")],
    "12-fusion": [("1", "10"), ("1", "2"), ("1", "2")],
    "13-measuring": [("'finished'", "'returned'"), ("False", "True"), ("'compiling'", "'running'")],
    "14-nans": [("'-inf'", "'nan'"), ("'nan'", "'1.0'"), ("'two'", "'one'"), ("0", "'nan'")],
}

# What a look at the code finds in each lesson, because its text steps on it; and behind | what it may find as well.
STEPPED_ON = {
    "01-a-tracer-in-40-lines": "|",
    "02-what-is-recorded": "trace-time-print host-call-on-tracer host-nondeterminism | trace-time-mutation",
    "03-jaxprs": "stale-capture | captured-constant x64-truncation int-overflow",
    "04-grad": "grad-bad-signature | grad-zero",
    "05-vmap": "| cond-runs-both",
    "06-one-branch": "branch-on-tracer cond-runs-both logical-op-on-tracer isinstance-on-tracer data-dependent-shape "
    "traced-slice-bound | trace-time-mutation oob-index",
    "07-static-arguments-and-the-cache": "flag-arg-traced static-unhashable recompile-fresh-function | recompile-shape "
    "recompile-weak-type recompile-static-value recompile-static-object recompile-pytree",
    "08-control-flow": "loop-on-tracer tracer-leak recompile-fresh-function | trace-time-mutation unrolled-loop "
    "loop-carry-mismatch cond-branch-mismatch grad-of-while",
    "09-pytrees-and-classes": "| not-a-jax-type pytree-init-validates pytree-array-in-aux static-mutable-stale loop-carry-mismatch "
    "host-call-on-tracer",
    "10-purity": "stale-capture trace-time-mutation tracer-leak item-assignment update-result-dropped donation-misuse |",
    "11-randomness": "key-reuse host-nondeterminism key-not-threaded |",
    "12-fusion": "|",
    "13-measuring": "| misleading-timing trace-time-print host-nondeterminism recompile-shape",
    "14-nans": "| silent-nan where-grad-nan grad-singular-point int-overflow",
}


def test_the_lessons_are_in_order() -> None:
    assert [int(name[:2]) for name in NAMES] == list(range(1, len(NAMES) + 1))
    assert set(QUESTIONS) == set(STEPPED_ON) == set(NAMES)


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_a_lesson_is_stored_without_outputs(path: Path) -> None:
    notebook = notebooks.read(path)
    notebooks.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert code[0].source.startswith("%load_ext jitscope\n")


@pytest.mark.long
@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_a_lesson_runs_and_its_questions_check_themselves(path: Path) -> None:
    cells = asked(notebooks.read(path).cells, QUESTIONS[path.stem])
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
        verdict = cell.metadata.get("verdict")
        if verdict:
            (result,) = (out for out in cell.outputs if out.output_type == "execute_result")
            assert result.data["text/plain"].startswith(verdict), cell.source
            folded = "<details>" in result.data["text/html"]
            assert folded == (verdict != "Right:")  # an answer that was found needs no fold


def asked(cells: list[Any], questions: list[tuple[str, str]]) -> list[Any]:
    """The cells, with each question put three times: not answered, answered, answered wrongly."""
    found, rest = [], list(questions)
    for cell, following in zip(cells, [*cells[1:], None]):
        if cell.cell_type == "code" and cell.source.startswith("check("):
            continue
        found.append(cell)
        if cell.cell_type == "code" and OPEN in cell.source:
            assert following is not None and following.metadata["jupyter"]["source_hidden"], "the answer is not hidden"
            right, wrong = rest.pop(0)
            found.append(with_verdict(following, "Unanswered:"))
            for prediction, verdict in ((right, "Right:"), (wrong, "Not yet:")):
                again = notebooks.code(cell.source.replace(OPEN, f"prediction = {prediction}"))
                found += [again, with_verdict(following, verdict)]
    assert not rest, "the lesson has fewer questions"
    return found


def with_verdict(cell: Any, verdict: str) -> Any:
    checking = notebooks.code(cell.source)
    checking.metadata["verdict"] = verdict
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
    surely, _, perhaps = STEPPED_ON[path.stem].partition("|")
    assert set(surely.split()) <= found <= set(surely.split() + perhaps.split())


@pytest.mark.parametrize("path", LESSONS, ids=NAMES)
def test_a_lesson_leads_to_the_next(path: Path) -> None:
    cells = notebooks.read(path).cells
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", "\n".join(c.source for c in cells if c.cell_type == "markdown"))
    assert all((path.parent / target).is_file() for target in targets)
    following = NAMES.index(path.stem) + 1
    assert following == len(NAMES) or f"{NAMES[following]}.ipynb" in targets
