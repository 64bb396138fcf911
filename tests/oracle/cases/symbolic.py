"""Symbolic dimensions: questions made at random, texts, and functions exported with them."""

from __future__ import annotations

import base64
import functools
import importlib
import operator
import random
import zlib
from collections.abc import Callable
from typing import Any

from tests.oracle.library import Library
from tests.oracle.programs import outcome
from tests.oracle.results import Plain


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


def answers(o: Library, case: tuple[Any, Any, Any]) -> dict[str, str]:
    """What is answered to QUESTIONS: a text, or the name of the error."""
    constraints, left, right = case
    max_dim, min_dim = functools.partial(_extreme, o, "max"), functools.partial(_extreme, o, "min")
    apply: dict[str, Callable[[Any, Any], Any]] = {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
        "max": max_dim, "min": min_dim, "==": operator.eq, ">=": operator.ge, "<": operator.lt,
        "value": lambda x, y: x,
    }  # fmt: skip
    values = dict(zip("abc", o.export.symbolic_shape("a, b, c", constraints=constraints)))

    def of(x: Any) -> Any:
        if isinstance(x, int):
            return x
        return values[x] if isinstance(x, str) else apply[x[0]](of(x[1]), of(x[2]))

    def answer(question: str) -> str:
        try:
            return str(apply[question](of(left), of(right)))
        except Exception as error:
            return type(error).__name__

    return {question: answer(question) for question in QUESTIONS}


def _extreme(o: Library, which: str, x: Any, y: Any) -> Any:
    rooms = "jax._src.core" if o.root == "jax" else "jitscope.symbolic.dimension"
    return getattr(importlib.import_module(rooms), f"{which}_dim")(x, y)


def _model(o: Library) -> Callable[..., Any]:
    def model(params, x, *, n):
        y = o.jnp.tanh(x @ params["w"] + params["b"][0])
        return {"y": y - y.mean(0), "n": [n + x.shape[0], None], "order": o.jnp.argsort(y[:, 0])}

    return o.jx.jit(model)


def _exported(o: Library) -> Any:
    b, n = o.export.symbolic_shape("b, n", constraints=["b >= 2"])
    struct = o.jx.ShapeDtypeStruct
    params = {"w": struct((n, 4), "float32"), "b": (struct((4,), "float32"),)}
    return o.export.export(_model(o))(params, struct((b, n), "float32"), n=struct((), "int32"))


def _for_platforms(o: Library) -> Any:
    struct = o.jx.ShapeDtypeStruct
    export = o.export.export(o.jx.jit(lambda x, unused: o.jnp.sin(x) * 2), platforms=("tpu", "cpu"))
    return export(struct((3,), "float32"), struct((2,), "int32"))


def _packed(exported: Any, vjp_order: int) -> Plain:
    return Plain(base64.b64encode(zlib.compress(exported.serialize(vjp_order=vjp_order), 9)).decode())


def unpacked(text: str) -> bytes:
    """The bytes of an exported function, of which a case has the text."""
    return zlib.decompress(base64.b64decode(text))


QUESTIONED = dict(enumerate(expressions(7, 330)))
CASES = {
    **{f"{i}: {case}": lambda o, case=case: Plain(answers(o, case)) for i, case in QUESTIONED.items()},
    **{f"shape {spec!r} like {like}": lambda o, spec=spec, like=like: Plain(outcome(lambda: o.export.symbolic_shape(spec, like=like)))
       for spec, like in SPECS},
    "exported": lambda o: _packed(_exported(o), 2),
    "exported for platforms": lambda o: _packed(_for_platforms(o), 1),
}  # fmt: skip
DIFFERENT = {
    name: "the bytes are JAX's own: that they are read is tested in test_symbolic_export"
    for name in CASES
    if name.startswith("exported")
}

KEPT = dict.fromkeys(DIFFERENT, "test_symbolic_export reads them; JAX needs flatbuffers to write them")


OURS = {f"shape {spec!r} like None": "ValueError" for spec in ("(a, b", "floordiv(a, 2")}
"""JAX lets Python's own error through."""


def section(name: str) -> str:
    return "questions" if name[0].isdigit() else "texts"
