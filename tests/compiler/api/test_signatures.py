"""Signatures of programs in documents."""

from __future__ import annotations

import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_scope import observe
from tests.compiler.programs import floats


X = floats(3)


def test_a_signature_gives_the_number_of_arrays_in_a_large_tree() -> None:
    large, small = {f"k{i}": X for i in range(7)}, {f"k{i}": X for i in range(6)}

    def of_trees(params, few, y):
        return jnp.sin(y)

    jx.jit(of_trees)(large, small, X)
    (text,) = [observe.signature_text(row) for row in observe.ledger() if row.function == "of_trees"]
    listed = ", ".join(f"few['k{i}']: f32[3]" for i in range(6))
    assert text == f"of_trees(params: 7 arrays, {listed}, y: f32[3]) -> f32[3]"


class Holder:
    def __init__(self, n: float):
        self.n = n


def test_an_object_that_lies_where_another_one_was_is_another() -> None:
    def step(n: float) -> tuple[int, int]:
        held = Holder(n)

        def of_holder(x):
            return x * held.n

        jx.jit(of_holder)(X)
        row = [row for row in observe.ledger() if row.function == "of_holder"][-1]
        assert row.signature is not None
        (capture,) = row.signature.made.captures
        return id(held), capture.token

    seen = [step(float(n)) for n in range(40)]
    places = [place for place, _ in seen]
    assert len(set(places)) < len(places)  # memory is used again
    assert len({token for _, token in seen}) == len(seen)


class Scaled:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x * self.by


def test_an_object_that_is_called_is_named_by_its_class():
    jitted = jx.jit(Scaled(2.0))
    assert repr(jitted) == "<jit of Scaled>"
    assert jitted.trace(X).jaxpr.jaxpr.debug.name == "Scaled"
    assert "name=<unnamed function>" in str(jx.make_jaxpr(jitted)(X))  # as JAX has it
    with pytest.raises(TypeError, match="argument x of Scaled cannot be traced"):
        jitted("a")
