"""Questions about symbolic dimensions, made at random; real JAX's answers are recorded (record_jax_symbolic.py)."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable
from typing import Any


CONSTRAINTS = [
    (),
    ("a >= b",),
    ("a >= 4", "b <= 8"),
    ("mod(a, 4) == 0",),
    ("a == 2*b",),
    ("a >= b", "b >= c"),
    ("a + b >= 10",),
    ("floordiv(a, 2) >= b",),
    ("max(a, b) >= 5", "c == 3"),
    ("mod(a, 2) == 0", "a >= 8", "b == a"),
    ("a*b >= 12",),
]
QUESTIONS = ("value", "==", ">=", "<", "-", "max", "min", "//", "%")
SPECS: list[tuple[Any, Any]] = [
    ("a, b", None), ("(a,)", None), ("", None), ("2*a + b - 1, a^2", None), ("a, ...", (3, 4, 5)), ("_, b", (3, 4)),
    ("-1*a + 7", None), ("floordiv(a, 2), mod(b, 3), max(a, 2), min(b, 1)", None), ("a, 4", (2, 4)), (None, (2, 3)),
    ("a, 4", (2, 5)), ("a b", None), ("a,, b", None), ("a, ...", None), ("_", None), ("a + ", None), ("a / 2", None),
    ("2a", None), ("(a, b", None), ("a)", None), ("mod(a)", None), ("a, b, ...", (1,)), (3, None), ("a^b", None),
    ("a b, c", (1, 2)), ("...", (2, None)), ("floordiv(a, 2", None), ("1.5", None), ("a*-2", None), ("- 2*a + b", None),
]  # fmt: skip


def expressions(seed: int, count: int) -> list[tuple[Any, Any, Any]]:
    """Constraints and two expressions: names, numbers, and (operation, left, right)."""
    rng = random.Random(seed)

    def made(depth: int) -> Any:
        if depth == 0 or rng.random() < 0.25:
            return rng.choice("abc") if rng.random() < 0.75 else rng.randint(-3, 8)
        return rng.choice(("+", "-", "*", "+", "-", "*", "//", "%", "max", "min")), made(depth - 1), made(depth - 1)

    return [(CONSTRAINTS[i % len(CONSTRAINTS)], made(rng.randint(1, 3)), made(rng.randint(0, 2))) for i in range(count)]


def answers(
    case: tuple[Any, Any, Any], symbolic_shape: Any, max_dim: Any, min_dim: Any, inconclusive: Any
) -> list[str]:
    """What is answered to QUESTIONS: a text, or the name of the error."""
    constraints, left, right = case
    apply: dict[str, Callable[[Any, Any], Any]] = {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
        "max": max_dim, "min": min_dim, "==": operator.eq, ">=": operator.ge, "<": operator.lt,
        "value": lambda x, y: x,
    }  # fmt: skip
    values = dict(zip("abc", symbolic_shape("a, b, c", constraints=constraints)))

    def of(x: Any) -> Any:
        if isinstance(x, int):
            return x
        return values[x] if isinstance(x, str) else apply[x[0]](of(x[1]), of(x[2]))

    def answer(question: str) -> str:
        try:
            return str(apply[question](of(left), of(right)))
        except inconclusive:
            return "inconclusive"
        except Exception as error:
            return type(error).__name__

    return [answer(question) for question in QUESTIONS]


def shape_of(spec: Any, like: Any, symbolic_shape: Any) -> str:
    """The shape that a text stands for, or the name of the error."""
    try:
        return str(symbolic_shape(spec, like=like))
    except Exception as error:
        return type(error).__name__
