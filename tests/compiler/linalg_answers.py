"""Our answers to the expressions of linalg_cases beside JAX's recorded ones."""

from __future__ import annotations

import inspect
import json
import operator
from pathlib import Path
from typing import Any

import numpy as np

import jitscope as jx
import jitscope.numpy as jnp
import jitscope.scipy.linalg
from jitscope import lax, tree
from tests.compiler import linalg_cases as cases


RECORDED = json.loads((Path(__file__).parent / "recorded" / "linalg.json").read_text())


def names(dtype: str) -> dict[str, Any]:
    rooms = {"la": jnp.linalg, "sl": jx.scipy.linalg, "ll": lax.linalg, "fft": jnp.fft, "np": jnp, "jx": jx, "lax": lax}
    return rooms | {name: jnp.asarray(x) for name, x in cases.arrays(dtype).items()}


def of(table: str, *rooms: str) -> list[str]:
    """The recorded expressions in which the first function called is of one of the rooms."""
    return [expr for expr in RECORDED[table] if room_of(expr) in rooms]


def room_of(expr: str) -> str:
    places = {room: expr.find(f"{room}.") for room in ("la", "sl", "ll", "fft")}
    return min(((p, room) for room, p in places.items() if p >= 0), default=(0, "fft"))[1]


def number(text: Any) -> Any:
    if isinstance(text, list):
        return complex(number(text[0]), number(text[1]))
    return float(text) if isinstance(text, str) else text


QUICK = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
"""Options of XLA with which large programs compile several times faster."""


def differences(exprs: list[str], eagerly: bool = False) -> list[str]:
    """What differs between our answers and JAX's. All expressions are one compiled program, unless they run
    `eagerly`."""
    rooms, given = names("float64"), cases.arrays("float64")
    shapes: dict[str, Any] = {}

    def program(letters: dict[str, Any]) -> dict[str, list[Any]]:
        found = {expr: tree.leaves(cases.evaluate(expr, rooms | letters)) for expr in exprs}
        shapes.update({expr: [hasattr(x, "aval") or x for x in leaves] for expr, leaves in found.items()})
        return {expr: [x for x in leaves if hasattr(x, "aval")] for expr, leaves in found.items()}

    letters = {name: jnp.asarray(x) for name, x in given.items()}
    arrays = program(letters) if eagerly else jx.jit(program, compiler_options=QUICK)(letters)
    wrong = []
    for expr in exprs:
        rest = iter(arrays[expr])
        leaves = [next(rest) if x is True and not isinstance(w, bool) else x
                  for x, w in zip(shapes[expr], RECORDED["values"][expr])]  # fmt: skip
        if len(shapes[expr]) != len(RECORDED["values"][expr]):
            wrong.append(f"{expr}: {len(shapes[expr])} results, JAX has {len(RECORDED['values'][expr])}")
        wrong += [f"{expr}: {why}" for f, w in zip(leaves, RECORDED["values"][expr]) if (why := _one(f, w, 1e-9))]
    return wrong


def _one(found: Any, wanted: Any, tolerance: float) -> str | None:
    if not isinstance(wanted, dict):
        return None if found == number(wanted) else f"{found}, JAX has {wanted}"
    values = np.array([number(v) for v in wanted["values"]]).reshape(wanted["shape"])
    got = f"{found.dtype.name}{list(found.shape)}"
    want = f"{wanted['dtype']}{wanted['shape']}"
    if got != want or found.aval.weak_type != wanted["weak"]:
        return f"{got}{'*' * found.aval.weak_type}, JAX has {want}{'*' * wanted['weak']}"
    if not values.size:
        return None
    if wanted["dtype"] in ("float32", "complex64"):
        tolerance = 1e-5
    finite = values[np.isfinite(values)]
    scale = max(1.0, float(np.max(np.abs(finite), initial=0)))
    try:
        np.testing.assert_allclose(np.asarray(found), values, rtol=tolerance, atol=tolerance * scale)
    except AssertionError:
        return f"{np.asarray(found)}, JAX has {values}"
    return None


def raised(expr: str, known: dict[str, Any]) -> str | None:
    """The error that an expression raises, by name, and those it is derived from."""
    try:
        cases.evaluate(expr, known)
    except Exception as error:
        return " ".join(kind.__name__ for kind in type(error).__mro__)
    return None


def descriptions(kind: str, *rooms: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Dtypes and shapes of the expressions of x in a dtype, ours and JAX's."""
    wanted = {expr: w for expr, w in RECORDED["dtypes"][kind].items() if room_of(expr) in rooms}
    known = names("float32")

    texts: dict[str, Any] = {}

    def program(x: Any) -> None:
        for expr in wanted:
            try:
                leaves = tree.leaves(cases.evaluate(expr, known | {"x": x}))
            except Exception as error:
                texts[expr] = type(error).__name__
            else:
                texts[expr] = [f"{v.dtype.name}{'*' * v.aval.weak_type}{list(v.shape)}" for v in leaves]

    jx.eval_shape(program, jnp.asarray(np.array([[2, 1], [1, 3]]), kind))
    return texts, wanted


def signature(name: str) -> list[list[str]]:
    module, _, function = name.rpartition(".")
    parameters = inspect.signature(getattr(operator.attrgetter(module)(jx), function)).parameters.values()
    return [[p.name, p.kind.name, "" if p.default is p.empty else repr(p.default)] for p in parameters]
