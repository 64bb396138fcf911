"""What a program was tuned to: taken where it was kept, passed over where it is damaged or of no use, forgotten where that is asked."""

import json

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope.backend import tuning_records
from jitscope.backend.compile import compilation_input, compile_jaxpr, forget_program
from jitscope.backend.disk import in_use, report, tuning_records as on_disk
from jitscope.xla.choice import PLAIN, RECOMPUTED, Choice, choosing
from jitscope.xla.cpu_tuning import SHORT_AXES, SWITCHES
from jitscope.xla.program import Executable, compile_options
from tests.compiler.disk_folders import cache_in


FUSION = Choice(flags=(("xla_disable_hlo_passes", "fusion"),))
KEPT = tuning_records.TuningRecord(FUSION, "without fusion", 0.5, 0.4, 0.6)


def program(x):
    return jnp.sin(x) * jnp.cos(x) + 1


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A program, where the cache on disk is a folder of its own."""
    with cache_in(tmp_path, monkeypatch):
        yield compilation_input(jx.make_jaxpr(program)(jnp.ones(50)))
    tuning_records._here.clear()


def compiled(made):
    forget_program(made)
    return compile_jaxpr(made.closed)


def test_a_kept_choice_is_compiled_with_and_forgotten(made, tmp_path) -> None:
    assert compiled(made).entry.tuned == ""
    assert tuning_records.keep(made.where, made.place_on_disk(), KEPT) == ""
    first = compiled(made)
    assert "without fusion: 0.50 of the time when it was tuned, 0.40 to 0.60" in first.entry.tuned
    assert first.entry.overrides["xla_disable_hlo_passes"] == "fusion"
    np.testing.assert_allclose(np.asarray(first.run([jnp.ones(50).buf])[0]), np.sin(1) * np.cos(1) + 1, rtol=1e-6)
    assert report.folder().tuned == 1
    tuning_records._here.clear()  # as in a later session
    assert compiled(made).entry.tuned == first.entry.tuned
    assert tuning_records.forget(made.where, made.place_on_disk())
    assert not tuning_records.forget(made.where, made.place_on_disk())
    assert compiled(made).entry.tuned == ""
    assert not list(tmp_path.rglob("*.tuned"))


def test_a_choice_holds_in_its_environment_alone(made) -> None:
    place = made.place_on_disk()
    on_disk.write(in_use.store(), place.program, b"\0" * 16, KEPT.as_json())
    assert compiled(made).entry.tuned == ""


@pytest.mark.parametrize("text", (b"", b"{", b"[]", b'{"x": 1}'))
def test_damaged_records_are_passed_over(made, tmp_path, text: bytes) -> None:
    tuning_records.keep(made.where, made.place_on_disk(), KEPT)
    (path,) = tmp_path.rglob("*.tuned")
    path.write_bytes(text)
    tuning_records._here.clear()
    assert compiled(made).entry.tuned == ""


@pytest.mark.parametrize(
    "change",
    (
        {"ratio": "fast"},
        {"ratio": float("inf")},
        {"choice": {"rules": {}, "unroll": 0, "flags": {"no_such_flag": 1}}},
        {"choice": {"rules": {"no such rule": True}, "unroll": 0, "flags": {}}},
        {"choice": 3},
    ),
)
def test_records_of_no_use_are_no_reason_to_fail(made, tmp_path, change) -> None:
    tuning_records.keep(made.where, made.place_on_disk(), KEPT)
    (path,) = tmp_path.rglob("*.tuned")
    records = json.loads(path.read_text())
    path.write_text(json.dumps({key: {**record, **change} for key, record in records.items()}))
    tuning_records._here.clear()
    found = compiled(made)
    assert found.entry.tuned == ""
    np.testing.assert_allclose(np.asarray(found.run([jnp.ones(50).buf])[0]), np.sin(1) * np.cos(1) + 1, rtol=1e-6)


def test_what_a_program_needs_and_its_call_asks_for_goes_before() -> None:
    closed = jx.make_jaxpr(lambda x: jnp.sum(jnp.log(x) + jnp.log(2 * x)))(jnp.ones(20000))
    from jitscope.backend.guards import needs

    needed = needs(closed.jaxpr)
    made = compilation_input(closed, options=(("xla_cpu_prefer_vector_width", 128),))
    choice = Choice(flags=(*((name, "") for name in needed), ("xla_cpu_prefer_vector_width", 512)))
    flags = made.flags(choice)
    assert flags["xla_cpu_prefer_vector_width"] == 128
    assert {name: flags[name] for name in needed} == needed


def test_the_stages_show_what_was_compiled(made) -> None:
    x = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
    distances = jx.jit(lambda x: jnp.sum((x[None] - x[:, None]) ** 2, -1))
    lowered = distances.lower(x)
    other = compilation_input(distances.trace(x).jaxpr)
    on = SHORT_AXES.holds()
    kept = tuning_records.TuningRecord(
        Choice((("short axes written out", not on),)), "the rule turned round", 0.5, 0.4, 0.6
    )
    before = lowered.as_text()
    tuning_records.keep(other.where, other.place_on_disk(), kept)
    forget_program(other)
    compiled = lowered.compile()
    assert lowered.as_text() != before
    np.testing.assert_allclose(np.asarray(compiled(x)), ((x[None] - x[:, None]) ** 2).sum(-1), rtol=1e-5, atol=1e-6)


def test_values_of_checkpoint_are_kept_where_that_was_chosen() -> None:
    layer = jx.checkpoint(lambda x: jnp.sin(jnp.sin(x)))
    x = jnp.linspace(0.0, 1.0, 50)
    made = compilation_input(jx.make_jaxpr(jx.grad(lambda x: layer(x).sum()))(x))
    expected = np.cos(np.sin(np.asarray(x))) * np.cos(np.asarray(x))
    modules = [made.lowered(choice) for choice in (PLAIN, Choice(((RECOMPUTED, False),)))]
    assert modules[0] != modules[1]
    for module in modules:
        program = Executable.compile(module, made.outputs, made.device, compile_options(made.flags()))
        np.testing.assert_allclose(np.asarray(program.run([x.buf])[0]), expected, rtol=1e-5)


def test_a_rule_holds_as_was_chosen_while_a_program_is_lowered() -> None:
    holds = SHORT_AXES.holds()
    with choosing(Choice((("short axes written out", not holds),))):
        assert SHORT_AXES.holds() is not holds
        assert not SHORT_AXES.holds("cuda")
        with choosing(PLAIN):
            assert SHORT_AXES.holds() is holds
    assert SHORT_AXES.holds() is holds
    assert all(isinstance(name, str) for name in SWITCHES)
