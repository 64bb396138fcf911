"""Edits of objects that are taken apart, and of views: what another run changes in an object, another class or place, is seen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jitscope_scope.regions import compiled, finding, pricing, proving
from jitscope_scope.regions.cells import Cell
from tests.scope.regions.programs import Program, parsed
from tests.scope.regions.test_programs import applied, names_of, same, watched


CALLED, OTHER_CLASS, WHOLE, VIEW, VOTES, COUNTED, OVER_ROWS, BY_VALUE, FEW = parsed("""
=== an object that is called, handed on to a function
class Field:
    def __init__(self, s): self.s = s
    def __call__(self, v): return self.s * v - 0.1 * v ** 2
def step(f, v, h): return v + h * f(v)
f = Field(0.5); path = np.zeros((20, 3)); path[0] = rng.random(3)
---
for i in range(19):
    path[i + 1] = step(f, path[i], 0.1)
=== a method that another class has as well
class Slow:
    def __init__(self): self.x, self.v = 0.0, 1.0
    def step(self): self.x = self.x + 0.1 * self.v
class Fast(Slow):
    def step(self): self.x = self.x + self.v
body = Slow(); seen = np.zeros(10)
---
for k in range(10):
    body.step()
    seen[k] = body.x
=== an object that is kept as a whole
class Ball:
    def __init__(self): self.x = 0.0
kept = []; ball = Ball(); s = 0.0
---
for k in range(10):
    ball.x = ball.x + 0.5
    kept.append(ball)
    s = s + ball.x
=== a view that may be of another place
u = rng.random((6, 7)); seen = u[2]; s = 0.0
---
for k in range(5):
    seen[:] = 0.5 * seen + 1
    s = s + u.sum()
=== votes, of which there may be more
y = rng.integers(0, 3, 20); seen = np.zeros((4, 4)); s = 0.0
---
for k in range(4):
    s = s + np.bincount(y[5 * k:5 * k + 5]).argmax()
    seen[k] = np.bincount(y, minlength=4)
=== a loop whose number of turns is a name's
n = 5; x = rng.random(4); s = np.zeros(4)
---
for i in range(n):
    seen = np.sin(x) * i
    s = s + seen
=== a loop over rows and numbers
rows = rng.random((5, 4)); s = 0.0; w = rng.random(5)
---
for r, v in zip(rows, w):
    seen = np.sin(r[0]) * v
    s = s + seen
=== a loop by value
e = 10.0; x = rng.random(4); s = 0.0
---
while e > 1:
    seen = np.sin(x) * e
    e = e * 0.5
=== a loop of few turns
x = rng.random(37); n = 37
---
while n > 1:
    seen = n // 2
    x[:seen] = x[:seen] + x[seen:2 * seen]
    n = seen
""")


def _run_again(program: Program, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    regions, _ = watched(program, monkeypatch)
    assert [r.verdict for r in regions if r.cell == 2] == ["compile"]
    edited = applied(program.cell, regions, 2)
    plain, other = names_of(program, 0), names_of(program, 0)
    for text in ("pass", change):
        for names, cell in ((plain, program.cell), (other, edited)):
            exec(change if text == change else text, names)
            exec(compile(cell, "<cell>", "exec"), names)
        for n in ("path", "seen", "s"):
            if n in plain:
                same(plain[n], other[n], n)


def test_the_state_of_an_object_that_is_called_is_read_anew(monkeypatch) -> None:
    _run_again(CALLED, "f.s = 0.9", monkeypatch)


def test_methods_of_another_class_are_called(monkeypatch) -> None:
    _run_again(OTHER_CLASS, "body = Fast()", monkeypatch)


def test_attributes_that_are_there_afterwards_are_the_same(monkeypatch) -> None:
    program = replace(OTHER_CLASS, before=OTHER_CLASS.before.replace("0.0, 1.0", "np.zeros(2), np.ones(2)"))
    program = replace(program, before=program.before.replace("np.zeros(10)", "np.zeros((10, 2))"))
    _run_again(program, "body.v = np.full(2, 3.0)", monkeypatch)


def test_an_object_that_is_used_as_a_whole_is_left_whole(monkeypatch) -> None:
    regions, _ = watched(WHOLE, monkeypatch)
    assert [r.verdict for r in regions if r.cell == 2] == ["cannot"]


def test_a_view_of_another_place_is_that_of_the_run(monkeypatch) -> None:
    _run_again(VIEW, "seen = u[:, 3]", monkeypatch)


def test_counts_that_would_be_longer_are_those_of_the_run(monkeypatch) -> None:
    _run_again(VOTES, "y = y + 1; y[:5] = 3", monkeypatch)
    with pytest.raises(ValueError, match="could not broadcast"):
        _run_again(VOTES, "y = y + 2", monkeypatch)


@pytest.mark.parametrize(
    ("program", "change"),
    [(COUNTED, "n = 0"), (OVER_ROWS, "w = w[:0]"), (BY_VALUE, "e = e * 0.5"), (FEW, "x = x + 1")],
    ids=lambda p: getattr(p, "name", ""),
)
def test_a_loop_without_a_turn_binds_nothing(program: Program, change: str, monkeypatch) -> None:
    _run_again(program, change, monkeypatch)


GIVEN, ALIAS, KEPT, OF_NUMPY, IN_OBJECT, OF_A_LIST, NONE = parsed("""
=== a function that is given
x = rng.random(4)
def up(x):
    return x + 0.1 * np.cos(x)
def down(x):
    return x - 0.1 * np.sin(x)
def run(f, x):
    for k in range(30):
        x = f(x)
    return x
f = up
---
seen = run(f, x)
=== another name of a function
x = rng.random(4)
def up(x):
    return x + 0.1 * np.cos(x)
