"""What a grader says of a wrong solution, in words that a reader understands."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jitscope.numpy as jnp
from tests.extent import as_users


sys.path[:0] = [str(Path(__file__).parents[2] / "examples/lessons")]
grading: Any = import_module("grading")


def draw(rng: np.random.Generator) -> tuple[Any, ...]:
    return {"w": rng.normal(size=(5, 3)).astype(np.float32), "b": np.zeros(2, np.float32)}, np.float32(1)


def test_a_call_with_a_tree_is_told_by_its_arrays() -> None:
    def unrolled(params: Any, x: Any) -> Any:
        for _ in range(20):
            x = jnp.sin(x) + params["w"].sum()
        return x

    verdict = grading.grade(unrolled, grading.equations(draw, at_most=5))
    assert not verdict
    said = " ".join(verdict.said.split())
    assert "its jaxpr of a call with {'w': an array 5×3 [" in said and "'b': [0., 0.]}" in said
    assert "for with" not in said and "array([[" not in said


def test_what_a_result_lacks_is_a_complaint_and_raises_nothing() -> None:
    look = grading.holds("it has a mass", lambda function, rng: "" if function().mass else "no mass")
    verdict = grading.grade(lambda: object(), look, name="thrown")
    assert not verdict and "AttributeError: 'object' object has no attribute 'mass'" in verdict.said


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({"w": jnp.ones(2)}, "gives 1 array, and should give 3: ['b'], ['c'][0] missing"),
        ({"w": 1.0, "a": 2.0, "d": 3.0, "e": 4.0}, "3: ['b'], ['c'][0] missing; ['a'], ['d'], ['e'] too many"),
        (jnp.ones(2), "gives 1 array, and should give 3: ['b'], ['c'][0], ['w'] missing."),
        (
            {"w": jnp.ones(3), "b": 0.0, "c": [jnp.ones(4)]},
            "gives the shape (4,) at ['c'][0], and should give (); the shape (3,) at ['w'], and should give (2,).",
        ),
        ({"w": jnp.ones(2), "b": 0.0, "c": (1.0,)}, ""),
    ],
)
def test_all_that_a_result_lacks_is_told(found: Any, said: str) -> None:
    wanted = {"w": np.ones(2), "b": np.zeros(()), "c": [np.ones(())]}
    verdict = grading.grade(lambda: found, grading.same_as(lambda: wanted, lambda rng: (), draws=1))
    assert said in verdict.said and bool(verdict) == (not said)


def test_colours_of_a_terminal_are_no_part_of_a_sentence() -> None:
    class Coloured:
        def __repr__(self) -> str:
            return "{ \x1b[34;1mlambda\x1b[39;22m ; a. }"

    verdict = grading.grade(lambda x: None, grading.holds("", lambda f, rng: grading.called(f, Coloured())))
    assert "with { lambda ; a. } gives None" in verdict.said


DRAWN = """import numpy as np
def walk(steps, seed):
    rng = np.random.default_rng(seed)
    moves, logs = rng.normal(size=steps), np.log(rng.uniform(size=steps))
    x, path = 0.0, []
"""
WALKS = {
    "if": """    for step in range(steps):
        new = x + moves[step]
        if logs[step] < (x * x - new * new) / 2:
            x = new
        path.append(x)
    return np.array(path)
""",
    "np.where, kept in a list": """    for move, log in zip(moves, logs):
        new = x + move
        x = np.where(log < (x * x - new * new) / 2, new, x)
        path.append(x)
    return np.array(path)
""",
    "a scan": """    import jitscope as jx, jitscope.numpy as jnp
    def step(x, given):
        new = x + given[0]
        x = jnp.where(given[1] < (x * x - new * new) / 2, new, x)
        return x, x
    return np.array(jx.lax.scan(step, jnp.float32(0), (jnp.asarray(moves), jnp.asarray(logs)))[1])
""",
}
DRAWING = """    for step in range(steps):
        new = x + rng.normal()
        if np.log(rng.uniform()) < (x * x - new * new) / 2:
            x = new
        path.append(x)
    return np.array(path)
"""
PRINTING = WALKS["if"].replace("        path.append", "        if x > 6:\n            print(x)\n        path.append")


def graded(tmp_path: Path, body: str) -> Any:
    file = tmp_path / "walk.py"
    file.write_text(DRAWN + body)
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(file.read_text(), file, "exec"), names)
    wanted = (grading.draws_first(lambda walk, n: walk(n, 1)), grading.compilable("walk(20_000, 1)", runs=2000))
    return grading.grade(names["walk"], *wanted)


@as_users
@pytest.mark.parametrize("body", WALKS.values(), ids=WALKS)
def test_a_loop_that_can_be_compiled_is_right_in_any_form(tmp_path: Path, body: str) -> None:
    assert (verdict := graded(tmp_path, body)), verdict.said


@as_users
@pytest.mark.parametrize(("body", "said"), [(DRAWING, "Draw before the loop"), (PRINTING, "`print` is called")])
def test_a_loop_that_does_more_is_not(tmp_path: Path, body: str, said: str) -> None:
    verdict = graded(tmp_path, body)
    assert not verdict and said in " ".join(verdict.said.split())


def test_draws_are_counted() -> None:
    def walk(steps: int) -> float:
        rng = np.random.default_rng(0)
        return rng.normal(size=3).sum() + sum(rng.normal() for _ in range(steps))

    draws_first = grading.draws_first(lambda walk, steps: walk(steps))
    assert "draws 201 times for 200 steps and 2,001 times for 2,000" in grading.grade(walk, draws_first).said
    assert grading.grade(lambda steps: np.random.default_rng(0).normal(size=steps), draws_first)
