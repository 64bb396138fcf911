"""What an edit was written from may be another thing when the cell runs again: then the plain statements run."""

from __future__ import annotations

import numpy as np
import pytest

from jitscope_scope.regions.homes import is_users_object
from jitscope_scope.regions.sources import MOST, UNKNOWN, sources
from tests.scope.regions.programs import Program
from tests.scope.regions.test_programs import applied, names_of, same, watched


CHANGED = """
=== a function by the same name
def f(x):
    return 0.5 * x + 1
x = np.arange(5.0)
---
for i in range(9):
    x = f(x)
---
def f(x):
    return 0.25 * x + 1
=== a function that a function calls, before a draw
def half(x):
    return 0.5 * x
class Walk:
    def __init__(self):
        self.x = np.zeros(3)
    def noise(self):
        return half(rng.normal(size=3))
    def step(self):
        self.x = half(self.x) + self.noise()
walk = Walk()
---
for i in range(9):
    walk.step()
---
def half(x):
    return 0.25 * x
=== a default
def f(x, *, a=0.5):
    return a * x + 1
x = np.arange(5.0)
---
y = f(np.sin(x))
z = np.cos(y) * f(y)
w = z @ y + f(z).sum()
---
f.__kwdefaults__ = {"a": 0.25}
=== what a closure keeps
def half(x):
    return 0.5 * x
def quarter(x):
    return 0.25 * x
def made(g):
    def f(x):
        return g(x) + 1
    return f
f = made(half)
x = np.arange(5.0)
---
for i in range(9):
    x = f(x)
---
f = made(quarter)
=== a function in a list
def a(x):
    return 0.5 * x
def b(x):
    return x + 1
steps = [a, b]
x = np.arange(5.0)
---
for i in range(9):
    for step in steps:
        x = step(x)
---
def b(x):
    return x + 2
steps = [a, b]
=== a method of a base, and of the object
class Base:
    def act(self, w):
        return 0.5 * w
class Model(Base):
    def __init__(self):
        self.w = np.ones(3)
    def step(self):
        self.w = self.act(self.w) + 1
model = Model()
---
for i in range(9):
    model.step()
---
Base.act = lambda self, w: 0.25 * w
=== a value of a class
class Settings:
    rate, n = 0.5, 3
x = np.arange(5.0)
---
for i in range(9):
    x = Settings.rate * x + Settings.n
---
Settings.rate = 0.25
=== a constant of a module
import types
constants = types.ModuleType("constants")
constants.g = 9.81
x = np.arange(5.0)
---
for i in range(9):
    x = 0.5 * x + constants.g
---
constants.g = 1.62
=== a function of a module by its name
from math import sqrt
x = 2.0
---
for i in range(9):
    x = 0.5 * sqrt(x + i) + 1
---
from math import log1p as sqrt
=== a builtin
x = 5.0
---
for i in range(9):
    x = 0.5 * abs(x) + 1
---
def abs(v):
    return v + 1
=== a generator's function
def parts(n):
    for i in range(n):
        yield i * 0.5
s = 0.0
---
for p in parts(9):
    s = 0.5 * s + p
---
def parts(n):
    for i in range(n):
        yield i * 0.25
=== a function of a comprehension
def f(a, b):
    return 0.5 * a + b
xs = np.arange(9.0)
---
d = np.array([[f(a, b) for a in xs] for b in xs])
---
def f(a, b):
    return 0.25 * a + b
"""
PROGRAMS = [
    (Program(name, *parts[:2], "", 0), parts[2])
    for name, parts in ((b.partition("\n")[0], b.partition("\n")[2].split("---\n")) for b in CHANGED.split("=== ")[1:])
]


@pytest.mark.parametrize(("program", "later"), PROGRAMS, ids=[p.name for p, _ in PROGRAMS])
def test_edits_ask_for_what_they_were_written_from(
    program: Program, later: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    regions, _ = watched(program, monkeypatch)
    assert [r.verdict for r in regions if r.cell == 2] == ["compile"], [r.reason for r in regions]
    plain, edited = names_of(program, 3), names_of(program, 3)
    for names, cell in ((plain, program.cell), (edited, applied(program.cell, regions, 2))):
        exec(compile(f"{later}\n{cell}", "<cell 5>", "exec"), names)
    for n, v in plain.items():
        if isinstance(v, (np.ndarray, np.generic, float, list)) or is_users_object(v):
            same(v, edited[n], n)


TEXT = """
import math
class C:
    kinds = {"a", "b", "c"}
    w = np.ones(3)
    def f(self, x, table=(1, 2.5)):
        return g(x) if x in {"a", "b", "c"} else math.pi
def g(x):
    return f(x)
f = C().f
"""


def test_sources_are_those_of_the_text_and_not_of_its_place() -> None:
    said = []
    for file, text in (("<a>", TEXT), ("<b>", "\n\n" + TEXT), ("<c>", TEXT.replace("ones", "zeros"))):
        names = {"np": np, "__name__": "__main__"}
        exec(compile(text, file, "exec"), names)
        said.append((sources(names["f"], names["C"]), sources(names["g"])))
    assert said[0] == said[1]
    assert said[0][0] != said[2][0]
    assert said[0][1] != said[2][1]
    assert sources(np.sin) != sources(np.cos)
    assert sources(1.0) != sources(2.0)


def test_functions_are_asked_for_however_many_there_are_and_however_deep_they_lie() -> None:
    def deep(value: object, depth: int) -> object:
        return deep([value], depth - 1) if depth else value

    assert sources([np.sin] * 70) != sources([*[np.sin] * 69, np.cos])
    assert sources(dict.fromkeys(range(70), np.sin)) != sources(dict.fromkeys(range(70), np.cos))
    assert sources(deep(np.sin, 20)) != sources(deep(np.cos, 20))
    assert sources([np.sin, *range(MOST)]) == UNKNOWN
    chain: list[object] = [np.sin]
    for _ in range(5000):
        chain = [chain]
    assert sources(chain) == UNKNOWN
