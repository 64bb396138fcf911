"""Why kernels are not one: XLA's words in its log, against those in the pages that it draws of its fusion pass, which are read otherwise."""

from __future__ import annotations

import json
import re
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.errors import Unavailable
from jitscope.xla.dumps import Source, compiled_once_more
from jitscope.xla.fusion_log import fusion_log
from jitscope_scope.observe.fusion_decisions import Decision, End, decisions_of
from jitscope_widgets import text, validate
from jitscope_widgets.views.reasons import MEANING
from tests.extent import full


def layer(x: Any, w: Any) -> Any:
    y = jnp.tanh(x) * 2
    return y @ w, jnp.exp(y).sum(0), jnp.exp(y - y.mean(1, keepdims=True))


def scanned(x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        new = jnp.tanh(carry + row) / (1 + jnp.abs(row))
        return new, new.sum()

    return lax.scan(step, x[0], x)


def sorted_columns(x: Any) -> Any:
    y = jnp.sort(jnp.sqrt(jnp.abs(x)), axis=0)
    return jnp.concatenate([y, -y], axis=1) * y.sum()


X = np.linspace(-2, 2, 64 * 64, dtype=np.float32).reshape(64, 64)
PROGRAMS = {"layer": (layer, (X, X)), "scanned": (scanned, (X,)), "sorted_columns": (sorted_columns, (X,))}


def drawn(entry: Any) -> set[tuple[str, str, str]]:
    """(producer, consumer, reason), by XLA's pages."""
    files = compiled_once_more(Source.of(entry), xla_dump_fusion_visualization=True).files  # pyright: ignore[reportArgumentType]
    pages = [
        re.search(rb"const frames = (\[.*?\]);?\n", file.content, re.DOTALL)
        for file in files
        if "_fusion.html" in file.name
    ]
    labels = [frame[1] for page in pages if page for frame in json.loads(page[1])]
    told = [
        re.fullmatch(r"Not fusing \|(.*?)\| into \|(.*?)\| as (.*?) ; multi-output fusion.*", label, re.DOTALL)
        for label in labels
    ]
    return {(one[1], one[2], one[3]) for one in told if one}


def asked(name: str) -> Any:
    if name in PROGRAMS:
        function, args = PROGRAMS[name]
    else:
        module = import_module(f"tests.programs.{name}")
        function, args = module.program, module.arguments()
    return jx.inspect(function)(*args)


NAMES = [*PROGRAMS, pytest.param("lstm", marks=full)]


@pytest.mark.parametrize("name", NAMES)
def test_the_log_says_what_the_pages_say(name: str) -> None:
    entry = asked(name)._row.entry
    with fusion_log(Source.of(entry)) as log:
        decided = decisions_of(log)
    known = drawn(entry)
    if not known:
        pytest.skip("this release of XLA draws no pages")
    refused = {(one.producer.name, one.consumer.name, one.reason) for one in decided if one.reason}
    plumbing = ("tuple", "get-tuple-element", "parameter", "constant")  # of which XLA draws no picture
    assert {one for one in refused if not (one[0].startswith(plumbing) or one[1].startswith("tuple"))} <= known
    assert len(refused & known) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_reasons_are_xlas_and_about_these_kernels(name: str) -> None:
    seen = asked(name)
    document = seen.reasons.document
    validate(document)
    kernels = {kernel["name"]: kernel for kernel in seen.kernels}
    module = seen.hlo
    assert document["told"] == sum(bool(pair["reason"]) for pair in document["pairs"])
    with fusion_log(Source.of(seen._row.entry)) as log:
        words = {(one.producer.opcode, one.reason) for one in decisions_of(log)}
    for pair in document["pairs"]:
        assert pair["giver"]["kernel"] in kernels and pair["reader"]["kernel"] in kernels
        assert pair["giver"]["kernel"] in module
        if pair["reason"]:
            assert pair["reason"] in MEANING
            assert any(reason == pair["reason"] for _, reason in words)


def test_a_known_reason_stands_between_known_lines() -> None:
    seen = asked("layer")
    first = layer.__code__.co_firstlineno + 1
    pairs = seen.reasons.document["pairs"]
    products = [pair for pair in pairs if pair["reader"]["opcode"] == "dot"]
    assert products and {pair["reason"] for pair in products} == {"Don't fuse instructions from custom fusions/calls"}
    expensive = [pair for pair in pairs if pair["giver"]["opcode"] == "tanh"]
    assert {pair["reason"] for pair in expensive} == {"expensive producer would be duplicated"}
    assert {place["line"] for pair in expensive for place in pair["giver"]["positions"]} == {first}
    told = seen.why_not_fused(first, first + 1)
    assert "XLA says: Don't fuse instructions from custom fusions/calls." in told
    assert "into which nothing is fused" in " ".join(text(seen.reasons.document).split())


def test_a_program_that_calls_python_is_refused() -> None:
    def calling(x: Any) -> Any:
        return jx.pure_callback(np.sin, jx.ShapeDtypeStruct((3,), np.float32), x) * 2

    with pytest.raises(Unavailable, match="calls Python"):
        _ = jx.inspect(calling)(np.ones(3, np.float32)).reasons


LOG = """I1 1 instruction_fusion.cc:649] Considering fusion of: %add.1 = (f32[2]{0}, (s32[], f32[])) while(%p), metadata={op_name="e3"}
I1 1 instruction_fusion.cc:687] not fusing operand %dot.1 = f32[2]{0} dot(%a, %b), metadata={op_name="e1/e2" because="x because y"} because of b.
I1 1 instruction_fusion.cc:848] Fusing %mul.1 = f32[2]{0} multiply(%a, %b), metadata={op_name="e4"} into %add.1 = f32[2] add(%mul.1), metadata={op_name="e3"}
I1 1 instruction_fusion.cc:855]        created new fusion: %fused = f32[2]{0} fusion(%a), kind=kLoop, metadata={op_name="e3"}
I1 1 instruction_fusion.cc:687] not fusing operand %cut = f32[2]{0} tuple(%a, %
something else
I1 1 instruction_fusion.cc:687] not fusing operand %dot.1 = f32[2]{0} dot(%a, %b), metadata={op_name="e1/e2"} because no
"""


def test_the_log_is_read_line_by_line() -> None:
    dot = End("dot.1", "dot", ("e1/e2",))
    found = decisions_of(LOG.splitlines(keepends=True))
    assert (
        found[0].producer == dot and found[0].consumer == End("add.1", "while", ("e3",)) and found[0].reason == "of b."
    )
    assert found[-1] == Decision(dot, End("fused", "fusion", ("e3", "e4")), "no")
    assert found[-2] == Decision(End("mul.1", "multiply", ("e4",)), End("fused", "fusion", ("e3", "e4")), "")
