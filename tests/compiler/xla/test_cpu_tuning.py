"""What is tuned to XLA's compiler for the CPU changes times, not results, and stays away from other platforms and jaxlibs."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from benchmarks import cpu_tuning as benchmark
from jitscope import random
from jitscope.xla import cpu_tuning
from jitscope.xla.cpu_tuning import Tuning
from tests.compiler.jaxlibs import guarded


ENTRIES = {name: entry for name, entry in vars(cpu_tuning).items() if isinstance(entry, Tuning)}
SAFETY = ("LIBRARY_FOR_PRODUCTS_ALONE", "LONG_CHAINS", "NOT_FUSED", "NAN_OF_MAX")
OPTIONS = ("SMALL_LOOPS", "CONVOLUTIONS_WITHOUT_LIBRARY", "SUMS_WITHOUT_LIBRARY", "VECTORS_OF_512", "SHORT_LOOPS_KEPT")
"""Those that are options of XLA's, and change no program."""
SPEEDS = [name for name in ENTRIES if name not in SAFETY]
HOLDING = [name for name in SPEEDS if ENTRIES[name].holds()]


def test_each_entry_is_measured() -> None:
    assert sorted(SPEEDS) == sorted([*benchmark.PROGRAMS, *benchmark.EAGER])
    for entry in ENTRIES.values():
        assert entry.why and entry.remove and re.search(r"\d", entry.measured)


@pytest.mark.parametrize("name", [name for name in benchmark.PROGRAMS if name in HOLDING])
def test_results_are_the_same_without(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, args = benchmark.PROGRAMS[name]
    with_it = jx.jit(lambda *xs: function(*xs)).lower(*args)
    results, text = with_it.compile()(*args), with_it.as_text()
    monkeypatch.setattr(ENTRIES[name], "off", True)
    jx.clear_caches()
    plain = jx.jit(lambda *xs: function(*xs)).lower(*args)
    for one, other in zip(jx.tree.leaves(plain.compile()(*args)), jx.tree.leaves(results), strict=True):
        # Errors of sums do not shrink with these.
        size = np.sqrt(np.mean(np.square(other))) if other.dtype == np.float32 else 0
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=max(1e-4, 1e-5 * size))
    assert name in OPTIONS or text != plain.as_text()
    jx.clear_caches()


@pytest.mark.parametrize("name", HOLDING)
def test_other_jaxlibs_and_platforms_get_plain_programs(name: str) -> None:
    entry = ENTRIES[name]
    assert entry.holds("cpu") and not entry.holds("cuda") and not entry.holds("")
    assert entry.concerns(cpu_tuning.JAXLIB) and not entry.concerns("0.99")


@guarded
def test_wrong_results_are_kept_away_with_every_jaxlib() -> None:
    for entry in (cpu_tuning.LIBRARY_FOR_PRODUCTS_ALONE, cpu_tuning.NAN_OF_MAX):
        assert entry.holds() and entry.concerns("0.99")


def test_a_program_for_another_platform_sorts_floats_as_they_are() -> None:
    sort = jx.jit(lambda x: jnp.sort(x))
    x = np.zeros(1000, np.float32)
    assert "bitcast_convert" in str(jx.export.export(sort)(x).mlir_module())
    assert "bitcast_convert" not in str(jx.export.export(sort, platforms=["cuda"])(x).mlir_module())
    draw = jx.jit(lambda key: random.bits(key, (5000,)))
    assert "stablehlo.case" not in str(jx.export.export(draw, platforms=["cuda"])(random.key(0)).mlir_module())


def test_flags_for_the_cpu_stand_in_one_file() -> None:
    root = Path(cpu_tuning.__file__).parents[1]
    naming = {
        str(p.relative_to(root)) for p in root.rglob("*.py") if re.search(r"xla_cpu_(?!emitter__)", p.read_text())
    }
    assert naming == {"xla/cpu_tuning.py"}
