"""Which forms are thought of: those that a program's operations may feel, and none that it may not be compiled with."""

import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.backend.guards import guards, needs
from jitscope.xla import cpu_tuning
from jitscope.xla.choice import Choice
from jitscope_scope.tune.space import ProgramFacts, space, without_library


LIBRARY = cpu_tuning.LIBRARY_FLAG


def candidates(function, *args, **known):
    jaxpr = jx.make_jaxpr(function)(*args).jaxpr
    fixed = {*needs(jaxpr), *known.get("fixed", ())}
    return space(jaxpr, ProgramFacts(known.get("flags", guards(jaxpr)), fixed, known.get("lowers", True)))


def knobs(*args, **known):
    return {one.knob for one in candidates(*args, **known)}


def test_only_what_the_operations_may_feel() -> None:
    x = jnp.ones((64, 64))
    assert not {"library", "unrolling", "loops"} & knobs(lambda x: jnp.sin(x) + 1, x)
    assert {"library", "sums in blocks of rows", "transposes taken into products"} <= knobs(lambda x: x @ x, x)
    assert "floats sorted as integers" in knobs(lambda x: jnp.sort(x), x)
    assert "windows by slices" in knobs(lambda x: lax.reduce_window(x, 0.0, lax.max, (3, 3), (1, 1), "SAME"), x)


def test_a_loop_is_unrolled_where_its_body_is_small_and_it_is_long() -> None:
    def loop(n):
        return lambda x: lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=n)[0]

    times = lambda n: {c.choice.unroll for c in candidates(loop(n), jnp.ones(3)) if c.knob == "unrolling"}
    assert times(100) == {2, 4, 8}
    assert times(6) == {2}
    assert not times(3)


@pytest.mark.parametrize("kinds", ((), ("products",), ("convolutions", "reductions")))
def test_the_kinds_that_flags_leave_out_are_read_back(kinds) -> None:
    assert without_library(cpu_tuning.library_types_without(kinds)) == set(kinds)
    assert without_library({}) == frozenset()


def test_every_other_set_of_the_kinds_that_are_there() -> None:
    x = jnp.ones((64, 64))
    both = [c for c in candidates(lambda x: (x @ x).sum(), x) if c.knob == "library"]
    left_out = {without_library(dict(c.choice.flags)) for c in both}
    assert left_out == {frozenset({"products"}), frozenset({"reductions"}), frozenset({"products", "reductions"})}
    now = cpu_tuning.library_types_without(("reductions",))
    again = [c for c in candidates(lambda x: (x @ x).sum(), x, flags=now) if c.knob == "library"]
    assert frozenset() in {without_library(dict(c.choice.flags)) for c in again}


def test_flags_that_a_program_needs_or_that_its_call_asks_for_stay() -> None:
    x = jnp.ones((300, 300))
    logs = lambda x: jnp.sum(jnp.log(x) + jnp.log(2 * x))
    if cpu_tuning.LIBRARY_FOR_PRODUCTS_ALONE.holds():
        assert "library" not in knobs(logs, x)
    assert "library" not in knobs(lambda x: x @ x, x, fixed=[LIBRARY])
    assert "fusion" not in knobs(lambda x: jnp.sin(x) + x, x, fixed=["xla_disable_hlo_passes"])


def test_flags_of_the_environment_stay(monkeypatch) -> None:
    x = jnp.ones((64, 64))
    monkeypatch.setenv("XLA_FLAGS", f"--{LIBRARY}=")
    assert "library" not in knobs(lambda x: x @ x, x)


def test_a_program_that_cannot_be_lowered_otherwise_has_flags_alone() -> None:
    x = jnp.ones((64, 64))
    program = lambda x: lax.scan(lambda c, _: (c @ c, c.sum()), x, None, length=64)
    found = candidates(program, x, lowers=False)
    assert found
    assert not any(one.choice.lowers for one in found)
    assert not any(name == "xla_cpu_disable_tiled_emitter" for one in found for name, _ in one.choice.flags)


def test_the_older_emitter_is_not_tried_where_it_gives_other_numbers() -> None:
    x = jnp.ones(64)
    assert not any(c.words == "XLA's older emitter" for c in candidates(lambda x: jnp.tan(x) + 1, x))


def test_choices_are_joined_and_read_back() -> None:
    one = Choice((("short axes written out", False),), 2, (("a", 1), ("b", True)))
    two = Choice((), 4, (("b", False),))
    both = one.joined(two)
    assert (both.unroll, dict(both.flags)) == (4, {"a": 1, "b": False})
    assert Choice.of_json(both.as_json()) == both
    assert one.as_options() != two.as_options()
    for wrong in ({}, {"rules": {"x": 1}, "unroll": 0, "flags": {}}, {"rules": {}, "unroll": "2", "flags": {}}):
        with pytest.raises(ValueError):
            Choice.of_json(wrong)


def test_the_order_of_least_memory_takes_less() -> None:
    def products(x):
        parts = [lax.optimization_barrier(jnp.outer(x * i, x)) for i in range(6)]
        return sum((part @ x).sum() for part in parts)

    x = jnp.ones(64)
    (order,) = (c for c in candidates(products, x) if c.knob == "schedule")
    memory = [
        jx.jit(products).lower(x).compile(compiler_options=options).memory_analysis().temp_size_in_bytes
        for options in (None, dict(order.choice.flags))
    ]
    assert memory[1] < memory[0] / 4
