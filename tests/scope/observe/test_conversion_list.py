"""The list of conversions, copies and transposes of a program against XLA's own text of it."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

import jitscope as jx
import jitscope.numpy as jnp
from jitscope_widgets import text
from jitscope_widgets.conversions import conversions, products_in
from jitscope_widgets.view.parts import Grouped, Row, Section, Table, Text


def _mixed(x: Any, w: Any) -> Any:
    y = x.astype(jnp.bfloat16) @ w
    z = jnp.transpose(y.astype(jnp.float32)) + 1
    return jnp.sum(z, axis=0), z.reshape(8, -1).T


def _loop(x: Any, w: Any) -> Any:
    def body(carry: Any, a: Any) -> Any:
        low = (carry @ a.T).astype(jnp.bfloat16)
        return jnp.transpose(low.astype(jnp.float32)) @ carry, low

    return jx.lax.scan(body, x, w)


PROGRAMS = {
    "mixed": (_mixed, (64, 32), ((32, 128), "bfloat16")),
    "loop": (_loop, (16, 16), ((8, 16, 16), "float32")),
    "turned": (lambda x, w: [(x * k).T @ (w + k).T for k in range(1, 5)], (8, 4), ((16, 8), "float32")),
    "product": (lambda x, w: jnp.einsum("abcd,aecd->abe", x, w), (4, 8, 64, 16), ((4, 8, 64, 16), "bfloat16")),
    "none": (lambda x, w: x + w.sum(), (4,), ((4,), "float32")),
}


def _alone(text: str) -> list[int]:
    """How many casts, copies and transposes are in each kernel of XLA's text that does nothing else."""
    fused = set(re.findall(r" fusion\(.*calls=%?([\w.\-]+)", text))
    found = []
    for name, body in re.findall(r"^(?:ENTRY )?%?([\w.\-]+) \([^\n]*\{\n(.*?)^\}", text, re.M | re.S):
        opcodes = re.findall(r" = (?:\([^=]*?\)|\S+) ([\w\-]+)\(", body)
        moves = [one for one in opcodes if one in ("convert", "copy", "transpose")]
        if name not in fused:
            found += [1] * len(moves)
        elif moves and set(opcodes) <= {"convert", "copy", "transpose", "bitcast", "constant", "parameter", "tuple"}:
            found.append(len(moves))
    return found


def _count(row: Row) -> int:
    number = row.cells[1]
    assert isinstance(number, Text)
    return int(number.text.replace(",", ""))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_list_has_what_the_program_has(name: str) -> None:
    function, shape, (other, dtype) = PROGRAMS[name]
    seen = jx.inspect(function)(jnp.ones(shape), jnp.ones(other, dtype))
    of_xla = re.findall(r"= (\w+\[[^\]]*\])\S* (convert|copy|transpose)\(", str(seen.hlo))
    fusion = seen.document["fusion"]
    assert fusion is not None
    (section,) = conversions(fusion)
    assert isinstance(section, Section)
    if not of_xla:
        assert "casts nothing, copies nothing" in text(fusion)
        return
    *_, shown = section.parts
    table = dict(shown.ways)["one by one"] if isinstance(shown, Grouped) else shown
    assert isinstance(table, Table)
    if isinstance(shown, Grouped):
        (first, by_line) = shown.ways[0]
        assert first == "by line" and sum(_count(row) for row in by_line.rows) == len(of_xla)
        assert all(_count(row) == sum(map(_count, row.rows)) for row in by_line.rows)
    alone = _alone(str(seen.hlo))
    told = " ".join(text(fusion).split())
    kernels = f"in {len(alone)} kernel{'s' * (len(alone) != 1)} that do"
    assert kernels in told if alone else "all of them within other kernels" in told
    assert not alone or f"; {'all' if sum(alone) == len(of_xla) > 1 else sum(alone)} of them {kernels}" in told
    counts = Counter(opcode for _, opcode in of_xla)
    rows_of = Counter(str(row.cells[0]) for row in table.rows)
    if counts["convert"]:
        casts = re.search(r"([\d,]+) casts?(?: \(([^)]*)\))?", told)
        assert casts is not None and int(casts[1]) == counts["convert"]
        ways = {way: int(number) for number, way in re.findall(r"(\d+) (up|down)", casts[2] or "")}
        assert ways == {way: rows_of[f"{way}cast"] for way in ("up", "down") if rows_of[f"{way}cast"]}
    kind = {"upcast": "convert", "downcast": "convert", "cast": "convert"}
    listed = Counter((str(row.cells[2]), kind.get(str(row.cells[0]), str(row.cells[0]))) for row in table.rows)
    assert listed == Counter(of_xla)
    if name == "mixed":
        rows = [tuple(map(str, row.cells[:3])) for row in table.rows]
        # XLA's product is one in f32, but for a library (since 0.12) that multiplies in bf16.
        assert (("upcast", "bf16[32,128]", "f32[32,128]") in rows) == (("f32[32,128]", "convert") in of_xla)
        assert ("downcast", "f32[64,32]", "bf16[64,32]") in rows


def test_what_products_of_few_bits_are_computed_in() -> None:
    def two(x: Any, w: Any) -> Any:
        return x @ w, (x @ x.T).astype(jnp.float32), w.astype(jnp.float32) @ w.T.astype(jnp.float32)

    seen = jx.inspect(two)(jnp.ones((64, 32), jnp.bfloat16), jnp.ones((32, 16), jnp.bfloat16))
    fusion = seen.document["fusion"]
    assert fusion is not None
    types = dict(re.findall(r"%?([\w.\-]+) = (\w+)\[", str(seen.hlo)))
    factors = [types[name] for name in re.findall(r" dot\(\S*?%?([\w.\-]+),", str(seen.hlo))]
    assert len(factors) == 3
    narrow = Counter(factors) - Counter(["f32"])  # one product was of f32 from the beginning
    told = products_in(fusion)
    assert told.startswith("Of 2 products of bf16 ") and told.endswith(" in the optimised program.")
    said = {dtype: int(number) for number, dtype in re.findall(r"(\d+) takes? (\w+)", told)}
    assert said == dict(narrow)
    assert told in text(fusion).replace("\n", " ")
