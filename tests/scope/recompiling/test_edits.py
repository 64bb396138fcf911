"""Edits that spare recompilations: each one that is offered is made, and the edited program runs with equal results and the promised count."""

from __future__ import annotations

import gc
import importlib
import itertools
import linecache
import re
import sys
import threading
import types
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jitscope as jx
from jitscope.core.dtypes import short_name
from jitscope_scope.advise.recompiling import checking, edited
from jitscope_scope.observe.differences import strong_number
from jitscope_scope.observe.ledger import Ledger
from jitscope_scope.observe.recompiling.cards import FileEdit, recompilations_document
from jitscope_scope.observe.recompiling.groups import groups
from jitscope_scope.observe.recorded_calls import Recorder, recorder
from jitscope_scope.source_code.edits import Edit, Span, applied
from tests.scope.edited_programs import PROGRAMS
from tests.scope.recompiling_programs import HEADER


_numbers = itertools.count(1)


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Calls are recorded, as in a notebook; no edit is refused since compiling took long here."""
    monkeypatch.setattr(checking, "MOST_SECONDS", 600.0)
    stop = recorder.begin()
    yield
    stop()
    sys.modules.pop("edited", None)


def run(text: str) -> tuple[list[Any], Ledger]:
    """A program as a module of its own: what it put into `out`, and what was compiled."""
    file, ledger = f"<edited {next(_numbers)}>", Ledger()
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = sys.modules["edited"] = types.ModuleType("edited")
    try:
        exec(compile(text, file, "exec"), vars(module))
    finally:
        ledger.close()
    return [jx.tree_util.tree_leaves(one) for one in module.out], ledger


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_edit_that_is_offered_keeps_the_results_and_its_count(program: str) -> None:
    offered, text = PROGRAMS[program]
    text = HEADER + "out = []\n" + text.replace("UNIQUE", f"{3 + next(_numbers) / 2048}")
    before, ledger = run(text)
    (group,) = groups(ledger)
    found = edited(group)
    assert isinstance(found, FileEdit) is offered, found
    (card,) = recompilations_document(ledger, "", edited)["cards"]
    assert bool(card["fix"]["checked"]) is bool(card["fix"]["edits"]) is offered
    if not isinstance(found, FileEdit):
        return
    changed = applied(text, [Edit(Span(*edit[:4]), edit[4]) for edit in found.edits])
    after, ledger = run(changed)
    made = [row for row in ledger if row.what in ("compiled", "recompiled", "reused") and not row.nested]
    assert len(made) == found.programs < len(group.history)
    assert len(before) == len(after)
    for one, other in zip(before, after):
        for a, b in zip(one, other, strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=0 if found.exact else 1e-5)


def test_an_edit_is_looked_for_again_once_the_code_has_run() -> None:
    """A card that is kept up to date while its cell runs: nothing may stand in its way later."""
    text = (
        HEADER
        + "out = []\nf = jax.jit(lambda x, n: x * n + 5, static_argnums=1)\nfor n in (2, 3):\n    out.append(f(jnp.ones(3), n))\nmeanwhile()\n"
    )
    found: list[Any] = []

    def meanwhile() -> None:
        thread = threading.Thread(target=lambda: found.append(edited(groups(ledger)[0])))
        thread.start()
        thread.join()

    file, ledger = f"<edited {next(_numbers)}>", Ledger()
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module = sys.modules["edited"] = types.ModuleType("edited")
    module.meanwhile = meanwhile  # pyright: ignore[reportAttributeAccessIssue]
    exec(compile(text, file, "exec"), vars(module))
    assert found[0].why == "An edit is looked for once the cell has run."
    assert isinstance(edited(groups(ledger)[0]), FileEdit)
    ledger.close()


OF_ANOTHER_PROGRAM = """f = jax.jit(lambda x: x * 2 + UNIQUE)
out.append(f(jnp.arange(3, dtype=jnp.int8) * 0))
out.append(f(1.0))
out.append(f(np.float32(2.0)))
"""


@pytest.mark.parametrize("again", [False, True])
def test_a_call_that_may_have_another_program_is_not_converted(again: bool) -> None:
    """A call that leaves no record may have found the program of integers: converted, it would give floats."""
    text = HEADER + "out = []\n" + OF_ANOTHER_PROGRAM.replace("UNIQUE", "3")
    before, ledger = run(text + "out.append(f(jnp.arange(3, dtype=jnp.int8)))\n" * again)
    (group,) = (one for one in groups(ledger) if one.cause == "weak type")
    found = edited(group)
    if again:
        assert not isinstance(found, FileEdit) and "which program they found is not recorded" in found.why
        return
    assert isinstance(found, FileEdit)
    after, _ = run(applied(text, [Edit(Span(*edit[:4]), edit[4]) for edit in found.edits]))
    assert [[x.dtype for x in one] for one in after] == [[x.dtype for x in one] for one in before]
    assert np.asarray(after[0][0]).dtype == np.int8


def test_a_transformation_made_anew_is_told_of_and_not_its_function() -> None:
    program = PROGRAMS["a transformation in a loop, and once before it"][1]
    _, ledger = run(HEADER + "out = []\n" + program.replace("UNIQUE", "1.46875"))
    (card,) = recompilations_document(ledger, "")["cards"]
    assert card["because"] == "it is made anew, and each object is traced by itself"
    assert card["fix"]["text"].startswith("Make the compiled grad of f once, before the calls")


@pytest.mark.parametrize("dtype", ["bool", "i8", "i32", "u32", "f16", "bf16", "f32", "c64"])
def test_a_strong_number_is_one_of_the_dtype(dtype: str) -> None:
    array, number = strong_number(dtype).split(" for ")
    made = eval(array, {"jnp": jx.numpy})
    assert short_name(np.dtype(made.dtype)) == dtype and made == eval(number)
    assert strong_number("f8_e4m3fn") == "jnp.asarray(1, dtype) for 1"


def test_what_is_recorded_is_small_and_keeps_no_array_alive() -> None:
    f = jx.jit(lambda x: x.sum())
    small, large = jx.numpy.ones(1000), jx.numpy.ones(1_000_000)
    held = [weakref.ref(small), weakref.ref(large)]
    ledger = Ledger()
    for x in (small, large):
        f(x)
    ledger.close()
    first, second = list(ledger)
    assert recorder.of(first.id) is not None and recorder.of(second.id) is None
    del small, large, x
    gc.collect()
    assert [ref() for ref in held] == [None, None]


@pytest.mark.parametrize("asked", [True, False])
def test_calls_are_recorded_only_while_somebody_asked(asked: bool) -> None:
    other = Recorder()
    stop = other.begin()
    if not asked:
        stop()
    f, ledger = jx.jit(lambda x: x * 1.03125), Ledger()
    f(jx.numpy.ones(3))
    ledger.close()
    (row,) = ledger
    assert (other.of(row.id) is not None) is asked
    stop()


def test_another_value_later_in_a_container_does_not_change_what_was_recorded() -> None:
    f, state, ledger = jx.jit(lambda s: s["a"] * 2), {"a": np.ones(3, np.float32)}, Ledger()
    f(state)
    ledger.close()
    state["a"][:] = 5
    state["b"] = np.ones(1, np.float32)
    (row,) = ledger
    call = recorder.of(row.id)
    assert call is not None
    (args, kwargs) = call.arguments()
    assert list(args[0]) == ["a"] and args[0]["a"].tolist() == [1, 1, 1] and kwargs == {}


@pytest.mark.parametrize(
    ("methods", "how"),
    [
        ("def to_numpy(self): return 1", "pass col.to_numpy()"),
        ("def to_numpy(self): return ['u', 1]", "its elements are not all numbers (col.to_numpy() has dtype <U21)"),
        ("def __array__(self, dtype=None, copy=None): raise RuntimeError('elsewhere')", "pass np.asarray(col)"),
        ("def detach(self): pass\n    def numpy(self): pass", "pass col.detach().cpu().numpy()"),
    ],
)
def test_an_object_of_an_installed_library_is_told_by_how_it_gives_an_array(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, methods: str, how: str
) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "tables.py").write_text(f"class Series:\n    {methods}\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "tables", raising=False)
    tables = importlib.import_module("tables")
    with pytest.raises(TypeError, match=re.escape(f"argument col of mean_of is a tables.Series, and no array: {how}")):
        jx.jit(mean_of)(tables.Series())
    monkeypatch.delitem(sys.modules, "tables")


def test_any_object_that_gives_an_array_is_told_to_be_passed_as_one() -> None:
    class Table:
        def to_numpy(self) -> np.ndarray:
            return np.ones(3)

    with pytest.raises(TypeError, match=r"pass x\.to_numpy\(\) for it, if its elements are numbers"):
        jx.jit(mean_of)(Table())


def mean_of(col: Any) -> Any:
    return jx.numpy.mean(col)


def test_a_number_inside_of_a_captured_object_is_named() -> None:
    text = HEADER + "out = []\n" + PROGRAMS["a captured optimizer"][1].replace("UNIQUE", f"{3 + next(_numbers) / 2048}")
    (card,) = recompilations_document(run(text)[1], "", edited)["cards"]
    assert "`tx = sgd(lr)` holds another number: learning_rate is 0.1, then 0.2." in card["fix"]["text"]
    assert "become" not in card["fix"]["text"]


def test_a_weakly_typed_number_is_to_be_an_array_of_its_own_dtype() -> None:
    text = "import jitscope as jax, jitscope.numpy as jnp\nout = []\n@jax.jit\ndef f(n): return n * 7.0625\nf(5)\nf(jnp.int32(3))\n"
    (card,) = recompilations_document(run(text)[1], "")["cards"]
    assert "(jnp.int32(1) for 1 and for jnp.array(1))" in card["fix"]["text"]
