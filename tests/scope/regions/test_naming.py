"""What an edit leaves to the user is found in the code."""

from __future__ import annotations

import ast

import pytest

from jitscope_scope.regions.naming import computed_indices


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("for i in range(9):\n    a[i] = a[i - 1] + 1", []),
        ("for t in range(9):\n    s = P[s, draws[t]]\n    visits[s] += 1", [2, 3]),
        ("for t in range(9):\n    a[a > 0] = 0\n    b[1:-1] = 1\n    c[0] = 1", []),
        ("for k, v in enumerate(x):\n    a[k] = v\nfor i in reversed(range(9)):\n    a[i] = b[i]", []),
        ("while e > 1:\n    k += 1\n    e = d[k]", [3]),
    ],
)
def test_indices_that_values_decide(code: str, lines: list[int]) -> None:
    assert computed_indices(ast.parse(code).body) == lines