def down(x):
    return x - 0.1 * np.sin(x)
f = up
---
s = x
for k in range(30):
    s = f(s)
=== functions in a dict
x = rng.random(4)
def up(x):
    return x + 0.1 * np.cos(x)
def down(x):
    return x - 0.1 * np.sin(x)
steps = {"a": up, "rate": 0.5}
---
s = x
for k in range(30):
    s = steps["a"](s) * steps["rate"]
=== a function of NumPy's that is given
x = rng.random(4); f, down = np.cos, np.sin
def run(f, x):
    for k in range(30):
        x = 0.5 * f(x)
    return x
---
seen = run(f, x)
=== a function that is given beside an object
class World:
    def __init__(self):
        self.x = 1.0
    def step(self, rate):
        self.x += 0.1 * rate
def up(t):
    return 0.5 * t
def down(t):
    return -0.2 * t + 1.0
def run(policy):
    world = World()
    for k in range(30):
        world.step(policy(k))
    return world.x
f = up
---
seen = run(f)
=== a list that is given
def run(x):
    s = 0.0
    for k in range(30):
        s = s + x[k % 3] * k
    return s
f, down = [1.0, 2.0, 3.0], np.array([1, 5, 3], np.float32)
---
seen = run(f)
=== nothing given, or weights
def run(x, w=None):
    s = 0.0
    for k in range(30):
        if w is None:
            s = s + x.sum() * k
        else:
            s = s + (w * x).sum()
    return s
x = rng.random(4); f, down = None, np.arange(4.0)
---
seen = run(x, f)
""")


@pytest.mark.parametrize(
    ("program", "change"),
    [
        (GIVEN, "f = down"),
        (GIVEN, "f = lambda x: 0.3 * x"),
        (ALIAS, "f = down"),
        (KEPT, "steps['a'] = down"),
        (OF_NUMPY, "f = down"),
        (IN_OBJECT, "f = down"),
        (OF_A_LIST, "f = down"),
        (NONE, "f = down"),
    ],
)
def test_what_is_given_may_be_another_thing_each_time(program: Program, change: str, monkeypatch) -> None:
    """The edit is made in the run that is watched, of what was given then."""
    regions, _ = watched(program, monkeypatch)
    assert "compile" in [r.verdict for r in regions]
    plain, other = names_of(program, 0), names_of(replace(program, before=applied(program.before, regions, 1)), 0)
    for text in ("pass", change, "f = globals().get('up', f) if 'f' in globals() else None"):
        for names, cell in ((plain, program.cell), (other, applied(program.cell, regions, 2))):
            exec(text, names)
            exec(compile(cell, "<cell>", "exec"), names)
        for n in ("seen", "s"):
            if n in plain:
                same(plain[n], other[n], n)


_KEEPING = """
def make():
    count, kept = 0, {"sum": 0.0}
    def step(x):
        nonlocal count
        count += 1
        kept["sum"] += x
        return kept["sum"] + count
    return step
step = make()
def noted(x, notes=[]):
    notes.append(x)
    return 0.5 * x
steps = {"first": step}
y = 0.0
"""


@pytest.mark.parametrize("call", ["step(i)", "noted(i)", "steps['first'](i)"])
def test_a_look_leaves_alone_what_functions_keep(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program("keeping", _KEEPING, f"for i in range(20):\n    y = 0.5 * y + {call}\n", "", 0)
    plain, looked = names_of(program, 0), names_of(program, 0)
    exec(compile(program.cell, "<plain>", "exec"), plain)
    monkeypatch.setattr(pricing, "LEAST_COMPILE", 0.0)
    watch = finding.Watch(looked)
    watch.run(Cell(1, program.before, 1, 1))
    watch.run(Cell(2, program.cell, 1, 1000))
    watch.let_go()
    watch.regions()
    for f in ("step", "noted"):
        kept = [[*(c.cell_contents for c in n[f].__closure__ or ()), n[f].__defaults__] for n in (plain, looked)]
        assert repr(kept[0]) == repr(kept[1])
    assert plain["y"] == looked["y"]


_READ_BY_A_FUNCTION = """
import jitscope, jitscope.numpy as jnp
class Net:
    def __init__(self): self.w, self.m = [(jnp.ones(3), jnp.ones(1))], None
    def __call__(self, ws): return sum(jnp.sin(w + b).sum() for w, b in ws)
net = Net()
def loss(ws): return net(ws) ** 2
"""
_IN_TURNS = """for i in range(40):
    s, g = jitscope.value_and_grad(loss)(net.w)
    if net.m is None:
        net.m = [(jnp.zeros_like(w), jnp.zeros_like(b)) for w, b in g]
    net.m = [(0.9 * m + w, 0.9 * n + b) for (m, n), (w, b) in zip(net.m, g)]
    net.w = [(w - 0.01 * m, b - 0.01 * n) for (w, b), (m, n) in zip(net.w, net.m)]
"""


def test_what_is_timed_is_the_compiled_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a function, too, that reads from the session what the region changes."""
    calls: list[object] = []
    call = compiled.Compiled.__call__
    monkeypatch.setattr(compiled.Compiled, "__call__", lambda *args: calls.append(None) or call(*args))
    timed: list[int] = []
    of_one = proving.of_one
    monkeypatch.setattr(proving, "of_one", lambda runs: timed.append(len(calls) - len(runs)) or of_one(runs))
    regions, _ = watched(Program("read by a function", _READ_BY_A_FUNCTION, _IN_TURNS, "", 0), monkeypatch)
    assert [r.verdict for r in regions if r.cell == 2] == ["compile"]
    assert timed == [1]  # one call before those that were timed
