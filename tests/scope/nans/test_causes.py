"""The cause of a bad number, told from the operands of its operation."""

from __future__ import annotations

import numpy as np
import pytest

from jitscope.backend.hunt import Finding
from jitscope_scope.advise.nans.causes import why


def found(name: str, *operands: np.ndarray, result: np.ndarray) -> Finding:
    return Finding("e0", name, None, (), (), operands, (result,), tuple(range(len(operands))), {}, ())


def test_operands_of_length_1_go_along_with_the_others() -> None:
    """jax divides f32[2,3] by f32[2,1] in one operation."""
    a, b = np.zeros((2, 3), np.float32), np.array([[1], [0]], np.float32)
    with np.errstate(all="ignore"):
        assert why(found("div", a, b, result=a / b), nan=True) == "0 divided by 0"
        assert why(found("div", a + 2, b, result=(a + 2) / b), nan=False) == "2 divided by 0"


def test_0_to_a_negative_power_overflows_nothing() -> None:
    x = np.array([1, 0], np.float32)
    with np.errstate(all="ignore"):
        assert why(found("integer_pow", x, result=x**-2), nan=False) == "0 to a negative power"


def test_a_matrix_without_an_inverse_is_singular() -> None:
    for matrix, said in (
        (np.ones((2, 2)), "the matrix is singular"),
        (np.eye(2), "the operation custom_linear_solve gives NaN for these operands"),
    ):
        bad = np.full((2, 1), np.nan, np.float32)
        assert (
            why(
                found("custom_linear_solve", matrix.astype(np.float32), np.ones((2, 1), np.float32), result=bad),
                nan=True,
            )
            == said
        )


@pytest.mark.parametrize("shape", [(3,), (2, 2)])
def test_operands_of_other_shapes_are_not_put_together(shape: tuple[int, ...]) -> None:
    x = np.ones((2, 3), np.float32)
    said = why(found("div", x, np.zeros(shape, np.float32), result=np.full((2, 3), np.nan, np.float32)), nan=True)
    assert said == "the operation div gives NaN for these operands"


def test_square_matrices_that_are_multiplied_are_not_told_element_by_element() -> None:
    a, b = np.array([[0, 1], [1, 0]], np.float32), np.array([[1, np.inf], [0, 1]], np.float32)
    with np.errstate(all="ignore"):
        said = why(found("dot_general", a, b, result=a @ b), nan=True)
    assert said == "an infinity is multiplied with 0, or inf and -inf are added up"
