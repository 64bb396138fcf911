"""What stands between kernels that were not fused, on programs where it is known, and against XLA's own text."""

import re

import numpy as np
import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope import lax
from jitscope.core.errors import Unavailable
from jitscope_widgets import validate
from jitscope_widgets.text import text


def ones(*shape):
    return np.ones(shape, np.float32)


def softmax(x):
    m = x.max(axis=-1, keepdims=True)
    e = jnp.exp(x - m)
    return e / e.sum(axis=-1, keepdims=True)


def biased(x, w, b):
    z = x @ w
    return jnp.tanh(z + b)


def twice(x, w):
    y = jnp.tanh(x)
    return y @ w, y @ (w + 1)


def looping(x):
    y = jnp.sin(x)
    z, _ = lax.scan(lambda carry, _: (jnp.cos(carry) * y, None), x, None, length=7)
    return z + 1


def fused(x):
    y = jnp.sin(x)
    return jnp.exp(y) * 2


ARGUMENTS = {
    softmax: (ones(512, 300),),
    biased: (ones(64, 32), ones(32, 16), ones(16)),
    twice: (ones(512, 300), ones(300, 40)),
    looping: (ones(300),),
    fused: (ones(300),),
}


def line_of(fun, number):
    return fun.__code__.co_firstlineno + number


def kinds(fun):
    """{(giver's operations, reader's operations): kinds of boundaries}"""
    fusion = jx.inspect(fun)(*ARGUMENTS[fun]).fusion.document
    validate(fusion)
    members = {k["name"]: " ".join(m["opcode"] for m in k["members"]) for k in fusion["kernels"]}
    return {
        (members[one["from"]], members[one["to"]]): {seen["kind"] for seen in one["observed"]}
        for one in fusion["boundaries"]
    }


def test_a_product_of_matrices_is_a_library_call():
    ((ends, found),) = kinds(biased).items()
    assert ends[0] == "dot" and "tanh" in ends[1] and found == {"library"}


def test_softmax_is_kept_apart_by_its_reduction():
    found = kinds(softmax)
    assert any("reduction" in kinds for (giver, _), kinds in found.items() if giver.endswith("reduce"))
    assert any("several users" in kinds for (giver, _), kinds in found.items() if giver.endswith("exponential"))
    assert any("broadcast" in kinds for _, kinds in found.items())


def test_what_is_read_twice_says_by_how_many():
    assert kinds(twice)["tanh", "dot"] == {"library", "several users"}
    seen = jx.inspect(twice)(*ARGUMENTS[twice]).fusion.document["boundaries"]
    assert sum("read by 2 kernels" in one["text"] for boundary in seen for one in boundary["observed"]) == 2


def test_a_loop_stands_between_what_is_inside_and_what_is_not():
    found = kinds(looping)
    assert found["sine", "cosine multiply"] == {"loop"}
    assert [kinds for (giver, _), kinds in found.items() if giver == "cosine multiply"] == [{"loop"}]


def test_lines_that_were_fused_have_no_boundary():
    assert not kinds(fused)
    told = jx.inspect(fused)(*ARGUMENTS[fused]).why_not_fused(line_of(fused, 1), line_of(fused, 2))
    assert told.startswith(f"Lines {line_of(fused, 1)} and {line_of(fused, 2)} are both in the kernel")
    assert "XLA" not in told


def test_of_many_pairs_the_first_are_kept_and_all_are_counted(monkeypatch):
    pairs = len(jx.inspect(softmax)(*ARGUMENTS[softmax]).fusion.document["boundaries"])
    assert pairs > 2
    monkeypatch.setattr("jitscope_scope.observe.boundaries.MOST", 2)
    fusion = jx.inspect(lambda x: softmax(x))(*ARGUMENTS[softmax]).fusion.document
    validate(fusion)
    assert len(fusion["boundaries"]) == 2 and fusion["boundaries_left_out"] == pairs - 2
    assert f"the first 2 of {pairs} pairs of kernels" in text(fusion)


def test_two_lines_are_told_what_stands_between_them():
    seen = jx.inspect(biased)(*ARGUMENTS[biased])
    told = seen.why_not_fused(line_of(biased, 1), line_of(biased, 2))
    assert re.search(r"XLA says: (Producer is not loop-fusible|operand can not be duplicated)\.", told)
    assert told == seen.why_not_fused(line_of(biased, 2), line_of(biased, 1)) or "Between" in told
    with pytest.raises(Unavailable, match="no kernel of this program stems from line 1"):
        seen.why_not_fused(1, line_of(biased, 2))
    assert "kernel 1 kernel 2 the first is a library call" in re.sub(r"\s+", " ", text(seen.fusion.document))


@pytest.mark.parametrize("fun", [softmax, biased, twice])
def test_every_boundary_is_an_operand_in_xlas_text(fun):
    seen = jx.inspect(fun)(*ARGUMENTS[fun])
    entry = seen.hlo.split("ENTRY")[1]
    reads = {}
    for name, opcode, operands in re.findall(r"%?([\w.\-]+) = \S+ ([\w\-]+)\(([^)]*)\)", entry):
        reads[name] = opcode, re.findall(r"%?([a-z][\w.\-]*)(?:,|$)", operands)

    def givers(name):
        for operand in reads[name][1]:
            opcode = reads.get(operand, ("", ()))[0]
            yield from givers(operand) if opcode == "bitcast" else [operand]

    names = {kernel["name"] for kernel in seen.kernels}
    expected = {(giver, name) for name in names for giver in givers(name) if giver in names}
    assert {(one["from"], one["to"]) for one in seen.fusion.document["boundaries"]} == expected
