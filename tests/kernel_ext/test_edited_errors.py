"""Cells that stop a trace, the edits that are offered for them, and what NumPy gives for the text as it was written: an edit with a check mark
gives that, and one that does not says why it may not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest


X = "np.linspace(-1.5, 2.5, 5).astype(np.float32)"
CASES = {
    'if': ('def f(x):\n    if x.sum() > 0:\n        return x * 2\n    return x - 1', 'x'),
    'ternary': ('def f(x):\n    return x * 2 if x[0] > 0 else x - 1', 'x'),
    'while': ('def f(x):\n    while x.sum() < 100:\n        x = x * 2\n    return x', 'x'),
    'while count': ('def f(x):\n    n = 0\n    while x.sum() < 100:\n        x = x * 2\n        n += 1\n    return x, n', 'x'),
    'int neg': ('def f(x):\n    return x * int(-x.sum())', 'x'),
    'float': ('def f(x):\n    return x * float(x.sum())', 'x'),
    'math': ('def f(x):\n    return x * math.sin(x.sum())', 'x'),
    'math floor': ('def f(x):\n    return x + math.floor(x.sum())', 'x-0.13'),
    'np': ('def f(x):\n    return np.sin(x) * 2', 'x'),
    'np sort': ('def f(x):\n    return np.sort(-x)', 'x'),
    'np linalg': ('def f(x):\n    return x / np.linalg.norm(x)', 'x'),
    'np clip': ('def f(x):\n    return np.clip(x, 0, 1)', 'x'),
    'np where': ('def f(x):\n    return np.where(x > 0, x, 0)', 'x'),
    'store': ('def f(x):\n    x[0] = 7.0\n    return x * 2', 'x'),
    'store add': ('def f(x):\n    x[1:3] += 7.0\n    return x * 2', 'x'),
    'store mul': ('def f(x):\n    x[-1] *= 2\n    return x', 'x'),
    'store loop': ('def f(x):\n    y = jnp.zeros_like(x)\n    for i in range(5):\n        y[i] = x[i] * i\n    return y', 'x'),
    'mask': ('def f(x):\n    return x[x > 0].sum()', 'x'),
    'mask mean': ('def f(x):\n    return x[x > 0].mean()', 'x'),
    'mask max': ('def f(x):\n    return x[x > 0].max()', 'x'),
    'range': ('def f(x, n):\n    s = 0.0\n    for i in range(n):\n        s = s + x[i] * i\n    return s', 'x, 3'),
    'zeros n': ('def f(x, n):\n    return jnp.zeros(n) + x[0]', 'x, 3'),
    'arange': ('def f(x, n):\n    return (jnp.arange(n) * x[0]).sum()', 'x, 3'),
    'slice': ('def f(x, n):\n    return x[:n].sum()', 'x, 3'),
    'slice 2': ('def f(x, i):\n    return x[i:i + 2]', 'x, 1'),
    'slice neg': ('def f(x, n):\n    return x[-n:].sum()', 'x, 3'),
    'flag': ('def f(x, train):\n    if train:\n        return x * 2\n    return x', 'x, True'),
    'axis': ('def f(x, axis):\n    return jnp.sum(x, axis=axis)', 'x, 0'),
    'item': ('def f(x):\n    return x * x.sum().item()', 'x'),
    'tolist': ('def f(x):\n    return sum(x.tolist())', 'x'),
    'max builtin': ('def f(x):\n    return max(x.sum(), 1.0) * x', 'x'),
    'in': ('def f(x):\n    return x * 2 if 1.5 in x else x', 'x'),
    'abs while': ('def f(x):\n    y = x.sum()\n    while abs(y * y - 2) > 1e-3:\n        y = 0.5 * (y + 2 / y)\n    return y', 'x'),
    'for zip': ('def f(x):\n    s = 0.0\n    for v in x:\n        if v > 0:\n            s = s + v\n    return s', 'x'),
    'bool': ('def f(x):\n    return x * 2 if bool((x > 0).all()) else x', 'x'),
    'match': ('def f(x, k):\n    return [x, x * 2, x * 3][k]', 'x, 1'),
    'int store': ('def f(x):\n    n = x.astype(jnp.int32)\n    n[0] += 1\n    return n', 'x'),
    'early': ('def f(x):\n    if x[0] < 0:\n        return -x\n    y = x * 2\n    if y.sum() > 3:\n        y = y + 1\n    return y', 'x'),
    'nested if': ('def f(x):\n    y = x\n    if x.sum() > 0:\n        if x[0] > 0:\n            y = x * 2\n        else:\n            y = x * 3\n    return y', 'x'),
    'neg stop': ('def f(x, n):\n    return x[:-n].sum()', 'x, 2'),
    'slice start neg val': ('def f(x, n):\n    return x[n:].sum()', 'x, -2'),
    'slice stop neg val': ('def f(x, n):\n    return x[:n].sum()', 'x, -2'),
    'slice mean': ('def f(x, n):\n    return x[:n].mean()', 'x, 3'),
    'slice assign': ('def f(x, n):\n    y = x[:n]\n    return y.mean()', 'x, 3'),
    'slice window end': ('def f(x, i):\n    return x[i:i + 2]', 'x, 4'),
    'slice all': ('def f(x, n):\n    return (x[:n] < 0).all()', 'x, 1'),
    'unique dup': ('def f(x):\n    return jnp.unique(jnp.round(x)).sum()', 'np.array([1.,1,2])'),
    'unique mean': ('def f(x):\n    return jnp.unique(x).mean()', 'np.array([1.,1,2])'),
    'nonzero mean': ('def f(x):\n    return jnp.nonzero(x > 0)[0].mean()', 'x'),
    'nonzero last': ('def f(x):\n    return jnp.nonzero(x > 0)[0][-1]', 'x'),
    'flatnonzero': ('def f(x):\n    return jnp.flatnonzero(x > 0).min()', 'x'),
    'mask var mean': ('def f(x):\n    y = x[x > 0]\n    return y.mean()', 'x'),
    'mask var max': ('def f(x):\n    y = x[x < 0]\n    return y.max()', 'x'),
    'mask return': ('def f(x):\n    return x[x > 0]', 'x'),
    'mask exp': ('def f(x):\n    return jnp.sum(jnp.exp(x[x > 0]))', 'x'),
    'mask size': ('def f(x):\n    return x[x > 0].size', 'x'),
    'store in arg alias': ('def f(x):\n    y = x\n    y[0] = 5.0\n    return x.sum()', 'x'),
    'range last': ('def f(x, n):\n    s = 0.0\n    for i in range(n):\n        s += x[i]\n    return s + i', 'x, 4'),
    'if div': ('def f(x):\n    if x[0] != 0:\n        return 1 / x[0]\n    return 0.0', 'np.zeros(3,np.float32)'),
    'or val': ('def f(x):\n    return x.sum() or 5.0', 'np.zeros(3,np.float32)'),
    'while div': ('def f(x):\n    n = x.sum()\n    k = 0\n    while n > 1:\n        n = n // 2\n        k += 1\n    return k', 'np.arange(5)+3'),
    'best': ('def f(x):\n    best = x[0]\n    for v in x:\n        if v > best:\n            best = v\n    return best', '-x'),
    'list comp': ('def f(x):\n    return jnp.array([v * 2 if v > 0 else v for v in x])', 'x'),
    'math isnan': ('def f(x):\n    return x * 2 if math.isnan(x.sum()) else x', 'x'),
    'math isclose': ('def f(x):\n    return 1.0 if math.isclose(x[0], -1.5) else 0.0', 'x'),
    'store swap': ('def f(x):\n    x[0], x[1] = x[1], x[0]\n    return x', 'x'),
}  # fmt: skip
"""By what it is: the function, its arguments."""
DIFFERS = {
    "slice start neg val", "slice stop neg val", "slice assign", "slice window end", "slice all", "unique dup", "unique mean", "nonzero mean",
    "nonzero last", "flatnonzero", "mask var mean", "mask var max", "mask return", "mask exp", "mask size", "store in arg alias",
}  # fmt: skip
"""Those whose edit gives something else: it says so, and has no check mark (a static argument has one)."""
UNSURE = {"slice", "slice 2", "slice neg", "slice mean", "neg stop"}
"""Those whose edit gives it for these arguments, and not for all."""
NONE = {"early", "nested if", "math isnan", "math isclose", "store swap"}
"""Those for which no edit is offered that gives it."""


def leaves(x: Any) -> list[np.ndarray]:
    return [leaf for part in x for leaf in leaves(part)] if isinstance(x, tuple | list) else [np.asarray(x)]


def meant(function: str, arguments: str) -> list[np.ndarray]:
    """What the text gives in NumPy."""
    names: dict[str, Any] = {"np": np, "jnp": np, "math": math, "x": eval(X)}
    exec(function, names)
    return leaves(eval(f"f({arguments})", names))


def is_same(found: Any, wanted: list[np.ndarray]) -> bool:
    got = leaves(found)
    return len(got) == len(wanted) and all(
        a.shape == b.shape and np.allclose(a, b, 1e-5, 1e-6) for a, b in zip(got, wanted)
    )


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for edit in sorted(edits, key=lambda one: (-one["line"], -one["column"])):
        begin, end = starts[edit["line"] - 1] + edit["column"], starts[edit["end_line"] - 1] + edit["end_column"]
        text = text[:begin] + edit["text"] + text[end:]
    return text


@pytest.mark.parametrize("name", CASES)
def test_an_edit_with_a_check_mark_gives_what_was_meant(shell, name: str) -> None:
    function, arguments = CASES[name]
    wanted = meant(function, arguments)
    assert not shell.cell("import math\njax = jx").error
    shell.names["x"] = eval(X)
    cell = f"@jax.jit\n{function}\nout = f({arguments})"
    ran = shell.cell(cell)
    assert ran.error, "it stops a trace"
    assert "jitscope could not look at the error" not in ran.traceback, ran.traceback
    fixes = [fix for document in ran.documents for fix in document.get("fixes", ()) if fix["edits"]]
    checked = [fix for fix in fixes if fix["checked"]]
    of_values = [fix for fix in checked if " static: " not in fix["text"]]
    told = fixes, ran.texts, ran.traceback
    assert not of_values if name in DIFFERS | UNSURE | NONE else checked, told
    for fix in checked:
        shell.names.pop("out", None)
        again = shell.cell(applied(cell, fix["edits"]))
        assert not again.error, (fix, again.error)
        assert is_same(shell.names["out"], wanted), (fix, shell.names["out"], wanted)
    unsure = [fix for fix in fixes if fix not in checked] if name in DIFFERS | UNSURE else []
    assert unsure or name not in DIFFERS | UNSURE, told
    for fix in unsure:
        assert "may give other values: " in fix["text"]
        assert not shell.cell(applied(cell, fix["edits"])).error
        assert is_same(shell.names["out"], wanted) is (name in UNSURE), fix


STATIC = {
    "train": ("def f(x, train):\n    return x if train else -x", "x, False"),
    "n,m": ("def f(x, n, by, m):\n    return x[:n].sum() * by + jnp.zeros(m)", "x, 2, 5, 4"),
    "n,m,flag": (
        "def f(x, n, m, flag):\n    if flag:\n        x = x[: n * m].reshape(n, m)\n    return x",
        "x, 1, 3, True",
    ),
}


@pytest.mark.parametrize("names", STATIC)
@pytest.mark.parametrize("head", ["%%jit", "@jax.jit"])
def test_all_that_must_be_static_is_one_edit(shell, names: str, head: str) -> None:
    """Of the magic's line or of the decorator; the edited cell gives what Python gives."""
    function, arguments = STATIC[names]
    shell.names["x"] = eval(X)
    shell.cell("jax = jx")
    cell = f"{head}\n{function}\nout = f({arguments})"
    ran = shell.cell(cell)
    stopped = [one.get("error", {}).get("stopped", one) for one in ran.documents]
    (fix,) = [fix for one in stopped for fix in one.get("fixes", ()) if " static: " in fix["text"]]
    again = applied(cell, fix["edits"])
    quoted = tuple(names.split(",")) if "," in names else names
    wanted = (
        f"%%jit --static f:{names}" if head == "%%jit" else f"@jax.jit(static_argnames={quoted!r})".replace("'", '"')
    )
    assert fix["checked"] and again.split("\n")[0] == wanted
    assert not shell.cell(again).error
    assert is_same(shell.names["out"], meant(function, arguments))
