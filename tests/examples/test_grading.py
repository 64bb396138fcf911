"""What a grader says of a wrong solution, in words that a reader understands."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import jitscope.numpy as jnp


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


def test_colours_of_a_terminal_are_no_part_of_a_sentence() -> None:
    class Coloured:
        def __repr__(self) -> str:
            return "{ \x1b[34;1mlambda\x1b[39;22m ; a. }"

    verdict = grading.grade(lambda x: None, grading.holds("", lambda f, rng: grading.called(f, Coloured())))
    assert "with { lambda ; a. } gives None" in verdict.said
