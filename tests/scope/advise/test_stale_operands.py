"""Errors of shapes that do not fit tell of a tracer that was kept, where one was (`cases/keeping.txt`), and of none where none was."""

from __future__ import annotations

import pytest

import jitscope
from jitscope import numpy as jnp
from jitscope_scope.advise.run.errors import explained
from tests.scope.advise.stale_programs import misfits


@pytest.mark.parametrize("jitted", [True, False])
def test_no_operand_of_a_trace_that_fails_is_a_stale_one(jitted: bool) -> None:
    for name, function in misfits(jitscope, jnp).items():
        with pytest.raises(TypeError, match="shape") as failed:
            (jitscope.jit(function) if jitted else function)(jnp.ones(4))
        assert explained(failed.value) is None and not hasattr(failed.value, "__notes__"), name


def test_the_message_of_an_error_names_the_operand_that_is_stale() -> None:
    kept = []
    jitscope.jit(lambda x: kept.append(x * 2))(jnp.ones(3))
    with pytest.raises(TypeError, match="shape") as failed:
        jitscope.jit(lambda x: x + kept[0])(jnp.ones(4))
    (note,) = failed.value.__notes__
    assert "whose trace has ended: a traced f32[3]: computed in line" in note
