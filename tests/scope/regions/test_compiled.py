"""What a region whose statements stay as they are is traced with: traced anew when something that it reads is another, and only then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import jitscope
import jitscope.numpy as jnp
from jitscope_scope.regions.compiled import Compiled, kinds
from jitscope_scope.regions.descriptions import description


CELL = """
import jitscope.numpy as jnp
scale, table = 2.0, jnp.arange(3.0)
def weight(x, power=2):
    return x ** power * scale
class Model:
    kind = 3
    def __init__(self):
        self.w, self.rate, self.layers = jnp.ones(3), 0.5, [jnp.ones(3), 1.0]
    def slope(self, w):
        return self.rate * weight(w) + table + self.kind
def run(model, compiled, twice=False):
    kept = model.w
    try:
        def region(w):
            model.w = w
            for _ in range(2 if twice else 1):
                model.w = model.w - model.slope(model.w)
            return model.w
        given = (model.w,)
        result = compiled(region, given, ((model, "w"),))
    finally:
        model.w = kept
    model.w = result
    return result
"""


def made() -> dict[str, Any]:
    """The names of the cell, run anew."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(CELL, "<cell 3>", "exec"), names)
    return names


def plain(names: dict[str, Any], twice: bool = False) -> np.ndarray:
    w, model = np.ones(3), names["Model"]()
    for _ in range(2 if twice else 1):
        w = w - (model.rate * w**2 * names["scale"] + np.asarray(names["table"]) + model.kind)
    return w


def test_kinds_are_those_of_elements_too() -> None:
    said = kinds(2.0, [1.0, 2.0], (1, 2), (), np.ones((2, 3), np.float32))
    assert said == "float, list of float, tuple of int, tuple, ndarray float32 2"


def test_a_cell_that_runs_again_traces_nothing() -> None:
    compiled = Compiled("jitscope")
    for _ in range(4):
        names = made()  # functions, classes and objects are new ones each time
        np.testing.assert_allclose(names["run"](names["Model"](), compiled), plain(names))
    assert compiled.traces == 1


def test_other_kinds_are_traced_with_the_objects_of_the_run() -> None:
    """What objects hold in the places that are handed in is no part of what is compared, and may be of other kinds than before."""
    compiled, names = Compiled("jitscope"), made()
    names["run"](names["Model"](), compiled)
    model = names["Model"]()
    model.w = jnp.ones((2, 3))
    assert names["run"](model, compiled).shape == (2, 3)
    assert compiled.traces == 2
    np.testing.assert_allclose(names["run"](names["Model"](), compiled), plain(names))
    assert compiled.traces == 2


CHANGES = {
    "a global": lambda n, m: n.update(scale=3.0),
    "a global array": lambda n, m: n.update(table=jnp.arange(3.0) * 2),
    "a default": lambda n, m: setattr(n["weight"], "__defaults__", (3,)),
    "a function": lambda n, m: exec("def weight(x): return x + scale", n),
    "an attribute": lambda n, m: setattr(m, "rate", 0.25),
    "a class's value": lambda n, m: setattr(n["Model"], "kind", 5),
    "a method": lambda n, m: setattr(n["Model"], "slope", lambda self, w: w * self.rate),
    "a nested array": lambda n, m: m.layers.__setitem__(0, jnp.zeros(3)),
    "what is handed in, in shape": lambda n, m: setattr(m, "w", jnp.ones((2, 3))),
    "what is handed in, in dtype": lambda n, m: setattr(m, "w", jnp.ones(3, "int32")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
def test_a_change_is_traced(change) -> None:
    compiled, names = Compiled("jitscope"), made()
    names["run"](names["Model"](), compiled)
    model = names["Model"]()
    change(names, model)
    w = np.asarray(model.w)
    expected = w - np.asarray(model.slope(model.w))
    np.testing.assert_allclose(names["run"](model, compiled), expected)
    assert compiled.traces == 2


def test_what_is_closed_over_is_traced_with() -> None:
    compiled, names = Compiled("jitscope"), made()
    for twice in (False, True, False, True):
        np.testing.assert_allclose(names["run"](names["Model"](), compiled, twice), plain(names, twice))
    assert compiled.traces == 2


def test_a_setting_is_traced_with() -> None:
    compiled, f = Compiled("jitscope"), lambda x: x + 1
    compiled(f, (np.ones(3),), ())
    with jitscope.enable_x64(True):
        assert compiled(f, (np.ones(3),), ()).dtype == np.float64
    assert compiled.traces == 2


def test_effects_of_tracing_are_not_lost() -> None:
    """Tracing that changes what it reads is done each time, as the cell would."""
    compiled, seen = Compiled("jitscope"), []
    for _ in range(3):

        def f(x):
            seen.append(len(seen))
            return x * 2

        compiled(f, (jnp.ones(2),), ())
    assert seen == [0, 1, 2]
    assert compiled.traces == 3


def test_what_nobody_can_compare_is_traced_each_time() -> None:
    compiled, rng = Compiled("jitscope"), np.random.default_rng(0)
    for _ in range(3):
        f = lambda x: x * (2 if rng is not None else 1)
        assert description(f, ()) is None
        compiled(f, (jnp.ones(2),), ())
    assert compiled.traces == 3


def test_what_made_an_object_is_not_read() -> None:
    """A class whose objects are made with random numbers, in a region that makes none."""
    names: dict[str, Any] = {"__name__": "__main__", "rng": np.random.default_rng(0)}
    text = "class Layer:\n    def __init__(self): self.w = rng.normal()\n    def double(self, x): return 2 * x\n"
    exec(
        compile(
            text + "layer = Layer()\ndef f(x): return layer.double(x)\ndef g(x): return Layer().w * x",
            "<cell 1>",
            "exec",
        ),
        names,
    )
    places = ((names["layer"], "w"),)
    assert description(names["f"], places) == description(names["f"], places) is not None
    assert description(names["g"], ()) is None


def test_no_more_forms_are_kept_than_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jitscope_scope.regions.compiled.MOST", 3)
    compiled = Compiled("jitscope")
    for k in range(6):
        f = lambda x, k=k: x + k
        assert compiled(f, (jnp.zeros(()),), ()) == k
    assert len(compiled._forms) == 3


def test_a_region_inside_of_a_compiled_function_is_part_of_it() -> None:
    compiled = Compiled("jitscope")
    outer = jitscope.jit(lambda x: compiled(lambda v: v * 3, (x,), ()))
    np.testing.assert_array_equal(outer(jnp.arange(3.0)), [0, 3, 6])
